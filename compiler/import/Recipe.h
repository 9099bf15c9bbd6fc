// How the tensors of a parameter image are made from the files that a module names.
//
// A module says where its parameters come from in two attributes, which every phase keeps:
//
//   heed.params = "model.safetensors"    one file, an index of shards, or a list of both, relative to the
//   module's heed.recipe = {                      only for parameters that are not simply the tensor of the
//   same name
//     "qkv" = {concatenation = 0, parts = [
//       {tensor = "q", source = 1, slices = [array<i64: 0, 64>, array<i64: 0, 32>], permutation = array<i64:
//       1, 0>}, {tensor = "k"}]},
//     "w#panels16" = {tensor = "w", logical = tensor<384x384xf32>, panels = {dim = 0, width = 16}}}
//
// A part is a tensor of the source (of the file number `source`, else of the first that has it), from which
// `slices` cuts [offset, size] of each dimension; dimension i of the part is dimension permutation[i] of the
// cut. Parts are put together along `concatenation`. `panels` stores the result as linalg.pack does with
// inner tile `width` along `dim`, padded with zeros. Elements are converted to the type of the attn.param,
// rounded to nearest even.
#pragma once

#include "compiler/import/Safetensors.h"
#include "compiler/target/Interface.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"

namespace heed {

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

/// Opens the files that the module names, relative to `folder`, or `overrides` instead.
llvm::Expected<Checkpoint> openParameters(mlir::ModuleOp module, llvm::StringRef folder,
                                          llvm::ArrayRef<std::string> overrides = {});

/// Names the module's files relative to `to` instead of `from`.
void rebaseParameters(mlir::ModuleOp module, llvm::StringRef from, llvm::StringRef to);

/// Told how many of all bytes are written.
using ImageProgress = llvm::function_ref<void(uint64_t done, uint64_t total)>;

/// Executes the module's recipe and writes the parameter image that its `heed.interface` describes: a
/// safetensors file as runtime/heed_kernel.h says. What the source lacks or holds in another shape is one
/// error, before anything is written. Errors of `os` are its owner's.
llvm::Error writeParameterImage(
    mlir::ModuleOp module, const Checkpoint &source, llvm::raw_pwrite_stream &os,
    ImageProgress progress = [](uint64_t, uint64_t) {});

/// The same, into a file.
llvm::Error writeParameterImage(
    mlir::ModuleOp module, const Checkpoint &source, llvm::StringRef path,
    ImageProgress progress = [](uint64_t, uint64_t) {});

/// Writes the data of the image alone, as it lies in a module that embeds its parameters.
llvm::Error writeParameterData(
    mlir::ModuleOp module, const Checkpoint &source, llvm::raw_ostream &os,
    ImageProgress progress = [](uint64_t, uint64_t) {});

/// Compares the data of an image with the digest in its header.
llvm::Error checkParameterImage(llvm::StringRef path);

} // namespace heed
