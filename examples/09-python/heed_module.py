"""Calls modules compiled by heed from Python: ctypes and numpy, no other library.

  module = Module("attention.so")              # maps attention.heed beside it, if the module has parameters
  outputs = module["attention"](query=q, key=k)  # name → array; states are arrays that the call updates in place

The structs are those of runtime/heed_kernel.h, which says what they mean; only what the calls below read is declared,
which is enough, as lists are arrays of pointers and structs grow at the end only.
"""

import ctypes
import mmap
import pathlib
import struct
from ctypes import POINTER, c_char_p, c_int32, c_int64, c_size_t, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p

import numpy as np

ABI_VERSION = 1
INPUT, STATE, OUTPUT = range(3)
OPTIONAL, STRIDED = 1, 2
ALIGNMENT = 64


class Type(ctypes.Structure):
    _fields_ = [("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16)]

    def numpy(self):
        """bf16, which numpy lacks, travels as uint16; an i1 as uint8."""
        kind = {0: "i", 1: "u", 2: "f", 4: "u", 6: "u"}[self.code]
        return np.dtype(f"{kind}{self.bits // 8}")


class Affine(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("term_count", c_int32), ("sizes", POINTER(c_int32)),
                ("coefficients", POINTER(c_int64)), ("constant", c_int64), ("text", c_char_p)]

    def evaluate(self, sizes):
        return self.constant + sum(self.coefficients[i] * sizes[self.sizes[i]] for i in range(self.term_count))


class Argument(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("role", c_int32), ("space", c_int32), ("flags", c_uint32),
                ("name", c_char_p), ("type", Type), ("rank", c_int32), ("shape", POINTER(POINTER(Affine)))]


class Size(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("name", c_char_p)]


class EntryStruct(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("argument_count", c_int32), ("size_count", c_int32),
                ("stride_count", c_int32), ("relation_count", c_int32), ("has_params", c_int32), ("name", c_char_p),
                ("symbol", c_char_p), ("arguments", POINTER(POINTER(Argument))), ("sizes", POINTER(POINTER(Size))),
                ("relations", c_void_p),
                ("call", ctypes.CFUNCTYPE(c_int32, POINTER(c_void_p), POINTER(c_int64), POINTER(c_int64), c_void_p,
                                          c_void_p, c_size_t, c_void_p)),
                ("workspace_bytes", ctypes.CFUNCTYPE(c_size_t, POINTER(c_int64), c_int32))]


class Parameters(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("format_version", c_uint32), ("layout_id", c_char_p), ("bytes", c_uint64),
                ("embedded", c_void_p)]


class ModuleStruct(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("abi_version", c_uint32), ("name", c_char_p), ("target", c_char_p),
                ("entry_count", c_int32), ("entries", POINTER(POINTER(EntryStruct))),
                ("parameters", POINTER(Parameters))]


class HeedError(Exception):
    pass


def aligned(count):
    """That many bytes, from a multiple of ALIGNMENT on."""
    block = np.empty(count + ALIGNMENT, np.uint8)
    begin = -block.ctypes.data % ALIGNMENT
    return block[begin:begin + max(count, 1)]  # numpy lets an empty slice begin anywhere


class Module:
    """A shared library that heed compiled."""

    def __init__(self, path, params=None):
        path = pathlib.Path(path).resolve()
        self.library = ctypes.CDLL(str(path))
        query = self.library.heed_module_query
        query.restype, query.argtypes = POINTER(ModuleStruct), [c_uint32]
        module = query(ABI_VERSION)
        if not module:
            raise HeedError(f"{path}: expected ABI version {ABI_VERSION}")
        module = module.contents
        self.name = module.name.decode()
        self.params = None
        if module.parameters:
            parameters = module.parameters.contents
            self.params = parameters.embedded or self.map(params or path.with_suffix(".heed"), parameters)
        entries = [Entry(self, module.entries[i].contents) for i in range(module.entry_count)]
        self.entries = {entry.name: entry for entry in entries}

    def __getitem__(self, name):
        return self.entries[name]

    def map(self, path, parameters):
        """The address of the tensor data of a parameter image, which must be of this module's layout."""
        with open(path, "rb") as file:
            self.image = np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), np.uint8)
        header, = struct.unpack("<Q", self.image[:8].tobytes())
        begins = (f'{{"__metadata__":{{"heed.format_version":"{parameters.format_version}",'
                  f'"heed.layout_id":"{parameters.layout_id.decode()}"').encode()
        if self.image[8:8 + len(begins)].tobytes() != begins or self.image.size != 8 + header + parameters.bytes:
            raise HeedError(f"{path}: expected the parameters of {self.name}")
        return self.image.ctypes.data + 8 + header


