#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# GPUs in the record (Req: B3 B4), with stand-ins of the vendor's library (tests/stand-in): the expected records of
# machines of all kinds, drivers that hang, lose a board or are exchanged, killed helpers, and whose a GPU is.
# GPU_GOLDEN_WRITE=1 (not PROBELAUF_…: those are cleared) writes the golden files anew.

load run-common

setup() {
    common_setup
    : "${STAND_IN:?set STAND_IN to the built tests/stand-in}"
    export PROBELAUF
    unset CUDA_VISIBLE_DEVICES CUDA_DEVICE_ORDER NVIDIA_VISIBLE_DEVICES SLURM_JOB_GPUS SLURM_STEP_GPUS
}

# A machine: TRACE [GENERATION]. The command's first process is the driver's `tree`.
machine() {
    export LD_LIBRARY_PATH=$STAND_IN/generation-${2-550}
    export PROBELAUF_STANDIN_TRACE=$SOURCE/tests/stand-in/traces/$1.trace
    export PROBELAUF_STANDIN_PIDS=$PWD/pids
}

# Runs a command that is known to the driver and lasts SECONDS.
run_on_gpu() {
    "$PROBELAUF" run -q "${@:2}" -- sh -c "echo \$\$ >pids; sleep $1; :"
}

# Python over what the journal says of GPUs, called `d`.
gpus() {
    output=$(probelauf export journal --text @1 | python "$BATS_TEST_DIRNAME/gpu/records.py")
    json "$1"
}

golden() {
    local file=$BATS_TEST_DIRNAME/gpu/golden/$1.json
    probelauf show --json @1 >shown.json
    probelauf export journal --text @1 | python "$BATS_TEST_DIRNAME/gpu/records.py" shown.json >found.json
    if [ -n "${GPU_GOLDEN_WRITE-}" ]; then
        cp found.json "$file"
    fi
    diff -u "$file" found.json
}

on_machine() {
    machine "$@"
    run_on_gpu 3.4
    golden "$1${2+-$2}"
}

@test "eight boards: the run's one, a neighbour's, and six that nobody uses" {
    on_machine eight-h200
}

@test "a slice of a divided board" {
    on_machine mig
}

@test "a lost board hides no other" {
    export CUDA_VISIBLE_DEVICES=0,1 CUDA_DEVICE_ORDER=PCI_BUS_ID # a lost board tells no model
    on_machine lost-board
}

@test "the oldest generation of the driver" {
    on_machine generations 340
}

@test "an old generation of the driver" {
    on_machine generations 418
}

@test "a newer generation of the driver" {
    on_machine generations 470
}

@test "the newest generation of the driver" {
    on_machine generations 550
}

@test "memory shared with the host" {
    on_machine gb10
}

@test "WSL: process ids that are not ours" {
    mkdir -p wsl/lib
    cp "$STAND_IN/generation-550/libnvidia-ml.so.1" wsl/lib/
    machine wsl
    export LD_LIBRARY_PATH=$PWD/wsl/lib
    run_on_gpu 3.4
    golden wsl
}

@test "blanks and impossible values are no figures" {
    on_machine sentinels
}

@test "a library without a driver" {
    on_machine no-driver
}

@test "a library that cannot be used is never a machine without a GPU" {
    local trace
    for trace in no-driver:not-visible mismatch:failed no-permission:not-permitted slow-init:not-sampled; do
        machine "${trace%:*}"
        "$PROBELAUF" run -q -- sleep "$([ "$trace" = slow-init:not-sampled ] && echo 0 || echo 1.2)"
        until_true nothing_waits
        holds "d['gpus'][0]['total']['reason'] == '${trace#*:}' and d['gpus'][0]['index'] is None"
        run probelauf show @1
        lacks "no GPU was found"
    done
}

@test "a counter of energy that stands still is no figure" {
    machine sentinels
    "$PROBELAUF" run -q --gpu 1 -- sleep 2.5
    holds "d['gpus'][0]['energy']['state'] == 'open' and d['gpus'][0]['energy']['reason'] == 'failed'"
    [ "$(gpus 'd["counters"][1]["reasons"]["energy_j"]')" = failed ]
    [ "$(gpus '"energy_j" in d["counters"][1]')" = false ]
    run probelauf show @1
    has "counter did not move"
}

@test "errors of a board's memory are an incident and a figure; what holds its clocks is shown" {
    machine held-clocks
    run_on_gpu 3.4
    holds "d['gpus'][0]['ecc_uncorrected']['value'] == 3"
    holds "set(d['gpus'][0]['clocks_held']) == {'power-cap', 'thermal'}"
    holds "[[i['name'], i['survived'], i['figures']['ecc_uncorrected']] for i in d['outcome']['incidents']] == [['gpu_xid', True, 3]]" "d['outcome']"
    run probelauf show @1
    has "uncorrectable ECC error"
    [[ "$output" == *"clocks held"*"the power limit in 100"*"heat in 100"* ]]
    [[ "$output" == *"at "[1-9]*" s, device GPU-"* ]]
    lacks "t_ns"
    run probelauf explain @1
    lacks "t ns"
    machine eight-h200
    run_on_gpu 2.5
    run probelauf show @1
    lacks "clocks held"
    lacks "memory errors"
}

