"""clang-tidy finds nothing in any source file. A file is looked at again only when it, or a header of ours that it
includes, has changed: what was found clean is remembered across builds, as ccache does."""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess

from common import build, report, root

clean = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "heed-tidy"


def closure(path, seen):
    """The file and what it includes of ours, so far as it is text in the repository."""
    if path not in seen and (root / path).exists():
        seen[path] = (root / path).read_bytes()
        for name in re.findall(rb'^\s*#\s*include\s*"([^"]+)"', seen[path], re.M):
            closure(name.decode(), seen)
    return seen


def tidy(path):
    parts = [root.joinpath(".clang-tidy").read_bytes(), *(text for _, text in sorted(closure(path, {}).items()))]
    stamp = clean / hashlib.sha256(b"\0".join(parts)).hexdigest()
    if stamp.exists():
        return []
    run = subprocess.run(["clang-tidy-22", "--quiet", "-p", build, path], cwd=root, capture_output=True, text=True)
    if run.returncode == 0:
        stamp.touch()
        return []
    found = [line for line in run.stdout.splitlines() if re.search(r": (error|warning):", line)]
    print("\n".join(found or [run.stdout + run.stderr]), flush=True)
    return [path]


clean.mkdir(parents=True, exist_ok=True)
commands = json.loads((build / "compile_commands.json").read_text())
paths = sorted({command["file"].removeprefix(f"{root}/") for command in commands})
ours = [path for path in paths if not path.startswith(("/", "build/"))]
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    report([f"{path}: expected nothing for clang-tidy to find" for found in pool.map(tidy, ours) for path in found])
