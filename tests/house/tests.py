"""Every test is run by something, and can fail."""

import re

from common import files, report, text

findings = []
for path in files("tests/lit/*.mlir", "tests/lit/*.test"):
    source = text(path)
    if "Inputs" in path.parts:
        continue
    if len(path.parts) < 4:
        findings.append(f"{path}: expected a subfolder of tests/lit")
    if "RUN:" not in source:
        findings.append(f"{path}: expected a RUN line")
    for prefix in ["CHECK", *re.findall(r"--?check-prefix(?:es)?[= ](\S+)", source)]:
        for one in prefix.split(","):
            used = re.search(rf"^\s*(//|#)\s*{one}(-[A-Z-]+(\d+)?|-COUNT-\d+)?:", source, re.M)
            if used and "FileCheck" not in source:
                findings.append(f"{path}: expected FileCheck to read the {one} lines")
            if not used and one != "CHECK":
                findings.append(f"{path}: expected {one} lines for --check-prefix={one}")

# ctest runs the suites of a file by the file's name.
for path in files("tests/unit/*.cpp", "tests/numerics/*.cpp"):
    for suite in re.findall(r"^(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+)", text(path), re.M):
        if not suite.startswith(path.stem):
            findings.append(f"{path}: expected suite names to start with {path.stem}, but got {suite}")
report(findings)
