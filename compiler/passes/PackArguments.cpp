// Lets callers pack weights once; see Passes.td.
#include "compiler/passes/Passes.h"

#include "compiler/target/Signature.h"
#include "compiler/target/Target.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace heed {
#define GEN_PASS_DEF_PACKARGUMENTS
#include "compiler/passes/Passes.h.inc"

using namespace mlir;

namespace {

struct PackArguments : impl::PackArgumentsBase<PackArguments> {
  void runOnOperation() override {
    for (auto function : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        if (function.isPublic() && function.getArgAttr(i, packedAttr) && failed(pack(function, i)))
          return signalPassFailure();
  }

  LogicalResult pack(func::FuncOp function, unsigned number) {
    auto name = function.getArgAttrOfType<StringAttr>(number, "attn.name");
    if (!name || !isCIdentifier(name))
      return function.emitError("argument ")
             << number << ": expected attn.packed on an argument whose attn.name is a C identifier";
    Type type = function.getArgumentTypes()[number];
    auto logical = dyn_cast<RankedTensorType>(type);
    if (!logical || logical.getRank() != 2 || !logical.hasStaticShape() ||
        !isa<FloatType>(logical.getElementType()))
      return function.emitError("argument '")
             << name.getValue() << "': expected attn.packed on a matrix of floats of static shape, but got "
             << type;
    for (StringRef other : {"attn.strided", "attn.optional", "attn.state"})
      if (function.getArgAttr(number, other))
        return function.emitError("argument '")
               << name.getValue()
               << "': expected attn.packed on a dense input that is always there, but it is " << other;
    auto packed = RankedTensorType::get(
        {llvm::divideCeilSigned(logical.getDimSize(0), panelWidth), logical.getDimSize(1), panelWidth},
        logical.getElementType());
    if (failed(addPackingFunction(function, name, logical, packed)))
      return failure();
    takePacked(function, number, logical, packed);
    ++numPacked;
    return success();
  }

  /// The entry that callers pack with: `pack_w` in a module that is named like the entry, `entry_pack_w`
  /// else.
  LogicalResult addPackingFunction(func::FuncOp entry, StringAttr argument, RankedTensorType logical,
                                   RankedTensorType packed) {
    std::string name = ("pack_" + argument.getValue()).str();
    if (entry.getSymName() != moduleName(getOperation()))
      name = (entry.getSymName() + "_" + name).str();
    if (getOperation().lookupSymbol(name))
      return entry.emitError("expected no function called '")
             << name << "' beside the one that packs argument '" << argument.getValue() << "'";
    OpBuilder builder(&getContext());
    builder.setInsertionPointAfter(entry);
    auto function =
        func::FuncOp::create(builder, entry.getLoc(), name, builder.getFunctionType({logical}, {packed}));
    function.setArgAttr(0, "attn.name", argument);
    function.setResultAttr(0, "attn.name", builder.getStringAttr("packed"));
    ImplicitLocOpBuilder b(entry.getLoc(), OpBuilder::atBlockBegin(function.addEntryBlock()));
    Value empty = tensor::EmptyOp::create(b, packed.getShape(), packed.getElementType());
    Value zero = arith::ConstantOp::create(b, b.getZeroAttr(packed.getElementType()));
    auto pack = linalg::PackOp::create(b, function.getArgument(0), empty, ArrayRef<int64_t>{0},
                                       ArrayRef<OpFoldResult>{b.getIndexAttr(panelWidth)}, zero);
    func::ReturnOp::create(b, pack->getResults());
    return success();
  }

  /// The body unpacks what it gets, until HoistPacks finds that it is packed again.
  static void takePacked(func::FuncOp function, unsigned number, RankedTensorType logical,
                         RankedTensorType packed) {
    SmallVector<Type> inputs(function.getArgumentTypes());
    inputs[number] = packed;
    function.setType(FunctionType::get(function.getContext(), inputs, function.getResultTypes()));
    function.removeArgAttr(number, "attn.shape");
    BlockArgument argument = function.getArgument(number);
    argument.setType(packed);
    ImplicitLocOpBuilder b(argument.getLoc(), OpBuilder::atBlockBegin(&function.getBody().front()));
    Value empty = tensor::EmptyOp::create(b, logical.getShape(), logical.getElementType());
    auto unpack = linalg::UnPackOp::create(b, argument, empty, ArrayRef<int64_t>{0},
                                           ArrayRef<OpFoldResult>{b.getIndexAttr(panelWidth)});
    argument.replaceAllUsesExcept(unpack->getResult(0), unpack);
  }
};

} // namespace
} // namespace heed
