#!/usr/bin/env bash
# Lesson 1: attention in steps, as in the paper's figure 2, with numbers that fit on a page. Prints the module after
# each phase, then every stage of the computation, and compares those with constants.
source "$(dirname "$0")/../lesson.sh"

for phase in fused tiled vector buffer; do
  echo "== $phase =="
  heed-opt attention.mlir --heed-$phase | tee "$scratch/$phase.mlir"
done
grep -q 'attn.softmax' "$scratch/fused.mlir"   # @steps keeps its stages
grep -q 'attn.attention' "$scratch/fused.mlir" # @causal is one operation

echo "== numbers =="
heed compile attention.mlir -o "$scratch/attention.so"
"$python" check.py "$scratch"
heed verify attention.mlir --seed 1
