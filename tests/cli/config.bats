#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Settings: option > variable > file > built-in, where each comes from, and everything the file may not hold.

load common

config() {
    mkdir -p "$XDG_CONFIG_HOME/probelauf"
    cat >"$XDG_CONFIG_HOME/probelauf/config.yaml"
}

FILE=probelauf/config.yaml

# value and origin of a key, as JSON says them
setting() {
    json "next((s['value'] or '-') + ' ' + s['origin'] for s in d['settings'] if s['key'] == '$1')"
}

# the file is refused: ID, then what the message must hold
refused() {
    run probelauf config
    fails 1 "$1"
    has "$2"
}

@test "without a file everything is built in" {
    unset PROBELAUF_RECORD_WAIT
    run probelauf config --json
    [ "$status" -eq 0 ]
    [ "$(json 'd["schema"]')" = probelauf.config/1 ]
    [ "$(setting linger)" = "10s built-in" ]
    [ "$(setting record-wait)" = "5s built-in" ]
    [ "$(setting grace)" = "30s built-in" ]
    [ "$(setting tee)" = "auto built-in" ]
    [ "$(setting color)" = "auto built-in" ]
    [ "$(setting lang)" = "- built-in" ]
    [ "$(json 'd["file"]')" = "$XDG_CONFIG_HOME/$FILE" ]
    [ "$(json 'len(d["journal_dirs"]) > 0')" = true ]
    valid_schema config
}

@test "the file is over the built-in, a variable over the file, an option over both" {
    printf 'grace: 5s\ncolor: never\n' | config
    run probelauf config --json
    [ "$(setting grace)" = "5s file" ]
    [ "$(setting color)" = "never file" ]
    PROBELAUF_COLOR=always run probelauf config --json
    [ "$(setting color)" = "always variable" ]
    PROBELAUF_COLOR=always run probelauf config --json --color auto
    [ "$(setting color)" = "auto option" ]
}

@test "ledger and journal folder by each layer" {
    printf 'ledger: sqlite:%s/f.db\njournal-dir: %s/f\n' "$HOME" "$HOME" | config
    run probelauf config --json
    [ "$(setting ledger)" = "sqlite:$HOME/f.db file" ]
    [ "$(setting journal-dir)" = "$HOME/f file" ]
    export PROBELAUF_LEDGER=sqlite:$HOME/v.db PROBELAUF_JOURNAL_DIR=$HOME/v
    run probelauf config --json
    [ "$(setting ledger)" = "sqlite:$HOME/v.db variable" ]
    [ "$(setting journal-dir)" = "$HOME/v variable" ]
    run probelauf config --json --ledger "sqlite:$HOME/o.db" --journal-dir "$HOME/o"
    [ "$(setting ledger)" = "sqlite:$HOME/o.db option" ]
    [ "$(setting journal-dir)" = "$HOME/o option" ]
}

@test "an empty variable is as if it were not there" {
    PROBELAUF_GRACE='' run probelauf config --json
    [ "$(setting grace)" = "30s built-in" ]
}

@test "--show-origin names line, variable and option" {
    printf '# mine\n\ngrace: 5s\n' | config
    PROBELAUF_LINGER=3s run probelauf config --show-origin --color never
    has "grace: 5s  ($XDG_CONFIG_HOME/$FILE:3)"
    has "linger: 3s  (PROBELAUF_LINGER)"
    has "color: never  (--color)"
    has "tee: auto  (built in)"
}

@test "without HOME and XDG_CONFIG_HOME there is no file" {
    run env -u HOME -u XDG_CONFIG_HOME "$PROBELAUF" config --json
    [ "$status" -eq 0 ]
    [ "$(json 'd["file"]')" = null ]
}

@test "a relative XDG_CONFIG_HOME does not count" {
    mkdir -p rel/probelauf "$HOME/.config/probelauf"
    echo 'grace: 1s' >rel/$FILE
    echo 'grace: 2s' >"$HOME/.config/$FILE"
    XDG_CONFIG_HOME=rel run probelauf config --json
    [ "$(setting grace)" = "2s file" ]
}

@test "an unreadable variable is an error that names it" {
    PROBELAUF_LINGER=soon run probelauf config
    fails 1 variable-bad-value
    has PROBELAUF_LINGER
    PROBELAUF_TEE=both run probelauf config
    fails 1 variable-bad-value
    PROBELAUF_COLOR=blue run probelauf config
    fails 1 variable-bad-value
}

@test "a broken file stops 'run' before the command, with 125" {
    echo 'grace: soon' | config
    run probelauf run -- touch started
    fails 125 config-bad-value
    [ ! -e started ]
}

