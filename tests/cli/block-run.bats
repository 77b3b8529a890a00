#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# block run and block gate on real runs: what is left, lanes, steps, retries, what stands in the way, killed runners.
# Order and counting one by one: tests/rules/test-remaining.c, test-gate.c.

load study-common

# a study whose block has so many conditions ($1) of a command ($2); further lines of the block on standard input
make_block() {
    make_study
    rm -rf venv
    unset VIRTUAL_ENV
    local values
    values=$(seq -s, 1 "$1")
    cat >probelauf.yaml <<END
probelauf: 1
study:
  id: $STUDY_ID
  title: sizes
  paper: {title: A paper, version: v1}
privacy: {class: none, may_transfer: yes, assessment: nothing personal}
environments:
  - {id: here, kind: own, gpus: 0}
code:
  paths: [src]
steps:
  - {name: prepare, component: prepare, run: src/work sleep 0.01, needs_machine: yes, repeats: once}
  - {name: look, component: checking, run: src/work sleep 0.01, needs_machine: no, repeats: per-run}
  - {name: warm, component: prepare, run: src/work sleep 0.01, needs_machine: yes, repeats: per-run}
  - {name: clean, component: teardown, run: src/work sleep 0.01, needs_machine: yes, repeats: once}
blocks:
  - id: main
    kind: compare
    extent: full
    recurrence: one-off
    state: chosen
    matrix:
      size: {values: [$values], state: chosen}
    runs: 1
    command: $2
$(cat)
END
    commit plan
}

usual() {
    make_block "$1" "src/work sleep ${2-0.02} out done" <<'END'
    lanes: 2
    expect: ["marker=done"]
END
}

block_run() {
    run --separate-stderr probelauf block run "$@"
}

# of the last `block list --json`: how many runs each condition of the block has, valid ones and all
each() {
    run probelauf block list --json
    block main '[len([r for r in c["runs"] if r["level"] == "measured"]) for c in b["conditions"]]'
    block main '[len(c["runs"]) for c in b["conditions"]]'
}

all_once() {
    local found wanted
    wanted=$(python -c 'import json, sys; print(json.dumps([1] * int(sys.argv[1])))' "$1")
    found=$(each)
    if [ "$found" != "$wanted"$'\n'"$wanted" ]; then
        echo "valid and all: $found"
        return 1
    fi
}

is_stopped() {
    if [ "$status" -ne 3 ] || [[ "$stderr" != *"$1"* ]]; then
        echo "status $status, not 3 with '$1': $stderr"
        return 1
    fi
    [ "$(runs_in_ledger)" -eq "${2-0}" ]
}

@test "every condition is run once, and the same command again does nothing more" {
    usual 4
    block_run main
    [ "$status" -eq 0 ]
    [[ "$output" == *"4/4"*"block gate main go-on"* ]]
    all_once 4
    block_run main --json
    [ "$status" -eq 0 ]
    valid_schema block-run
    [ "$(json 'd["result"]["started"]')" = 0 ]
    [ "$(json 'd["result"]["why"]')" = done ]
    all_once 4
}

@test "what would be run: in order, with commands; nothing is started" {
    usual 3
    probelauf run -q --block main -c size=2
    until_true nothing_waits
    probelauf annotate @1 --invalid --why "to be made again"
    probelauf run -q --block main -c size=3
    until_true nothing_waits
    sed -i 's/runs: 1/runs: 2/' probelauf.yaml
    block_run main --dry-run --json
    [ "$status" -eq 0 ]
    valid_schema block-run
    # unknown ones first, what is known to take its time last
    [ "$(json '[[i["label"], i["left"], i["each"]["state"]] for i in d["items"]]')" = \
        '[["size=1", 2, "open"], ["size=2", 2, "open"], ["size=3", 1, "estimated"]]' ]
    [ "$(json 'd["items"][0]["command"]')" = 'probelauf run --block main -c size=1' ]
    json 'd["left"]["bound"] == "at-least"'
    json 'd["result"] is None'
    block_run main --dry-run
    [ "$status" -eq 0 ]
    [[ "$output" == *"probelauf run --block main"* ]]
    [ "$(runs_in_ledger)" -eq 2 ]
}

