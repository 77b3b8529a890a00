#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# One study from its first day to its last: validate, trial, rent by blocks, review with a deviation in loading only, the
# next block planned anew in loading only. The runs are made as journals (study-journals.py) and taken in with `import
# journal`; the shipped program is asked at every step, on the day of that step (fixed-clock.c). What it hands over at the
# end is compared with golden-walk/ in four languages. WALK_GOLDEN_WRITE=1 writes those anew: read the difference.

load common

setup() {
    common_setup
    # preloaded after the sanitizers' own library, which wants to be first
    export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0
    export USER=tester
    plan >probelauf.yaml
}

# on DAY [HOUR]: of November 2026; what follows is asked at that time
on() {
    FIXED_UTC=$(date -u -d "2026-11-$1 ${2-12}:00:00" +%s)
    export FIXED_UTC
}

probelauf() {
    LD_PRELOAD=$FIXED_CLOCK "$PROBELAUF" "$@"
}

plan() {
    cat <<'YAML'
probelauf: 1
study:
  id: 01936a5e-4f00-7c2a-9b1d-5d0c3a7e8f21
  title: How much of a cache can go?
  paper: {title: A paper, version: v2}
  scope: main-result
claims:
  - {id: half, text: half of the cache does, result: agreement, where: {keep: "0.5"}, threshold: ">= 0.9", source: table 2}
facts:
  - {id: code.licence, about: code, state: known, value: MIT, source: LICENSE, source_kind: repository, seen: 2026-10-20}
  - {id: weights.access, about: weights, state: known, value: public, source: model card, source_kind: repository, seen: 2026-10-20}
environments:
  - {id: rented, kind: rented, gpu: Example GPU 40, gpus: 1, driver: "550.54.15", accelerator: cuda,
     capacity: {gpu_memory: 40 GiB, host_memory: 64 GiB, source: the offer}}
code:
  requires: {accelerators: [cuda], source: "build.py:12"}
steps:
  - {name: install, component: prepare, run: pip install ., needs_machine: yes, repeats: per-rental}
blocks:
  - id: validate
    kind: validate
    extent: validation
    recurrence: one-off
    question: do code, weights and inputs work together?
    state: chosen
    steps: [install]
    fixed: {model: small}
    matrix: {keep: {values: [1], state: chosen}}
    runs: 1
    command: generate {model} {keep}
    expect: ["marker=done"]
  - id: compare
    kind: compare
    extent: full
    recurrence: one-off
    question: does half of the cache do?
    state: confirmed
    source: section 4
    claims: [half]
    needs: [validate]
    steps: [install]
    fixed: {model: large}
    matrix: {keep: {values: [1, 0.5], state: confirmed, source: table 2}}
    runs: 3
    command: generate {model} {keep}
    expect: ["marker=done"]
    results: [{name: agreement, unit: "1"}]
    gate: the repeats agree within 0.02
    retry: {max: 1}
  - id: confirm
    kind: verify
    extent: full
    recurrence: one-off
    question: is it the same once more?
    state: chosen
    needs: [compare]
    steps: [install]
    fixed: {model: large}
    matrix: {keep: {values: [0.5], state: chosen}}
    runs: 10
    command: generate {model} {keep}
    expect: ["marker=done"]
    results: [{name: agreement, unit: "1"}]
    verify: {of: compare, result: agreement, tolerance: "0.02"}
    retry: {max: 1}
validation: {max_time: 2h, max_cost: 5, currency: EUR, stop_condition: it fails to start twice, result: one text}
rental: {storage: 50 GB, between: deleted, wait_between: 2h, who: Kim, when: 2026-10-20, why: the gate is discussed on the next day}
calendar:
  compare: {start: 2026-11-05, end: 2026-11-06}
  confirm: {start: 2026-11-12, end: 2026-11-13}
offers:
  - {id: offer-a, environment: rented, device: Example GPU 40, provider: Example Cloud, gpus_per_unit: 1, rate: 2.40,
     currency: EUR, per: hour, increment: 1min, minimum: 1h, maximum: 30d, units_available: 2, provisioning: 10min,
     setup_fee: 0, storage_running: 0.08, storage_stopped: 0.04, transfer_in: 0, transfer_out: 0.09, interruptible: no,
     tax_included: no, tax_percent: 19, region: eu, availability: any day, source: quote 4711, seen: 2026-10-20,
     valid_until: 2026-12-31}
privacy: {class: none, may_transfer: yes, assessment: public prompts, retention: deleted with the machine, readers: the team, storage: eu}
YAML
}

# take NAME EPOCH < RECORDS: made and taken in
DEFAULTS='"environment": "rented", "command": ["generate", "{model}", "{keep}"], "expect": true, "driver": "550.54.15",
  "gpus": [{"uuid": "GPU-0a0b0c0d", "name": "Example GPU 40", "total": 42949672960, "process": 25769803776, "device": 26843545600}],
  "host_peak": 4294967296, "cpu": 600, "io": {"read": 1000000, "written": 500, "read_chars": 1000, "written_chars": 500}'
