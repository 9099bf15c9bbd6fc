#include "compiler/passes/RedZones.h"

#include "compiler/passes/Structured.h"

using namespace mlir;
using namespace heed;

func::FuncOp RedZones::getOrCreate(StringRef name, StringRef sanitizerFunction) {
  if (auto function = module.lookupSymbol<func::FuncOp>(name))
    return function;
  ImplicitLocOpBuilder b(module.getLoc(), OpBuilder::atBlockEnd(module.getBody()));
  Type i64 = b.getI64Type();
  auto declaration = func::FuncOp::create(b, sanitizerFunction, b.getFunctionType({i64, i64}, {}));
  declaration.setPrivate();
  auto zone = MemRefType::get({ShapedType::kDynamic}, b.getI8Type());
  auto function = func::FuncOp::create(b, name, b.getFunctionType({zone}, {}));
  function.setPrivate();
  b.setInsertionPointToStart(function.addEntryBlock());
  Value memory = function.getArgument(0);
  Value address = memref::ExtractAlignedPointerAsIndexOp::create(b, memory);
  Value size = memref::DimOp::create(b, memory, int64_t(0));
  // Addresses have 64 bits on every target, and travel as integers do.
  func::CallOp::create(b, declaration,
                       ValueRange{arith::IndexCastOp::create(b, i64, address).getResult(),
                                  arith::IndexCastOp::create(b, i64, size).getResult()});
  func::ReturnOp::create(b);
  return function;
}

void RedZones::guard(Block &scope, Block::iterator start, Value base, Value offset, Value size) {
  ImplicitLocOpBuilder b(base.getLoc(), base.getContext());
  b.setInsertionPoint(&scope, start);
  auto type = MemRefType::get({ShapedType::kDynamic}, b.getI8Type());
  Value zone = memref::ViewOp::create(b, type, base, offset, size);
  func::CallOp::create(b, getOrCreate("redzone.poison", "__asan_poison_memory_region"), zone);
  b.setInsertionPoint(scope.getTerminator());
  func::CallOp::create(b, getOrCreate("redzone.unpoison", "__asan_unpoison_memory_region"), zone);
}
