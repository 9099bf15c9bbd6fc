#!/usr/bin/env bash
# Lesson 4: a decoder of two layers with its two attentions, causal to itself and whole to the encoder's output.
# Compiled, it agrees with the interpreter, and no position depends on one behind it.
source "$(dirname "$0")/../lesson.sh"

cp decoder.mlir "$scratch"
"$python" ../random_weights.py decoder.mlir "$scratch/decoder.safetensors"
cd "$scratch"
heed verify decoder.mlir --seed 1 --max-size 20 --runs 8
heed compile decoder.mlir -o decoder.so
"$python" "$lesson/check.py"