@test "a name of --gpu that no board has, or several have, is no fact about the run" {
    machine eight-h200
    run "$PROBELAUF" run --gpu 99 -- sleep 2.5
    has "--gpu 99 names no GPU; there are: 0, 1, 2, 3, 4, 5, 6, 7"
    holds "len(d['gpus']) == 8 and all([g['mine'], g['mine_by']] == ['unknown', '--gpu'] for g in d['gpus'])"
    holds "d['gpu_option'] == {'not_found': ['99'], 'ambiguous': []}" "d.get('gpu_option')"
    [ "$(gpus 'd["probe"]["not_found"]')" = '["99"]' ]
    run probelauf show @1
    has "--gpu 99 names no GPU"
    run "$PROBELAUF" run --gpu GPU-00000000 --gpu 2 -- sleep 2.5
    has "--gpu GPU-00000000 names several of the GPUs; there are: 0, 1"
    holds "[g['index'] for g in d['gpus'] if g['mine'] == 'yes'] == [2] and len(d['gpus']) == 8"
    holds "d['gpu_option'] == {'not_found': [], 'ambiguous': ['GPU-00000000']}" "d.get('gpu_option')"
    run "$PROBELAUF" run --gpu 2 -- sleep 1.2
    lacks "names"
    holds "'gpu_option' not in d and d['gpus_of_others'] == 7"
    output=$(probelauf show --json @1)
    valid_schema run
}

@test "boards that nobody used are told the same way in runs of two and a half seconds" {
    machine eight-h200
    local try
    for try in 1 2 3; do
        run_on_gpu 2.5
        [ "$(gpus '[g["mine"] for g in d["devices"]]')" = '["yes", "no", "no", "no", "no", "no", "no", "no"]' ]
    done
}

@test "capacity that is shared, or a part of a board" {
    machine gb10
    run_on_gpu 1.5
    holds "d['gpus'][0]['unified'] is True and d['gpus'][0]['virtual'] is None"
    run probelauf show @1
    has "shares the host's"
    machine vgpu
    run_on_gpu 1.5
    holds "d['gpus'][0]['virtual'] == 'vgpu'"
    run probelauf show @1
    has "a virtual GPU: the total is its share"
}

@test "a driver that shows no device" {
    on_machine no-gpu
}

@test "no library and no device: no helper, and the record says so" {
    "$PROBELAUF" run -q -- sleep 1.2
    [ "$(gpus 'd["probe"].get("state") in ("absent", "ready", "no-driver")')" = true ]
    if [ "$(gpus 'd["probe"]["state"]')" = absent ]; then
        record COUNTERS | tail -n 1 | grep '"gpu":0}'
        [ "$(gpus 'd["devices"]')" = "[]" ]
    fi
}

@test "a command that ends before the driver has answered" {
    machine slow-init
    "$PROBELAUF" run -q -- true
    [ "$(gpus 'd["probe"]["reason"]')" = not-sampled ]
    [ "$(gpus '"state" in d["probe"] or d["devices"] != [] or d["counters"] is not None')" = false ]
}

@test "a driver that hangs delays neither start nor output nor end" {
    machine hang
    run python "$BATS_TEST_DIRNAME/gpu/delays.py" "$PROBELAUF" 5
    echo "$output"
    [ "$status" -eq 0 ]
    until_true ledger_has 2
    [ "$(gpus 'd["gaps"]')" = '["gpu: the GPU driver has not answered"]' ]
    [ "$(gpus 'd["counters"][0]["used_peak_bytes"]')" = 1048576 ]
}

@test "a driver that is slow to begin delays nothing either" {
    machine slow-init
    run python "$BATS_TEST_DIRNAME/gpu/delays.py" "$PROBELAUF" 2
    echo "$output"
    [ "$status" -eq 0 ]
}

@test "a driver that is exchanged under the run: a gap, and the rest is measured" {
    machine exchange
    run_on_gpu 4
    [ "$(gpus 'd["gaps"]')" = '["gpu: the GPU driver was exchanged during the run"]' ]
    [ "$(gpus 'd["counters"][0]["used_peak_bytes"]')" = 734003200 ]
}

