#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# review: a study whose runs are made as journals (study-journals.py) and taken in; what was planned, what happened,
# why, and what follows. Each cause and each "cannot tell" is tested in tests/rules/test-review*.c.
# REVIEW_GOLDEN_WRITE=1 (not PROBELAUF_…: those are cleared) writes the golden files anew.

load common

plan() {
    cat >probelauf.yaml <<'YAML'
probelauf: 1
study:
  id: 01936a5e-4f00-7c2a-9b1d-5d0c3a7e8f21
  title: policies
  paper: {title: A paper, version: v1}
environments:
  - {id: rented, kind: rented, gpus: 0}
  - {id: own, kind: own, gpus: 0}
steps:
  - {name: install, component: prepare, run: pip install ., needs_machine: yes, repeats: per-rental}
blocks:
  - id: compare
    kind: compare
    extent: full
    recurrence: one-off
    fixed: {model: small}
    matrix:
      policy: {values: [full, evict], state: chosen}
    runs: 3
    command: work {model} {policy}
    steps: [install]
  - id: confirm
    kind: verify
    extent: full
    recurrence: one-off
    fixed: {model: small}
    matrix:
      policy: {values: [full, evict], state: chosen}
    runs: 5
    command: work {model} {policy}
    steps: [install]
  - id: scale
    kind: scale
    extent: full
    recurrence: one-off
    fixed: {model: large}
    matrix:
      policy: {values: [full], state: chosen}
    runs: 2
    command: work {model} {policy}
YAML
}

