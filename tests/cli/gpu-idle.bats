#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# What a run shows of its GPUs (Req: B3 B4 B8), end to end with stand-ins of the vendor's library (tests/stand-in): idle time
# and its causes, preallocation, and that such runs never count.

load run-common

setup() {
    common_setup
    : "${STAND_IN:?set STAND_IN to the built tests/stand-in}" "${CHILD:?set CHILD to the built child program}"
    export PROBELAUF
    unset CUDA_VISIBLE_DEVICES CUDA_DEVICE_ORDER NVIDIA_VISIBLE_DEVICES SLURM_JOB_GPUS SLURM_STEP_GPUS
    export LD_LIBRARY_PATH=$STAND_IN/generation-550 PROBELAUF_STANDIN_PIDS=$PWD/pids
}

machine() {
    export PROBELAUF_STANDIN_TRACE=$SOURCE/tests/stand-in/traces/$1.trace
}

# The trace of busy-idle is idle from 2 s to 7 s and from 9 s to 14 s of its own clock, which begins here. The job says
# when it really computed and waited (a loaded machine is late): the causes must be as long as that, to a second.
@test "two stretches without work get their causes: the host computes, the disk is waited for" {
    machine busy-idle
    "$CHILD" write data 4000000
    cat >job.py <<'EOF'
import json, os, subprocess, sys, time
epoch = int(os.environ["PROBELAUF_STANDIN_EPOCH_NS"]) / 1e9
now = lambda: time.monotonic() - epoch
until = lambda moment: time.sleep(max(0, moment - now()))
with open("pids", "w") as file:
    print(os.getpid(), file=file)
until(2)
busy = [now()]
workers = [subprocess.Popen([os.environ["CHILD"], "busy", "60"]) for _ in range(6)]
until(7)
for worker in workers:
    worker.kill()
for worker in workers:
    worker.wait()
busy.append(now())
until(9)
waited = [now()]
while now() < 14:
    subprocess.run([os.environ["CHILD"], "disk-wait", "0.5", "data"], check=True)
waited.append(now())
until(15.5)
within = lambda part, start, end: max(0, min(part[1], end) - max(part[0], start))
with open("told", "w") as file:
    used = os.times().children_user + os.times().children_system
    json.dump({"busy": within(busy, 2, 7), "cores": used / 5, "waited": within(waited, 9, 14), "end": now()}, file)
EOF
    PROBELAUF_STANDIN_EPOCH_NS=$(python -c 'import time; print(time.monotonic_ns())')
    export CHILD PROBELAUF_STANDIN_EPOCH_NS
    PROBELAUF_PYTHON=0 "$PROBELAUF" run -q -- "$(python -c 'import sys; print(sys.executable)')" job.py
    cat told
    holds "len(d['gpus']) == 1 and d['gpus'][0]['stand_in'] and d['gpus'][0]['mine'] == 'yes'"
    # behind 16 s it is idle again
    holds "abs(d['gpus'][0]['idle']['value'] - 10 - max(0, $(told end) - 16)) < 1"
    if python -c "import sys; sys.exit($(told cores) < 1)"; then
        holds "abs(d['gpus'][0]['idle_causes']['host-busy']['value'] - $(told busy)) < 1"
    fi # else others had the processors
    if probelauf show --json @1 | python -c "import json, sys; sys.exit(json.load(sys.stdin)['host']['io']['read']['value'] < 4e6)"; then
        holds "abs(d['gpus'][0]['idle_causes']['disk-wait']['value'] - $(told waited)) < 1"
    fi # else the file system keeps everything in memory
    run probelauf show @1
    has "no real device: it never counts as evidence"
}

told() {
    output=$(<told) json "d['$1']"
}

@test "a run on a stand-in is no base of an estimate" {
    machine eight-h200
    "$PROBELAUF" run -q --purpose trial -- sh -c 'echo $$ >pids; sleep 1.5'
    run probelauf estimate --repeat 3
    has "the GPU was a stand-in"
}

@test "no GPU at all is said, and nothing is 0" {
    LD_LIBRARY_PATH= "$PROBELAUF" run -q -- true
    holds "len(d['gpus']) == 1 and d['gpus'][0]['memory']['device_used']['value'] is None and d['gpus'][0]['uuid'] is None"
}
