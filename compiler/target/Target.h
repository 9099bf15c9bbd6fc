// What the compiler knows of a machine: instructions, vectors, tiles, caches.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"

#include "llvm/Support/Error.h"

#include <memory>
#include <string>

namespace llvm {
class TargetMachine;
} // namespace llvm

namespace heed {

/// Columns of a panel of packed weights or keys, the same for every target: one image serves them all.
inline constexpr int64_t panelWidth = 16;

struct Tile {
  int64_t rows, cols;
};

/// The shape of code for one family of instructions; the rows of the table in Target.cpp.
struct Tuning {
  int64_t lanes;            ///< f32 elements of a vector register
  int64_t registers;        ///< vector registers
  Tile matmul;              ///< register tile of the micro-kernel: rows of x × output features
  int64_t queries, keys;    ///< rows and columns of an attention tile
  int64_t askedQueries;     ///< rows of one whose pairs are asked whether they are kept
  int64_t l1Bytes, l2Bytes; ///< data caches of one core
};

struct Target {
  std::string name;     ///< as recorded in modules; `parse(name)` gives this target again on any machine
  std::string triple;   ///< normalized
  std::string cpu;      ///< LLVM's name
  std::string features; ///< LLVM's "+a,-b", what differs from the CPU's own
  Tuning tuning;

  bool hasFma;       ///< fused multiply-add on f32 vectors
  bool hasRounding;  ///< floor, ceil and round on f32 vectors
  bool hasHalfCasts; ///< f16 ↔ f32 (F16C, AArch64)
  bool hasHalfMath;  ///< arithmetic on f16 (AVX512-FP16, FEAT_FP16)
  bool hasBf16Casts; ///< f32 → bf16 rounding to nearest even (AVX512-BF16, FEAT_BF16)

  /// A target by name: `x86-64`, `x86-64-v2`, `x86-64-v3`, `x86-64-v4`, `aarch64`, `native`, or `TRIPLE:CPU`,
  /// optionally followed by features (`x86_64-linux-gnu:znver3,+avx512f`). `native` is replaced by the name
  /// of what this machine is.
  static llvm::Expected<Target> parse(llvm::StringRef name);

  /// The target recorded in the module around `op`; the default where none is. A malformed one is an error
  /// at the module.
  static mlir::FailureOr<Target> of(mlir::Operation *op);

  /// Records this target in `module`.
  void record(mlir::ModuleOp module) const;

  bool isX86() const;
  bool isAArch64() const;

  /// Whether the CPU has `feature`, by LLVM's name ("avx2").
  bool has(llvm::StringRef feature) const;

  /// Code generation for this target; `features` of the machine are those of `cpu` and `features`.
  std::unique_ptr<llvm::TargetMachine> createMachine() const;

  static constexpr llvm::StringLiteral attributeName = "heed.target";
  /// On a module of which there are versions for more targets: the names of all.
  static constexpr llvm::StringLiteral versionsName = "heed.targets";
  static constexpr llvm::StringLiteral defaultName = "x86-64-v3";
};

} // namespace heed
