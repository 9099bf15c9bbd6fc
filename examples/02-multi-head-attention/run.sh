#!/usr/bin/env bash
# Lesson 2: multi-head attention of the paper's size. The steps, with the splitting and merging of heads, become one
# operation that reads the heads where they lie; compiled, it agrees with the interpreter and with numpy.
source "$(dirname "$0")/../lesson.sh"

cp attention.mlir "$scratch"
"$python" ../random_weights.py attention.mlir "$scratch/attention.safetensors"
cd "$scratch"
heed-opt attention.mlir --heed-fused | tee fused.mlir
grep -q 'attn.attention' fused.mlir
if grep -E 'attn.(softmax|split_heads|merge_heads)' fused.mlir; then
  echo "expected the steps of attention to be fused" >&2
  exit 1
fi

heed verify attention.mlir --seed 1 --max-size 20 --runs 6
heed compile attention.mlir -o attention.so
"$python" "$lesson/check.py"
