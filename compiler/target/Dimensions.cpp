// Dimensions of tensors as expressions of the sizes of an entry; see Dimensions.h.
#include "compiler/target/Dimensions.h"

#include "dialect/Attn.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

#include <map>

using namespace mlir;

namespace heed {
namespace {

/// A call on the way from the entry to a value; null: the value is in the entry itself.
struct Frame {
  ValueRange operands;
  const Frame *caller;
};

class Dimensions {
public:
  explicit Dimensions(const EntryInterface &interface) : interface(interface) {}

  /// The dimension `dim` of `value`; nothing where it does not follow from the inputs, or is not affine.
  std::optional<SizeExpr> of(Value value, unsigned dim, const Frame *frame = nullptr) {
    if (frame)
      return compute(value, dim, frame);
    auto known = found.find({value.getAsOpaquePointer(), dim});
    if (known == found.end())
      known = found.try_emplace({value.getAsOpaquePointer(), dim}, compute(value, dim, nullptr)).first;
    return known->second;
  }

private:
  std::optional<SizeExpr> compute(Value value, unsigned dim, const Frame *frame) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || dim >= type.getRank())
      return std::nullopt;
    if (!type.isDynamicDim(dim))
      return SizeExpr::ofConstant(type.getDimSize(dim));
    if (auto argument = dyn_cast<BlockArgument>(value))
      return ofArgument(argument, dim, frame);

    Operation *op = value.getDefiningOp();
    unsigned index = cast<OpResult>(value).getResultNumber();
    if (auto call = dyn_cast<func::CallOp>(op)) {
      auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, call.getCalleeAttr());
      if (!callee || callee.isExternal())
        return std::nullopt;
      Frame inner{call.getOperands(), frame};
      return of(callee.front().getTerminator()->getOperand(index), dim, &inner);
    }
    if (auto style = dyn_cast<DestinationStyleOpInterface>(op))
      return of(style.getTiedOpOperand(cast<OpResult>(value))->get(), dim, frame);
    if (auto shaped = dyn_cast<ReifyRankedShapedTypeOpInterface>(op))
      return ofReified(shaped, index, dim, frame);
    if (op->hasTrait<OpTrait::SameOperandsAndResultShape>() ||
        op->hasTrait<OpTrait::SameOperandsAndResultType>())
      return of(op->getOperand(0), dim, frame);
    return std::nullopt;
  }

  std::optional<SizeExpr> ofArgument(BlockArgument argument, unsigned dim, const Frame *frame) {
    if (!isa<func::FuncOp>(argument.getOwner()->getParentOp()))
      return std::nullopt;
    if (frame)
      return of(frame->operands[argument.getArgNumber()], dim, frame->caller);
    return interface.arguments[argument.getArgNumber()].shape[dim];
  }

  /// Asks the op to say its shape in IR, reads that, and removes it again.
  std::optional<SizeExpr> ofReified(ReifyRankedShapedTypeOpInterface op, unsigned index, unsigned dim,
                                    const Frame *frame) {
    struct Listener : OpBuilder::Listener {
      void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override { created.push_back(op); }
      SmallVector<Operation *> created;
    } listener;
    OpBuilder builder(op->getContext(), &listener);
    builder.setInsertionPoint(op);
    ReifiedRankedShapedTypeDims shapes;
    std::optional<SizeExpr> result;
    if (succeeded(op.reifyResultShapes(builder, shapes)) && index < shapes.size() &&
        dim < shapes[index].size())
      result = ofIndex(shapes[index][dim], frame);
    for (Operation *created : llvm::reverse(listener.created))
      created->erase();
    return result;
  }

  std::optional<SizeExpr> ofIndex(OpFoldResult index, const Frame *frame) {
    if (std::optional<int64_t> constant = getConstantIntValue(index))
      return SizeExpr::ofConstant(*constant);
    auto value = dyn_cast<Value>(index);
    Operation *op = value ? value.getDefiningOp() : nullptr;
    if (!op)
      return std::nullopt;
    auto operand = [&](unsigned i) { return ofIndex(op->getOperand(i), frame); };
    if (auto dim = dyn_cast<tensor::DimOp>(op)) {
      std::optional<int64_t> number = dim.getConstantIndex();
      return number ? of(dim.getSource(), *number, frame) : std::nullopt;
    }
    if (isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op)) {
      std::optional<SizeExpr> a = operand(0), b = operand(1);
      if (!a || !b)
        return std::nullopt;
      if (isa<arith::AddIOp>(op))
        return *a + *b;
      if (isa<arith::SubIOp>(op))
        return *a - *b;
      if (a->isConstant() || b->isConstant())
        return a->isConstant() ? *b * a->constant : *a * b->constant;
    }
    if (auto apply = dyn_cast<affine::AffineApplyOp>(op))
      return ofAffine(apply.getAffineMap().getResult(0), apply.getMapOperands(),
                      apply.getAffineMap().getNumDims(), frame);
    return std::nullopt;
  }

  std::optional<SizeExpr> ofAffine(AffineExpr expr, ValueRange operands, unsigned numDims,
                                   const Frame *frame) {
    if (auto constant = dyn_cast<AffineConstantExpr>(expr))
      return SizeExpr::ofConstant(constant.getValue());
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      return ofIndex(operands[dim.getPosition()], frame);
    if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
      return ofIndex(operands[numDims + symbol.getPosition()], frame);
    auto binary = cast<AffineBinaryOpExpr>(expr);
    std::optional<SizeExpr> a = ofAffine(binary.getLHS(), operands, numDims, frame);
    std::optional<SizeExpr> b = ofAffine(binary.getRHS(), operands, numDims, frame);
    if (!a || !b)
      return std::nullopt;
    if (expr.getKind() == AffineExprKind::Add)
      return *a + *b;
    if (expr.getKind() == AffineExprKind::Mul && b->isConstant())
      return *a * b->constant;
    return std::nullopt;
  }

  const EntryInterface &interface;
  std::map<std::pair<void *, unsigned>, std::optional<SizeExpr>> found; ///< of values in the entry itself
};