@test "mark does not read the file" {
    echo 'grace: soon' | config
    PROBELAUF_MARKS=$BATS_TEST_TMPDIR/marks
    : >"$PROBELAUF_MARKS"
    export PROBELAUF_MARKS
    run probelauf mark load
    [ "$status" -eq 0 ]
}

@test "empty files and files of comments are fine" {
    printf '' | config
    run probelauf config
    [ "$status" -eq 0 ]
    printf '# nothing\n' | config
    run probelauf config
    [ "$status" -eq 0 ]
    printf -- '---\n' | config
    run probelauf config
    [ "$status" -eq 0 ]
    printf -- '{}\n' | config
    run probelauf config
    [ "$status" -eq 0 ]
}

@test "unknown keys, with a suggestion where one is near" {
    printf 'tee: auto\ngrase: 5s\n' | config
    refused config-unknown-key "$FILE:2:1: unknown key 'grase'; did you mean 'grace'?"
    printf 'zzzzzzzz: 5s\n' | config
    refused config-unknown-key "$FILE:1:1: unknown key 'zzzzzzzz'"
    lacks "did you mean"
}

@test "bad values, with line and column" {
    printf 'tee: auto\ngrace:   soon\n' | config
    refused config-bad-value "$FILE:2:10: 'grace' takes a duration"
    printf 'color: blue\n' | config
    refused config-bad-value "$FILE:1:8: 'color' takes"
    printf 'tee: both\n' | config
    refused config-bad-value "$FILE:1:6: 'tee' takes"
}

@test "a key without a value" {
    local value
    for value in '' '~' 'null' '""'; do
        printf 'ledger: %s\n' "$value" | config
        refused config-syntax "$FILE:1:1: 'ledger' has no value"
    done
}

@test "a key twice" {
    printf 'tee: auto\ntee: none\n' | config
    refused config-syntax "$FILE:2:1: 'tee' stands in line 1 already"
}

@test "nesting, lists, other documents" {
    printf 'ledger: {a: b}\n' | config
    refused config-syntax "$FILE:1:9: only lines"
    printf 'ledger:\n  - a\n' | config
    refused config-syntax "$FILE:2:3: only lines"
    printf -- '- a\n- b\n' | config
    refused config-syntax "$FILE:1:1: expected lines"
    printf 'just text\n' | config
    refused config-syntax "$FILE:1:1: expected lines"
    printf '? {a: b}\n: c\n' | config
    refused config-syntax "$FILE:1:3: a key must be a text"
    printf 'tee: auto\n---\ntee: none\n' | config
    refused config-syntax "$FILE:2:1: a second document"
}

@test "anchors, aliases, tags" {
    printf 'tee: &a auto\n' | config
    refused config-syntax "$FILE:1:6: anchors"
    printf '&a tee: auto\n' | config
    refused config-syntax "$FILE:1:1: anchors"
    printf '&a\ntee: auto\n' | config
    refused config-syntax "anchors"
    printf 'tee: *a\n' | config
    refused config-syntax "$FILE:1:6: aliases"
    printf 'tee: !!str auto\n' | config
    refused config-syntax "$FILE:1:6: tags"
    printf -- '--- !!map\ntee: auto\n' | config
    refused config-syntax "tags"
}

@test "what is not YAML" {
    printf 'tee: auto: none\n' | config
    refused config-syntax "$FILE:1:10: "
    printf 'tee: "auto\n' | config
    refused config-syntax "$FILE:"
    printf '\377\376\377\n' | config
    refused config-syntax "$FILE:"
    printf 'tee: "a\\0b"\n' | config
    refused config-syntax "$FILE:1:6: a zero byte"
}

@test "files over 64 KiB" {
    { printf 'tee: auto\n'; head -c 65536 /dev/zero | tr '\0' '#'; } | config
    refused config-unreadable "larger than 64 KiB"
}

@test "a folder, a FIFO, an unreadable file" {
    mkdir -p "$XDG_CONFIG_HOME/$FILE"
    refused config-unreadable "not a regular file"
    rmdir "$XDG_CONFIG_HOME/$FILE"
    mkfifo "$XDG_CONFIG_HOME/$FILE"
    refused config-unreadable "not a regular file"
    rm "$XDG_CONFIG_HOME/$FILE"
    [ "$(id -u)" -ne 0 ] || skip "root reads everything"
    echo 'tee: auto' | config
    chmod 0 "$XDG_CONFIG_HOME/$FILE"
    refused config-unreadable "cannot read"
}
