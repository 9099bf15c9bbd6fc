"""check-symbols.py FILE MODULE: whether emitted code asks of its surroundings, and shows them, what it may.

An object or archive may call memcpy, memmove and memset, defines global symbols that begin with the module's name,
and holds one writable word at most for each of its targets, MODULE_cpu_level. A shared library exports heed_module_query besides, and a
program is not checked."""

import re
import subprocess
import sys

READELF = "/usr/lib/llvm-22/bin/llvm-readelf"
ALLOWED = {"memcpy", "memmove", "memset"}

# Num: Value Size Type Bind Vis Ndx Name
SYMBOL = re.compile(r"^\s*\d+: [0-9a-f]+\s+(\w+)\s+(\w+)\s+(\w+)\s+(\w+)\s+(\w+)(?:\s+(\S+))?$", re.M)
# [Nr] Name Type Address Off Size ES Flg
SECTION = re.compile(r"^\s*\[\s*\d+\]\s+(\S+)\s+(\w+)\s+[0-9a-f]+ [0-9a-f]+ ([0-9a-f]+) [0-9a-f]+\s+(\w+)\s", re.M)


def run(*arguments):
    return subprocess.run([READELF, *arguments], check=True, capture_output=True, text=True).stdout


def check(path, module):
    """What is wrong with the file, a line each."""
    text = run("-h", "-S", "-s", path)
    is_shared = "DYN (" in text
    findings = []
    symbols = SYMBOL.findall(text)
    for size, kind, bind, visibility, index, name in SYMBOL.findall(run("--dyn-syms", path)) if is_shared else symbols:
        if not name or bind == "LOCAL":
            continue
        if index == "UND":
            if name not in ALLOWED:
                findings.append(f"expected no undefined symbol but {', '.join(sorted(ALLOWED))}, but got {name}")
        elif not (name == module or name.startswith((module + "_", module + "."))):
            if not (is_shared and name == "heed_module_query"):
                findings.append(f"expected global symbols to begin with {module}, but got {name}")

    if not is_shared:
        writable = {}
        for name, kind, size, flags in SECTION.findall(text):
            if "W" in flags and int(size, 16) and not name.startswith(".data.rel.ro"):
                writable[name] = int(size, 16)
        words = [s for s in symbols if s[5].split(".")[0] == f"{module}_cpu_level"]
        if sum(writable.values()) > sum(int(word[0]) for word in words):
            findings.append(f"expected nothing writable but {module}_cpu_level, but got {writable}")
        if any(word[0] != "4" or word[2] != "LOCAL" for word in words):
            findings.append(f"expected {module}_cpu_level to be a local word, but got {words}")
    return [f"{path}: {finding}" for finding in findings]


if __name__ == "__main__":
    found = check(*sys.argv[1:])
    print("\n".join(found), end="\n" if found else "")
    sys.exit(1 if found else 0)
