#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# probelauf report --for: a study with runs, asked for by each body. What stands in the documents: tests/report/test-for.c.
# shellcheck disable=SC2154 # bats sets status, output and lines

load study-common

BODIES="generic rental neurips nairr access cscs genci nhr"

@test "each body gets its document, and the same table as JSON" {
    make_study
    study_run 1
    for body in $BODIES; do
        run -0 probelauf report --for "$body"
        [[ "${lines[0]}" == "# "*": sizes" ]]
        has "| compare | size=1 |" || [ "$body" = rental ]
        run -0 probelauf report --for "$body" --json
        valid_schema justification
        [ "$(json 'd["for"]')" = "$body" ]
    done
    [ "$(json '[len(d["evidence"]), d["evidence"][0]["condition"], d["evidence"][0]["wall"]["state"]]')" = '[1, "size=1", "measured"]' ]
    [ "$(json '[w["left"] for w in d["workloads"]]')" = '[3, 1]' ]
}

@test "what the formula says leads to the run" {
    make_study
    study_run 1
    run=$(probelauf log --json | python -c 'import json, sys; print(json.load(sys.stdin)["runs"][0]["run"])')
    run -0 probelauf report --for generic
    has "| ${run: -8} | compare | size=1 | [m] "
    run -0 probelauf report --for generic --json
    [ "$(json "'$run' in [s for f in d['formula'] if f['name'] == 'size=1' for s in f['time'].get('sources', [])]")" = true ]
}

@test "what is entered stands as assumed, what is not as open" {
    make_study
    run -0 probelauf report --for nairr
    has "- **storage on the machine:** [?] open (not entered)"
    has "- [?] open: service units"
    has "- [?] open: the limits of the site"
    cat >>probelauf.yaml <<'EOP'
rental: {storage: 200 GB}
calendar: {compare: {start: 2027-01-11, end: 2027-01-22}}
EOP
    run -0 probelauf report --for nairr
    has "- **storage on the machine:** [a] 186 GiB"
    has "| 2027-01-11 | 2027-01-22 |"
    run -0 probelauf report --for nairr --json
    valid_schema justification
    [ "$(json '[d["request"]["storage"]["value"], d["request"]["storage"]["state"]]')" = '[200000000000, "assumed"]' ]
}

@test "service units only by an offer with source and date" {
    make_study
    study_run 1
    study_run 2
    cat >>probelauf.yaml <<'EOP'
offers:
  - {id: su, environment: here, service_unit: NAIRR SU, rate: 2, per: hour, gpus_per_unit: 1}
EOP
    run -0 probelauf report --for nairr
    has "- **NAIRR SU:** [?] open; offer su gives no amount: "
    run -0 probelauf report --for nairr --json
    valid_schema justification
    [ "$(json '[s["amount"]["state"] for s in d["service_units"]]')" = '["open"]' ]
    [ "$(json 'len(d["service_units"][0]["wrong"]) > 0')" = true ]
    sed -i "s|gpus_per_unit: 1}|source: the page of the site, seen: 2026-11-01, valid_until: 2099-01-01, increment: 1s, minimum: 1s}|" probelauf.yaml
    run -0 probelauf report --for nairr
    has "- **NAIRR SU:** [e] "
    has ", by offer su (the page of the site, seen 2026-11-01)"
    run -0 probelauf report --for nairr --json
    valid_schema justification
    [ "$(json '[s["amount"].get("service_unit") for s in d["service_units"]]')" = '["NAIRR SU"]' ]
}

@test "failed and preliminary runs are in the total of the checklist" {
    make_study
    study_run 1
    run -3 probelauf run -q --env here --block compare -c size=1 -- src/work sleep 0.01 exit 3
    run -0 probelauf run -q --env here --block compare -c size=1 --purpose function-test -- src/work sleep 0.01 out done
    until_true nothing_waits
    run -0 probelauf report --for neurips
    has "| runs whose results count | 1 | [m] "
    has "| attempts that failed | 1 | [m] "
    has "| function tests, preliminary | 1 | [m] "
    has "| in all, in this environment | 3 | [m] "
}

@test "a study elsewhere is not this one's evidence" {
    make_study
    study_run 1 there
    run -0 probelauf report --for generic
    has "- [?] open: no run counts yet in this environment"
    has "1 further run is no evidence here"
    run -0 probelauf report --for generic --json --env here
    [ "$(json 'd["evidence"]')" = '[]' ]
}

@test "what cannot be is said in one line" {
    run -1 probelauf report --for generic
    fails 1 plan-missing
    make_study
    run -2 probelauf report --for nair
    fails 2 usage-bad-value
    has "did you mean 'nairr'?"
    run -2 probelauf report --for generic --format csv
    fails 2 usage-conflict
    run -0 probelauf report --for rental -o brief.md
    [ -z "$output" ]
    grep -q '^# Rental brief: sizes' brief.md
}
