// RUN: heed-opt %s --split-input-file --verify-diagnostics

func.func @TypesDiffer(%q: i32, %k: i64) -> i1 {
  // expected-error @+1 {{requires all operands to have the same type}}
  %0 = "attn.same_document"(%q, %k) : (i32, i64) -> i1
  return %0 : i1
}
