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
    for name in completion help; do
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
    run bash -c 'trap "" PIPE; (sleep 0.3; "$PROBELAUF" completion bash; echo $? >status) | true; cat status'
    [ "${lines[-1]}" = 1 ]
    has "probelauf: error["
}
