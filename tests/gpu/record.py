#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records the stand-in with tools/nvml-record, replays the recording, records that: both must say the same.

    record.py RECORDER STAND_IN_DIR TRACE

Times may differ by what the looks are apart; energy, which the recorder keeps as a straight line, by a tenth."""

import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS = 5
TIME_APART = 1.2  # once a second, and a machine that is busy


def record(recorder, stand_in, trace, *options):
    environment = {"LD_LIBRARY_PATH": os.path.join(stand_in, "generation-550"), "PROBELAUF_STANDIN_TRACE": trace}
    return subprocess.run([recorder, *options, str(SECONDS)], env=environment, check=True, capture_output=True, text=True).stdout


def split(line):
    """The time of a line (None: none), and the rest with its words."""
    words = line.split()
    moment = re.fullmatch(r"([0-9.]+)(-[0-9.]+)?", words[0])
    return (float(moment[1]) if moment else None), (words[1:] if moment else words)


def same(first, second):
    (first_time, first_words), (second_time, second_words) = split(first), split(second)
    if first_time is None or second_time is None:
        words = [re.sub(r"^window=.*", "window", word) for word in first_words]
        return words == [re.sub(r"^window=.*", "window", word) for word in second_words]
    if first_words[1] == "energy":
        return first_words[:2] == second_words[:2] and all(
            abs(int(a) - int(b)) <= int(a) / 10 for a, b in zip(first_words[2:], second_words[2:]))
    return first_words == second_words and abs(first_time - second_time) <= TIME_APART


def in_order(text):
    """Facts as they come; then by what they are about, since the order of two devices depends on the moment."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    facts = [line for line in lines if split(line)[0] is None]
    moments = [line for line in lines if split(line)[0] is not None]
    return sorted(facts) + sorted(moments, key=lambda line: (split(line)[1][:2], split(line)[0], split(line)[1]))


def main(recorder, stand_in, trace):
    path = os.path.join(os.path.dirname(HERE), "stand-in", "traces", trace + ".trace")
    with tempfile.NamedTemporaryFile("w", suffix=".trace", encoding="utf-8") as file:
        first = record(recorder, stand_in, path)
        file.write(first)
        file.flush()
        second = record(recorder, stand_in, file.name)
    for text in (first, second):
        if "stand-in" not in text and "device" in text:
            print("a recorded device does not say that it is a stand-in")
            return 1
    a, b = in_order(first), in_order(second)
    if len(a) > 4 and len(a) == len(b) and all(map(same, a, b)):
        masked = record(recorder, stand_in, path, "--mask")
        kept = set(re.findall(r"5d1a\S+", masked))
        if kept:
            print("--mask kept %s" % kept)
        return 1 if kept else 0
    print("\n".join(["first:"] + a + ["second:"] + b))
    return 1


sys.exit(main(*sys.argv[1:]))
