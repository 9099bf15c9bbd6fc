"""Spellings of attention, one a file: those of fused/ fuse and compute the same, those of refused/ say why not.

A file's FileCheck lines pin its fused form or its remark. Every one is compiled and run beside the interpreter, which evaluates it as
written; every refused one is an error where its softmax has `attn.expect_fused`.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

corpus = pathlib.Path(__file__).resolve().parent
heed = pathlib.Path(os.environ["HEED_BUILD"]) / "bin" / "heed"
filecheck = "/usr/lib/llvm-22/bin/FileCheck"


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, **options)


def checked(path, expected_remark):
    compiled = run(heed, "compile", path.name, "--emit=fused", "--remarks=text", cwd=path.parent)
    if compiled.returncode != 0:
        return compiled.stderr
    if bool(compiled.stderr) != expected_remark:
        return f"expected {'a remark' if expected_remark else 'no remark'}, but got: {compiled.stderr or 'none'}"
    return run(filecheck, path, input=compiled.stderr if expected_remark else compiled.stdout).stderr


def verified(path):
    return run(heed, "verify", path, "--seed", "1", "--max-size", "33").stderr


def fused(path):
    return checked(path, False) or verified(path)


def refused(path):
    """The remark, and the same as an error."""
    text, count = re.subn(r"(attn\.softmax %\w+(?: axis\(\d\))?)", r"\1 {attn.expect_fused}", path.read_text())
    if problem := checked(path, True) or verified(path):
        return problem
    if not count:
        return ""
    with tempfile.TemporaryDirectory() as folder:
        expecting = pathlib.Path(folder) / path.name
        expecting.write_text(text)
        compiled = run(heed, "compile", expecting, "--emit=fused")
    found = compiled.returncode == 1 and compiled.stderr.startswith("heed: error:") and "not fused: " in compiled.stderr
    return "" if found else f"expected attn.expect_fused to make it an error, but got: {compiled.stderr}"


failed = []
for check in (fused, refused):
    files = sorted((corpus / check.__name__).glob("*.mlir"))
    for path in files:
        if problem := check(path):
            failed.append(path.name)
            print(f"{path}:\n{problem}", file=sys.stderr)
    print(f"{check.__name__}: {len(files)} spellings")
if failed:
    sys.exit("expected every spelling to be as pinned, but got " + ", ".join(failed))
