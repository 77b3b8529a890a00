#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a journal says of GPUs, without what differs from run to run: of `export journal --text` on standard input
the last DEVICE record of each device, the last COUNTERS' `gpu`, series, gaps and incidents, as JSON that can be
compared with a golden file. Times become nothing, counts of samples "some", pids their number. With the name of a
file of `show --json` also its `gpus`: bytes as they are, of other quantities state, bound, method and reason."""

import json
import re
import sys

records = []
for line in sys.stdin:
    found = re.match(r"\d+ (\w+) (\{.*\})$", line)
    if found:
        records.append((found[1], json.loads(found[2])))

probe, devices, series, ids, counters, gaps, incidents = None, {}, {}, [], None, [], []
for kind, record in records:
    if kind == "DEVICE" and "probe" in record:
        probe = record
    elif kind == "DEVICE":
        devices[record["device"]] = record
    elif kind == "SERIES":
        ids.append(record["id"])
        if record["name"].startswith("gpu."):
            series.setdefault(record["device"], []).append(
                "%s [%s] %s" % (record["name"], record["unit"], record["method"]))
    elif kind == "COUNTERS":
        counters = record.get("gpu")
    elif kind == "GAP" and record["what"].startswith("gpu"):
        gaps.append("%s: %s" % (record["what"], record["reason"]))
    elif kind == "INCIDENT" and record["source"] == "nvml":
        incidents.append(record)

assert len(ids) == len(set(ids)), "a series is defined twice"
for record in [probe] + list(devices.values()) + [i["figures"] for i in incidents]:
    if record is not None:
        record.pop("t_ns")
if probe is not None and "path" in probe:
    probe["path"] = "/".join(probe["path"].split("/")[-2:])
for gpu in counters or []:
    for key in ("used_samples", "process_samples"):
        if key in gpu:
            assert gpu[key] > 0, key
            gpu[key] = "some"
    if "energy_j" in gpu:
        assert gpu["energy_j"] >= 0
        gpu["energy_j"] = "some"
    # Whether a list of the driver's came between the command's end and the helper's is chance: that nothing was left
    # is then either read or not. What was left is told in a test of its own.
    if gpu.get("left_bytes") == 0 and len(sys.argv) > 1:
        del gpu["left_bytes"]
    if "left_pids" in gpu:
        gpu["left_pids"] = len(gpu["left_pids"])


def without_times(value):
    if isinstance(value, list):
        return [without_times(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "state" in value and "unit" in value:
        kept = {k: v for k, v in value.items() if k in ("state", "bound", "method", "reason", "detail")}
        if value["unit"] == "byte":
            kept["value"] = value["value"]
        if value["unit"] in ("J", "1", "s"):
            kept.pop("bound", None)  # a slow machine leaves holes
        return kept
    if isinstance(value.get("left"), dict) and value["left"].get("value") in (0, None):
        value = {**value, "left": "nothing, or not read"}
    # by phase and by cause every entry says the same once more
    return {k: without_times(v) for k, v in value.items() if k not in ("idle_causes", "use_by_phase")}


shown = None
if len(sys.argv) > 1:
    with open(sys.argv[1], encoding="utf-8") as file:
        shown = without_times(json.load(file)["gpus"])
print(json.dumps({"probe": probe, "devices": [devices[d] for d in sorted(devices)], "counters": counters,
                  "series": {d: sorted(series[d]) for d in sorted(series)}, "gaps": gaps,
                  "incidents": incidents, **({"gpus": shown} if shown is not None else {})}, indent=1))
