// Dimensions of tensors as expressions of the sizes of an entry; see Dimensions.h.
#include "compiler/target/Dimensions.h"

#include "dialect/Attn.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

#include <map>

using namespace mlir;

namespace heed {
namespace {

/// One call on the way from the entry to a value; the entry itself has no caller.
struct Frame {
  ValueRange operands;
  Frame *caller;
  func::FuncOp function;                                                     ///< what is called
  std::map<std::pair<void *, unsigned>, std::optional<SizeExpr>> found = {}; ///< dimensions of its values

  /// A frame for `call` in this one; nothing where its function has no body or is being called already.
  std::optional<Frame> enter(func::CallOp call) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
    if (!callee || callee.isExternal())
      return std::nullopt;
    for (Frame *frame = this; frame; frame = frame->caller)
      if (frame->function == callee)
        return std::nullopt;
    return Frame{call.getOperands(), this, callee};
  }
};

class Dimensions {
public:
  explicit Dimensions(const EntryInterface &interface) : interface(interface) {}

  /// The dimension `dim` of `value`; nothing where it does not follow from the inputs, or is not affine.
  std::optional<SizeExpr> of(Value value, unsigned dim, Frame *frame) {
    std::pair<void *, unsigned> key(value.getAsOpaquePointer(), dim);
    auto known = frame->found.find(key);
    if (known == frame->found.end())
      known = frame->found.try_emplace(key, compute(value, dim, frame)).first;
    return known->second;
  }

private:
  std::optional<SizeExpr> compute(Value value, unsigned dim, Frame *frame) {
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
      std::optional<Frame> inner = frame->enter(call);
      return inner ? of(inner->function.front().getTerminator()->getOperand(index), dim, &*inner)
                   : std::nullopt;
    }
    if (auto style = dyn_cast<DestinationStyleOpInterface>(op))
      return of(style.getTiedOpOperand(cast<OpResult>(value))->get(), dim, frame);
    if (auto loop = dyn_cast<LoopLikeOpInterface>(op)) {
      OpOperand *init = loop.getTiedLoopInit(cast<OpResult>(value));
      return init ? of(init->get(), dim, frame) : std::nullopt;
    }
    if (auto cast = dyn_cast<tensor::CastOp>(op))
      return of(cast.getSource(), dim, frame);
    if (auto shaped = dyn_cast<ReifyRankedShapedTypeOpInterface>(op))
      return ofReified(shaped, index, dim, frame);
    if (op->hasTrait<OpTrait::SameOperandsAndResultShape>() ||
        op->hasTrait<OpTrait::SameOperandsAndResultType>())
      return of(op->getOperand(0), dim, frame);
    return std::nullopt;
  }

  std::optional<SizeExpr> ofArgument(BlockArgument argument, unsigned dim, Frame *frame) {
    if (!isa<func::FuncOp>(argument.getOwner()->getParentOp()))
      return std::nullopt;
    if (frame->caller)
      return of(frame->operands[argument.getArgNumber()], dim, frame->caller);
    return interface.arguments[argument.getArgNumber()].shape[dim];
  }

