# SPDX-License-Identifier: GPL-3.0-or-later
"""ratios.py BENCH BASE FILE [NOTE…]: one JSON line with every contender's median as a ratio to BASE's."""
import json
import sys

bench, base, path = sys.argv[1:4]
with open(path) as source:
    medians = {row["name"]: row["median_ns"] for row in map(json.loads, source)}
line = {"bench": bench, "base": base, "base_median_ns": medians[base]}
line["ratio"] = {name: round(value / medians[base], 2) for name, value in medians.items() if name != base}
for note in sys.argv[4:]:
    key, _, value = note.partition("=")
    line[key] = value
print(json.dumps(line))
