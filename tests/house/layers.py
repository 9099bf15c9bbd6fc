"""Who may include whom: compiler → dialect → MLIR; runtime → libc; examples → runtime/heed.h."""

import re

from common import files, report, root, text

INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.M)
MLIR = r"(mlir|llvm|llvm-c|lld|clang)/"

# Files, and what they may not include.
rules = [
    (r"dialect/", r"(compiler|runtime|tests|examples)/|fmt/|nlohmann/|CLI/"),
    (r"compiler/", r"(tests|examples)/|runtime/(?!heed_kernel\.h|heed\.h)"),
    (r"compiler/(?!heed\.cpp$|driver/)", r"runtime/heed\.h|CLI/"),
    (r"compiler/interpreter/", r"compiler/(passes|target/(?!Interface\.h)|import|Pipeline)"),
    (r"compiler/(passes|target|import|Pipeline)", r"compiler/interpreter/"),
    (r"runtime/", rf"(compiler|dialect|tests|examples)/|{MLIR}|fmt/|nlohmann/|CLI/"),
    (r"examples/(?!\d+-plugin/)", rf"(compiler|dialect|tests)/|runtime/(?!heed\.h)|{MLIR}"),
    (r"tests/", r"examples/"),
]

findings, pool_users = [], []
for path in files("*.c", "*.cpp", "*.h", "*.td"):
    for match in INCLUDE.finditer(text(path)):
        name, line = match.group(1), text(path).count("\n", 0, match.start(1)) + 1
        for who, banned in rules:
            if re.match(who, str(path)) and re.match(banned, name):
                findings.append(f"{path}:{line}: expected no include of {name} from here (rule {who})")
        # One include root: a path in an include is a path in the repository, or generated.
        if re.match(r"(compiler|dialect|runtime)/.*[^c]$", name) and not (root / name).exists():
            findings.append(f"{path}:{line}: expected {name} to be a path in the repository")
        if name == "pthreadpool.h":
            pool_users.append(path)
        if path.parts[0] == "runtime" and path.suffix == ".h" and not name.endswith(".h"):
            findings.append(f"{path}:{line}: expected only C headers in a public header, but got {name}")
if len(pool_users) > 1:
    findings.append(f"expected one file to include pthreadpool.h, but got {', '.join(map(str, pool_users))}")
report(findings)
