#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Phases of commands that know nothing of us: NVTX ranges that a plan maps, lines that known programs print, the
# Python hook; what goes into the command and what stays as it was (Req: B3, H1).

load run-common

setup() {
    common_setup
    : "${CHILD:?set CHILD to the built child program}"
    : "${NVTX_CLIENT:?set NVTX_CLIENT to the built client of NVTX}"
    export PROBELAUF
    unset NVTX_INJECTION64_PATH PYTHONPATH
}

write_plan() {
    cat >probelauf.yaml <<'END'
probelauf: 1
study:
  id: 01936a5e-4f00-7c2a-9b1d-5d0c3a7e8f21
  title: A study of nothing
  paper: {title: On nothing, version: v2}
phases:
  nvtx: {weights: load, "gen: a=b;c": compute/decode}
blocks:
  - id: validate
    kind: validate
    question: does it work?
    fixed: {n: 1}
    matrix:
      mode: {values: [fast], state: chosen}
    runs: 1
    command: "true"
END
}

agents() {
    probelauf export journal --text @1 | grep '^[0-9]* START ' | sed 's/^[0-9]* START //' |
        python -c "import json, sys; a = json.load(sys.stdin)['agents']; print($1)"
}

phases() {
    shown '" ".join(p["name"] for p in d["time"]["phase_list"])'
}

sources() {
    shown '" ".join(sorted({p["source"] for p in d["time"]["phase_list"]} - {"none"}))'
}

# What `show` says of phases that are not told apart, on one line.
open_because() {
    probelauf show @1 | sed -n '/^Phases/,/^$/p' | tr -s ' \n' ' '
}

folder() {
    find "$HOME" -type d -name 'agents-*'
}

# A program that prints what vLLM prints, slowly.
fake_vllm() {
    cat >vllm.sh <<'END'
sleep 0.3
echo "INFO 07-01 10:00:00 [gpu_model_runner.py:2000] Starting to load model org/m..."
sleep 0.2
for percent in 0 50 100; do
    printf '\rLoading safetensors checkpoint shards: %3d%% Completed | 1/2 [00:00<00:00]' "$percent" >&2
    sleep 0.3
done
printf '\n' >&2
echo "INFO 07-01 10:00:01 [gpu_model_runner.py:2000] Model loading took 7.64 GiB and 0.875 seconds"
sleep 0.3
for percent in 0 50 100; do
    printf '\r\033[32mProcessed prompts:\033[0m %3d%%|##| 1/2' "$percent" >&2
    sleep 0.3
done
printf '\n' >&2
END
}

# ---- NVTX ----

@test "ranges that the plan maps are phases" {
    write_plan
    run probelauf run -q -- "$NVTX_CLIENT" sleep=200 push=weights sleep=400 pop sleep=100 start='gen: a=b;c' sleep=300 end
    [ "$status" -eq 0 ]
    [ -z "$output" ]
    [ "$(sources)" = nvtx ]
    [ "$(phases)" = "unattributed load unattributed compute/decode unattributed" ]
    [ "$(shown '0.39 < d["time"]["phases"]["load"]["value"] < 4')" = true ]
    [ "$(shown '0.29 < d["time"]["phases"]["compute"]["value"] < 3')" = true ]
    [ "$(agents "a['nvtx']")" = "{'on': True, 'mapped': 2}" ]
}

@test "without a plan ranges are named in the reason" {
    run probelauf run -q -- "$NVTX_CLIENT" push=forward pop push=optimizer pop
    [ "$status" -eq 0 ]
    [ "$(shown "d['time']['phases']['load']['state']")" = open ]
    run open_because
    has 'forward, optimizer; map them in phases.nvtx'
    [ "$(agents "a['nvtx']")" = "{'on': True, 'mapped': 0}" ]
}

@test "a mapped range that nobody sends: no markers, not 0 s" {
    write_plan
    probelauf run -q -- "$CHILD" sleep 0.1
    run open_because
    has 'no NVTX markers'
}

@test "a variable that is set stays, and its reason is recorded" {
    export NVTX_INJECTION64_PATH=/opt/profiler.so
    # shellcheck disable=SC2016
    probelauf run -q -- sh -c 'echo "$NVTX_INJECTION64_PATH" >seen'
    [ "$(cat seen)" = /opt/profiler.so ]
    [ "$(agents "a['nvtx']['reason']")" = "NVTX_INJECTION64_PATH is already set" ]
    unset NVTX_INJECTION64_PATH
    # shellcheck disable=SC2016
    PROBELAUF_NVTX=0 probelauf run -q -- sh -c 'echo "${NVTX_INJECTION64_PATH-none}" >seen'
    [ "$(cat seen)" = none ]
    [ "$(agents "a['nvtx']['reason']")" = "PROBELAUF_NVTX=0" ]
}

# ---- Python ----

