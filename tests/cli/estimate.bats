#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# estimate: what the command line adds, with a plan and with --repeat N; the statistics are tested in tests/forecast
# and tests/rules.

load study-common

measure() {
    local n
    for n in $(seq "$1"); do
        probelauf run -q --purpose trial -- sleep 0.05
    done
}

@test "without a plan: the next step is said" {
    run probelauf estimate
    fails 1 plan-missing
    has "probelauf init"
    has "--repeat N"
    run probelauf estimate @1
    fails 2 usage-needs
    has "--repeat N"
    run probelauf estimate --plan no.yaml
    fails 1 plan-unreadable
}

@test "options that do not go together" {
    run probelauf estimate --repeat 2 --set compare.runs=1
    fails 2 usage-conflict
    run probelauf estimate --repeat 2 --env here
    fails 2 usage-conflict
    run probelauf estimate --repeat 2 --freeze a
    fails 2 usage-conflict
    run probelauf estimate --compare a --freeze b
    fails 2 usage-conflict
    run probelauf estimate --studies --set compare.runs=1
    fails 2 usage-conflict
    run probelauf estimate --studies @1
    fails 2 usage-needs
}

@test "a broken plan: every complaint on its own line, nothing else" {
    make_study
    sed -i 's/kind: compare/kind: comparison/; s/runs: 2/runs: two/' probelauf.yaml
    run probelauf estimate
    [ "$status" -eq 1 ]
    [ "${#lines[@]}" -eq 2 ]
    [[ "${lines[0]}" == "probelauf: error["*"]: probelauf.yaml:21:"* ]]
    [[ "${lines[1]}" == "probelauf: error["*"]: probelauf.yaml:27:"* ]]
    mkdir below
    cd below
    run probelauf estimate
    [ "${#lines[@]}" -eq 2 ]
    [[ "${lines[0]}" == *"$PWD"* ]] || [[ "${lines[0]}" == *"/study/probelauf.yaml:21:"* ]]
}

@test "a plan without any run: everything is open and named, no amount" {
    make_study
    run probelauf estimate
    [ "$status" -eq 0 ]
    run probelauf estimate --json
    [ "$status" -eq 0 ]
    [ "$(json 'd["schema"]')" = probelauf.estimate/1 ]
    [ "$(json 'd["total"]["reserved"]["state"]')" = open ]
    [ "$(json 'd["amount"]["state"]')" = open ]
    [ "$(json 'd["amount"]["reason"]')" = no-offer ]
    [ "$(json 'len(d["open"]) > 0')" = true ]
    valid_schema estimate
    local first
    first=$(json '[d[k] for k in d if k not in ("snapshot", "study")]')
    LC_ALL=de_DE.UTF-8 run probelauf estimate --json
    [ "$(json '[d[k] for k in d if k not in ("snapshot", "study")]')" = "$first" ]
}

@test "an environment that is not in the plan" {
    make_study
    run probelauf estimate --env ther
    fails 1 environment-unknown
    has "did you mean 'there'"
    PROBELAUF_ENV=nowhere run probelauf estimate
    fails 1 environment-unknown
    PROBELAUF_ENV=there run probelauf estimate --json
    [ "$(json 'd["study"]["environment"]')" = there ]
    PROBELAUF_ENV=there run probelauf estimate --json --env here
    [ "$(json 'd["study"]["environment"]')" = here ]
}

@test "--set: unknown keys and values" {
    make_study
    run probelauf estimate --set compare.runz=5
    fails 2 estimate-setting
    has "did you mean 'runs'"
    run probelauf estimate --set compar.runs=5
    fails 2 estimate-setting
    has "compare"
    has "keys are BLOCK.runs, BLOCK.run-time"
    run probelauf estimate --set task.look=1h
    fails 2 estimate-setting
    has "the time of a task cannot be tried"
    run probelauf estimate --set compare.runs=many
    fails 2 estimate-setting
    lacks "keys are"
    run probelauf estimate --set compare.data=many
    fails 2 estimate-setting
    lacks "keys are"
    run probelauf help estimate
    for key in runs run-time failure-rate lost-time retry-max lanes COMPONENT; do
        [[ "$output" == *$'\n'"  BLOCK.$key: "* ]]
    done
    [[ "$output" == *$'\n'"  step.NAME: "* ]]
    run probelauf estimate --set compare.runs
    fails 2 usage-bad-value
    run probelauf estimate --set =5
    fails 2 usage-bad-value
}

