#!/usr/bin/env bash
# Lesson 8: a kernel inside a program. In C: an object and its header, the compiler, and no library of ours. In C++:
# CMake's find_package(heed) and heed_add_module, against heed as it would be installed.
source "$(dirname "$0")/../lesson.sh"

echo "== C =="
heed compile attention.mlir -o "$scratch/attention.o"
if nm -u "$scratch/attention.o" | grep -vE ' (memcpy|memmove|memset)$'; then
  echo "expected the object to need nothing but memcpy, memmove and memset" >&2
  exit 1
fi
cc -std=c11 -O1 -Wall -Wextra -Werror -I"$scratch" main.c "$scratch/attention.o" -lm -o "$scratch/main"
"$scratch/main"

echo "== C++ =="
cmake --install "$build" --prefix "$scratch/heed" >/dev/null
cmake -S cpp -B "$scratch/build" -G Ninja -DCMAKE_PREFIX_PATH="$scratch/heed" >/dev/null
cmake --build "$scratch/build" >/dev/null
"$scratch/build/embedding"