@test "a killed helper is replaced, three times at most, and the hole is named" {
    machine eight-h200
    "$PROBELAUF" run -q -- sh -c 'echo $$ >pids; while [ ! -e stop ]; do sleep 0.1; done' &
    local monitor=$! last=
    for _ in 1 2 3 4; do
        until_true new_helper "$monitor" "$last"
        last=$helper
        sleep 1.5 # it shall have told something
        kill -KILL "$helper"
    done
    sleep 2.5
    run new_helper "$monitor" "$last"
    [ "$status" -ne 0 ]
    : >stop
    wait "$monitor"
    [ "$(gpus 'sorted(set(d["gaps"]))')" = \
        '["gpu: the GPU helper had ended", "gpu: the GPU helper had ended and was replaced"]' ]
    [ "$(gpus 'd["counters"][0]["process_peak_bytes"] > 0 and len(d["devices"])')" = 8 ]
}

# new_helper MONITOR LAST: sets helper to the GPU helper of that monitor, unless it is the last one.
new_helper() {
    local recorder
    recorder=$(helper "$1" pl-recorder) && helper=$(pgrep -P "$recorder" -x pl-gpu) &&
        [ "$helper" != "$2" ]
}

@test "a killed recorder loses no peak and defines no series twice" {
    machine ramp
    "$PROBELAUF" run -q -- sh -c 'echo $$ >pids; while [ ! -e stop ]; do sleep 0.1; done' &
    local monitor=$! recorder
    for _ in 1 2; do
        until_true helper "$monitor" pl-recorder
        sleep 3
        recorder=$(helper "$monitor" pl-recorder)
        kill -KILL "$recorder"
    done
    sleep 3
    : >stop
    wait "$monitor"
    until_true ledger_has 1
    run pgrep -x pl-gpu -P "$recorder"
    [ "$status" -ne 0 ]
    [ "$(gpus 'd["probe"]["state"]')" = ready ]
    [ "$(gpus 'd["counters"][0]["used_peak_bytes"] > 0')" = true ]
    [ "$(gpus '[g for g in d["gaps"] if "recorder" in g] != []')" = true ]
}

@test "CUDA_VISIBLE_DEVICES names the run's" {
    machine eight-h200
    CUDA_VISIBLE_DEVICES=GPU-00000000-5d1a-0000-0000-000000000003,5 "$PROBELAUF" run -q -- sleep 1.2
    # a list of two kinds is not translated by a guess
    [ "$(gpus 'all(g["mine"] == "unknown" for g in d["devices"])')" = true ]
    CUDA_VISIBLE_DEVICES=2,6 "$PROBELAUF" run -q -- sleep 1.2
    [ "$(gpus '[g["device"] for g in d["devices"] if g["mine"] == "yes"]')" = "[2, 6]" ]
    [ "$(gpus 'all(g["mine_by"] == "CUDA_VISIBLE_DEVICES" for g in d["devices"])')" = true ]
}

@test "what the driver shows goes before what variables say" {
    machine eight-h200
    CUDA_VISIBLE_DEVICES=4 run_on_gpu 2.5
    [ "$(gpus '[[g["device"], g["mine_by"]] for g in d["devices"] if g["mine"] == "yes"]')" = \
        '[[0, "processes"], [4, "CUDA_VISIBLE_DEVICES"]]' ]
}

@test "the option: none, an index, a UUID" {
    machine eight-h200
    "$PROBELAUF" run -q --gpu none -- sleep 1.2
    [ "$(gpus 'd["probe"]')" = \
        '{"probe": "nvml", "reason": "not-applicable", "detail": "--gpu none"}' ]
    [ "$(gpus 'd["devices"]')" = "[]" ]
    "$PROBELAUF" run -q --gpu 1 --gpu GPU-00000000-5d1a-0000-0000-000000000007 -- sleep 1.2
    [ "$(gpus '[[g["device"], g["mine_by"]] for g in d["devices"] if g["mine"] == "yes"]')" = \
        '[[1, "--gpu"], [7, "--gpu"]]' ]
}

@test "memory that is left behind after the command's end" {
    machine eight-h200
    "$PROBELAUF" run -q --linger 2.5s -- sh -c 'setsid sleep 60 & echo $! >pids; sleep 1.5'
    [ "$(gpus '[d["counters"][0]["left_bytes"] > 0, d["counters"][0]["left_pids"]]')" = '[true, 1]' ]
    [ "$(gpus 'd["counters"][1]["left_bytes"]')" = 0 ]
    kill "$(cat pids)"
}

