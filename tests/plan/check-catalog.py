#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The worked plans: each fits the schema, and holds nothing that nobody found out.

Usage: check-catalog.py SCHEMA PLAN-TREE CATALOG-FOLDER
What is known has value, source, kind of source and day; what is open a question; a figure of a third party is a fact of
that kind and nothing else; no task has a time, no offer, price or assumption is entered, no device is named. Exits 77
without python3-jsonschema."""

import json
import os
import re
import subprocess
import sys

try:
    import jsonschema
except ImportError:
    sys.exit(77)

schema_path, tree, folder = sys.argv[1:4]
with open(schema_path, encoding="utf-8") as file:
    whole = jsonschema.Draft202012Validator(json.load(file))
failures = 0
PLACEHOLDER = "00000000-0000-7000-8000-000000000000"  # init puts an id of its own there
NOT_ENTERED = ("offers", "assumptions", "owning", "demand", "rental", "calendar", "validation", "privacy", "slurm")


def fail(name, text):
    global failures
    failures += 1
    print(f"{name}: {text}")


def read(path, *options):
    return json.loads(subprocess.run([tree, *options, path], check=True, capture_output=True, text=True).stdout)


def check_fact(name, fact):
    where = fact["id"]
    if fact["state"] == "known":
        for key in ("value", "source", "source_kind", "seen"):
            if not fact.get(key):
                fail(name, f"{where} is known without {key}")
        if fact.get("about") == "resource" and fact["source_kind"] not in ("paper", "repository", "own-trial"):
            fail(name, f"{where} is about a resource, from '{fact['source_kind']}'")
        if where.startswith("third-party.") != (fact["source_kind"] == "third-party") and not where.startswith("data."):
            fail(name, f"{where}: a third party's figure that does not say so, or the other way")
        if fact.get("question"):
            fail(name, f"{where} is known and has a question")
    elif not fact.get("question") or fact.get("value"):
        fail(name, f"{where} is open and needs a question, and no value")


def check_blocks(name, plan):
    for block in plan["blocks"]:
        for key in ("question", "state", "kind", "extent", "recurrence"):
            if not block.get(key):
                fail(name, f"block {block['id']} has no {key}")
        if block["state"] == "confirmed" and not block.get("source"):
            fail(name, f"block {block['id']} is confirmed without source")
        for axis, values in (block.get("matrix") or {}).items():
            if values.get("supported") == "yes" and not re.search(r":\d+", values.get("supported_source", "")):
                fail(name, f"{block['id']}, {axis}: supported without file and line")


def check(name):
    path = os.path.join(folder, name)
    plan = read(path, "--texts")
    for form in (plan, read(path)):
        for error in whole.iter_errors(form):
            fail(name, f"{list(error.absolute_path)}: {error.message[:200]}")
    if plan["study"]["id"] != PLACEHOLDER:
        fail(name, "study.id is for init to write")
    # A class of data that follows from the data sets is said; the rest of data protection is the team's.
    if plan.get("privacy") == {"class": "none"}:
        del plan["privacy"]
    for key in NOT_ENTERED:
        if key in plan:
            fail(name, f"'{key}' is the team's to enter")
    for fact in plan["facts"]:
        check_fact(name, fact)
    for task in plan["tasks"]:
        if "time" in task or task.get("needs_machine") not in ("yes", "no") or task.get("done") != "no":
            fail(name, f"task {task['id']}: needs_machine, done: no, and no time")
    for environment in plan["environments"]:
        for key in ("gpu", "gpus", "driver", "capacity", "compute_capability", "stack"):
            if key in environment:
                fail(name, f"environment {environment['id']} names a {key}")
    if len(plan["environments"]) < 2:
        fail(name, "candidate environments stand side by side")
    for part in plan.get("matrix_of_paper") or []:
        if part.get("included") == "no" and not part.get("why"):
            fail(name, f"left out without a reason: {part['part']}")
    check_blocks(name, plan)
    return plan


names = sorted(entry for entry in os.listdir(folder) if entry.endswith(".yaml"))
if names != ["adkv.yaml", "fast-kvzip.yaml", "linearard.yaml"]:
    fail(folder, f"another list of plans: {names}")
plans = {name: check(name) for name in names}
if any(fact["state"] != "open" for fact in plans["adkv.yaml"]["facts"]):
    fail("adkv.yaml", "a fact that is not open")
if any(block.get("command") or block.get("runs") for block in plans["adkv.yaml"]["blocks"]):
    fail("adkv.yaml", "a command or a number of runs")
if not any(part.get("included") == "no" for part in plans["fast-kvzip.yaml"]["matrix_of_paper"]):
    fail("fast-kvzip.yaml", "nothing of the paper is left out")
sys.exit(1 if failures else 0)
