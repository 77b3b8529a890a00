#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The GPU helper on real hardware: what it says against nvidia-smi, its pace, and what it costs.

    real.py HELPER READER [--stand-in]

77: no library, no driver, no board, or only a stand-in (which --stand-in takes all the same: for the test of this
script). docs/gpu-checks.md lists what needs a person to look at."""

import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

SECONDS = 5
MIB = 1 << 20


def messages(helper, reader):
    """What the helper says within SECONDS, and the CPU seconds that it took."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as said:
        ours, theirs = os.pipe()
        process = subprocess.Popen([helper, str(theirs), "100"], pass_fds=[theirs])
        os.close(theirs)
        decoder = subprocess.Popen([reader], stdin=ours, stdout=said)
        os.close(ours)
        time.sleep(SECONDS)
        with open("/proc/%d/stat" % process.pid, encoding="ascii", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
        process.kill()
        process.wait()
        decoder.wait()
        said.seek(0)
        cpu = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        return [json.loads(line) for line in said], cpu


def of_nvidia_smi():
    """{uuid: {column: text}}; empty where the program is not there or does not answer."""
    columns = ["uuid", "driver_version", "memory.total", "memory.used", "power.draw", "pci.bus_id", "index"]
    if shutil.which("nvidia-smi") is None:
        return {}
    try:
        done = subprocess.run(["nvidia-smi", "--query-gpu=" + ",".join(columns), "--format=csv,noheader,nounits"],
                              capture_output=True, text=True, timeout=60, check=False)
    except subprocess.TimeoutExpired:
        return {}
    rows = csv.reader(done.stdout.splitlines(), skipinitialspace=True) if done.returncode == 0 else []
    return {row[0]: dict(zip(columns, row)) for row in rows if len(row) == len(columns)}


def number(text):
    try:
        return float(text)
    except ValueError:
        return None  # [N/A] and its like


def compare(library, device, samples, smi):
    """What does not agree between the helper's words on one board and nvidia-smi's."""
    if smi["driver_version"] != library["driver"]:
        yield "driver %s, nvidia-smi says %s" % (library["driver"], smi["driver_version"])
    if int(smi["index"]) != device["index"]:
        yield "index %s, nvidia-smi says %s" % (device["index"], smi["index"])
    if smi["pci.bus_id"].lower() != device["bus_id"].lower():
        yield "bus id %s, nvidia-smi says %s" % (device["bus_id"], smi["pci.bus_id"])
    total, used = number(smi["memory.total"]), number(smi["memory.used"])
    if (total is None) != (device["total_bytes"] is None):
        yield "memory %s, nvidia-smi says %s" % (device["total_bytes"], smi["memory.total"])
    if total is not None and device["total_bytes"] is not None and abs(total - device["total_bytes"] / MIB) > 1:
        yield "total %d MiB, nvidia-smi says %d" % (device["total_bytes"] / MIB, total)
    seen = [sample["used_bytes"] / MIB for sample in samples if sample["used_bytes"] is not None]
    # nvidia-smi looks at another moment; the board should be idle for this test.
    if used is not None and seen and not min(seen) - 1024 <= used <= max(seen) + 1024:
        yield "used %d to %d MiB, nvidia-smi says %d" % (min(seen), max(seen), used)
    power, watts = number(smi["power.draw"]), [sample["power_mw"] / 1000 for sample in samples if sample["power_mw"] is not None]
    if power is not None and watts and not min(watts) / 3 <= power <= max(watts) * 3:
        yield "power %.0f to %.0f W, nvidia-smi says %.0f" % (min(watts), max(watts), power)


def check(said, cpu):
    library = said[0]
    smi = of_nvidia_smi()
    boards = {message["device"]: message for message in said if message["message"] == "device"}
    problems = []
    for device in boards.values():
        who = "device %d (%s): " % (device["device"], device["name"])
        samples = [m for m in said if m["message"] == "sample" and m["device"] == device["device"]]
        for sample in samples:
            if sample["used_bytes"] is not None and not 0 <= sample["used_bytes"] <= sample["total_bytes"]:
                problems.append(who + "used %s of %s" % (sample["used_bytes"], sample["total_bytes"]))
        if device["why"]["memory"] == "read" and len(samples) < SECONDS:
            problems.append(who + "%d samples in %d s" % (len(samples), SECONDS))
        for windows in (m for m in said if m["message"] == "windows" and m["device"] == device["device"]):
            ends = [window["end_ns"] for window in windows["windows"]]
            if ends != sorted(ends) or (ends and not windows["asked_ns"] - 60 * 10**9 < ends[-1] < windows["asked_ns"] + 10**9):
                problems.append(who + "utilization windows end at no time that can be")
        if device["kind"] == 0 and smi and device["uuid"]:
            if device["uuid"] not in smi:
                problems.append(who + "nvidia-smi does not know %s" % device["uuid"])
            else:
                problems += [who + what for what in compare(library, device, samples, smi[device["uuid"]])]
    if cpu > SECONDS * 0.1:
        problems.append("the helper took %.2f s of CPU time in %d s" % (cpu, SECONDS))
    print("%d devices, driver %s, helper %.1f %% of a core, nvidia-smi %s" %
          (len(boards), library["driver"], cpu / SECONDS * 100, "compared" if smi else "not there"))
    return problems


def main(arguments):
    said, cpu = messages(*arguments[:2])
    if not said or said[0]["message"] != "library":
        print("the helper said nothing within %d s" % SECONDS)
        return 1
    library = said[0]
    stand_in = any("stand-in" in message.get("name", "") for message in said)
    if library["state"] != "ready" or library["device_count"] == 0 or (stand_in and arguments[2:] != ["--stand-in"]):
        print("skipped: %s" % (library["detail"] or "no GPU but a stand-in, or none at all"))
        return 77
    problems = check(said, cpu)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


sys.exit(main(sys.argv[1:]))