@test "--set is marked as assumed and changes nothing that is kept" {
    make_study
    run probelauf estimate --set compare.run-time=10s --json
    [ "$status" -eq 0 ]
    valid_schema estimate-compare
    [ "$(json 'd["schema"]')" = probelauf.estimate-compare/1 ]
    [ "$(json 'd["reasons"] == [{"what": "setting", "key": "compare.run-time", "before": None, "after": "10s"}]')" = true ]
    [ "$(json '[c["figure"] for c in d["changed"] if c["section"] == "component" and c["block"] == "compare"]')" = '["runs"]' ]
    [ "$(json 'all(c["why"] == ["compare.run-time"] for c in d["changed"])')" = true ]
    printf '%s' "$output" >set.json
    output=$(python -c 'import json; print(json.dumps(json.load(open("set.json"))["estimate"]))')
    valid_schema estimate
    [ "$(json 'd["assumed"][0]["key"] + d["assumed"][0]["source"]')" = compare.run-time--set ]
    [ "$(json 'next(b for b in d["blocks"] if b["id"] == "compare")["components"]["runs"]["time"]["state"]')" = assumed ]
    [ "$(json 'next(b for b in d["blocks"] if b["id"] == "compare")["components"]["runs"]["time"]["value"]')" = 40.0 ]
    [ "$(json 'next(b for b in d["blocks"] if b["id"] == "validate")["components"]["runs"]["time"]["state"]')" = open ]
    rm set.json
    run probelauf estimate --json
    [ "$(json 'd["assumed"]')" = '[]' ]
    git diff --quiet
    run probelauf estimate --set compare.run-time=10s
    [ "$status" -eq 0 ]
    has compare
}

# all sources of the figures in $output exist: runs of the ledger, lines of the plan, --set
sources_exist() {
    probelauf log --json --limit 0 2>/dev/null >log.json
    python -c 'import json, sys
runs = {r["run"] for r in json.load(open("log.json"))["runs"]}
lines = len(open("probelauf.yaml").read().splitlines())
found = set()
def walk(v):
    if isinstance(v, dict):
        found.update(v.get("sources", []))
        for x in v.values(): walk(x)
    elif isinstance(v, list):
        for x in v: walk(x)
walk(json.load(sys.stdin))
for s in found:
    name, _, line = s.partition(":")
    assert s in runs or s == "--set" or (name == "probelauf.yaml" and 0 < int(line) <= lines), s
assert found & runs, "no run among them"' <<<"$output"
    rm log.json
}

@test "from runs: every figure leads to runs and plan lines that exist; --set changes what depends on it alone" {
    make_study
    study_run 1
    study_run 1
    study_run 2
    run --separate-stderr probelauf estimate --json
    [ "$status" -eq 0 ]
    valid_schema estimate
    sources_exist
    printf '%s' "$output" >before.json
    [ "$(json 'next(b for b in d["blocks"] if b["id"] == "compare")["remaining"]')" = 1 ]
    [ "$(json 'next(b for b in d["blocks"] if b["id"] == "compare")["components"]["runs"]["time"]["value"] > 0')" = true ]
    [ "$(json 'd["total"]["reserved"].get("bound")')" = at-least ]
    # quantiles have a simulation error where there is an interval, and nowhere else
    python -c 'import json
d = json.load(open("before.json"))
for name, error in d["simulation_error"].items():
    figure = d["total"][name]
    assert ("p05" in figure.get("interval", figure)) == (error is not None), (name, figure, error)'
    run --separate-stderr probelauf estimate --set validate.run-time=10s --json
    sources_exist
    valid_schema estimate-compare
    printf '%s' "$output" >after.json
    python -c 'import json
a, b = json.load(open("before.json")), json.load(open("after.json"))["estimate"]
def by_id(d): return {x["id"]: x for x in d["blocks"]}
assert by_id(a)["compare"] == by_id(b)["compare"]
x, y = by_id(a)["validate"], by_id(b)["validate"]
changed = {c for c in x["components"] if x["components"][c] != y["components"][c]}
assert changed == {"runs"}, changed
assert a["total"]["reserved"] != b["total"]["reserved"]'
    run --separate-stderr probelauf estimate --set validate.run-time=10s
    [[ "$output" == *validate* ]]
    [[ "$output" != *"compare, runs"* ]]
}

