// RUN: heed-opt %s --split-input-file --verify-diagnostics

func.func @OutsideItsOperations(%x: i1) -> i1 {
  // expected-error @+1 {{expects parent op to be one of 'attn.mask, attn.attention, attn.online_attention, attn.linear, attn.tile_matmul'}}
  attn.yield %x : i1
}
