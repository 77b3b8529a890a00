#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# `run` with a plan: conditions, steps and commands that the plan knows, results out of files, and that a
# broken plan never stops a measurement (Req: B1, C1, C7, C9).

load run-common

setup() {
    common_setup
    : "${CHILD:?set CHILD to the built child program}"
    mkdir -p study/sub/deep study/work
    cd study || return
    write_plan
    cat >job.sh <<'END'
set -e
mkdir -p out
printf '{"loss": 0.%s5, "steps": [1, 2, %s]}' "$2" "$2" >"out/$1.json"
printf 'step,speed\n1,10\n2,2%s.5\n' "$2" >"out/$1.csv"
printf 'epoch 1 score=0.1\nepoch 2 score=0.%s\n' "$2" >"out/$1.log"
echo "working on $1"
END
    cp job.sh work/
    echo data >data.txt
    git init -q .
    git add .
    git -c user.name=T -c user.email=t@example.org commit -q -m first
}

write_plan() {
    cat >probelauf.yaml <<'END'
probelauf: 1
study:
  id: 01936a5e-4f00-7c2a-9b1d-5d0c3a7e8f21
  title: A study of nothing
  paper: {title: On nothing, version: v2}
environments:
  - {id: here, kind: own, gpus: 0}
  - {id: there, kind: rented, gpus: 1}
code:
  paths: [job.sh]
phases:
  patterns:
    - {phase: compute, regex: "^working"}
steps:
  - name: install
    component: prepare
    run: [sh, -c, "echo done >installed"]
    needs_machine: yes
    repeats: once
blocks:
  - id: validate
    kind: validate
    question: does it work?
    fixed: {n: 1}
    matrix:
      mode: {values: [fast], state: chosen}
    runs: 1
    command: sh job.sh {mode} {n}
    inputs: [data.txt]
    outputs: ["out/{mode}.json"]
    expect: ["file=out/{mode}.json", "marker=working on {mode}"]
    results:
      - {name: loss, unit: nat, file: "out/{mode}.json", json: /loss}
      - {name: last, unit: "1", file: "out/{mode}.json", json: /steps/2}
      - {name: speed, unit: token/s, file: "out/{mode}.csv", csv: speed}
      - {name: score, unit: "1", file: "out/{mode}.log", regex: "score=([0-9.]+)"}
  - id: compare
    kind: compare
    question: which is better?
    fixed: {n: 2}
    matrix:
      mode: {values: [fast, slow], state: chosen}
    runs: 2
    command: sh job.sh {mode} {n}
    folder: work
    results:
      - {name: loss, unit: nat, file: "out/{mode}.json", json: /loss}
  - id: again
    kind: verify
    question: twice the same?
    fixed: {n: 2}
    matrix:
      mode: {values: [slow], state: chosen}
    runs: 1
    command: sh job.sh {mode} {n}
END
}

# The sentence after the run; a busy machine may not look at the ledger in time, then it says where to look.
becomes() {
    local want=$1 attempt
    shift
    for attempt in 1 2 3 4 5 6 7 8; do
        run probelauf run "$@"
        [[ "$output" == *"$want"* ]] && return
        echo "attempt $attempt: $output"
        [[ "$output" == *"see 'probelauf block list'"* ]] || return 1
    done
    return 1
}

start_has() {
    record START | grep -qF "$1"
}

start_lacks() {
    if start_has "$1"; then
        record START
        return 1
    fi
}

# ---- what is found ----

@test "-c finds the condition; the record ties the run to it" {
    becomes "evidence for mode=fast of block 'validate'" -c mode=fast -c n=1 -- sh job.sh fast 1
    [ "$status" -eq 0 ]
    [ "$(grep -c warning: <<<"$output")" -eq 1 ] && has "say --env (the plan has: here, there)"
    start_has '"condition":{"mode":"fast","n":"1"}'
    start_has '"parameters":{"mode":"fast","n":"1"}'
    start_has '"study":"01936a5e-4f00-7c2a-9b1d-5d0c3a7e8f21"'
    start_has '"block":"validate"'
    start_has '"paper_version":"v2"'
    record START | grep -Eq '"condition_id":"[0-9a-f]{64}"'
    record START | grep -Eq '"template_id":"[0-9a-f]{64}"'
    start_lacks '"environment_id"'
    record HEADER | grep -qF '"study":"01936a5e-4f00-7c2a-9b1d-5d0c3a7e8f21"'
    [ "$(shown 'd["study"]')" = 01936a5e-4f00-7c2a-9b1d-5d0c3a7e8f21 ]
    [ "$(shown 'd["block"]')" = validate ]
    [ "$(shown 'd["verified"]')" = yes ]
    run probelauf show --json @1
    valid_schema run
}

