"""heed itself, through the uniform form of a module's entries: what `heed compile --target=native` makes of a graph.

Forms: the model as users write it, with open sizes ("heed"); the same with all sizes stated ("heed.static"); the same
without fusing attention ("heed.unfused").
"""

import ctypes
import hashlib
import os
import pathlib
import re
import subprocess
import sys

import numpy as np

import models
import works
from machine import cache
from peers.base import Call, Unsupported

root = pathlib.Path(__file__).resolve().parents[3]
build = pathlib.Path(os.environ.get("HEED_BUILD", root / "build" / "release"))
sys.path.insert(0, str(root / "examples" / "09-python"))

from heed_module import OUTPUT, Module, aligned  # noqa: E402

# What leads from the graph to the fused phase, without FuseAttention.
UNFUSED = "builtin.module(attn-describe-interface,canonicalize,cse,attn-fuse-epilogues)"


def run_tool(*command, **options):
    run = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    if run.returncode:
        raise RuntimeError((run.stderr.strip().splitlines() or [f"{command[0]} failed"])[0])
    return run.stdout


class Heed:
    def __init__(self, form, threads):
        self.form, self.threads = form, threads
        self.heed, self.opt = build / "bin" / "heed", build / "bin" / "heed-opt"
        self.context = self.start_pool() if threads > 1 else None

    def version(self):
        return run_tool("git", "describe", "--always", "--dirty", "--exclude=*", cwd=root).strip()

    def start_pool(self):
        """The context of the runtime's own pool, thread i on processor i."""
        library = cache / "libpool.so"
        archive = build / "lib" / "libheed_runtime.a"
        if not library.exists() or library.stat().st_mtime < archive.stat().st_mtime:
            run_tool("clang-22", "-shared", "-o", library, "-Wl,--whole-archive", archive, "-Wl,--no-whole-archive",
                     "-lpthreadpool", "-ldl", "-lpthread")
        pool_library, pool = ctypes.CDLL(str(library)), ctypes.c_void_p()
        before = set(os.listdir("/proc/self/task"))
        if pool_library.heed_pool_create(self.threads, ctypes.byref(pool), None):
            raise Unsupported(f"no pool of {self.threads} threads")
        for cpu, thread in enumerate(sorted(set(os.listdir("/proc/self/task")) - before, key=int), 1):
            os.sched_setaffinity(int(thread), {cpu})
        os.sched_setaffinity(0, {0})
        pool_library.heed_pool_context.restype = ctypes.c_void_p
        return pool_library.heed_pool_context(pool)

    def compile(self, work):
        """The module of a work's family, made anew when its text or the compiler has changed."""
        if work.group == "minilm":
            if self.form != "heed":
                raise Unsupported("compiled from the model's folder, in one form")
            text, weights = "minilm", {}
        else:
            if self.form == "heed.static" and work.group in ("encoder", "decoder"):
                raise Unsupported("layers are compiled in one form")
            text, weights = models.text(work, self.form == "heed.static"), work.weights()
        stamp = self.heed.stat()
        key = f"{self.form} {text} {work.family} {stamp.st_mtime_ns} {stamp.st_size}"
        folder = cache / "modules" / f"{work.family}-{hashlib.sha1(key.encode()).hexdigest()[:12]}"
        if folder.exists():
            return folder / "work.so"
        # Made aside, so that nobody finds half of it.
        final, folder = folder, folder.with_name(f"{folder.name}.{os.getpid()}")
        folder.mkdir(parents=True, exist_ok=True)
        library = folder / "work.so"
        model = folder / "work.mlir"
        if work.group == "minilm":
            model = works.minilm
        else:
            model.write_text(text)
        if weights:
            from safetensors.numpy import save_file
            save_file(weights, folder / "work.safetensors")
        if self.form == "heed.unfused":
            graph, fused = folder / "graph.mlir", folder / "unfused.mlir"
            run_tool(self.heed, "compile", model, "--target=native", "--emit=graph", "-o", graph)
            text = run_tool(self.opt, graph, f"--pass-pipeline={UNFUSED}")
            fused.write_text(re.sub(r'heed\.phase = "graph"', 'heed.phase = "fused"', text))
            model = fused
        run_tool(self.heed, "compile", model, "--target=native", "-o", library)
        (folder / "work.safetensors").unlink(missing_ok=True)
        if not final.exists():
            folder.rename(final)
        return final / "work.so"

    def prepare(self, work):
        if self.form == "heed.unfused" and work.group != "sdpa" or \
                self.form == "heed.unfused" and work.heads != work.kv_heads:
            raise Unsupported("written in one operation")
        module = Module(self.compile(work))
        entry, = module.entries.values()
        tensors = {name: aligned_copy(array) for name, array in work.inputs().items()}
        arrays, sizes = entry.bind(tensors)
        outputs = {}
        for i, argument in enumerate(entry.arguments):
            if argument.role == OUTPUT:
                shape = [argument.shape[dim].contents.evaluate(sizes) for dim in range(argument.rank)]
                array = aligned(int(np.prod(shape)) * 4).view(np.float32).reshape(shape)
                arrays[i] = outputs[argument.name.decode()] = array
        pointers = (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))
        values = (ctypes.c_int64 * len(sizes))(*sizes)
        bytes = entry.struct.workspace_bytes(values, self.threads)
        workspace = aligned(max(bytes, 1))
        call, address, context, params = entry.struct.call, workspace.ctypes.data, self.context, module.params

        def run():
            status = call(pointers, values, None, params, address, bytes, context)
            if status:
                raise RuntimeError(f"expected status 0, but got {status}")

        run.keep = (module, entry, tensors, arrays, workspace)
        yield Call(run, lambda: outputs, "sizes stated" if self.form == "heed.static" else "sizes open",
                   workspace_bytes=bytes)


def compile_program():
    """MiniLM as a program."""
    program = cache / "startup" / "minilm"
    run_tool(build / "bin" / "heed", "compile", works.minilm, "--target=native", "-o", program)
    return program


def aligned_copy(array):
    copy = aligned(array.nbytes).view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy
