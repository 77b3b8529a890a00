#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC2154 # bats sets status, output and lines
# probelauf report: of a study, without a plan, in each form; what it may be written to.

load study-common

# A Python expression over `report --json`, which is too long for an argument, called `d`.
reported() {
    probelauf report --json "${@:2}" >"$BATS_TEST_TMPDIR/report.json"
    python -c 'import json, sys
d = json.load(open(sys.argv[1]))
v = eval(sys.argv[2])
print(v if isinstance(v, str) else json.dumps(v))' "$BATS_TEST_TMPDIR/report.json" "$1"
}

@test "a study's report has its sections in order, and validates" {
    make_study
    study_run 1
    study_run 2
    run -0 probelauf report
    [[ "${lines[0]}" == "# Report: sizes" ]]
    [[ "${lines[1]}" == "**Verdict for 'here': not yet (rule E5)."* ]]
    sections=$(grep '^## ' <<<"$output")
    [ "$sections" = "## In short
## What to do next
## Decision
## The study
## Results
## Blocks
## Estimate of what is still to do
## Memory
## Cost
## Facts
## Data protection
## Scope: what is done, and what is left out
## Environments
## Rules of the decision
## Runs
## How it was measured
## The marks" ]
    has "| compare | compare, full, one-off | chosen by the team | underway | 2/4 | 2 |"
    has "This estimate is provisional: no run counts for block 'validate' yet. Rent only"
    run -0 probelauf report --format json
    valid_schema report
    [ "$(reported 'd["study"]["title"]')" = sizes ]
    [ "$(reported '[r["level"] for r in d["runs"]]')" = '["measured", "measured"]' ]
    [ "$(reported '0 < len(d["notes"]) <= 5')" = true ]
    run -0 probelauf report --json
    valid_schema report
}

@test "every figure of the estimate leads to runs or lines of the plan that exist" {
    make_study
    study_run 1
    probelauf report --json >report.json
    python -c 'import json, re
d = json.load(open("report.json"))
runs = {r["run"] for r in d["runs"]}
count = len(open("probelauf.yaml").read().splitlines())
seen = 0
def walk(x):
    global seen
    if isinstance(x, dict):
        for s in x.get("sources", []) if "state" in x else []:
            seen += 1
            m = re.fullmatch(r"probelauf\.yaml:(\d+)", s)
            assert s in runs or (m and 1 <= int(m[1]) <= count), s
        for v in x.values(): walk(v)
    elif isinstance(x, list):
        for v in x: walk(v)
walk(d["estimate"])
assert seen > 5, seen'
}

@test "results stand per condition, from runs that count, in each form" {
    make_study
    sed -i '/^  - id: compare/,/^  - id: validate/ {
        s|command: .*|command: sh src/job {size}|
        s|^    expect: .*|    results: [{name: speed, unit: token/s, file: r.json, json: /x}, {name: never, unit: "1"}]|
    }' probelauf.yaml
    echo 'sed "s/.*/{\"x\": &}/" input.txt >r.json' >src/job
    echo 2.5 >input.txt
    commit job
    probelauf run -q --env here --block compare -c size=1
    probelauf run -q --env here --block compare -c size=1 --purpose function-test
    until_true nothing_waits
    run -0 probelauf report
    has "| compare | size=1 | speed | [m] 2.5 token/s | - | 1 |"
    has "All of it was obtained by json /x of r.json."
    has "- [?] compare: never: no run that counts reported it (size=1)"
    has "- [?] compare: speed, never: no run that counts yet (size=2)"
    run -0 probelauf report --format csv
    has "result,compare,size=1,speed,measured,2.5,token/s,exact,"
    has "result,compare,size=2,never,open,,1,"
    run -0 probelauf report --json
    valid_schema report
    [ "$(reported '[[r["name"], r["value"].get("n"), r["obtained"]] for r in d["results"]][0]')" = '["speed", 1, "json /x of r.json"]' ]
}

