// RUN: heed-opt %S/../interface/Inputs/scale.mlir --attn-emit-interface | FileCheck %s
// RUN: heed-opt %S/../interface/Inputs/scale.mlir --attn-emit-interface=contracts=false | FileCheck %s --check-prefix=UNCHECKED

// The body is called by its own name no longer, and is seen from nowhere else.
//       CHECK: func.func private @scale.body(
//  CHECK-SAME:   llvm.linkage = #llvm.linkage<internal>

// What says how much workspace is needed runs on any CPU; its products stop at the largest index.
//       CHECK: func.func private @scale.workspace(
//  CHECK-SAME:   passthrough = {{\[\[}}"target-cpu", "x86-64"], ["target-features", "+sse2"]]
// CHECK-COUNT-2: arith.mulsi_extended
//   CHECK-NOT: arith.muli {{.*}} : index

// The one writable object.
//       CHECK: llvm.mlir.global internal @scale_cpu_level(0 : i32)
//       CHECK: llvm.func internal @scale.has_cpu() -> i1 attributes {target_cpu = "x86-64"
//       CHECK:   llvm.load {{.*}} atomic monotonic
//       CHECK:   "cpuid"
//       CHECK:   "xgetbv"

// What a null context stands for: one thread.
//       CHECK: llvm.mlir.global private constant @scale.default_context()
//       CHECK:   llvm.mlir.constant(24 : i32) : i32
//       CHECK:   llvm.mlir.constant(1 : i32) : i32

//       CHECK: llvm.func internal @scale.bytes(
//       CHECK: llvm.func internal @scale.call(
//  CHECK-SAME:   target_cpu = "x86-64"
//       CHECK:   llvm.call @scale.has_cpu
//       CHECK:   call @scale.workspace
//       CHECK:   call @scale.body
//       CHECK: llvm.func @scale_workspace_bytes(%{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i32) -> i64
//       CHECK: llvm.func @scale(%{{[^:]*}}: !llvm.ptr, %{{[^:]*}}: !llvm.ptr, %{{[^:]*}}: !llvm.ptr, %{{[^:]*}}: i64,
//  CHECK-SAME:   %{{[^:]*}}: i64, %{{[^:]*}}: !llvm.ptr, %{{[^:]*}}: i64, %{{[^:]*}}: !llvm.ptr) -> i32
//       CHECK:   llvm.call @scale.call
//       CHECK: llvm.func @scale_module_query(

// Without contracts the CPU is still asked, as no caller can, and nothing is counted.
//       UNCHECKED: llvm.func internal @scale.call(
//       UNCHECKED:   llvm.call @scale.has_cpu
//   UNCHECKED-NOT:   call @scale.workspace
//       UNCHECKED:   call @scale.body
