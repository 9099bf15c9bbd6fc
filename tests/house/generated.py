"""The reference pages are what TableGen makes of the definitions. `generated.py --write` brings them up to date."""

import subprocess
import sys

from common import llvm, report, root

pages = {
    "dialect/attn.md": ["-gen-dialect-doc", "-dialect=attn", "dialect/Attn.td"],
    "compiler/passes.md": ["-gen-pass-doc", "compiler/Passes.td"],
}
findings = []
for page, arguments in pages.items():
    made = subprocess.run([llvm / "bin/mlir-tblgen", f"-I{root}", f"-I{llvm}/include", *arguments],
                          cwd=root, check=True, capture_output=True, text=True).stdout
    if "--write" in sys.argv:
        (root / page).write_text(made)
    elif not (root / page).exists() or (root / page).read_text() != made:
        findings.append(f"{page}: expected what TableGen makes; run: cmake --build --preset release --target docs")
report(findings)
