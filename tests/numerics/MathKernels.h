// Compiles one operation on one type for one target, as the compiler's last passes do it.
#pragma once

#include "compiler/target/Target.h"

#include "llvm/ExecutionEngine/Orc/LLJIT.h"

#include <string>

namespace heed {

struct Kernel {
  std::string op;     ///< "math.exp", "arith.truncf", …
  unsigned operands;  ///< 1 to 3
  std::string from;   ///< element type of the operands
  std::string to;     ///< and of the result
  unsigned lanes = 1; ///< of a vector; 1 is a scalar
  std::string extra;  ///< what stands between mnemonic and operands, such as a predicate
};

/// LLVM IR of `void f(const from *a, const from *b, const from *c, to *result)`, optimized for `target`,
/// after ExpandMath and ExpandHalf.
llvm::orc::ThreadSafeModule compileKernel(const Kernel &kernel, const Target &target);

/// An object file of it for `target`.
std::unique_ptr<llvm::MemoryBuffer> compileObject(const Kernel &kernel, const Target &target);

using KernelFunction = void (*)(const void *a, const void *b, const void *c, void *result);

/// The kernel as a function of this process, which must be able to run the target's code.
class LoadedKernel {
public:
  LoadedKernel(const Kernel &kernel, const Target &target);
  KernelFunction function;

private:
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

/// Whether this machine runs code for `target`.
bool isRunnable(const Target &target);

} // namespace heed
