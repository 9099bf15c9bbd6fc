#!/usr/bin/env bash
# Lesson 9: calling a module from Python. heed_module.py is the whole host: it asks the library what it offers and calls
# any entry through the form that needs no signature.
source "$(dirname "$0")/../lesson.sh"

heed compile memory.mlir -o "$scratch/memory.so"
"$python" check.py "$scratch/memory.so"
heed verify memory.mlir --seed 1 --max-size 20
