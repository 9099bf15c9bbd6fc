// Passes of the last phase, llvm; Passes.td includes this file.
#ifndef HEED_COMPILER_PASSES_TO_LLVM
#define HEED_COMPILER_PASSES_TO_LLVM

def OutlineParallel : LoweringPass<"attn-outline-parallel", "mlir::ModuleOp"> {
  let summary = "Turn a loop over slots into a task for the caller's threads";
  let description = [{
    The body becomes a function of a closure and a slot; the loop becomes a call of the context's `parallel`, or of the task
    itself where there is one slot.
  }];
}

def TraceKernels : LoweringPass<"attn-trace-kernels", "mlir::ModuleOp"> {
  let summary = "Tell the caller's context of every kernel";
  let description = [{
    Around each outermost parallel loop, and each call of a layer, the `trace` of the heed_context is told of the beginning and the
    end, and after a loop of the tensors that it wrote. It costs a test of a pointer where the caller does not ask.
  }];
}

def EmitInterface : LoweringPass<"attn-emit-interface", "mlir::ModuleOp"> {
  let summary = "Wrap every entry in its C forms, with all checks of the contract";
  let description = [{
    For an entry `f` of `heed.interface`, the buffer phase left `@f` (the tensors as memrefs, then parameters,
    workspace, threads and context) and `@f.workspace` (every dynamic dimension in order and the threads, giving
    bytes). Around them this pass adds, all compiled for the least CPU of the architecture:

    - `<symbol>.call`, the uniform form: checks the CPU, the context, sizes, relations, shapes, pointers,
      overlap, workspace and index data before anything is read or written, puts the defaults of optional
      tensors that are null into the workspace, and calls the body with a context that is never null;
    - `<symbol>.bytes`, its workspace, SIZE_MAX where a size is wrong or a sum overflows: for that, the
      arithmetic of `@f.workspace` is made to saturate;
    - `<symbol>` and `<symbol>_workspace_bytes`, which gather C arguments and call those two;
    - `<module>_module_query` and its tables.

    Everything else gets internal linkage.
  }];
  let options = [Option<"contracts", "contracts", "bool", "true",
                        "Check what callers pass; without it only the CPU is checked">];
}

def ExpandMath : LoweringPass<"attn-expand-math"> {
  let summary = "Replace elementary functions by arithmetic";
  let description = [{
    Exponentials, logarithms, tanh, erf, sine, cosine, powers, reciprocal square roots and remainders of
    scalars and vectors become straight-line arithmetic, so that emitted code needs no mathematical library.
    (Sine and cosine branch to a longer reduction where some angle is huge.)
    So do rounding to integers and fused multiply-add where the module's target lacks them. f16 and bf16 are
    computed in f32. `compiler/passes/MathFunctions.h` has the table of errors.

    ```mlir
    %0 = math.rsqrt %x : vector<8xf32>     // %one = arith.constant dense<1.0> : vector<8xf32>
                                           // %root = math.sqrt %x : vector<8xf32>
                                           // %0 = arith.divf %one, %root : vector<8xf32>
    ```
  }];
  let statistics = [Statistic<"numExpanded", "expanded", "Operations replaced by arithmetic">];
}

def ExpandHalf : LoweringPass<"attn-expand-half"> {
  let summary = "Replace arithmetic on f16 and bf16 by that on f32, and conversions by integer operations";
  let description = [{
    Arithmetic on f16 and bf16 is done in f32 and rounded to nearest even. Conversions between f16 and f32
    become integer operations where the module's target has no instruction for them; those of bf16 always,
    because the instruction of AVX512-BF16 flushes subnormal numbers. Narrowing from f64 and from integers
    rounds once. NaNs stay NaNs and are quiet.

    ```mlir
    %0 = arith.addf %a, %b : bf16          // %x = arith.extf %a : bf16 to f32  (a shift)
                                           // %y = arith.extf %b : bf16 to f32
                                           // %z = arith.addf %x, %y : f32
                                           // %0 = arith.truncf %z : f32 to bf16  (integer operations)
    ```
  }];
  let statistics = [Statistic<"numExpanded", "expanded", "Operations replaced">];
}

def HalfAsInteger : LoweringPass<"attn-half-as-integer", "mlir::ModuleOp"> {
  let summary = "Move bf16, and f16 where the target has no such type, as 16-bit integers";
  let description = [{
    After ExpandHalf nothing computes on these types, but values of them are still loaded, selected and stored. A code
    generator without the type would do that by way of f32 and of library calls; as integers they are just bits.
  }];
}

#endif
