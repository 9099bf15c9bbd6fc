"""Each constraint of an operation, (C1), (C2), …, recurs where its verifier checks it and in its -invalid test."""

import re

from common import files, report, text

verifiers = "".join(text(path) for path in files("dialect/*.cpp"))
tests = list(files("tests/lit/dialect/*.mlir"))
findings = []
for path in files("dialect/*.td"):
    for name, mnemonic, body in re.findall(r'^def (\w+Op) : \w+<"(\w+)"(.*?)^}', text(path), re.M | re.S):
        verifier = re.search(rf"LogicalResult {name}::verify\(\).*?^}}", verifiers, re.M | re.S)
        checked = re.findall(r"C\d+", " ".join(re.findall(r"//(.*)", verifier.group(0)))) if verifier else []
        own = [test for test in tests if re.fullmatch(rf"{mnemonic}-invalid(-\w+)?", test.stem)]
        tested = [label for test in own for label in re.findall(r"^\s*// (C\d+)$", text(test), re.M)]
        labels = re.findall(r"^\s*- \((C\d+)\)", body, re.M)
        for kind in ("", "-invalid"):
            if not any(test.stem == mnemonic + kind for test in tests):
                findings.append(f"{path}: expected tests/lit/dialect/{mnemonic}{kind}.mlir")
        for label in labels:
            if label not in checked:
                findings.append(f"{path}: expected the verifier of {name} to check {label}")
            if label not in tested:
                findings.append(f"{path}: expected tests/lit/dialect/{mnemonic}-invalid.mlir to test {label}")
        for label in sorted({*checked, *tested} - {*labels}):
            findings.append(f"{path}: expected {mnemonic} to describe {label}, which is checked or tested")
        if "let summary" not in body or "let description" not in body or "```mlir" not in body:
            findings.append(f"{path}: expected {mnemonic} to have a summary, a description and an example")
report(findings)
