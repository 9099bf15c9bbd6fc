#!/usr/bin/env bash
# Lesson 11: a schedule of one's own. A transform script makes one loop over heads of what heed would run as several,
# one after another, with the memory of one head. What comes out is verified, and timed beside heed's own choice.
source "$(dirname "$0")/../lesson.sh"

schedule=one-head-at-a-time.mlir
scheduled=--insert=fused:attn-apply-schedule{file=$schedule}

echo "== the loop that $schedule makes =="
heed compile attention.mlir "$scheduled" --emit=fused | sed -n '/scf.forall (/,/^    }/p' | tee "$scratch/loop.mlir"
if [ "$(grep -c 'attn.attention\|linalg.mul' "$scratch/loop.mlir")" != 2 ]; then
  echo "expected the attention and the gate inside of the loop" >&2
  exit 1
fi

echo "== kernels by heed's own choice, and by the schedule =="
heed compile attention.mlir --emit=buffer | grep -o 'heed.kernel = .*"'
echo "--"
heed compile attention.mlir "$scheduled" --emit=buffer | grep -o 'heed.kernel = .*"'

echo "== verified =="
heed verify attention.mlir "$scheduled" --seed 1 --max-size 12 --runs 2

echo "== timed =="
heed compile attention.mlir -o "$scratch/own.so"
heed compile attention.mlir "$scheduled" -o "$scratch/scheduled.so"
for length in 64 512; do
  for name in own scheduled; do
    printf '%-10s' $name
    heed bench "$scratch/$name.so" --size batch=1 --size length=$length --seconds 0.2
  done
done

echo "== workspace for 4 x 2048 positions on one thread =="
"$python" - "$scratch" <<'END'
import ctypes, sys

for name in "own", "scheduled":
    bytes_ = ctypes.CDLL(f"{sys.argv[1]}/{name}.so").attention_workspace_bytes
    bytes_.argtypes, bytes_.restype = [ctypes.c_int64, ctypes.c_int64, ctypes.c_int32], ctypes.c_size_t
    print(f"{name:10}{bytes_(4, 2048, 1) / 1e6:.1f} MB")
END
