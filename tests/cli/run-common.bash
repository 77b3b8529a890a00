# SPDX-License-Identifier: GPL-3.0-or-later
# What the run-*.bats files share: `load run-common`.
#   record KIND     the lines of that kind in the newest journal's text view
#   no_record KIND [TEXT]  there is no such line (with that text in it)
#   shown EXPR      a Python expression over `show --json @1`, called `d`, printed
#   holds EXPR [WHAT]  that expression is true; else WHAT of the same document is printed (the GPUs without it)
#   runs_in_ledger  how many there are
#   appears FILE    waits until there is something in it
#   until_true CMD  waits until the command succeeds
#   ledger_has N    so many runs are in it
#   nothing_waits [FOLDER]  the recorders are done: no journal is left there
#   helper PID NAME the process of that name that monitor PID has started
#   long            is the long suite wanted (PROBELAUF_TEST_LONG; common_setup clears PROBELAUF_*)

PROBELAUF_TEST_LONG_=${PROBELAUF_TEST_LONG-}
load common

setup() {
    common_setup
    : "${CHILD:?set CHILD to the built child program}"
    export PROBELAUF
}

# Two minutes are for the slowest machine; what does not come in them does not come.
until_true() {
    local end=$((SECONDS + 120))
    until "$@"; do
        if [ "$SECONDS" -ge "$end" ]; then
            echo "waited in vain for: $*"
            return 1
        fi
        sleep 0.02
    done
}

appears() {
    until_true test -s "$1"
}

ledger_has() {
    [ "$(runs_in_ledger)" -eq "$1" ]
}

nothing_waits() {
    [ -z "$(find "${1:-$HOME/data/probelauf/journals}" -name '*.journal*' 2>/dev/null)" ]
}

helper() {
    pgrep -P "$1" -x "$2"
}

long() {
    [ -n "$PROBELAUF_TEST_LONG_" ]
}

record() {
    probelauf export journal --text @1 | grep "^[0-9]* $1 "
}

no_record() {
    if record "$1" | grep -e "${2-}"; then
        return 1
    fi
}

shown() {
    run probelauf show --json @1
    json "$1"
}

holds() {
    if [ "$(shown "$1")" != true ]; then
        echo "not true: $1"
        shown "${2-d['gpus']}"
        return 1
    fi
}

runs_in_ledger() {
    probelauf log --limit 0 --json | python -c 'import json, sys; print(len(json.load(sys.stdin)["runs"]))'
}
