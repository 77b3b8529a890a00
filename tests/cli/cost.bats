#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Money on the command line: estimate --offer, --compare, --studies, run --max-cost. The bills themselves are tested
# in tests/rules/test-cost-bill.c.

load study-common

# An offer for the environment `here`; further keys as given, before the fixed ones.
offer() {
    local id=$1 rate=$2 currency=$3
    shift 3
    printf '  - {id: %s, environment: here, rate: %s, currency: %s, per: hour, increment: 0s, minimum: 0s' "$id" "$rate" "$currency"
    printf ', %s' setup_fee:\ 0 storage_running:\ 0 storage_stopped:\ 0 transfer_in:\ 0 transfer_out:\ 0 tax_included:\ yes \
        interruptible:\ no seen:\ 2020-01-01 "$@"
    printf '}\n'
}

VALID='valid_until: 2099-12-31'

# offers LINE...: a study with them
offers() {
    make_study
    { echo offers: && printf '%s\n' "$@"; } >>probelauf.yaml
    commit offers
}

refused() {
    fails 125 "$1"
    has "not started"
    [ ! -e touched ]
    [ "$(probelauf log --json | python -c 'import json, sys; print(len(json.load(sys.stdin)["runs"]))')" -eq 0 ]
}

@test "--max-cost stops the run at the time that the amount allows" {
    offers "$(offer a 36 EUR "$VALID" 'source: quote 1')"
    # 0.01 EUR at 0.01 EUR a second
    run probelauf run --env here --max-cost 0.01EUR --grace 0s -- src/work sleep 30
    [ "$status" -eq 124 ]
    has "0.01 EUR under offer 'a' (36.00 EUR per hour)"
    has "the time that --max-cost allows was used up"
    run probelauf show --json @1
    [ "$(json 'd["outcome"]["class"]')" = budget ]
    record START | grep '"max_cost":{"micros":10000,"text":"0.010000","currency":"EUR","offer":"a","max_time_ns":1000000000}'
}

@test "--max-cost: what it allows is enough, or --max-time is shorter" {
    offers "$(offer a 36 EUR "$VALID" 'source: quote 1')"
    run probelauf run --env here --max-cost 100EUR -- src/work sleep 0.01
    [ "$status" -eq 0 ]
    run probelauf run --env here --max-cost 100EUR --max-time 0.2s --grace 0s -- src/work sleep 30
    [ "$status" -eq 124 ]
    has "the time of --max-time was used up"
}

@test "--max-cost: the only usable offer says the environment, too" {
    offers "$(offer a 36 EUR "$VALID" 'source: quote 1')"
    sed -i 's/^environments:.*/&\n  - {id: other, kind: rented, gpus: 0}/' probelauf.yaml
    commit 'another environment'
    run probelauf run --max-cost 100EUR -- src/work sleep 0.01
    [ "$status" -eq 0 ]
    has "under offer 'a'"
    # two that can be relied on: nobody guesses
    printf '%s\n' "$(offer b 10 EUR "$VALID" 'source: quote 2' | sed 's/environment: here/environment: other/')" >>probelauf.yaml
    run probelauf run --max-cost 100EUR -- touch touched
    fails 125 max-cost-offer
    [ ! -e touched ]
}

@test "--max-cost without a usable offer: refused before the command starts" {
    offers "$(offer a 2 EUR "$VALID")" # without a source
    run probelauf run --max-cost 20EUR --env here -- touch touched
    refused max-cost-offer
    has "missing: its source"
    run probelauf run --max-cost 20EUR --offer b -- touch touched
    refused max-cost-offer
    has "no offer 'b'"
    run probelauf run --max-cost 20EUR --plan none -- touch touched
    refused max-cost-offer
    has "no plan"
}

@test "--max-cost: expired, too many offers, another environment" {
    offers "$(offer a 2 EUR 'valid_until: 2021-01-01' 'source: quote 1')" \
        "$(offer b 2 EUR "$VALID" 'source: quote 1')" "$(offer c 3 EUR "$VALID" 'source: quote 2')"
    run probelauf run --max-cost 20EUR --offer a -- touch touched
    refused max-cost-offer
    has expired
    run probelauf run --max-cost 20EUR --env here -- touch touched
    refused max-cost-offer
    has "2 offers are usable"
    run probelauf run --max-cost 20EUR -- touch touched
    refused max-cost-offer
    has "which environment"
    run probelauf run --max-cost 20EUR --env there --offer b -- touch touched
    refused max-cost-offer
    has "for environment 'here'"
    run probelauf run --max-cost 20EUR --offer b -- touch done
    [ "$status" -eq 0 ]
    [ -e done ]
}

