"""Measures heed and its peers on the same works, and says how far from the machine's limits they are.

Every peer works in processes of its own, one for each number of threads; all but the one that measures are stopped.
On a work each prepares the fastest of the ways it offers, its result is compared with the formula or with the
others', and then all are measured in turn, round after round. A figure is the median of the medians of a peer's
rounds; a ratio to heed is the median of the ratios of the rounds, and beside it that of the fastest runs of all.
"""

import argparse
import json
import os
import pathlib
import re
import statistics
import sys
import time

import figures
import machine
import numpy as np
import startup
import summary
from contest import Worker
from machine import cache
from worker import PEERS
from works import OVERHEAD, WORKS, Model


def check(work, files):
    """The peers whose results are wrong, each with how: {peer: reason}. `files`: {peer: .npz file}."""
    expected, wrong, first = work.expected(work.inputs()), {}, None
    for peer, file in files.items():
        outputs = np.load(file)
        for name, shape in work.output_shapes().items():
            if name not in outputs or outputs[name].shape != tuple(shape):
                wrong[peer] = f"expected output {name} of shape {shape}"
                continue
            found = outputs[name]
            if name in expected:
                rows, values = expected[name]
                difference = np.abs(np.take(found, rows, axis=-2) - values).max()
            else:
                valid = work.valid().astype(bool)
                first = found if first is None else first
                difference = np.abs(found[valid] - first[valid]).max()
            if not difference <= work.tolerance:  # true for a NaN, too
                wrong[peer] = f"wrong by {difference:.2g}"
    return wrong


class Round:
    """The rounds of all peers on one work with so many threads."""

    def __init__(self, work, workers, options):
        self.work, self.options = work, options
        self.failed, self.ready = {}, {}
        files = {}
        for worker in workers:
            answer = worker.ask("prepare", work=work.name, seconds=options.seconds / 4)
            facts, file = answer, cache / f"{worker.peer}-{os.getpid()}.npz"
            if "how" in answer:
                answer = worker.ask("outputs", file=str(file))
            if "failed" in answer:
                self.failed[worker.peer] = answer["failed"]
            elif "unsupported" not in answer:
                self.ready[worker] = facts
                files[worker.peer] = file
        self.failed |= check(work, files)
        for file in files.values():
            file.unlink()
        for worker in list(self.ready):
            if worker.peer in self.failed:
                del self.ready[worker]
        self.samples = {worker.peer: [] for worker in self.ready}

    def measure(self):
        begin, options = time.monotonic(), self.options
        for number in range(options.rounds):
            if number >= 2 and time.monotonic() - begin > 4 * options.rounds * options.seconds * len(self.ready):
                break  # what is slow needs no more rounds
            for worker in list(self.ready):
                answer = worker.ask("measure", seconds=options.seconds)
                if "failed" in answer:
                    self.failed[worker.peer] = answer["failed"]
                    del self.ready[worker], self.samples[worker.peer]
                else:
                    self.samples[worker.peer].append(answer["samples"])

    def medians(self, peer):
        return [statistics.median(samples) for samples in self.samples[peer]]

    def rows(self, limits):
        """One for each peer, in the form that --json writes."""
        work, least = self.work, machine.least_seconds(self.work, limits)
        rows = []
        for worker, facts in self.ready.items():
            peer, medians = worker.peer, self.medians(worker.peer)
            median, best = statistics.median(medians), min(map(min, self.samples[peer]))
            row = {"peer": peer, "work": work.name, "threads": worker.threads, "median_s": median, "min_s": best}
            row |= {"gflops": work.flops / median / 1e9} if work.limit == "flops" else \
                {"gbps": work.bytes / median / 1e9}
            row["percent_of_limit"] = 100 * least / median
            if "heed" in self.samples:
                row["times_of_heed"] = statistics.median(a / b for a, b in zip(medians, self.medians("heed")))
                row["min_times_of_heed"] = best / min(map(min, self.samples["heed"]))
            rows.append({name: round_to(value) for name, value in row.items()} | {"version": worker.version} | facts)
        return rows


