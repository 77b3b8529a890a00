#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# The worked plans: init --paper writes one, check lists what it leaves open, decide says to validate first. What is in them:
# tests/plan/check-catalog.py.
# shellcheck shell=bash disable=SC2154 # bats sets status, output and lines

load common

PAPERS="fast-kvzip linearard adkv"

# init, then check, which finds nothing wrong with it: no error, no warning, open facts.
written() {
    mkdir "$1"
    cd "$1" || return
    probelauf init -q --paper "$1"
    run --separate-stderr probelauf check -v
    [ "$status" -eq 3 ]
    [ -z "$stderr" ]
}

@test "each paper's plan is sound, and its open facts stand in the way" {
    for paper in $PAPERS; do
        written "$paper"
        has "open facts stand in the way of: validate, compare, scale, verify, booking"
        cd ..
    done
}

@test "fast-kvzip: the open facts, each with what it stops" {
    written fast-kvzip
    run probelauf check --json
    [ "$status" -eq 3 ]
    python -c 'import json, sys
d = json.load(sys.stdin)
stops = {f["id"]: set(f["stops"]) for f in d["open_facts"]}
runs = {"compare", "scale", "verify"}
assert stops["code.licence"] == runs | {"booking"}, stops["code.licence"]
assert stops["code.head-scores"] == {"compare", "verify"}
assert stops["data.math"] == {"compare", "verify"}
assert stops["data.seeds"] == {"compare", "verify"}
assert stops["data.mrcr-samples"] == {"scale"}
assert {"validate", "booking"} <= stops["weights.access"]
assert "booking" in stops["weights.gate-licence"] and "booking" in stops["resource.gpu-memory"]
assert not d["complaints"], d["complaints"]
assert "code.exists" not in stops and "code.install" not in stops' <<<"$output"
}

@test "adkv: every fact is open, and no block has a number of runs" {
    written adkv
    has "Open facts: 29 of 29"
    run probelauf block list --json
    [ "$(json '[b["planned"] for b in d["blocks"]]')" = "[null, null, null, null]" ]
}

@test "decide: validate first, by E1; adkv is no bolder; a Mac is never a way" {
    for paper in $PAPERS; do
        written "$paper"
        run -4 probelauf decide --json
        printf '%s' "$output" >"../$paper.json"
        cd ..
    done
    output=$(cat fast-kvzip.json)
    [ "$(json 'd["verdict"]')" = validate-first ]
    [ "$(json 'd["by"]')" = E1 ]
    [ "$(json '{e["id"]: e["verdict"] for e in d["environments"]}["mac"]')" = not-yet ]
    for paper in linearard adkv; do
        output=$(cat $paper.json)
        [[ "$(json 'd["verdict"]')" == @(not-yet|validate-first) ]]
    done
}

@test "each plan has an id of its own, its comments, and a title where one is given" {
    probelauf init -q --paper adkv -o one.yaml
    probelauf init -q --paper adkv -o two.yaml --title 'Mine: "all" \ of #it'
    [ "$(grep -c '^  id: ........-....-7...-....-............$' one.yaml two.yaml | paste -sd' ')" = "one.yaml:1 two.yaml:1" ]
    run diff one.yaml two.yaml
    [ "$(grep -c '^[<>]' <<<"$output")" -eq 4 ]
    run -3 probelauf check --plan two.yaml
    has 'Mine: "all" \ of #it'
    grep -q '^# Not to be mistaken\|Not to be mistaken for it' one.yaml
    # but for the head that init adds, the id and the title nothing differs from the catalogue
    tail -n "$(wc -l <"$SOURCE/catalog/adkv.yaml")" one.yaml | diff - "$SOURCE/catalog/adkv.yaml" >differs || true
    [ "$(grep -c '^[<>]' differs)" -eq 2 ]
}

@test "the papers are listed, an unknown one is an error with what was meant" {
    run --separate-stderr probelauf init --paper list
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    [ "$(cut -d' ' -f1 <<<"$output" | paste -sd' ')" = "$PAPERS" ]
    [ -z "$(ls ./*.yaml 2>/dev/null)" ]
    run probelauf init --paper fast-kvzp
    fails 2 paper-unknown
    has "did you mean 'fast-kvzip'?"
    has "fast-kvzip, linearard, adkv"
    run probelauf init --paper nothing-like-it
    fails 2 paper-unknown
    has "fast-kvzip, linearard, adkv"
    lacks "did you mean"
    [ -z "$(ls ./*.yaml 2>/dev/null)" ]
}

@test "in another language the program's words change, the facts stay" {
    for paper in $PAPERS; do
        probelauf init -q --paper $paper -o "$paper.yaml"
        probelauf init -q --lang de --paper $paper -o "$paper-de.yaml"
        diff <(sed '1,/^#$/d; s/^  id: .*//' "$paper.yaml") <(sed '1,/^#$/d; s/^  id: .*//' "$paper-de.yaml")
        run -3 probelauf check --plan "$paper-de.yaml"
    done
    for language in de fr ko; do
        probelauf init -q --lang $language -o "starter-$language.yaml"
        run --separate-stderr probelauf check -v --plan "starter-$language.yaml"
        [ "$status" -eq 3 ]
        [ -z "$stderr" ]
    done
}

@test "a worked plan goes through block list, estimate and report" {
    written fast-kvzip
    run -0 probelauf estimate --json
    valid_schema estimate
    [ "$(json 'd["provisional"]')" = true ]
    run -0 probelauf report
    has "left out"
    run -0 probelauf report --for rental
    has "# Rental brief: Fast KVzip"
    run -0 probelauf report --for nairr --json
    valid_schema justification
    # no figure of a third party has become one of ours
    [ "$(json '[w["figures"]["reserved"]["state"] for w in d["workloads"]] == ["open"] * len(d["workloads"])')" = true ]
}
