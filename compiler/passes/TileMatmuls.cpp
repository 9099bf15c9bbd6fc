// Tiles linear layers and matrix products over rows and columns; see Passes.td.
#include "compiler/passes/Passes.h"

#include "compiler/passes/Structured.h"
#include "compiler/target/Target.h"
#include "mlir/IR/IRMapping.h"

namespace heed {
#define GEN_PASS_DEF_TILEMATMULS
#include "compiler/passes/Passes.h.inc"

using namespace mlir;

namespace {

/// Rows and columns of one parallel tile. Tiles are many, so that threads get equal shares, and follow one
/// another along a row of tiles, so that each reads the same rows and the panels beside those of the one
/// before.
struct MatmulTile {
  OpFoldResult rows;
  int64_t columns;

  /// `rows` × `depth` elements of the left-hand side fit in the second-level cache, about.
  MatmulTile(ImplicitLocOpBuilder &b, const Tuning &tuning, OpFoldResult rows, OpFoldResult depth,
             OpFoldResult columns)
      : columns(chooseColumns(tuning, getConstantIntValue(columns))) {
    int64_t most = 96;
    if (std::optional<int64_t> k = getConstantIntValue(depth))
      most = std::max(tuning.l2Bytes / (std::max<int64_t>(*k, 1) * 4), 8 * tuning.matmul.rows);
    Value one = indexConstant(b, 1);
    Value blocks = b.createOrFold<arith::MaxUIOp>(asValue(b, ceilDiv(b, rows, most)), one);
    Value even = b.createOrFold<arith::CeilDivUIOp>(asValue(b, rows), blocks);
    this->rows = getAsOpFoldResult(b.createOrFold<arith::MaxUIOp>(even, one));
  }

  /// As many columns as give two or four threads the same number of whole tiles.
  static int64_t chooseColumns(const Tuning &tuning, std::optional<int64_t> columns) {
    constexpr int64_t widths[] = {96, 64, 48, 32};
    for (int64_t threads : {4, 2})
      for (int64_t width : widths)
        if (columns && width % tuning.matmul.cols == 0 && *columns % (threads * width) == 0)
          return width;
    return 64;
  }

