#ifndef HEED_COMPILER_PASSES
#define HEED_COMPILER_PASSES

include "mlir/Pass/PassBase.td"

/// A pass that may produce operations of any dialect between the graph and LLVM.
class LoweringPass<string argument, string operation = ""> : Pass<argument, operation> {
  let dependentDialects = ["attn::AttnDialect", "mlir::LLVM::LLVMDialect", "mlir::affine::AffineDialect",
                           "mlir::arith::ArithDialect", "mlir::bufferization::BufferizationDialect",
                           "mlir::func::FuncDialect", "mlir::linalg::LinalgDialect", "mlir::math::MathDialect",
                           "mlir::memref::MemRefDialect", "mlir::scf::SCFDialect", "mlir::tensor::TensorDialect",
                           "mlir::vector::VectorDialect"];
}

def RaiseMatmuls : LoweringPass<"attn-raise-matmuls"> {
  let summary = "Turn contractions of linalg into attn.matmul";
  let description = [{
    A sum of products over one loop that starts from zero, with one loop for rows, one for columns and at most two for the batch, is
    an `attn.matmul`, whatever operation of linalg it was; operands whose dimensions come in another order are transposed first.
  }];
}

def RaiseSoftmax : LoweringPass<"attn-raise-softmax"> {
  let summary = "Turn softmax written in arithmetic into attn.softmax";
  let description = [{
    An exponential of scores less their maximum along one axis, divided by its own sum along that axis, is an `attn.softmax`, and so is
    `linalg.softmax`. The pass asks how an element comes about (`compiler/passes/Elements.h`) and knows no other form of it: elementwise
    operations and structured ones, alone or fused, read the same. A slice of −inf has no maximum to subtract, whence
    `empty_rows(nan)`; zeros selected for such slices make it `empty_rows(zeros)`. Without the maximum, exponentials overflow where
    softmax does not: that stays, with a remark if asked for.
  }];
  let options = [Option<"remarks", "remarks", "bool", "false", "Say what is nearly a softmax">];
  let statistics = [Statistic<"numRaised", "raised", "Softmaxes found">];
}

def FuseAttention : LoweringPass<"attn-fuse-attention"> {
  let summary = "Fuse attention written in steps into one operation";
  let description = [{
    From every softmax the pass walks outwards: down to the matmul with the values, up to the product of queries and keys. It matches
    no forms: it asks of one score how it comes about (`compiler/passes/Elements.h`). Transposes, reshapes, broadcasts, slices, head
    splits and merges change coordinates; operations of the score interface, elementwise and structured ones compute; casts round.
    What has both a query and a key coordinate is computed in the score region, everything else is read by it. −inf for a pair becomes
    part of the keep region where what comes after leaves −inf alone; a lowest finite number stays a score. Moves and uniform factors of
    queries and keys, repeated heads and moves of the result disappear into layout and scale. Scores are then never materialized.

    −inf added to a score is a mask: the pair is left out whatever its key holds, NaN included. Scores or weights that somebody else
    reads too are not fused: they are as large as what fusing avoids, and a second computation costs more than it saves. What stays in
    steps is remarked with a code, the first reason and the operation in the way, if asked for; on a softmax with the attribute
    `attn.expect_fused` it is an error.
  }];
  let options = [Option<"remarks", "remarks", "bool", "false", "Say why an attention is not fused">];
  let statistics = [Statistic<"numFused", "fused", "Attentions fused">];
}

def FuseEpilogues : LoweringPass<"attn-fuse-epilogues"> {
  let summary = "Move what follows a linear layer element by element into its epilogue";
  let description = [{
    An operation that implements the score interface, or an elementwise `arith` or `math` operation,
    whose only use of a linear layer's result is element by element joins that layer's epilogue region:
    the change is made in registers, and the intermediate tensor disappears. What could have joined and does not is remarked, if
    asked for.

    ```mlir
    %0 = attn.linear %x, %w : …            // %1 = attn.linear %x, %w epilogue {
    %1 = attn.gelu %0 : …                  //   ^bb0(%acc: f32): … attn.yield %gelu : f32 }
    ```
  }];
  let options = [Option<"remarks", "remarks", "bool", "false", "Say what does not join a layer, and why">];
}

