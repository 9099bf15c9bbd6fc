#include "compiler/passes/LetteredSlices.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace heed;

/// The slice of `tensor`, whose dimensions are `letters`, as the matrix of `first` and `second` in the order
/// in which they lie.
static Value sliceInOrder(ImplicitLocOpBuilder &b, Value tensor, StringRef letters, const Ranges &ranges,
                          char first, char second) {
  SmallVector<OpFoldResult> offsets, sizes;
  SmallVector<bool> dropped;
  for (char letter : letters) {
    auto [offset, size] = ranges.lookup(letter);
    offsets.push_back(offset);
    sizes.push_back(size);
    dropped.push_back(letter != first && letter != second);
  }
  return sliceWithout(b, tensor, offsets, sizes, dropped);
}

Value heed::copyMatrix(ImplicitLocOpBuilder &b, Value tensor, StringRef letters, const Ranges &ranges,
                       char first, char second, Value destination) {
  Value slice = sliceInOrder(b, tensor, letters, ranges, first, second);
  if (letters.find(first) < letters.find(second))
    return linalg::CopyOp::create(b, slice, destination).getResult(0);
  return linalg::TransposeOp::create(b, slice, destination, ArrayRef<int64_t>{1, 0})->getResult(0);
}

Value heed::sliceMatrix(ImplicitLocOpBuilder &b, Value tensor, StringRef letters, const Ranges &ranges,
                        char first, char second) {
  if (letters.find(first) < letters.find(second))
    return sliceInOrder(b, tensor, letters, ranges, first, second);
  SmallVector<OpFoldResult> sizes{ranges.lookup(first).second, ranges.lookup(second).second};
  Value empty = tensor::EmptyOp::create(b, sizes, getElementTypeOrSelf(tensor));
  return copyMatrix(b, tensor, letters, ranges, first, second, empty);
}

std::pair<Value, AffineMap> heed::sliceRead(ImplicitLocOpBuilder &b, Value read, AffineMap map,
                                            ArrayRef<std::pair<OpFoldResult, OpFoldResult>> ranges) {
  SmallVector<OpFoldResult> offsets, sizes;
  SmallVector<bool> dropped;
  SmallVector<AffineExpr> exprs;
  for (AffineExpr expr : map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    std::pair<OpFoldResult, OpFoldResult> origin(b.getIndexAttr(0), b.getIndexAttr(1));
    auto [offset, size] = dim ? ranges[dim.getPosition()] : origin;
    offsets.push_back(offset);
    sizes.push_back(size);
    dropped.push_back(!dim || dim.getPosition() < 2);
    if (!dropped.back())
      exprs.push_back(b.getAffineDimExpr(dim.getPosition() - 2));
  }
  Value tile = offsets.empty() ? read : sliceWithout(b, read, offsets, sizes, dropped);
  return {tile, AffineMap::get(2, 0, exprs, b.getContext())};
}