/// Collects what operations need of the sizes of their operands.
class Requirements {
public:
  explicit Requirements(const EntryInterface &interface) : interface(interface), dimensions(interface) {}

  void visit(Operation *op) {
    if (auto attention = dyn_cast<attn::AttentionOp>(op))
      visitAttention(attention);
    else if (auto matmul = dyn_cast<attn::MatmulOp>(op))
      visitMatmul(matmul);
    else if (auto score = dyn_cast<attn::ScoreOpInterface>(op))
      visitScoreOp(score);
    else if (op->hasTrait<OpTrait::Elementwise>())
      for (Value operand : op->getOperands().drop_front(op->getNumOperands() ? 1 : 0))
        for (unsigned dim = 0; dim < rankOf(operand); ++dim)
          require(op->getOperand(0), dim, operand, dim);
  }

  std::vector<RelationInterface> relations;

private:
  static unsigned rankOf(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type ? type.getRank() : 0;
  }

  /// The two dimensions are equal, or else the second is at least as large.
  void require(Value a, unsigned dimA, Value b, unsigned dimB, bool isEquality = true) {
    std::optional<SizeExpr> first = dimensions.of(a, dimA), second = dimensions.of(b, dimB);
    if (!first || !second || *first == *second)
      return;
    SizeExpr difference = *second - *first;
    auto says = [&](const RelationInterface &relation) {
      return relation.isEquality == isEquality &&
             (relation.expression == difference || (isEquality && relation.expression == difference * -1));
    };
    if (llvm::any_of(relations, says) || llvm::any_of(interface.relations, says))
      return;
    relations.push_back(
        {isEquality, difference,
         first->str(interface.sizes) + (isEquality ? " == " : " <= ") + second->str(interface.sizes)});
  }

  void visitAttention(attn::AttentionOp op) {
    attn::AttentionLayout letters = op.getLetters();
    auto agree = [&](Value a, StringRef lettersA, Value b, StringRef lettersB, StringRef which) {
      for (char letter : which)
        if (size_t i = lettersA.find(letter), j = lettersB.find(letter);
            i != StringRef::npos && j != StringRef::npos)
          require(a, i, b, j);
    };
    agree(op.getQuery(), letters.query, op.getKey(), letters.key, "bd");
    agree(op.getKey(), letters.key, op.getValue(), letters.value, "bhk");
  }

  void visitMatmul(attn::MatmulOp op) {
    unsigned rank = op.getLhs().getType().getRank();
    require(op.getLhs(), rank - 1, op.getRhs(), rank - (op.getTransposeRhs() ? 1 : 2));
    if (rank > 2)
      require(op.getLhs(), 0, op.getRhs(), 0);
  }

  /// A bias is as large as the scores; what a mask reads may be larger.
  void visitScoreOp(attn::ScoreOpInterface op) {
    for (const attn::ScoreRead &read : op.getScoreReads())
      for (auto [i, expr] : llvm::enumerate(read.map.getResults()))
        if (auto dim = dyn_cast<AffineDimExpr>(expr))
          require(op.getScoreOperand(), dim.getPosition(), read.tensor, i, !isa<attn::MaskOp>(op));
  }

  const EntryInterface &interface;
  Dimensions dimensions;
};

} // namespace

std::optional<SizeExpr> dimensionOf(Value value, unsigned dim, const EntryInterface &interface) {
  return Dimensions(interface).of(value, dim);
}

std::vector<RelationInterface> requiredRelations(func::FuncOp function, const EntryInterface &interface) {
  Requirements requirements(interface);
  for (Operation &op : llvm::make_early_inc_range(function.front()))
    requirements.visit(&op);
  return std::move(requirements.relations);
}

} // namespace heed
