"""Fused against unfused: attention as heed fuses it may nowhere be slower than the same graph whose scores are stored.

Over lengths, widths, masks and threads, in alternating rounds; a ratio is the median of the rounds' ratios. Ends with a
failure where the fused form is slower by more than 5 %, which is measured once more before it is believed.

  fusing.py [--threads N,…] [--only REGEX] [--seconds S] [--rounds N]
"""

import argparse
import os
import re
import statistics
import sys

from bench import Round
from contest import Worker
from works import FUSING

FORMS = ("heed", "heed.unfused")
ALLOWED = 0.95


def ratio(work, workers, options):
    """Time of the unfused form over that of the fused one."""
    round = Round(work, workers, options)
    round.measure()
    for worker in workers:
        worker.ask("release")
    if round.failed or len(round.ready) != len(FORMS):
        sys.exit(f"fusing: {work.name}: expected both forms to run, but got {round.failed or round.ready}")
    fused, unfused = (round.medians(form) for form in FORMS)
    return statistics.median(a / b for a, b in zip(unfused, fused))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", default="1,2" if len(os.sched_getaffinity(0)) > 1 else "1")
    parser.add_argument("--only", metavar="REGEX", default="")
    parser.add_argument("--seconds", type=float, default=0.03, help="of each form in a round [0.03]")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    slower, count = [], 0
    print(f"{'work':<32}{'threads':>8}   unfused over fused")
    for threads in map(int, options.threads.split(",")):
        workers = [Worker(form, threads, "wall") for form in FORMS]
        for work in FUSING.values():
            if not re.search(options.only, work.name):
                continue
            found = ratio(work, workers, options)
            if found < ALLOWED:
                found = max(found, ratio(work, workers, options))
            count += 1
            if found < ALLOWED:
                slower.append(f"{work.name}, {threads} threads: {1 / found:.2f} times")
            print(f"{work.name:<32}{threads:>8}{found:>8.2f}", flush=True)
        for worker in workers:
            worker.close()
    print(f"slower when fused: {len(slower)} of {count}", *slower, sep="\n  ")
    sys.exit(bool(slower) or not count)


if __name__ == "__main__":
    main()
