#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# A process that runs already is measured from now on, and not touched (Req: B1, B5, B6, --attach).

load run-common

MIB=1048576

teardown() {
    local pid
    for pid in ${TARGETS-}; do
        { kill -KILL "$pid" && wait "$pid"; } 2>/dev/null || true
    done
}

# Starts a process to attach to; its pid is in $target. What it writes goes to `target.err`.
target() {
    "$@" >target.out 2>target.err 3>&- 4>&- </dev/null &
    target=$!
    TARGETS="${TARGETS-} $target"
}

# Attaches in the background; the monitor's pid is in $monitor. Returns once START is written.
attach() {
    "$PROBELAUF" run "$@" 2>attach.err 3>&- 4>&- &
    monitor=$!
    until_true begun
}

begun() {
    grep -qs '"attach_start"' "$HOME"/data/probelauf/journals/*.journal
}

@test "CPU, I/O and memory are counted since it was attached to" {
    target "$CHILD" busy 2 write before 20000000 write ready 1 wait-file go busy 0.4 alloc 64 \
        write after 5000000 wait-file stop
    appears ready
    attach --attach "$target"
    touch go
    appears after
    sleep 1.2
    touch stop
    wait "$monitor"
    [ "$(shown 'd["outcome"]["class"]')" = ended ]
    [ "$(shown 'd["outcome"]["exit_code"]')" = null ]
    [ "$(shown '0.3 < d["host"]["cpu"]["value"] < 1.9')" = true ]
    [ "$(shown '5000000 <= d["host"]["io"]["written_chars"]["value"] < 20000000')" = true ]
    [ "$(shown "d['host']['memory']['largest_process_rss']['value'] > 64 * $MIB")" = true ]
    [ "$(shown 'd["time"]["wall"]["bound"]')" = at-least ]
    [ "$(shown 'd["time"]["command"]["bound"]')" = at-least ]
    [ "$(shown 'd["outcome"]["survivors"]')" = '[]' ]
    [ "$(shown 'd["attached"]["pid"]')" = "$target" ]
    [ "$(shown 'd["attached"]["ended_by"]')" = process-ended ]
    record START | grep -q "\"attach\":$target,"
    record END | grep -q '"watching":"process-ended"'
    run probelauf show --json @1
    valid_schema run
}

@test "a peak from before is told to be maybe from before" {
    target "$CHILD" spike 1 1 alloc 80 write ready 1 wait-file stop
    appears ready
    attach --attach "$target" --max-time 1s
    wait "$monitor"
    [ "$(shown "d['host']['memory']['largest_process_rss']['value'] > 80 * $MIB")" = true ]
    run probelauf show @1
    output=$(tr -s ' \n' ' ' <<<"$output")
    has "the peak may be from before"
}

@test "children that it starts and reaps are in its account, however short they live" {
    target sh -c "'$CHILD' wait-file go; for i in 1 2 3 4 5 6 7 8 9 10; do '$CHILD' busy 0.06; done; '$CHILD' wait-file stop"
    attach --attach "$target"
    touch go
    sleep 3
    touch stop
    wait "$monitor"
    [ "$(shown '0.5 < d["host"]["cpu"]["value"] < 6')" = true ]
}

@test "whoever was seen in the tree stays in it when it loses its parent" {
    target sh -c "sh -c \"'$CHILD' wait-file grow alloc 90 write grown 1 wait-file stop & exec '$CHILD' wait-file orphan\"; '$CHILD' wait-file end"
    attach --attach "$target"
    sleep 2.5
    touch orphan
    sleep 1.5
    touch grow
    appears grown
    sleep 1.5
    touch stop end
    wait "$monitor"
    [ "$(shown "d['host']['memory']['largest_process_rss']['value'] > 90 * $MIB")" = true ]
}

@test "what it leaves behind is watched for --linger and listed" {
    target sh -c "'$CHILD' sleep 60 & '$CHILD' wait-file end; exit 3"
    attach --attach "$target" --linger 1s
    sleep 1.5
    pkill -P "$target" -x child -n || true # the one that waits: the newest
    touch end
    wait "$monitor"
    [ "$(shown 'len(d["outcome"]["survivors"])')" = 1 ]
    TARGETS="$TARGETS $(shown 'd["outcome"]["survivors"][0]["pid"]')"
    [ "$(shown 'd["time"]["wall"]["value"] - d["time"]["command"]["value"] > 0.8')" = true ]
}

@test "Ctrl-C ends the watching and not the process" {
    target "$CHILD" catch 2 catch 15 wait-file stop
    attach --attach "$target"
    sleep 0.3
    # A background job of a shell without job control ignores SIGINT: so does the watching.
    kill -INT "$monitor"
    sleep 0.5
    kill -0 "$monitor"
    kill -TERM "$monitor"
    wait "$monitor"
    kill -0 "$target"
    [ ! -s target.err ]
    [ "$(shown 'd["outcome"]["class"]')" = ended ]
    [ "$(shown 'd["outcome"]["survivors"][0]["pid"]')" = "$target" ]
    record END | grep -q '"watching":"stopped"'
    run probelauf show @1
    lacks "--linger"
    output=$(tr -s ' \n' ' ' <<<"$output")
    has "it went on when the watching ended"
    has "(then stopped); the process goes on"
    lacks "status was not seen"
    lacks "ended:"
    run probelauf explain @1
    has "the process goes on"
    lacks "class"
    lacks "ended"
}

@test "an interrupt of the watching ends a shell loop" {
    target "$CHILD" wait-file stop
    run -130 python -c 'import os, signal, subprocess, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
child = subprocess.Popen(sys.argv[1:], stderr=subprocess.PIPE)
child.stderr.readline()
time.sleep(0.3)
child.send_signal(signal.SIGINT)
child.communicate()
sys.exit(128 - child.returncode if child.returncode < 0 else child.returncode)' "$PROBELAUF" run --attach "$target"
    kill -0 "$target"
    [ "$(shown 'd["outcome"]["class"]')" = ended ]
}

@test "Ctrl-Z stops the watching alone, and the gap is told" {
    run -0 python "$BATS_TEST_DIRNAME/terminal.py" attached "$PROBELAUF" "$CHILD"
    record GAP | grep -q 'the watching was stopped meanwhile'
    [ "$(shown 'd["outcome"]["class"]')" = ended ]
    # its own stops nobody told us: open, not 0
    [ "$(shown 'd["time"]["stopped"]["state"]')" = open ]
}

@test "--max-time ends the watching with status 0, and the process goes on" {
    target "$CHILD" catch 15 wait-file stop
    run -0 probelauf run --attach "$target" --max-time 0.5s
    has "(--max-time); the process goes on; run "
    lacks "cause"
    lacks "probelauf explain"
    lacks "status was not seen"
    kill -0 "$target"
    [ ! -s target.err ]
    [ "$(shown 'd["outcome"]["class"]')" = ended ]
    [ "$(shown '0.5 <= d["time"]["wall"]["value"] < 5')" = true ]
    record END | grep -q '"watching":"max-time"'
}

@test "nohup keeps the watching from a hang-up" {
    target "$CHILD" wait-file stop
    nohup "$PROBELAUF" run -q --attach "$target" >/dev/null 2>&1 3>&- 4>&- &
    monitor=$!
    until_true begun
    kill -HUP "$monitor"
    sleep 0.4
    kill -0 "$monitor"
    touch stop
    wait "$monitor"
    record END | grep -q '"watching":"process-ended"'
}

@test "what cannot be attached to is refused in one line" {
    run -125 probelauf run --attach 4194303
    fails 125 attach-no-process
    run -125 probelauf run --attach 1
    fails 125 attach-init
    run -125 probelauf run --attach $$
    fails 125 attach-ancestor
    has "has started this one"
    # shellcheck disable=SC2016
    run -125 sh -c 'exec "$0" run --attach $$' "$PROBELAUF"
    fails 125 attach-ancestor
    has "is this one"
    target python -c 'import subprocess, sys, time
child = subprocess.Popen(["true"])
print(child.pid, flush=True)
time.sleep(60)'
    appears target.out
    sleep 0.5
    run -125 probelauf run --attach "$(cat target.out)"
    fails 125 attach-ended
    rm target.out # what stands in it now is no answer of the next one
    target python -c 'import threading, time
thread = threading.Thread(target=time.sleep, args=(60,))
thread.start()
print(thread.native_id, flush=True)'
    until_true grep -qs . target.out
    run -125 probelauf run --attach "$(cat target.out)"
    fails 125 attach-thread
    [ "$(runs_in_ledger)" = 0 ]
}

@test "a thread of the kernel is refused" {
    [ "$(cat /proc/2/comm 2>/dev/null)" = kthreadd ] || skip "none is visible here"
    run -125 probelauf run --attach 2
    fails 125 attach-kernel-thread
}

@test "a process of another user is refused, but not to root" {
    [ "$(id -u)" = 0 ] || skip "needs root"
    command -v setpriv >/dev/null || skip "needs setpriv"
    cp "$PROBELAUF" "$BATS_TEST_TMPDIR/tmp/program"
    target sleep 60
    exec 5<"$BATS_TEST_TMPDIR/tmp/program"
    run -125 env HOME=/nowhere XDG_CONFIG_HOME=/nowhere XDG_DATA_HOME=/nowhere setpriv --reuid 65534 --regid 65534 --clear-groups /proc/self/fd/5 run --attach "$target"
    exec 5<&-
    fails 125 attach-not-permitted
    target setpriv --reuid 65534 --regid 65534 --clear-groups sleep 60
    sleep 0.3
    run -0 probelauf run -q --attach "$target" --max-time 0.3s
    [ "$(shown 'd["host"]["io"]["read_chars"]["state"]')" = measured ]
}

@test "wrong uses are told before anything is looked at" {
    local words
    for words in "--attach 1 -- true" "--attach 1 --retry 2" "--attach 1 --tee none" "--attach 1 --grace 1s" \
        "--attach 1 --pattern load=x" "--attach 1 --ready x"; do
        # shellcheck disable=SC2086
        run -125 probelauf run $words
        fails 125 usage-conflict
    done
    for words in 0 -1 x 99999999; do
        run -125 probelauf run --attach "$words"
        fails 125 usage-bad-value
    done
}

@test "--gpu is checked for its form" {
    local word
    for word in x GPU- 12345 GPU-zz 1,2 ''; do
        run -125 probelauf run --gpu "$word" -- true
        fails 125 usage-bad-value
    done
    run -125 probelauf run --gpu all --gpu 0 -- true
    fails 125 usage-conflict
    run -125 probelauf run --gpu 0 --gpu 0 -- true
    fails 125 usage-bad-value
    for word in 0 all none GPU-3f2a MIG-GPU-1234abcd-0000-1111-2222-333344445555/1/0; do
        run -0 probelauf run -q --gpu "$word" -- true
        record START | grep -qF "\"gpus\":[\"$word\"]"
    done
}

@test "a process that is about to end is recorded or refused, never anything else" {
    local i code
    for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
        target sleep "0.0$i"
        code=0
        probelauf run -q --attach "$target" 2>err || code=$?
        [ "$code" = 0 ] || { [ "$code" = 125 ] && grep -qE 'attach-(no-process|ended)' err; }
    done
}

@test "folder, variables and command are those of the process; secrets are masked" {
    mkdir place
    target env -C place CUDA_VISIBLE_DEVICES=3 OPENAI_API_KEY=sk-abcdefghijklmnopqrstuvwxyz0123456789 \
        "$CHILD" wait-file "$PWD/stop" argv --token=hunter2hunter2
    sleep 0.3
    run -0 probelauf run -q --attach "$target" --max-time 0.5s
    [ "$(shown 'd["command"][1]')" = wait-file ]
    record START | grep -q '"cwd":"[^"]*/place"'
    record START | grep -q '"CUDA_VISIBLE_DEVICES":"3"'
    record START | grep -q '"stderr":{"was":"file"'
    run probelauf export journal --text @1
    lacks hunter2
    lacks abcdefghijklmnopqrstuvwxyz
}

