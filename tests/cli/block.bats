#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# block list and block freeze on real runs in a real repository: what keeps a run valid, what does not, and that the
# reason is said. Every rule one by one: tests/rules.

load study-common

list() {
    run --separate-stderr probelauf block list --json "$@"
    if [ "$status" -ne 0 ]; then
        echo "$stderr"
        return 1
    fi
}

# so many runs of block compare are valid, so many of them done
counts() {
    list
    local found
    found=$(block compare '"%d %d" % (b["valid"], b["done"])')
    if [ "$found" != "$1 $2" ]; then
        echo "valid and done: $found; $(block compare '[[r["why"] for r in c["runs"]] for c in b["conditions"]]')"
        return 1
    fi
}

# the reason why no run of size=$1 counts holds this text
why() {
    list
    local found
    found=$(block compare "str(next(c for c in b['conditions'] if c['axes'] == {'size': '$1'})['why'])")
    if [[ "$found" != *"$2"* ]]; then
        echo "the reason: $found"
        return 1
    fi
}

@test "what a block can be asked for" {
    run probelauf block
    fails 2 usage-verb
    run probelauf block start compare
    fails 2 usage-verb
    run probelauf block freeze
    fails 2 usage-operands
    run probelauf block list --env here
    fails 1 plan-missing
    run probelauf block freeze compare --env here
    [ "$status" -eq 2 ]
}

@test "without runs: everything planned, nothing measured" {
    make_study
    run probelauf block list
    [ "$status" -eq 0 ]
    has "size=1"
    has "0/4"
    run probelauf block list --json
    [ "$status" -eq 0 ]
    valid_schema blocks
    [ "$(block compare '[b["state"], b["planned"], b["done"], b["valid"], b["level"]]')" = '["planned", 4, 0, 0, "none"]' ]
    run probelauf block list --env ther
    fails 1 environment-unknown
}

@test "a run counts; an edit of README or plan keeps it, an edit of the code does not, and back again" {
    make_study
    study_run 1
    counts 1 1
    valid_schema blocks
    why 2 "no run yet"
    why 1 None
    printf 'other words\n' >README.md
    sed -i 's/title: sizes/title: other sizes/' probelauf.yaml
    counts 1 1
    commit words
    counts 1 1
    printf 'edited\n' >>src/work
    counts 0 0
    why 1 code
    run probelauf block list
    has "code"
    git checkout -q src/work
    counts 1 1
}

@test "runs that ended well and do not count any more are told" {
    make_study
    study_run 1
    study_run 1
    counts 2 2
    run probelauf block list
    [[ "$output" != *"do not count"* ]]
    touch -d '2020-01-01' input.txt
    study_run 1
    counts 1 1
    [ "$(block compare '[(c["uncounted"], c["uncounted_why"]) for c in b["conditions"]]')" = \
        '[[2, "an input changed: input.txt (same size, written at another time)"], [0, null]]' ]
    valid_schema blocks
    COLUMNS=200 run probelauf block list
    has "measured; 2 that ended well do not count, the newest: an input changed: input.txt"
    printf 'more' >>src/work # then the last does not count either, and it is not said twice
    COLUMNS=200 run probelauf block list
    has "none: the newest: the code under code.paths changed since; 3 that ended well do not count"
}

@test "what was not the condition's command is no attempt of it" {
    make_study
    study_run 1
    run ! probelauf run -q --env here --block compare -c size=1 -- src/work exit 3
    probelauf run -q --env here --block compare -c size=1 -- true
    until_true nothing_waits
    list
    [ "$(block compare '[(c["attempts"], c["failures"]) for c in b["conditions"]]')" = '[[1, 0], [0, 0]]' ]
}

