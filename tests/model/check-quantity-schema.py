#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds what quantity_to_json() writes against schema/quantity.schema.json, and holds the schema against
objects that it must refuse. Usage: check-quantity-schema.py SCHEMA SAMPLES_PROGRAM. Exit 77: no jsonschema."""

import json
import subprocess
import sys

try:
    from jsonschema import Draft202012Validator
except ImportError:
    print("skipped: python3-jsonschema is not installed")
    sys.exit(77)

ESTIMATE = {"state": "estimated", "value": 2, "unit": "s", "level": 0.9, "p05": 1, "p50": 2, "p95": 3}
OPEN = {"state": "open", "value": None, "unit": "s", "reason": "stale"}

ACCEPTED = [
    # the three examples of the design
    {"state": "measured", "value": 43889197056, "unit": "byte", "bound": "at-least",
     "method": "nvml.device.used, sampled 10 Hz", "n": 1, "sources": ["0192"]},
    {"state": "estimated", "value": 18120.0, "unit": "s", "level": 0.9, "p05": 16900.0, "p50": 18120.0,
     "p95": 20800.0, "basis": "own-runs", "method": "lognormal-shared/1", "n": 3,
     "parts": [{"name": "a", "quantity": ESTIMATE}], "open_parts": []},
    {"state": "open", "value": None, "unit": "s", "reason": "not-separated"},
    {**ESTIMATE, "state": "assumed", "basis": "own-runs"},
]

REFUSED = {
    "a number in an open one": {**OPEN, "value": 0},
    "an open one without a reason": {"state": "open", "value": None, "unit": "s"},
    "an open one with an unknown reason": {**OPEN, "reason": "because"},
    "an open one without value": {"state": "open", "unit": "s", "reason": "stale"},
    "an open one with n": {**OPEN, "n": 1},
    "an open one with a bound": {**OPEN, "bound": "at-least"},
    "an open one with p05": {**OPEN, "p05": 1},
    "an open one with a level": {**OPEN, "level": 0.9},
    "a known one without a number": {"state": "measured", "value": None, "unit": "s"},
    "a known one with a text": {"state": "measured", "value": "3", "unit": "s"},
    "a known one with a reason": {"state": "measured", "value": 3, "unit": "s", "reason": "stale"},
    "a known one without a unit": {"state": "measured", "value": 3},
    "an empty unit": {"state": "measured", "value": 3, "unit": ""},
    "an unknown state": {"state": "guessed", "value": 3, "unit": "s"},
    "no state": {"value": 3, "unit": "s"},
    "a bound that is written although exact": {"state": "measured", "value": 3, "unit": "s", "bound": "exact"},
    "a measured interval": {**ESTIMATE, "state": "measured"},
    "half an assumed interval": {k: v for k, v in ESTIMATE.items() if k != "p95"} | {"state": "assumed"},
    "half an interval": {k: v for k, v in ESTIMATE.items() if k != "p05"},
    "an interval without a level": {k: v for k, v in ESTIMATE.items() if k != "level"},
    "a level of 1": {**ESTIMATE, "level": 1},
    "a translated detail": {"state": "measured", "value": 3, "unit": "s", "detail": "text"},
    "an unknown key": {"state": "measured", "value": 3, "unit": "s", "extra": 1},
    "n of 0": {"state": "measured", "value": 3, "unit": "s", "n": 0},
    "parts without open_parts": {"state": "measured", "value": 3, "unit": "s",
                                 "parts": [{"name": "a", "quantity": OPEN}]},
    "a part that is no quantity": {"state": "measured", "value": 3, "unit": "s", "open_parts": [],
                                   "parts": [{"name": "a", "quantity": {"state": "open", "value": 0}}]},
    "a number": 3,
    "null": None,
}


def main(schema_path, program):
    with open(schema_path, encoding="utf-8") as file:
        schema = json.load(file)
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    wrong = []
    for sample in ACCEPTED:
        if not validator.is_valid(sample):
            wrong.append(f"refused, though it is one: {sample}")
    for what, sample in REFUSED.items():
        if validator.is_valid(sample):
            wrong.append(f"accepted: {what}")
    lines = subprocess.run([program], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    states = set()
    for line in lines:
        sample = json.loads(line)
        states.add(sample.get("state"))
        for error in validator.iter_errors(sample):
            wrong.append(f"{error.message[:300]}: {line[:300]}")
            break
    if states != {"open", "assumed", "estimated", "measured"}:
        wrong.append(f"the samples cover only {sorted(states)}")
    for text in wrong[:20]:
        print(text)
    print(f"{len(lines)} samples, {len(ACCEPTED)} examples, {len(REFUSED)} to refuse, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
