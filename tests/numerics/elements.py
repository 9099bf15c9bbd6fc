"""Numbers of the types that numpy has, and of bf16, which it has not: that travels as uint16."""
import numpy as np


def store(values, kind):
    """As a module takes them."""
    if kind != "bf16":
        return np.asarray(values, {"f32": np.float32, "f16": np.float16}[kind])
    bits = np.asarray(values, np.float32).view(np.uint32)
    rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16
    return np.where(np.isnan(values), 0x7fc0, rounded).astype(np.uint16)


def load(values):
    return (values.astype(np.uint32) << 16).view(np.float32) if values.dtype == np.uint16 else values.astype(np.float32)
