#!/usr/bin/env bash
# Lesson 7: an LSTM in upstream operations and attention in one file, through one compiler. Both agree with the
# interpreter; the LSTM with numpy too. The table tells what each costs as the sequence grows: the LSTM a constant time
# per position that no second core shortens, attention a time per position that grows, all of it in parallel.
source "$(dirname "$0")/../lesson.sh"

cp recurrent.mlir "$scratch"
"$python" ../random_weights.py recurrent.mlir "$scratch/recurrent.safetensors"
cd "$scratch"
heed verify recurrent.mlir --seed 1 --max-size 40
heed compile recurrent.mlir -o recurrent.so
"$python" "$lesson/check.py"
"$python" "$lesson/cost.py"
