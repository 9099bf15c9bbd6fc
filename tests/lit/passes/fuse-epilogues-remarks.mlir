// RUN: heed-opt %s --verify-diagnostics --attn-fuse-epilogues=remarks=true -o /dev/null

func.func @shared(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  // expected-note @+1 {{attn.linear is here}}
  %0 = attn.linear %x, %w : tensor<?x8xf32>, tensor<8x8xf32> -> tensor<?x8xf32>
  // expected-remark @+1 {{[epilogue-of-shared-layer] not fused: expected a layer used only here, but it has 2 uses}}
  %1 = attn.relu %0 : tensor<?x8xf32>
  return %0, %1 : tensor<?x8xf32>, tensor<?x8xf32>
}

func.func @half(%x: tensor<?x8xf16>, %w: tensor<8x8xf16>) -> tensor<?x8xf16> {
  // expected-note @+1 {{attn.linear is here}}
  %0 = attn.linear %x, %w : tensor<?x8xf16>, tensor<8x8xf16> -> tensor<?x8xf16>
  // expected-remark @+1 {{[epilogue-of-other-types] not fused: expected f32 tensors of one shape}}
  %1 = arith.addf %0, %x : tensor<?x8xf16>
  return %1 : tensor<?x8xf16>
}

func.func @coordinates(%x: tensor<1x4x8xf32>, %w: tensor<8x8xf32>) -> tensor<1x4x8xf32> {
  // expected-note @+1 {{attn.linear is here}}
  %0 = attn.linear %x, %w : tensor<1x4x8xf32>, tensor<8x8xf32> -> tensor<1x4x8xf32>
  // expected-remark @+1 {{[epilogue-needs-coordinates] not fused: expected a change that is the same for all elements of a layer}}
  %1 = attn.mask %0 keep(%b, %h, %i, %j, %queries, %keys) {
    %keep = attn.causal %i, %j
    attn.yield %keep : i1
  } : tensor<1x4x8xf32>
  return %1 : tensor<1x4x8xf32>
}

// What joins is not remarked, and what follows no layer neither.
func.func @joins(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>) -> tensor<?x8xf32> {
  %0 = attn.relu %x : tensor<?x8xf32>
  %1 = attn.linear %0, %w : tensor<?x8xf32>, tensor<8x8xf32> -> tensor<?x8xf32>
  %2 = attn.relu %1 : tensor<?x8xf32>
  return %2 : tensor<?x8xf32>
}