@test "more GPUs than are watched: nothing is said of all" {
    machine eight-h200
    {
        grep -E '^(driver|nvml|cuda) ' "$PROBELAUF_STANDIN_TRACE"
        for i in $(seq 0 69); do
            printf 'device %d name="NVIDIA H200 stand-in" uuid=GPU-00000000-5d1a-0000-0000-%012d ' "$i" "$i"
            printf 'bus=00000000:%02x:00.0 minor=%d total=143771MiB reserved=602MiB mig=off\n' $((i + 16)) "$i"
            printf '0 %d used 1GiB\n' "$i"
        done
        echo '0 69 process pid=tree used=1GiB'
    } >seventy.trace
    export PROBELAUF_STANDIN_TRACE=$PWD/seventy.trace
    run_on_gpu 4
    [ "$(gpus '[d["probe"]["count"], d["probe"]["unwatched"], len(d["devices"])]')" = "[70, 6, 64]" ]
    [ "$(gpus '[g for g in d["gaps"] if "more GPUs" in g] != []')" = true ]
    output=$("$PROBELAUF" show @1)
    [[ $output != *"none of the GPUs of this machine"* ]]
}

@test "four hundred processes on a GPU: the run's is the last" {
    machine eight-h200
    {
        cat "$PROBELAUF_STANDIN_TRACE"
        for i in $(seq 1 399); do
            echo "0 3 process pid=$((4000000 + i)) used=1MiB"
        done
        echo '0 3 process pid=tree used=5GiB'
    } >many.trace
    export PROBELAUF_STANDIN_TRACE=$PWD/many.trace
    run_on_gpu 2.4
    [ "$(gpus 'd["devices"][3]["mine_by"]')" = processes ]
    [ "$(gpus '[d["counters"][3]["process_peak_bytes"], d["counters"][3]["others"]]')" = '[5368709120, true]' ]
}

no_daemon() {
    ! pgrep -x stand-in-daemon
}

@test "what the GPU library leaves behind is not the run's, and does not stay" {
    machine eight-h200
    PROBELAUF_STANDIN_DAEMON=1 "$PROBELAUF" run -q --linger 30s -- sleep 1.2
    output=$(probelauf show --json @1)
    [ "$(json 'd["time"]["wall"]["value"] < 20')" = true ]
    until_true ledger_has 1
    until_true no_daemon
}

@test "a PID namespace of its own: the driver's processes are not ours" {
    unshare --pid --fork --mount-proc true 2>/dev/null || skip "PID namespaces are not permitted here"
    machine gb10
    unshare --pid --fork --mount-proc "$PROBELAUF" run -q -- sh -c 'sleep 3.4; :'
    until_true ledger_has 1
    [ "$(gpus 'd["devices"][0]["reasons"]["processes"]')" = not-visible ]
    [ "$(gpus '[k for k in ("process_peak_bytes", "others") if k in d["counters"][0]]')" = "[]" ]
    [ "$(gpus 'd["counters"][0]["reasons"]["process_peak_bytes"]')" = not-visible ]
}

@test "a PID namespace of its own: a process that the driver names is recognised in the tree" {
    unshare --pid --fork --mount-proc true 2>/dev/null || skip "PID namespaces are not permitted here"
    [ ! -e /dev/nvidiactl ] || skip "here the process would have to have the device files open"
    machine eight-h200
    unshare --pid --fork --mount-proc "$PROBELAUF" run -q -- sh -c 'echo $$ >pids; sleep 3.4; :'
    until_true ledger_has 1
    [ "$(gpus 'd["devices"][0]["mine_by"]')" = processes ]
    [ "$(gpus 'd["counters"][0]["process_peak_bytes"] > 0')" = true ]
}

@test "a process that is attached to: its GPU, its variables" {
    machine eight-h200
    CUDA_VISIBLE_DEVICES=6 sleep 3.4 3>&- &
    echo "$!" >pids
    "$PROBELAUF" run -q --attach "$!"
    until_true ledger_has 1
    [ "$(gpus '[[g["device"], g["mine_by"]] for g in d["devices"] if g["mine"] == "yes"]')" = \
        '[[0, "processes"], [6, "CUDA_VISIBLE_DEVICES"]]' ]
}

@test "a system that executes nothing from memory: the helper runs from a file, which is gone" {
    # the switch is of the PID namespace
    unshare --pid --fork --mount-proc sh -c 'echo 2 >/proc/sys/vm/memfd_noexec' 2>/dev/null ||
        skip "vm.memfd_noexec cannot be set here"
    machine eight-h200
    unshare --pid --fork --mount-proc sh -c 'echo 2 >/proc/sys/vm/memfd_noexec
        "$PROBELAUF" run -q -- sleep 1.5; :'
    until_true ledger_has 1
    [ "$(gpus 'd["probe"]["state"]')" = ready ]
    nothing_waits
    [ -z "$(find "$HOME" -name '*.gpu')" ]
}

@test "boards of which nobody told whose they are give no figures of the run" {
    machine eight-h200
    run -0 "$PROBELAUF" run -- sleep 1.2
    has "which of the 8 GPUs are the run's was not told"
    [[ "$output" != *"memory of the run's processes"* ]]
}
