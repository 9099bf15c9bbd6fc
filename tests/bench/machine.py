"""The machine: its name, what it can do at most, and the time that a work takes at least."""

import json
import os
import pathlib
import subprocess
import zlib

here = pathlib.Path(__file__).resolve().parent
cache = here.parents[1] / "build" / "bench"

RATES = ("flops", "exps", "L1", "L2", "L3", "memory")


def name():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return f"{line.split(':')[1].strip()}, {os.cpu_count()} processors"
    return f"{os.uname().machine}, {os.cpu_count()} processors"


def measure_limits(threads, seconds):
    """What the machine can do on so many threads, see limits.c: the best that any run has seen, as whatever else ran
    at the time has only made a figure smaller."""
    program, source = cache / "limits", here / "limits.c"
    cache.mkdir(parents=True, exist_ok=True)
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        subprocess.run(["clang-22", "-O3", "-march=native", source, "-o", program, "-lpthread"], check=True)
    limits = json.loads(subprocess.run([program, str(threads), str(seconds)], check=True, capture_output=True).stdout)
    limits |= {"machine": name(), "source": zlib.crc32(source.read_bytes())}
    kept = cache / f"limits-{threads}.json"
    before = json.loads(kept.read_text()) if kept.exists() else {}
    if all(before.get(key) == limits[key] for key in ("machine", "source")):
        limits |= {rate: max(limits[rate], before[rate]) for rate in RATES}
    kept.write_text(json.dumps(limits))
    return limits


def least_seconds(work, limits):
    """The time that the machine's limit allows: multiply-adds, or, where they take longer, reads from the smallest cache
    that holds a work's data with room to spare."""
    multiplying = work.flops / limits["flops"]
    if work.limit == "flops":
        return multiplying
    holds = [level for level in ("L2", "L3") if work.bytes < 0.75 * limits[f"{level.lower()}_bytes"]]
    return max(multiplying, work.bytes / limits[holds[0] if holds else "memory"])
