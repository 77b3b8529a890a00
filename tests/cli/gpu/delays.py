#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Does a GPU driver that hangs delay a command? Runs a command that prints its own start, then lines, and ends, with
and without the stand-in, and compares when the start, each line and the end came to us.

Usage: delays.py PROBELAUF SECONDS      the environment names the stand-in (LD_LIBRARY_PATH, PROBELAUF_STANDIN_TRACE)
Prints the figures; exits 1 where one with the stand-in is ten times that without, and more than half a second."""

import os
import subprocess
import sys
import time

CHILD = """import sys, time
print("start", time.monotonic(), flush=True)
end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end:
    time.sleep(0.2)
    print("line", time.monotonic(), flush=True)
print("end", time.monotonic(), flush=True)
"""


def measure(program, seconds, environment):
    began = time.monotonic()
    run = subprocess.Popen([program, "run", "-q", "--", sys.executable, "-c", CHILD, seconds],
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, text=True)
    start, line, end = None, 0.0, None
    for text in run.stdout:
        word, said = text.split()
        if word == "start":
            start = float(said) - began
        end = float(said)
        line = max(line, time.monotonic() - float(said))
    assert run.wait() == 0 and start is not None
    return {"start": start, "line": line, "end": time.monotonic() - end}


def main(program, seconds):
    without = {k: v for k, v in os.environ.items() if k not in ("LD_LIBRARY_PATH", "PROBELAUF_STANDIN_TRACE")}
    base = measure(program, seconds, without)
    hung = measure(program, seconds, dict(os.environ))
    print("without", base)
    print("with   ", hung)
    late = [what for what in base if hung[what] > 10 * base[what] and hung[what] > 0.5]
    if late:
        print("late:", late)
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
