"""The bench's side of the processes of the peers; see worker.py for the other."""

import ctypes
import json
import os
import pathlib
import signal
import subprocess
import sys

from machine import cache

here = pathlib.Path(__file__).resolve().parent
PR_SET_PDEATHSIG = 1


def end_with_parent():
    """A stopped process would outlive a bench that is interrupted."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Worker:
    """A process of one peer, stopped while it has nothing to do: threads that still spin would slow the others."""

    def __init__(self, peer, threads, clock):
        self.peer, self.threads = peer, threads
        cache.mkdir(parents=True, exist_ok=True)
        self.log = open(cache / f"{peer}-{threads}.log", "w")
        self.process = subprocess.Popen([sys.executable, here / "worker.py", peer, str(threads), clock], cwd=here,
                                        text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log,
                                        preexec_fn=end_with_parent)
        hello = self.read()
        self.version, self.absent = hello.get("version"), hello.get("absent", hello.get("failed"))

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            self.process.wait()
            return {"failed": f"ended with status {self.process.returncode}, see {self.log.name}"}
        self.signal(signal.SIGSTOP)
        return json.loads(line)

    def ask(self, what, **arguments):
        self.signal(signal.SIGCONT)
        try:
            self.process.stdin.write(json.dumps({"do": what} | arguments) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        return self.read()

    def signal(self, number):
        if self.process.poll() is None:
            os.kill(self.process.pid, number)

    def close(self):
        self.signal(signal.SIGCONT)
        self.process.stdin.close()
        self.process.wait()
        self.log.close()
