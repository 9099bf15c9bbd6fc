#!/usr/bin/env bash
# Lesson 5: the Transformer of "Attention Is All You Need", whole: sinusoidal positions, one embedding for both sides
# and the projection, encoder, decoder, softmax. transformer.py writes it in any size.
# - base.mlir, the base model of the paper (63 million parameters): compiled to a program with random weights, which
#   runs, and compared with the interpreter.
# - reverse.mlir, the same code in small, with the weights that train.py made: it reverses digit strings it never saw,
#   encoded once and decoded token by token through compiled code, with caches of keys and values updated in place.
source "$(dirname "$0")/../lesson.sh"

small=(--name reverse --width 64 --heads 4 --inner 128 --layers 2 --vocabulary 13)
"$python" transformer.py | diff - base.mlir
"$python" transformer.py "${small[@]}" | diff - reverse.mlir

echo "== reversing strings =="
heed compile reverse.mlir -o "$scratch/reverse.so"
PYTHONPATH=$root/examples/09-python "$python" reverse.py "$scratch/reverse.so"

echo "== small, with its own weights =="
heed verify reverse.mlir --seed 1 --max-size 7 --runs 3

echo "== small, with random weights =="
"$python" ../random_weights.py reverse.mlir "$scratch/random.safetensors"
heed verify reverse.mlir --params "$scratch/random.safetensors" --seed 1 --max-size 12 --runs 12

echo "== base size =="
cp base.mlir "$scratch"
"$python" ../random_weights.py base.mlir "$scratch/base.safetensors"
cd "$scratch"
heed compile base.mlir --entry transformer -o base
"$python" - <<'END'
import numpy as np
np.save("source_ids.npy", np.array([[1, 20, 300, 4000, 36999]]))
np.save("target_ids.npy", np.array([[2, 30, 400]]))
END
./base --input source_ids=source_ids.npy --input target_ids=target_ids.npy --output out
"$python" - <<'END'
import numpy as np
probabilities = np.load("out/probabilities.npy")
assert probabilities.shape == (1, 3, 37000), probabilities.shape
np.testing.assert_allclose(probabilities.sum(-1), 1, atol=1e-4)
END
heed verify base.mlir --entry transformer --seed 1 --max-size 4 --runs 1
