// RUN: heed-opt %s --split-input-file --verify-diagnostics

// C1
func.func @WidthOfZero(%q: index, %k: index) -> i1 {
  // expected-error @+1 {{expected width of at least 1, but got 0}}
  %0 = attn.chunk %q, %k width(0)
  return %0 : i1
}