def round_to(value):
    return float(f"{value:.4g}") if isinstance(value, float) else value


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

    def run(self):
        limits = {threads: machine.measure_limits(threads, 0.2 if self.options.quick else 0.5)
                  for threads in self.options.threads}
        print(machine.name())
        for threads, found in limits.items():
            self.record(**found)
            print(f"  {threads} thread{'s' if threads > 1 else ' '}  {found['isa']} {found['flops'] / 1e9:.0f} GFLOP/s, "
                  f"{found['exps'] / 1e9:.1f} Gexp/s; reads, GB/s: "
                  + ", ".join(f"{level} {found[level] / 1e9:.0f}" for level in ("L1", "L2", "L3", "memory")))
        workers = self.start()
        self.print_overhead(workers)
        peers = [peer for peer in self.options.peers if any(worker.peer == peer for worker in workers)]
        print(f"\nMilliseconds, percent of the limit; best peer over heed by median and by fastest run\n"
              f"{'work':<26}{'threads':>8}{'limit':>10}" + "".join(f"{peer:>16}" for peer in peers) + "   best peer")
        for name in self.options.works:
            for threads in self.options.threads:
                self.measure(WORKS[name], [w for w in workers if w.threads == threads], limits[threads], peers)
        for worker in workers:
            worker.close()

    def start(self):
        workers = []
        for peer in self.options.peers:
            for threads in self.options.threads:
                worker = Worker(peer, threads, self.options.clock)
                if worker.absent:
                    print(f"  absent: {peer}: {worker.absent}")
                    self.record(peer=peer, threads=threads, absent=worker.absent)
                    worker.close()
                    break
                workers.append(worker)
            else:
                print(f"  {peer} {worker.version}", flush=True)
        return workers

    def print_overhead(self, workers):
        """What a call costs at least, by a product of almost nothing; it is part of all other figures."""
        cells = []
        for worker in workers:
            round = Round(OVERHEAD, [worker], self.options)
            round.measure()
            if worker.threads == self.options.threads[0] and round.ready:
                median = statistics.median(round.medians(worker.peer))
                cells.append(f"{worker.peer} {1e6 * median:.1f}")
                self.record(peer=worker.peer, work=OVERHEAD.name, threads=worker.threads, median_s=round_to(median))
            worker.ask("release")
        print(f"Microseconds of a call: {', '.join(cells)}", flush=True)

    def measure(self, work, workers, limits, peers):
        round = Round(work, workers, self.options)
        round.measure()
        rows = round.rows(limits)
        again = [row["peer"] for row in rows if self.is_more_than_doubled(row)]
        if again:  # the one thread was measured in a bad moment, or the two in a good one
            round.measure()
            rows = round.rows(limits)
        for worker in workers:
            worker.ask("release")
        for row in rows:
            self.record(**row)
        cells = {row["peer"]: f"{milliseconds(row['median_s'])} {row['percent_of_limit']:>4.0f} %" for row in rows}
        print(f"{work.name:<26}{limits['threads']:>8}{milliseconds(machine.least_seconds(work, limits)):>10}"
              + "".join(f"{cells.get(peer, '–'):>16}" for peer in peers) + f"   {summary.verdict(rows)}", flush=True)
        for peer, reason in round.failed.items():
            self.record(peer=peer, work=work.name, threads=limits["threads"], failed=reason)
            print(f"  {peer}: {reason}", flush=True)

    def is_more_than_doubled(self, row):
        """Whether a peer gains more from a second thread than there is to gain."""
        return row["threads"] == 2 and any(
            one.get("median_s", 0) > 2 * row["median_s"] for one in self.rows
            if one.get("threads") == 1 and one.get("peer") == row["peer"] and one.get("work") == row["work"])


def milliseconds(seconds):
    return f"{1e3 * seconds:.3f}" if seconds < 1 else f"{1e3 * seconds:.0f}"


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="REGEX", default="", help="works whose name matches, e.g. 'sdpa s512'")
    parser.add_argument("--peers", metavar="NAMES", help=f"of {', '.join(PEERS)} [all]")
    parser.add_argument("--threads", metavar="N,…", help="numbers of threads [1 and 2]")
    parser.add_argument("--quick", action="store_true", help="fewer and shorter rounds, without torch.compile and heed.static; twenty minutes")
    parser.add_argument("--rounds", type=int, help="alternating rounds [5; 3 with --quick]")
    parser.add_argument("--seconds", type=float, help="of each peer in a round [0.3; 0.05 with --quick]")
    parser.add_argument("--clock", choices=["wall", "cpu"], default="wall",
                        help="cpu: processor time, for one thread on a busy machine [wall]")
    parser.add_argument("--json", metavar="FILE", help="write one line of JSON for each figure")
    parser.add_argument("--svg", metavar="DIR", help="draw curves and bars")
    parser.add_argument("--list", action="store_true", help="print the names of the works")
    options = parser.parse_args()
    options.works = [name for name in WORKS if re.search(options.only, name)]
    if not options.works:
        sys.exit(f"bench: error: expected a work to match '{options.only}', see --list")
    left_out = ("torch.compile", "heed.static") if options.quick else ()
    options.peers = options.peers.split(",") if options.peers else [peer for peer in PEERS if peer not in left_out]
    for peer in options.peers:
        if peer not in PEERS:
            sys.exit(f"bench: error: expected peers of {', '.join(PEERS)}, but got {peer}")
    options.rounds = options.rounds or (3 if options.quick else 5)
    options.seconds = options.seconds or (0.05 if options.quick else 0.3)
    most = len(os.sched_getaffinity(0))
    options.threads = [int(n) for n in options.threads.split(",")] if options.threads else sorted({1, min(2, most)})
    if options.clock == "cpu" and options.threads != [1]:
        sys.exit("bench: error: expected --threads 1 with --clock cpu: the time of several threads is no sum")
    return options


def main():
    options = parse()
    if options.list:
        print("\n".join(options.works))
        return
    bench = Bench(options)
    bench.run()
    if any(isinstance(WORKS[name], Model) and WORKS[name].group == "minilm" for name in options.works):
        startup.measure(options.peers, bench.record)
    summary.print_all(bench.rows)
    if options.svg:
        figures.draw(bench.rows, pathlib.Path(options.svg))
    # heed itself has to run; peers may be absent.
    sys.exit(any({"failed", "absent"} & row.keys() for row in bench.rows if row.get("peer", "").startswith("heed")))


if __name__ == "__main__":
    main()