@test "the plan's inputs, outputs, checks, results and patterns are used" {
    probelauf run -q -c mode=fast -c n=1 -- sh job.sh fast 1
    [ "$(shown '[i["path"] for i in d["input"]]')" = '["data.txt"]' ]
    [ "$(shown 'd["output"][0]["path"].endswith("/study/out/fast.json")')" = true ]
    [ "$(shown '[e["met"] for e in d["expectations"]]')" = '["yes", "yes"]' ]
    record PHASE | grep -qF '"name":"compute"'
    [ "$(shown '(d["results"]["loss"]["value"], d["results"]["loss"]["unit"])')" = '[0.15, "nat"]' ]
    [ "$(shown 'd["results"]["loss"]["method"]')" = 'json /loss of out/{mode}.json' ]
    [ "$(shown 'd["results"]["last"]["value"] == 1')" = true ]
    [ "$(shown 'd["results"]["speed"]["value"]')" = 21.5 ]
    [ "$(shown 'd["results"]["score"]["value"]')" = 0.1 ]
    run probelauf show --json @1
    valid_schema run
    run probelauf show @1
    has 'csv speed (row last) of out/fast.csv'
    lacks '{mode}'
    record ENVIRONMENT | grep -qF '"paths":["job.sh"]'
}

@test "options of the command line come before what the plan adds" {
    echo more >more.txt
    probelauf run -q -c mode=fast -c n=1 --input more.txt --input ./data.txt --expect count=3 \
        --pattern 'load=^working' --output out/fast.csv -- sh job.sh fast 1
    [ "$(shown 'sorted(i["path"] for i in d["input"])')" = '["data.txt", "more.txt"]' ]
    [ "$(shown 'len(d["output"])')" = 2 ]
    [ "$(shown '[e["met"] for e in d["expectations"]]')" = '["not-checked", "yes", "yes"]' ]
    record PHASE | grep -qF '"name":"load"'
    no_record PHASE compute
}

@test "from a folder below: the plan is found, inputs keep their names" {
    cd sub/deep
    probelauf run -q -c mode=fast -c n=1 -- sh -c 'cd ../.. && exec sh job.sh fast 1' 2>err
    grep -qF "the command is not the plan's" err
    [ "$(shown 'd["block"]')" = validate ]
    [ "$(shown '[i["path"] for i in d["input"]]')" = '["data.txt"]' ]
    [ "$(shown 'd["input"][0]["bytes"]["value"] == 5')" = true ]
    start_has "\"at\":\"$(cd ../.. && pwd -P)/data.txt\""
    [ "$(shown 'd["results"]["loss"]["value"]')" = 0.15 ]
}

@test "a condition of several blocks: one condition, no block unless it is said" {
    probelauf run -q -c mode=slow -c n=2 -- sh job.sh slow 2
    start_lacks '"block"'
    record START | grep -Eq '"condition_id":"[0-9a-f]{64}"'
    local id
    id=$(record START | grep -Eo '"condition_id":"[0-9a-f]{64}"')
    probelauf run -q --block again -c mode=slow -- sh job.sh slow 2
    start_has '"block":"again"'
    [ "$(record START | grep -Eo '"condition_id":"[0-9a-f]{64}"')" = "$id" ]
}

@test "the environment only where it is said" {
    probelauf run -q --env here -c mode=fast -c n=1 -- sh job.sh fast 1
    [ "$(shown 'd["environment_id"]')" = here ]
    PROBELAUF_ENV=there probelauf run -q -c mode=fast -c n=1 -- sh job.sh fast 1
    [ "$(shown 'd["environment_id"]')" = there ]
    run probelauf run -q --env hree -- "$CHILD" exit 0
    [ "$status" -eq 0 ]
    has "the plan has no environment 'hree', so the run counts for none; it has: here, there; did you mean 'here'?"
    run probelauf run -q --env cloud -- "$CHILD" exit 0
    has "it has: here, there"
    lacks "did you mean"
    [ "$(shown 'd["environment_id"]')" = cloud ]
    becomes "a function test for mode=fast of block 'validate': it was made in environment 'cloud'" --env cloud -c mode=fast -c n=1 -- sh job.sh fast 1
    PROBELAUF_ENV=cloud becomes "a function test for mode=fast of block 'validate': it was made in environment 'cloud'" -c mode=fast -c n=1 -- sh job.sh fast 1
}

