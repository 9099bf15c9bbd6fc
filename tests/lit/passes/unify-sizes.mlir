// RUN: heed-opt %s --attn-describe-interface --attn-unify-sizes | FileCheck %s

// CHECK-LABEL: @CommonNames
//  CHECK-SAME:   %[[X:[^:]*]]: tensor<?x?xf32> {
//   CHECK-DAG:   tensor.dim %[[X]], %c0
//   CHECK-DAG:   tensor.dim %[[X]], %c1
//   CHECK-NOT:   tensor.dim
//       CHECK:   return
func.func @CommonNames(%x: tensor<?x?xf32> {attn.shape = ["rows", "columns"]},
                       %y: tensor<?x?xf32> {attn.shape = ["columns", "rows"]}) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %columns = tensor.dim %y, %c0 : tensor<?x?xf32>
  %rows = tensor.dim %y, %c1 : tensor<?x?xf32>
  %0 = tensor.empty(%rows, %columns) : tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// CHECK-LABEL: @WithinOneArgument
//       CHECK:   tensor.dim %{{.*}}, %c0
//  CHECK-NEXT:   tensor.empty
func.func @WithinOneArgument(%x: tensor<?x?xf32> {attn.shape = ["n", "n"]}) -> tensor<?xf32> {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %0 = tensor.empty(%n) : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: @SumsAndRelations
//  CHECK-SAME:   %[[PAST:[^:]*]]: tensor<?xf32> {{.*}}, %[[ALL:[^:]*]]: tensor<?xf32> {{.*}}, %[[TWIN:[^:]*]]: tensor<?xf32> {{.*}}, %[[EQUAL:[^:]*]]: tensor<?xf32>
//   CHECK-DAG:   tensor.dim %[[PAST]], %c0
//   CHECK-DAG:   tensor.dim %[[ALL]], %c0
//   CHECK-NOT:   tensor.dim %[[TWIN]]
//   CHECK-NOT:   tensor.dim %[[EQUAL]]
//       CHECK:   return
func.func @SumsAndRelations(%past: tensor<?xf32> {attn.shape = ["past"]}, %all: tensor<?xf32> {attn.shape = ["past + 4"]},
                            %twin: tensor<?xf32> {attn.shape = ["4 + past"]}, %equal: tensor<?xf32> {attn.shape = ["before"]})
    -> (tensor<?xf32>, tensor<?xf32>) attributes {attn.require = ["before == past"]} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %twin, %c0 : tensor<?xf32>
  %before = tensor.dim %equal, %c0 : tensor<?xf32>
  %0 = tensor.empty(%n) : tensor<?xf32>
  %1 = tensor.empty(%before) : tensor<?xf32>
  return %0, %1 : tensor<?xf32>, tensor<?xf32>
}

// CHECK-LABEL: @DifferentNamesStay
//  CHECK-SAME:   %[[X:[^:]*]]: tensor<?xf32> {{.*}}, %[[Y:[^:]*]]: tensor<?xf32>
//       CHECK:   tensor.dim %[[Y]]
func.func @DifferentNamesStay(%x: tensor<?xf32> {attn.shape = ["queries"]}, %y: tensor<?xf32> {attn.shape = ["keys"]})
    -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %y, %c0 : tensor<?xf32>
  %0 = tensor.empty(%n) : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// Nobody checks what the caller below passes: it calls a copy.
// CHECK-LABEL: func.func private @Called.called
//  CHECK-SAME:   %[[X:[^:]*]]: tensor<?xf32> {{.*}}, %[[Y:[^:]*]]: tensor<?xf32>
//       CHECK:   tensor.dim %[[Y]]
// CHECK-LABEL: @caller
//       CHECK:   call @Called.called
func.func @Called(%x: tensor<?xf32> {attn.shape = ["n"]}, %y: tensor<?xf32> {attn.shape = ["n"]}) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %y, %c0 : tensor<?xf32>
  %0 = tensor.empty(%n) : tensor<?xf32>
  return %0 : tensor<?xf32>
}

func.func @caller(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = call @Called(%x, %y) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
