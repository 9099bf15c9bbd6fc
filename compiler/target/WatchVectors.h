// Shows accesses of vectors to the thread sanitizer.
#pragma once

#include "llvm/IR/PassManager.h"

namespace heed {

/// Announces the accesses that ThreadSanitizerPass leaves out, as ranges of bytes: those of other sizes than
/// 1, 2, 4, 8 and 16 bytes, and each lane of masked ones. Run it just before that pass.
struct WatchVectorsPass : llvm::PassInfoMixin<WatchVectorsPass> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

} // namespace heed
