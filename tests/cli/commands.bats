#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# What holds for every command: help with examples first, completion from the same tables, output that does
# not depend on the locale, colours and characters only where they can be shown.

load common

commands() {
    probelauf help | sed -n '/^Commands:/,/^$/s/^  \([a-z]\{1,\}\) .*/\1/p'
}

# ---- help ----

@test "every command: examples first, then usage, then options" {
    local name count=0
    for name in $(commands); do
        run probelauf help "$name"
        [ "$status" -eq 0 ]
        [ "${lines[0]}" = "Examples:" ]
        [[ "${lines[1]}" == *"probelauf $name"* ]]
        grep -q '^Usage:' <<<"$output"
        [ "$(grep -nm1 '^Usage:' <<<"$output" | cut -d: -f1)" -lt \
            "$(grep -nm1 '^Common options:' <<<"$output" | cut -d: -f1)" ]
        count=$((count + 1))
    done
    [ "$count" -ge 14 ]
}

@test "-h and --help say what 'help COMMAND' says, on standard output, status 0" {
    local name expected
    for name in $(commands); do
        expected=$(probelauf help "$name")
        run --separate-stderr probelauf "$name" -h
        [ "$status" -eq 0 ]
        [ "$output" = "$expected" ]
        [ -z "$stderr" ]
        run probelauf "$name" --help
        [ "$output" = "$expected" ]
    done
}

@test "help fits the width and is plain ASCII" {
    local name
    for name in $(commands); do
        COLUMNS=60 run probelauf help "$name"
        [ -z "$(LC_ALL=C grep -n '[^ -~]' <<<"$output")" ]
        # examples and usage are never broken: they are there to be copied
        run bash -c 'sed "/^Examples:/,/^Usage:/d" | sed "/^  probelauf/d" | awk "length > 60"' <<<"$output"
        [ -z "$output" ]
    done
}

@test "every command names its own unknown option" {
    local name
    for name in $(commands); do
        run probelauf "$name" --no-such-option-here
        fails 2 usage-unknown-option
        has "(see 'probelauf help $name')"
    done
}

@test "commands that read take --json, commands that do not refuse it" {
    local name
    for name in log show compare explain estimate config; do
        probelauf help "$name" | grep -q -- '--json'
    done
    for name in run mark help completion; do
        run probelauf "$name" --json x
        fails 2 usage-unknown-option
    done
}

@test "what does not work yet is not shown" {
    local word
    for word in --plan --block --max-cost --gpu --attach --ready --freeze; do
        run bash -c 'for name in "$@"; do "$PROBELAUF" help "$name"; done' _ $(commands)
        lacks "$word"
    done
    run probelauf run --gpu all -- true
    fails 2 usage-unknown-option
}

# ---- completion ----

@test "completions/probelauf.bash is what the program prints" {
    run diff "$SOURCE/completions/probelauf.bash" <(probelauf completion bash)
    [ "$status" -eq 0 ]
}

# What bash would offer for the words given, the last one being typed.
complete_words() {
    probelauf completion bash >complete.bash
    bash -c 'source ./complete.bash; unset -f _command_offset
        COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _probelauf; printf "%s\n" "${COMPREPLY[@]}"' _ "$@"
}

@test "completion: commands, verbs, options, values, phases" {
    run complete_words probelauf sh
    [ "$output" = show ]
    run complete_words probelauf completion ''
    [ "$output" = bash ]
    run complete_words probelauf run --max
    [ "$output" = --max-time ]
    run complete_words probelauf run --purpose t
    [ "$output" = trial ]
    run complete_words probelauf run --purpose = w
    [ "$output" = work ]
    run complete_words probelauf mark lo
    [ "$output" = load ]
    run complete_words probelauf show @
    has @1
    run complete_words probelauf log --note
    [ -z "$output" ]
}

@test "completion: behind run and its options stands another command" {
    touch 'a file'
    run complete_words probelauf run --note text -- ls 'a'
    [ "$output" = 'a file' ]
    run complete_words probelauf run -c a=1 ls 'a'
    [ "$output" = 'a file' ]
    run complete_words probelauf run --input 'a'
    [ "$output" = 'a file' ]
    run complete_words probelauf run -- prin
    has printf
}

@test "every option of every help is completed, and the other way round" {
    local name offered shown
    for name in $(commands); do
        offered=$(complete_words probelauf "$name" -- | sort)
        shown=$(probelauf help "$name" | sed -n '/^\(Common options\|Options\):/,$s/^  \(-[a-zA-Z], \|    \)\(--[a-z-]*\).*/\2/p' | sort)
        [ "$offered" = "$shown" ]
    done
}
