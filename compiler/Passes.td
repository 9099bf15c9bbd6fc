#ifndef HEED_COMPILER_PASSES
#define HEED_COMPILER_PASSES

include "mlir/Pass/PassBase.td"

def FuseEpilogues : Pass<"attn-fuse-epilogues"> {
  let summary = "Move what follows a linear layer element by element into its epilogue";
  let description = [{
    An operation that implements the score interface, or an elementwise `arith` or `math` operation,
    whose only use of a linear layer's result is element by element joins that layer's epilogue region:
    the change is made in registers, and the intermediate tensor disappears.

    ```mlir
    %0 = attn.linear %x, %w : …            // %1 = attn.linear %x, %w epilogue {
    %1 = attn.gelu %0 : …                  //   ^bb0(%acc: f32): … attn.yield %gelu : f32 }
    ```
  }];
  let statistics = [Statistic<"numFused", "fused", "Operations moved into an epilogue">];
  let dependentDialects = ["mlir::math::MathDialect"];
}

#endif
