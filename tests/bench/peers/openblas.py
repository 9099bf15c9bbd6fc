"""OpenBLAS as numpy ships it: the product alone has a call; the bias is copied to the output first."""

import ctypes
import glob
import pathlib

import numpy as np

from peers.base import Call, Unsupported

ROW_MAJOR, NO_TRANSPOSE, TRANSPOSE = 101, 111, 112


class OpenBlas:
    def __init__(self, threads):
        folder = pathlib.Path(np.__file__).parents[1] / "numpy.libs"
        found = glob.glob(str(folder / "libscipy_openblas64_*"))
        if not found:
            raise ImportError("numpy has no OpenBLAS beside it")
        self.library = ctypes.CDLL(found[0])
        self.library.scipy_openblas_set_num_threads64_(ctypes.c_int(threads))
        self.library.scipy_openblas_get_config64_.restype = ctypes.c_char_p

    def version(self):
        return self.library.scipy_openblas_get_config64_().decode().split()[1]

    def prepare(self, work):
        if work.group not in ("gemm", "rows", "overhead"):
            raise Unsupported("products of matrices only")
        if work.activation:
            raise Unsupported("no activation")
        i64, f32 = ctypes.c_int64, ctypes.c_float
        inputs, weights, keep, items = work.inputs(), work.weights(), [], []
        for transposed in (True, False):
            outputs, calls = {}, []
            for i in range(work.copies):
                x, w, b = inputs[f"x{i}"], weights[f"w{i}"], weights[f"b{i}"]
                if not transposed:
                    w = np.ascontiguousarray(w.T)
                y = outputs[f"y{i}"] = np.empty((work.m, work.n), np.float32)
                pointers = [ctypes.c_void_p(array.ctypes.data) for array in (x, w, y)]
                keep.append((x, w, y))
                if work.m == 1:
                    calls.append((y, b, self.library.scipy_cblas_sgemv64_, (
                        ROW_MAJOR, NO_TRANSPOSE if transposed else TRANSPOSE, i64(w.shape[0]), i64(w.shape[1]), f32(1),
                        pointers[1], i64(w.shape[1]), pointers[0], i64(1), f32(1), pointers[2], i64(1))))
                else:
                    calls.append((y, b, self.library.scipy_cblas_sgemm64_, (
                        ROW_MAJOR, NO_TRANSPOSE, TRANSPOSE if transposed else NO_TRANSPOSE, i64(work.m), i64(work.n),
                        i64(work.k), f32(1), pointers[0], i64(work.k), pointers[1], i64(w.shape[1]), f32(1),
                        pointers[2], i64(work.n))))

            def run(calls=calls):
                for y, b, function, arguments in calls:
                    np.copyto(y, b)
                    function(*arguments)

            yield Call(run, lambda outputs=outputs, keep=keep: outputs,
                       f"weight [{'n, k' if transposed else 'k, n'}]")
