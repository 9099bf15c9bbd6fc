"""clang-format leaves every C and C++ file as it is."""

import subprocess

from common import files, report, root

sources = [str(path) for path in files("*.c", "*.cpp", "*.h")]
run = subprocess.run(["clang-format-22", "--dry-run", "-Werror", *sources], cwd=root, capture_output=True, text=True)
lines = [line for line in run.stderr.splitlines() if "error:" in line]
report(lines[:20] + (["run: clang-format-22 -i " + " ".join(sorted({l.split(":")[0] for l in lines}))] if lines else []))
