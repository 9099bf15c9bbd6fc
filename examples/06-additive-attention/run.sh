#!/usr/bin/env bash
# Lesson 6: additive attention, the ancestor, in the same dialect: only how a score is made differs. The weights, which
# the paper draws as an alignment, are a second result.
source "$(dirname "$0")/../lesson.sh"

cp attention.mlir "$scratch"
"$python" ../random_weights.py attention.mlir "$scratch/attention.safetensors"
cd "$scratch"
heed verify attention.mlir --seed 1 --max-size 20
heed compile attention.mlir -o attention.so
"$python" "$lesson/check.py"
