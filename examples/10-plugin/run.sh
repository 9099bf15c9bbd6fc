#!/usr/bin/env bash
# Lesson 10: a score operation of one's own. A plugin, built against heed as it would be installed, says of one score
# what becomes of it; no pass knows the operation, and yet it fuses, is compiled, and is verified after every pass.
source "$(dirname "$0")/../lesson.sh"

cmake --install "$build" --prefix "$scratch/heed" >/dev/null
cmake -S . -B "$scratch/build" -G Ninja -DCMAKE_PREFIX_PATH="$scratch/heed" -DCMAKE_CXX_COMPILER=clang++-22 >/dev/null
cmake --build "$scratch/build" >/dev/null
plugin=--load-dialect-plugin=$scratch/build/kerple.so

echo "== fused =="
heed-opt attention.mlir "$plugin" --heed-fused | tee "$scratch/fused.mlir"
if grep kerple "$scratch/fused.mlir"; then
  echo "expected kerple.log_bias to be fused" >&2
  exit 1
fi

echo "== in an editor =="
"$python" editor.py heed-lsp-server "$plugin"

echo "== verified =="
heed verify attention.mlir "$plugin" --seed 1 --max-size 33 --each-pass

echo "== compiled =="
heed compile attention.mlir "$plugin" -o "$scratch/attention.so"
cp check.py "$scratch"
cd "$scratch"
"$python" check.py