  OpFoldResult rowCount(ImplicitLocOpBuilder &b, OpFoldResult all) const {
    return getAsOpFoldResult(b.createOrFold<arith::CeilDivUIOp>(asValue(b, all), asValue(b, rows)));
  }
  OpFoldResult row(ImplicitLocOpBuilder &b, Value at) const {
    return getAsOpFoldResult(b.createOrFold<arith::MulIOp>(at, asValue(b, rows)));
  }
  /// Constant where all tiles are whole, so that no code for less is emitted.
  OpFoldResult width(ImplicitLocOpBuilder &b, OpFoldResult all, OpFoldResult column) const {
    std::optional<int64_t> constant = getConstantIntValue(all);
    return constant && *constant % columns == 0 ? b.getIndexAttr(columns)
                                                : minOfRest(b, columns, all, column);
  }
  OpFoldResult height(ImplicitLocOpBuilder &b, OpFoldResult all, OpFoldResult row) const {
    AffineExpr s0 = b.getAffineSymbolExpr(0), s1 = b.getAffineSymbolExpr(1), s2 = b.getAffineSymbolExpr(2);
    return affine::makeComposedFoldedAffineMin(
        b, b.getLoc(), AffineMap::get(0, 3, {s0, s1 - s2}, b.getContext()), {rows, all, row});
  }
};

/// `rhs`'s dimension `dim` cut into panels that come before the dimension `depth`: [batch…, dim/w, depth, w].
Value packPanels(ImplicitLocOpBuilder &b, Value rhs, int64_t dim, int64_t depth) {
  int64_t rank = cast<RankedTensorType>(rhs.getType()).getRank();
  SmallVector<int64_t> order;
  for (int64_t i = 0; i < rank; ++i)
    if (i != dim && i != depth)
      order.push_back(i);
  order.append({dim, depth});
  SmallVector<OpFoldResult> tiles{b.getIndexAttr(panelWidth)};
  auto isIdentity = llvm::equal(order, llvm::seq<int64_t>(0, rank));
  ArrayRef<int64_t> permutation = isIdentity ? ArrayRef<int64_t>() : ArrayRef<int64_t>(order);
  Value destination = linalg::PackOp::createDestinationTensor(b, b.getLoc(), rhs, tiles, {dim}, permutation);
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(getElementTypeOrSelf(rhs)));
  return linalg::PackOp::create(b, rhs, destination, {dim}, tiles, zero, permutation)->getResult(0);
}

/// The tile of a tensor read beside the product, whose map is over (m, n).
Value sliceRead(ImplicitLocOpBuilder &b, Value read, AffineMap map, ArrayRef<OpFoldResult> offsets,
                ArrayRef<OpFoldResult> sizes) {
  SmallVector<OpFoldResult> at, extent;
  for (AffineExpr expr : map.getResults()) {
    unsigned dim = cast<AffineDimExpr>(expr).getPosition();
    at.push_back(offsets[dim]);
    extent.push_back(sizes[dim]);
  }
  return sliceWithout(b, read, at, extent, SmallVector<bool>(at.size(), false));
}

/// Whether an element of −0.0 is the weight of a pair that is not kept.
bool isMadeBySoftmax(Value tensor) {
  Operation *op = tensor.getDefiningOp();
  if (isa_and_present<tensor::CastOp, tensor::ExtractSliceOp>(op))
    return isMadeBySoftmax(op->getOperand(0));
  return isa_and_present<attn::SoftmaxOp>(op);
}

struct TileMatmuls : impl::TileMatmulsBase<TileMatmuls> {
  void runOnOperation() override {
    FailureOr<Target> target = Target::of(getOperation());
    if (failed(target))
      return signalPassFailure();
    getOperation()->walk([&](attn::LinearOp op) { tileLinear(op, target->tuning); });
    getOperation()->walk([&](attn::MatmulOp op) { tileMatmul(op, target->tuning); });
  }

  /// [rows, features] of any rank becomes a matrix.
  static Value collapseRows(ImplicitLocOpBuilder &b, Value tensor) {
    auto type = cast<RankedTensorType>(tensor.getType());
    if (type.getRank() == 2)
      return tensor;
    if (type.getRank() == 1) {
      SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, b.getLoc(), tensor);
      auto row = RankedTensorType::get({1, type.getDimSize(0)}, type.getElementType());
      return tensor::ExpandShapeOp::create(b, row, tensor, SmallVector<ReassociationIndices>{{0, 1}},
                                           SmallVector<OpFoldResult>{b.getIndexAttr(1), sizes[0]});
    }
    return tensor::CollapseShapeOp::create(b, tensor, rowGroups(type.getRank()));
  }

  static SmallVector<ReassociationIndices> rowGroups(int64_t rank) {
    return {llvm::to_vector<2>(llvm::seq<int64_t>(0, rank - 1)), {rank - 1}};
  }