@test "the whole of it is a phase when --phase says so, and -c names its parameters" {
    target "$CHILD" wait-file stop
    run -0 probelauf run -q --attach "$target" --max-time 0.4s --phase compute -c ratio=0.3
    [ "$(shown 'd["time"]["phases"]["compute"]["bound"]')" = at-least ]
    [ "$(shown 'd["condition"]["ratio"]')" = 0.3 ]
}

@test "without phases the note names what can be done from outside" {
    target "$CHILD" wait-file stop
    run -0 probelauf run --attach "$target" --max-time 0.4s
    has "watching process $target"
    output=$(tr -s ' \n' ' ' <<<"$output")
    has "start it under probelauf, or say what all of it is"
    run probelauf show @1
    lacks "probelauf mark"
    lacks "pattern"
}

@test "a process that simply ended has not vanished" {
    target python -c 'import signal, subprocess, sys, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody sees a zombie of it
print(subprocess.Popen([sys.argv[1], "wait-file", "stop"]).pid, flush=True)
time.sleep(60)' "$CHILD"
    until_true grep -q . target.out
    attach --attach "$(cat target.out)"
    sleep 0.3
    touch stop
    wait "$monitor"
    run probelauf show @1
    output=$(tr -s ' \n' ' ' <<<"$output")
    has "the process ended unseen; CPU time and I/O are as last read, so at least"
    lacks "vanished"
    run probelauf explain @1
    lacks "best witness"
}

