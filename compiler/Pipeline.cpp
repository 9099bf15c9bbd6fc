// The whole compiler on a page: one function per phase, a line per pass.
#include "compiler/Pipeline.h"

#include "compiler/passes/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace heed;

static void cleanUp(OpPassManager &pm) {
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

/// graph → fused: attention in one operation, linear layers with epilogues.
static void buildFusedPhase(OpPassManager &pm, const PipelineOptions &options) {
  pm.addPass(createPackArguments()); // changes what the interface is
  pm.addPass(createDescribeInterface());
  pm.addPass(createUnifySizes()); // here the author's, in every phase those that passes ask for
  cleanUp(pm);
  pm.addPass(createRaiseMatmuls());
  pm.addPass(createRaiseSoftmax({options.remarks}));
  pm.addPass(memref::createResolveRankedShapeTypeResultDimsPass());
  cleanUp(pm); // what softmax was made of, and sizes of scores, would count as uses
  pm.addPass(createFuseAttention({options.remarks}));
  cleanUp(pm); // the steps that fused away would count as uses
  pm.addPass(createFuseEpilogues({options.remarks}));
}

/// fused → tiled: parallel loops over tiles, and where every parameter lies.
static void buildTiledPhase(OpPassManager &pm, const PipelineOptions &options) {
  pm.addPass(createTileAttention());
  pm.addPass(createTileMatmuls());
  pm.addPass(createHoistPacks());        // before TileRows, which would compute what can be stored
  pm.addPass(createCanonicalizerPass()); // drops the parameters that only packs used
  pm.addPass(createLayOutParameters());
  pm.addPass(createLowerLayers());
  pm.addPass(createLowerPositions());
  pm.addPass(createLowerHeads());
  pm.addPass(createLowerSelection());
  cleanUp(pm);
  pm.addPass(createTileRows());
  pm.addPass(memref::createResolveRankedShapeTypeResultDimsPass());
  pm.addPass(createUnifySizes());
  cleanUp(pm);
  pm.addNestedPass<func::FuncOp>(createNameKernels());
}

/// tiled → buffer: memory; results are arguments, and everything between lies in one workspace.
static void buildBufferPhase(OpPassManager &pm, const PipelineOptions &options) {
  pm.addPass(createLowerOnlineAttention()); // here, since scores need memory
  pm.addPass(createDestinationStyle());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(bufferization::createEmptyTensorEliminationPass());
  bufferization::OneShotBufferizePassOptions bufferize;
  bufferize.bufferizeFunctionBoundaries = true;
  bufferize.functionBoundaryTypeConversion = bufferization::LayoutMapOption::IdentityLayoutMap;
  pm.addPass(bufferization::createOneShotBufferizePass(bufferize));
  pm.addPass(bufferization::createDropEquivalentBufferResultsPass());
  cleanUp(pm);
  pm.addPass(createLowerBuffers());
  pm.addNestedPass<func::FuncOp>(createShareTiles());
  pm.addPass(memref::createResolveShapedTypeResultDimsPass());
  pm.addPass(createUnifySizes());
  cleanUp(pm);
  pm.addPass(createPlanWorkspace({options.redZones}));
  cleanUp(pm);
}

/// buffer → vector: what runs in a tile, as vector code. It comes after memory is assigned: loops over
/// registers carry no tensors, which bufferization would have to see through.
static void buildVectorPhase(OpPassManager &pm, const PipelineOptions &options) {
  pm.addPass(createLowerMasks()); // until here masks are readable, and open to analysis
  pm.addPass(createVectorizeMatmuls());
  pm.addPass(createVectorizeSoftmax());
  pm.addPass(createVectorizeTransposes());
  pm.addPass(createVectorizeGenerics());
  cleanUp(pm);
}

/// vector → llvm: tasks for the caller's threads, the C interface, and LLVM's own operations.
static void buildLLVMPhase(OpPassManager &pm, const PipelineOptions &options) {
  pm.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
  pm.addPass(createTraceKernels());
  pm.addPass(createOutlineParallel());
  pm.addPass(createEmitInterface({options.contracts}));
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createConvertVectorToSCFPass(VectorTransferToSCFOptions()));
  pm.addPass(createExpandMath());
  pm.addPass(createExpandHalf());
  pm.addPass(memref::createFoldMemRefAliasOpsPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createSCFToControlFlowPass());
  cleanUp(pm);
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createConvertToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createHalfAsInteger());
}

static constexpr std::pair<Phase, StringLiteral> phaseNames[] = {
    {Phase::Graph, "graph"},   {Phase::Fused, "fused"},   {Phase::Tiled, "tiled"},
    {Phase::Buffer, "buffer"}, {Phase::Vector, "vector"}, {Phase::LLVM, "llvm"},
};

StringRef heed::phaseName(Phase phase) { return phaseNames[static_cast<int>(phase)].second; }

std::optional<Phase> heed::parsePhase(StringRef name) {
  for (auto [phase, phaseName] : phaseNames)
    if (phaseName == name)
      return phase;
  return std::nullopt;
}

void heed::buildPipeline(OpPassManager &pm, Phase from, Phase to, const PipelineOptions &options) {
  static constexpr std::pair<Phase, void (*)(OpPassManager &, const PipelineOptions &)> builders[] = {
      {Phase::Fused, buildFusedPhase},   {Phase::Tiled, buildTiledPhase}, {Phase::Buffer, buildBufferPhase},
      {Phase::Vector, buildVectorPhase}, {Phase::LLVM, buildLLVMPhase},
  };
  for (auto [phase, build] : builders)
    if (from < phase && phase <= to)
      build(pm, options);
}

void heed::registerPasses() {
  registerHeedPasses();
  // `heed-opt --heed-tiled` runs everything that leads from the graph to the tiled phase.
  struct Options : PassPipelineOptions<Options> {
    Option<std::string> from{*this, "from", llvm::cl::desc("The phase that the input is in"),
                             llvm::cl::init("graph")};
  };
  for (auto [phase, name] : phaseNames)
    if (phase != Phase::Graph)
      PassPipelineRegistration<Options>(("heed-" + name).str(), "Lower to the phase `" + name.str() + "`",
                                        [to = phase](OpPassManager &pm, const Options &options) {
                                          Phase from = parsePhase(options.from).value_or(Phase::Graph);
                                          buildPipeline(pm, from, to, {});
                                        });
}