@test "annotate says what the runs count for now, and that a failed run is never evidence" {
    make_study
    sed -i '/expect:/d' probelauf.yaml
    study_run 1
    study_run 2
    run ! probelauf run -q --env here --block compare -c size=1 -- src/work exit 3
    until_true nothing_waits
    run --separate-stderr probelauf annotate @3 @2 @3 --valid
    [ "$status" -eq 0 ]
    [ "$(grep -c 'noted about run' <<<"$stderr")" -eq 2 ]
    [ "$(grep -c 'is now evidence for size=[12] of block .compare.; 1 of 2 runs done' <<<"$stderr")" -eq 2 ]
    run --separate-stderr probelauf annotate @2 --invalid --why 'wrong size'
    [[ "$stderr" == *"is now no evidence for size=2 of block 'compare': it was declared invalid (wrong size)"* ]]
    # the environment of the run, not the first of the plan
    study_run 2 there
    run --separate-stderr probelauf annotate @1 --valid
    [[ "$stderr" == *"is now evidence for size=2 of block 'compare'; 1 of 2 runs done"* ]]
    run --separate-stderr probelauf annotate -q @2 --valid
    [ "$status" -eq 0 ]
    [[ "$stderr" == *"ended with 'failed': a run that did not end well is never evidence"* ]]
    run --separate-stderr probelauf annotate @2 --valid
    [[ "$stderr" == *"is now no evidence for size=1 of block 'compare': "* ]]
    # nothing is noted where one of the runs is not there
    run probelauf annotate @3 @9 --note 'not this'
    fails 1 run-not-found
    run probelauf show @3 --json
    [[ "$output" != *"not this"* ]]
    # of a plan that is broken, of another study, or not there, nothing is said
    run --separate-stderr probelauf annotate @3 --note x --plan none
    [[ "$stderr" == *"noted about run"* && "$stderr" != *"is now"* ]]
    sed -i "s/id: $STUDY_ID/id: 01936a5e-4f00-7c2a-9b1d-5d0c3a7e8f22/" probelauf.yaml
    run --separate-stderr probelauf annotate @3 --note x
    [[ "$stderr" == *"noted about run"* && "$stderr" != *"is now"* ]]
    printf 'a: b: c\n' >probelauf.yaml
    run --separate-stderr probelauf annotate @3 --note x
    [ "$status" -eq 0 ]
    [[ "$stderr" == *"noted about run"* && "$stderr" != *"is now"* && "$stderr" != *"plan-yaml"* ]]
}

@test "open facts stand in one line, and with -v each with its question; -v shows every run" {
    make_study
    for i in 1 2 3 4 5; do
        sed -i "s/^facts:/&\n  - {id: open.$i, state: open, question: what of $i, stops: compare}/" probelauf.yaml
    done
    study_run 1
    study_run 2
    COLUMNS=160 run probelauf block list
    [ "$status" -eq 0 ]
    has "open: stands in the way of this block: 5 facts (open.5, open.4, open.3, ...), see 'probelauf check'"
    [[ "$output" != *"stopped"* && "$output" != *"what of"* && "$output" != *"counts as"* ]]
    COLUMNS=160 run probelauf block list -v
    has "open: open.2 stands in the way: what of 2"
    has "counts as"
    [ "$(grep -c 'size=[12] .*measured, verified' <<<"$output")" -eq 2 ]
}

@test "another number of GPUs than the plan says: a function test, with the reason" {
    make_study
    study_run 1
    counts 1 1
    sed -i 's/gpus: 0/gpus: 2/' probelauf.yaml
    counts 0 0
    why 1 "without a GPU, the plan says 2"
    [ "$(block compare 'b["conditions"][0]["level"]')" = function-test ]
    run probelauf block list
    has "function test"
}

@test "another version of a package in match: the runs before do not count" {
    make_study
    study_run 1
    counts 1 1
    pack 2.0
    study_run 1
    counts 1 1
    [ "$(block compare 'sorted(r["level"] for r in b["conditions"][0]["runs"])')" = '["function-test", "measured"]' ]
    [[ "$(block compare 'next(r["why"] for r in b["conditions"][0]["runs"] if r["why"])')" == *pack*1.0*2.0* ]]
}

@test "a run that was declared invalid, or failed, or was only a function test" {
    make_study
    study_run 1
    probelauf annotate -q @1 --invalid --why 'wrong weights'
    counts 0 0
    why 1 "wrong weights"
    run ! probelauf run -q --env here --block compare -c size=1 -- src/work sleep 0.01 exit 3
    until_true nothing_waits
    probelauf run -q --env here --purpose function-test --block compare -c size=2 -- src/work sleep 0.02 out done
    until_true nothing_waits
    counts 0 0
    [ "$(block compare 'b["conditions"][1]["level"]')" = function-test ]
    why 2 function
}

@test "other inputs: a run with the older ones does not count" {
    make_study
    study_run 1
    printf 'one and more\n' >input.txt
    study_run 1
    counts 1 1
    [[ "$(block compare 'next(r["why"] for r in b["conditions"][0]["runs"] if r["why"])')" == *input* ]]
}

