#!/usr/bin/env bash
# Lesson 3: an encoder layer, and a stack of two. Both layers are one function; the module holds no weight, only the
# names of those in the file beside it. Compiled for several sizes at once, it agrees with the interpreter; the padding
# that the mask hides changes nothing.
source "$(dirname "$0")/../lesson.sh"

cp encoder.mlir "$scratch"
"$python" ../random_weights.py encoder.mlir "$scratch/encoder.safetensors"
cd "$scratch"
heed verify encoder.mlir --seed 1 --max-size 20 --runs 8
heed compile encoder.mlir -o encoder.so
"$python" "$lesson/check.py"
