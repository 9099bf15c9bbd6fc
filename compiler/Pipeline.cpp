// The whole compiler on a page: one function per phase, a line per pass.
#include "compiler/Pipeline.h"

#include "compiler/passes/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace heed;

/// graph → fused: attn.attention, and linear layers with epilogues.
static void buildFusedPhase(OpPassManager &pm, const PipelineOptions &options) {
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createFuseEpilogues());
}

static constexpr std::pair<Phase, StringLiteral> phaseNames[] = {
    {Phase::Graph, "graph"},   {Phase::Fused, "fused"},   {Phase::Tiled, "tiled"},
    {Phase::Vector, "vector"}, {Phase::Buffer, "buffer"}, {Phase::LLVM, "llvm"},
};

StringRef heed::phaseName(Phase phase) { return phaseNames[static_cast<int>(phase)].second; }

std::optional<Phase> heed::parsePhase(StringRef name) {
  for (auto [phase, phaseName] : phaseNames)
    if (phaseName == name)
      return phase;
  return std::nullopt;
}

void heed::buildPipeline(OpPassManager &pm, Phase from, Phase to, const PipelineOptions &options) {
  if (from < Phase::Fused && to >= Phase::Fused)
    buildFusedPhase(pm, options);
}

void heed::registerPasses() { registerHeedPasses(); }