@test "a --set that changes nothing says why" {
    make_study
    study_run 1
    run --separate-stderr probelauf estimate --set compare.retry-max=3
    [ "$status" -eq 0 ]
    has "0 figures changed"
    has "compare.retry-max = [a] 3 has no effect: retries are open"
    run --separate-stderr probelauf estimate --set compare.retry-max=3 --json
    [ "$(json 'd["estimate"]["without_effect"][0]["key"]')" = compare.retry-max ]
    run --separate-stderr probelauf estimate --set compare.run-time=10s
    lacks "no effect"
}

@test "a run in one environment is no base of an estimate for another" {
    make_study
    study_run 1 here
    run --separate-stderr probelauf estimate --env there --json
    [ "$(json 'next(b for b in d["blocks"] if b["id"] == "compare")["components"]["runs"]["time"]["state"]')" = open ]
    run --separate-stderr probelauf estimate --env here --json
    [ "$(json 'next(b for b in d["blocks"] if b["id"] == "compare")["components"]["runs"]["time"]["state"] != "open"')" = true ]
}

@test "what was spent here and elsewhere is told apart, where there are several environments" {
    make_study
    study_run 1 here
    run --separate-stderr probelauf estimate --env there
    [[ "$output" == *"spent so far "*"nothing yet: no run"*"spent elsewhere "*"[m]"* ]]
    run --separate-stderr probelauf estimate --env there --json
    [ "$(json 'd["spent"]["value"] == 0 and "n" not in d["spent"] and d["spent_elsewhere"]["n"] == 1')" = true ]
    sed -i '/id: there/d' probelauf.yaml
    run --separate-stderr probelauf estimate
    [[ "$output" == *"spent so far "* ]]
    lacks "spent elsewhere"
}

@test "kept estimates: listed, outdated, compared" {
    make_study
    run probelauf estimate --freeze first
    [ "$status" -eq 0 ]
    has "kept as 'first'"
    run probelauf estimate --freeze first
    fails 1 estimate-name
    run probelauf estimate --freeze 'a b'
    fails 2 estimate-name
    run probelauf estimate --compare frist
    fails 1 estimate-unknown
    has "did you mean 'first'"
    run probelauf estimate --compare first
    [ "$status" -eq 0 ]
    run probelauf estimate
    has first
    lacks "the plan was edited"
    sed -i 's/runs: 2/runs: 3/' probelauf.yaml
    run probelauf estimate
    has "the plan was edited"
    run probelauf estimate --compare first --json
    [ "$status" -eq 0 ]
    [ "$(json 'd["schema"]')" = probelauf.estimate-compare/1 ]
    valid_schema estimate-compare
}

@test "a kept estimate: what other runs have for an environment does not outdate it" {
    make_study
    study_run 1
    probelauf estimate -q --freeze first >/dev/null
    # no interpreter: another fingerprint
    env -u VIRTUAL_ENV PATH=/usr/bin:/bin "$PROBELAUF" run -q --env here --step fetch -- cp README.md copy
    until_true nothing_waits
    run probelauf estimate
    has first
    lacks OUTDATED
    # a package that the plan does not compare: the run counts, and its environment is not what it was
    mkdir venv/lib/python3.11/site-packages/other-1.0.dist-info
    printf 'Metadata-Version: 2.1\nName: other\nVersion: 1.0\n' \
        >venv/lib/python3.11/site-packages/other-1.0.dist-info/METADATA
    study_run 1
    run probelauf estimate
    output=$(tr -s ' \n' ' ' <<<"$output")
    has "the environment of the newest run that counts changed: its Python packages differ"
}

