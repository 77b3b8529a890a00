#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# estimate --repeat N: what the command line adds to the estimate; the statistics are tested in tests/forecast
# and tests/rules.

load common

measure() {
    local n
    for n in $(seq "$1"); do
        probelauf run -q --purpose trial -- sleep 0.05
    done
}

@test "without --repeat: whole-plan estimates need a plan, and the error says so" {
    run probelauf estimate
    fails 2 usage-needs
    has "--repeat"
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
