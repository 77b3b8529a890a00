#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# What reviews teach: plan, kept estimate, runs, review twice: counted once. Nine reviewed blocks correct the interval
# of the tenth, eight do not. The arithmetic: tests/forecast/test-conformal.c, tests/rules/test-calibration.c.

load common

BLOCKS=10
HOUR=08 # another one: other ids of what is made

plan() { # plan [ID of the study]
    cat >probelauf.yaml <<YAML
probelauf: 1
study:
  id: ${1-01936a5e-4f00-7c2a-9b1d-5d0c3a7e8f21}
  title: sizes
  paper: {title: A paper, version: v1}
environments:
  - {id: here, kind: own, gpus: 0}
blocks:
YAML
    for ((i = 0; i < BLOCKS; i++)); do
        cat >>probelauf.yaml <<YAML
  - id: b$i
    kind: compare
    extent: full
    recurrence: one-off
    matrix: {size: {values: [$((i + 1))], state: chosen}}
    runs: 6
    command: work {size}
YAML
    done
    probelauf block list --json >blocks.json
}

# journals NAME: the records of standard input, made and taken in
journals() {
    python3 "$SOURCE/tests/cli/study-journals.py" "$1" --blocks blocks.json >"$1.ids" || return
    probelauf import journal -q "$1"/*.journal
}

# runs NAME EPOCH PURPOSE PYTHON: three runs of each block that the list of (block, factors) names
runs() {
    python3 - "$@" <<'PY' | journals "$1"
import json, sys
name, epoch, purpose, what = sys.argv[1:]
records = []
for block, factors in eval(what):
    for k, factor in enumerate(factors):
        records.append({"run": f"{name}-{block}-{k}", "at": 10000 * block + 1000 * k, "block": f"b{block}",
                        "condition": {"size": block + 1}, "wall": round(100.0 * (block + 1) * factor, 3)})
print(json.dumps({"epoch": epoch, "records": records, "defaults":
                  {"command": ["work", "{size}"], "environment": "here", "expect": True, "purpose": purpose}}))
PY
}

# Trials of all blocks, and the estimate that was kept after them.
trials() {
    plan "$@" || return
    runs trial 2026-10-01T$HOUR:00:00Z trial "[(b, (1.0, 1.02, 0.99)) for b in range($BLOCKS)]" || return
    probelauf estimate --json >estimate.json || return
    journals kept <<JSON
{"epoch": "2026-10-20T$HOUR:00:00Z", "records": [{"estimate": "first", "file": "estimate.json"}]}
JSON
}

# work BLOCKS: what was left of the first so many blocks; the fourth took twice as long
work() {
    runs work 2026-11-01T$HOUR:00:00Z work "[(b, [(2.0 if b == 3 else 1.0) * (1 + 0.003 * b)] * 3) for b in range($1)]"
}

# flat: the output of the last run without line ends
flat() {
    output=$(tr -s ' \n' ' ' <<<"$output")
}

events() {
    probelauf ledger info --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["events"])'
}

@test "reviewed twice, counted once; corrected, it replaces; of another study, it is told apart" {
    trials
    work 5
    run probelauf review --json
    [ "$status" -eq 0 ]
    valid_schema review
    [ "$(json 'd["calibration"]["study"]["stated"]')" = 5 ]
    [ "$(json 'd["calibration"]["study"]["held"]')" = 4 ]
    [ "$(json 'd["calibration"]["study"]["share"]')" = 0.8 ]
    [ "$(json 'd["calibration"]["study"] == d["calibration"]["ledger"]')" = true ]
    [ "$(json 'd["intervals"]["hit"]')" = 4 ]
    first=$output
    kept=$(events)
    run probelauf review --json
    diff <(grep -v now_utc <<<"$first") <(grep -v now_utc <<<"$output")
    [ "$(events)" = "$kept" ]
    run probelauf review b1 # one that is shown alone, or held against a named estimate, adds nothing
    [ "$status" -eq 0 ]
    run probelauf review --estimate first
    [ "$status" -eq 0 ]
    [ "$(events)" = "$kept" ]
    run probelauf review
    flat
    [[ $output == *"4 of 5 stated 90 % intervals held (80 %, "* ]]
    [[ $output == *"Jeffreys"* ]]
    run probelauf report
    [[ $output == *"4 of 5 stated 90 % intervals held"* ]]

    # a run is taken out: the block is not finished any more, and what was kept of it is taken back
    out=$(sed -n 's/^work-3-0 //p' work.ids)
    probelauf annotate "$out" --invalid --why "another program ran"
    run probelauf review
    flat
    [[ $output == *"4 of 4 stated 90 % intervals held: too few to tell (5 are needed)"* ]]
    [ "$(events)" = $((kept + 2)) ]
    probelauf annotate "$out" --valid --why "it did not"
    run probelauf review --json
    [ "$(json 'd["calibration"]["study"]["stated"]')" = 5 ]
    run probelauf review --json
    [ "$(events)" = $((kept + 4)) ]

    # a second study in the same ledger
    mkdir other && cd other
    BLOCKS=2 HOUR=09
    trials 01936a5e-4f00-7c2a-9b1d-5d0c3a7e8f22
    work 2
    run probelauf review --json
    [ "$(json 'd["calibration"]["study"]["stated"]')" = 2 ]
    [ "$(json 'd["calibration"]["ledger"]["stated"]')" = 7 ]
    [ "$(json 'd["calibration"]["studies"]')" = 2 ]
    run probelauf review
    flat
    [[ $output == *"2 of 2 stated 90 % intervals held: too few to tell"* ]]
    [[ $output == *"all 2 studies of the ledger: 6 of 7 stated 90 % intervals held (86 %, "* ]]
}

@test "eight reviewed blocks correct nothing, nine do, and what is stated stays" {
    trials
    work 8
    probelauf review >/dev/null
    run probelauf estimate --json
    valid_schema estimate
    [ "$(json 'd["calibrated"]["computing"]["n"]')" = 8 ]
    [ "$(json 'd["calibrated"]["computing"]["p95"]')" = null ]
    [ "$(json 'd["calibrated"]["computing"]["outside_view"]["median"]')" = null ]
    run probelauf estimate
    flat
    [[ $output == *"computing, not corrected: 8 reviewed blocks so far, and it takes 9"* ]]
    [[ $output == *"no reference class"* ]]
    [[ $output != *"taught"* ]]
    runs ninth 2026-11-20T$HOUR:00:00Z work "[(8, (1.02, 1.02, 1.02))]"
    probelauf estimate --json >before.json
    [ "$(python3 -c 'import json; print(json.load(open("before.json"))["calibrated"]["computing"]["n"])')" = 8 ] # not reviewed yet
    probelauf review --json >review.json
    run probelauf estimate --json
    valid_schema estimate
    echo "$output" >now.json
    python3 - <<'PY'
import json, math
review, before = json.load(open("review.json")), json.load(open("before.json"))
now = json.load(open("now.json"))
scores, ratios = [], []
for block in review["blocks"]:
    for line in block["lines"]:
        if line["part"] == "runs" and block["finished"]:
            planned, actual = line["planned"], line["actual"]["value"]
            half = math.log(planned["p95"] / planned["p05"]) / 2
            scores.append(max(math.log(planned["p05"] / actual), math.log(actual / planned["p95"])) / half)
            ratios.append(actual / planned["value"])
assert len(scores) == 9, scores
score = max(scores)  # the ninth smallest of nine
assert score > 1, score  # one block took twice as long
assert before["total"] == now["total"] and before["blocks"][9]["figures"] == now["blocks"][9]["figures"]
for of in [now, now["blocks"][9]]:
    stated = (of["total"] if "total" in of else of["figures"])["computing"]
    half = math.log(stated["p95"] / stated["p05"]) / 2
    figure = of["calibrated"]["computing"]
    assert figure["n"] == 9 and figure["why"] is None, figure
    assert math.isclose(figure["factor"], 1 + score, rel_tol=1e-9), (figure, score)
    assert math.isclose(figure["p05"], stated["p05"] * math.exp(-score * half), rel_tol=1e-9)
    assert math.isclose(figure["p95"], stated["p95"] * math.exp(score * half), rel_tol=1e-9)
    assert figure["low"] is None and figure["high"] is None
    view = figure["outside_view"]
    assert math.isclose(view["median"], sorted(ratios)[4], rel_tol=1e-9), (view, ratios)
    assert math.isclose(view["least"], min(ratios), rel_tol=1e-9) and math.isclose(view["most"], max(ratios), rel_tol=1e-9)
assert now["calibrated"]["reserved"]["factor"] is None
PY
    run probelauf estimate
    flat
    [ "$(grep -o 'computing, with what 9 reviewed blocks taught: ' <<<"$output" | wc -l)" = 1 ] # more blocks than sections
    [[ $output == *"computing, outside view: 9 closed blocks took 1."* ]]
    run probelauf estimate -v
    flat
    [ "$(grep -o 'computing, with what 9 reviewed blocks taught: ' <<<"$output" | wc -l)" = 2 ] # and of the block that has runs to do
    run probelauf report
    [[ $output == *"**b9:** computing, with what 9 reviewed blocks taught: "* ]]
    # an estimate that is kept has it in it, and can be compared
    probelauf estimate --freeze second
    run probelauf estimate --compare second
    [ "$status" -eq 0 ]
}

@test "without a review nothing is said of it" {
    trials
    run probelauf estimate
    [[ $output != *"reviewed block"* ]]
    run probelauf estimate --json
    valid_schema estimate
    [ "$(json 'd["calibrated"]["computing"]["n"]')" = 0 ]
    run probelauf review
    flat
    [ "$status" -eq 0 ]
    [ "$(events)" = 1 ] # the kept estimate alone
}
