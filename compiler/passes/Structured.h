// Building structured operations: what the lowering passes share.
#pragma once

#include "dialect/Attn.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace heed {

/// On a parallel loop: the name of the kernel that it is, in its function.
inline constexpr llvm::StringLiteral kernelAttr = "heed.kernel";

/// One input of a generic operation: a tensor and the map from the loops to its coordinates.
struct GenericInput {
  mlir::Value tensor;
  mlir::AffineMap map;
};

/// Emits the elements that a generic operation yields. `inputs`: one element per input, floats narrower than
/// f32 extended to it; `outputs`: the elements of the destinations (their value so far, in a reduction).
using GenericBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
    mlir::ImplicitLocOpBuilder &, mlir::ValueRange inputs, mlir::ValueRange outputs)>;

/// Builds a linalg.generic over loops of which those named in `reductions` reduce. A result in f32 is rounded
/// to the element type of its destination.
llvm::SmallVector<mlir::Value> buildGeneric(mlir::ImplicitLocOpBuilder &b,
                                            llvm::ArrayRef<GenericInput> inputs,
                                            llvm::ArrayRef<GenericInput> destinations, int64_t loops,
                                            llvm::ArrayRef<int64_t> reductions, GenericBody body);

/// An uninitialized tensor of this type whose dynamic dimensions are `sizes[i]`.
mlir::Value emptyTensor(mlir::ImplicitLocOpBuilder &b, mlir::RankedTensorType type,
                        llvm::ArrayRef<mlir::OpFoldResult> sizes);
/// A tensor of `elementType` with every element `value`.
mlir::Value filledTensor(mlir::ImplicitLocOpBuilder &b, llvm::ArrayRef<mlir::OpFoldResult> sizes,
                         mlir::Value value);

mlir::Value f32Constant(mlir::ImplicitLocOpBuilder &b, double value);
mlir::Value indexConstant(mlir::ImplicitLocOpBuilder &b, int64_t value);
/// `value`, scalar or vector, in f32 where it is a narrower float, else itself.
mlir::Value extendToF32(mlir::ImplicitLocOpBuilder &b, mlir::Value value);
/// `value`, scalar or vector, rounded to elements of type `element` where that is another float type, else
/// itself.
mlir::Value roundTo(mlir::ImplicitLocOpBuilder &b, mlir::Value value, mlir::Type element);
/// The position of batch entry `batch` for an optional position operand (see AttnPosition); zero without one.
mlir::Value positionOf(mlir::ImplicitLocOpBuilder &b, mlir::Value position, mlir::Value batch);

/// Values of `types`: those that `yes` emits, where `condition` holds when the code runs, or those of `no`.
/// The branches are in the function while they are emitted, as bounds of their sizes ask for.
using Branch = llvm::function_ref<llvm::SmallVector<mlir::Value>()>;
llvm::SmallVector<mlir::Value> buildIf(mlir::ImplicitLocOpBuilder &b, mlir::Value condition,
                                       mlir::TypeRange types, Branch yes, Branch no);
/// The same without values.
void buildIf(mlir::ImplicitLocOpBuilder &b, mlir::Value condition, llvm::function_ref<void()> yes,
             llvm::function_ref<void()> no);

/// What a lowering of a whole tensor starts from: its shape, its loops, and maps onto them.
struct TensorLoops {
  mlir::ImplicitLocOpBuilder &b;
  mlir::RankedTensorType type;
  llvm::SmallVector<mlir::OpFoldResult> sizes;
  mlir::AffineMap identity;

  TensorLoops(mlir::ImplicitLocOpBuilder &b, mlir::Value tensor);

  int64_t rank() const { return type.getRank(); }
  /// Coordinates without dimension `axis`.
  mlir::AffineMap without(int64_t axis) const { return identity.dropResult(axis); }
  /// The coordinate along `axis` alone.
  mlir::AffineMap only(int64_t axis) const { return identity.getSubMap({static_cast<unsigned>(axis)}); }
  llvm::SmallVector<mlir::OpFoldResult> sizesWithout(int64_t axis) const;
  mlir::Value size(int64_t axis) const;
  mlir::Value sizeAsF32(int64_t axis) const;

  /// Reduces `inputs` along `axis`, starting from `init`, in f32.
  mlir::Value
  reduce(llvm::ArrayRef<GenericInput> inputs, int64_t axis, double init,
         llvm::function_ref<mlir::Value(mlir::ImplicitLocOpBuilder &, mlir::ValueRange, mlir::Value)> combine)
      const;
  /// Computes a tensor of this shape and of `elementType` element by element.
  mlir::Value
  map(llvm::ArrayRef<GenericInput> inputs, mlir::Type elementType,
      llvm::function_ref<mlir::Value(mlir::ImplicitLocOpBuilder &, mlir::ValueRange)> element) const;
};

/// `ceil(a / b)`, `min(a, b − c)` and `a · b`, folded where constant.
mlir::OpFoldResult ceilDiv(mlir::ImplicitLocOpBuilder &b, mlir::OpFoldResult a, int64_t divisor);
mlir::OpFoldResult minOfRest(mlir::ImplicitLocOpBuilder &b, int64_t tile, mlir::OpFoldResult size,
                             mlir::OpFoldResult offset);
mlir::OpFoldResult times(mlir::ImplicitLocOpBuilder &b, mlir::OpFoldResult a, int64_t factor);
/// `value` as an index value.
mlir::Value asValue(mlir::ImplicitLocOpBuilder &b, mlir::OpFoldResult value);

/// The most that `size` can be, where that is known.
std::optional<int64_t> getUpperBound(mlir::OpFoldResult size);

/// The slice of `tensor` from `offsets` on of `sizes`, without the dimensions of `dropped`.
mlir::Value sliceWithout(mlir::ImplicitLocOpBuilder &b, mlir::Value tensor,
                         llvm::ArrayRef<mlir::OpFoldResult> offsets, llvm::ArrayRef<mlir::OpFoldResult> sizes,
                         llvm::ArrayRef<bool> dropped);

/// `into` with `tile` written from `offsets` on.
mlir::Value insertSlice(mlir::ImplicitLocOpBuilder &b, mlir::Value tile, mlir::Value into,
                        llvm::ArrayRef<mlir::OpFoldResult> offsets, llvm::ArrayRef<mlir::OpFoldResult> sizes);

/// Where a tile goes in a result.
struct TileResult {
  mlir::Value tile;
  llvm::SmallVector<mlir::OpFoldResult> offsets, sizes;
};

/// Runs `body` for every coordinate below `counts` in parallel. It gets the coordinate and the results so far
/// (to take destination tiles from) and says which tile of each result it has made.
llvm::SmallVector<mlir::Value> buildForall(
    mlir::ImplicitLocOpBuilder &b, llvm::ArrayRef<mlir::OpFoldResult> counts, mlir::ValueRange results,
    llvm::function_ref<llvm::SmallVector<TileResult>(mlir::ValueRange at, mlir::ValueRange results)> body);

} // namespace heed
