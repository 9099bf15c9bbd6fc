// Where the result of a fused attention goes; see FusedOperands.h.
#include "compiler/passes/FusedOperands.h"

using namespace mlir;
using namespace heed;

Value FusedResult::reshape(OpBuilder &b, Value result) const {
  if (!groups.empty())
    result = tensor::CollapseShapeOp::create(b, replaced.getLoc(), result, groups);
  return result.getType() == replaced.getType()
             ? result
             : tensor::CastOp::create(b, replaced.getLoc(), replaced.getType(), result).getResult();
}

FusedResult Coordinates::followResult() const {
  auto type = cast<RankedTensorType>(weighted.getResult().getType());
  FusedResult result{weighted.getResult(), hasHeads ? "bhqe" : hasBatch ? "bqe" : "qe", type, {}};
  if (!weightsOnLeft)
    std::swap(result.letters.end()[-1], result.letters.end()[-2]);
  if (areMerged) {
    result.groups = {{0, 1}, {2}, {3}};
    result.type = RankedTensorType::get({sizes[0], sizes[1], type.getDimSize(1), type.getDimSize(2)},
                                        type.getElementType());
  }
  while (result.replaced.hasOneUse()) {
    Operation *user = *result.replaced.user_begin();
    if (user->getNumResults() != 1 || !isa<RankedTensorType>(user->getResult(0).getType()))
      break;
    auto userType = cast<RankedTensorType>(user->getResult(0).getType());
    if (auto expand = dyn_cast<tensor::ExpandShapeOp>(user);
        expand && ArrayRef(expand.getReassociationIndices()) == ArrayRef(result.groups) &&
        userType == result.type) {
      result.groups.clear(); // what was merged is told apart again
    } else if (isa<attn::MergeHeadsOp>(user) && result.letters == "bhqe" && result.groups.empty()) {
      ArrayRef<int64_t> shape = result.type.getShape();
      result.letters = "bqhe";
      result.type =
          RankedTensorType::get({shape[0], shape[2], shape[1], shape[3]}, result.type.getElementType());
      result.groups = {{0}, {1}, {2, 3}};
      result.replaced = user->getResult(0);
      break;
    } else if (result.groups.empty()) {
      Elements elements(userType.getShape());
      Element element{user->getResult(0),
                      AffineMap::getMultiDimIdentityMap(userType.getRank(), user->getContext()), nullptr};
      while (element.value != result.replaced) {
        std::optional<Element> from = elements.step(element);
        if (!from && isa_and_present<arith::TruncFOp>(element.value.getDefiningOp()))
          from = elements.castOperand(element);
        if (!from)
          break;
        element = *from;
      }
      if (element.value != result.replaced || !element.at.isPermutation())
        break;
      std::string letters;
      AffineMap order = inversePermutation(element.at);
      for (AffineExpr expr : order.getResults())
        letters += result.letters[cast<AffineDimExpr>(expr).getPosition()];
      result.letters = letters;
      result.type = userType;
    } else {
      break;
    }
    result.replaced = user->getResult(0);
  }
  return result;
}
