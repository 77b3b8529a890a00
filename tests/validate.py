#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""validate.py SCHEMA-FOLDER FILE...: each JSON file against the schema that its "schema" key names.

A file whose name begins with "bad-" must be refused. Exit status 0: as expected; 1: not; 77: no jsonschema here.
"""
import json
import os
import sys
import warnings

try:
    import jsonschema
except ImportError:
    sys.exit(77)


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def validator(folder, name, store):
    schema = load(os.path.join(folder, name))
    jsonschema.Draft202012Validator.check_schema(schema)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newer releases have another registry; this one works in old and new
        resolver = jsonschema.RefResolver(base_uri=name, referrer=schema, store=store)
        return jsonschema.Draft202012Validator(schema, resolver=resolver)


def main(folder, files):
    store = {}
    for name in os.listdir(folder):
        if name.endswith(".schema.json"):
            store[name] = load(os.path.join(folder, name))
    failed = 0
    for path in files:
        document = load(path)
        kind = document["schema"].split(".", 1)[1].rsplit("/", 1)[0]
        errors = list(validator(folder, kind + ".schema.json", store).iter_errors(document))
        bad = os.path.basename(path).startswith("bad-")
        if bad and not errors:
            print(f"{path}: was accepted")
            failed = 1
        for error in [] if bad else errors[:5]:
            print(f"{path}: {'/'.join(map(str, error.absolute_path))}: {error.message[:300]}")
            failed = 1
    return failed


sys.exit(main(sys.argv[1], sys.argv[2:]))
