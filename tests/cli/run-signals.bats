#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Exit codes and signals: `run` ends as the command would have ended, and what is sent to it arrives (Req: B7).

load run-common

terminal() {
    run python "$BATS_TEST_DIRNAME/terminal.py" "$1" "$PROBELAUF" "$CHILD"
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$output" = "$1 ok" ]
}

@test "the command's status is passed through" {
    local code
    for code in 0 1 7 125 126 127 255; do
        run probelauf run -q -- "$CHILD" exit "$code"
        [ "$status" -eq "$code" ]
        [ -z "$output" ]
    done
}

@test "death by a signal is 128+N" {
    local signal
    for signal in 1 3 6 9 10 15; do
        run probelauf run -q -- "$CHILD" raise "$signal"
        [ "$status" -eq $((128 + signal)) ]
    done
    record END | grep -q '"signal":15'
}

@test "death by SIGINT is passed on as death by SIGINT" {
    run python -c 'import subprocess, sys
print(subprocess.run(sys.argv[1:]).returncode)' "$PROBELAUF" run -q -- "$CHILD" raise 2
    [ "$output" = -2 ]
    record END | grep -q '"interrupted":true'
}

@test "not found is 127, not executable 126, each with a record" {
    run probelauf run -q -- ./missing
    [ "$status" -eq 127 ]
    has "cannot run './missing': No such file or directory"
    record END | grep -q '"start_errno":2,'
    touch plain
    run probelauf run -q -- ./plain
    [ "$status" -eq 126 ]
    has "cannot run './plain': Permission denied"
    mkdir folder
    run probelauf run -q -- ./folder
    [ "$status" -eq 126 ]
    run probelauf show --json @1
    [ "$(json 'd["outcome"]["class"]')" = start_failed ]
}

@test "a script without an interpreter line runs as with execvp" {
    echo 'echo from-script; exit 3' >script
    chmod +x script
    run probelauf run -q -- ./script
    [ "$status" -eq 3 ]
    [ "$output" = from-script ]
}

@test "--max-time stops the whole tree: 124, an at-least record" {
    run probelauf run -q --max-time 1s --grace 5s -- sh -c "'$CHILD' pause & '$CHILD' pause; echo not-reached"
    [ "$status" -eq 124 ]
    lacks not-reached
    record END | grep -q '"budget":true'
    run probelauf show --json @1
    [ "$(json 'd["outcome"]["class"]')" = budget ]
    [ "$(json 'd["time"]["wall"]["bound"]')" = at-least ]
    [ "$(json 'd["time"]["wall"]["value"] >= 1')" = true ]
}

@test "--max-time kills what ignores SIGTERM after the grace, until none is left" {
    # Ignored from its first instant on, however late it comes to say so itself.
    run bash -c "trap '' TERM; '$PROBELAUF' run -q --max-time 0.3s --grace 0.3s -- '$CHILD' hold 3 600"
    [ "$status" -eq 124 ]
    record END | grep -q '"signal":9'
    record END | grep -q '"survivors":\[\]'
}

@test "a command that ends well within the grace is stopped by the budget all the same" {
    # SIGTERM is blocked from its first instant on, so that it waits for a command that is late.
    run python -c 'import os, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
os.execv(sys.argv[1], sys.argv[1:])' "$PROBELAUF" run -q --max-time 0.3s --grace 100s -- "$CHILD" await 15 exit 0
    [ "$status" -eq 124 ]
    record END | grep -q '"exit_code":0'
}

@test "signals are passed on to the command" {
    local signal
    for signal in HUP USR1 USR2 TERM; do
        rm -f ready
        "$PROBELAUF" run -q -- sh -c "trap 'echo got-$signal; exit 9' $signal; echo >ready; while :; do sleep 0.02; done" >printed &
        local monitor=$!
        appears ready
        kill "-$signal" "$monitor"
        status=0
        wait "$monitor" || status=$?
        [ "$status" -eq 9 ]
        [ "$(cat printed)" = "got-$signal" ]
    done
}

@test "SIGINT from kill is passed on once" {
    "$PROBELAUF" run -q -- "$CHILD" catch 2 write ready 1 wait-file go sleep 0.3 2>printed &
    local monitor=$!
    appears ready
    kill -INT "$monitor"
    appears printed
    : >go
    wait "$monitor"
    [ "$(cat printed)" = "caught 02" ]
}

@test "what the command sends to its parent does not come back to it" {
    run probelauf run -q -- sh -c 'kill -TERM $PPID; sleep 0.2; echo alive'
    [ "$status" -eq 0 ]
    [ "$output" = alive ]
}

