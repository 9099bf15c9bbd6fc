// RUN: heed-opt %s --split-input-file --verify-diagnostics

func.func @LengthIsNoIndex(%k: index, %length: i64) -> i1 {
  // expected-error @+1 {{operand #1 must be index, but got 'i64'}}
  %0 = "attn.prefix"(%k, %length) : (index, i64) -> i1
  return %0 : i1
}