  void tileLinear(attn::LinearOp op, const Tuning &tuning) {
    ImplicitLocOpBuilder b(op.getLoc(), op);
    auto type = cast<RankedTensorType>(op.getResult().getType());
    int64_t rank = type.getRank();
    Value input = collapseRows(b, op.getInput());
    Value panels = packPanels(b, op.getWeight(), 0, 1);
    OpFoldResult rows = tensor::getMixedSize(b, op.getLoc(), input, 0);
    OpFoldResult depth = tensor::getMixedSize(b, op.getLoc(), input, 1);
    OpFoldResult columns = tensor::getMixedSize(b, op.getLoc(), op.getWeight(), 0);

    // The bias is the first read of the epilogue.
    AffineMap both = b.getMultiDimIdentityMap(2), column = both.getSubMap({1});
    SmallVector<Value> reads;
    SmallVector<AffineMap> maps;
    if (op.getBias()) {
      reads.push_back(op.getBias());
      maps.push_back(column);
    }
    for (auto [read, map] :
         llvm::zip_equal(op.getReads(), op.getReadMaps().getAsValueRange<AffineMapAttr>())) {
      bool perColumn = map.getNumResults() == 1 && rank > 1;
      reads.push_back(perColumn ? read : collapseRows(b, read));
      maps.push_back(perColumn ? column : both);
    }

    Value empty = tensor::EmptyOp::create(b, SmallVector<OpFoldResult>{rows, columns}, type.getElementType());
    MatmulTile tile(b, tuning, rows, depth, columns);
    SmallVector<OpFoldResult> counts{tile.rowCount(b, rows), ceilDiv(b, columns, tile.columns)};
    Value product = buildForall(b, counts, empty, [&](ValueRange at, ValueRange results) {
      SmallVector<OpFoldResult> offsets{tile.row(b, at[0]), times(b, at[1], tile.columns)};
      SmallVector<OpFoldResult> sizes{tile.height(b, rows, offsets[0]), tile.width(b, columns, offsets[1])};
      OpFoldResult zero = b.getIndexAttr(0);
      SmallVector<bool> keep2(2, false), keep3(3, false);
      Value inputTile = sliceWithout(b, input, {offsets[0], zero}, {sizes[0], depth}, keep2);
      Value panelTile =
          sliceWithout(b, panels, {times(b, at[1], tile.columns / panelWidth), zero, zero},
                       {ceilDiv(b, sizes[1], panelWidth), depth, b.getIndexAttr(panelWidth)}, keep3);
      SmallVector<Value> readTiles;
      for (auto [read, map] : llvm::zip_equal(reads, maps))
        readTiles.push_back(sliceRead(b, read, map, offsets, sizes));
      Value destination = sliceWithout(b, results[0], offsets, sizes, keep2);
      auto matmul = attn::TileMatmulOp::create(b, destination.getType(), inputTile, panelTile, readTiles,
                                               /*asks=*/Value(), /*ahead=*/Value(), destination, false, false,
                                               b.getAffineMapArrayAttr(maps));
      buildEpilogue(op, matmul);
      return SmallVector<TileResult>{{matmul.getResult(), offsets, sizes}};
    })[0];

    if (rank != 2) {
      SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, op.getLoc(), op.getInput());
      sizes.back() = columns;
      SmallVector<int64_t> shape;
      for (OpFoldResult size : sizes)
        shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
      auto expanded = RankedTensorType::get(shape, type.getElementType());
      if (rank == 1)
        product = tensor::CollapseShapeOp::create(b, product, SmallVector<ReassociationIndices>{{0, 1}});
      else
        product = tensor::ExpandShapeOp::create(b, expanded, product, rowGroups(rank), sizes);
    }
    if (product.getType() != type)
      product = tensor::CastOp::create(b, type, product);
    op.replaceAllUsesWith(product);
    op.erase();
  }

  /// The layer's epilogue after the addition of its bias.
  static void buildEpilogue(attn::LinearOp op, attn::TileMatmulOp matmul) {
    OpBuilder builder(op.getContext());
    SmallVector<Type> types{builder.getF32Type()};
    for (Value read : matmul.getReads())
      types.push_back(getElementTypeOrSelf(read));
    Block *block = builder.createBlock(&matmul.getEpilogue(), {}, types,
                                       SmallVector<Location>(types.size(), op.getLoc()));
    ImplicitLocOpBuilder b(op.getLoc(), builder);
    Value sum = block->getArgument(0);
    if (op.getBias())
      sum = arith::AddFOp::create(b, sum, extendToF32(b, block->getArgument(1)));
    if (op.getEpilogue().empty()) {
      attn::YieldOp::create(b, sum);
      return;
    }
    Block &layer = op.getEpilogue().front();
    IRMapping mapping;
    mapping.map(layer.getArgument(0), sum);
    mapping.map(layer.getArguments().drop_front(), block->getArguments().drop_front(op.getBias() ? 2 : 1));
    for (Operation &inner : layer)
      b.clone(inner, mapping);
  }

  void tileMatmul(attn::MatmulOp op, const Tuning &tuning) {
    ImplicitLocOpBuilder b(op.getLoc(), op);
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getResult().getType());
    int64_t rank = type.getRank(), batch = rank - 2;
    SmallVector<OpFoldResult> lhsSizes = tensor::getMixedSizes(b, loc, op.getLhs());
    SmallVector<OpFoldResult> rhsSizes = tensor::getMixedSizes(b, loc, op.getRhs());
    // Panels where the product runs along the rows of rhs; else its rows are what the kernel wants already.
    bool packed = op.getTransposeRhs();
    Value rhs = packed ? packPanels(b, op.getRhs(), rank - 2, rank - 1) : op.getRhs();
    OpFoldResult rows = lhsSizes[rank - 2], depth = lhsSizes[rank - 1],
                 columns = rhsSizes[packed ? rank - 2 : rank - 1];
    SmallVector<OpFoldResult> resultSizes(ArrayRef(lhsSizes).take_front(batch));
    SmallVector<OpFoldResult> counts(resultSizes);
    resultSizes.append({rows, columns});
    MatmulTile tile(b, tuning, rows, depth, columns);
    counts.append({tile.rowCount(b, rows), ceilDiv(b, columns, tile.columns)});
    Value group;
    if (batch == 2)
      group = b.createOrFold<arith::DivUIOp>(
          asValue(b, lhsSizes[1]),
          b.createOrFold<arith::MaxUIOp>(asValue(b, rhsSizes[1]), indexConstant(b, 1)));

    Value empty = tensor::EmptyOp::create(b, resultSizes, type.getElementType());
    Value product = buildForall(b, counts, empty, [&](ValueRange at, ValueRange results) {
      OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
      OpFoldResult row = tile.row(b, at[batch]), column = times(b, at[batch + 1], tile.columns);
      OpFoldResult height = tile.height(b, rows, row), width = tile.width(b, columns, column);
      SmallVector<OpFoldResult> before(at.begin(), at.begin() + batch), rhsBefore(before), ones(batch, one);
      if (batch == 2)
        rhsBefore[1] = b.createOrFold<arith::DivUIOp>(at[1], group);
      auto with = [](ArrayRef<OpFoldResult> front, std::initializer_list<OpFoldResult> back) {
        SmallVector<OpFoldResult> all(front);
        all.append(back);
        return all;
      };
      SmallVector<bool> dropped(batch, true);
      dropped.append(2, false);
      Value lhsTile =
          sliceWithout(b, op.getLhs(), with(before, {row, zero}), with(ones, {height, depth}), dropped);
      Value destination =
          sliceWithout(b, results[0], with(before, {row, column}), with(ones, {height, width}), dropped);
      Value rhsTile;
      if (packed) {
        dropped.push_back(false);
        rhsTile = sliceWithout(
            b, rhs, with(rhsBefore, {times(b, at[batch + 1], tile.columns / panelWidth), zero, zero}),
            with(ones, {ceilDiv(b, width, panelWidth), depth, b.getIndexAttr(panelWidth)}), dropped);
      } else {
        rhsTile = sliceWithout(b, rhs, with(rhsBefore, {zero, column}), with(ones, {depth, width}), dropped);
      }
      auto matmul = attn::TileMatmulOp::create(b, lhsTile, rhsTile, destination, /*accumulate=*/false,
                                               isMadeBySoftmax(op.getLhs()));
      return SmallVector<TileResult>{
          {matmul.getResult(), with(before, {row, column}), with(ones, {height, width})}};
    })[0];
    if (product.getType() != type)
      product = tensor::CastOp::create(b, type, product);
    op.replaceAllUsesWith(product);
    op.erase();
  }
};

} // namespace
} // namespace heed
