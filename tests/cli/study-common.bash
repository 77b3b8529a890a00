# SPDX-License-Identifier: GPL-3.0-or-later
# What the bats files about studies share: `load study-common`.
# shellcheck shell=bash disable=SC2154 # bats sets status, output and lines
#   make_study      a git repository `study` with a plan and the child as its code; the test stands in it
#   study_run N [ENV]   a trial run of the condition size=N in that environment, taken in before it returns
#   commit TEXT     all changes
#   block ID EXPR   a Python expression over a block of the last `block list --json`, called `b`

load run-common

STUDY_ID=01936a5e-4f00-7c2a-9b1d-5d0c3a7e8f21

# The plan on standard output; the edits of a test go through sed.
study_plan() {
    cat <<EOF
probelauf: 1
study:
  id: $STUDY_ID
  title: sizes
  paper: {title: A paper, version: v1}
facts:
  - id: weights.access
    about: weights
    state: known
    value: in this folder
    source: this repository
    source_kind: repository
    seen: 2026-11-30
environments:
  - {id: here, kind: own, gpus: 0, match: [pack]}
  - {id: there, kind: rented}
code:
  paths: [src]
blocks:
  - id: compare
    kind: compare
    extent: full
    recurrence: one-off
    state: chosen
    matrix:
      size: {values: [1, 2], state: chosen}
    runs: 2
    command: src/work sleep 0.0{size} out done
    inputs: [input.txt]
    expect: ["marker=done"]
  - id: validate
    kind: validate
    extent: validation
    recurrence: one-off
    state: chosen
    fixed: {size: 1}
    matrix:
      again: {values: [1], state: chosen}
    runs: 1
    command: src/work sleep 0.0{size} out done
EOF
}

# A package that the recorder finds without starting Python.
pack() {
    rm -rf venv/lib/python3.11/site-packages
    mkdir -p venv/bin "venv/lib/python3.11/site-packages/pack-$1.dist-info"
    printf 'home = /usr/bin\nversion = 3.11.2\n' >venv/pyvenv.cfg
    ln -sf /usr/bin/python3 venv/bin/python
    printf 'Metadata-Version: 2.1\nName: pack\nVersion: %s\n' "$1" \
        >"venv/lib/python3.11/site-packages/pack-$1.dist-info/METADATA"
    export VIRTUAL_ENV=$PWD/venv
}

commit() {
    git add -A
    git -c user.name=a -c user.email=a@b commit -q -m "$1"
}

make_study() {
    mkdir -p study/src
    cd study || return
    study_plan >probelauf.yaml
    cp "$CHILD" src/work
    printf 'one\n' >input.txt
    printf 'words\n' >README.md
    printf 'venv\n' >.gitignore
    pack 1.0
    git init -q
    commit first
}

study_run() {
    probelauf run -q --env "${2-here}" --block compare -c "size=$1" -- src/work sleep "0.0$1" out done
    until_true nothing_waits
}

block() {
    python -c 'import json, sys
d = json.load(sys.stdin)
b = next(b for b in d["blocks"] if b["id"] == sys.argv[1])
v = eval(sys.argv[2])
print(v if isinstance(v, str) else json.dumps(v))' "$1" "$2" <<<"$output"
}
