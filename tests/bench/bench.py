"""Measures heed and its peers on the same works, and says how far from the machine's limits they are.

Every peer works in processes of its own, one for each number of threads. On a work each prepares the fastest of the
ways it offers, its result is compared with the formula or with the others', and then all are measured in turn, round
after round. A figure is the median of a peer's rounds; a ratio the median of the ratios of the rounds.
"""

import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

import numpy as np

from worker import PEERS
from works import WORKS

here = pathlib.Path(__file__).resolve().parent
root = here.parents[1]
cache = root / "build" / "bench"


class Worker:
    """A process of one peer; see worker.py."""

    def __init__(self, peer, threads):
        self.peer, self.threads = peer, threads
        cache.mkdir(parents=True, exist_ok=True)
        self.log = open(cache / f"{peer}-{threads}.log", "w")
        self.process = subprocess.Popen([sys.executable, here / "worker.py", peer, str(threads)], cwd=here, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log)
        hello = self.read()
        self.version, self.absent = hello.get("version"), hello.get("absent", hello.get("failed"))

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            self.process.wait()
            return {"failed": f"ended with status {self.process.returncode}, see {self.log.name}"}
        return json.loads(line)

    def ask(self, what, **arguments):
        try:
            self.process.stdin.write(json.dumps({"do": what} | arguments) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        return self.read()

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.log.close()


def measure_limits(threads, seconds):
    """What the machine can do on so many threads, see limits.c: the best that any run has seen, as whatever else ran
    at the time has only made a figure smaller."""
    program, source = cache / "limits", here / "limits.c"
    cache.mkdir(parents=True, exist_ok=True)
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        subprocess.run(["clang-22", "-O3", "-march=native", source, "-o", program, "-lpthread"], check=True)
    limits = json.loads(subprocess.run([program, str(threads), str(seconds)], check=True, capture_output=True).stdout)
    limits["machine"] = machine_name()
    kept = cache / f"limits-{threads}.json"
    if kept.exists() and kept.stat().st_mtime > source.stat().st_mtime:
        before = json.loads(kept.read_text())
        if before["machine"] == limits["machine"]:
            limits |= {name: max(limits[name], before[name]) for name in ("flops", "exps", "L1", "L2", "L3", "memory")}
    kept.write_text(json.dumps(limits))
    return limits


def least_seconds(work, limits):
    """The time in which the machine could do a work, by the limit that the work is judged by."""
    if work.limit == "flops":
        return work.flops / limits["flops"]
    once = work.bytes / getattr(work, "copies", 1)
    fits = [level for level in ("L2", "L3") if work.bytes < limits[f"{level.lower()}_bytes"] * 0.75]
    return work.bytes / limits[fits[0] if fits else "memory"]


def check(work, files):
    """The peers whose results are wrong, each with how: {peer: reason}. `files`: {peer: .npz file}."""
    expected, wrong, first = work.expected(work.inputs()), {}, None
    for peer, file in files.items():
        outputs = np.load(file)
        for name, shape in work.output_shapes().items():
            if name not in outputs or outputs[name].shape != tuple(shape):
                wrong[peer] = f"no output {name} of shape {shape}"
                continue
            found = outputs[name]
            if name in expected:
                rows, values = expected[name]
                difference = np.abs(np.take(found, rows, axis=-2) - values).max()
            elif first is None:
                first, difference = outputs, 0.0 if np.isfinite(found).all() else np.inf
            else:
                valid = work.valid().astype(bool)
                difference = np.abs(found[valid] - first[name][valid]).max()
            if not difference <= work.tolerance:  # true for a NaN, too
                wrong[peer] = f"wrong by {difference:.2g}"
    return wrong


class Bench:
    def __init__(self, options):
        self.options = options
        self.rows = []
        self.file = open(options.json, "w") if options.json else None

    def record(self, **row):
        self.rows.append(row)
        if self.file:
            self.file.write(json.dumps(row) + "\n")
            self.file.flush()

    def run(self, threads):
        limits = measure_limits(threads, 0.1 if self.options.quick else 0.5)
        self.record(**limits)
        print(f"\n{threads} thread{'s' * (threads > 1)}, {limits['isa']}: {limits['flops'] / 1e9:.0f} GFLOP/s, "
              f"{limits['exps'] / 1e9:.1f} Gexp/s; reads, GB/s: "
              + ", ".join(f"{level} {limits[level] / 1e9:.0f}" for level in ("L1", "L2", "L3", "memory")), flush=True)
        workers = []
        for peer in self.options.peers:
            worker = Worker(peer, threads)
            if worker.absent:
                print(f"  absent: {peer}: {worker.absent}")
                self.record(peer=peer, threads=threads, absent=worker.absent)
                worker.close()
            else:
                workers.append(worker)
        print("  " + ", ".join(f"{worker.peer} {worker.version}" for worker in workers), flush=True)
        print(f"\n  {'work':<28}{'limit':>6}  " + "".join(f"{worker.peer:>15}" for worker in workers)
              + "   best peer / heed, median and min", flush=True)
        for name in self.options.works:
            self.measure(WORKS[name], threads, limits, workers)
        for worker in workers:
            worker.close()

    def measure(self, work, threads, limits, workers):
        options = self.options
        ready, notes, files = [], {}, {}
        for worker in workers:
            answer = worker.ask("prepare", work=work.name, seconds=options.seconds / 4)
            how, file = answer.get("how"), cache / f"{worker.peer}.npz"
            if how:
                answer = worker.ask("outputs", file=str(file))
            if "unsupported" in answer:
                continue
            if "failed" in answer:
                notes[worker.peer] = answer["failed"]
                continue
            ready.append((worker, how))
            files[worker.peer] = file
        notes |= check(work, files)
        for peer, reason in notes.items():
            self.record(peer=peer, work=work.name, threads=threads, failed=reason)
        ready = [(worker, how) for worker, how in ready if worker.peer not in notes]
        samples = {worker.peer: [] for worker, _ in ready}
        begin = time.monotonic()
        for round in range(options.rounds):
            if round >= 2 and time.monotonic() - begin > 4 * options.rounds * options.seconds * len(ready):
                break  # a slow work needs no more rounds
            for worker, _ in ready:
                samples[worker.peer].append(worker.ask("measure", seconds=options.seconds)["samples"])
        for worker in workers:
            worker.ask("release")
        medians = {peer: [statistics.median(round) for round in rounds] for peer, rounds in samples.items()}
        least = least_seconds(work, limits)
        cells = {}
        for worker, how in ready:
            peer = worker.peer
            median, best = statistics.median(medians[peer]), min(min(round) for round in samples[peer])
            rate = {"gflops": round_to(work.flops / median / 1e9)} if work.limit == "flops" else \
                {"gbps": round_to(work.bytes / median / 1e9)}
            row = {"peer": peer, "work": work.name, "threads": threads, "median_s": round_to(median),
                   "min_s": round_to(best), **rate, "percent_of_limit": round_to(100 * least / median),
                   "version": worker.version, "how": how}
            if "heed" in medians and peer != "heed":
                row["times_of_heed"] = round_to(ratio(medians[peer], medians["heed"]))
                row["min_times_of_heed"] = round_to(best / min(min(round) for round in samples["heed"]))
            cells[peer] = row
            self.record(**row)
        print(f"  {work.name:<28}{milliseconds(least):>8}" + "".join(
            f"{milliseconds(cells[w.peer]['median_s']):>8} {cells[w.peer]['percent_of_limit']:>4.0f} %" if w.peer in cells
            else f"{'–':>15}" for w in workers) + "   " + self.verdict(cells), flush=True)
        for peer, reason in notes.items():
            print(f"    {peer}: {reason}", flush=True)

    @staticmethod
    def verdict(cells):
        rivals = {peer: row for peer, row in cells.items() if not peer.startswith("heed")}
        if "heed" not in cells or not rivals:
            return ""
        best = min(rivals, key=lambda peer: rivals[peer]["median_s"])
        return f"{rivals[best]['times_of_heed']:.2f}  {rivals[best]['min_times_of_heed']:.2f}  {best}"


def ratio(times, others):
    return statistics.median(a / b for a, b in zip(times, others))


def round_to(value):
    return float(f"{value:.4g}")


def milliseconds(seconds):
    return f"{1e3 * seconds:.3f}" if seconds < 1 else f"{1e3 * seconds:.0f}"


def machine_name():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return f"{line.split(':')[1].strip()}, {os.cpu_count()} processors"
    return f"{os.uname().machine}, {os.cpu_count()} processors"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="REGEX", default="", help="works whose name matches, e.g. 'sdpa s512'")
    parser.add_argument("--peers", metavar="NAMES", default=",".join(PEERS), help=f"of {', '.join(PEERS)}")
    parser.add_argument("--threads", metavar="N,…", help="numbers of threads [1 and 2]")
    parser.add_argument("--quick", action="store_true", help="shorter rounds, without torch.compile; ten minutes")
    parser.add_argument("--rounds", type=int, default=5, help="alternating rounds [5]")
    parser.add_argument("--seconds", type=float, help="of each peer in a round [0.3; 0.05 with --quick]")
    parser.add_argument("--json", metavar="FILE", help="write one line of JSON for each figure")
    parser.add_argument("--list", action="store_true", help="print the names of the works")
    options = parser.parse_args()
    options.works = [name for name in WORKS if re.search(options.only, name)]
    if options.list:
        print("\n".join(options.works))
        return
    if not options.works:
        sys.exit(f"bench: error: expected a work to match '{options.only}', see --list")
    options.peers = options.peers.split(",")
    if options.quick and "torch.compile" in options.peers:
        options.peers.remove("torch.compile")
    options.seconds = options.seconds or (0.05 if options.quick else 0.3)
    threads = [int(n) for n in options.threads.split(",")] if options.threads else \
        sorted({1, min(2, os.cpu_count())})
    bench = Bench(options)
    print(machine_name())
    for count in threads:
        bench.run(count)
    failures = [row for row in bench.rows if row.get("peer", "").startswith("heed") and {"failed", "absent"} & row.keys()]
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
