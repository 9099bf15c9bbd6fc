// RUN: heed-opt %s | FileCheck %s
// RUN: heed-opt %s --mlir-print-op-generic | heed-opt | FileCheck %s
// RUN: heed-opt %s --emit-bytecode | heed-opt | FileCheck %s

// CHECK-LABEL: @OneValue
//       CHECK:   attn.yield %{{.*}} : i1
func.func @OneValue(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = attn.mask %x keep(%b, %h, %q, %k, %query_len, %key_len) {
    %keep = attn.prefix %k, %key_len
    attn.yield %keep : i1
  } : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
