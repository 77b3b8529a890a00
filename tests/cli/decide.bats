#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# decide: the shipped program on plans and real runs; the rules one by one are tested in tests/rules.

load study-common

decide() {
    run probelauf decide "$@"
}

# The rule of that id for the block, as the last `decide --json` printed it; ENV counts from 0.
rule() {
    python -c 'import json, sys
d = json.load(sys.stdin)
b = next(b for b in d["environments"][int(sys.argv[3])]["blocks"] if b["id"] == sys.argv[1])
r = next(r for r in b["rules"] if r["id"] == sys.argv[2])
v = eval(sys.argv[4])
print(v if isinstance(v, str) else json.dumps(v))' "$1" "$2" "${4-0}" "$3" <<<"$output"
}

# Data settled and what the code runs on: what study-common leaves out.
settle() {
    cat >>probelauf.yaml <<'EOT'
privacy: {class: none, may_transfer: yes, assessment: only words}
EOT
    sed -i 's/^  paths: \[src\]/  paths: [src]\n  requires: {accelerators: [cpu], source: "src\/work:1"}/' probelauf.yaml
    sed -i 's/    command: src\/work sleep 0.0{size} out done/&\n    expect: ["marker=done"]/' probelauf.yaml
    python - <<'EOT'
text = open("probelauf.yaml").read().split("\n")
seen, kept = set(), []
for line in text: # "expect" once a block
    if line.startswith("  - id:"):
        seen = set()
    if line.strip().startswith("expect:") and "expect" in seen:
        continue
    if line.strip().startswith("expect:"):
        seen.add("expect")
    kept.append(line)
open("probelauf.yaml", "w").write("\n".join(kept))
EOT
    commit settled
}

@test "without a plan: the next step is said" {
    decide
    fails 1 plan-missing
    has "probelauf init"
}

@test "options: names and environments are checked" {
    make_study
    decide --keep ../x
    fails 2 decision-name
    decide --env ther
    fails 1 environment-unknown
    has "did you mean 'there'"
}

@test "a new plan, nothing said: not yet, because of the data; exit 4" {
    probelauf init --title nothing
    decide --json
    [ "$status" -eq 4 ]
    valid_schema decide
    json 'd["verdict"] == "not-yet" and d["by"] == "E5" and d["not_yet"]'
    json 'len(d["changes"]) > 0 and d["changes"][0]["rules"] == ["E5"]'
}

@test "no blocks, no environments, data settled: validate first, exit 4" {
    cat >probelauf.yaml <<EOT
probelauf: 1
study: {id: $STUDY_ID}
privacy: {class: none}
EOT
    decide --json
    [ "$status" -eq 4 ]
    valid_schema decide
    json 'd["verdict"] == "validate-first" and d["by"] == "E1" and d["environment"] is None'
    json 'len(d["environments"]) == 1 and d["environments"][0]["blocks"][0]["id"] is None'
    decide
    [ "$status" -eq 4 ]
    has "validate first"
    has "no estimate"
    has "a cap in time or money"
}

@test "the validation of the plan stands in it, and what of it is missing" {
    make_study
    settle
    cat >>probelauf.yaml <<'EOT'
validation: {max_time: 2h, stop_condition: it does not import twice}
EOT
    decide
    [ "$status" -eq 4 ]
    has "2 h 00 min"
    has "it does not import twice"
    has "what it has to show (result)"
    lacks "when it is given up (stop_condition)"
    decide --json
    valid_schema decide
    json 'd["validation"]["max_time"]["state"] == "assumed" and d["validation"]["max_time"]["value"] == 7200'
    json 'd["validation"]["max_cost"]["state"] == "open"'
}

