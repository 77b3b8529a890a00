#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# The monitor never harms the run it watches, and nothing measured is lost (Req: H4): killed helpers, stopped helpers,
# full, read-only and missing ledger folders, many runs at once. PROBELAUF_TEST_LONG=1: the long versions.

load run-common

# Runs a command in a mount namespace of its own; skips where that is not permitted.
in_namespace() {
    unshare --mount true 2>/dev/null || skip "mount namespaces are not permitted here"
    run unshare --mount bash -c "$1"
}

@test "kill -9 of monitor, recorder and copier at random moments" {
    run python "$BATS_TEST_DIRNAME/kill-storm.py" "$PROBELAUF" "$CHILD" "$(long && echo 600 || echo 30)" 20261130
    echo "$output"
    [ "$status" -eq 0 ]
    has "storm ok"
}

@test "fifty runs at once give fifty records" {
    local i pids=()
    for i in $(seq 50); do
        "$PROBELAUF" run -q -c "number=$i" -- "$CHILD" sleep 0.05 out "$i" >"out.$i" &
        pids+=($!)
    done
    for i in "${pids[@]}"; do
        wait "$i"
    done
    for i in $(seq 50); do
        [ "$(cat "out.$i")" = "$i" ]
    done
    [ "$(runs_in_ledger)" -eq 50 ]
    run probelauf ledger check
    [ "$status" -eq 0 ]
}

@test "a stopped recorder does not delay the command" {
    local seconds=4
    long && seconds=20
    # The command says that it is there, waits until the recorder is stopped, prints, and says that it has ended.
    "$PROBELAUF" run -q -- "$CHILD" write began 1 wait-file go print 3000000 write ended 1 >printed &
    local monitor=$! recorder
    appears began
    recorder=$(helper "$monitor" pl-recorder)
    kill -STOP "$recorder"
    : >go
    appears ended
    sleep "$seconds"
    kill -CONT "$recorder"
    wait "$monitor"
    [ "$(stat -c %s printed)" -eq 3000000 ]
    until_true ledger_has 1
}

@test "a recorder that stands still at the end is waited for as long as it is set" {
    # The command stops the recorder; somebody lets it go on later. 60 s are the tests' own setting.
    goes_on() {
        appears "$1"
        sleep 3
        kill -CONT "$(cat "$1")"
    }
    local stop='pgrep -P $PPID -x pl-recorder >here; kill -STOP $(cat here); mv here'
    goes_on first &
    PROBELAUF_RECORD_WAIT=0.2s "$PROBELAUF" run -q -- sh -c "$stop first" 2>said
    grep -q 'still being written and follows' said
    [ "$(shown 'd["outcome"]["class"]')" = running ]
    until_true ledger_has 1
    goes_on second &
    "$PROBELAUF" run -q -- sh -c "$stop second" 2>said
    [ ! -s said ]
    until_true ledger_has 2
}

@test "ledger folder full: result untouched, one warning at most, taken in later" {
    export PROBELAUF_LEDGER="sqlite:$PWD/small/ledger.db"
    mkdir small
    in_namespace "
        mount -t tmpfs -o size=32k none small && head -c 40000 /dev/zero >small/filler 2>/dev/null
        '$PROBELAUF' run -- '$CHILD' out result exit 7 2>warnings; echo status=\$?
        grep -c 'probelauf: warning' warnings
        sleep 0.5; umount small"
    has result
    has status=7
    # The journal went to the next place; without the full file system the ledger can be made.
    until_true ledger_has 1
}

@test "ledger folder read-only: result untouched, taken in later" {
    export PROBELAUF_LEDGER="sqlite:$PWD/fixed/ledger.db"
    mkdir fixed
    in_namespace "
        mount -t tmpfs -o ro none fixed
        '$PROBELAUF' run -- '$CHILD' out result exit 3 2>warnings; echo status=\$?
        sleep 0.5; umount fixed"
    has result
    has status=3
    until_true ledger_has 1
}

@test "no place at all: the command runs, one warning, no record" {
    in_namespace "
        mkdir -p '$HOME' /var/tmp
        mount -t tmpfs -o ro none '$HOME'
        mount -t tmpfs -o ro none /var/tmp
        '$PROBELAUF' run -q -- '$CHILD' out result exit 5; echo status=\$?"
    has result
    has status=5
    [ "$(grep -c 'probelauf: warning' <<<"$output")" -eq 1 ]
}

