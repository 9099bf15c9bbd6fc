// RUN: heed-opt %s --split-input-file --verify-diagnostics

// C1
func.func @OneLength(%q: index, %k: index, %query_len: index) -> i1 {
  // expected-error @+1 {{expected query and key length after bottom_right, but got 1 values}}
  %0 = attn.causal %q, %k bottom_right(%query_len)
  return %0 : i1
}
