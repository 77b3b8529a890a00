#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Streams: byte for byte what they are without us, for files, pipes and terminals; order kept where both are one file.

load run-common

# A field of END.streams.NAME of the newest run.
stream() {
    record END | python -c 'import json, sys
end = json.loads(sys.stdin.read().split(" ", 2)[2])
print(json.dumps(end["streams"][sys.argv[1]][sys.argv[2]]))' "$1" "$2"
}

on_terminal() {
    script -qec "$*" /dev/null </dev/null
}

@test "files: both streams unchanged, the offset is the command's" {
    "$CHILD" print 300000 interleave 500 >plain.out 2>plain.err
    echo before >with.out
    probelauf run -q -- "$CHILD" print 300000 interleave 500 >>with.out 2>with.err
    cmp plain.err with.err
    cmp plain.out <(tail -n +2 with.out)
    record START | grep -q '"stdout":{"was":"file","tee":"read-in-place"}'
    [ "$(stream stdout bytes)" -eq "$(stat -c %s plain.out)" ]
    [ "$(stream stdout unseen_bytes)" -eq 0 ]
}

@test "one file for both: the order is kept, one channel" {
    "$CHILD" interleave 2000 >plain 2>&1
    probelauf run -q -- "$CHILD" interleave 2000 >with 2>&1
    cmp plain with
    record START | grep -q '"shared_with":"stdout"'
}

@test "pipes: both streams unchanged" {
    "$CHILD" print 3000000 interleave 500 2>plain.err | cat >plain.out
    probelauf run -q -- "$CHILD" print 3000000 interleave 500 2> >(cat >with.err) | cat >with.out
    cmp plain.out with.out
    until_true cmp plain.err with.err
    record START | grep -q '"stdout":{"was":"pipe","tee":"splice"}'
    [ "$(stream stdout bytes)" -eq "$(stat -c %s plain.out)" ]
}

@test "one pipe for both: the order is kept" {
    "$CHILD" interleave 2000 2>&1 | cat >plain
    probelauf run -q -- "$CHILD" interleave 2000 2>&1 | cat >with
    cmp plain with
}

@test "terminal: bytes and order unchanged, isatty too" {
    on_terminal "$CHILD" isatty print 200000 interleave 500 >plain
    on_terminal "$PROBELAUF" run -q -- "$CHILD" isatty print 200000 interleave 500 >with
    cmp plain with
    grep -q '^1 1 1' with
    record START | grep -q '"stdout":{"was":"terminal","tee":"pty"'
}

@test "terminal on standard error only" {
    on_terminal "$CHILD isatty interleave 200 >plain.out" >plain
    on_terminal "$PROBELAUF run -q -- $CHILD isatty interleave 200 >with.out" >with
    cmp plain.out with.out
    cmp plain with
    grep -q '^1 0 1' with.out
}

@test "terminal modes: a program that sets them is told about --tee none" {
    run on_terminal "$PROBELAUF" run -q -- "$CHILD" raw-mode sleep 1.3
    has "--tee none"
    run on_terminal "$PROBELAUF" run -q --tee none -- "$CHILD" raw-mode sleep 1.3
    lacks "--tee none"
}

@test "--tee none inherits all" {
    [ "$(probelauf run -q --tee none -- "$CHILD" out word | cat)" = word ]
    record START | grep -q '"stdout":{"was":"pipe","tee":"inherited"}'
}

@test "/dev/null, sockets and closed descriptors are inherited" {
    probelauf run -q -- "$CHILD" out lost >/dev/null
    record START | grep -q '"stdout":{"was":"null","tee":"inherited"'
    run python -c 'import socket, subprocess, sys
a, b = socket.socketpair()
status = subprocess.run(sys.argv[1:], stdout=b).returncode
b.close()
print(status, a.makefile().read().strip())' "$PROBELAUF" run -q -- "$CHILD" out through
    [ "$output" = "0 through" ]
    # The command gets its standard output closed, as without us.
    local plain=0 with=0
    "$CHILD" isatty >&- 2>/dev/null || plain=$?
    probelauf run -q -- "$CHILD" isatty >&- 2>/dev/null || with=$?
    [ "$plain" -eq "$with" ]
    record START | grep -q '"stdout":{"was":"closed","tee":"inherited"'
    [ "$(probelauf run -q -- sh -c '[ -e /proc/self/fd/0 ] || echo none' <&-)" = "$(sh -c '[ -e /proc/self/fd/0 ] || echo none' <&-)" ]
}

