"""The public headers compile alone, as C99 and as C++11, without a warning."""

import subprocess

from common import files, report, root

findings = []
for header in files("runtime/heed*.h"):
    for compiler, language, standard in [("clang-22", "c", "c99"), ("gcc", "c", "c99"), ("clang++-22", "c++", "c++11")]:
        run = subprocess.run(
            [compiler, "-x", language, f"-std={standard}", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only",
             "-I.", "-include", header, "/dev/null"], cwd=root, capture_output=True, text=True)
        if run.returncode:
            findings.append(f"{header}: expected to compile as {standard} with {compiler}\n{run.stderr}")
report(findings)
