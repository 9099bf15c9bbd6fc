"""symbols.py NAME: compiles ops/NAME.mlir in every data type for every target, and checks what its object asks of its
surroundings: memcpy, memmove, memset, and nothing else. Of several entries each is compiled in every type and for every
target, but not in all pairs of them."""
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parents[2]
heed = pathlib.Path(os.environ["HEED_BUILD"]) / "bin" / "heed"
targets = ("x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4", "aarch64")
spec = importlib.util.spec_from_file_location("check_symbols", root / "tests" / "lit" / "check-symbols.py")
check_symbols = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check_symbols)

name = sys.argv[1]
text = (root / "tests" / "numerics" / "ops" / f"{name}.mlir").read_text()
entries = re.findall(r"func\.func @(\w+)", text)
types = ("f32", "f16", "bf16") if "ELEM" in text else ("",)
module = f"{name}_module"  # no entry is called so
tried = set()
findings = []
with tempfile.TemporaryDirectory() as folder:
    model, code = (pathlib.Path(folder) / f"{module}.{suffix}" for suffix in ("mlir", "o"))
    for i, element in enumerate(types):
        model.write_text(text.replace("ELEM", element))
        for j, target in enumerate(targets):
            # Every third entry, another third each time; at least one.
            chosen = entries[(i + j) % len(types)::len(types)] or [entries[(i + j) % len(entries)]]
            tried |= {pair for entry in chosen for pair in ((entry, element), (entry, target), (element, target))}
            run = subprocess.run([heed, "compile", model, "-o", code, f"--target={target}",
                                  *(f"--entry={entry}" for entry in chosen)], capture_output=True, text=True)
            found = [run.stderr] if run.returncode else check_symbols.check(code, module)
            findings += [f"{name} {element} {target}: {finding}" for finding in found]
pairs = len(entries) * len(types) + len(entries) * len(targets) + len(types) * len(targets)
if len(tried) != pairs:
    findings.append(f"{name}: expected {pairs} pairs of entry, type and target, but tried {len(tried)}")
sys.exit("\n".join(findings) or 0)
