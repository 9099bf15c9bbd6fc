// RUN: heed-opt %s | FileCheck %s
// RUN: heed-opt %s --mlir-print-op-generic | heed-opt | FileCheck %s
// RUN: heed-opt %s --emit-bytecode | heed-opt | FileCheck %s
// RUN: heed-opt %s --canonicalize | FileCheck %s --check-prefix=CANONICAL

// CHECK-LABEL: @CausalAndPadding
//       CHECK:   %scores = attn.mask %arg0 reads(%arg1 : tensor<?x?xi1>) maps [#{{.*}}] keep(%batch, %head, %query, %key, %query_len, %key_len, %read) {
//       CHECK:     %keep = attn.causal %query, %key
//       CHECK:     %[[BOTH:.*]] = arith.andi %keep, %read : i1
//       CHECK:     attn.yield %[[BOTH]] : i1
//       CHECK:   } : tensor<?x8x?x?xf32>
func.func @CausalAndPadding(%x: tensor<?x8x?x?xf32>, %valid: tensor<?x?xi1>) -> tensor<?x8x?x?xf32> {
  %0 = attn.mask %x reads(%valid : tensor<?x?xi1>) maps [affine_map<(b, h, q, k) -> (b, k)>]
    keep(%b, %h, %q, %k, %query_len, %key_len, %flag) {
    %causal = attn.causal %q, %k
    %both = arith.andi %causal, %flag : i1
    attn.yield %both : i1
  } : tensor<?x8x?x?xf32>
  return %0 : tensor<?x8x?x?xf32>
}

// A block that lists its arguments is read as well.
// CHECK-LABEL: @WholeTable
//       CHECK:   attn.mask %arg0 reads(%arg1 : tensor<4x4xi1>) maps [#{{.*}}] keep(%batch, %head, %query, %key, %query_len, %key_len, %read) {
//       CHECK:     tensor.extract %read[%query, %key] : tensor<4x4xi1>
func.func @WholeTable(%x: tensor<4x4xf16>, %table: tensor<4x4xi1>) -> tensor<4x4xf16> {
  %0 = attn.mask %x reads(%table : tensor<4x4xi1>) maps [affine_map<(b, h, q, k) -> ()>] keep {
  ^bb0(%b: index, %h: index, %q: index, %k: index, %query_len: index, %key_len: index, %all: tensor<4x4xi1>):
    %keep = tensor.extract %all[%q, %k] : tensor<4x4xi1>
    attn.yield %keep : i1
  } : tensor<4x4xf16>
  return %0 : tensor<4x4xf16>
}

// CANONICAL-LABEL: @AllKept
//  CANONICAL-NEXT:   return %arg0
func.func @AllKept(%x: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
  %0 = attn.mask %x keep(%b, %h, %q, %k, %query_len, %key_len) {
    %true = arith.constant true
    attn.yield %true : i1
  } : tensor<?x?x?xf32>
  return %0 : tensor<?x?x?xf32>
}
