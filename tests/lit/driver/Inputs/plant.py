"""plant.py FAULT < buffer.mlir: plants a fault that a sanitizer reports.

stray  the buffer between two.mlir's kernels begins one element too late, so that its last one lies past its end
race   every slot of a parallel loop begins with the first tile, so that slots write the same elements
"""
import re
import sys

text = sys.stdin.read()
if sys.argv[1] == "stray":
    text, count = re.subn(r"(%\w+) = memref\.view (%\w+)\[(%\w+)\]\[\] : memref<\?xi8> to memref<6x20xf32>",
                          r"%four = arith.constant 4 : index %stray = arith.addi \3, %four : index "
                          r"\1 = memref.view \2[%stray][] : memref<?xi8> to memref<6x20xf32>", text)
else:
    text, count = re.subn(r"(scf\.forall \((%\w+)\) in .*\n(?:.*\n)*?.* = arith\.muli )\2,", r"\1%c0,", text)
if not count:
    sys.exit("expected a place for the fault, but found none")
print(text)
