"""What the checks of the house share: the files of the repository and how findings are told."""

import os
import pathlib
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parents[2]
build = pathlib.Path(os.environ.get("HEED_BUILD", root / "build" / "release"))
llvm = pathlib.Path("/usr/lib/llvm-22")


def files(*patterns):
    """Paths, relative to the root, of the files under version control or about to be, by git's patterns."""
    listing = subprocess.run(
        ["git", "-c", f"safe.directory={root}", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"]
        + list(patterns),
        cwd=root, check=True, capture_output=True, text=True)
    return sorted(pathlib.Path(name) for name in set(listing.stdout.split("\0")) if name and (root / name).exists())


def text(path):
    return (root / path).read_text(encoding="utf-8")


def report(findings):
    """Prints the findings, one a line, and ends the check."""
    for finding in findings:
        print(finding)
    sys.exit(1 if findings else 0)
