#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Records from one machine to another, any number of times, and runs for other programs.

load common

# A second home on "another machine": its own ledger and journals.
away() {
    HOME=$BATS_TEST_TMPDIR/away XDG_DATA_HOME=$BATS_TEST_TMPDIR/away/data \
        XDG_STATE_HOME=$BATS_TEST_TMPDIR/away/state XDG_CONFIG_HOME=$BATS_TEST_TMPDIR/away/config \
        "$PROBELAUF" "$@"
}

two_runs() {
    probelauf run -q -c n=1 -- echo one >out
    probelauf run -q -c n=2 -- sh -c 'echo two; exit 3' >out || true
}

@test "export --all into import -, twice: the same ledger, nothing twice" {
    two_runs
    probelauf annotate -q @1 --invalid --why 'not this one'
    probelauf export journal --all | away import journal -
    run away log --json
    local there=$output
    [ "$(json 'len(d["runs"])')" = 2 ]
    run probelauf log --json
    [ "$output" = "$there" ]
    run away show --json
    local shown=$output
    [ "$(json 'd["validity"]["why"]')" = "not this one" ]
    run probelauf show --json
    [ "$output" = "$shown" ]
    run bash -c '"$PROBELAUF" export -q journal --all | HOME=$1 XDG_DATA_HOME=$1/data XDG_STATE_HOME=$1/state "$PROBELAUF" import journal -' \
        _ "$BATS_TEST_TMPDIR/away"
    [ "$status" -eq 0 ]
    has "taken in: 0, there already: 3"
    run away log --json
    [ "$output" = "$there" ]
    run away ledger check
    [ "$status" -eq 0 ]
}

@test "a file: -o appears whole, private, and is imported by name" {
    two_runs
    run probelauf export journal -o all.journals
    [ "$status" -eq 0 ]
    [ "$(stat -c %a all.journals)" = 600 ]
    [ "$(find . -name 'all.journals*' | wc -l)" -eq 1 ]
    run away import journal all.journals
    [ "$status" -eq 0 ]
    has "taken in: 2, there already: 0"
    run away import journal all.journals all.journals
    has "taken in: 0, there already: 4"
}

@test "one run, several runs" {
    two_runs
    probelauf export -q journal @2 >one.journal
    run away import journal one.journal
    [ "$status" -eq 0 ]
    has "taken in: 1, there already: 0"
    probelauf export -q journal @1 @2 >both.journals
    run away import journal both.journals
    [ "$status" -eq 0 ]
    has "taken in: 1, there already: 1"
}

@test "--all and a run by name exclude each other" {
    run probelauf export journal --all @1
    fails 2 usage-conflict
}

@test "journals are not written to a terminal" {
    command -v script >/dev/null || skip "no script(1)"
    two_runs
    run script -qec '"$PROBELAUF" export journal --all' /dev/null
    [ "$status" -eq 1 ]
    has "error[output-terminal]"
    run script -qec '"$PROBELAUF" export journal --all --text' /dev/null
    [ "$status" -eq 0 ]
}

@test "--text: one line a record" {
    two_runs
    run probelauf export journal @1 --text
    [ "$status" -eq 0 ]
    has HEADER
    has START
    has END
    [ -z "$(LC_ALL=C grep -n '[[:cntrl:]]' <<<"$output")" ]
    run probelauf export journal --all --text
    [ "$(grep -c ' HEADER ' <<<"$output")" -eq 2 ]
    run probelauf export csv --text
    fails 2 usage-conflict
}

@test "a failed export leaves no file and an error" {
    two_runs
    run probelauf export journal -o no-such-folder/x
    fails 1 output-write
    [ -c /dev/full ] || skip "no /dev/full"
    run bash -c '"$PROBELAUF" export -q journal --all >/dev/full'
    fails 1 stream-write
    run bash -c '"$PROBELAUF" export csv >/dev/full'
    fails 1 output-write
    run probelauf export journal -o /dev/full
    [ "$status" -eq 1 ]
    run probelauf export json @2 @9 -o xs.json
    fails 1 run-not-found
    [ "$(find . -name 'x*' | wc -l)" -eq 0 ]
}

@test "what is no journal, a cut stream, a damaged one" {
    echo 'not a journal' >text
    run probelauf import -q journal text
    [ "$status" -eq 1 ]
    [[ "${lines[0]}" == "probelauf: error["* ]]
    two_runs
    probelauf export -q journal --all >all
    head -c $(($(stat -c %s all) - 200)) all >cut
    run away import -q journal cut
    [ "$status" -eq 1 ]
    run away ledger check
    [ "$status" -eq 0 ]
    run probelauf import journal missing
    [ "$status" -eq 1 ]
    has "error[import-unreadable]"
}

@test "import tries every file although one is broken" {
    two_runs
    probelauf export -q journal --all >all
    echo 'not a journal' >text
    run away import -q journal text all
    [ "$status" -eq 1 ]
    run away log --json
    [ "$(json 'len(d["runs"])')" = 2 ]
}

@test "export json: all runs, some runs, none" {
    run probelauf export json
    [ "$(json 'd["runs"]')" = '[]' ]
    valid_schema export
    two_runs
    run probelauf export json
    [ "$status" -eq 0 ]
    [ "$(json 'len(d["runs"])')" = 2 ]
    [ "$(json 'd["runs"][0]["schema"]')" = probelauf.run/1 ]
    valid_schema export
    run probelauf export json @2
    [ "$(json 'd["runs"][0]["command"]')" = '["echo", "one"]' ]
    run probelauf export json @9
    [ "$status" -eq 1 ]
}

@test "export csv: one line a run under a header, the same number of cells in each" {
    two_runs
    run probelauf export csv
    [ "$status" -eq 0 ]
    printf '%s\n' "$output" >runs.csv
    run python -c 'import csv
rows = list(csv.reader(open("runs.csv", newline="")))
print(len(rows), len({len(row) for row in rows}))'
    [ "$output" = "3 1" ]
    run probelauf export csv -o file.csv
    [ "$status" -eq 0 ]
    run diff file.csv runs.csv
    [ "$status" -eq 0 ]
}

@test "import needs a file, export needs a verb" {
    run probelauf import journal
    fails 2 usage-operands
    run probelauf export
    fails 2 usage-verb
    run probelauf export jurnal
    fails 2 usage-verb
    has "did you mean 'journal'?"
}

@test "the diff of uncommitted changes stays here, and what comes back is known" {
    git init -q code
    (cd code && echo one >a.py && git add a.py && git -c user.name=a -c user.email=a@b.c commit -qm x && echo two >>a.py)
    (cd code && probelauf run -q -- true)
    probelauf show --json @1 >shown # waits until the record is complete
    run python -c 'import json; print(json.load(open("shown"))["code"]["dirty"])'
    [ "$output" = True ]
    probelauf export journal --all >stream
    run grep -c -a diff_zstd_base64 stream
    [ "$output" = 0 ]
    run bash -c "'$PROBELAUF' export journal @1 --text | grep -c diff_zstd_base64"
    [ "$output" = 0 ]
    grep -q -a diff_digest stream
    run probelauf import journal stream
    [ "$status" -eq 0 ]
    has "there already: 1"
    XDG_DATA_HOME=$HOME/second run probelauf import journal stream
    has "taken in: 1"
}