def ApplySchedule : Pass<"attn-apply-schedule", "mlir::ModuleOp"> {
  let summary = "Run a transform script on the module";
  let description = [{
    The `transform.named_sequence @__transform_main` of `file` gets the module as its argument. At the end of the phase
    `fused`, where `attn.attention`, `attn.linear` and operations of linalg can be tiled and fused with one another, it decides
    about the outer loops; what follows tiles what is inside of them (`examples/11-schedule`).

    ```sh
    heed compile attention.mlir --insert='fused:attn-apply-schedule{file=schedule.mlir}' --emit=fused
    ```
  }];
  let dependentDialects = ["mlir::transform::TransformDialect"];
  let options = [Option<"file", "file", "std::string", "", "The script">];
}

def DescribeInterface : LoweringPass<"attn-describe-interface", "mlir::ModuleOp"> {
  let summary = "Say what the module offers to its callers";
  let description = [{
    Reads what the author says of the arguments and results of each public function, checks it against the
    graph, and records it as the module attribute `heed.interface`, from which the C entries, the generated
    header and the tables of `heed_module_query` are made.

    | attribute | of | meaning |
    |---|---|---|
    | `attn.name` | argument, result | its name for callers |
    | `attn.shape` | argument, result | for each dimension a number, a name, or a sum such as "past + seq" |
    | `attn.optional` | argument | may be a null pointer, which stands for "ones" or "zeros" |
    | `attn.range` | argument | [lowest, highest] index it may hold: numbers, or sums of sizes |
    | `attn.strided` | argument, result | not dense: a stride for every dimension but the last |
    | `attn.state` | argument | updated in place: the number of the result that is its new value |
    | `attn.require` | function | relations between sizes: ["seq <= 512"] |

    A dynamic dimension of an argument without a name gets one of its own. That of a result may be left out
    where it follows from the inputs; what is given must agree with what follows, and a new name is a capacity
    which the caller chooses. What of the module calls an entry gets a private copy of it.

    ```mlir
    module @scale {
      func.func @scale(%x: tensor<?x8xf32> {attn.name = "x", attn.shape = ["rows", 8]}) -> tensor<?x8xf32>
    }
    // C: int32_t scale(const float *x, float *result0, int64_t rows, void *workspace, …)
    ```
  }];
}

def UnifySizes : LoweringPass<"attn-unify-sizes", "mlir::ModuleOp"> {
  let summary = "Let equal dimensions of an entry's arguments be one value";
  let description = [{
    A dimension of an entry's argument that `heed.interface` makes equal to one before it, by a common name or by a relation,
    is read from that one. The entry checks it before any of its code runs, or its caller has promised it (`--contracts=off`);
    private functions, which are called without a check, are left alone.

    ```mlir
    // both with attn.shape = ["batch", "seq", 64]
    %0 = tensor.dim %key, %c1 : tensor<?x?x64xf32>     // %0 = tensor.dim %query, %c1 : tensor<?x?x64xf32>
    ```
  }];
  let statistics = [Statistic<"numUnified", "unified", "Dimensions read from another argument">];
}

def TileAttention : LoweringPass<"attn-tile-attention"> {
  let summary = "Tile attention over batch, heads, queries and keys";
  let description = [{
    `attn.attention` becomes a parallel loop over batch, heads and tiles of queries around loops over tiles of keys
    with an `attn.online_attention` inside, and a division by the row sums at the end. Keys are packed once into
    transposed panels, shared by the queries of a group, and so are values that do not lie row after row. Keys past
    the valid length are never visited.

    Where the queries are one tile, a parallel loop over parts of the keys makes a state of each part, and a second one
    merges them. Up to three queries read keys where they lie, for all heads of a group in turn; more have the keys of a
    step transposed into panels first. Where the number of queries is known at run time only, all ways are there, and
    one of them has anything to do; with a mask that asks, which every way has code of its own for, there are but the
    first, up to eight queries, and the last.

    The keep region is analysed (see MaskAnalysis.h): keys that no query of a tile keeps are skipped, whole tiles of keys
    that every query keeps are computed without the region, and only the rest is asked pair by pair, by smaller tiles
    with bounds of their own. The bounds are affine in the tile, the lengths, the offsets and what the region reads per
    batch entry or head.

    ```mlir
    // causal, for queries [q0, q1):
    scf.for %k = 0 to %full step 64       // full = 64·⌊(q0 + 1)/64⌋: no region
    scf.for %q = q0 to q1 step 24         // queries [q, r) of the tile:
      scf.for %k = %full to %end step 64  //   end = r, up to a panel: attn.causal
    ```
  }];
}