@test "ledger gone while the command runs" {
    export PROBELAUF_LEDGER="sqlite:$PWD/gone/ledger.db"
    probelauf run -q -- "$CHILD" exit 0
    until_true nothing_waits gone
    "$PROBELAUF" run -q -- "$CHILD" write began 1 wait-file go out result >printed &
    local monitor=$!
    appears began
    until_true rm -rf gone # somebody may be writing a file there
    : >go
    wait "$monitor"
    [ "$(cat printed)" = result ]
    # The journal lay in the removed folder; its records are written again under a name.
    until_true ledger_has 1
    until_true nothing_waits gone
    run probelauf ledger check
    [ "$status" -eq 0 ]
}

@test "a ledger that refuses locks: result untouched, taken in later" {
    probelauf run -q -- "$CHILD" exit 0
    until_true nothing_waits
    python - "$HOME/data/probelauf/ledger.db" <<'PY' 3>&- &
import os, sqlite3, sys, time
held = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=60)
held.execute("BEGIN EXCLUSIVE")
with open("held", "w") as told:
    told.write("yes")
while os.path.exists("held"):
    time.sleep(0.02)
PY
    local holder=$!
    appears held
    run probelauf run -q -- "$CHILD" out result exit 4
    rm held
    [ "$status" -eq 4 ]
    has result
    wait "$holder"
    until_true ledger_has 2
}

@test "a reader that leaves ends the command as without us" {
    run timeout 20 bash -c "'$PROBELAUF' run -q -- yes | head -1"
    [ "$status" -eq 0 ]
    [ "$output" = y ]
}

@test "a mark that cannot be kept does not end the script" {
    in_namespace "
        mkdir -p '$HOME' /var/tmp
        mount -t tmpfs -o ro none '$HOME'
        mount -t tmpfs -o ro none /var/tmp
        '$PROBELAUF' run -q -- sh -ec '\"\$PROBELAUF\" mark load; echo after'; echo status=\$?"
    has after
    has status=0
}

@test "a huge file with a journal's name costs a reader nothing" {
    mkdir -p "$HOME/data/probelauf/journals"
    truncate -s 20G "$HOME/data/probelauf/journals/01a22ce3-0000-7000-8000-000000000000-01a22ce3-0000-7000-8000-000000000000.journal"
    run timeout 20 "$PROBELAUF" log
    [ "$status" -eq 0 ]
}

@test "the control group of a killed monitor and recorder does not stay" {
    local groups=/sys/fs/cgroup/memory
    [ -d "$groups" ] || skip "no v1 memory controller here"
    "$PROBELAUF" run -q -- "$CHILD" write began 1 wait-file go write ended 1 &
    local monitor=$! recorder run
    appears began
    recorder=$(helper "$monitor" pl-recorder)
    run=$(basename "$HOME"/data/probelauf/journals/*.journal | cut -c1-36)
    if ! find "$groups" -maxdepth 6 -name "probelauf-$run" | grep -q .; then
        : >go
        skip "no own group can be made here"
    fi
    kill -9 "$monitor" "$recorder"
    : >go
    appears ended
    is_lost() { probelauf log | grep -q lost; }
    group_is_gone() { is_lost && [ -z "$(find "$groups" -maxdepth 6 -name "probelauf-$run")" ]; }
    until_true is_lost
    until_true group_is_gone
}

@test "a command that looks for its reader without writing sees that it left" {
    echo line >followed
    run timeout 20 bash -c "'$PROBELAUF' run -q -- tail -f followed | head -1"
    [ "$status" -eq 0 ]
    [ "$output" = line ]
}

@test "without /proc the budget stops the command, and what is not seen is at least" {
    unshare --mount --pid --fork true 2>/dev/null || skip "namespaces are not permitted here"
    unshare --mount --pid --fork bash -c "mount -t tmpfs none /proc; '$CHILD' exit 0" 2>/dev/null ||
        skip "a sanitizer's program needs /proc itself"
    run timeout 20 unshare --mount --pid --fork bash -c "
        mount -t tmpfs none /proc
        '$PROBELAUF' run -q --max-time 0.3s --grace 0.1s -- '$CHILD' sleep 30; echo status=\$?
        '$PROBELAUF' run -q -- '$CHILD' exit 0
        sleep 0.5"
    has status=124
    run probelauf show --json @1
    [ "$(json 'd["time"]["wall"]["bound"]')" = at-least ]
}