@test "two lanes run side by side, each with its GPUs" {
    make_block 2 'src/work sh' <<'END'
    lanes: 2
END
    # each waits until the other is there
    sed -i 's|command: .*|command: ["sh", "-c", "touch /TMP/{size}; echo $CUDA_VISIBLE_DEVICES > /TMP/gpu-{size}; for i in $(seq 600); do [ $(ls /TMP \| grep -c ^.$) = 2 ] \&\& exit 0; sleep 0.05; done; exit 1"]|' probelauf.yaml
    mkdir -p "$TMPDIR/both"
    sed -i "s|/TMP|$TMPDIR/both|g" probelauf.yaml
    block_run main --gpus '0;3,4'
    [ "$status" -eq 0 ]
    [ "$(cat "$TMPDIR"/both/gpu-*| sort | tr '\n' ' ')" = "0 3,4 " ]
    all_once 2
}

@test "GPUs are shared evenly, and no two lanes get one unless that was said" {
    usual 2
    block_run main --dry-run --json --gpus 0,1,2,3
    [ "$(json 'd["gpus"]')" = '["0,1", "2,3"]' ]
    block_run main --dry-run --json --gpus 0,1,2
    [ "$(json 'd["gpus"]')" = '["0", "1"]' ]
    block_run main --dry-run --json --gpus '0;0'
    [ "$(json 'd["gpus"]')" = '["0", "0"]' ]
    CUDA_VISIBLE_DEVICES=4,5 block_run main --dry-run --json
    [ "$(json 'd["gpus"]')" = '["4", "5"]' ]
    CUDA_VISIBLE_DEVICES=4,4 run probelauf block run main --dry-run
    fails 1 block-lanes
    CUDA_VISIBLE_DEVICES=4 run probelauf block run main --dry-run
    fails 1 block-lanes
    block_run main --dry-run --json --gpus 'GPU-8a3c,MIG-GPU-8a3c/1/0'
    [ "$(json 'd["gpus"]')" = '["GPU-8a3c", "MIG-GPU-8a3c/1/0"]' ]
}

@test "bad values of --gpus and --max-cost end as bad values of any option" {
    usual 2
    local value
    for value in 0 '0,,1' '0,0' '0,1,0' '00,1' '-1,0' '0,GPU-' '0,one' ';' '0,0;1'; do
        run probelauf block run main --dry-run --gpus "$value"
        fails 2 usage-bad-value
    done
    run probelauf block run main --dry-run --lanes 3 --gpus '0;1'
    fails 2 usage-bad-value
    run probelauf block run main --max-cost 20
    fails 2 usage-bad-value
    run probelauf block run main --gpus '0,0'
    fails 2 usage-bad-value
    [ "$(runs_in_ledger)" -eq 0 ]
}

# how many runs a block that comes to nothing starts in so many lanes ($1), from the beginning
starts() {
    rm -rf "$HOME/data" "$HOME/state"
    block_run main --json --lanes "$1"
    [ "$status" -eq 1 ] || echo "status $status"
    json 'd["result"]["started"]'
}

# a block of one condition with 6 runs of a shell command ($1), further lines of the block on standard input
six_runs() {
    make_block 1 x
    sed -i 's/runs: 1/runs: 6/' probelauf.yaml
    sed -i '/^    command: x/d' probelauf.yaml
    cat >>probelauf.yaml <<END
    command: ["sh", "-c", "$1"]
END
}

@test "nothing more is started until it is known what the last one came to" {
    local oom='echo torch.cuda.OutOfMemoryError: CUDA out of memory >&2; exit 1'
    six_runs "$oom" <<<'    retry: {max: 2}'
    [ "$(starts 1)" = 1 ]
    [ "$(starts 3)" = 3 ]
    six_runs 'exit 3' <<<'    retry: {max: 0}'
    [ "$(starts 1)" = 1 ]
    [ "$(starts 3)" = 3 ]
    six_runs 'exit 0' <<<'    expect: ["marker=done"]'
    [ "$(starts 1)" = 1 ]
    [ "$(starts 3)" = 3 ]
    sed -i 's/    runs: 6/    steps: [warm]\n    runs: 6/' probelauf.yaml # a step before each run, and the run
    [ "$(starts 1)" = 2 ]
    six_runs 'exit 0' </dev/null
    sed -i 's/{id: here/{id: here, stack: {no-such-package: "1.0"}/; s/gpus: 0}/gpus: 0, match: [machine.cpus, no-such-package]}/' probelauf.yaml
    [ "$(starts 1)" = 1 ]
    [ "$(starts 3)" = 3 ]
}

