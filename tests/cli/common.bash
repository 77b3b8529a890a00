# SPDX-License-Identifier: GPL-3.0-or-later
# What every bats file here loads: `load common`. Each test gets a home, XDG folders and a temporary folder of
# shellcheck shell=bash disable=SC2154 # bats sets status, output and lines
# its own, so that no test sees records or settings of another one or of the user.
#   probelauf …     the program under test (the built binary in $PROBELAUF)
#   fails CODE ID   the last `run` ended with CODE and one line "probelauf: error[ID]: …"
#   json EXPR       evaluates a Python expression over the parsed $output, called `d`, and prints it; fails where it is
#                   False, so that a comparison may stand alone
#   valid_schema N  $output validates against schema/N.schema.json (skips without python3-jsonschema)

bats_require_minimum_version 1.5.0

: "${PROBELAUF:?set PROBELAUF to the built program}"
SOURCE=${PROBELAUF_SOURCE:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}

common_setup() {
    local name
    for name in $(compgen -e PROBELAUF_); do
        unset "$name"
    done
    unset LANGUAGE LC_CTYPE LC_MESSAGES NO_COLOR CLICOLOR_FORCE COLUMNS
    export LC_ALL=C.UTF-8 LANG=C.UTF-8
    export HOME=$BATS_TEST_TMPDIR/home TMPDIR=$BATS_TEST_TMPDIR/tmp
    export XDG_CONFIG_HOME=$HOME/config XDG_DATA_HOME=$HOME/data XDG_STATE_HOME=$HOME/state
    export XDG_CACHE_HOME=$HOME/cache
    # a disk of a busy machine may stand still for longer than people are made to wait
    export PROBELAUF_RECORD_WAIT=60s
    mkdir -p "$HOME" "$TMPDIR"
    cd "$BATS_TEST_TMPDIR" || return
}

setup() {
    common_setup
}

probelauf() {
    "$PROBELAUF" "$@"
}

# Status and stable error id, and that the complaint is exactly one line.
fails() {
    if [ "$status" -ne "$1" ]; then
        echo "status $status instead of $1: $output"
        return 1
    fi
    if [ "${#lines[@]}" -ne 1 ] || [[ "${lines[0]}" != "probelauf: error[$2]: "* ]]; then
        echo "not one line 'probelauf: error[$2]: …': $output"
        return 1
    fi
}

# The exit code of a usage error: below 125 everything that `run` returns is the command's own.
usage_code() {
    if [ "$1" = run ]; then echo 125; else echo 2; fi
}

has() {
    if [[ "$output" != *"$1"* ]]; then
        echo "'$1' is not in: $output"
        return 1
    fi
}

lacks() {
    if [[ "$output" == *"$1"* ]]; then
        echo "'$1' is in: $output"
        return 1
    fi
}

python() {
    local candidate
    for candidate in /usr/bin/python3 python3; do
        if command -v "$candidate" >/dev/null; then
            "$candidate" "$@"
            return
        fi
    done
    return 127
}

json() {
    # by standard input: an argument holds no more than 128 KiB
    python -c 'import json, sys
d = json.load(sys.stdin)
v = eval(sys.argv[1])
print(v if isinstance(v, str) else json.dumps(v))
sys.exit(v is False)' "$1" <<<"$output"
}

valid_schema() {
    if ! python -c 'import jsonschema' 2>/dev/null; then
        skip "python3-jsonschema is not installed"
    fi
    if [ ! -e "$SOURCE/schema/$1.schema.json" ]; then
        skip "schema/$1.schema.json does not exist"
    fi
    # The document names its schema itself; it must be the expected one.
    [[ "$output" == *"\"schema\": \"probelauf.$1/"* ]] || [[ "$output" == *"\"schema\":\"probelauf.$1/"* ]]
    printf '%s' "$output" >"$BATS_TEST_TMPDIR/document.json"
    python "$BATS_TEST_DIRNAME/../validate.py" "$SOURCE/schema" "$BATS_TEST_TMPDIR/document.json"
}
