// How the tensors of a parameter image are made from those of a checkpoint.
//
// A module says so in an attribute, which every phase keeps; only for parameters that are not simply the
// tensor of the same name:
//
//   heed.recipe = {
//     "qkv" = {concatenation = 0, parts = [
//       {tensor = "q", source = 1, slices = [array<i64: 0, 64>, array<i64: 0, 32>],
//        permutation = array<i64: 1, 0>},
//       {tensor = "k"}]},
//     "w#panels16" = {tensor = "w", logical = tensor<384x384xf32>, panels = {dim = 0, width = 16}}}
//
// A part is a tensor of the source (of the file number `source`, else of the first that has it), from which
// `slices` cuts [offset, size] of each dimension; dimension i of the part is dimension permutation[i] of the
// cut. Parts are put together along `concatenation`. `panels` stores the result as linalg.pack does with
// inner tile `width` along `dim`, padded with zeros. Elements are converted to the type of the attn.param,
// rounded to nearest even.
#pragma once

#include "compiler/target/Interface.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/Error.h"

namespace heed {

/// What is cut from one tensor of the source.
struct Part {
  std::string tensor;
  std::optional<unsigned> source;
  llvm::SmallVector<std::pair<int64_t, int64_t>> slices;
  llvm::SmallVector<int64_t> permutation;
};

/// Entries of dimension `dim` stored `width` at a time.
struct Panels {
  int64_t dim, width;
};

/// How one parameter is made.
struct Recipe {
  llvm::SmallVector<Part> parts;
  int64_t concatenation = 0;
  std::optional<Panels> panels;
  /// Null: the type of the attn.param.
  mlir::RankedTensorType logical;
};

/// The recipe of the parameter `name`; without one it is the tensor of that name as it is.
llvm::Expected<Recipe> getRecipe(mlir::ModuleOp module, llvm::StringRef name);

/// Makes the parameter `name` available in panels: of `width` entries of dimension `dim`, as by
/// `linalg.pack … inner_dims_pos = [dim] inner_tiles = [width]` with zeros for padding. Returns the name of
/// the derived parameter, whose type is `getPanelType`. Asking twice gives the same name. `logical`: the type
/// of `name`.
std::string addPanelRecipe(mlir::ModuleOp module, llvm::StringRef name, mlir::RankedTensorType logical,
                           int64_t dim, int64_t width);

/// [N, K] in panels of w along 0: [ceil(N / w), K, w].
mlir::RankedTensorType getPanelType(mlir::RankedTensorType logical, int64_t dim, int64_t width);

/// What the image holds of the attn.param `name` of type `type`, but for its place. An error if the module's
/// recipe does not make such a tensor.
llvm::Expected<ParameterInterface> describeParameter(mlir::ModuleOp module, llvm::StringRef name,
                                                     mlir::RankedTensorType type);

} // namespace heed
