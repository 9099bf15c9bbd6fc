#ifndef HEED_DIALECT_ATTN_BASE
#define HEED_DIALECT_ATTN_BASE

include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"

def Attn_Dialect : Dialect {
  let name = "attn";
  let cppNamespace = "::heed::attn";
  let summary = "Transformers as graphs of tensors";
  let description = [{
    The operations of a Transformer on ranked tensors: attention written in steps as in the paper
    (matmul, scale, mask, softmax, matmul) or fused, and the layers around it. Elements are f32, f16 or
    bf16; whatever the element type, sums, softmax and normalization are computed in f32. The dialect
    mixes freely with `arith`, `math`, `tensor`, `linalg` and `scf`, and defines no operation that they
    have, save matmul and softmax, whose numeric contract differs.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"];
  let hasConstantMaterializer = 1;
  let useDefaultAttributePrinterParser = 1;
}

// Element and tensor types.

def AttnFloat : AnyTypeOf<[F32, F16, BF16], "f32, f16 or bf16">;
def AttnInteger : AnyTypeOf<[I32, I64], "i32 or i64">;
def AttnFloatTensor : RankedTensorOf<[F32, F16, BF16]>;
def AttnIntegerTensor : RankedTensorOf<[I32, I64]>;
def AttnTensor : RankedTensorOf<[F32, F16, BF16, I32, I64, I1]>;
/// A position: one for all, or one per batch entry.
def AttnPosition : AnyTypeOf<[Index, 1DTensorOf<[I32, I64]>], "index or tensor of one integer per batch entry">;

// Attributes.

class AttnEnum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::heed::attn";
  let genSpecializedAttr = 0;
}
class AttnEnumAttr<EnumAttrInfo info, string mnemonic> : EnumAttr<Attn_Dialect, info, mnemonic>;

def Attn_Alignment : AttnEnum<"Alignment", "Which corner of the score matrix the causal diagonal meets", [
  I32EnumAttrCase<"TopLeft", 0, "top_left">,
  I32EnumAttrCase<"BottomRight", 1, "bottom_right">]>;
def Attn_AlignmentAttr : AttnEnumAttr<Attn_Alignment, "alignment">;

def Attn_EmptyRows : AttnEnum<"EmptyRows", "What a query that keeps no key gets", [
  I32EnumAttrCase<"Zeros", 0, "zeros">,
  I32EnumAttrCase<"NaN", 1, "nan">]>;
def Attn_EmptyRowsAttr : AttnEnumAttr<Attn_EmptyRows, "empty_rows">;

def Attn_GeluForm : AttnEnum<"GeluForm", "Exact by erf, or the tanh approximation", [
  I32EnumAttrCase<"Exact", 0, "exact">,
  I32EnumAttrCase<"Tanh", 1, "tanh">]>;
def Attn_GeluFormAttr : AttnEnumAttr<Attn_GeluForm, "gelu_form">;

def Attn_Activation : AttnEnum<"Activation", "The activation of a gated unit", [
  I32EnumAttrCase<"Sigmoid", 0, "sigmoid">,
  I32EnumAttrCase<"Relu", 1, "relu">,
  I32EnumAttrCase<"Gelu", 2, "gelu">,
  I32EnumAttrCase<"GeluTanh", 3, "gelu_tanh">,
  I32EnumAttrCase<"Silu", 4, "silu">]>;
def Attn_ActivationAttr : AttnEnumAttr<Attn_Activation, "activation">;

def Attn_Pairing : AttnEnum<"Pairing", "Which two features a rotation turns", [
  I32EnumAttrCase<"Interleaved", 0, "interleaved">,
  I32EnumAttrCase<"Halves", 1, "halves">]>;
def Attn_PairingAttr : AttnEnumAttr<Attn_Pairing, "pairing">;

class AttnOp<string mnemonic, list<Trait> traits = []> : Op<Attn_Dialect, mnemonic, traits>;

def ReifiesShape : DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>;

/// The only result has the shape of the first operand: `let extraClassDefinition = shapedLikeFirstOperand`.
defvar shapedLikeFirstOperand = [{
  ::llvm::LogicalResult $cppClass::reifyResultShapes(::mlir::OpBuilder &builder,
                                                     ::mlir::ReifiedRankedShapedTypeDims &shapes) {
    return reifyLikeFirstOperand(*this, builder, shapes);
  }
}];

#endif