take() {
    probelauf block list --json >blocks.json || return
    { printf '{"epoch": "%s", "defaults": {%s}, "records": [' "$2" "$DEFAULTS"; cat; printf ']}'; } >"$1.json"
    python "$SOURCE/tests/cli/study-journals.py" "$1" "$1.json" --blocks blocks.json >/dev/null || return
    probelauf import journal -q "$1"/*.journal
}

INSTALL='"block": null, "condition": {}, "command": ["pip", "install", "."], "step": "install", "phase": "setup", "wall": 600'
# one BLOCK KEEP NAME AT LOAD COMPUTE AGREEMENT [MORE]: a record of a run
one() {
    printf '{"block": "%s", "condition": {"keep": "%s"}, "run": "%s", "at": %s, "phases": [["load", %s], ["compute", %s], ["write", 5]], "results": {"agreement": %s}%s}' \
        "$1" "$2" "$3" "$4" "$5" "$6" "$7" "${8-}"
}

session() { # session NAME UNTIL [NOTES]
    printf '{"session": "%s", "at": 0, "until": %s, "environment": "rented", "offer": "offer-a", "gpus": 1, "notes": [%s]}' "$1" "$2" "${3-}"
}

# ---- the days of the study ----

validate() {
    on 2
    take validate 2026-11-02T08:00:00Z <<JSON
$(session v 3000), {"run": "install-v", "session": "v", "at": 60, $INSTALL},
$(one validate 1 v1 900 60 300 0.99 ', "session": "v"')
JSON
}

trial() {
    on 3
    take trial 2026-11-03T08:00:00Z <<JSON
$(session t 16000), {"run": "install-t", "session": "t", "at": 60, $INSTALL},
$(one compare 1 t1 800 120 1800 0.99 ', "session": "t"'),
$(one compare 1 t2 3000 124 1830 0.98 ', "session": "t"'),
$(one compare 0.5 t3 5200 118 1500 0.94 ', "session": "t"'),
$(one compare 0.5 t4 7000 121 1480 0.93 ', "session": "t"')
JSON
}

# What is kept before a block is rented is what the review holds it against.
keep() {
    on 4
    probelauf estimate --freeze before-compare >/dev/null
}

# Loading takes seven minutes more than in the trial; nothing else is longer.
compare() {
    on 6
    take compare 2026-11-05T08:00:00Z <<JSON
$(session c 6000), {"run": "install-c", "session": "c", "at": 60, $INSTALL},
$(one compare 1 c1 700 540 1815 0.98 ', "session": "c", "purpose": "work"'),
$(one compare 0.5 c2 3200 541 1490 0.94 ', "session": "c", "purpose": "work"')
JSON
}

gate() {
    on 6 9
    probelauf block gate compare go-on --why "they agree" >/dev/null
}

# What does not belong into a document that is compared: the version, and the last digits of what was drawn by chance, which
# another mathematical library may round otherwise.
golden() { # golden NAME: standard input
    local file=$SOURCE/tests/cli/golden-walk/$1
    sed -E 's/probelauf [0-9]+\.[0-9]+\.[0-9]+[^ ]*/probelauf VERSION/; s/([0-9][.,][0-9]{3})[0-9]{3}/\1.../g' >"$1"
    if [ -n "${WALK_GOLDEN_WRITE-}" ]; then
        cp "$1" "$file"
    fi
    diff -u "$file" "$1"
}

verdict() { # verdict VERDICT RULE STATUS
    run probelauf decide --json
    json "d['verdict'] == '$1' and d['by'] == '$2'"
    [ "$status" -eq "$3" ]
}

# next_of EXPR: over the consequences for the block confirm, by part, called `n`, of the last `review --json`
next_of() {
    json "(lambda n: $1)({x['part']: x for b in d['blocks'] if b['id'] == 'compare' for x in b['next'] if x['block'] == 'confirm'})"
}

@test "validate, trial, rent by blocks, review, plan the next block anew in loading only" {
    on 1
    verdict validate-first E1 4 # nothing was run
    run probelauf block gate validate
    [ "$status" -ne 0 ] || has open

    validate
    verdict validate-first E8 4 # it works, and what the full blocks need is not known
    run probelauf estimate --json
    json 'd["blocks"][1]["figures"]["computing"]["state"] == "open"'

    trial
    verdict rent-blocks E2 0
    run probelauf estimate --json
    json 'd["blocks"][0]["remaining"] == 0 and d["blocks"][1]["remaining"] == 2 and d["blocks"][2]["remaining"] == 10'
    json 'd["blocks"][2]["figures"]["computing"]["state"] == "estimated"'
    json 'd["amount"]["state"] == "estimated" and d["amount"]["currency"] == "EUR" and d["cost"]["chosen"] == "offer-a"'

    keep
    compare
    run probelauf review compare --json
    json 'd["blocks"][0]["estimate"] == "before-compare" and d["blocks"][0]["finished"]'
    json '(lambda c: c["runs"] == c["runs/load"] == "loading" and c["runs/compute"] == c["runs/write"] == c["prepare"] == "none")({x["part"]: x["cause"] for x in d["blocks"][0]["lines"]})'
    next_of 'n["load"]["changed"] and n["load"]["before"]["value"] < 1210 < 5390 < n["load"]["after"]["value"]'
    next_of '[p for p in n if n[p]["changed"]] == ["load"]'
    next_of 'all(n[p]["before"] == n[p]["after"] for p in n if p != "load") and {"compute", "write", "prepare"} <= set(n)'

    run probelauf block gate compare
    has "the repeats agree within 0.02"
    gate
    run probelauf block list --json
    json '(lambda b: b["compare"]["state"] == "done" and b["confirm"]["state"] == "planned")({b["id"]: b for b in d["blocks"]})'
    verdict rent-blocks E2 0 # the block that is left
}

@test "what is handed over, in four languages" {
    validate
    trial
    probelauf decide --json >decide.json
    for language in en de fr ko; do
        probelauf decide --lang $language | golden decide-$language.txt
        probelauf decide --lang $language --json | cmp decide.json
    done
    keep
    compare
    gate
    probelauf report --format csv >report.csv
    for language in en de fr ko; do
        probelauf review --lang $language | golden review-$language.txt
        probelauf report --lang $language -o report.md
        golden report-$language.md <report.md
        probelauf report --lang $language --format csv | cmp report.csv
        rm report.md
    done
}
