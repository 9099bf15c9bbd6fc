// The phases of the compiler, in order. Pipeline.cpp is the page to read.
#pragma once

#include "mlir/Pass/PassManager.h"

namespace heed {

/// A module's stage on its way to code. Each phase is the result of running what leads to it.
enum class Phase { Graph, Fused, Tiled, Buffer, Vector, LLVM };

/// "graph", "fused", …; nullopt for anything else.
std::optional<Phase> parsePhase(llvm::StringRef name);
llvm::StringRef phaseName(Phase phase);

struct PipelineOptions {
  bool contracts = true; ///< check what callers pass
  bool remarks = false;  ///< say what is not fused, and why
  bool redZones = false; ///< between buffers of the workspace, for the address sanitizer
};

/// Adds the passes that lead from phase `from` (exclusive) to phase `to` (inclusive).
void buildPipeline(mlir::OpPassManager &pm, Phase from, Phase to, const PipelineOptions &options);

/// Registers heed's passes, upstream passes that its pipeline uses, and one pipeline per phase
/// (`--heed-fused`, `--heed-tiled`, …, each from the phase before).
void registerPasses();

} // namespace heed
