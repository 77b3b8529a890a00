#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# estimate --assume-class: shown apart, in no total, only for what has runs and shows no spread. The figures themselves:
# tests/forecast/test-classes.c, tests/rules/test-estimate-class.c.

load study-common

names() {
    probelauf estimate --assume-class list --json | python -c 'import json, sys
for c in json.load(sys.stdin)["classes"]: print(c["name"])'
}

@test "the classes are listed, with sources and licences, without a plan" {
    run probelauf estimate --assume-class list
    [ "$status" -eq 0 ]
    for name in training-steps training-goal inference command any; do
        has "$name"
    done
    has "llama_bench, Apache-2.0"
    has "open: only runs that ended well were published"
    lacks db_
    lacks wfinstances
    run probelauf estimate --assume-class list --json
    [ "$status" -eq 0 ]
    valid_schema classes
    [ "$(json 'sorted({s["licence"] for c in d["classes"] for s in c["sources"]})')" = '["Apache-2.0", "MIT", "Unlicense or MIT"]' ]
    [ "$(json '[c["name"] for c in d["classes"] if c["failures"] is None]')" = '["training-steps", "inference", "command"]' ]
}

@test "a class that does not exist: the names are said" {
    make_study
    run probelauf estimate --assume-class sorting
    fails 2 usage-bad-value
    for name in $(names); do
        has "$name"
    done
    run probelauf estimate --assume-class inferense
    fails 2 usage-bad-value
    has "did you mean 'inference'"
}

@test "what it does not go with: a kept estimate never has a class in it" {
    make_study
    for other in "--freeze a" "--compare a" "--set compare.runs=5" --studies "--repeat 3"; do
        # shellcheck disable=SC2086 # two words
        run probelauf estimate --assume-class inference $other
        fails 2 usage-conflict
    done
}

@test "without a run it changes nothing, and says so" {
    make_study
    run probelauf estimate --assume-class inference
    [ "$status" -eq 0 ]
    has "Assumed by the class 'inference'"
    has "The class changes nothing"
    run probelauf estimate --assume-class inference --json
    valid_schema estimate
    [ "$(json 'd["assumed_class"]["parts"]')" = '[]' ]
    [ "$(json 'd["assumed_class"]["total"]["computing"]["state"]')" = open ]
    run probelauf estimate --json
    valid_schema estimate
    [ "$(json 'd["assumed_class"] is None')" = true ]
}

@test "one run: an interval apart, and nothing else of the estimate differs" {
    make_study
    study_run 1
    run probelauf estimate --json
    local before
    before=$(json '[d[k] for k in sorted(d) if k not in ("snapshot", "study", "assumed_class")]')
    [[ "$before" != *assumed-class* ]]
    for name in $(names); do
        run probelauf estimate --assume-class "$name" --json
        [ "$status" -eq 0 ]
        valid_schema estimate
        [ "$(json '[d[k] for k in sorted(d) if k not in ("snapshot", "study", "assumed_class")]')" = "$before" ]
        [ "$(json 'd["assumed_class"]["class"]')" = "$name" ]
        [ "$(json '[(p["block"], p["component"], p["time"]["state"], p["time"]["basis"]) for p in d["assumed_class"]["parts"] if p["component"] == "runs"]')" = '[["compare", "runs", "assumed", "assumed-class"]]' ]
        [ "$(json 'd["assumed_class"]["total"]["computing"]["state"]')" = assumed ]
        [ "$(json 'd["assumed_class"]["total"]["computing"]["p05"] < d["assumed_class"]["total"]["computing"]["p95"]')" = true ]
        [ "$(json '"p05" in d["total"]["computing"]')" = false ]
    done
    # only records that keep failures say what failures would cost
    run probelauf estimate --assume-class inference --json
    [ "$(json '[p for p in d["assumed_class"]["parts"] if p["component"] == "retries"]')" = '[]' ]
    run probelauf estimate --assume-class training-goal --json
    [ "$(json 'len([p for p in d["assumed_class"]["parts"] if p["component"] == "retries"])')" = 1 ]
    run probelauf estimate --assume-class inference
    has "in no figure above"
    has "compare, runs, size=1: [a]"
    has "llama_bench, Apache-2.0"
}

@test "a study that shows a spread needs no class" {
    make_study
    study_run 1
    study_run 2
    study_run 2
    run probelauf estimate --assume-class any --json
    [ "$(json '[p for p in d["assumed_class"]["parts"] if p["component"] == "runs"]')" = '[]' ]
}