# ---- what is not ----

@test "ambiguous: a warning says what is missing, and the command runs" {
    run probelauf run -q -c mode=fast -- "$CHILD" exit 7
    [ "$status" -eq 7 ]
    has "warning: recorded without a condition of the plan: it could be block 'validate' (n=1) or block 'compare' (n=2)"
    start_lacks '"condition_id"'
    start_lacks '"block"'
    start_has '"condition":{"mode":"fast"}'
}

@test "unknown names and values: did you mean" {
    run probelauf run -q -c mode=fsat -- "$CHILD" exit 0
    [ "$status" -eq 0 ]
    has "did you mean 'fast'?"
    run probelauf run -q -c moed=fast -- "$CHILD" exit 0
    has "did you mean 'mode'?"
    run probelauf run -q --block compar -c mode=fast -- "$CHILD" exit 0
    has "did you mean 'compare'?"
    start_lacks '"block"'
    run probelauf run -q --step instal -- "$CHILD" exit 0
    has "did you mean 'install'?"
    [ "$(shown 'd["step"]')" = instal ]
}

@test "a command that differs from the plan's: the first difference, before the start" {
    run probelauf run -q -c mode=fast -c n=1 -- sh job.sh fast 3
    [ "$status" -eq 0 ]
    has "the command is not the plan's for mode=fast of block 'validate': '3' instead of '1'"
    run probelauf run -q -c mode=fast -c n=1 -- sh job.sh fast 1 more
    has "it goes on with 'more'"
    run probelauf run -q -c mode=fast -c n=1 -- sh
    has "it ends before 'job.sh'"
    becomes "no evidence for mode=fast of block 'validate': its command differs" -c mode=fast -c n=1 -- sh job.sh fast 3
}

@test "without a condition: nothing is said before, 'unplanned' after" {
    becomes "unplanned: " -- "$CHILD" exit 0
    lacks "warning"
    start_has '"study"'
    start_lacks '"condition_id"'
}

@test "a function test says so" {
    becomes "a function test for mode=fast of block 'validate'" --purpose function-test -c mode=fast -c n=1 -- sh job.sh fast 1
}

@test "-q says nothing about evidence" {
    run probelauf run -q -c mode=fast -c n=1 -- sh job.sh fast 1
    lacks "evidence"
}

@test "a failed command keeps its status, and is no evidence" {
    becomes "no evidence for mode=fast of block 'validate'" -c mode=fast -c n=1 -- sh job.sh /nowhere/x 1
    [ "$status" -ne 0 ]
}

# ---- the plan's own command ----

@test "no command: the plan's runs in the block's folder" {
    becomes "mode=slow of block 'compare'" --block compare -c mode=slow
    [ "$status" -eq 0 ]
    has "working on slow"
    [ "$(grep -c warning: <<<"$output")" -eq 1 ] && has "say --env"
    [ -e work/out/slow.json ]
    [ ! -e out/slow.json ]
    [ "$(shown 'd["command"]')" = '["sh", "job.sh", "slow", "2"]' ]
    [ "$(shown 'd["results"]["loss"]["value"]')" = 0.25 ]
    record START | grep -qF "\"cwd\":\"$(pwd -P)/work\""
}

@test "the same command in another folder is another command: warned before, no evidence after" {
    mkdir -p ../else/out
    printf 'echo no work at all\n' >../else/job.sh
    local plan=$PWD/probelauf.yaml
    cd ../else
    becomes "no evidence for mode=slow of block 'compare': it ran in folder '../else', the plan says 'work'" --plan "$plan" --block compare -c mode=slow -- sh job.sh slow 2
    has "warning: the command does not run where the plan says for mode=slow of block 'compare': in folder '../else' instead of 'work'; the run is no evidence for it"
    start_has '"plan_folder":"../else"'
    cd ../study
    becomes "evidence for the time of mode=slow of block 'compare'" --block compare -c mode=slow
    start_has '"plan_folder":"work"'
    becomes "no evidence for mode=slow of block 'compare': it ran in folder '.', the plan says 'work'" --block compare -c mode=slow -- sh job.sh slow 2
}

