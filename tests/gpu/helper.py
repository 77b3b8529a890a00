#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the GPU helper on a script of the stand-in and compares what it said with a golden file.

    helper.py HELPER READER STAND_IN_DIR CASE [--write]

A case is one of CASES. What it said is folded so that it does not depend on the moment of a look: facts as they came,
of memory and the other figures the values in their order without repeats, times left out. What depends on time is
checked here: that the times lie within the run, that memory came ten times a second, that hangs are told."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TRACES = os.path.join(os.path.dirname(HERE), "stand-in", "traces")
STEADY = (("power_mw", "power_why"), ("clock_sm_mhz", "clock_why"), ("clock_memory_mhz", "clock_why"),
          ("event_reasons", "events_why"), ("ecc_uncorrected", "ecc_why"))

LONG_LIST = 20

# name: (script, generation, seconds, options)
CASES = {
    "eight-h200": ("eight-h200", "550", 4, {"rate": True}),
    "mig": ("mig", "550", 5, {}),
    "lost-board": ("lost-board", "550", 26, {}),
    "hang": ("hang", "550", 8, {"speed": 10}),
    "slow-init": ("slow-init", "550", 4, {"speed": 10}),
    "driver-340": ("generations", "340", 4, {}),
    "driver-418": ("generations", "418", 6, {}),
    "driver-470": ("generations", "470", 6, {}),
    "driver-550": ("generations", "550", 6, {}),
    "gb10": ("gb10", "550", 4, {}),
    "gh200": ("gh200", "550", 3, {}),
    "jetson": ("jetson", "550", 3, {}),
    "wsl": ("wsl", "550", 3, {"wsl": True}),
    "wsl-no-processes": ("wsl-no-processes", "550", 3, {"wsl": True}),
    "two-models": ("two-models", "550", 4, {}),
    "vgpu": ("vgpu", "550", 3, {}),
    "no-driver": ("no-driver", "550", 2, {}),
    "mismatch": ("mismatch", "550", 2, {}),
    "no-permission": ("no-permission", "550", 2, {}),
    "no-gpu": ("no-gpu", "550", 2, {}),
    "no-library": (None, None, 2, {}),
    "broken-library": (None, None, 2, {"broken": True}),
    "exchange": ("exchange", "550", 16, {}),
    "sentinels": ("sentinels", "550", 5, {}),
    "many-processes": ("many-processes", "550", 3, {}),
    "entry-32": ("entry-32", "550", 4, {}),
    "entry-16": ("entry-16", "550", 4, {}),
    "dry-buffer": ("dry-buffer", "550", 12, {}),
    "busy-idle": ("busy-idle", "550", 11, {"speed": 2}),
}


class Problem(Exception):
    pass


def need(condition, what):
    if not condition:
        raise Problem(what)


def library_folder(folder, stand_in, generation, options):
    """The folder to be named by LD_LIBRARY_PATH, within `folder` where it has to be made."""
    if options.get("wsl"):
        target = os.path.join(folder, "wsl", "lib")
        os.makedirs(target)
        shutil.copy(os.path.join(stand_in, "generation-" + generation, "libnvidia-ml.so.1"), target)
        return target
    if options.get("broken"):
        with open(os.path.join(folder, "libnvidia-ml.so.1"), "w", encoding="ascii") as file:
            file.write("no library\n")
        return folder
    return folder if generation is None else os.path.join(stand_in, "generation-" + generation)


def run(helper, reader, stand_in, case):
    """The messages of one run, and when it began and ended in CLOCK_MONOTONIC."""
    trace, generation, seconds, options = CASES[case]
    with tempfile.TemporaryDirectory() as folder:
        pids = os.path.join(folder, "pids")
        with open(pids, "w", encoding="ascii") as file:
            file.write("%d\n" % os.getpid())
        environment = {"LD_LIBRARY_PATH": library_folder(folder, stand_in, generation, options),
                       "PROBELAUF_STANDIN_PIDS": pids,
                       **{key: value for key, value in os.environ.items() if key.endswith("SAN_OPTIONS")}}
        if trace:
            environment["PROBELAUF_STANDIN_TRACE"] = os.path.join(TRACES, trace + ".trace")
        if "speed" in options:
            environment["PROBELAUF_STANDIN_SPEED"] = str(options["speed"])
        begin = time.monotonic_ns()
        ours, theirs = os.pipe()
        # Descriptors 0 to 2 closed: it has to live without them, and says nothing there anyway.
        process = subprocess.Popen(["/bin/sh", "-c", "exec \"$0\" %d 100 <&- >&- 2>&-" % theirs, helper],
                                   pass_fds=[theirs], env=environment)
        os.close(theirs)
        # Into a file: a pipe that is full would make the helper wait.
        with open(os.path.join(folder, "said"), "w", encoding="utf-8") as said:
            decoder = subprocess.Popen([reader], stdin=ours, stdout=said)
        os.close(ours)
        time.sleep(seconds)
        need(process.poll() is None, "the helper ended by itself (%s)" % process.poll())
        process.kill()
        process.wait()
        need(decoder.wait() == 0, "something was no message")
        with open(os.path.join(folder, "said"), encoding="utf-8") as said:
            text = said.read()
        return [json.loads(line) for line in text.splitlines()], begin, time.monotonic_ns()


