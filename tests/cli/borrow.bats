#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Two studies in one ledger: the second borrows from the first how far runs lie apart, says so, and keeps its own value.
# Which runs of the first lend: tests/work/test-past.c. How much that is: tests/forecast.

load common

FIRST=01936a5e-4f00-7c2a-9b1d-5d0c3a7e8f21
SECOND=01936a5e-4f00-7c2a-9b1d-00000000beef

plan() { # plan ID TITLE: a plan in this folder
    cat >probelauf.yaml <<YAML
probelauf: 1
study:
  id: $1
  title: $2
  paper: {title: A paper, version: v1}
environments:
  - {id: here, kind: own, gpus: 0}
blocks:
  - id: compare
    kind: compare
    extent: full
    recurrence: one-off
    matrix: {size: {values: [1, 2, 3, 4], state: chosen}}
    runs: 4
    command: work {size}
YAML
    probelauf block list --json >blocks.json
}

# runs NAME EPOCH PYTHON: runs with the durations that the list of (size, seconds) names, taken in
runs() {
    python3 - "$@" <<'PY' >"$1.spec"
import json, sys
name, epoch, what = sys.argv[1:]
records = [{"run": f"{name}{n}", "at": 1000 * n, "block": "compare", "condition": {"size": size}, "wall": wall}
           for n, (size, wall) in enumerate(eval(what))]
print(json.dumps({"epoch": epoch, "records": records, "defaults":
                  {"command": ["work", "{size}"], "environment": "here", "expect": True, "purpose": "work"}}))
PY
    python3 "$SOURCE/tests/cli/study-journals.py" "$1" --blocks blocks.json "$1.spec" >"$1.ids" || return
    probelauf import journal -q "$1"/*.journal
}

# Three conditions, four runs each, that lie within 1 % of each other and are not slower at first.
first_study() { # first_study [SECONDS]: of its smallest
    mkdir -p "$BATS_TEST_TMPDIR/first" && cd "$BATS_TEST_TMPDIR/first" || return
    plan "$FIRST" "the first"
    runs first 2026-10-01T08:00:00Z \
        '[(s, '"${1-1000}"' * s * f) for s in (1, 2, 3) for f in (1.0, 1.004, 0.996, 1.002)]'
}

second_study() { # one run of each condition, of other durations
    mkdir -p "$BATS_TEST_TMPDIR/second" && cd "$BATS_TEST_TMPDIR/second" || return
    plan "$SECOND" "the second"
    runs second 2026-11-01T08:00:00Z '[(1, 7.0), (2, 11.0), (3, 40.0)]'
}

# flat: the output of the last run without line ends
flat() {
    output=$(tr -s ' \n' ' ' <<<"$output")
}

# part EXPR: EXPR over the condition size=1 of the last estimate, called `t`
part() {
    json "(lambda t: $1)(next(i for i in d['blocks'][0]['components']['runs']['items'] if i['name'] == 'size=1')['time'])"
}

@test "one run and nothing to borrow: no interval" {
    second_study
    run probelauf estimate --json
    [ "$status" -eq 0 ]
    valid_schema estimate
    json 'd["borrowed_from"] == []'
    json '"p95" not in d["total"]["computing"]'
    part 't["value"] == 21 and "p95" not in t and t["basis"] == "own-runs"'
    run probelauf estimate -v
    flat
    has "size=1: 3 × [e] 7 s = [e] 21 s (from 1 run; one run is no promise: there is no interval; repeat once to get one)"
}

@test "one run and another study in the ledger: its spread, by name, and the own value" {
    first_study
    second_study
    run probelauf estimate --json
    [ "$status" -eq 0 ]
    valid_schema estimate
    json '[b["condition"] for b in d["borrowed_from"]] == ["size=3", "size=2", "size=1"]'
    json 'all((b["block"], b["environment"], b["runs"]) == ("compare", "here", 4) for b in d["borrowed_from"])'
    json '{b["study"] for b in d["borrowed_from"]} == {"'$FIRST'"}'
    part '"p95" in t and t["basis"] == "borrowed-spread" and t["n"] == 1'
    part 'abs(t["value"] / 21 - 1) < 0.01'
    part '0.9 < t["p05"] / 21 < 1 < t["p95"] / 21 < 1.2'
    json '"p95" in d["total"]["computing"]'
    json 'abs(d["total"]["computing"]["value"] / (3 * 58) - 1) < 0.01'
    run probelauf estimate -v
    flat
    has "borrowed from study '3a7e8f21': size=3, study '3a7e8f21': size=2, study '3a7e8f21': size=1; repeat once"
}

@test "however long the others take: nothing of the value is borrowed" {
    for seconds in 2 900000; do
        export HOME=$BATS_TEST_TMPDIR/home-$seconds XDG_DATA_HOME=$BATS_TEST_TMPDIR/home-$seconds/data \
            XDG_STATE_HOME=$BATS_TEST_TMPDIR/home-$seconds/state
        first_study "$seconds"
        second_study
        run probelauf estimate --json
        json 'len(d["borrowed_from"]) == 3'
        part '"p95" in t and abs(t["value"] / 21 - 1) < 0.01'
        rm -rf first second "$BATS_TEST_TMPDIR/first" "$BATS_TEST_TMPDIR/second"
        cd "$BATS_TEST_TMPDIR"
    done
}

@test "a run of the other study that is declared invalid lends nothing" {
    first_study
    for n in 1 2 3; do
        probelauf annotate "$(awk -v n="first$n" '$1 == n {print $2}' first.ids)" --invalid --why "another job" -q
    done
    second_study
    run probelauf estimate --json
    json '[b["condition"] for b in d["borrowed_from"]] == ["size=3", "size=2"]'
}

@test "where conditions of its own lend, too, another study is named beside them" {
    first_study
    second_study
    runs more 2026-11-02T08:00:00Z '[(2, 11.1), (3, 40.2), (4, 50.0), (4, 50.1)]'
    run probelauf estimate -v
    flat
    has "borrowed from size=2, size=3, study '3a7e8f21': size=3 and 3 others"
}

@test "the kept title names the other study" {
    first_study
    probelauf estimate --freeze before -q
    second_study
    run probelauf estimate -v
    has "study 'the first': size=3"
}