@test "a command that exits 125 has failed, and was started" {
    six_runs 'exit 125' <<<'    retry: {max: 0}'
    block_run main --lanes 1 --json
    [ "$status" -eq 1 ]
    [[ "$stderr" == *"1 attempt failed"* ]]
    [[ "$stderr" != *"could not be started"* ]]
    [ "$(json 'd["result"]["started"]')" = 1 ]
    run probelauf log --json
    [ "$(json '[r["outcome"] for r in d["runs"]]')" = '["failed"]' ]
}

@test "a block without a command stands in its own way, and says what to do" {
    usual 1
    sed -i '/^    command:/d' probelauf.yaml
    block_run main
    is_stopped "block 'main' has no command: add 'command:', or make its runs by hand"
    block_run main --dry-run --json
    [ "$status" -eq 3 ]
    run probelauf check
    has "block 'main' has no 'command'"
}

@test "a dry run fits a terminal of 80 columns as a table" {
    usual 2
    block_run main --dry-run
    [ "$status" -eq 0 ]
    [[ "$output" =~ left\ +running\ +each\ +what ]]
    [[ "$output" == *"First command"*"probelauf run --block main -c size=1"* ]]
    [[ "$output" != *"-c size=2"* ]]
    [ "$(wc -L <<<"$output")" -le 80 ]
    block_run main --dry-run -v
    [[ "$output" == *"-c size=1"*"-c size=2"* ]]
}

# the folders of the program on a file system of its own, of so many MiB ($1)
@test "a full disk under the output of lanes is no failed attempt; the block stops, and goes on once there is room" {
    unshare -rm true 2>/dev/null || skip "no mount namespace of one's own"
    usual 2
    mkdir -p "$HOME/small"
    cat >src/noisy <<'END'
#!/bin/sh
head -c 12000000 /dev/zero >"$HOME/small/ballast" &&
yes | head -c 14000000 && echo done
END
    chmod +x src/noisy
    sed -i 's|command: .*|command: src/noisy|' probelauf.yaml
    commit noisy
    cat >full.sh <<'END'
set -e
mount -t tmpfs -o size=24m tmpfs "$HOME/small"
export PROBELAUF_LEDGER=$HOME/small/ledger.sqlite
PROBELAUF_JOURNAL_DIR=$HOME/journals
export PROBELAUF_JOURNAL_DIR
set +e
"$PROBELAUF" block run main --lanes 1 --json >out1 2>err1
echo $? >status1
rm "$HOME"/small/ballast; rm -rf "$HOME"/small/lanes/output/*
sed -i 's|command: .*|command: src/work out done|' probelauf.yaml
"$PROBELAUF" block run main --lanes 1 --json >out2 2>err2
echo $? >status2
"$PROBELAUF" log --json >log
END
    unshare -rm sh full.sh
    cat err1 err2
    [ "$(cat status1)" = 1 ]
    grep -q "could not write all of its output: the disk of" err1
    grep -q "the disk of .*/small/lanes/.* is full" err1
    grep -q "block-disk" err1
    output=$(cat out1)
    [ "$(json 'd["result"]["why"]')" = disk ]
    valid_schema block-run
    [ "$(cat status2)" = 0 ]
    output=$(cat log)
    [ "$(json '[r["outcome"] for r in d["runs"]]')" = '["ok", "ok", "disk_full"]' ]
}

@test "SIGTERM: runs that do not end are left in their lanes, and that is said; the next runner waits for them" {
    make_block 1 x </dev/null
    sed -i 's|command: .*|command: ["sh", "-c", "trap : INT TERM; touch begun; i=0; while [ $i -lt 60 ]; do sleep 0.1; i=$((i+1)); done; echo done"]|' probelauf.yaml
    PROBELAUF_GRACE=300ms "$PROBELAUF" block run main >out 2>err &
    local runner=$!
    until_true test -e begun
    kill -TERM "$runner"
    status=0
    wait "$runner" || status=$?
    [ "$status" -eq 143 ]
    grep -q "lane 1: size=1 did not end and goes on without the runner" err
    block_run main --json
    [[ "$stderr" == *"goes on, started by an earlier block run"* ]]
    until_true nothing_waits
    run probelauf log --json
    [ "$(json 'len(d["runs"])')" -ge 1 ]
}