@test "two environments: a trial here, a function test there; no figure crosses" {
    make_study
    settle
    sed -i 's/{id: there, kind: rented}/{id: there, kind: rented, gpus: 0}/' probelauf.yaml
    commit there
    probelauf run -q --env here --block validate -c again=1 -- src/work sleep 0.01 out done
    until_true nothing_waits
    study_run 1 here
    study_run 1 here
    study_run 2 here
    probelauf run -q --env there --purpose function-test --block compare -c size=2 -- src/work sleep 0.02 out done
    until_true nothing_waits
    decide --json
    [ "$status" -eq 0 ]
    valid_schema decide
    json 'd["environment"] == "here" and d["verdict"] == "rent-blocks" and d["by"] == "E2"'
    json 'd["environments"][1]["verdict"] == "validate-first"'
    [ "$(rule compare E2 'r["answer"]')" = yes ]
    [ "$(rule compare E1 'r["answer"]' 1)" = yes ]
    json 'not any("figure" in g and g["figure"]["state"] != "open"
        for b in d["environments"][1]["blocks"] for r in b["rules"] for g in r["grounds"])'
    decide
    has "go on by blocks, without renting" # the machine is the team's own
    decide --env there --json
    [ "$status" -eq 4 ]
    json 'len(d["environments"]) == 1 and d["environment"] == "there"'
}

@test "personal data without a provider statement: not yet" {
    make_study
    settle
    sed -i 's/^privacy:.*/privacy: {class: personal, may_transfer: yes, assessment: asked the officer}/' probelauf.yaml
    decide --env there --json
    [ "$status" -eq 4 ]
    json 'd["verdict"] == "not-yet" and d["by"] == "E5"'
    [ "$(rule compare E5 'r["answer"]')" = cannot-tell ]
    [ "$(rule compare E5 'r["fires"]')" = true ]
    [[ "$(rule compare E5 'r["opens"][0]["what"]')" == *statement* ]]
    sed -i 's/^privacy:.*/privacy: {class: personal, may_transfer: yes, assessment: a, provider_statement: {value: EU, source: DPA, seen: 2026-11-30}, storage: eu, readers: us, retention: a year}/' \
        probelauf.yaml
    decide --env there --json
    [ "$(rule compare E5 'r["answer"]')" = no ]
}

@test "CUDA-only code on a Mac is never an option; code for both is one, beside" {
    make_study
    settle
    sed -i 's/accelerators: \[cpu\]/accelerators: [cuda]/; s/{id: there, kind: rented}/{id: mac, kind: macos}/' probelauf.yaml
    decide --env mac --json
    [ "$status" -eq 4 ]
    json 'd["verdict"] == "not-yet" and d["by"] == "E7" and d["environments"][0]["option"] is None'
    sed -i 's/accelerators: \[cuda\]/accelerators: [cuda, metal]/' probelauf.yaml
    decide --env mac --json
    json 'd["verdict"] == "validate-first" and "limited development" in d["environments"][0]["option"]'
}

@test "tasks that need no rented machine are listed as to do before booking" {
    make_study
    cat >>probelauf.yaml <<'EOT'
tasks:
  - {id: ask, what: ask the authors for the scores, needs_machine: no}
  - {id: done, what: this is done, needs_machine: no, done: yes}
  - {id: there, what: look at it there, needs_machine: yes}
EOT
    local command
    for command in decide check report; do
        run probelauf "$command"
        has "ask the authors for the scores"
    done
    decide
    has "To do before booking"
    lacks "this is done"
    lacks "look at it there"
}

@test "--keep: a record of it, once a name, in English, listed from then on" {
    make_study
    decide --keep first
    [ "$status" -eq 4 ]
    has "kept as 'first'"
    decide --keep first
    fails_after 1 decision-name
    LC_ALL=de_DE.UTF-8 probelauf decide --keep second >/dev/null 2>&1 || true
    decide
    has "Kept decisions"
    has "first: not yet"
    has "second: not yet"
    probelauf ledger check
}

@test "--json is the same in every language, and twice" {
    make_study
    settle
    decide --json
    local first=$output
    LC_ALL=de_DE.UTF-8 LANGUAGE=de run probelauf decide --json
    [ "$output" = "$first" ]
    run probelauf decide --lang ko --json
    [ "$output" = "$first" ]
}

# The output first, then the one line of the error.
fails_after() {
    [ "$status" -eq "$1" ]
    [[ "${lines[-1]}" == "probelauf: error[$2]: "* ]]
}

@test "without -v the answer is short: what would change it, and equal blocks in one row" {
    make_study
    settle
    decide
    [ "$status" -eq 4 ]
    [ "${#lines[@]}" -le 40 ]
    has "all 2 blocks"
    lacks "when:"
    decide --env there
    has "gpus: under environments: there"
    lacks "      probelauf check"
    has "when:"
    decide -v
    has "when:"
}
