#ifndef HEED_DIALECT_ATTN_INTERFACES
#define HEED_DIALECT_ATTN_INTERFACES

include "mlir/IR/OpBase.td"

def ScoreOpInterface : OpInterface<"ScoreOpInterface"> {
  let cppNamespace = "::heed::attn";
  let description = [{
    An operation whose result at each coordinate depends on its first operand at that coordinate, on
    the coordinate itself, and on elements of further tensors: it changes one score, or says whether
    one score is kept. This is all that fusing needs to know of an operation between the two matmuls,
    and all that its plain lowering and the epilogue of a linear layer need.
  }];
  let methods = [
    InterfaceMethod<"The tensor whose elements are changed.", "::mlir::Value", "getScoreOperand", (ins), "",
      "return $_op->getOperand(0);">,
    InterfaceMethod<[{
        The further tensors read, each with a map from the coordinates of the result to the coordinates
        of the tensor. A map without results on a tensor of rank > 0 reads the tensor whole: `buildScore`
        gets the tensor itself.
      }], "::llvm::SmallVector<::heed::attn::ScoreRead>", "getScoreReads", (ins), "",
      "return {};">,
    InterfaceMethod<[{
        Emits the changed score as scalar `arith` and `math` operations in f32. `reads`: one value per
        element of `getScoreReads()`, floats already extended to f32.
      }], "::mlir::Value", "buildScore",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "::mlir::Value":$score,
           "const ::heed::attn::ScorePoint &":$point, "::mlir::ValueRange":$reads)>,
    InterfaceMethod<[{
        Emits whether the pair is kept (i1). A null value means: always.
      }], "::mlir::Value", "buildKeep",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
           "const ::heed::attn::ScorePoint &":$point, "::mlir::ValueRange":$reads), "",
      "return ::mlir::Value();">,
    InterfaceMethod<[{
        The oracle: the changed score in double precision, from the formula and not from `buildScore`.
        `coordinate`: of the result. `shape`: of the result. `read(i, c)`: element of the i-th tensor
        of `getScoreReads()` at its own coordinate c. A pair that is not kept gives −inf.
      }], "double", "evaluateScore",
      (ins "double":$score, "::llvm::ArrayRef<int64_t>":$coordinate, "::llvm::ArrayRef<int64_t>":$shape,
           "::llvm::function_ref<double(unsigned, ::llvm::ArrayRef<int64_t>)>":$read)>,
    InterfaceMethod<[{
        Whether a score of −inf stays −inf, whatever the tensors read hold: a pair that is not kept stays so. A
        mask may then be taken after this operation as well as before. `evaluateScore` and `buildScore` are
        not asked to see to it.
      }], "bool", "keepsMinusInfinity", (ins), "", "return false;">,
    InterfaceMethod<"Whether the change has a derivative almost everywhere.", "bool", "isDifferentiable",
      (ins), "", "return true;">,
  ];
  let extraClassDeclaration = [{
    /// `buildScore` for a score by itself, −inf left as it is where `keepsMinusInfinity`: a NaN or +inf among
    /// what is read would change it.
    ::mlir::Value buildChange(::mlir::OpBuilder &builder, ::mlir::Location loc, ::mlir::Value score,
                              const ::heed::attn::ScorePoint &point, ::mlir::ValueRange reads);
  }];
}

#endif