@test "a killed monitor leaves the process alone and a record of what it saw" {
    target "$CHILD" wait-file stop
    attach --attach "$target"
    sleep 1.2
    kill -KILL "$monitor"
    wait "$monitor" || true
    until_true ledger_has 1
    kill -0 "$target"
    [ "$(shown 'd["outcome"]["class"]')" = lost ]
    run probelauf show @1
    output=$(tr -s ' \n' ' ' <<<"$output")
    has "attach again"
    lacks "repeat the run"
    [ "$(shown 'd["host"]["cpu"]["bound"]')" = at-least ]
}

@test "a killed recorder is replaced" {
    target "$CHILD" wait-file stop
    attach --attach "$target"
    sleep 0.5
    kill -KILL "$(helper "$monitor" pl-recorder)"
    sleep 1.5
    touch stop
    wait "$monitor"
    [ "$(shown 'd["outcome"]["class"]')" = ended ]
    [ "$(record START | wc -l)" = 1 ]
    record GAP | grep -q '"what":"recorder"'
}

@test "twenty may look at one process at once" {
    local i pids=()
    target "$CHILD" wait-file go busy 0.3 wait-file stop exit 0
    for i in {1..20}; do
        "$PROBELAUF" run -q --attach "$target" 2>"err.$i" 3>&- 4>&- &
        pids+=($!)
    done
    until_true twenty_begun
    sleep 0.5
    touch go
    sleep 2
    touch stop
    for i in "${pids[@]}"; do
        wait "$i"
    done
    until_true ledger_has 20
    run probelauf log --limit 0 --json
    [ "$(json 'sorted({run["outcome"] for run in d["runs"]})')" = '["ended"]' ]
    wait "$target"
}

