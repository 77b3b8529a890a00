#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC2154 # bats sets status, output and lines
# Every figure in JSON leads to runs or lines of the plan that exist, and names what it lacks.

load study-common

# Walks documents; $1: the runs' file, then the documents.
check_sources() {
    python -c 'import json, re, sys
report = json.load(open("report.json"))
runs = {r["run"] for r in report["runs"]} | {s["session"] for s in report["sessions"]}
lines = len(open("probelauf.yaml").read().splitlines())
seen = 0
def lacks(q):
    """What is open below a sum, by name."""
    names = []
    for part in q.get("parts", []):
        of = part["quantity"]
        below = of.get("open_parts", []) if of["state"] == "open" or of.get("bound") else []
        names += [part["name"] + "/" + name for name in below]
        names += [part["name"]] if of["state"] == "open" and not below else []
    return names
def check(q, at):
    global seen
    if q["state"] == "open":
        assert q["reason"], at
    else:
        seen += 1
        # what people assume with --set stands in no file
        assert q.get("sources") or q["state"] == "assumed", (at, q)
    for source in q.get("sources", []):
        m = re.fullmatch(r"probelauf\.yaml:(\d+)", source)
        assert source in runs or (m and 1 <= int(m[1]) <= lines), (at, source)
    if "parts" in q:
        assert sorted(q["open_parts"]) == sorted(lacks(q)), (at, q["open_parts"], lacks(q))
        if q["open_parts"]:
            assert q["state"] == "open" or q.get("bound") == "at-least", at
def walk(x, at):
    if isinstance(x, dict):
        if "state" in x and "value" in x and "unit" in x:
            check(x, at)
        for key, value in x.items():
            walk(value, at + "/" + key)
    elif isinstance(x, list):
        for i, value in enumerate(x):
            walk(value, "%s/%d" % (at, i))
for name in sys.argv[1:]:
    walk(json.load(open(name)), name)
assert seen > 20, seen' "$@"
}

documents() {
    probelauf report --json >report.json
    probelauf estimate --json "$@" >estimate.json
    probelauf block list --json >blocks.json
    check_sources report.json estimate.json blocks.json
}

@test "figures lead to runs and lines of the plan, and name what they lack" {
    make_study
    documents
    probelauf session start --env here
    study_run 1
    sleep 0.2
    probelauf session stop
    documents
    documents --set '*.idle=1h' --set compare.lanes=2 --set compare.runs=5
}

@test "a total names the open conditions of its blocks" {
    make_study
    study_run 1
    probelauf estimate --json >estimate.json
    python -c 'import json
d = json.load(open("estimate.json"))
names = set(d["total"]["reserved"]["open_parts"])
for block in d["blocks"]:
    for component, c in block["components"].items():
        for item in c["items"]:
            if item["time"]["state"] == "open" and item["needs_machine"] != "no":
                assert "%s/%s/%s" % (block["id"], component, item["name"]) in names, item["name"]
        if not c["items"] and c["time"]["state"] == "open":
            assert block["id"] + "/" + component in names, component
assert "compare/runs/size=2" in names, names'
}

@test "an unplanned and a failed run, and none of them, have a source" {
    make_study
    probelauf run -q -- src/work sleep 0.01
    run -3 probelauf run -q --env here --block compare -c size=1 -- src/work sleep 0.01 exit 3
    until_true nothing_waits
    documents
}
