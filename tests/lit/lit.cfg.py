# `lit tests/lit/passes/fuse-attention.mlir` runs one test on build/release; `-Dbuild=DIR` names another build.
import os
import platform
import shutil

import lit.formats

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
build = os.path.abspath(lit_config.params.get("build", os.path.join(root, "build", "release")))
llvm = "/usr/lib/llvm-22/bin"

config.name = "heed"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(os.path.abspath(__file__))
config.test_exec_root = os.path.join(build, "tests", "lit")

config.environment["PATH"] = os.pathsep.join([os.path.join(build, "bin"), llvm, os.environ["PATH"]])
for name in ["ASAN_OPTIONS", "UBSAN_OPTIONS", "HEED_FAST", "HOME"]:
    if name in os.environ:
        config.environment[name] = os.environ[name]

config.substitutions += [
    ("%python", os.path.join(root, ".venv", "bin", "python")),
    ("%root", root),
    ("%build", build),
]


def cpu_flags():
    with open("/proc/cpuinfo") as info:
        return next((line.split() for line in info if line.startswith("flags")), [])


# What the machine can execute; a test that needs more names it in REQUIRES and is reported as unsupported.
if platform.machine() == "x86_64":
    flags = cpu_flags()
    config.available_features.add("x86")
    if {"avx2", "fma", "f16c", "bmi2"} <= set(flags):
        config.available_features.add("avx2")
    if {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"} <= set(flags):
        config.available_features.add("avx512")
if shutil.which("qemu-aarch64"):
    config.available_features.add("qemu-aarch64")
if shutil.which("qemu-x86_64"):
    config.available_features.add("qemu-x86")