def add(values, value):
    if not values or values[-1] != value:
        values.append(value)


def fold(messages):
    out = {"library": [], "devices": [], "events": [], "accounting": [], "late": []}
    per_device = {}
    looks = {}
    for message in messages:
        kind = message.pop("message")
        # Shorter ones are of a machine that has much to do.
        late = kind == "late" and message["to_ns"] - message["from_ns"] >= 10**9
        for key in ("t_ns", "asked_ns", "answered_ns", "from_ns", "to_ns"):
            message.pop(key, None)
        own = per_device.setdefault(str(message.get("device")), {"used": [], "why": [], "processes": [], "percent": [], "windows_why": []})
        if kind == "library":
            message["path"] = os.path.basename(message["path"])
            if message["state"] == "unusable":
                message["detail"] = "" if "libnvidia-ml" in message["detail"] else message["detail"]
            out["library"].append(message)
        elif kind == "device":
            message["why"] = {item: why for item, why in message["why"].items() if why != "read"}
            # Which look was the first to have a reason depends on the moment: the last word about the same facts counts.
            earlier = [known for known in out["devices"] if known["device"] == message["device"]][-1:]
            if earlier and {**earlier[0], "why": None} == {**message, "why": None}:
                earlier[0]["why"] = message["why"]
            else:
                out["devices"].append(message)
        elif kind == "sample":
            add(own["used"], [message["used_bytes"], message["total_bytes"]])
            add(own["why"], message["memory_why"])
            for key, why in STEADY:
                # null with "read" is a sample between the seconds
                if message[key] is not None or message[why] != "read":
                    add(own.setdefault(key, []), [message[key], message[why]])
            if message["energy_mj"] is not None or message["energy_why"] != "read":
                add(own.setdefault("energy", []), ["a figure" if message["energy_mj"] is not None else None, message["energy_why"]])
        elif kind == "processes":
            for process in message["processes"]:
                process["pid"] = "tree" if process["pid"] == os.getpid() else process["pid"]
            device, first = message.pop("device"), message.pop("first")
            parts = looks.setdefault(device, [])
            if first == 0:
                parts.clear()
            need(first == len(parts), "a part of a list begins with process %d, not %d" % (first, len(parts)))
            parts.extend(message["processes"])
            if len(parts) < message["total"]:
                continue  # of a long list more is to come, unless the helper is killed before
            need(len(parts) == message["total"], "a list holds more processes than it says")
            message["processes"] = parts[:] if len(parts) <= LONG_LIST else [parts[0], "%d more" % (len(parts) - 2), parts[-1]]
            add(own["processes"], message)
        elif kind == "windows":
            if message["windows"] or message["why"] != "read":  # else: none has ended yet
                add(own["windows_why"], message["why"])
            for window in message["windows"]:
                add(own["percent"], window["percent"])
        elif kind == "event":
            out["events"].append(message)
        elif kind == "accounting":
            out["accounting"].append(message)
        elif late:
            add(out["late"], message)
    # Among the devices the order depends on the moment.
    for kind in ("devices", "events", "accounting"):
        out[kind].sort(key=lambda message: message["device"])
    out["figures"] = {device: {key: values for key, values in sorted(own.items()) if values}
                      for device, own in sorted(per_device.items()) if any(own.values())}
    return out


def check_times(messages, begin, end, options):
    """What a golden file cannot hold."""
    need(messages and messages[0]["message"] == "library", "LIBRARY is not the first message")
    told = set()
    for message in messages:
        kind = message["message"]
        for key in ("t_ns", "asked_ns", "answered_ns", "to_ns"):
            need(key not in message or begin <= message[key] <= end, "%s %s is not within the run" % (kind, key))
        if kind == "device":
            told.add(message["device"])
        elif kind in ("sample", "processes", "windows", "event", "accounting"):
            need(message["device"] in told, "%s of device %d before its DEVICE" % (kind, message["device"]))
        for window in message.get("windows", []):
            need(begin - 10**9 <= window["end_ns"] <= message["asked_ns"] + 10**8, "a window ends at no time of the run")
    if options.get("rate"):
        count = sum(m["message"] == "sample" and m["device"] == 0 for m in messages)
        need((end - begin) / 1e9 * 2 < count <= (end - begin) / 1e9 * 11 + 2, "%d samples of device 0" % count)


def main(arguments):
    helper, reader, stand_in, case = arguments[:4]
    messages, begin, end = run(helper, reader, stand_in, case)
    check_times(messages, begin, end, CASES[case][3])
    folded = json.dumps(fold(messages), indent=1, sort_keys=True) + "\n"
    golden = os.path.join(HERE, "golden", case + ".json")
    if arguments[4:] == ["--write"]:
        with open(golden, "w", encoding="utf-8") as file:
            file.write(folded)
        return 0
    with open(golden, encoding="utf-8") as file:
        expected = file.read()
    if folded == expected:
        return 0
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        file.write(folded)
        file.flush()
        subprocess.run(["diff", "-u", golden, file.name], stdout=sys.stderr, check=False)
    return 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Problem as problem:
        print("helper.py: %s" % problem, file=sys.stderr)
        sys.exit(1)
