"""Text that means something only on one machine or to one reader has no place here."""

import re

from common import files, report, text

words = re.compile(r"/(work|home|root)/(?!\.)|\bissue #?\d|\bshared/(DESIGN|CONTRACTS|STYLE|HAZARDS|reference)"
                   r"|\b(?-i:TODO|FIXME|XXX)\b|\bpypi\.org|pythonhosted|deb\.debian", re.I)
findings = []
for path in files():
    if path.name in ("LICENSE", "words.py") or path.suffix in (".npy", ".safetensors", ".png"):
        continue
    for number, line in enumerate(text(path).splitlines(), 1):
        if match := words.search(line):
            findings.append(f"{path}:{number}: expected no '{match.group(0)}'")
report(findings)