@test "what the plan fills in is masked where it is a secret, and the run counts all the same" {
    local token='gh''p_Abcdefghijklmnopqrstuvwxyz0123456789'
    sed -i "s/fixed: {n: 1}/fixed: {n: 1, password: hunter2, tok: $token, max_tokens: 512}/;
            s/^    runs: 1$/    runs: 1\n    template_id: $token/;
            s/unit: nat/unit: $token/; s|outputs: .*|outputs: ['out/{tok}.json']|;
            s|inputs: .*|inputs: [data.txt, '{tok}.txt']|" probelauf.yaml
    echo x >"$token.txt"
    becomes "evidence for mode=fast of block 'validate'; 1 of 1 runs done" --block validate -c mode=fast -c password=hunter2 -c max_tokens=512
    start_has '"password":"[masked]"'
    start_has '"max_tokens":"512"'
    start_has '"condition":{"mode":"fast","password":"[masked]","max_tokens":"512"}'
    start_lacks hunter2
    run probelauf export journal --text @1
    lacks "$token"
    lacks "hunter2"
}

@test "no command, from elsewhere: paths of options mean where the user is" {
    cd sub
    echo mine >mine.txt
    run probelauf run -q --block validate --input mine.txt --expect file=made.txt --journal-dir here
    [ "$status" -eq 0 ]
    [ -e ../out/fast.json ]
    [ -d here ]
    until_true ledger_has 1
    [ "$(shown 'sorted(i["path"] for i in d["input"])')" = '["data.txt", "mine.txt"]' ]
    [ "$(shown '[i["bytes"]["value"] for i in d["input"]]')" = '[5, 5]' ]
    [ "$(shown 'd["expectations"][0]["what"].endswith("/study/sub/made.txt")')" = true ]
}

@test "no command: a step's own" {
    becomes "an observation of step 'install'" --step install
    [ -e installed ]
    [ "$(shown 'd["step"]')" = install ]
}

@test "no command and none to be found: 125, one line" {
    run probelauf run
    fails 125 plan-condition
    has "--block validate; --block compare -c mode=fast|slow; --block again; --step install"
    run probelauf run --env here --plan probelauf.yaml
    fails 125 plan-condition
    has "--block compare"
    run probelauf run --plan none
    fails 125 usage-operands
    run probelauf run --plan no.yaml
    fails 125 plan-unreadable
    run probelauf run --block compare
    fails 125 plan-condition
    has "fast, slow"
    run probelauf run -c mode=fsat
    fails 125 plan-condition
    run probelauf run --step instal
    fails 125 step-unknown
    run probelauf run --plan none --step install
    fails 125 plan-missing
    sed -i 's/^probelauf: 1/probelauf: x/' probelauf.yaml
    run probelauf run --block validate
    [ "$status" -eq 125 ]
    has "'probelauf check'"
    [ "$(runs_in_ledger)" -eq 0 ]
}

# ---- plans that cannot be used ----

@test "a broken plan: one warning, the command is measured" {
    printf 'probelauf: 1\nstudy: {id: x\n' >probelauf.yaml
    run probelauf run -q -c mode=fast -c n=1 --block validate -- "$CHILD" exit 3
    [ "$status" -eq 3 ]
    [ "${#lines[@]}" -eq 1 ]
    has "warning: this run is recorded without its plan: "
    has "probelauf.yaml:"
    has "'probelauf check'"
    start_lacks '"study"'
    start_has '"condition":{"mode":"fast","n":"1"}'
    [ "$(shown 'd["study"]')" = null ]
}

@test "garbage, folders, FIFOs in place of a plan do not stop a run" {
    head -c 100000 /dev/urandom >probelauf.yaml
    run probelauf run -q -- "$CHILD" exit 4
    [ "$status" -eq 4 ]
    rm probelauf.yaml
    mkdir probelauf.yaml
    run probelauf run -q -- "$CHILD" exit 5
    [ "$status" -eq 5 ]
    rmdir probelauf.yaml
    mkfifo probelauf.yaml
    run timeout 20 "$PROBELAUF" run -q -- "$CHILD" exit 6
    [ "$status" -eq 6 ]
}

