#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# How arguments are read: every kind of option, every complaint, help with examples first, exit codes.

load common

# ---- the program itself ----

@test "no command: a short overview on standard error, status 2" {
    run --separate-stderr probelauf
    [ "$status" -eq 2 ]
    [ -z "$output" ]
    [[ "$stderr" == *"Commands:"* ]]
}

@test "--help and help: the overview on standard output, status 0" {
    run --separate-stderr probelauf --help
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    has "Commands:"
    local long=$output
    run probelauf -h
    [ "$output" = "$long" ]
    run probelauf help
    [ "$output" = "$long" ]
}

@test "the overview names every command once" {
    run probelauf help
    local name
    for name in init check run mark log show compare annotate explain estimate import export ledger config completion help; do
        [ "$(grep -c "^  $name  " <<<"$output")" -eq 1 ]
    done
}

@test "--version" {
    run probelauf --version
    [ "$status" -eq 0 ]
    [[ "$output" =~ ^probelauf\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
}

@test "--version --json: schema, build, libraries at run time, features" {
    run probelauf --version --json
    [ "$status" -eq 0 ]
    [ "$(json 'd["schema"]')" = probelauf.version/1 ]
    [ "$(json 'd["build"]["kind"] in ("dynamic", "portable")')" = true ]
    [ "$(json 'sorted(d["libraries"])')" = '["gsl", "jansson", "libyaml", "sqlite", "zstd"]' ]
    [ "$(json 'd["features"]["gpu"]')" = false ]
    local version
    version=$(json 'd["version"]')
    run probelauf --version
    [ "$output" = "probelauf $version" ]
}

@test "--version takes nothing but --json" {
    run probelauf --version --yaml
    fails 2 usage-operands
}

@test "an unknown command is a usage error with a suggestion where one is near" {
    run probelauf hepl
    fails 2 usage-no-command
    has "did you mean 'help'?"
    run probelauf zzzzzz
    fails 2 usage-no-command
    lacks "did you mean"
    run probelauf --json log
    fails 2 usage-no-command
    has "options follow the command"
}

@test "hostile names never reach the terminal raw" {
    run probelauf $'\e[31mred\nline'
    fails 2 usage-no-command
    lacks $'\e'
}

@test "help of an unknown command" {
    run probelauf help zzzzzz
    fails 2 usage-no-command
    run probelauf help shw
    fails 2 usage-no-command
    has "did you mean 'show'?"
}

# ---- standard output ----

@test "a full disk under standard output is an error" {
    [ -c /dev/full ] || skip "no /dev/full"
    run bash -c '"$PROBELAUF" help >/dev/full'
    [ "$status" -eq 1 ]
    [[ "$output" == "probelauf: error["* ]]
    run bash -c '"$PROBELAUF" --version --json >/dev/full'
    [ "$status" -eq 1 ]
}

@test "a closed standard output is an error" {
    run bash -c '"$PROBELAUF" help >&-'
    [ "$status" -eq 1 ]
    [[ "$output" == "probelauf: error["* ]]
}

@test "a reader that has gone ends us quietly" {
    run bash -c '"$PROBELAUF" completion bash | true; echo "${PIPESTATUS[0]}"'
    [ "${#lines[@]}" -eq 1 ]
    [ "$output" = 141 ] || [ "$output" = 0 ]
}

@test "where SIGPIPE is ignored a gone reader is an error" {
    run bash -c 'trap "" PIPE
        (until [ -e gone ]; do sleep 0.02; done; "$PROBELAUF" completion bash; echo $? >status) | { exec <&-; : >gone; }
        cat status'
    [ "${lines[-1]}" = 1 ]
    has "probelauf: error["
}

# ---- options of one command; `mark` reads nothing, so it shows parsing alone ----

# Marks go to a file as inside a run.
inside_a_run() {
    export PROBELAUF_MARKS=$BATS_TEST_TMPDIR/marks
    : >"$PROBELAUF_MARKS"
}

@test "long options with '=' and with a blank, operands before and after" {
    inside_a_run
    run probelauf mark --items=3 compute --batch 8
    [ "$status" -eq 0 ]
    [ -z "$output" ]
    [ "$(wc -l <"$PROBELAUF_MARKS")" -eq 3 ]
    grep -q ' phase compute$' "$PROBELAUF_MARKS"
    grep -q ' items 3$' "$PROBELAUF_MARKS"
    grep -q ' batch 8$' "$PROBELAUF_MARKS"
}

@test "short options: alone, grouped, with a value behind them" {
    run probelauf help -q
    [ "$status" -eq 0 ]
    run probelauf config -vh
    [ "$status" -eq 0 ]
    has "Examples:"
    run probelauf config -vx
    fails 2 usage-unknown-option
    has "unknown option '-x' in '-vx'"
    run probelauf config -x
    fails 2 usage-unknown-option
    has "unknown option '-x' (see"
}

@test "half a character is never shown" {
    run probelauf config -é
    fails 2 usage-unknown-option
    has "unknown option '-é'"
}

@test "'--' ends options; a lone '-' is an operand" {
    inside_a_run
    run probelauf mark -- --end
    fails 2 usage-phase
    run probelauf mark -
    fails 2 usage-phase
    [ ! -s "$PROBELAUF_MARKS" ]
}

@test "an unknown option names the one that was meant, if there is one" {
    run probelauf mark --itms 3
    fails 2 usage-unknown-option
    has "did you mean '--items'?"
    run probelauf mark --len 3
    fails 2 usage-unknown-option
    has "did you mean '--length'?"
    run probelauf mark --zzzzzzzz
    fails 2 usage-unknown-option
    lacks "did you mean"
    has "(see 'probelauf help mark')"
}

@test "no abbreviation is taken for an option" {
    inside_a_run
    run probelauf mark --item 3
    fails 2 usage-unknown-option
    [ ! -s "$PROBELAUF_MARKS" ]
}

@test "a prefix that two options share is no suggestion" {
    run probelauf config --l
    fails 2 usage-unknown-option
    lacks "did you mean"
}

@test "missing values" {
    run probelauf mark --items
    fails 2 usage-missing-value
    has "'--items' needs a value (N)"
    run probelauf run -c
    fails 125 usage-missing-value
    has "'-c' needs a value (KEY=VALUE)"
}

@test "a flag takes no value" {
    run probelauf mark --end=now
    fails 2 usage-bad-value
}

@test "whole numbers and their range" {
    local bad
    for bad in x 3x 1.5 '' ' 3' 0x10 1e3; do
        run probelauf mark --items "$bad"
        fails 2 usage-bad-value
        has "a whole number"
    done
    for bad in -1 99999999999999999999; do
        run probelauf mark --items "$bad"
        fails 2 usage-bad-value
        has "a number from 0 to"
    done
}

@test "durations" {
    local bad
    for bad in x 1x -1 '' 1,5h 1h-; do
        run probelauf run --max-time "$bad" -- true
        fails 125 usage-bad-value
        has "a duration such as"
    done
    run probelauf run --max-time 0 -- true
    fails 125 usage-bad-value
    has "too short"
    run probelauf run --max-time 4000d -- true
    fails 125 usage-bad-value
    has "too long"
}

@test "choices" {
    run probelauf run --purpose trail -- true
    fails 125 usage-bad-value
    has "did you mean 'trial'?"
    run probelauf run --purpose zzzzzzzz -- true
    fails 125 usage-bad-value
    has "trial, function-test, work"
    run probelauf config --color sometimes
    fails 2 usage-bad-value
}

@test "languages: unknown ones are refused, known ones without a catalogue are named" {
    run probelauf config --lang tlh
    fails 2 usage-bad-value
    run probelauf config --lang en
    [ "$status" -eq 0 ]
}

@test "a path is not empty" {
    run probelauf run --input '' -- true
    fails 125 usage-bad-value
}

@test "options that exclude each other" {
    run probelauf config -q -v
    fails 2 usage-conflict
    has "'--quiet' and '--verbose'"
    run probelauf config -v -q
    fails 2 usage-conflict
}

@test "too many and too few operands" {
    run probelauf show @1 @2
    fails 2 usage-operands
    has "'@2'"
    run probelauf compare @1
    fails 2 usage-operands
    has "probelauf compare RUN RUN"
    run probelauf run
    fails 125 usage-operands
    run probelauf run --
    fails 125 usage-operands
    run probelauf log x
    fails 2 usage-operands
}

@test "verbs" {
    run probelauf completion
    fails 2 usage-verb
    run probelauf completion bsh
    fails 2 usage-verb
    has "did you mean 'bash'?"
}

@test "run: the first operand ends our options" {
    run probelauf run --no-such-option -- true
    fails 125 usage-unknown-option
    run -127 probelauf run -- --no-such-command-here
    lacks usage-
}

@test "run: conditions, checks and patterns are looked at before anything starts" {
    run probelauf run -c novalue -- touch started
    fails 125 usage-bad-value
    run probelauf run -c =x -- touch started
    fails 125 usage-bad-value
    run probelauf run -c a=1 -c a=2 -- touch started
    fails 125 usage-bad-value
    has "given twice"
    run probelauf run --expect colour=red -- touch started
    fails 125 usage-bad-value
    run probelauf run --expect count=x -- touch started
    fails 125 usage-bad-value
    run probelauf run --phase lod -- touch started
    fails 125 usage-phase
    has "did you mean 'load'?"
    run probelauf run --phase unattributed -- touch started
    fails 125 usage-phase
    run probelauf run --pattern load -- touch started
    fails 125 usage-bad-value
    run probelauf run --pattern 'nonsense=x' -- touch started
    fails 125 usage-phase
    run probelauf run --pattern 'load=(' -- touch started
    [ "$status" -eq 125 ]
    [ "${#lines[@]}" -eq 1 ]
    [ ! -e started ]
}

@test "run: a ledger that cannot be named is refused before anything starts" {
    run probelauf run --ledger garbage -- touch started
    fails 125 ledger-url
    run probelauf run --ledger postgresql://x -- touch started
    fails 125 ledger-unsupported
    [ ! -e started ]
}

# ---- mark ----

@test "mark outside a run" {
    run probelauf mark load
    fails 1 not-in-run
}

@test "mark needs something to mark" {
    inside_a_run
    run probelauf mark
    fails 2 usage-operands
    run probelauf mark --result novalue
    fails 2 usage-bad-value
    run probelauf mark --result name=
    fails 2 usage-bad-value
    [ ! -s "$PROBELAUF_MARKS" ]
}

@test "a wrong part of a mark keeps the whole from being written" {
    inside_a_run
    run probelauf mark load --result bad
    fails 2 usage-bad-value
    [ ! -s "$PROBELAUF_MARKS" ]
}

@test "mark: phases with details, end, results, notes" {
    inside_a_run
    probelauf mark compute/decode
    probelauf mark --end
    probelauf mark --end load
    probelauf mark --result 'speed=41.5 token/s' --result acc=0.5 --note 'two words' --shape 4x8
    run cat "$PROBELAUF_MARKS"
    [[ "${lines[0]}" == *" phase compute/decode" ]]
    [[ "${lines[1]}" == *" end" ]]
    [[ "${lines[2]}" == *" end load" ]]
    [[ "${lines[3]}" == *" shape 4x8" ]]
    [[ "${lines[4]}" == *" result speed 41.5 token/s" ]]
    [[ "${lines[5]}" == *" result acc 0.5" ]]
    [[ "${lines[6]}" == *" note two words" ]]
    [ "${#lines[@]}" -eq 7 ]
}
