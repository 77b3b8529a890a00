#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# `check` over tests/plan/broken: one line each with place and id, exit 1, and nothing on standard output. What the
# lines must say is in the .expected files, which the unit test plan/broken compares, too.

load common

# LINE:COLUMN error[ID] text → probelauf: error[ID]: FILE:LINE:COLUMN: text
expected_lines() {
    sed -E -e "s|^0:0 ([a-z]+\[[a-z-]+\]) |probelauf: \1: $2: |" \
        -e "s|^([0-9]+:[0-9]+) ([a-z]+\[[a-z-]+\]) |probelauf: \2: $2:\1: |" "$1"
}

# The plan is refused with exactly the lines of the file $2, then how many errors there are.
refused_as() {
    local status=0
    probelauf check "$1" >out 2>err || status=$?
    [ "$status" -eq 1 ] || {
        echo "$1: status $status"
        return 1
    }
    [ ! -s out ] || {
        echo "$1: standard output: $(head -3 out)"
        return 1
    }
    expected_lines "$2" "$1" >expected
    sed '$d' err | diff expected - || {
        echo "$1: not the lines expected"
        return 1
    }
    tail -n 1 err | grep -q "^probelauf: the plan has $(grep -c ' error\[' "$2") error"
}

@test "each broken plan is refused with its lines" {
    local plan count=0
    for plan in "$SOURCE"/tests/plan/broken/*.yaml; do
        cp "$plan" .
        refused_as "${plan##*/}" "${plan%.yaml}.expected"
        count=$((count + 1))
    done
    [ "$count" -ge 100 ]
}

@test "a line of ten megabytes, a million levels" {
    { printf 'probelauf: 1\ncode: {repo: '; head -c 10485760 /dev/zero | tr '\0' x; echo '}'; } >long.yaml
    run probelauf check long.yaml
    [ "$status" -eq 1 ]
    [ "${lines[0]}" = "probelauf: error[plan-yaml]: long.yaml:2:4194292: the file is larger than 4 MiB; nobody writes that by hand" ]
    { printf 'probelauf: 1\ncode: '; head -c 1000000 /dev/zero | tr '\0' '['; } >deep.yaml
    run probelauf check deep.yaml
    [ "$status" -eq 1 ]
    [ "${lines[0]}" = "probelauf: error[plan-yaml]: deep.yaml:2:70: more than 64 levels are not allowed here" ]
}

@test "a plan that is no file" {
    mkdir folder.yaml
    mkfifo fifo.yaml
    local name
    for name in none.yaml folder.yaml fifo.yaml; do
        run probelauf check "$name"
        fails 1 plan-unreadable
        has "$name"
    done
}

@test "a broken plan is named before a command starts" {
    git init -q . 2>/dev/null || true
    cp "$SOURCE/tests/plan/broken/tab.yaml" probelauf.yaml
    run probelauf estimate
    [ "$status" -eq 1 ]
    has "probelauf.yaml:4:1: a tab is not allowed as indentation"
}