class Entry:
    """A function of a module. Call it with its inputs and states by name; it returns its outputs by name."""

    def __init__(self, module, entry):
        self.module, self.struct = module, entry
        self.name = entry.name.decode()
        self.arguments = [entry.arguments[i].contents for i in range(entry.argument_count)]
        self.sizes = [entry.sizes[i].contents.name.decode() for i in range(entry.size_count)]
        self.workspace = aligned(0)

    def __call__(self, **tensors):
        arrays, sizes = self.bind(tensors)
        values = (c_int64 * len(sizes))(*sizes)
        outputs = {}
        for i, argument in enumerate(self.arguments):
            if argument.role == OUTPUT:
                shape = [argument.shape[dim].contents.evaluate(sizes) for dim in range(argument.rank)]
                arrays[i] = outputs[argument.name.decode()] = np.empty(shape, argument.type.numpy())
        strides = [0 if array is None else array.strides[dim] // array.itemsize
                   for array, argument in zip(arrays, self.arguments) if argument.flags & STRIDED
                   for dim in range(argument.rank - 1)]
        needed = self.struct.workspace_bytes(values, 1)
        if needed == 2 ** 64 - 1:
            raise HeedError(f"{self.name}: sizes out of range: {dict(zip(self.sizes, sizes))}")
        if needed > self.workspace.size:
            self.workspace = aligned(needed)
        pointers = (c_void_p * len(arrays))(*(None if array is None else array.ctypes.data for array in arrays))
        status = self.struct.call(pointers, values, (c_int64 * len(strides))(*strides), self.module.params,
                                  self.workspace.ctypes.data, self.workspace.size, None)
        if status:
            raise HeedError(f"{self.name}: status kind {status & 0xff}, index {status >> 8}")
        return outputs

    def bind(self, tensors):
        """The arrays in order, and the sizes that follow from their shapes."""
        arrays, sizes = [None] * len(self.arguments), [None] * len(self.sizes)
        given = dict(tensors)
        for i, argument in enumerate(self.arguments):
            name = argument.name.decode()
            if argument.role == OUTPUT:
                continue
            array = given.pop(name, None)
            if array is None:
                if not argument.flags & OPTIONAL:
                    raise HeedError(f"{self.name}: expected {name}")
                continue
            if array.dtype != argument.type.numpy() or array.ndim != argument.rank:
                raise HeedError(f"{self.name}: {name}: expected {argument.rank} dimensions of "
                                f"{argument.type.numpy()}, but got {array.ndim} of {array.dtype}")
            if not array.flags.c_contiguous and not argument.flags & STRIDED:
                raise HeedError(f"{self.name}: {name}: expected a contiguous array")
            if argument.flags & STRIDED and array.size and array.strides[-1] != array.itemsize:
                raise HeedError(f"{self.name}: {name}: expected a contiguous last dimension")
            arrays[i] = array
            for dim in range(argument.rank):
                shape = argument.shape[dim].contents
                if shape.term_count == 1 and shape.coefficients[0] == 1 and not shape.constant:
                    if sizes[shape.sizes[0]] is None:
                        sizes[shape.sizes[0]] = array.shape[dim]
        if given:
            raise HeedError(f"{self.name}: expected no {', '.join(given)}")
        if None in sizes:
            raise HeedError(f"{self.name}: expected an argument that tells {self.sizes[sizes.index(None)]}")
        for array, argument in zip(arrays, self.arguments):
            if array is None:
                continue
            expected = tuple(argument.shape[dim].contents.evaluate(sizes) for dim in range(argument.rank))
            if array.shape != expected:
                raise HeedError(f"{self.name}: {argument.name.decode()}: expected shape {expected}, "
                                f"but got {array.shape}")
        return arrays, sizes