@test "steps: once before, before and after each run; what may take things away is left to people" {
    usual 2
    sed -i 's/    runs: 1/    steps: [prepare, look, warm, clean]\n    runs: 1/' probelauf.yaml
    block_run main --json
    [ "$status" -eq 0 ]
    all_once 2
    run probelauf log --json --limit 0
    [ "$(json 'len(d["runs"])')" -eq 7 ]
    run --separate-stderr probelauf block run main --dry-run --json
    [ "$(json '[[i["label"], i["left"]] for i in d["items"] if i["step"]]')" = \
        '[["prepare", 0], ["warm", 0], ["look", 0], ["clean", 0]]' ]
    [[ "$(json 'd["items"][0]["note"]')" == "not repeated: run "*" was sound"* ]]
    # made again for a new run, but not what is wanted once
    sed -i 's/runs: 1/runs: 2/' probelauf.yaml
    block_run main
    [ "$status" -eq 0 ]
    [ "$(runs_in_ledger)" -eq 13 ]
}

@test "a step that fails stops the block before anything else" {
    usual 2
    sed -i 's/    runs: 1/    steps: [prepare]\n    runs: 1/; s/name: prepare, component: prepare, run: src.work sleep 0.01/name: prepare, component: prepare, run: src\/work exit 3/' probelauf.yaml
    block_run main --json
    [ "$status" -eq 1 ]
    [[ "$stderr" == *"step 'prepare': 1 attempt failed"*"block-failed"* ]]
    [ "$(json 'd["result"]["why"]')" = failed ]
    [ "$(runs_in_ledger)" -eq 1 ]
}

@test "failures: a repeat as often as allowed, counted over all calls; the others are run all the same" {
    make_block 2 'src/work exit 1' <<'END'
    retry: {max: 2}
END
    sed -i 's|command: .*|command: ["sh", "-c", "[ {size} = 1 ] \|\| exit 7"]|' probelauf.yaml
    block_run main
    [ "$status" -eq 1 ]
    [[ "$stderr" == *"size=2: 3 attempts failed"* ]]
    [ "$(runs_in_ledger)" -eq 4 ]
    block_run main
    [ "$status" -eq 1 ]
    [ "$(runs_in_ledger)" -eq 4 ]
    # what is left out is not nothing that is left
    block_run main --dry-run
    [[ "$output" =~ 'runs left out'\ +1\ +'not in it, for the reason below: size=2' ]]
    block_run main --retry 3
    [ "$(runs_in_ledger)" -eq 5 ]
    # dealt with
    probelauf annotate @1 --disposition fixed
    block_run main --retry 0
    [ "$(runs_in_ledger)" -eq 6 ]
}

@test "what a repeat does not cure is not repeated; an unmet check neither, until somebody has looked" {
    make_block 2 'x' <<'END'
    retry: {max: 5}
    expect: ["marker=done"]
END
    sed -i 's|command: .*|command: ["sh", "-c", "[ {size} = 1 ] \&\& exit 0; no-such-program-anywhere"]|' probelauf.yaml
    sed -i 's/no-such-program-anywhere/echo CUDA out of memory. Tried to allocate 2 GiB >\&2; echo torch.cuda.OutOfMemoryError: CUDA out of memory >\&2; exit 1/' probelauf.yaml
    block_run main
    [ "$status" -eq 1 ]
    [[ "$stderr" == *"size=1: the result of run "*" is not what was expected"* ]]
    [[ "$stderr" == *"size=2: run "*" ended as gpu_oom, which a repeat does not cure"* ]]
    [ "$(runs_in_ledger)" -eq 2 ]
    block_run main
    [ "$(runs_in_ledger)" -eq 2 ]
}

@test "a run that ends well and does not count ends it: the others would not count either" {
    usual 4
    sed -i 's/{id: here, kind: own, gpus: 0}/{id: here, kind: own, gpus: 0, match: [machine.cpus, no-such-package]}/' probelauf.yaml
    sed -i 's/    lanes: 2/    lanes: 1/; s/{id: here/{id: here, stack: {no-such-package: "1.0"}/' probelauf.yaml
    block_run main
    [ "$status" -eq 1 ]
    [[ "$stderr" == *"ended well and does not count, so nothing more is started: "*"no-such-package"* ]]
    [ "$(runs_in_ledger)" -le 2 ]
}

