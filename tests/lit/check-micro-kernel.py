"""check-micro-kernel.py FMAS INSTRUCTIONS: whether the assembly on standard input holds a loop of FMAS fused
multiply-adds (or, where there are none, multiplications) in at most INSTRUCTIONS instructions, and no loop of a
micro-kernel moves a vector register to or from the stack."""

import re
import sys

fmas, most = map(int, sys.argv[1:])
label = re.compile(r"(\.?L\w+):")
jump = re.compile(r"\s(?:j\w+|b\.?\w*|cbn?z|tbn?z)\s+(?:\w+,\s*)*(\.?L\w+)\s*(?:[#/;].*)?$")
multiply = re.compile(r"\s(?:vfmadd\d+ps|fmla|mulps)\s")
on_stack = re.compile(r"\(%rsp|\[sp")
vector = re.compile(r"%[xyz]mm|\bq\d")

lines = sys.stdin.read().split("\n")
place, loops = {}, []
for i, line in enumerate(lines):
    if found := label.match(line):
        place[found[1]] = i
    elif (found := jump.search(line)) and found[1] in place:
        body = lines[place[found[1]] + 1:i + 1]
        if not any(map(label.match, body)):  # innermost
            loops.append([code for code in body if re.match(r"\s+\w", code)])
kernels = [body for body in loops if sum(map(bool, map(multiply.search, body))) >= 4]

for body in kernels:
    for code in body:
        if on_stack.search(code) and vector.search(code):
            sys.exit(f"expected a micro-kernel that keeps its vectors in registers, but it has '{code.strip()}'")
sizes = sorted((sum(map(bool, map(multiply.search, body))), len(body)) for body in kernels)
if not any(count == fmas and length <= most for count, length in sizes):
    sys.exit(f"expected a loop of {fmas} multiplications in at most {most} instructions, but got {sizes}")