@test "ignored signals and the signal mask reach the command unchanged" {
    run bash -c "trap '' USR1; '$PROBELAUF' run -q -- '$CHILD' raise 12 2>/dev/null; echo \$?; '$PROBELAUF' run -q -- sh -c 'kill -USR1 \$\$; echo ignored'"
    [ "${lines[0]}" = 140 ]
    [ "${lines[1]}" = ignored ]
    [ "$(probelauf run -q -- "$CHILD" mask)" = "$("$CHILD" mask)" ]
    # A caller that ignores SIGCHLD does not cost us the status, and the command inherits it.
    run python -c 'import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execv(sys.argv[1], sys.argv[1:])' "$PROBELAUF" run -q -- grep SigIgn: /proc/self/status
    [ "$status" -eq 0 ]
    [[ "$output" =~ 1[0-9a-f]{4}$ ]]
    run python -c 'import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execv(sys.argv[1], sys.argv[1:])' "$PROBELAUF" run -q -- "$CHILD" exit 6
    [ "$status" -eq 6 ]
}

@test "--retry repeats what a repeat can cure, each attempt a record" {
    run probelauf run -q --retry 2 -- sh -c 'echo x >>tries; [ "$(wc -l <tries)" -ge 3 ] || exit 5'
    [ "$status" -eq 0 ]
    [ "$(wc -l <tries)" -eq 3 ]
    [ "$(runs_in_ledger)" -eq 3 ]
    record START | grep -q '"attempt":3'
    record START | grep -q '"retry_of"'
}

# What each attempt of a command that does nothing is charged with: its process, no bytes.
attempts_are_clean() {
    # shellcheck disable=SC2016
    run "$@" "$PROBELAUF" run -q --retry 25 -- sh -c 'kill -ABRT $$'
    [ "$status" -eq 134 ]
    "$@" "$PROBELAUF" export csv >attempts.csv
    python -c 'import csv, sys
seen = {(row["processes"], row["io.written_chars"], row["io.written"]) for row in csv.DictReader(sys.stdin)}
assert seen == {("1", "0", "0")}, seen' <attempts.csv
    [ "$(wc -l <attempts.csv)" -eq 27 ]
}

@test "--retry: an attempt is not charged with the recorder of the one before" {
    attempts_are_clean env
}

@test "--retry: the same as an ordinary user" {
    [ "$(id -u)" -eq 0 ] || skip "that is the test before"
    setpriv --reuid 65534 --clear-groups "$PROBELAUF" --version || skip "another user cannot run it"
    local theirs
    theirs=$(mktemp -d /tmp/probelauf-retry.XXXXXX) # the test's own folders are closed to others
    chown 65534 "$theirs"
    cd "$theirs"
    export HOME=$theirs XDG_CONFIG_HOME=$theirs XDG_DATA_HOME=$theirs/data XDG_STATE_HOME=$theirs/state
    export TMPDIR=/tmp XDG_CACHE_HOME=$theirs PROBELAUF_LEDGER="sqlite:$theirs/ledger.db"
    attempts_are_clean setpriv --reuid 65534 --clear-groups
    cd /
    rm -rf "$theirs"
}

@test "--retry says which attempt it is, and why there is none" {
    run probelauf run --retry 2 -- sh -c 'exit 5'
    has "trying again: attempt 2 of 3"
    has "trying again: attempt 3 of 3"
    lacks "attempt 4"
    lacks "not repeated"
    run -127 probelauf run --retry 2 -- ./missing
    has "not repeated: start_failed is not cured by repeating"
    run -127 probelauf run -- ./missing
    lacks "not repeated"
    run probelauf help run
    output=${output//$'\n'/ } # wherever its lines break
    has "killed, gpu_fault, preempted and lost. It does not repeat"
}

@test "--retry does not repeat a command that cannot be started, nor one that was stopped" {
    run probelauf run -q --retry 3 -- ./missing
    [ "$status" -eq 127 ]
    run probelauf run -q --retry 3 --max-time 0.2s -- "$CHILD" pause
    [ "$status" -eq 124 ]
    [ "$(runs_in_ledger)" -eq 2 ]
}

@test "terminal: Ctrl-C ends a shell loop over probelauf run" {
    terminal loop
}

@test "terminal: Ctrl-Z and fg work" {
    terminal stop
    record END | python -c 'import json, sys
end = json.loads(sys.stdin.read().split(" ", 2)[2])
assert end["stopped_ns"] > 1e9, end'
}

@test "terminal: fg continues the command once, and nothing continues it after the next Ctrl-Z" {
    terminal continued
}

@test "terminal: a SIGCONT to the monitor alone continues the command" {
    terminal alone
}

@test "terminal: window size reaches the command" {
    terminal size
}

@test "terminal: reading in the background stops the job" {
    terminal background
}

@test "terminal: keys reach the command, isatty is unchanged" {
    terminal keys
}