@test "PYTHONPATH keeps what it held, behind our folder" {
    # shellcheck disable=SC2016
    PYTHONPATH=/a:/b: probelauf run -q -- sh -c 'echo "$PYTHONPATH" >seen'
    [ "$(cat seen)" = "$(folder)/python:/a:/b:" ]
    # shellcheck disable=SC2016
    probelauf run -q -- sh -c 'echo "$PYTHONPATH" >seen'
    [ "$(cat seen)" = "$(folder)/python" ]
    # shellcheck disable=SC2016
    PROBELAUF_PYTHON=0 PYTHONPATH=/a probelauf run -q -- sh -c 'echo "$PYTHONPATH" >seen'
    [ "$(cat seen)" = /a ]
    [ "$(agents "a['python-hook']")" = "{'on': False, 'reason': 'PROBELAUF_PYTHON=0'}" ]
}

@test "python -I is named as what keeps the hook out" {
    [ -x /usr/bin/python3 ] || skip "no python3"
    probelauf run -q -- /usr/bin/python3 -I -c pass
    run open_because
    has 'the Python hook did not report: python -I keeps it out'
    probelauf run -q -- /usr/bin/python3 -c pass
    run open_because
    lacks 'did not report'
}

@test "a run within a run: the inner one's agents, once" {
    # shellcheck disable=SC2016
    PYTHONPATH=/a probelauf run -q -- "$PROBELAUF" run -q --journal-dir "$HOME/inner" -- sh -c \
        'echo "$PYTHONPATH" >seen; echo "$NVTX_INJECTION64_PATH" >>seen'
    local inner
    inner=$(find "$HOME/inner" -type d -name 'agents-*')
    [ "$(cat seen)" = "$(printf '%s/python:/a\n%s/nvtx.so' "$inner" "$inner")" ]
    # an inner run that offers none does not let the outer one's report to its record
    # shellcheck disable=SC2016
    probelauf run -q -- env PROBELAUF_PYTHON=0 PROBELAUF_NVTX=0 "$PROBELAUF" run -q -- "$NVTX_CLIENT" push=x pop
    no_record MARK nvtx
}

# ---- the files ----

@test "files are unpacked once, privately, and looked at before each use" {
    probelauf run -q -- "$NVTX_CLIENT" push=x pop
    local place
    place=$(folder)
    [ "$(stat -c %a "$place" "$place/python" | sort -u)" = 700 ]
    [ "$(stat -c %a "$place/nvtx.so")" = 600 ]
    local before
    before=$(stat -c %i "$place/nvtx.so")
    probelauf run -q -- "$NVTX_CLIENT" push=x pop
    [ "$(stat -c %i "$place/nvtx.so")" = "$before" ]
    # somebody has changed it
    cp "$place/nvtx.so" good
    printf 'x' | dd of="$place/nvtx.so" bs=1 seek=100 conv=notrunc status=none
    echo 'raise SystemExit("taken over")' >>"$place/python/sitecustomize.py"
    probelauf run -q -- "$NVTX_CLIENT" push=x pop
    cmp "$place/nvtx.so" good
    run ! grep -q 'taken over' "$place/python/sitecustomize.py"
    record MARK | grep -q hello
    [ -z "$(find "$place" -name '*.new')" ]
}

@test "a folder that others can write is not used" {
    probelauf run -q -- true
    local place
    place=$(folder)
    chmod 770 "$place"
    # shellcheck disable=SC2016
    probelauf run -q -- sh -c 'echo "${NVTX_INJECTION64_PATH-none} ${PYTHONPATH-none}" >seen'
    [ "$(cat seen)" = "none none" ]
    [[ "$(agents "a['nvtx']['reason']")" == *"this user's alone"* ]]
    rm -rf "$place"
    ln -s /tmp "$place"
    probelauf run -q -- true
    [ "$(agents "a['python-hook']['on']")" = False ]
}

# ---- lines of known programs ----

@test "what vLLM prints tells load and compute apart" {
    fake_vllm
    probelauf run -q -- sh vllm.sh >out 2>err
    [ "$(sources)" = pattern ]
    [ "$(shown '0.7 < d["time"]["phases"]["load"]["value"] < 9')" = true ]
    [ "$(shown '0.4 < d["time"]["phases"]["compute"]["value"] < 9')" = true ]
    record PHASE | grep -q '"stack":"vllm"'
    record PHASE | grep -q '"seconds":0.875'
    # the stream is as it was
    sh vllm.sh >out2 2>err2
    cmp out out2
    cmp err err2
}

@test "through a terminal, with its carriage returns" {
    command -v script >/dev/null || skip "no script(1)"
    fake_vllm
    script -qec "'$PROBELAUF' run -q -- sh vllm.sh" /dev/null >seen </dev/null
    [ "$(shown '0.7 < d["time"]["phases"]["load"]["value"] < 9')" = true ]
    [ "$(shown '0.4 < d["time"]["phases"]["compute"]["value"] < 9')" = true ]
    grep -q 'Processed prompts' seen
}