@test "a kept estimate and runs that came and went: which, and why" {
    make_study
    study_run 1
    study_run 2
    local bad kept
    bad=$(probelauf log --json 2>/dev/null | python -c 'import json, sys; print(json.load(sys.stdin)["runs"][0]["run"])')
    probelauf estimate -q --freeze first >/dev/null
    probelauf annotate "$bad" --invalid --why 'another job ran beside it' 2>/dev/null
    study_run 2
    kept=$(probelauf log --json 2>/dev/null | python -c 'import json, sys; print(json.load(sys.stdin)["runs"][0]["run"])')
    run --separate-stderr probelauf estimate --compare first --json
    valid_schema estimate-compare
    [ "$(json '[(r["run"], r["why"]) for r in d["runs"]["gone"]]')" = "[[\"$bad\", \"it was declared invalid\"]]" ]
    [ "$(json '[(r["run"], r["why"]) for r in d["runs"]["added"]]')" = "[[\"$kept\", null]]" ]
    [ "$(json 'next((c["gone"], c["added"]) for c in d["changed"] if c["block"] == "compare" and c["figure"] == "runs")')" = "[[\"$bad\"], [\"$kept\"]]" ]
    run --separate-stderr probelauf estimate --compare first
    output=$(tr -s ' \n' ' ' <<<"$output")
    has "no figure rests any more on run ${bad: -8} (it was declared invalid)"
    has "figures rest now also on run ${kept: -8}"
    has "without run ${bad: -8}; with run ${kept: -8}"
    lacks "rests on other"
}

@test "without a kept estimate nothing can be compared, and the next step is said" {
    make_study
    run probelauf estimate --compare first
    fails 1 estimate-unknown
    has "estimate --freeze first"
}

# Runs that cannot be read are not runs that were never made.
@test "a damaged ledger: nothing is said of the study" {
    make_study
    study_run 1
    printf 'no database\n' | dd of="$XDG_DATA_HOME/probelauf/ledger.db" conv=notrunc status=none
    local command
    for command in "block list" estimate "estimate --freeze first" report "estimate --studies" "report --plan none"; do
        # shellcheck disable=SC2086 # a command and its words
        run --separate-stderr probelauf $command
        [ "$status" -eq 1 ]
        [ -z "$output" ]
        [[ "$stderr" == *"error[ledger-damaged]"* ]]
    done
    run probelauf log # says what it still sees
    [ "$status" -eq 0 ]
}

@test "no place for a ledger: estimates are made from the journals, a kept one waits" {
    make_study
    mkdir -p "$XDG_DATA_HOME"
    rm -rf "$XDG_DATA_HOME/probelauf"
    ln -s /proc/nowhere "$XDG_DATA_HOME/probelauf"
    run --separate-stderr probelauf estimate --json
    [ "$status" -eq 0 ]
    [ "$(json 'd["schema"]')" = probelauf.estimate/1 ]
    run probelauf estimate -q --freeze second
    [ "$status" -eq 0 ]
    run --separate-stderr probelauf estimate
    [[ "$output" == *second* ]]
}

@test "a ledger that can only be read: estimates are made from it" {
    if [ "$(id -u)" -eq 0 ]; then
        skip "root may write everywhere"
    fi
    make_study
    study_run 1
    chmod a-w "$XDG_DATA_HOME/probelauf" "$XDG_DATA_HOME/probelauf/ledger.db"
    run --separate-stderr probelauf estimate --json
    chmod u+w "$XDG_DATA_HOME/probelauf" "$XDG_DATA_HOME/probelauf/ledger.db"
    [ "$status" -eq 0 ]
    sources_exist
}

@test "fifty at once" {
    make_study
    local pids=() pid n failed=0
    for n in $(seq 50); do
        "$PROBELAUF" estimate --json >"out.$n" 2>"err.$n" 3>&- &
        pids+=($!)
    done
    for pid in "${pids[@]}"; do
        wait "$pid" || failed=$((failed + 1))
    done
    [ "$failed" -eq 0 ]
    for n in $(seq 50); do
        python -c 'import json, sys; assert json.load(open(sys.argv[1]))["schema"] == "probelauf.estimate/1"' "out.$n"
        [ ! -s "err.$n" ]
    done
}