@test "--max-cost: the offer of the session is meant" {
    offers "$(offer b 2 EUR "$VALID" 'source: quote 1')" "$(offer c 3 EUR "$VALID" 'source: quote 2')"
    probelauf session start --offer c --env here
    run probelauf run --max-cost 20EUR -- src/work sleep 0.01
    [ "$status" -eq 0 ]
    has "under offer 'c'"
    run probelauf session status --json
    [ "$(json 'd["session"]["amount"]["currency"] if "session" in d and isinstance(d["session"], dict) else "EUR"')" = EUR ]
    probelauf session stop
}

@test "--max-cost: another currency, no time for it, no amount" {
    offers "$(offer a 2 EUR "$VALID" 'source: quote 1' | sed 's/minimum: 0s/minimum: 10h/')"
    run probelauf run --env here --max-cost 100USD -- touch touched
    refused max-cost-currency
    has "nothing is converted"
    run probelauf run --env here --max-cost 19.99EUR -- touch touched
    refused max-cost-short
    has "20.00 EUR"
    for amount in 20 0EUR -1EUR EUR 1.0000001EUR 20,00EUR 1e3EUR 20EURO '20EUR ' '1EUR; ls' 1.000EUR; do
        run probelauf run --env here "--max-cost=$amount" -- touch touched
        fails 125 usage-bad-value
    done
    run probelauf run --max-cost 20EUR --retry 1 -- touch touched
    fails 125 usage-conflict
    run probelauf run --offer a -- touch touched
    fails 125 usage-needs
    [ ! -e touched ]
}

@test "estimate: an amount under the cheapest offer, or under --offer" {
    offers "$(offer a 2 EUR "$VALID" 'source: quote 1')" "$(offer b 1 EUR "$VALID" 'source: quote 2')" \
        "$(offer c 1 EUR 'source: quote 2')"
    study_run 1
    run probelauf estimate --json --set '*.run-time=1h'
    run probelauf estimate --json
    [ "$(json 'd["amount"]["state"]')" = estimated ]
    [ "$(json 'd["amount"]["bound"]')" = at-least ]
    [ "$(json 'd["cost"]["chosen"]')" = b ]
    [ "$(json '[o["usable"] for o in d["cost"]["offers"]]')" = '[true, true, false]' ]
    [ "$(json 'any("valid" in m for m in d["missing"])')" = true ]
    b=$(json 'd["amount"]["micros"]')
    run probelauf estimate --json --offer a
    [ "$(json 'd["cost"]["chosen"]')" = a ]
    [ "$(json 'd["amount"]["micros"]')" -ge "$b" ]
    run probelauf estimate
    has "Cost of what is left"
    has "not in it: "
    has "offer 'c'"
    run probelauf estimate --offer nowhere
    fails 2 estimate-offer
    has "'nowhere'"
}

@test "estimate --compare: changed offers and the amount" {
    offers "$(offer a 2 EUR "$VALID" 'source: quote 1')" "$(offer old 9 EUR "$VALID" 'source: quote 0')"
    study_run 1
    probelauf estimate --freeze first
    sed -i '/id: old/d; s/id: a, environment: here, rate: 2,/id: a, environment: here, rate: 3,/' probelauf.yaml
    offer new 8 EUR "$VALID" 'source: quote 3' >>probelauf.yaml
    run probelauf estimate --compare first --json
    [ "$(json '[[o["id"], o["state"]] for o in d["money"]["offers"]]')" = '[["a", "changed"], ["new", "new"], ["old", "gone"]]' ]
    [ "$(json '[t for t in d["money"]["offers"][0]["terms"]]')" = '[{"term": "rate", "before": "2.000000", "after": "3.000000"}]' ]
    [ "$(json 'd["money"]["after"]["micros"] >= d["money"]["before"]["micros"]')" = true ]
    run probelauf estimate --compare first
    has "offer 'a', rate: 3.000000, before: 2.000000"
    has "offer 'old' is not there any more"
    run probelauf estimate --studies --json
    [ "$(json '[a["currency"] for a in d["amounts"]]')" = '["EUR"]' ]
    run probelauf estimate --studies
    has "each currency on its own"
}
