#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
# Kills `block run` with -9 at random moments and begins it again, then lets it come to its end.
# usage: block-storm.py PROBELAUF BLOCK KILLS LONGEST SEED   (in the study's folder)
# Prints one line: what was run in all, and in how many of the kills the runner was still at work. How many runs each
# condition has is for the caller to check.
import random
import subprocess
import sys
import time

program, block, kills, longest, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), sys.argv[5]
chance = random.Random(seed)
met = 0
for _ in range(kills):
    runner = subprocess.Popen([program, 'block', 'run', block], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              stdin=subprocess.DEVNULL, start_new_session=True)
    time.sleep(chance.uniform(0.0, longest))
    met += runner.poll() is None
    runner.kill()
    runner.wait()
end = subprocess.run([program, 'block', 'run', block], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                     timeout=240)
if end.returncode != 0:
    sys.stdout.write(end.stdout + end.stderr)
    sys.exit(1)
print(f'{met} of {kills} kills met a runner at work (seed {seed})')
