#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# The tree: everything that the command leaves behind is measured, exactly where the kernel accounts (Req: B1, B5, B6).

load run-common

MIB=1048576

@test "a daemon that outlives its parent is in wall, tree memory and I/O" {
    probelauf run -q -- "$CHILD" daemon 200 2.5 written 5000000
    [ "$(shown '2.4 < d["time"]["wall"]["value"]')" = true ]
    [ "$(shown 'd["time"]["command"]["value"] < d["time"]["wall"]["value"]')" = true ]
    [ "$(shown "d['host']['memory']['tree_pss']['value'] > 195 * $MIB")" = true ]
    [ "$(shown "d['host']['memory']['largest_process_rss']['value'] > 195 * $MIB")" = true ]
    [ "$(shown '5000000 <= d["host"]["io"]["written_chars"]["value"] < 5200000')" = true ]
    [ "$(shown 'd["outcome"]["survivors"]')" = '[]' ]
    record CHILD | grep -q '"role":"descendant"'
}

@test "a short spike is in the largest process" {
    probelauf run -q -- "$CHILD" spike 600 20
    [ "$(shown "600 * $MIB <= d['host']['memory']['largest_process_rss']['value'] < 640 * $MIB")" = true ]
}

@test "true started from a 500 MB process does not show 500 MB" {
    python -c 'import os, sys
block = bytearray(500 << 20)
for i in range(0, len(block), 4096):
    block[i] = 1
sys.exit(os.spawnv(os.P_WAIT, sys.argv[1], sys.argv[1:]))' "$PROBELAUF" run -q -- true
    [ "$(shown "d['host']['memory']['largest_process_rss']['value'] < 60 * $MIB")" = true ]
}

@test "a parent that ignores SIGCHLD makes sums a lower bound" {
    probelauf run -q -- "$CHILD" unreaped 50 written 3000000
    [ "$(shown 'd["host"]["io"]["written"]["bound"]')" = at-least ]
    [ "$(shown 'd["host"]["cpu"]["bound"]')" = at-least ]
    record COUNTERS | tail -1 | grep -q '"unreaped":true'
}

@test "I/O of grandchildren is exact" {
    probelauf run -q -- sh -c "'$CHILD' write a 20971520 & (sh -c \"'$CHILD' write b 5242880\") ; wait"
    [ "$(shown 'd["host"]["io"]["written"].get("bound", "exact")')" = exact ]
    # Besides the data only the output of the shell's own set-up: nothing.
    [ "$(shown 'd["host"]["io"]["written_chars"]["value"] == 20971520 + 5242880')" = true ]
}

@test "nothing of our own is in the command's I/O" {
    probelauf run -q -- true
    [ "$(shown 'd["host"]["io"]["written_chars"]["value"]')" = 0 ]
    [ "$(shown 'd["host"]["io"]["written"]["value"]')" = 0 ]
}

@test "CPU time of all processes" {
    probelauf run -q -- sh -c "'$CHILD' busy 0.3 & '$CHILD' busy 0.3; wait"
    [ "$(shown '0.55 < d["host"]["cpu"]["value"] < 3')" = true ]
    [ "$(shown 'd["host"]["cpu"].get("bound", "exact")')" = exact ]
}

@test "whoever is left is listed, and wall is a lower bound" {
    probelauf run -q --linger 0.3s -- sh -c "'$CHILD' wait-file go & exit 0"
    : >go
    [ "$(shown 'len(d["outcome"]["survivors"])')" = 1 ]
    [ "$(shown 'd["time"]["wall"]["bound"]')" = at-least ]
    [ "$(shown 'd["time"]["command"].get("bound", "exact")')" = exact ]
}

@test "children that were there before do not belong to the run" {
    run bash -c "sleep 30 & before=\$!; exec_it() { exec '$PROBELAUF' run -q --linger 5s -- true; }; (exec_it); kill \$before"
    [ "$status" -eq 0 ]
    # exec keeps the shell's own children: they are children of the monitor and yet not of the run.
    run timeout 20 bash -c "sleep 30 & exec '$PROBELAUF' run -q --linger 9s -- true"
    [ "$status" -eq 0 ]
    [ "$(shown 'd["outcome"]["survivors"]')" = '[]' ]
}

@test "a killed worker without a word of the kernel is suspected, not stated" {
    # It dies when its parent has gone, so that nobody but us reaps it; until then its number is taken.
    run probelauf run -q -- sh -c "( '$CHILD' wait-file orphaned raise 9 & echo \$! >pid ); : >orphaned
        while kill -0 \$(cat pid) 2>/dev/null; do sleep 0.02; done; exit 1"
    [ "$status" -eq 1 ]
    record INCIDENT | grep -q '"name":"host_oom_suspected"'
    [ "$(shown 'd["outcome"]["class"]')" != ok ]
}

@test "an out-of-memory kill of the control group is stated" {
    [ -w /sys/fs/cgroup/memory/cgroup.procs ] || skip "no writable v1 memory controller"
    local own group
    own=/sys/fs/cgroup/memory$(awk -F: '$2 == "memory" {print $3}' /proc/self/cgroup)
    group=$own/probelauf-test-$$
    mkdir "$group" || skip "control groups cannot be made here"
    echo 62914560 >"$group/memory.limit_in_bytes"
    # shellcheck disable=SC2016
    run bash -c 'echo $$ >"$1/cgroup.procs"; shift; "$@"' sh "$group" "$PROBELAUF" run -q -- "$CHILD" alloc 150
    local code=$status
    for _ in $(seq 200); do rmdir "$group" 2>/dev/null && break; sleep 0.05; done
    [ ! -e "$group" ]
    [ "$code" -eq 137 ]
    record INCIDENT | grep -q '"name":"host_oom"'
    [ "$(shown 'd["outcome"]["class"]')" = host_oom ]
}

@test "no control group is left behind" {
    local path
    probelauf run -q --linger 0.2s -- sh -c "'$CHILD' wait-file go & exit 0"
    : >go
    path=$(record START | python -c 'import json, sys
cgroup = json.loads(sys.stdin.read().split(" ", 2)[2])["cgroup"]
print(cgroup.get("path") if cgroup["memory"] == "own" else "")')
    [ -n "$path" ] || skip "control groups cannot be made here"
    until_true test ! -e "$path"
}

@test "commands whose work leaves the tree are named" {
    mkdir bin
    for name in docker srun ssh tmux sudo; do
        printf '#!/bin/sh\nexit 0\n' >"bin/$name"
        chmod +x "bin/$name"
        PATH=$PWD/bin:$PATH probelauf run -q -- "$name" anything
        record START | grep -q "\"blind_spots\":\[{\"id\":\"$name\""
    done
    PATH=$PWD/bin:$PATH probelauf run -q -- env A=1 timeout 5 sh -c 'true; docker run x | cat'
    record START | grep -q '"blind_spots":\[{"id":"docker"'
    probelauf run -q -- sh -c 'echo docker'
    record START | grep -q '"blind_spots":\[\]'
}

@test "a run inside a run: each has its own record" {
    probelauf run -q -- "$PROBELAUF" run -q -- "$CHILD" busy 0.2
    [ "$(runs_in_ledger)" -eq 2 ]
}

@test "an input that does not exist is one warning, not an error" {
    run probelauf run -q --input typo.bin -- "$CHILD" exit 3
    [ "$status" -eq 3 ]
    [ "$output" = "probelauf: warning: the input 'typo.bin' did not exist at the start" ]
}
