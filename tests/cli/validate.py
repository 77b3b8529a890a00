# SPDX-License-Identifier: GPL-3.0-or-later
"""Validates JSON from standard input: validate.py SCHEMA-FOLDER NAME. References between the schemas are
resolved from the folder, never from the network."""
import json
import pathlib
import sys

import jsonschema

folder, name = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
schemas = {path.name: json.loads(path.read_text()) for path in folder.glob("*.schema.json")}
store = dict(schemas)
for file, schema in schemas.items():
    store[(folder / file).as_uri()] = schema
    if "$id" in schema:
        store[schema["$id"]] = schema
schema = schemas[name + ".schema.json"]
validator_class = jsonschema.validators.validator_for(schema)
validator_class.check_schema(schema)
base = schema.get("$id", (folder / (name + ".schema.json")).as_uri())
resolver = jsonschema.RefResolver(base, schema, store=store, handlers={})
errors = sorted(validator_class(schema, resolver=resolver).iter_errors(json.load(sys.stdin)), key=str)
for error in errors[:20]:
    print("/".join(map(str, error.absolute_path)) or "(root)", error.message[:300])
sys.exit(1 if errors else 0)
