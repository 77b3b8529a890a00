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

@test "two stretches without work get their causes: the host computes, the disk is waited for" {
    machine busy-idle # busy until 2 s, idle to 7 s, busy to 9 s, idle to 14 s, busy to 16 s
    "$CHILD" write data 4000000
    cat >job.sh <<EOF
echo \$\$ >pids
sleep 1.9
for i in 1 2 3 4 5 6; do timeout 5 "$CHILD" busy 60 & done; wait
sleep 1.9
"$CHILD" disk-wait 5 data
sleep 1.9
EOF
    "$PROBELAUF" run -q -- sh job.sh
    shown "len(d['gpus']) == 1 and d['gpus'][0]['stand_in'] and d['gpus'][0]['mine'] == 'yes'"
    shown "9 < d['gpus'][0]['idle']['value'] < 12"
    shown "3 < d['gpus'][0]['idle_causes']['host-busy']['value'] < 7"
    if probelauf show --json @1 | python -c "import json, sys; sys.exit(json.load(sys.stdin)['host']['io']['read']['value'] < 4e6)"; then
        shown "3 < d['gpus'][0]['idle_causes']['disk-wait']['value'] < 7"
    fi # else the file system keeps everything in memory
    run probelauf show @1
    has "no real device: it never counts as evidence"
}

@test "a run on a stand-in is no base of an estimate" {
    machine eight-h200
    "$PROBELAUF" run -q --purpose trial -- sh -c 'echo $$ >pids; sleep 1.5'
    run probelauf estimate --repeat 3
    has "the GPU was a stand-in"
}

@test "no GPU at all is said, and nothing is 0" {
    LD_LIBRARY_PATH= "$PROBELAUF" run -q -- true
    shown "len(d['gpus']) == 1 and d['gpus'][0]['memory']['device_used']['value'] is None and d['gpus'][0]['uuid'] is None"
}
