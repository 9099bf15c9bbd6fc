#ifndef HEED_DIALECT_ATTN_MASK_OPS
#define HEED_DIALECT_ATTN_MASK_OPS

include "dialect/AttnBase.td"

/// A question about one (query, key) pair; compose with arith.andi, ori, xori.
class AttnKeepOp<string mnemonic, list<Trait> traits = []>
    : AttnOp<mnemonic, !listconcat([Pure, NamesResult<"keep">], traits)> {
  let results = (outs I1:$keep);
  let hasFolder = 1;
}

def CausalOp : AttnKeepOp<"causal"> {
  let summary = "A query sees its own position and those before it";
  let description = [{
    `top_left`: `key <= query`. `bottom_right`, which takes the query and the key length:
    `key <= query + key_length − query_length`. The two agree where the lengths do.

    Constraints:
    - (C1) `bottom_right` takes both lengths.

    ```mlir
    %keep = attn.causal %query, %key
    %keep_0 = attn.causal %query, %key bottom_right(%query_len, %key_len)
    ```
  }];
  let arguments = (ins Index:$query, Index:$key, Variadic<Index>:$lengths);
  let assemblyFormat = "$query `,` $key (`bottom_right` `(` $lengths^ `)`)? attr-dict";
  let extraClassDeclaration = [{
    Alignment getAlignment() { return getLengths().empty() ? Alignment::TopLeft : Alignment::BottomRight; }
  }];
  let hasVerifier = 1;
}

def WindowOp : AttnKeepOp<"window"> {
  let summary = "Keys at most so far before and after the query, bounds included";
  let description = [{
    `query − before <= key <= query + after`. The "sliding window W" of model configurations is
    `before(W − 1) after(0)`.

    Constraints:
    - (C1) `before >= 0` and `after >= 0`.

    ```mlir
    %keep = attn.window %query, %key before(127) after(0)
    ```
  }];
  let arguments = (ins Index:$query, Index:$key, I64Attr:$before, I64Attr:$after);
  let assemblyFormat = "$query `,` $key `before` `(` $before `)` `after` `(` $after `)` attr-dict";
  let hasVerifier = 1;
}

def PrefixOp : AttnKeepOp<"prefix"> {
  let summary = "The first keys";
  let description = [{
    `key < length`: a prefix that all queries see, or the valid part of a padded row.

    ```mlir
    %keep = attn.prefix %key, %length
    ```
  }];
  let arguments = (ins Index:$key, Index:$length);
  let assemblyFormat = "$key `,` $length attr-dict";
}

def ChunkOp : AttnKeepOp<"chunk"> {
  let summary = "Query and key lie in the same chunk";
  let description = [{
    `floor(query / width) = floor(key / width)`.

    Constraints:
    - (C1) `width >= 1`.

    ```mlir
    %keep = attn.chunk %query, %key width(64)
    ```
  }];
  let arguments = (ins Index:$query, Index:$key, I64Attr:$width);
  let assemblyFormat = "$query `,` $key `width` `(` $width `)` attr-dict";
  let hasVerifier = 1;
}

def DilatedOp : AttnKeepOp<"dilated"> {
  let summary = "Every so many keys, counted from the query";
  let description = [{
    `(query − key) mod step = 0`.

    Constraints:
    - (C1) `step >= 1`.

    ```mlir
    %keep = attn.dilated %query, %key step(4)
    ```
  }];
  let arguments = (ins Index:$query, Index:$key, I64Attr:$step);
  let assemblyFormat = "$query `,` $key `step` `(` $step `)` attr-dict";
  let hasVerifier = 1;
}

def SameDocumentOp : AttnKeepOp<"same_document", [SameTypeOperands]> {
  let summary = "Query and key carry the same document id";
  let description = [{
    `query_id = key_id`. The ids are read by the region's maps: one tensor [batch, position] twice, by query and by key.

    ```mlir
    %keep = attn.same_document %query_id, %key_id : i32
    ```
  }];
  let arguments = (ins AttnInteger:$query_id, AttnInteger:$key_id);
  let assemblyFormat = "$query_id `,` $key_id attr-dict `:` type($query_id)";
}

#endif
