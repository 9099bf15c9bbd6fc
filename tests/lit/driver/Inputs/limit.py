"""The workspace that a compiled function asks for is the least limit that its model compiles within."""

import ctypes
import subprocess

rows, threads = 3, 2
workspace = ctypes.CDLL("./rows.so").rows_workspace_bytes
workspace.restype = ctypes.c_size_t
needed = workspace(ctypes.c_int64(rows), ctypes.c_int32(threads))
for limit, expected in ((needed, 0), (needed - 1, 1)):
    command = ["heed", "compile", "rows.mlir", "-o", "limit.o", f"--max-workspace={limit}", "--size", f"rows={rows}",
               "--size", f"threads={threads}"]
    code = subprocess.run(command, capture_output=True).returncode
    assert code == expected, f"expected exit code {expected} within {limit} of {needed} bytes, but got {code}"