twenty_begun() {
    [ "$(grep -ls '"attach_start"' "$HOME"/data/probelauf/journals/*.journal | wc -l)" = 20 ]
}

@test "a process that ends is noticed where the kernel has no pidfd" {
    target "$CHILD" wait-file stop
    python "$BATS_TEST_DIRNAME/no-pidfd.py" "$PROBELAUF" run -q --attach "$target" 3>&- 4>&- &
    monitor=$!
    until_true begun || { wait "$monitor" || [ $? != 77 ] || skip "no seccomp here"; }
    sleep 0.5
    touch stop
    wait "$monitor"
    [ "$(shown 'd["outcome"]["class"]')" = ended ]
    [ "$(shown 'd["outcome"]["survivors"]')" = '[]' ]
}

@test "its limits are the process's own" {
    target sh -c "ulimit -n 123; exec '$CHILD' wait-file stop"
    sleep 0.3
    run -0 probelauf run -q --attach "$target" --max-time 0.4s
    until_true nothing_waits
    [ "$(shown 'd["host"]["limits"]["open_files"]["value"] == 123')" = true ]
}

@test "what may not be read of one's own process stays open" {
    [ "$(id -u)" = 0 ] || skip "needs root"
    command -v setpriv >/dev/null || skip "needs setpriv"
    local place as_nobody
    place=$(mktemp -d /tmp/probelauf-attach-XXXXXX)
    chown 65534 "$place"
    as_nobody=(env -C / "HOME=$place" "XDG_CONFIG_HOME=$place" "XDG_DATA_HOME=$place" "XDG_STATE_HOME=$place"
        "TMPDIR=$place" setpriv --reuid 65534 --regid 65534 --clear-groups)
    target "${as_nobody[@]}" /usr/bin/python3 -c 'import ctypes, time
ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE
print("hidden", flush=True)
time.sleep(60)'
    appears target.out
    exec 5<"$PROBELAUF"
    "${as_nobody[@]}" /proc/self/fd/5 run -q --attach "$target" --max-time 0.5s
    run "${as_nobody[@]}" /proc/self/fd/5 show --json @1
    exec 5<&-
    rm -rf "$place"
    [ "$(json 'd["outcome"]["class"]')" = ended ]
    [ "$(json 'd["host"]["cpu"]["state"]')" = measured ]
    [ "$(json 'd["host"]["io"]["read_chars"]["reason"]')" = not-permitted ]
}
