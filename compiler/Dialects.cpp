#include "compiler/Dialects.h"

#include "dialect/Attn.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/Transforms/FuncBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/Extensions/AllExtensions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/TransformOps/DialectExtension.h"
#include "mlir/Dialect/Linalg/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Linalg/Transforms/TilingInterfaceImpl.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/SCF/TransformOps/SCFTransformOps.h"
#include "mlir/Dialect/SCF/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/TensorInferTypeOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/TensorTilingInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/TransformOps/TensorTransformOps.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"

using namespace mlir;

namespace {

/// The result of a call is as large as what the callee returns.
struct CallBounds : ValueBoundsOpInterface::ExternalModel<CallBounds, func::CallOp> {
  /// The size of a workspace, which is not affine.
  void populateBoundsForIndexValue(Operation *, Value, ValueBoundsConstraintSet &) const {}

  void populateBoundsForShapedValueDim(Operation *op, Value value, int64_t dim,
                                       ValueBoundsConstraintSet &constraints) const {
    auto call = cast<func::CallOp>(op);
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
    if (!callee || callee.isExternal())
      return;
    auto isArgument = [&](Value value, std::optional<int64_t>, ValueBoundsConstraintSet &) {
      auto argument = dyn_cast<BlockArgument>(value);
      return argument && argument.getOwner() == &callee.front();
    };
    Value returned = callee.front().getTerminator()->getOperand(cast<OpResult>(value).getResultNumber());
    AffineMap map;
    ValueDimList arguments;
    if (failed(ValueBoundsConstraintSet::computeBound(map, arguments, presburger::BoundType::EQ,
                                                      {returned, dim}, isArgument)))
      return;
    SmallVector<AffineExpr> sizes;
    for (auto [argument, dim] : arguments) {
      Value operand = call.getOperand(cast<BlockArgument>(argument).getArgNumber());
      sizes.push_back(dim ? constraints.getExpr(operand, dim) : constraints.getExpr(operand));
    }
    constraints.bound(value)[dim] ==
        map.getResult(0).replaceDimsAndSymbols(ArrayRef(sizes).take_front(map.getNumDims()),
                                               ArrayRef(sizes).drop_front(map.getNumDims()));
  }
};

/// An operation of one tile works on buffers as it does on tensors.
template <typename Op>
struct TileBuffers : bufferization::DstBufferizableOpInterfaceExternalModel<TileBuffers<Op>, Op> {
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const bufferization::BufferizationOptions &options,
                          bufferization::BufferizationState &state) const {
    SmallVector<Value> operands(op->getOperands());
    for (Value &operand : operands) {
      if (!isa<TensorType>(operand.getType()))
        continue;
      FailureOr<Value> buffer = bufferization::getBuffer(rewriter, operand, options, state);
      if (failed(buffer))
        return failure();
      operand = *buffer;
    }
    OperationState tileState(op->getLoc(), op->getName());
    tileState.addOperands(operands);
    tileState.addAttributes(llvm::to_vector(op->getDiscardableAttrs()));
    tileState.propertiesAttr = op->getPropertiesAsAttribute();
    for (Region &region : op->getRegions())
      tileState.addRegion()->takeBody(region);
    Operation *tile = rewriter.create(tileState);
    auto inits = cast<DestinationStyleOpInterface>(*tile).getDpsInits();
    bufferization::replaceOpWithBufferizedValues(rewriter, op, llvm::to_vector(inits));
    return success();
  }
};

} // namespace

void heed::registerDialects(DialectRegistry &registry) {
  registry.insert<attn::AttnDialect, affine::AffineDialect, arith::ArithDialect,
                  bufferization::BufferizationDialect, cf::ControlFlowDialect, func::FuncDialect,
                  LLVM::LLVMDialect, linalg::LinalgDialect, math::MathDialect, memref::MemRefDialect,
                  scf::SCFDialect, tensor::TensorDialect, transform::TransformDialect, ub::UBDialect,
                  vector::VectorDialect>();

  arith::registerBufferizableOpInterfaceExternalModels(registry);
  bufferization::func_ext::registerBufferizableOpInterfaceExternalModels(registry);
  linalg::registerBufferizableOpInterfaceExternalModels(registry);
  scf::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerBufferizableOpInterfaceExternalModels(registry);
  vector::registerBufferizableOpInterfaceExternalModels(registry);
  registry.addExtension(+[](MLIRContext *context, attn::AttnDialect *) {
    attn::TileMatmulOp::attachInterface<TileBuffers<attn::TileMatmulOp>>(*context);
    attn::TileSoftmaxOp::attachInterface<TileBuffers<attn::TileSoftmaxOp>>(*context);
  });

  affine::registerValueBoundsOpInterfaceExternalModels(registry);
  arith::registerValueBoundsOpInterfaceExternalModels(registry);
  memref::registerValueBoundsOpInterfaceExternalModels(registry);
  scf::registerValueBoundsOpInterfaceExternalModels(registry);
  tensor::registerValueBoundsOpInterfaceExternalModels(registry);
  registry.addExtension(+[](MLIRContext *context, func::FuncDialect *) {
    func::CallOp::attachInterface<CallBounds>(*context);
  });

  arith::registerConvertArithToLLVMInterface(registry);
  cf::registerConvertControlFlowToLLVMInterface(registry);
  registerConvertFuncToLLVMInterface(registry);
  registerConvertMathToLLVMInterface(registry);
  registerConvertMemRefToLLVMInterface(registry);
  ub::registerConvertUBToLLVMInterface(registry);
  vector::registerConvertVectorToLLVMInterface(registry);

  linalg::registerTilingInterfaceExternalModels(registry);
  tensor::registerInferTypeOpInterfaceExternalModels(registry);
  tensor::registerTilingInterfaceExternalModels(registry);
  func::registerAllExtensions(registry);

  linalg::registerTransformDialectExtension(registry); // what schedules are written with
  scf::registerTransformDialectExtension(registry);
  tensor::registerTransformDialectExtension(registry);

  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}
