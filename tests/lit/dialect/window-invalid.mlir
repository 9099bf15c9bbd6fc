// RUN: heed-opt %s --split-input-file --verify-diagnostics

// C1
func.func @NegativeBefore(%q: index, %k: index) -> i1 {
  // expected-error @+1 {{expected bounds of at least 0, but got -1 and 0}}
  %0 = attn.window %q, %k before(-1) after(0)
  return %0 : i1
}

// -----

// C1
func.func @NegativeAfter(%q: index, %k: index) -> i1 {
  // expected-error @+1 {{expected bounds of at least 0, but got 4 and -2}}
  %0 = attn.window %q, %k before(4) after(-2)
  return %0 : i1
}