@test "a failure stands with cause, change and disposition" {
    make_study
    study_run 1
    run -3 probelauf run -q --env here --block compare -c size=1 --change "a | b" -- src/work sleep 0.01 exit 3
    until_true nothing_waits
    probelauf annotate @1 --disposition "fixed <b>"
    run -0 probelauf report
    has "### Attempts that did not end well"
    has "| a \\| b | fixed &lt;b> |"
}

@test "without a plan the newest runs are reported" {
    probelauf run -q -- "$CHILD" out one
    probelauf run -q -- "$CHILD" out two
    probelauf run -q -- "$CHILD" out three
    until_true nothing_waits
    run -0 probelauf report --limit 2
    has "# Report on the runs of a ledger"
    has "There is no verdict: no plan was found"
    has "## What a plan would add"
    lacks "## Estimate"
    lacks " out one"
    has " out two"
    has " out three"
    has "from the 2 newest of 3 runs of the ledger."
    run -0 probelauf report --json
    valid_schema report
    [ "$(reported '[d["study"], d["estimate"], len(d["runs"])]')" = '[null, null, 3]' ]
    [ "$(reported '[d["runs_in"]["count"], d["runs_in"]["total"]]' --limit 2)" = '[2, 3]' ]
    run -0 probelauf report --format csv
    [[ "${lines[0]}" == section,block,condition,name,state,value,unit,* ]]
    has "run,,,wall,measured,"
    has "document,,,runs_in,measured,3,count,"
}

@test "an empty ledger is reported, too" {
    run -0 probelauf report
    has "nothing was measured yet"
    has "None was recorded yet."
    run -0 probelauf report --json
    valid_schema report
    run -0 probelauf report --format csv
    [ "${#lines[@]}" -eq 3 ] # which runs are in: none of none
}

@test "the file appears whole or not at all" {
    make_study
    run -0 probelauf report -o out.md
    [ -z "$output" ]
    grep -q '^# Report: sizes' out.md
    run -1 probelauf report -o nowhere/out.md
    fails 1 output-write
    echo keep >kept.md
    echo "blocks: 1" >>probelauf.yaml
    run -1 probelauf report -o kept.md
    [ "$(cat kept.md)" = keep ]
    [ -z "$(find . -maxdepth 1 -name '*.md.*')" ]
}

@test "the plan is never written over, whatever is exported" {
    make_study
    cp probelauf.yaml before
    cp probelauf.yaml other.yaml
    ln -s other.yaml link
    run probelauf report -o probelauf.yaml
    fails 1 output-plan
    run probelauf report --plan none -o ./probelauf.yaml
    fails 1 output-plan
    run probelauf report --plan other.yaml -o link
    fails 1 output-plan
    run probelauf export journal --all -o probelauf.yaml
    fails 1 output-plan
    cmp probelauf.yaml before
    cmp other.yaml before
    probelauf report --plan other.yaml -o fine.md
    [ -s fine.md ]
}

@test "no byte for programs depends on the language or the locale" {
    make_study
    study_run 1
    undated() { sed -e 's/20[0-9-]*[T ][0-9:.]*Z\?//g' -e 's/^Made by.*//'; }
    for format in markdown json csv; do
        probelauf report --format "$format" | undated >plain
        for locale in de_DE.UTF-8 ko_KR.UTF-8 POSIX; do
            # the Markdown is for people: only a locale without a language of ours leaves it alone
            [ $format != markdown ] || [ $locale = POSIX ] || continue
            LC_ALL=$locale LANG=$locale probelauf report --format "$format" | undated >other
            cmp plain other
        done
    done
}

@test "what is offered is what there is" {
    run -2 probelauf report --format pdf
    fails 2 usage-bad-value
    run -2 probelauf report --json --format csv
    fails 2 usage-conflict
    run -2 probelauf report something
    [ "$status" -eq 2 ]
    run -1 probelauf report --env here
    fails 1 plan-missing
    make_study
    run -1 probelauf report --env elsewhere
    fails 1 environment-unknown
    run -0 probelauf report --env there --json
    valid_schema report
    [ "$(reported 'd["study"]["environment"]' --env there)" = there ]
}
