"""One word, four spellings: pass FuseAttention, FuseAttention.cpp, --attn-fuse-attention, fuse-attention.mlir."""

import re

from common import files, report, root, text

findings = []
definitions = "".join(text(path) for path in files("compiler/*.td"))
for name, flag in re.findall(r'^def (\w+) : (?:Lowering)?Pass<"([^"]+)"', definitions, re.M):
    kebab = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower()
    if flag != f"attn-{kebab}":
        findings.append(f"compiler: expected flag attn-{kebab} for {name}, but got {flag}")
    for path in (f"compiler/passes/{name}.cpp", f"tests/lit/passes/{kebab}.mlir"):
        if not (root / path).exists():
            findings.append(f"compiler: expected {path} for {name}")
report(findings)