@test "lines of the user come before those of known programs" {
    fake_vllm
    # a line that the user names is theirs, and the rest of the same phase with it
    probelauf run -q --pattern 'load=Starting to load' -- sh vllm.sh 2>/dev/null | cat >/dev/null
    [ "$(phases)" = "unattributed load" ]
    # other lines of known programs count as before
    probelauf run -q --pattern 'preprocess=Starting to load' -- sh vllm.sh 2>&1 | cat >/dev/null
    [ "$(phases)" = "unattributed preprocess load unattributed compute unattributed" ]
    PROBELAUF_PATTERNS=0 probelauf run -q -- sh vllm.sh 2>&1 | cat >/dev/null
    no_record PHASE
    [ "$(agents "a['known-lines']['reason']")" = "PROBELAUF_PATTERNS=0" ]
}

# The bar of the sample where it is, else one that looks like it.
shards() {
    local sample=${PROBELAUF_TEST_SHARED-}/samples/load-progress/hf-shards.txt
    printf 'Loading checkpoint shards:   0%%|   | 0/4\rLoading checkpoint shards: 100%%|###| 4/4\n' >bar
    [ ! -r "$sample" ] || cp "$sample" bar
    cat >shards.py <<'END'
import sys, time
for state in open("bar", newline="").read().split("\r"):
    sys.stderr.write(state + ("" if state.endswith("\n") else "\r"))
    sys.stderr.flush()
    time.sleep(0.3)
print("first token", flush=True)
time.sleep(0.4)
END
}

@test "a line of the user stands beside those of known programs: load by the bar, compute by the line" {
    shards
    probelauf run -q --pattern 'compute=first token' -- python3 shards.py 2>&1 | cat >/dev/null
    [ "$(phases)" = "unattributed load unattributed compute" ]
    [ "$(sources)" = pattern ]
    [ "$(shown '0.2 < d["time"]["phases"]["load"]["value"] < 9')" = true ]
    [ "$(shown '0.3 < d["time"]["phases"]["compute"]["value"] < 9')" = true ]
    [ "$(shown '[d["time"]["phases"][p].get("bound", "exact") for p in ("load", "compute")]')" = '["exact", "exact"]' ]
    [ "$(shown 'd["time"]["phases"]["load"]["method"] != d["time"]["phases"]["compute"]["method"]')" = true ]
    # by the plan as well
    write_plan
    sed -i 's/^  nvtx: .*/  patterns: [{phase: compute, regex: first token}]/' probelauf.yaml
    probelauf run -q -- python3 shards.py 2>&1 | cat >/dev/null
    [ "$(phases)" = "unattributed load unattributed compute" ]
}

@test "the note names why phases are not apart, and the step that fits" {
    run probelauf run -- "$NVTX_CLIENT" push=forward pop push=optimizer pop
    output=$(tr -s ' \n' ' ' <<<"$output")
    has "not separated (NVTX ranges came that mean no phase: forward, optimizer); map them in phases.nvtx of the plan"
    lacks 'probelauf mark load'
    run probelauf run -- sh -c 'sleep 0.1'
    output=$(tr -s ' \n' ' ' <<<"$output")
    has 'loading and computing are not separated; put `probelauf mark load`'
    lacks hook
    [ -x /usr/bin/python3 ] || skip "no python3"
    run probelauf run -- /usr/bin/python3 -I -c pass
    output=$(tr -s ' \n' ' ' <<<"$output")
    has 'did not report: python -I keeps it out); leave -I out, or mark the phases'
    run env PROBELAUF_PYTHON=0 "$PROBELAUF" run -- /usr/bin/python3 -c pass
    output=$(tr -s ' \n' ' ' <<<"$output")
    has 'hook was off: PROBELAUF_PYTHON=0); leave PROBELAUF_PYTHON out'
}

@test "nothing is said of the hook where no Python ran" {
    local command
    for command in 'sh -c true' 'sleep 0.1' 'echo python3'; do
        # shellcheck disable=SC2086 # words
        run probelauf run -q -- $command
        run probelauf show @1
        lacks hook
    done
}

@test "llama.cpp tells only at its end how long it loaded" {
    cat >llama.sh <<'END'
sleep 0.2
echo "llama_model_loader: loaded meta data with 29 key-value pairs and 291 tensors from m.gguf" >&2
sleep 1
[ "$1" = killed ] && kill -9 $$
echo "llama_perf_context_print:        load time =     500.00 ms" >&2
END
    probelauf run -q -- sh llama.sh 2>&1 | cat >/dev/null
    [ "$(shown 'd["time"]["phases"]["load"]["value"] == 0.5')" = true ]
    probelauf run -q -- sh llama.sh killed 2>&1 | cat >/dev/null || true
    [ "$(shown 'd["time"]["phases"]["load"]["state"]')" = open ]
}