def TileMatmuls : LoweringPass<"attn-tile-matmuls"> {
  let summary = "Tile linear layers and matrix products over rows and columns";
  let description = [{
    A linear layer becomes a parallel loop over blocks of rows and columns with one `attn.tile_matmul` inside; its
    weight is packed into panels (`linalg.pack`), its bias and epilogue move into the tile's. A product of two stacks of
    matrices is tiled over batch and heads besides; its right-hand side is packed only where it lies transposed.
    A tile has as many rows as the target's cache holds, all tiles equally many, and few columns, so that threads
    get equal shares.
  }];
}

def HoistPacks : LoweringPass<"attn-hoist-packs", "mlir::ModuleOp"> {
  let summary = "Move the packing of weights out of layers and into the parameter image";
  let description = [{
    `linalg.pack` of an argument of a private function moves to its callers; of an `attn.param` it becomes the
    parameter's storage: the recipe gains an entry for the packed form.
  }];
  let statistics = [Statistic<"numFolded", "folded", "Packs that became storage">];
}

def LayOutParameters : LoweringPass<"attn-lay-out-parameters", "mlir::ModuleOp"> {
  let summary = "Give every parameter its place in the image";
  let description = [{
    Every parameter that an `attn.param` names gets an offset in the parameter image, a multiple of 64 bytes, in the
    order of names. Name, logical type, storage and place become part of `heed.interface`, whose layout id ties code
    and image together. A recipe that does not make the type of its `attn.param` is an error.
  }];
  let statistics = [Statistic<"numParameters", "parameters", "Parameters in the image">];
}

def LowerLayers : LoweringPass<"attn-lower-layers"> {
  let summary = "Lower what works row by row or element by element to linalg.generic";
  let description = [{
    Norms, softmax, activations, score operations, additive scores and embeddings become `linalg.generic` on tensors, with f32
    inside whatever the element type. An operation of the score interface is lowered by its own `buildScore`.
  }];
}

def LowerPositions : LoweringPass<"attn-lower-positions"> {
  let summary = "Lower positional encodings to linalg.generic";
  let description = [{
    Learned positions read their table. Sinusoidal and rotary ones get tables of cosines and sines, one for each
    position and pair, their angles computed in f64, less whole turns; every head and batch entry reads the same ones,
    unless entries have offsets of their own.
  }];
}

def LowerHeads : LoweringPass<"attn-lower-heads"> {
  let summary = "Lower head splits, head merges and cache updates to moves of data";
  let description = [{
    A split is an `expand_shape` and a transpose, a merge a transpose and a `collapse_shape`; fused attention has taken them
    into its layout before. A cache update is an `insert_slice`, in place where the cache is a state.
  }];
}

def LowerSelection : LoweringPass<"attn-lower-selection"> {
  let summary = "Lower argmax and top-k to reductions";
  let description = [{
    One reduction per element chosen, by the order: NaN, then larger, then lower index.
  }];
}

def TileRows : LoweringPass<"attn-tile-rows"> {
  let summary = "Tile what is left on whole tensors over rows, with what feeds it";
  let description = [{
    Every structured operation outside of a parallel loop is tiled to single rows in one, together with the operations
    whose rows only it needs: a norm's sums, the residual added before it, a softmax's maximum.
  }];
}

def LowerOnlineAttention : LoweringPass<"attn-lower-online-attention"> {
  let summary = "Lower a step of online attention to two tile matmuls and the softmax between them";
  let description = [{
    The regions are inlined between the two products. A pair that is not kept has the score −inf and the weight
    −0.0, by which the second product knows to leave it out.
  }];
}

def LowerMasks : LoweringPass<"attn-lower-masks"> {
  let summary = "Lower named masks to comparisons";
  let description = [{ `attn.causal %q, %k` becomes `arith.cmpi sle, %k, %q`, and so on for every operation of a keep region. }];
}

def VectorizeSoftmax : LoweringPass<"attn-vectorize-softmax"> {
  let summary = "Turn the softmax of a tile into loops over rows of vectors";
  let description = [{
    Each row of scores is read twice: for its maximum, and for the exponentials and their sum. What was summed up
    before is scaled only where the maximum has moved, which is seldom.
  }];
}