@test "a run whose result nobody checked counts for time, not as done; one that was not met does not count" {
    make_study
    sed -i '/expect:/d' probelauf.yaml
    study_run 1
    counts 1 0
    probelauf annotate -q @1 --valid --why 'looked at it'
    counts 1 1
    sed -i 's/    inputs:/    expect: ["marker=never"]\n    inputs:/' probelauf.yaml
    study_run 2
    counts 1 1
    why 2 "not met"
}

@test "runs that nobody planned are listed with their time" {
    make_study
    probelauf run -q -- src/work out stray
    until_true nothing_waits
    list
    [ "$(json 'len(d["unplanned"]["runs"])')" = 1 ]
    [ "$(json 'd["unplanned"]["time"]["state"]')" = measured ]
    run probelauf block list
    has "Unplanned"
}

@test "nothing crosses from one environment to another" {
    make_study
    study_run 1 here
    counts 1 1
    list --env there
    [ "$(block compare 'b["valid"]')" = 0 ]
}

@test "freeze: code and inputs are settled, later runs are held against them" {
    make_study
    study_run 1
    run probelauf block freeze compare
    [ "$status" -eq 0 ]
    has "block 'compare' is frozen"
    has "inputs: 1"
    list
    [ "$(block compare 'b["frozen"]["outdated"] is None')" = true ]
    [ "$(block validate 'b["frozen"] is None')" = true ]
    valid_schema blocks
    counts 1 1
    printf 'edited\n' >>src/work
    commit edited
    counts 1 1 # the freeze takes the place of the code now
    list
    [[ "$(block compare 'b["frozen"]["outdated"]')" == *code* ]]
    study_run 1
    counts 1 1 # the new one was made with other code
    run probelauf block freeze compare -q
    [ "$status" -eq 0 ]
    [ -z "$output" ]
    counts 1 1 # now the new one counts, and the old one does not
}

@test "freeze refuses code that is not committed, but not an edited plan or README" {
    make_study
    printf 'edited\n' >>src/work
    run probelauf block freeze compare
    fails 1 code-dirty
    has "git status -- src"
    git checkout -q src/work
    printf 'edited\n' >>README.md
    printf '# edited\n' >>probelauf.yaml
    run probelauf block freeze compare
    [ "$status" -eq 0 ]
}

@test "freeze says what is not part of it" {
    make_study
    printf 'new\n' >src/new.py
    run probelauf block freeze compare
    [ "$status" -eq 0 ]
    has warning
    has "1 untracked"
}

@test "freeze: open facts stand in the way, exit 3, each one named with its place" {
    make_study
    sed -i 's/state: known/state: open\n    question: who may use them?\n    stops: [compare, booking]/; /value: in this/d; /source/d; /seen:/d' probelauf.yaml
    run probelauf block freeze compare
    [ "$status" -eq 3 ]
    [ "${#lines[@]}" -eq 2 ]
    [[ "${lines[0]}" == "probelauf: error[fact-open]: probelauf.yaml:7:"*"weights.access"*"who may use them?" ]]
    [[ "${lines[1]}" == "probelauf: error[block-stopped]: "* ]]
    run probelauf block freeze validate
    [ "$status" -eq 0 ]
}

@test "freeze: unknown blocks and inputs that cannot be read" {
    make_study
    run probelauf block freeze compar
    fails 1 block-unknown
    has "did you mean 'compare'"
    rm input.txt
    run probelauf block freeze compare
    fails 1 input-unreadable
    has input.txt
}

@test "freezes travel with the journals, and go with their study" {
    make_study
    study_run 1
    probelauf block freeze -q compare
    probelauf export -q journal --all >../stream
    probelauf import -q journal ../stream --ledger "sqlite:$PWD/../away.db"
    probelauf import -q journal ../stream --ledger "sqlite:$PWD/../away.db"
    list --ledger "sqlite:$PWD/../away.db"
    [ "$(block compare '[b["valid"], b["frozen"]["outdated"] is None]')" = "[1, true]" ]
    run probelauf ledger check --ledger "sqlite:$PWD/../away.db"
    [ "$status" -eq 0 ]
    run probelauf ledger purge --study "$STUDY_ID" --yes
    [ "$status" -eq 0 ]
    run probelauf ledger info --json
    [ "$(json '[d["runs"], d["events"]]')" = '[0, 0]' ]
    run probelauf ledger purge --study 01936a5e-0000-7c2a-9b1d-5d0c3a7e8f21 --yes
    [ "$status" -eq 0 ]
}
