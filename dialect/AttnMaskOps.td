#ifndef HEED_DIALECT_ATTN_MASK_OPS
#define HEED_DIALECT_ATTN_MASK_OPS

include "dialect/AttnBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// A question about one (query, key) pair; compose with arith.andi, ori, xori.
class AttnKeepOp<string mnemonic, list<Trait> traits = []> : AttnOp<mnemonic, !listconcat([Pure], traits)> {
  let results = (outs I1:$keep);
  let hasFolder = 1;
}

def CausalOp : AttnKeepOp<"causal"> {
  let summary = "A query sees its own position and those before it";
  let description = [{
    `top_left`: `key <= query`. `bottom_right`, which needs the query and the key length: `key <= query + key_length − query_length`.
  }];
  let arguments = (ins Index:$query, Index:$key, Variadic<Index>:$lengths);
  let assemblyFormat = "$query `,` $key (`bottom_right` `(` $lengths^ `)`)? attr-dict";
  let extraClassDeclaration = [{
    Alignment getAlignment() { return getLengths().size() == 2 ? Alignment::BottomRight : Alignment::TopLeft; }
  }];
  let hasVerifier = 1;
}

def WindowOp : AttnKeepOp<"window"> {
  let summary = "Keys at most so far before and after the query, bounds included";
  let description = "`query − before <= key <= query + after`.";
  let arguments = (ins Index:$query, Index:$key, I64Attr:$before, I64Attr:$after);
  let assemblyFormat = "$query `,` $key `before` `(` $before `)` `after` `(` $after `)` attr-dict";
  let hasVerifier = 1;
}

def PrefixOp : AttnKeepOp<"prefix"> {
  let summary = "The first keys";
  let description = "`key < length`: a prefix that all see, or the valid part of a padded row.";
  let arguments = (ins Index:$key, Index:$length);
  let assemblyFormat = "$key `,` $length attr-dict";
}

def ChunkOp : AttnKeepOp<"chunk"> {
  let summary = "Query and key in the same chunk";
  let description = "`floor(query / width) = floor(key / width)`.";
  let arguments = (ins Index:$query, Index:$key, I64Attr:$width);
  let assemblyFormat = "$query `,` $key `width` `(` $width `)` attr-dict";
  let hasVerifier = 1;
}

def DilatedOp : AttnKeepOp<"dilated"> {
  let summary = "Every so many keys, counted from the query";
  let description = "`(query − key) mod step = 0`.";
  let arguments = (ins Index:$query, Index:$key, I64Attr:$step);
  let assemblyFormat = "$query `,` $key `step` `(` $step `)` attr-dict";
  let hasVerifier = 1;
}

def SameDocumentOp : AttnKeepOp<"same_document", [SameTypeOperands]> {
  let summary = "Query and key carry the same document id";
  let arguments = (ins AttnInteger:$query_id, AttnInteger:$key_id);
  let assemblyFormat = "$query_id `,` $key_id attr-dict `:` type($query_id)";
}

#endif
