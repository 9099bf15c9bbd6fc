// RUN: heed-opt %s --split-input-file --verify-diagnostics

// C1
func.func @StepOfZero(%q: index, %k: index) -> i1 {
  // expected-error @+1 {{expected step of at least 1, but got 0}}
  %0 = attn.dilated %q, %k step(0)
  return %0 : i1
}
