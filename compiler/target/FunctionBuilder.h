// Builds a function of the LLVM dialect whose tests may end it early.
#pragma once

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace heed {

/// Appends to an llvm.func; `endIf` leaves it with a result, `end` is its end.
class FunctionBuilder : public mlir::ImplicitLocOpBuilder {
public:
  explicit FunctionBuilder(mlir::LLVM::LLVMFuncOp function)
      : mlir::ImplicitLocOpBuilder(function.getLoc(),
                                   mlir::OpBuilder::atBlockEnd(&function.getBody().front())),
        i32(getI32Type()), i64(getI64Type()), pointer(mlir::LLVM::LLVMPointerType::get(getContext())),
        function(function) {
    exit = &function.getBody().emplaceBlock();
    exit->addArgument(function.getFunctionType().getReturnType(), getLoc());
    mlir::OpBuilder::InsertionGuard guard(*this);
    setInsertionPointToEnd(exit);
    mlir::LLVM::ReturnOp::create(*this, exit->getArgument(0));
  }

  mlir::Type i32, i64, pointer;

  mlir::BlockArgument argument(unsigned i) { return function.getArgument(i); }
  mlir::Value number(mlir::Type type, int64_t value) {
    return mlir::LLVM::ConstantOp::create(*this, type, getIntegerAttr(type, value));
  }
  mlir::Value number(int64_t value) { return number(i64, value); }
  mlir::Value null() { return mlir::LLVM::ZeroOp::create(*this, pointer); }
  mlir::Value compare(mlir::LLVM::ICmpPredicate predicate, mlir::Value left, mlir::Value right) {
    return mlir::LLVM::ICmpOp::create(*this, predicate, left, right);
  }
  mlir::Value either(mlir::Value left, mlir::Value right) {
    return mlir::LLVM::OrOp::create(*this, left, right);
  }
  mlir::Value both(mlir::Value left, mlir::Value right) {
    return mlir::LLVM::AndOp::create(*this, left, right);
  }
  mlir::Value select(mlir::Value condition, mlir::Value yes, mlir::Value no) {
    return mlir::LLVM::SelectOp::create(*this, condition, yes, no);
  }
  mlir::Value add(mlir::Value left, mlir::Value right) {
    return mlir::LLVM::AddOp::create(*this, left, right);
  }
  mlir::Value multiply(mlir::Value left, mlir::Value right) {
    return mlir::LLVM::MulOp::create(*this, left, right);
  }

  /// left op right, and whether it overflowed or `overflowed` was set before.
  template <typename Op> mlir::Value checked(mlir::Value left, mlir::Value right, mlir::Value &overflowed) {
    auto type = mlir::LLVM::LLVMStructType::getLiteral(getContext(), {i64, getI1Type()});
    mlir::Value pair = Op::create(*this, type, left, right);
    overflowed = either(overflowed, mlir::LLVM::ExtractValueOp::create(*this, pair, 1));
    return mlir::LLVM::ExtractValueOp::create(*this, pair, 0);
  }

  mlir::Value element(mlir::Type type, mlir::Value base, mlir::Value index) {
    return mlir::LLVM::GEPOp::create(*this, pointer, type, base, index);
  }
  mlir::Value load(mlir::Type type, mlir::Value base, unsigned index) {
    return mlir::LLVM::LoadOp::create(
        *this, type, mlir::LLVM::GEPOp::create(*this, pointer, type, base, mlir::LLVM::GEPArg(index)));
  }
  mlir::Value misaligned(mlir::Value address, int64_t alignment) {
    mlir::Value bits = both(mlir::LLVM::PtrToIntOp::create(*this, i64, address), number(alignment - 1));
    return compare(mlir::LLVM::ICmpPredicate::ne, bits, number(0));
  }

  void endIf(mlir::Value condition, mlir::Value result) {
    mlir::Block *next = createBlock();
    mlir::LLVM::CondBrOp::create(*this, condition, exit, mlir::ValueRange(result), next, mlir::ValueRange());
    setInsertionPointToEnd(next);
  }
  void end(mlir::Value result) { mlir::LLVM::BrOp::create(*this, mlir::ValueRange(result), exit); }

  /// for (i = 0; i < count; ++i) state = body(i, state). Returns the last state.
  mlir::Value loop(mlir::Value count, mlir::Value state,
                   llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> body) {
    mlir::Block *head = createBlock(), *step = createBlock(), *next = createBlock();
    mlir::Value i = head->addArgument(i64, getLoc()), carried = head->addArgument(state.getType(), getLoc());
    mlir::LLVM::BrOp::create(*this, mlir::ValueRange{number(0), state}, head);
    setInsertionPointToEnd(head);
    mlir::LLVM::CondBrOp::create(*this, compare(mlir::LLVM::ICmpPredicate::slt, i, count), step, next);
    setInsertionPointToEnd(step);
    mlir::Value updated = body(i, carried);
    mlir::LLVM::BrOp::create(*this, mlir::ValueRange{add(i, number(1)), updated}, head);
    setInsertionPointToEnd(next);
    return carried;
  }

private:
  mlir::Block *createBlock() {
    auto *block = new mlir::Block;
    function.getBody().getBlocks().insert(exit->getIterator(), block);
    return block;
  }

  mlir::LLVM::LLVMFuncOp function;
  mlir::Block *exit;
};

} // namespace heed