@test "what a command leaves behind holds no lane; each was run once all the same" {
    make_block 2 'x' <<'END'
    lanes: 2
END
    sed -i 's|command: .*|command: ["sh", "-c", "setsid sleep 5 >/dev/null 2>\&1 \& echo done"]|' probelauf.yaml
    PROBELAUF_LINGER=200ms block_run main
    [ "$status" -eq 1 ]
    [[ "$stderr" == *"ended well and does not count"* ]]
    [ "$(runs_in_ledger)" -eq 2 ]
}

@test "open facts stand in the way" {
    usual 2
    sed -i 's/^privacy:/facts:\n  - {id: weights.access, about: weights, state: open, question: "who has them?", stops: [compare]}\nprivacy:/' probelauf.yaml
    block_run main
    is_stopped "the fact 'weights.access' is open: who has them?"
    block_run main --dry-run --json
    [ "$status" -eq 3 ]
    valid_schema block-run
}

@test "unsettled data protection stands in the way" {
    usual 1
    sed -i 's/^privacy:.*/privacy: {}/' probelauf.yaml
    block_run main
    is_stopped "data protection is not settled (privacy/class)"
    [[ "$stderr" == *"privacy/assessment"* ]]
    [[ "$stderr" != *"privacy/may_transfer"* ]] # it stays in the house
    sed -i 's/kind: own/kind: rented/; s/^privacy:.*/privacy: {class: personal, may_transfer: yes, assessment: done, storage: eu, readers: us, retention: a year}/' probelauf.yaml
    block_run main
    is_stopped "privacy/provider_statement"
    sed -i 's/^privacy:.*/privacy: {class: none, may_transfer: no, assessment: done}/' probelauf.yaml
    block_run main
    is_stopped "may not be moved to a rented machine"
    sed -i 's/^privacy:.*/privacy: {class: none, may_transfer: yes, assessment: done}/' probelauf.yaml
    block_run main
    [ "$status" -eq 0 ]
}

@test "a block waits for the gate of the one that it needs" {
    usual 1
    sed -i 's/^blocks:/blocks:\n  - {id: first, kind: validate, extent: validation, recurrence: one-off, state: chosen, fixed: {size: 9}, runs: 1, command: src\/work sleep 0.01, gate: it repeats within 1%}/; s/    lanes: 2/    lanes: 2\n    needs: [first]/' probelauf.yaml
    block_run main
    is_stopped "nobody has answered at its gate"
    run probelauf block gate first go-on
    fails 1 gate-why
    run probelauf block gate first perhaps --why so
    fails 2 usage-bad-value
    run probelauf block gate last go-on --why so
    fails 1 block-unknown
    probelauf block gate first limit --why "only one size"
    block_run main
    is_stopped "the answer is 'limit'"
    [[ "$stderr" == *"only one size"* ]]
    probelauf block gate first go-on --why "within 1%, token ghp_012345678901234567890123456789abcdef"
    run probelauf block gate first --json
    valid_schema gate
    [ "$(json '[a["answer"] for a in d["answers"]]')" = '["go-on", "limit"]' ]
    [ "$(json 'd["answers"][0]["criteria"]')" = "it repeats within 1%" ]
    lacks ghp_0123
    run probelauf block list --json
    valid_schema blocks
    [ "$(block first 'b["gate_answer"]["answer"]')" = go-on ]
    json 'all(b["gate_answer"] is None for b in d["blocks"] if b["id"] == "main")'
    run probelauf block list
    has "gate: go-on"
    run probelauf report --format markdown
    has "go-on, "
    block_run main
    [ "$status" -eq 0 ]
    run probelauf block gate first
    has "one goes on if: it repeats within 1%"
    has "the last answer: go-on"
}

@test "a budget: nothing is started that would not fit, and what goes beyond is stopped" {
    usual 1 2
    block_run main
    [ "$status" -eq 0 ]
    sed -i 's/runs: 1/runs: 2/' probelauf.yaml
    block_run main --max-time 1900ms --json
    [ "$status" -eq 1 ]
    [ "$(json 'd["result"]["why"]')" = budget ]
    [ "$(runs_in_ledger)" -eq 1 ]
    sed -i 's/sleep 2/sleep 60/' probelauf.yaml # nobody knows how long that takes
    block_run main --max-time 4s --json
    [ "$status" -eq 1 ]
    [[ "$stderr" == *block-budget* ]]
    until_true nothing_waits
    run probelauf log --json
    [ "$(json '[r["outcome"] for r in d["runs"]]')" = '["budget", "budget", "ok"]' ]
    block_run main --dry-run --json
    [ "$(json '[[i["left"], i["failed"]] for i in d["items"]]')" = '[[2, false]]' ]
}

