#ifndef HEED_DIALECT_ATTN_BASE
#define HEED_DIALECT_ATTN_BASE

include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Attn_Dialect : Dialect {
  let name = "attn";
  let cppNamespace = "::heed::attn";
  let summary = "Transformers as graphs of tensors";
  let description = [{
    The operations of a Transformer on ranked tensors: attention written in steps as in the paper
    (matmul, scale, mask, softmax, matmul) or fused, and the layers around it. The dialect mixes freely
    with `arith`, `math`, `tensor`, `linalg` and `scf`, and defines no operation that they have, save
    matmul and softmax, whose numeric contract differs.

    **Numbers.** Elements are f32, f16 or bf16. Every operand is extended to f32, everything is computed
    in f32, and the result is rounded to its own element type, to nearest even.

    **Shapes.** Dimensions are static or dynamic (`?`). A verifier refuses sizes that are known to differ;
    sizes that only run time knows are checked there. A size of 0 is legal everywhere and gives an empty
    result, or, where a sum or a softmax runs over nothing, 0.

    **Regions** answer for one element and see nothing but their arguments. A *keep* region takes the
    absolute batch, head, query and key index, the query length and the key length, then one value per tensor
    of `reads`, and yields i1. A *score* region takes the score in f32 before the same. An *epilogue* takes a
    sum in f32 and one value per read, and yields f32. Each read has a map from coordinates to its own:
    (batch, head, query, key) for keep and score regions, the result's coordinates for an epilogue. A map
    without results hands the region the whole tensor.

    ```mlir
    %scores_0 = attn.mask %scores keep(%batch, %head, %query, %key, %query_len, %key_len) {
      %keep = attn.causal %query, %key
      attn.yield %keep : i1
    } : tensor<?x8x?x?xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"];
  let hasConstantMaterializer = 1;
  let useDefaultAttributePrinterParser = 1;
}

// Element and tensor types.

def AttnFloat : AnyTypeOf<[F32, F16, BF16], "f32, f16 or bf16">;
def AttnInteger : AnyTypeOf<[I32, I64], "i32 or i64">;
def AttnFloatTensor : RankedTensorOf<[F32, F16, BF16]>;
/// What one tile of a loop works on: tensors, and buffers once memory is assigned.
class AttnTile<list<Type> elements>
    : AnyTypeOf<[RankedTensorOf<elements>, MemRefOf<elements>], "", "::mlir::ShapedType">;
def AttnFloatTile : AttnTile<[F32, F16, BF16]>;
def AttnF32Tile : AttnTile<[F32]>;
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

def Attn_Alignment : AttnEnum<"Alignment", "alignment of the causal diagonal", [
  I32EnumAttrCase<"TopLeft", 0, "top_left">,
  I32EnumAttrCase<"BottomRight", 1, "bottom_right">]>;
def Attn_AlignmentAttr : AttnEnumAttr<Attn_Alignment, "alignment">;

def Attn_EmptyRows : AttnEnum<"EmptyRows", "policy for empty rows", [
  I32EnumAttrCase<"Zeros", 0, "zeros">,
  I32EnumAttrCase<"NaN", 1, "nan">]>;
def Attn_EmptyRowsAttr : AttnEnumAttr<Attn_EmptyRows, "empty_rows">;

def Attn_GeluForm : AttnEnum<"GeluForm", "form of GELU", [
  I32EnumAttrCase<"Exact", 0, "exact">,
  I32EnumAttrCase<"Tanh", 1, "tanh">]>;
def Attn_GeluFormAttr : AttnEnumAttr<Attn_GeluForm, "gelu_form">;

def Attn_Activation : AttnEnum<"Activation", "activation", [
  I32EnumAttrCase<"Sigmoid", 0, "sigmoid">,
  I32EnumAttrCase<"Relu", 1, "relu">,
  I32EnumAttrCase<"Gelu", 2, "gelu">,
  I32EnumAttrCase<"GeluTanh", 3, "gelu_tanh">,
  I32EnumAttrCase<"Silu", 4, "silu">]>;
def Attn_ActivationAttr : AttnEnumAttr<Attn_Activation, "activation">;

def Attn_Pairing : AttnEnum<"Pairing", "pairing of features", [
  I32EnumAttrCase<"Interleaved", 0, "interleaved">,
  I32EnumAttrCase<"Halves", 1, "halves">]>;
def Attn_PairingAttr : AttnEnumAttr<Attn_Pairing, "pairing">;

class AttnOp<string mnemonic, list<Trait> traits = []> : Op<Attn_Dialect, mnemonic, traits>;

// Traits that define a method of an interface.

class AttnTrait<string name, code definition> : NativeOpTrait<name, [], [{}], definition> {
  let cppNamespace = "::heed::attn";
}

/// The first result is printed under this name.
class NamesResult<string name> : TraitList<[
  DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>,
  AttnTrait<"NamesResult",
            "void $cppClass::getAsmResultNames(::mlir::OpAsmSetValueNameFn setName) { " #
            "setName((*this)->getResult(0), \"" # name # "\"); }">]>;

defvar ReifiesShape = DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>;

/// The only result has the shape of the first operand.
def ShapedLikeFirstOperand : TraitList<[
  ReifiesShape,
  AttnTrait<"ShapedLikeFirstOperand", [{
    ::llvm::LogicalResult $cppClass::reifyResultShapes(::mlir::OpBuilder &builder,
                                                       ::mlir::ReifiedRankedShapedTypeDims &shapes) {
      return reifyLikeFirstOperand(*this, builder, shapes);
    }
  }]>]>;

#endif
