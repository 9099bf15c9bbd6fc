"""What a peer is: a system that prepares a work and then runs it again and again on the same memory."""

import time


class Unsupported(Exception):
    """The peer has no way to do this work; the message says why."""


class Call:
    """One prepared way to do a work. `run()` does it once; `outputs()` gives {name: array} of the last run; `facts`
    are told beside its figures."""

    def __init__(self, run, outputs, how, **facts):
        self.run, self.outputs, self.facts = run, outputs, {"how": how} | facts


def measure(call, seconds, clock=time.perf_counter):
    """Seconds of each sample; a sample is as many runs as take 0.2 ms, so that reading the clock costs nothing.

    The first runs, which wake threads and fill caches, are not counted.
    """
    run = call.run
    begin = clock()
    run()
    once = clock() - begin
    if once < seconds / 4:
        stop, runs = clock() + seconds / 8, 0
        while clock() < stop:
            run()
            runs += 1
        once = (seconds / 8) / max(runs, 1)
    inner = max(1, int(2e-4 / once))
    samples, stop = [], clock() + seconds
    while not samples or clock() < stop:
        begin = clock()
        for _ in range(inner):
            run()
        samples.append((clock() - begin) / inner)
    return samples