@test "a budget of money needs an offer that can be relied on" {
    usual 2
    block_run main --max-cost 20EUR
    [ "$status" -eq 1 ]
    [[ "$stderr" == *"error[max-cost-offer]"* ]]
    run probelauf block run main --max-cost twenty
    fails 2 usage-bad-value
    [ "$(runs_in_ledger)" -eq 0 ]
    printf 'offers:\n  - {id: a, environment: here, rate: "10", currency: EUR, per: hour, increment: 1h, minimum: 0s, setup_fee: '0', source: letter, seen: %s, valid_until: %s}\n' \
        "$(date -u +%F)" "$(date -u -d +30days +%F)" >>probelauf.yaml
    block_run main --max-cost 20EUR
    [ "$status" -eq 0 ]
    [[ "$stderr" == *"the block is stopped after "* ]]
    all_once 2
}

@test "Ctrl-C reaches the runs, and the same command goes on with them" {
    usual 2 30
    "$PROBELAUF" block run main >out 2>err &
    local runner=$!
    until_true eval '[ "$(pgrep -c -f "src/work sleep 30")" -ge 2 ]'
    kill -INT "$runner"
    status=0
    wait "$runner" || status=$?
    [ "$status" -eq 130 ]
    grep -q block-interrupted err
    until_true nothing_waits
    run probelauf log --json
    [ "$(json '[r["outcome"] for r in d["runs"]]')" = '["interrupted", "interrupted"]' ]
    sed -i 's/sleep 30/sleep 0.01/' probelauf.yaml
    block_run main
    [ "$status" -eq 0 ]
}

@test "SIGTERM leaves a state to go on from as well" {
    usual 2 30
    "$PROBELAUF" block run main >out 2>err &
    local runner=$!
    until_true eval '[ "$(pgrep -c -f "src/work sleep 30")" -ge 2 ]'
    kill -TERM "$runner"
    status=0
    wait "$runner" || status=$?
    [ "$status" -eq 143 ]
    until_true nothing_waits
    block_run main --dry-run --json
    [ "$(json '[[i["left"], i["failed"]] for i in d["items"]]')" = '[[1, false], [1, false]]' ]
}

@test "a second runner of the same block is refused" {
    usual 1 30
    "$PROBELAUF" block run main >out 2>err &
    local runner=$!
    until_true eval '[ "$(pgrep -c -f "src/work sleep 30")" -ge 1 ]'
    run probelauf block run main
    fails 1 block-running
    kill -INT "$runner"
    wait "$runner" || true
}

@test "runs that somebody makes by hand count as in progress" {
    usual 1 1
    "$PROBELAUF" run -q --block main -c size=1 &
    until_true eval 'probelauf block run main --dry-run --json | grep -q "\"running\": 1"'
    block_run main
    [ "$status" -eq 0 ]
    wait
    all_once 1
}

@test "a killed runner's runs occupy their lanes and are not made again" {
    usual 3 1.5
    "$PROBELAUF" block run main >out 2>err &
    local runner=$!
    until_true eval '[ "$(pgrep -c -f "src/work sleep 1.5")" -ge 2 ]'
    kill -9 "$runner"
    wait "$runner" || true
    block_run main
    [ "$status" -eq 0 ]
    [[ "$stderr" == *"goes on, started by an earlier block run"* ]]
    all_once 3
}

@test "killed -9 twenty times at random moments: every condition has exactly its run" {
    usual 24 0.05
    run python "$BATS_TEST_DIRNAME/block-storm.py" "$PROBELAUF" main 20 0.3 "${PROBELAUF_SEED-$RANDOM}"
    echo "$output"
    [ "$status" -eq 0 ]
    all_once 24
}

@test "long: killed over and over" {
    [ -n "$PROBELAUF_TEST_LONG_" ] || skip "PROBELAUF_TEST_LONG is not set"
    local round
    for round in 1 2 3 4 5; do
        rm -rf "$HOME/data"
        (
            mkdir "round-$round" && cd "round-$round" || exit 1
            usual 24 0.1
            python "$BATS_TEST_DIRNAME/block-storm.py" "$PROBELAUF" main 40 0.25 "$RANDOM"
            all_once 24
        )
    done
}
