#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The JSON schema of a plan against plans, as editors apply it.

Usage: check-plan-schema.py SCHEMA PLAN-TREE PLAN DOCUMENT
PLAN-TREE prints a plan as JSON, with typed scalars and with --texts. PLAN, the example of DOCUMENT and every key's
example in its tables fit; a list of mistakes does not. Exits 77 without python3-jsonschema."""

import copy
import json
import os
import re
import subprocess
import sys
import tempfile

try:
    import jsonschema
except ImportError:
    sys.exit(77)

schema_path, tree, plan_path, document_path = sys.argv[1:5]
with open(schema_path, encoding="utf-8") as file:
    schema = json.load(file)
jsonschema.Draft202012Validator.check_schema(schema)
whole = jsonschema.Draft202012Validator(schema)
failures = 0


def fail(text):
    global failures
    failures += 1
    print(text)


def read(path, *options):
    return json.loads(subprocess.run([tree, *options, path], check=True, capture_output=True, text=True).stdout)


def read_text(text, *options):
    with tempfile.NamedTemporaryFile("w", suffix=".yaml", encoding="utf-8", delete=False) as file:
        file.write(text)
    try:
        return read(file.name, *options)
    finally:
        os.unlink(file.name)


def of(part):
    return jsonschema.Draft202012Validator({"$ref": "#/$defs/" + part, "$defs": schema["$defs"]})


def fits(validator, value, what):
    for error in validator.iter_errors(value):
        fail(f"{what}: {list(error.absolute_path)}: {error.message[:200]}")


with open(document_path, encoding="utf-8") as file:
    document = file.read()
example = re.search(r"```yaml\n(.*?)```", document, re.S).group(1)
for options in ([], ["--texts"]):
    fits(whole, read(plan_path, *options), plan_path)
    fits(whole, read_text(example, *options), "the document's example")

# Each row's example alone: nothing else of its part is there, so what is required is not asked for.
rows = 0
for heading, body in re.findall(r"^### (.*?)\n(.*?)(?=^### |\Z)", document, re.S | re.M):
    name = re.sub(r"[\[\] ]", "", heading)
    definition = schema if heading == "the plan" else schema["$defs"][name]
    strict = ("required", "dependentRequired", "dependentSchemas")
    loose = {k: v for k, v in definition.items() if k not in strict}
    loose["$defs"] = {k: {a: b for a, b in v.items() if a not in strict} for k, v in schema["$defs"].items()}
    for row in re.findall(r"^\| `\w+` \|.*\| `(.*)` \|$", body, re.M):
        rows += 1
        for options in ([], ["--texts"]):
            fits(jsonschema.Draft202012Validator(loose), read_text(row.replace("\\|", "|") + "\n", *options),
                 f"{heading}: {row}")
if rows < 100:
    fail(f"only {rows} examples found in {document_path}")

# What an editor must mark.
right = read_text(example)


def mistake(what, change):
    wrong = copy.deepcopy(right)
    change(wrong)
    if whole.is_valid(wrong):
        fail(f"not marked: {what}")


def put(path, value):
    def change(plan):
        at = plan
        for step in path[:-1]:
            at = at[step]
        at[path[-1]] = value
    return change


def drop(path):
    def change(plan):
        at = plan
        for step in path[:-1]:
            at = at[step]
        del at[path[-1]]
    return change


mistake("no version", drop(["probelauf"]))
mistake("another version", put(["probelauf"], 2))
mistake("no study", drop(["study"]))
mistake("an unknown key", put(["blcks"], []))
mistake("an unknown key of a block", put(["blocks", 0, "comand"], "x"))
mistake("a block without id", drop(["blocks", 0, "id"]))
mistake("a capital in an id", put(["blocks", 0, "id"], "Validate"))
mistake("an unknown kind", put(["blocks", 0, "kind"], "comparison"))
mistake("no runs", put(["blocks", 0, "runs"], 0))
mistake("half a run", put(["blocks", 0, "runs"], 1.5))
mistake("blocks as a mapping", put(["blocks"], {}))
mistake("a threshold without relation", put(["claims", 0, "threshold"], 0.9))
mistake("an unknown stop", put(["facts", 0, "stops"], ["renting"]))
mistake("a date of another order", put(["facts", 0, "seen"], "30.11.2026"))
mistake("an unknown state of an axis", put(["blocks", 0, "matrix", "keep", "state"], "maybe"))
mistake("a parameter that -c cannot name", put(["blocks", 0, "fixed"], {"a=b": 1}))
mistake("an unknown part of the machine", put(["environments", 0, "match"], ["machine.colour"]))
mistake("a threshold without result", drop(["claims", 0, "result"]))
mistake("a result in a file without a place", drop(["blocks", 1, "results", 0, "json"]))
mistake("a study id that is none", put(["study", "id"], "mine"))
print(f"{rows} examples, {failures} failures")
sys.exit(1 if failures else 0)