@test "a target that does not block is waited for" {
    run python -c 'import fcntl, os, subprocess, sys, time
r, w = os.pipe()
fcntl.fcntl(w, fcntl.F_SETFL, fcntl.fcntl(w, fcntl.F_GETFL) | os.O_NONBLOCK)
p = subprocess.Popen(sys.argv[1:], stdout=w)
os.close(w)
time.sleep(0.3)
total = 0
while True:
    piece = os.read(r, 65536)
    if not piece:
        break
    total += len(piece)
print(total, p.wait())' "$PROBELAUF" run -q -- "$CHILD" print 3000000
    [ "$output" = "3000000 0" ]
}

@test "a terminal opened for appending refuses splice: read and write, and the record says so" {
    on_terminal "$CHILD print 20000 >>/dev/tty" >plain
    on_terminal "$PROBELAUF run -q -- $CHILD print 20000 >>/dev/tty" >with
    cmp plain with
    record END | grep -q '"copied":true'
}

@test "much output in constant memory" {
    local bytes=20000000
    long && bytes=5000000000
    "$PROBELAUF" run -q -- "$CHILD" print "$bytes" > >(sha256sum >with) &
    local monitor=$! largest=0 rss pid
    while kill -0 "$monitor" 2>/dev/null; do
        for pid in "$monitor" $(cat "/proc/$monitor/task/$monitor/children" 2>/dev/null); do
            rss=$(awk '/VmRSS/ {print $2}' "/proc/$pid/status" 2>/dev/null) || true # it may just have ended
            if [ "${rss:-0}" -gt "$largest" ]; then largest=$rss; fi
        done
        sleep 0.1
    done
    wait "$monitor"
    "$CHILD" print "$bytes" | sha256sum >plain
    appears with
    cmp plain with
    [ "$(stream stdout bytes)" -eq "$bytes" ]
    echo "largest: $largest KiB"
    # A build with sanitizers takes more to begin with; 5 GB would show in any.
    [ "$largest" -lt 200000 ]
}

@test "a slow reader is waited for; what it takes is all there" {
    [ "$(probelauf run -q -- "$CHILD" print 400000 | (sleep 0.5; wc -c))" -eq 400000 ]
}

@test "survivors keep the stream; run returns all the same" {
    run timeout 20 bash -c "'$PROBELAUF' run -q --linger 0.2s -- sh -c 'echo now; (sleep 1; echo later) &' | cat"
    [ "${lines[0]}" = now ]
    [ "${lines[1]}" = later ]
}

@test "the tail of a failed run is kept, masked; that of a good one is not" {
    probelauf run -q -- "$CHILD" out fine >/dev/null 2>err
    no_record TEXT
    probelauf run -q -- "$CHILD" out first err "password=hunter2secret" exit 3 2>err | cat >out || true
    record TEXT | grep -q first
    record TEXT | grep -q 'password='
    no_record TEXT hunter2secret
}

@test "lines of output begin phases at the time they were written" {
    # Each line has been through our hands before the command goes on.
    probelauf run -q --pattern 'load=^Loading' --pattern 'compute=^Step' -- \
        "$CHILD" out "Loading weights" wait-file one sleep 0.2 out "Step 1" wait-file two |
        { read -r _; : >one; read -r _; : >two; cat >/dev/null; }
    run probelauf show --json @1
    [ "$(json '[p["name"] for p in d["time"]["phase_list"]][-2:]')" = '["load", "compute"]' ]
    [ "$(json '0.1 < d["time"]["phases"]["load"]["value"]')" = true ]
}
