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
        fails "$(usage_code "$name")" usage-unknown-option
        has "(see 'probelauf help $name')"
    done
}

@test "commands that read take --json, commands that do not refuse it" {
    local name
    for name in log show compare explain estimate next decide check block report config; do
        probelauf help "$name" | grep -q -- '--json'
    done
    for name in run mark help completion; do
        run probelauf "$name" --json x
        fails "$(usage_code "$name")" usage-unknown-option
    done
}

# ---- completion ----

@test "completions/probelauf.SHELL is what the program prints" {
    local shell
    for shell in bash zsh fish; do
        run diff "$SOURCE/completions/probelauf.$shell" <(probelauf completion "$shell")
        [ "$status" -eq 0 ]
    done
}

# What bash would offer for the words given, the last one being typed.
complete_words() {
    probelauf completion bash >complete.bash
    PATH=$(dirname "$PROBELAUF"):$PATH bash -c 'source ./complete.bash; unset -f _command_offset
        COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _probelauf; printf "%s\n" "${COMPREPLY[@]}"' _ "$@"
}

@test "completion: commands, verbs, options, values, phases" {
    run complete_words probelauf sh
    [ "$output" = show ]
    run complete_words probelauf block g
    [ "$output" = gate ]
    run complete_words probelauf completion ''
    [ "$output" = $'bash\nzsh\nfish\nwords' ]
    run complete_words probelauf run --max-t
    [ "$output" = --max-time ]
    run complete_words probelauf run --purpose t
    [ "$output" = trial ]
    run complete_words probelauf run --purpose=w
    [ "$output" = --purpose=work ]
    run complete_words probelauf mark lo
    [ "$output" = load ]
    probelauf run -q -- true
    probelauf log >/dev/null
    run complete_words probelauf show @
    [ "$output" = @1 ]
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

# ---- run, log, show, compare, annotate on real runs ----

@test "run: output is the command's, our words come on standard error, -q silences them" {
    run --separate-stderr probelauf run -- sh -c 'echo out; echo err >&2'
    [ "$status" -eq 0 ]
    [ "$output" = out ]
    [[ "$stderr" == err* ]]
    [ "$stderr" != err ]
    run --separate-stderr probelauf run -q -- sh -c 'echo out; echo err >&2'
    [ "$output" = out ]
    [ "$stderr" = err ]
}

@test "run: the status is the command's; 127, 126 and 124 are ours" {
    run probelauf run -q -- sh -c 'exit 7'
    [ "$status" -eq 7 ]
    run probelauf run -q -- sh -c 'kill -TERM $$'
    [ "$status" -eq 143 ]
    run -127 probelauf run -q -- ./missing
    : >plain
    run probelauf run -q -- ./plain
    [ "$status" -eq 126 ]
    run probelauf run -q --max-time 200ms --grace 1s -- sleep 60
    [ "$status" -eq 124 ]
}

@test "run: everything the options say is in the record" {
    : >in.txt
    probelauf run -q -cratio=0.3 -c seed=1 --step fetch --purpose function-test --phase data --note 'a remark' \
        --change one --change two --input in.txt --output out.txt --expect file=out.txt --expect marker=done \
        -- sh -c 'echo done; echo x >out.txt'
    run probelauf show --json
    [ "$status" -eq 0 ]
    [ "$(json 'd["condition"]')" = '{"ratio": "0.3", "seed": "1"}' ]
    [ "$(json 'd["step"]')" = fetch ]
    [ "$(json 'd["purpose"]')" = function-test ]
    [ "$(json 'd["note"]')" = "a remark" ]
    [ "$(json 'd["changes"]')" = '["one", "two"]' ]
    [ "$(json 'd["time"]["phases"]["data"]["state"]')" = measured ]
    [ "$(json 'd["verified"]')" = yes ]
    valid_schema run
}

@test "run: a value of a condition is kept although its name sounds like a secret" {
    probelauf run -q -c max_tokens=512 -- true
    run probelauf show --json
    [ "$(json 'd["condition"]["max_tokens"]')" = 512 ]
}

@test "run: secrets in notes, changes and conditions are masked" {
    local secret=hf_abcdefghijklmnopqrstuvwxyzABCDEFGH
    probelauf run -q -c "from=$secret" --note "with $secret" --change "now $secret" -- true
    run probelauf show --json
    lacks "$secret"
    has '[masked]'
}

@test "run --retry: attempts are records of their own, the status is the last one's" {
    run probelauf run -q --retry 2 -- sh -c 'echo x >>tries; exit 3'
    [ "$status" -eq 3 ]
    [ "$(wc -l <tries)" -eq 3 ]
    run probelauf log --json
    [ "$(json 'len(d["runs"])')" = 3 ]
}

@test "log: newest first, pages, filters" {
    local n
    for n in 1 2 3; do
        probelauf run -q --purpose trial -- sh -c "exit $((n - 1))" || true
    done
    probelauf run -q --purpose work -- echo needle >out
    run probelauf log --json
    [ "$status" -eq 0 ]
    valid_schema log
    [ "$(json 'len(d["runs"])')" = 4 ]
    [ "$(json 'd["next"]')" = null ]
    local all=$output
    run probelauf log --json --limit 3
    [ "$(json 'len(d["runs"])')" = 3 ]
    local next
    next=$(json 'd["next"]')
    run probelauf log --json --limit 3 --after "$next"
    [ "$(json 'len(d["runs"])')" = 1 ]
    [ "$(json 'd["next"]')" = null ]
    run probelauf log --json --limit 0
    [ "$output" = "$all" ]
    run probelauf log --json --outcome failed
    [ "$(json 'len(d["runs"])')" = 2 ]
    run probelauf log --json --purpose work
    [ "$(json 'len(d["runs"])')" = 1 ]
    run probelauf log --json --text needle
    [ "$(json 'len(d["runs"])')" = 1 ]
    run probelauf log --json --since 1h
    [ "$(json 'len(d["runs"])')" = 4 ]
    run probelauf log --json --since 2090-01-01
    [ "$(json 'len(d["runs"])')" = 0 ]
    valid_schema log
    run probelauf log --since yesterday
    fails 2 usage-bad-value
    run probelauf log --outcome oom
    fails 2 usage-bad-value
    run probelauf log --limit 2
    has "--after"
    run probelauf log -q --limit 2
    lacks "--after"
}

@test "log without any run" {
    run probelauf log --json
    [ "$status" -eq 0 ]
    [ "$(json 'd["runs"]')" = '[]' ]
    run probelauf log
    [ "$status" -eq 0 ]
}

@test "a running run is listed and shown" {
    mkfifo gate
    probelauf run -q -- sh -c 'echo started >here; read x <gate' 3>&- &
    local tries=0
    while [ ! -s here ] && [ "$tries" -lt 1200 ]; do
        sleep 0.05
        tries=$((tries + 1))
    done
    run probelauf log --json --outcome running
    local listed=$output
    run probelauf show --json
    local shown=$output
    echo go >gate
    wait
    output=$listed
    [ "$(json 'len(d["runs"])')" = 1 ]
    output=$shown
    [ "$(json 'd["outcome"]["class"]')" = running ]
    run probelauf show --json
    [ "$(json 'd["outcome"]["class"]')" = ok ]
}

@test "show: the latest, by number, by the end of its id; and what is not there" {
    probelauf run -q -- echo first >out
    probelauf run -q -- echo second >out
    run probelauf show --json
    [ "$(json 'd["command"][1]')" = second ]
    local id
    id=$(json 'd["run"]')
    run probelauf show @2 --json
    [ "$(json 'd["command"][1]')" = first ]
    run probelauf show "${id: -6}" --json
    [ "$(json 'd["run"]')" = "$id" ]
    run probelauf show
    [ "$status" -eq 0 ]
    has second
    run probelauf show @9
    fails 1 run-not-found
    run probelauf show zzzz
    fails 1 run-not-found
}

@test "a ledger that cannot be had is a warning as long as there are journals" {
    mkdir -p journals
    : >no-folder
    run --separate-stderr probelauf log --json --ledger sqlite:no-folder/ledger.db --journal-dir journals
    [ "$status" -eq 0 ]
    [ "$(json 'd["runs"]')" = '[]' ]
    [[ "$stderr" == "probelauf: warning: "* ]]
    run probelauf ledger info --ledger sqlite:no-folder/ledger.db --journal-dir journals
    fails 1 ledger-unavailable
}

@test "compare: two runs" {
    probelauf run -q -- true
    probelauf run -q -- sh -c 'exit 1' || true
    run probelauf compare @2 @1
    [ "$status" -eq 0 ]
    run probelauf compare @2 @1 --json
    [ "$(json 'd["schema"]')" = probelauf.compare/1 ]
    valid_schema compare
}

@test "annotate: invalid with a reason, valid again, notes" {
    probelauf run -q -- true
    run probelauf annotate @1
    fails 2 usage-operands
    run probelauf annotate @1 --invalid
    fails 2 usage-needs
    run probelauf annotate @1 --why x
    fails 2 usage-needs
    run probelauf annotate @1 --invalid --valid --why x
    fails 2 usage-conflict
    run probelauf annotate @1 --invalid --why 'wrong checkpoint'
    [ "$status" -eq 0 ]
    run probelauf show --json
    [ "$(json 'd["validity"]["state"]')" = invalid ]
    [ "$(json 'd["validity"]["why"]')" = "wrong checkpoint" ]
    valid_schema run
    run probelauf annotate -q @1 --valid --change 'larger batch' --disposition 'kept'
    [ -z "$output" ]
    run probelauf show --json
    [ "$(json 'd["validity"]["state"]')" = valid ]
    [ "$(json 'd["changes"]')" = '["larger batch"]' ]
    [ "$(json 'd["disposition"]')" = kept ]
    run probelauf annotate @7 --note x
    fails 1 run-not-found
}

@test "explain a run" {
    probelauf run -q -- sh -c 'echo "OSError: [Errno 28] No space left on device: /data/out"; exit 1' >out || true
    run probelauf explain --json
    [ "$(json 'd["class"]')" = disk_full ]
    [ "$(json 'd["incidents"][0]["name"]')" = disk_full ]
    valid_schema explain
    run probelauf explain @1
    has disk_full
}

@test "ledger: info, check, purge" {
    probelauf run -q -- true
    probelauf run -q -- true
    run probelauf ledger info --json
    [ "$status" -eq 0 ]
    [ "$(json 'd["runs"]')" = 2 ]
    valid_schema ledger
    run probelauf ledger info
    has "runs: 2"
    run probelauf ledger check --json
    [ "$status" -eq 0 ]
    [ "$(json 'd["sound"]')" = true ]
    valid_schema ledger-check
    run probelauf ledger purge
    fails 2 usage-operands
    run probelauf ledger purge @1
    [ "$status" -eq 0 ]
    run probelauf log --json
    [ "$(json 'len(d["runs"])')" = 2 ]
    run probelauf ledger purge @1 --yes
    [ "$status" -eq 0 ]
    run probelauf log --json
    [ "$(json 'len(d["runs"])')" = 1 ]
    run probelauf ledger purge --older-than 2000-01-01 --yes
    [ "$status" -eq 0 ]
    run probelauf ledger purge --older-than 2090-01-01 --yes
    run probelauf log --json
    [ "$(json 'len(d["runs"])')" = 0 ]
    run probelauf ledger purge --json x
    fails 2 usage-conflict
    run probelauf ledger info --yes
    fails 2 usage-conflict
}

@test "ledger rebuild and check of a damaged file" {
    probelauf run -q -- true
    probelauf log >out
    run probelauf ledger rebuild
    [ "$status" -eq 0 ]
    local ledger
    ledger=$(find "$XDG_DATA_HOME" -name ledger.db)
    printf 'no database at all, whatever it was before; long enough to be one' >"$ledger"
    rm -f "$ledger-wal" "$ledger-shm"
    run probelauf ledger check
    [ "$status" -eq 1 ]
    [[ "${lines[0]}" == "probelauf: error[ledger-"* ]]
}

# ---- the same for programs whatever the locale ----

@test "JSON is byte-identical in every locale" {
    probelauf run -q -c size=1.5 -- sh -c 'sleep 0.1'
    probelauf run -q -- true
    probelauf log >out
    local command
    for command in "show @1" "show @2" log "compare @2 @1" "explain @1" "ledger info" config \
        "estimate --repeat 3"; do
        # shellcheck disable=SC2086 # words on purpose
        run probelauf $command --json
        [ "$status" -eq 0 ]
        local plain=$output
        # by env, or bash itself would warn of languages that are not installed
        run env LC_ALL=C "$PROBELAUF" $command --json
        [ "$output" = "$plain" ]
        run env LC_ALL=de_DE.UTF-8 "$PROBELAUF" $command --json
        [ "$output" = "$plain" ]
        run env LC_ALL= LANG=fr_FR.UTF-8 LANGUAGE=ko "$PROBELAUF" $command --json
        [ "$output" = "$plain" ]
        run env LC_ALL=C TERM=dumb COLUMNS=20 NO_COLOR=1 "$PROBELAUF" $command --json
        [ "$output" = "$plain" ]
        CLICOLOR_FORCE=1 run probelauf $command --json
        [ "$output" = "$plain" ]
    done
}

# ---- colours, characters, width ----

@test "colour on a terminal, unless CLICOLOR is 0 or the terminal is dumb" {
    probelauf run -q -- true
    run -0 script -qec "'$PROBELAUF' show" /dev/null
    has $'\033['
    CLICOLOR=1 run -0 script -qec "'$PROBELAUF' show" /dev/null
    has $'\033['
    CLICOLOR=0 run -0 script -qec "'$PROBELAUF' show" /dev/null
    lacks $'\033['
    CLICOLOR=0 CLICOLOR_FORCE=1 run -0 script -qec "'$PROBELAUF' show" /dev/null
    has $'\033['
    TERM=dumb run -0 script -qec "'$PROBELAUF' show" /dev/null
    lacks $'\033['
}

@test "colour: option over NO_COLOR over CLICOLOR_FORCE over the terminal" {
    probelauf run -q -- sh -c 'exit 1' || true
    local escape=$'\033['
    run probelauf show
    lacks "$escape"
    run probelauf show --color always
    has "$escape"
    CLICOLOR_FORCE=1 run probelauf show
    has "$escape"
    CLICOLOR_FORCE=0 run probelauf show
    lacks "$escape"
    NO_COLOR=1 CLICOLOR_FORCE=1 run probelauf show
    lacks "$escape"
    NO_COLOR=1 run probelauf show --color always
    has "$escape"
    CLICOLOR_FORCE=1 run probelauf show --color never
    lacks "$escape"
    mkdir -p "$XDG_CONFIG_HOME/probelauf"
    echo 'color: always' >"$XDG_CONFIG_HOME/probelauf/config.yaml"
    run probelauf show
    has "$escape"
    PROBELAUF_COLOR=never run probelauf show
    lacks "$escape"
}

@test "characters beyond ASCII only where the locale says UTF-8 and the terminal is not dumb" {
    probelauf run -q -- sh -c 'sleep 0.3'
    ascii_only() {
        [ -z "$(LC_ALL=C grep -n '[^ -~]' <<<"$output")" ]
    }
    run env LC_ALL=en_US.UTF-8 "$PROBELAUF" show
    run ! ascii_only
    LC_ALL=C run probelauf show
    ascii_only
    run env LC_ALL= LC_CTYPE=C LANG=en_US.UTF-8 "$PROBELAUF" show
    ascii_only
    run env LC_ALL= LC_CTYPE= LANG=C.utf8 "$PROBELAUF" show
    run ! ascii_only
    run env LC_ALL= LC_CTYPE= LANG= "$PROBELAUF" show
    ascii_only
    TERM=dumb run probelauf show
    ascii_only
}

@test "lines fit the width" {
    probelauf run -q --note "$(printf 'word %.0s' {1..60})" -- sh -c 'sleep 0.2'
    local columns
    for columns in 60 100; do
        COLUMNS=$columns LC_ALL=C run probelauf show
        [ -z "$(awk -v max="$columns" 'length > max' <<<"$output")" ]
    done
}

# ---- where nobody listens ----

@test "run: a reader of standard error that has gone does not change the status" {
    run bash -c '{ "$PROBELAUF" run -- sh -c "sleep 0.3; exit 3"; echo $? >code; } 2> >(exec <&-; exec true)'
    [ "$(cat code)" = 3 ]
    run probelauf log --json
    [ "$(json 'len(d["runs"])')" = 1 ]
}

@test "run: closed standard streams stay closed and nothing of ours lands in the record" {
    run bash -c '"$PROBELAUF" run -- sh -c "exit 3" <&- >&- 2>&-'
    [ "$status" -eq 3 ]
    run probelauf ledger check
    [ "$status" -eq 0 ]
    run probelauf show --json
    [ "$(json 'd["outcome"]["exit_code"]')" = 3 ]
    [ "$(json 'd["streams"]["stderr"]["was"]')" = closed ]
}

@test "a closed standard error does not get our words into the ledger" {
    probelauf run -q -- true
    run bash -c '"$PROBELAUF" show @9 2>&-'
    [ "$status" -eq 1 ]
    [ -z "$output" ]
    run probelauf ledger check
    [ "$status" -eq 0 ]
}