def VectorizeMatmuls : LoweringPass<"attn-vectorize-matmuls"> {
  let summary = "Turn a tile matmul into register tiles of vector fused multiply-adds";
  let description = [{
    Loops over blocks of columns and rows as large as the target's register tile, whose accumulators stay in registers
    over the whole depth. The last blocks of rows share what is left evenly; a tile of up to four rows streams through
    the panels, in wider blocks where it leaves registers free. Where the tile is a slice of all panels, the next lines
    are prefetched meanwhile, and so is what comes `ahead`. The epilogue is applied to the accumulators.
  }];
}

def VectorizeTransposes : LoweringPass<"attn-vectorize-transposes"> {
  let summary = "Transpose matrices block by block in registers";
  let description = [{
    A `linalg.transpose` of a matrix of floats becomes loops over blocks of eight by eight, each transposed by three
    rounds of shuffles.
  }];
}

def VectorizeGenerics : LoweringPass<"attn-vectorize-generics"> {
  let summary = "Turn linalg.generic into loops over rows of vectors";
  let description = [{
    The innermost loop runs over vectors, its rest under a mask; a reduction along it keeps several accumulators.
    What does not run along the last dimension of its tensors stays for scalar loops.
  }];
  let statistics = [Statistic<"numScalar", "scalar", "Operations left to scalar loops">];
}

def DestinationStyle : LoweringPass<"attn-destination-style", "mlir::ModuleOp"> {
  let summary = "Give every function its results to fill, and what a kernel needs besides";
  let description = [{
    Results become trailing arguments that the function fills; a result tied to a state argument is written into that
    argument. Four arguments more follow: the parameter image, the workspace, the number of threads and the context.
    `attn.param` becomes a view of the image.
  }];
}

def LowerBuffers : LoweringPass<"attn-lower-buffers"> {
  let summary = "Turn copies and reshapes of buffers into loops and casts";
  let description = [{
    `memref.copy` between strided buffers would call a runtime function, and emitted code calls none. `memref.expand_shape` of
    a dense buffer becomes a cast with computed strides, several dynamic dimensions in a group included.
  }];
}

def ShareTiles : LoweringPass<"attn-share-tiles", "mlir::func::FuncOp"> {
  let summary = "Share the tiles of a parallel loop out among as many slots as there are threads";
  let description = [{
    A parallel loop over tiles becomes one over slots, each with a loop over tiles of its own. Which slot computes a tile
    never changes what it computes. A parallel loop inside of another becomes a plain one.
  }];
}

def PlanWorkspace : LoweringPass<"attn-plan-workspace", "mlir::ModuleOp"> {
  let summary = "Give every buffer its place in one workspace";
  let description = [{
    Buffers whose lifetimes do not meet share a place. A buffer inside of a parallel loop has one place per slot. Sizes are
    expressions of the function's dimensions and of the number of threads; beside every function `@f` stands
    `@f.workspace`, which computes the sum. A callee's workspace is a buffer of its caller.

    With `red-zones` every buffer has a place of its own, and what lies between two of them, before the first and after the
    last is poisoned while the function runs: the address sanitizer then reports an access that strays.
  }];
  let options = [Option<"redZones", "red-zones", "bool", "false", "Keep buffers apart by bytes that no access may touch">];
}

def PackArguments : LoweringPass<"attn-pack-arguments", "mlir::ModuleOp"> {
  let summary = "Take weights packed that callers pass as arguments";
  let description = [{
    An argument marked `attn.packed` becomes a tensor of panels, as matrix products read them, and the module gets one more
    entry, `<entry>_pack_<argument>`, which makes it of the row-major matrix: a caller packs once, not at every call.

    ```mlir
    func.func @layer(%x: tensor<?x24xf32>, %w: tensor<20x24xf32> {attn.name = "w", attn.packed}) …
    // func.func @layer(%x: tensor<?x24xf32>, %w: tensor<2x24x16xf32> {attn.name = "w", attn.packed}) …
    // func.func @layer_pack_w(%w: tensor<20x24xf32>) -> tensor<2x24x16xf32>
    ```
  }];
  let statistics = [Statistic<"numPacked", "packed", "Arguments that callers pack">];
}

def NameKernels : LoweringPass<"attn-name-kernels", "mlir::func::FuncOp"> {
  let summary = "Name parallel loops by what they compute";
  let description = [{
    `heed.kernel` on an outermost parallel loop names it in its function: attention0, matmul0, matmul1, rows0, … The name
    survives to the symbol of its task, to profiles and to taps.
  }];
}

include "compiler/PassesToLLVM.td"

#endif