# journals NAME < SPEC: made and taken in
journals() {
    [ -e blocks.json ] || probelauf block list --json >blocks.json || return
    python3 "$SOURCE/tests/cli/study-journals.py" "$1" --blocks blocks.json >/dev/null || return
    probelauf import journal -q "$1"/*.journal
}

DEFAULTS='"block": "compare", "session": "s1", "command": ["work", "{model}", "{policy}"], "environment": "rented",
  "expect": true, "host_peak": 1073741824, "cpu": 20, "results": {"acc": 0.5},
  "io": {"read": 1000, "written": 5, "read_chars": 10, "written_chars": 10}'
INSTALL='"block": null, "condition": {}, "command": ["pip", "install", "."], "step": "install", "phase": "setup"'

# A trial of both conditions, and the estimate kept an hour before the work.
trial() {
    plan
    journals trial <<JSON || return
{"defaults": {$DEFAULTS}, "records": [
 {"run": "install", "at": 0, $INSTALL, "wall": 60},
 {"run": "t1", "at": 100, "condition": {"policy": "full"}, "phases": [["load", 10], ["compute", 40], ["write", 2]]},
 {"run": "t2", "at": 200, "condition": {"policy": "evict"}, "phases": [["load", 10], ["compute", 20], ["write", 2]]}]}
JSON
    probelauf estimate --json >estimate.json || return
    journals kept <<JSON
{"epoch": "2026-11-02T07:00:00Z", "records": [{"estimate": "first", "file": "estimate.json"}]}
JSON
}

# since [LOAD [COMPUTE [CPU]]]: four runs of the block, one of which failed first; loading and computing take longer by so
# much, and each uses the processors for CPU seconds
since() {
    journals since <<JSON
{"epoch": "2026-11-02T08:00:00Z", "defaults": {$DEFAULTS, "purpose": "work", "cpu": ${3-20}}, "records": [
 {"session": "s1", "at": 0, "until": 1000, "environment": "rented", "notes": [["approval", 355, 760, "the budget"]]},
 {"run": "install2", "at": 10, $INSTALL, "wall": 62},
 {"run": "a1", "at": 100, "condition": {"policy": "full"}, "phases": [["load", $((10 + ${1-20}))], ["compute", $((40 + ${2-0}))], ["write", 2]]},
 {"run": "a2", "at": 200, "condition": {"policy": "full"}, "phases": [["load", $((11 + ${1-20}))], ["compute", $((40 + ${2-0}))], ["write", 2]]},
 {"run": "f1", "at": 290, "condition": {"policy": "evict"}, "phases": [["load", 5]], "exit": 1, "expect": false,
  "incidents": [["gpu_error", "CUDA error: unspecified launch failure"]]},
 {"run": "b1", "at": 300, "condition": {"policy": "evict"}, "phases": [["load", $((10 + ${1-20}))], ["compute", $((20 + ${2-0}))], ["write", 2]]},
 {"run": "b2", "at": 800, "condition": {"policy": "evict"}, "phases": [["load", $((9 + ${1-20}))], ["compute", $((20 + ${2-0}))], ["write", 2]]}]}
JSON
}

# line PART KEY: of the block compare
line() {
    json "next(l for b in d['blocks'] if b['id'] == 'compare' for l in b['lines'] if l['part'] == '$1')$2"
}

golden() {
    local file=$SOURCE/tests/cli/golden/$1
    if [ -n "${REVIEW_GOLDEN_WRITE-}" ]; then
        printf '%s\n' "$output" >"$file"
    fi
    diff -u "$file" <(printf '%s\n' "$output")
}

@test "a deviation in loading only: named, and the next block is planned anew in loading only" {
    trial
    since
    run probelauf review --json
    [ "$status" -eq 0 ]
    valid_schema review
    [ "$(json 'd["blocks"][0]["estimate"]')" = first ]
    [ "$(json 'd["blocks"][0]["finished"]')" = true ]
    [ "$(line runs '["cause"]')" = loading ]
    [ "$(line runs/load '["planned"]["value"]')" = 40.0 ]
    [ "$(line runs/load '["actual"]["value"]')" = 120.0 ]
    [ "$(line runs/load '["cause"]')" = loading ]
    [ "$(line runs/compute '["cause"]')" = none ]
    [ "$(line retries '["cause"]')" = failures ]
    [ "$(line retries/count '["actual"]["value"]')" = 1 ]
    [ "$(line idle '["cause"]')" = waiting ]
    [ "$(json '[[n["block"], n["part"], n["changed"]] for n in d["blocks"][0]["next"] if n["changed"]]')" = '[["confirm", "load", true]]' ]
    # ten runs still to do: 10 s each before, 30 s each now; nothing else is touched
    [ "$(json '[[n["before"]["value"], n["after"]["value"]] for n in d["blocks"][0]["next"] if n["part"] == "load"]')" = '[[100.0, 300.0]]' ]
    [ "$(json '[n["before"] == n["after"] for n in d["blocks"][0]["next"] if not n["changed"]].count(False)')" = 0 ]
    [ "$(json '[n["part"] for n in d["blocks"][0]["next"] if n["block"] == "scale"]')" = '["runs"]' ]
    [ "$(json 'd["blocks"][0]["repeated_count"]')" = 1 ]
    [ "$(json 'd["blocks"][0]["repeated_preparation"]["value"]')" = 62.0 ]
    output=$(python3 -c 'import json, sys; d = json.load(sys.stdin); del d["study"]; print(json.dumps(d, indent=1, ensure_ascii=False))' <<<"$output")
    golden review.json
    run probelauf review
    [ "$status" -eq 0 ]
    golden review.txt
}

@test "computing is named only where data exclude the rest" {
    trial
    since 0 20 30 # the processors are used for the same share of the time: nobody waited
    run probelauf review compare --json
    [ "$status" -eq 0 ]
    [ "$(line runs/compute '["cause"]')" = computing ]
    [ "$(line runs '["cause"]')" = computing ]
    [ "$(json '[[n["part"], n["after"]["value"]] for n in d["blocks"][0]["next"] if n["changed"]]')" = '[["compute", 500.0]]' ]
}

@test "without what would exclude the rest it is asked, and can be answered" {
    trial
    since 0 20 20 # they are used for less of it, and nobody knows what was waited for
    run probelauf review compare --json
    [ "$(line runs/compute '["cause"]')" = open ]
    [ "$(line runs/compute '["question"] is not None')" = true ]
    [ "$(json '[n["part"] for n in d["blocks"][0]["next"] if n["changed"]]')" = '[]' ]
    run probelauf review compare
    has "probelauf review compare --part runs/compute --cause CAUSE --why TEXT"
    run probelauf review compare --part runs/compute --cause other-input --why "longer prompts"
    [ "$status" -eq 0 ]
    run probelauf review compare --json
    valid_schema review
    [ "$(line runs/compute '["cause"]')" = other-input ]
    [ "$(line runs/compute '["question"]')" = null ]
    [ "$(line runs/compute '["answer"]["why"]')" = "longer prompts" ]
    probelauf review -q compare --part runs/compute --cause storage --why "a slow disk, says the provider"
    run probelauf review compare --json
    [ "$(line runs/compute '["cause"]')" = storage ] # of two answers the last holds
    [ "$(json '[n["part"] for n in d["blocks"][0]["next"] if n["changed"]]')" = '["compute"]' ]
}

@test "answers that are none" {
    trial
    run probelauf review --part runs --cause loading --why x
    fails 2 usage-needs
    run probelauf review compare --part runs --cause loading
    fails 2 usage-needs
    run probelauf review compare --part run --cause loading --why x
    fails 2 review-part
    has "did you mean 'runs'"
    run probelauf review compare --part runs --cause load --why x
    fails 2 review-cause
    run probelauf review compare --part runs --cause open --why x
    fails 2 review-cause
    run probelauf review compare --part runs --cause loading --why " "
    fails 2 review-why
    run probelauf review compares
    fails 1 block-unknown
    has "did you mean 'compare'"
    run probelauf review --estimate fist
    fails 1 estimate-unknown
    has "did you mean 'first'"
    run probelauf review --format csv
    fails 2 usage-needs
}

@test "no plan, no kept estimate, no run since: each is said" {
    run probelauf review
    fails 1 plan-missing
    plan
    run probelauf review
    [ "$status" -eq 0 ]
    has "no estimate of it was kept"
    run probelauf review --json
    valid_schema review
    [ "$(json '[b["estimate"] for b in d["blocks"]]')" = '[null, null, null]' ]
    trial
    run probelauf review compare
    has "no run of it was made since 'first' was kept"
}

@test "a block that is not finished is reviewed as far as it is" {
    trial
    journals some <<JSON
{"epoch": "2026-11-02T08:00:00Z", "defaults": {$DEFAULTS, "purpose": "work"}, "records": [
 {"run": "a1", "at": 100, "condition": {"policy": "full"}, "phases": [["load", 30], ["compute", 40], ["write", 2]]}]}
JSON
    run probelauf review compare --json
    valid_schema review
    [ "$(json 'd["blocks"][0]["finished"]')" = false ]
    [ "$(json '[d["blocks"][0]["made"], d["blocks"][0]["planned"]]')" = '[1, 4]' ]
    [ "$(line runs '["planned"]["value"]')" = 52.0 ] # of the one that was made
    [ "$(line runs '["actual"]["value"]')" = 72.0 ]
    [ "$(line runs '["cause"]')" = loading ]
    [ "$(json 'd["intervals"]["hit"] + d["intervals"]["missed"]')" = 0 ]
    run probelauf review compare
    has "not finished"
}

@test "environments never cross" {
    trial
    since
    run probelauf review --env own --json
    [ "$status" -eq 0 ]
    [ "$(json '[[b["estimate"], b["lines"]] for b in d["blocks"]]')" = '[[null, []], [null, []], [null, []]]' ]
}

@test "the experiment log: one line an attempt, every figure with its state" {
    trial
    since
    run probelauf review --log
    [ "$status" -eq 0 ]
    [ "${lines[0]:0:2}" = "# " ] # to read, unless csv is asked for
    run probelauf review --log --format csv
    [ "$status" -eq 0 ]
    printf '%s\n' "$output" >log.csv
    python3 - <<'PY'
import csv
rows = list(csv.DictReader(open("log.csv", newline="")))
assert len(rows) == 9, len(rows)
assert [r["status"] for r in rows].count("gpu_fault") == 1
last = rows[-1]
assert last["block"] == "compare" and last["condition"] == "policy=evict" and last["paper_version"] == "v1"
assert float(last["load_s"]) == 29 and last["load_s_state"] == "measured"
assert last["evaluate_s"] == "" and last["evaluate_s_state"] == "open not-separated"
assert float(last["planned_s"]) == 32 and last["planned_s_state"] == "estimated" and float(last["deviation_s"]) == 19
assert float(last["waited_before_s"]) == 448 and last["waited_for"] == "approval"
assert "confirm" in last["consequence"] and "load" in last["consequence"]
failed = next(r for r in rows if r["status"] == "gpu_fault")
assert "gpu_error" in failed["failure"] and failed["evidence"] == "none"
first = next(r for r in rows if r["condition"] == "policy=full")
assert float(first["first_success_s"]) == 52, first["first_success_s"]
for row in rows:
    for key, value in row.items():
        if key + "_state" in row:
            assert (value == "") == row[key + "_state"].startswith("open "), (key, value, row[key + "_state"])
PY
    run probelauf review --log --format csv --lang de
    printf '%s\n' "$output" | cmp - log.csv
    probelauf review --json >en.json
    probelauf review --json --lang ko | grep -v now_utc | cmp - <(grep -v now_utc en.json)
    run probelauf review --log --format markdown -o log.md compare
    [ "$status" -eq 0 ]
    [ "$(grep -c '^## ' log.md)" = 9 ]
    grep -q '^- \*\*loading:\*\* \[m\] 29 s$' log.md
    probelauf review --log --format markdown --lang de -o log.de.md compare
    grep -q '^- \*\*Zweck:\*\* ' log.de.md
    run ! grep -E '^- \*\*[^*]+:\*\* (yes|no|unchecked|not-checked|unknown|trial|work|measured|none)$' log.de.md
}

@test "the report has it, too" {
    trial
    run probelauf report
    lacks "Planned and actual"
    since
    run probelauf report
    [ "$status" -eq 0 ]
    has "## Planned and actual"
    has "runs: loading"
    run probelauf report --json
    valid_schema report
    [ "$(json 'd["review"]["blocks"][0]["estimate"]')" = first ]
}
