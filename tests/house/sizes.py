"""A file that outgrows the size agreed for its kind asks to be split."""

from common import files, report, text

limits = [
    ("compiler/passes/*.cpp", 300),
    ("*.td", 400),
    ("tests/lit/*.mlir", 100),
    ("compiler/heed-opt.cpp", 40),
    ("compiler/Pipeline.cpp", 200),
]
report([
    f"{path}: expected at most {limit} lines, but got {lines}"
    for pattern, limit in limits for path in files(pattern) if (lines := text(path).count("\n")) > limit
])