@test "a plan that is named: missing on the command line is refused, in the variable a warning" {
    run probelauf run --plan nowhere.yaml -- "$CHILD" exit 0
    fails 125 plan-unreadable
    PROBELAUF_PLAN=nowhere.yaml run probelauf run -q -- "$CHILD" exit 0
    [ "$status" -eq 0 ]
    has "warning: this run is recorded without its plan"
    mv probelauf.yaml other.yaml
    probelauf run -q --plan other.yaml -c mode=fast -c n=1 -- sh job.sh fast 1
    [ "$(shown 'd["block"]')" = validate ]
    PROBELAUF_PLAN=other.yaml probelauf run -q -c mode=fast -c n=1 -- sh job.sh fast 1
    [ "$(shown 'd["block"]')" = validate ]
}

@test "--plan none: as without a plan" {
    run probelauf run -q --plan none -c mode=fast --step install -- "$CHILD" exit 0
    [ "$status" -eq 0 ]
    [ -z "$output" ]
    start_lacks '"study"'
    [ "$(shown 'd["step"]')" = install ]
    PROBELAUF_PLAN=none run probelauf run -q -- "$CHILD" exit 0
    start_lacks '"study"'
}

@test "without a plan everything is as before, and --block is only a warning" {
    cd ..
    run probelauf run -c ratio=0.3 --step anything -- "$CHILD" exit 0
    [ "$status" -eq 0 ]
    lacks "warning"
    lacks "evidence"
    lacks "unplanned"
    start_lacks '"study"'
    [ "$(shown 'd["step"]')" = anything ]
    run probelauf run -q --block x -- "$CHILD" exit 0
    [ "$status" -eq 0 ]
    has "there is no plan here or above, so block 'x' is not recorded"
}

# ---- results out of files ----

results_plan() {
    cat >probelauf.yaml <<END
probelauf: 1
study: {id: 01936a5e-4f00-7c2a-9b1d-5d0c3a7e8f21, title: T}
blocks:
  - id: b
    kind: validate
    question: q
    matrix: {m: {values: [x], state: chosen}}
    runs: 1
    command: sh job.sh {m}
    results:
      - {name: r, unit: "1", file: r.json, json: /x}
      - {name: ok, unit: "1", file: ok.json, json: /x}
END
}

# The command writes ok.json and does what is given; `r` is then open, and the reason is said.
absent() {
    results_plan
    run probelauf run --block b -- sh -c "echo '{\"x\": 1}' >ok.json; $2"
    [ "$status" -eq 0 ]
    has "a result that was to be read out of a file is not there"
    record END | grep -qF '"results_absent"'
    record END | grep -F "$1"
    [ "$(shown 'd["results"]["r"]["state"]')" = open ]
    [ "$(shown 'd["results"]["r"]["reason"]')" = failed ]
    [ "$(shown 'd["results"]["ok"]["value"] == 1')" = true ]
}

@test "a result file that is missing, old, no file, huge, garbage" {
    absent "there is no such file" "true"
    echo '{"x": 1}' >r.json
    absent "the file was not written by this run" "true"
    rm r.json
    absent "it is no regular file" "mkfifo r.json"
    rm r.json
    absent "it is no regular file" "mkdir r.json"
    rmdir r.json
    absent "the file is larger than 64 MiB" "truncate -s 65M r.json"
    absent "the file cannot be understood" "head -c 1000 /dev/urandom >r.json"
    absent "it is not in the file" "echo '{}' >r.json"
}

@test "results are read when the monitor is killed" {
    results_plan
    "$PROBELAUF" run --block b -- sh -c 'echo "{\"x\": 1}" >ok.json; echo "{\"x\": 2}" >r.json; echo $$ >pid; exec sleep 60' &
    local monitor=$!
    until_true test -s pid
    kill -KILL "$monitor"
    wait "$monitor" || true
    until_true nothing_waits
    kill "$(cat pid)" || true
    [ "$(shown 'd["outcome"]["class"]')" = lost ]
    [ "$(shown 'd["results"]["r"]["value"] == 2')" = true ]
}

@test "csv and compare print results out of files" {
    probelauf run -q -c mode=fast -c n=1 -- sh job.sh fast 1
    probelauf run -q -c mode=fast -c n=1 -- sh job.sh fast 1
    run probelauf compare @1 @2
    has "loss"
    grep -Eq 'loss +\[m\] 0.15 nat +\[m\] 0.15 nat +equal' <<<"$output"
    run probelauf export csv --all
    has "result.loss"
    has "0.15"
}
