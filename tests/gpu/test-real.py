#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""real.py itself: on the stand-in with an nvidia-smi of ours it agrees where both say the same, and complains where not.

    test-real.py HELPER READER STAND_IN_DIR"""

import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
UUID = "GPU-00000000-5d1a-0004-0000-000000000000"
RIGHT = UUID + ", 560.35.03, 97871, 1, 77.00, 00000009:01:00.0, 0"
CASES = [
    # what nvidia-smi says, options, expected
    (RIGHT, ["--stand-in"], 0),
    (RIGHT, [], 77),
    (RIGHT.replace("97871", "81559"), ["--stand-in"], 1),
    (RIGHT.replace("97871", "[N/A]"), ["--stand-in"], 1),
    (RIGHT.replace("560.35.03", "550.54.15"), ["--stand-in"], 1),
    (RIGHT.replace(UUID, "GPU-of-another"), ["--stand-in"], 1),
    (RIGHT.replace(" 1, 77", " 9000, 77"), ["--stand-in"], 1),
    (RIGHT.replace("77.00", "77000"), ["--stand-in"], 1),
]


def main(helper, reader, stand_in):
    failed = 0
    for says, options, expected in CASES:
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "nvidia-smi")
            with open(program, "w", encoding="ascii") as file:
                file.write("#!/bin/sh\necho '%s'\n" % says)
            os.chmod(program, 0o700)
            environment = dict(os.environ, PATH=folder + ":" + os.environ["PATH"],
                               LD_LIBRARY_PATH=os.path.join(stand_in, "generation-550"),
                               PROBELAUF_STANDIN_TRACE=os.path.join(os.path.dirname(HERE), "stand-in", "traces", "gh200.trace"))
            done = subprocess.run([sys.executable, os.path.join(HERE, "real.py"), helper, reader, *options],
                                  env=environment, capture_output=True, text=True, check=False)
        if done.returncode != expected:
            failed = 1
            print("%s %s: %d, not %d\n%s%s" % (says, options, done.returncode, expected, done.stdout, done.stderr))
    return failed


sys.exit(main(*sys.argv[1:]))
