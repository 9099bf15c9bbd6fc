// Lets equal dimensions of an entry's arguments be one value; see Passes.td.
#include "compiler/passes/Passes.h"

#include "compiler/passes/Structured.h"
#include "compiler/target/Dimensions.h"

namespace heed {
#define GEN_PASS_DEF_UNIFYSIZES
#include "compiler/passes/Passes.h.inc"

using namespace mlir;

namespace {

/// The first dynamic dimension of an argument that is `size`.
std::pair<unsigned, int64_t> findFirst(const EntryInterface &interface, const SizeExpr &size) {
  for (auto [number, argument] : llvm::enumerate(interface.arguments))
    for (auto [dim, other] : llvm::enumerate(argument.shape))
      if (!other.isConstant() && interface.areEqual(other, size))
        return {number, dim};
  llvm_unreachable("it is equal to itself");
}

struct UnifySizes : impl::UnifySizesBase<UnifySizes> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (std::optional<EntryInterface> interface = interfaceOf(function))
        function.walk([&](Operation *op) {
          if (isa<tensor::DimOp, memref::DimOp>(op))
            unify(op, function, *interface);
        });
  }

  void unify(Operation *dim, func::FuncOp function, const EntryInterface &interface) {
    auto argument = dyn_cast<BlockArgument>(dim->getOperand(0));
    std::optional<int64_t> index = getConstantIntValue(dim->getOperand(1));
    if (!argument || argument.getOwner() != &function.front() || !index ||
        argument.getArgNumber() >= interface.arguments.size()) // the buffer phase adds some
      return;
    const SizeExpr &size = interface.arguments[argument.getArgNumber()].shape[*index];
    if (size.isConstant())
      return;
    auto [number, first] = findFirst(interface, size);
    if (std::pair(number, first) == std::pair(argument.getArgNumber(), *index))
      return;
    ImplicitLocOpBuilder b(dim->getLoc(), dim);
    dim->setOperands({function.getArgument(number), indexConstant(b, first)});
    ++numUnified;
  }
};

} // namespace
} // namespace heed