  /// Asks the op to say its shape in IR, reads that, and removes it again.
  std::optional<SizeExpr> ofReified(ReifyRankedShapedTypeOpInterface op, unsigned index, unsigned dim,
                                    Frame *frame) {
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

  std::optional<SizeExpr> ofIndex(OpFoldResult index, Frame *frame) {
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

  std::optional<SizeExpr> ofAffine(AffineExpr expr, ValueRange operands, unsigned numDims, Frame *frame) {
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
};

/// Collects what operations need of the sizes of their operands.
class Requirements {
public:
  explicit Requirements(const EntryInterface &interface) : interface(interface), dimensions(interface) {}

  void visit(Frame &frame) {
    for (Operation &op : llvm::make_early_inc_range(frame.function.front())) {
      if (auto call = dyn_cast<func::CallOp>(op))
        if (std::optional<Frame> inner = frame.enter(call))
          visit(*inner);
      current = &frame;
      visit(&op);
    }
  }

  std::vector<RelationInterface> relations;

private:
  void visit(Operation *op) {
    if (auto attention = dyn_cast<attn::AttentionOp>(op))
      visitAttention(attention);
    else if (auto matmul = dyn_cast<attn::MatmulOp>(op))
      visitMatmul(matmul);
    else if (auto score = dyn_cast<attn::ScoreOpInterface>(op))
      visitScoreOp(score);
    else if (auto additive = dyn_cast<attn::AdditiveScoresOp>(op))
      visitAdditiveScores(additive);
    else if (auto update = dyn_cast<attn::CacheUpdateOp>(op))
      visitCacheUpdate(update);
    else if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
      visitLoops(linalgOp);
    else if (op->hasTrait<OpTrait::Elementwise>())
      for (Value operand : op->getOperands().drop_front(op->getNumOperands() ? 1 : 0))
        requireAllBut(std::nullopt, op->getOperand(0), operand);
  }

  static unsigned rankOf(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type ? type.getRank() : 0;
  }

  /// The two dimensions are equal, or else the second is at least as large.
  void require(Value a, unsigned dimA, Value b, unsigned dimB, bool isEquality = true) {
    std::optional<SizeExpr> first = dimensions.of(a, dimA, current), second = dimensions.of(b, dimB, current);
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

  void requireAllBut(std::optional<unsigned> except, Value a, Value b) {
    for (unsigned dim = 0; dim < rankOf(b); ++dim)
      if (dim != except)
        require(a, dim, b, dim);
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
    int64_t batch = attn::AttentionLayout::find(letters.query, 'b');
    for (Value perEntry : {Value(op.getKeyLengths()), Value(op.getQueryOffset()), Value(op.getKeyOffset())})
      if (batch >= 0 && perEntry && rankOf(perEntry) == 1)
        require(op.getQuery(), batch, perEntry, 0);
    // What regions read is as large as the coordinates go; those with an offset are data.
    for (auto [read, map] : llvm::zip_equal(op.getReads(), op.getReadMaps().getAsValueRange<AffineMapAttr>()))
      for (auto [i, expr] : llvm::enumerate(map.getResults())) {
        auto dim = dyn_cast<AffineDimExpr>(expr);
        if (!dim || (dim.getPosition() == 2 && op.getQueryOffset()) ||
            (dim.getPosition() == 3 && (op.getKeyOffset() || op.getKeyLengths())))
          continue;
        char letter = "bhqk"[dim.getPosition()];
        Value from = letter == 'k' ? op.getKey() : op.getQuery();
        int64_t at = attn::AttentionLayout::find(letter == 'k' ? letters.key : letters.query, letter);
        if (at >= 0)
          require(from, at, read, i, /*isEquality=*/false);
      }
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

  void visitAdditiveScores(attn::AdditiveScoresOp op) {
    unsigned rank = rankOf(op.getQuery());
    requireAllBut(rank - 2, op.getQuery(), op.getKey());
    require(op.getQuery(), rank - 1, op.getV(), 0);
  }

  void visitCacheUpdate(attn::CacheUpdateOp op) {
    int64_t axis = op.getAxis();
    if (axis < 0)
      axis += rankOf(op.getCache());
    requireAllBut(axis, op.getCache(), op.getEntries());
    require(op.getEntries(), axis, op.getCache(), axis, /*isEquality=*/false);
    if (rankOf(op.getPosition()) == 1)
      require(op.getCache(), 0, op.getPosition(), 0);
  }

  /// Operands that one loop runs over are of one size.
  void visitLoops(linalg::LinalgOp op) {
    SmallVector<std::pair<Value, unsigned>> first(op.getNumLoops());
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isa<RankedTensorType>(operand.get().getType()))
        continue;
      for (auto [i, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults())) {
        auto loop = dyn_cast<AffineDimExpr>(expr);
        if (!loop)
          continue;
        auto &[value, dim] = first[loop.getPosition()];
        if (value)
          require(value, dim, operand.get(), i);
        else
          std::tie(value, dim) = std::pair(operand.get(), unsigned(i));
      }
    }
  }

  const EntryInterface &interface;
  Dimensions dimensions;
  Frame *current = nullptr; ///< that of the operation being visited
};

} // namespace

std::optional<SizeExpr> dimensionOf(Value value, unsigned dim, const EntryInterface &interface) {
  auto function = value.getParentRegion()->getParentOfType<func::FuncOp>();
  Frame entry{{}, nullptr, function};
  return Dimensions(interface).of(value, dim, &entry);
}

std::optional<EntryInterface> interfaceOf(func::FuncOp function) {
  auto module = function->getParentOfType<ModuleOp>();
  if (!function.isPublic() || !module->hasAttr(ModuleInterface::attributeName))
    return std::nullopt;
  FailureOr<ModuleInterface> interface = ModuleInterface::get(module);
  if (failed(interface))
    return std::nullopt;
  for (EntryInterface &entry : interface->entries)
    if (entry.name == function.getName())
      return std::move(entry);
  return std::nullopt;
}

bool areEqual(Value a, unsigned dimA, Value b, unsigned dimB) {
  auto function = a.getParentRegion()->getParentOfType<func::FuncOp>();
  std::optional<EntryInterface> interface = interfaceOf(function);
  if (!interface) {
    // Each dimension of an argument is a size of its own.
    interface.emplace();
    unsigned sizes = 0;
    for (Type type : function.getArgumentTypes()) {
      ArgumentInterface &argument = interface->arguments.emplace_back();
      if (auto shaped = dyn_cast<RankedTensorType>(type))
        for (int64_t dim = 0; dim < shaped.getRank(); ++dim)
          argument.shape.push_back(SizeExpr::ofSize(sizes++));
    }
  }
  std::optional<SizeExpr> first = dimensionOf(a, dimA, *interface), second = dimensionOf(b, dimB, *interface);
  return first && second && interface->areEqual(*first, *second);
}

std::vector<RelationInterface> requiredRelations(func::FuncOp function, const EntryInterface &interface) {
  Requirements requirements(interface);
  Frame entry{{}, nullptr, function};
  requirements.visit(entry);
  return std::move(requirements.relations);
}

} // namespace heed
