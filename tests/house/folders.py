"""Only the top-level entries of the plan."""

from common import files, report

allowed = {
    ".ci", ".clang-format", ".clang-tidy", ".gitignore", "CMakeLists.txt", "CMakePresets.json", "CONTRIBUTING.md",
    "LICENSE", "README.md", "compiler", "dialect", "examples", "runtime", "tests",
}
found = {path.parts[0] for path in files()}
report([f"{name}: expected one of the top-level entries of tests/house/folders.py" for name in sorted(found - allowed)])
