"""Compares compiled code with the interpreter, one operation at a time, in every data type.

ops.py NAME   verifies ops/NAME.mlir, in which ELEM stands for the type
ops.py        fails if an operation of the dialect has no such file
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parents[2]
ops = root / "tests" / "numerics" / "ops"
llvm = "/usr/lib/llvm-22"
# Where a module that names them is tested: parameters by the importer's and the recipe's tests; what only the lowering makes
# by verifying the phases that contain it.
elsewhere = {"param", "yield", "online_attention", "tile_matmul", "tile_softmax"}


def operations():
    records = json.loads(subprocess.check_output(
        [f"{llvm}/bin/llvm-tblgen", "--dump-json", "-I", root, "-I", f"{llvm}/include", root / "dialect" / "Attn.td"]))
    return {records[name]["opName"] for name in records["!instanceof"]["Op"]
            if records[name]["opDialect"]["def"] == "Attn_Dialect"}


def verify(name):
    heed = pathlib.Path(os.environ["HEED_BUILD"]) / "bin" / "heed"
    # A heed that runs under the address sanitizer brings what emitted code needs to be watched as well.
    is_sanitized = "CMAKE_BUILD_TYPE:STRING=Sanitize" in (heed.parents[1] / "CMakeCache.txt").read_text()
    watched = ["--instrument=address"] if is_sanitized else []
    text = (ops / f"{name}.mlir").read_text()
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        for element in ("f32", "f16", "bf16"):
            model = pathlib.Path(folder) / f"{name}_{element}.mlir"
            model.write_text(text.replace("ELEM", element))
            run = subprocess.run([heed, "verify", model, "--seed", "1", *watched], capture_output=True, text=True)
            print(run.stdout, end="")
            if run.returncode != 0:
                failed.append(element)
                print(run.stderr, file=sys.stderr)
    if failed:
        sys.exit(f"{name}: compiled code disagrees with the interpreter in {', '.join(failed)}")


def coverage():
    missing = operations() - {path.stem for path in ops.glob("*.mlir")} - elsewhere
    if missing:
        sys.exit("expected tests/numerics/ops/NAME.mlir for every operation, but there is none for " + ", ".join(sorted(missing)))


if __name__ == "__main__":
    verify(sys.argv[1]) if len(sys.argv) > 1 else coverage()