@test "all studies of a ledger: sums by extent and recurrence, outdated ones marked" {
    run probelauf estimate --studies
    [ "$status" -eq 0 ]
    has "estimate --freeze NAME"
    make_study
    probelauf estimate -q --set compare.run-time=10s --set '*.runs=1' --freeze first >/dev/null
    cd ..
    cp -r study other
    cd other
    sed -i "s/$STUDY_ID/01936a5e-4f00-7c2a-9b1d-5d0c3a7e8f22/; s/title: sizes/title: others/" probelauf.yaml
    probelauf estimate -q --set compare.run-time=5s --freeze first >/dev/null
    run probelauf estimate --studies --json
    [ "$status" -eq 0 ]
    valid_schema estimate-studies
    [ "$(json 'sorted(s["title"] + " " + s["state"] for s in d["studies"])')" = '["others current", "sizes not-checked"]' ]
    [ "$(json 'next(e for e in d["by_extent"] if e["name"] == "full")["figures"]["computing"]["value"]')" = 40.0 ]
    [ "$(json 'next(e for e in d["by_extent"] if e["name"] == "full")["studies"]')" = 2 ]
    [ "$(json 'next(e for e in d["by_extent"] if e["name"] == "full")["figures"]["computing"]["state"]')" = assumed ]
    [ "$(json 'next(e for e in d["by_extent"] if e["name"] == "validation")["figures"]["computing"]["state"]')" = open ]
    [ "$(json 'd["not_current"]')" = 1 ]
    printf '# edited\n' >>probelauf.yaml
    run probelauf estimate --studies
    has "OUTDATED: the plan was edited"
    has "not checked"
    local open=${output#*"Open, and in no sum"} # block, component, reason: no line is empty
    [[ "$open" == *"
    compare: preparation: not seen"* ]]
    [[ "${open%%Sums of*}" != *$'\n    \n'* ]]
    run probelauf estimate --studies --lang de
    [[ "$output" == *"
    compare: Vorbereitung: "* ]]
    lacks "one-off"
    lacks "not seen"
    lacks "validation"
}

@test "all studies of a ledger: a broken plan here keeps none of them back" {
    make_study
    probelauf estimate -q --set compare.run-time=10s --set '*.runs=1' --freeze first >/dev/null
    sed -i 's/kind: compare/kind: comparison/' probelauf.yaml
    run --separate-stderr probelauf estimate --studies --json
    [ "$status" -eq 0 ]
    [ "$(json 'len(d["studies"])')" = 1 ]
    # shellcheck disable=SC2154 # bats sets stderr
    [[ "$stderr" == "probelauf: warning: "*"not checked: "*"probelauf.yaml:"*"probelauf check"* ]]
    run probelauf estimate --studies --plan no.yaml
    fails 1 plan-unreadable
}

@test "numbers of repeats" {
    run probelauf estimate --repeat 0
    fails 2 usage-bad-value
    run probelauf estimate --repeat x
    fails 2 usage-bad-value
    run probelauf estimate --repeat
    fails 2 usage-missing-value
}

@test "without any run there is nothing to estimate from" {
    run probelauf estimate --repeat 3
    [ "$status" -eq 1 ]
    [ "${#lines[@]}" -eq 1 ]
}

@test "three runs: a total with an interval, no amount" {
    measure 3
    run probelauf estimate --repeat 10 --json
    [ "$status" -eq 0 ]
    [ "$(json 'd["schema"]')" = probelauf.estimate-repeat/1 ]
    [ "$(json 'd["total"]["state"]')" = estimated ]
    [ "$(json 'd["total"]["p05"] <= d["total"]["value"] <= d["total"]["p95"]')" = true ]
    [ "$(json 'd["amount"]["state"]')" = open ]
    valid_schema estimate-repeat
    local first=$output
    run probelauf estimate --repeat 10 --json
    [ "$output" = "$first" ]
    run probelauf estimate --repeat 10
    [ "$status" -eq 0 ]
}

@test "one run: its value and no interval" {
    measure 1
    run probelauf estimate --repeat 10 --json
    [ "$status" -eq 0 ]
    [ "$(json '"p05" in d["total"]')" = false ]
    valid_schema estimate-repeat
}

@test "named runs alone count; others are not looked at" {
    measure 3
    run probelauf estimate --repeat 2 @1 @2 --json
    [ "$status" -eq 0 ]
    [ "$(json 'len(d["used"])')" = 2 ]
    run probelauf estimate --repeat 2 @9
    fails 1 run-not-found
}

@test "the seed is printed and can be given" {
    measure 3
    run probelauf estimate --repeat 10 --json
    local seed
    seed=$(json 'd["seed"]')
    local first=$output
    run probelauf estimate --repeat 10 --json --seed "$seed"
    [ "$output" = "$first" ]
    run probelauf estimate --repeat 10 --json --seed 1
    [ "$(json 'd["seed"]')" = 1 ]
    run probelauf estimate --repeat 10 --seed x
    fails 2 usage-bad-value
}
