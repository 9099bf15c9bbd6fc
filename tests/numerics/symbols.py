"""symbols.py NAME: compiles ops/NAME.mlir in every data type for every target, and checks what its object asks of its
surroundings: memcpy, memmove, memset, and nothing else."""
import os
import pathlib
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parents[2]
heed = pathlib.Path(os.environ["HEED_BUILD"]) / "bin" / "heed"
targets = ("x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4", "aarch64")

name = sys.argv[1]
text = (root / "tests" / "numerics" / "ops" / f"{name}.mlir").read_text()
module = f"{name}_module"  # no entry is called so
failed = False
with tempfile.TemporaryDirectory() as folder:
    for element in ("f32", "f16", "bf16") if "ELEM" in text else ("",):
        model = pathlib.Path(folder) / f"{module}.mlir"
        model.write_text(text.replace("ELEM", element))
        for target in targets:
            code = pathlib.Path(folder) / f"{module}.o"
            for command in ([heed, "compile", model, "-o", code, f"--target={target}"],
                            [sys.executable, root / "tests" / "lit" / "check-symbols.py", code, module]):
                run = subprocess.run(command, capture_output=True, text=True)
                if run.returncode:
                    print(f"{name} {element} {target}:", run.stdout, run.stderr)
                    failed = True
                    break
sys.exit(failed)
