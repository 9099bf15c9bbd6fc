"""The tools share the MLIR of the two shared libraries: a static second copy would have types of its own."""

import subprocess

from common import build, report

findings = []
for tool in ("heed-opt", "heed-lsp-server", "heed"):
    names = subprocess.run(["nm", "-C", "--defined-only", build / "bin" / tool], check=True, capture_output=True, text=True)
    own = [line for line in names.stdout.splitlines() if " T mlir::" in line]
    core = [line for line in own if "mlir::MLIRContext::" in line or "mlir::Operation::" in line]
    if core or len(own) > 100:
        findings.append(f"{tool}: expected next to no symbols of MLIR, but got {len(own)}, such as {(core or own)[0]}")
report(findings)
