// Compiles one operation on one type for one target, as the compiler's last passes do it.
#pragma once

#include "compiler/target/Target.h"

#include "llvm/ExecutionEngine/Orc/LLJIT.h"

#include <cstring>
#include <string>
#include <vector>

namespace heed {

struct Kernel {
  std::string op;         ///< "math.exp", "arith.truncf", …
  unsigned operands;      ///< 1 to 3
  std::string from;       ///< element type of the operands
  std::string to;         ///< and of the result
  unsigned lanes = 1;     ///< of a vector; 1 is a scalar
  std::string extra;      ///< what stands between mnemonic and operands, such as a predicate
  std::string flags = ""; ///< what stands behind the operands, such as fast-math flags
};

using KernelFunction = void (*)(const void *a, const void *b, const void *c, void *result);

/// An object file for `target` with a `KernelFunction` of each kernel, named f0, f1, …: what ExpandMath,
/// ExpandHalf and LLVM's optimizer make of it. Operands need no alignment.
std::unique_ptr<llvm::MemoryBuffer> compileObject(llvm::ArrayRef<Kernel> kernels, const Target &target);

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

template <typename To, typename From> To bitCast(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

/// Distance in units in the last place of the f32 nearest to `expected`. NaN, which no bound holds, where
/// only one is NaN or the signs of zeros differ.
double ulps(float got, double expected);

/// f32 and f64 at the edges of every exponent, of both signs; among them zeros, infinities and NaNs.
std::vector<float> edges32();
std::vector<double> edges64();

} // namespace heed
