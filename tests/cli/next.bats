#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# next: the shipped program on plans and real runs; ranking and verdicts are tested in tests/rules and tests/forecast.

load study-common

next() {
    run probelauf next "$@"
}

# The last document but for its date.
undated() {
    grep -v '"now_utc"' <<<"$output"
}

# Data settled: no gate is closed for their sake.
settle() {
    cat >>probelauf.yaml <<'EOT'
    expect: ["marker=done"]
privacy: {class: none, may_transfer: yes, assessment: only words}
EOT
    commit settled
}

@test "without a plan: the next step is said" {
    next
    fails 1 plan-missing
    has "probelauf init"
}

@test "options: environments and percentages are checked" {
    make_study
    next --env ther
    fails 1 environment-unknown
    has "did you mean 'there'"
    for bad in 0 -5 x '' % 2000 nan; do
        next "--within=$bad"
        fails 2 usage-bad-value
    done
}

@test "nothing was run: first runs, the validation before the others" {
    make_study
    settle
    next --json
    [ "$status" -eq 0 ]
    valid_schema next
    json 'd["verdict"] == "run" and d["run"] and d["environment"] == "here" and d["gpus"] == 0'
    json '[t["kind"] for t in d["trials"]] == ["first"] * 3'
    json '[t["block"] for t in d["trials"]] == ["validate", "compare", "compare"]'
    json 'd["trials"][1]["condition"] == {"size": "1"} and d["trials"][1]["left"] == 2'
    json 'd["total"]["state"] == "open" and d["width_ratio"] is None and d["unknown"] == 3'
    json 'len(d["not_counted"]) > 0'
    next
    [ "$status" -eq 0 ]
    has "probelauf run --env here --block validate -c again=1"
    has "of which no run counts yet"
    has "idle: no session"
}

@test "what data protection forbids is not offered, and the reason is said" {
    make_study
    next --json
    [ "$status" -eq 0 ]
    valid_schema next
    json 'd["verdict"] == "blocked" and d["trials"] == [] and not d["run"]'
    json 'len(d["not_offered"]) == 2 and "data protection" in d["not_offered"][0]["why"][0]'
}

@test "one run each: the first repeat gives the interval; the command that is named is the one" {
    make_study
    settle
    study_run 1
    study_run 2
    probelauf run -q --env here --block validate -c again=1
    until_true nothing_waits
    next --json
    valid_schema next
    json 'd["unknown"] == 0 and all(t["kind"] == "repeat" for t in d["trials"])'
    json 'd["total"]["state"] == "estimated" and "p05" not in d["total"]'
    json 'd["trial_count"] == 2' # the validation is done
    command=$(json 'd["trials"][0]["command"]')
    [[ $command == "probelauf run --env here --block compare -c size="* ]]
    run $command
    [ "$status" -eq 0 ]
    until_true nothing_waits
    next --json
    valid_schema next
    json 'd["trial_count"] == 1 and d["trials"][0]["kind"] == "narrow"'
    json 'd["trials"][0]["left"] == 1 and d["width_ratio"] > 0'
    next --within 1000 --json
    json 'd["verdict"] == "within-target" and d["within"] == 10'
}

@test "the same seed gives the same document, another one another" {
    make_study
    settle
    sed -i 's/^    runs: 2/    runs: 9/' probelauf.yaml
    commit more
    for _ in 1 2 3; do study_run 1; study_run 2; done
    next --json --seed 4
    first=$(undated)
    valid_schema next
    json 'd["seed"] == 4 and d["trials"][1]["narrowing"]["state"] in ("estimated", "open")'
    next --json --seed 4
    diff <(echo "$first") <(undated)
    next --json --seed 5
    [ "$(undated)" != "$first" ]
    LC_ALL=de_DE.UTF-8 LANGUAGE=de next --json --seed 4
    diff <(echo "$first") <(undated)
    next --json --limit 1
    valid_schema next
    json 'len(d["trials"]) == 1 and d["trial_count"] == 3'
    next --limit 1
    has "and 2 more (--limit 0)"
}

@test "as many runs as planned, but not verified: another one is not offered" {
    make_study
    settle
    sed -i '/^    expect: ..marker=done..$/d' probelauf.yaml
    commit unverified
    probelauf run -q --env here --block validate -c again=1
    until_true nothing_waits
    next --json
    valid_schema next
    json '[t["block"] for t in d["trials"]] == ["compare", "compare"]'
    json 'd["not_offered"][0]["block"] == "validate" and "not verified" in d["not_offered"][0]["why"][0]'
}

@test "everything is done: nothing is left" {
    make_study
    settle
    for _ in 1 2; do study_run 1; study_run 2; done
    probelauf run -q --env here --block validate -c again=1
    until_true nothing_waits
    next --json
    valid_schema next
    json 'd["verdict"] == "nothing-left" and d["total"]["value"] == 0'
}
