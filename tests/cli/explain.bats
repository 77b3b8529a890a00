#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# explain: any text, from a file or a pipe; what it says for programs and for people. Which wordings are known
# is tested in tests/text; here only that the command passes them through.

load common

disk_full='OSError: [Errno 28] No space left on device: /data/out'
bus_error='ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).'

@test "a file: class, incident, line number, figures, advice" {
    printf 'step 1\nstep 2\n%s\n' "$disk_full" >job.log
    run probelauf explain --json job.log
    [ "$status" -eq 0 ]
    [ "$(json 'd["schema"]')" = probelauf.explain/1 ]
    [ "$(json 'd["class"]')" = disk_full ]
    [ "$(json 'd["incidents"][0]["name"]')" = disk_full ]
    [ "$(json 'd["incidents"][0]["line"]')" = 3 ]
    [ "$(json 'd["incidents"][0]["text"]')" = "$disk_full" ]
    [ "$(json 'd["incidents"][0]["errno"]')" = 28 ]
    [ "$(json 'len(d["advice"])')" = 1 ]
    valid_schema explain
}

@test "a pipe says the same as the file" {
    printf 'step 1\n%s\n' "$bus_error" >job.log
    run probelauf explain --json job.log
    local from_file=$output
    run bash -c 'cat job.log | "$PROBELAUF" explain --json -'
    [ "$output" = "$from_file" ]
    [ "$(json 'd["class"]')" = shm_exhausted ]
    run bash -c '"$PROBELAUF" explain ./job.log --json'
    [ "$output" = "$from_file" ]
}

@test "for people: name, line, what to do" {
    printf 'step 1\nstep 2\n%s\n' "$disk_full" >job.log
    run probelauf explain job.log
    [ "$status" -eq 0 ]
    has disk_full
    has "line 3"
    has "what to do"
}

@test "a text that says nothing has an open class, not a guessed one" {
    echo 'all is well' >job.log
    run probelauf explain --json job.log
    [ "$status" -eq 0 ]
    [ "$(json 'd["class"]')" = null ]
    [ "$(json 'd["incidents"]')" = '[]' ]
    valid_schema explain
    : >empty
    run probelauf explain --json empty
    [ "$(json 'd["class"]')" = null ]
}

@test "an incident that was survived is told and does not make the class" {
    { echo "$disk_full"; seq 2000; } >job.log
    run probelauf explain --json job.log
    [ "$(json 'd["class"]')" = null ]
    [ "$(json 'd["incidents"][0]["survived"]')" = true ]
    valid_schema explain
}

@test "a mere warning never makes the class" {
    echo 'UserWarning: Not enough free disk space to download the file. The expected file size is: 10.00 MB.' >job.log
    run probelauf explain --json job.log
    [ "$(json 'd["class"]')" = null ]
    [ "$(json 'd["incidents"][0]["name"]')" = disk_low ]
    [ "$(json 'd["incidents"][0]["survived"]')" = true ]
    valid_schema explain
    echo "$disk_full" >>job.log
    run probelauf explain --json job.log
    [ "$(json 'd["class"]')" = disk_full ]
}

@test "a last line without line feed, carriage returns, NUL bytes and broken UTF-8" {
    printf 'a\0b\377\r10%%\r20%%\r%s' "$disk_full" >job.log
    run probelauf explain --json job.log
    [ "$(json 'd["class"]')" = disk_full ]
    valid_schema explain
}

@test "control characters of a text never reach the terminal" {
    printf '\033]0;title\007\033[31m%s\033[0m\n' "$disk_full" >job.log
    run probelauf explain job.log
    has disk_full
    lacks $'\033'
    lacks $'\007'
}

@test "secrets in a shown line are masked" {
    printf 'OSError: [Errno 28] No space left on device: /data/hf_abcdefghijklmnopqrstuvwxyzABCDEFGH\n' >job.log
    run probelauf explain --json job.log
    [ "$(json 'd["class"]')" = disk_full ]
    lacks hf_abcdefghijklmnopqrstuvwxyzABCDEFGH
    has '[masked]'
}

@test "memory does not grow with the text" {
    local script='import resource, subprocess, sys
head = subprocess.Popen(["sh", "-c", "yes \"step 4711 of 9999 loss 0.25\" | head -c 300000000; yes \"$0\" | head -n 100000", sys.argv[2]], stdout=subprocess.PIPE)
subprocess.run([sys.argv[1], "explain", "-"], stdin=head.stdout, stdout=subprocess.DEVNULL, check=True)
head.stdout.close(); head.wait()
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 200000)'
    run python -c "$script" "$PROBELAUF" "$disk_full"
    [ "$output" = True ]
}

@test "unknown wording: no incident, and the last lines as they are" {
    { seq 30; echo 'the frobnicator is out of glue'; } >job.log
    run probelauf explain --json job.log
    [ "$(json 'd["incidents"]')" = '[]' ]
    [ "$(json 'len(d["tail"])')" = 10 ]
    [ "$(json 'd["tail"][-1]')" = 'the frobnicator is out of glue' ]
    valid_schema explain
    run probelauf explain job.log
    has 'the frobnicator is out of glue'
}

@test "GPU memory: figures in bytes, one incident for the lines about it, its advice" {
    oom='torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.00 GiB. GPU 0 has a total capacity of 10.00 GiB of which 512.00 MiB is free.'
    printf 'step 1\n%s\nTraceback\n%s\n' "$oom" "$oom" >job.log
    run probelauf explain --json job.log
    [ "$(json 'd["class"]')" = gpu_oom ]
    [ "$(json 'len(d["incidents"])')" = 1 ]
    [ "$(json 'd["incidents"][0]["requested_bytes"]')" = 1073741824 ]
    [ "$(json 'd["incidents"][0]["free_bytes"]')" = 536870912 ]
    [ "$(json 'd["incidents"][0]["capacity_bytes"]')" = 10737418240 ]
    [ "$(json 'd["incidents"][0]["lines"]')" = 2 ]
    [ "$(json 'len(d["advice"])')" = 1 ]
    [ "$(json 'd["tail"]')" = '[]' ]
    valid_schema explain
    run probelauf explain job.log
    has 'requested 1 GiB'
    [[ "${lines[0]}" == *gpu_oom* ]]
}

@test "a text that quotes an error, or a template of one, is none" {
    printf '%s\n' 'If you get "CUDA out of memory. Tried to allocate 20.00 MiB", use a smaller batch' \
        'CUDA out of memory. Tried to allocate xxx MiB' >readme.txt
    run probelauf explain --json readme.txt
    [ "$(json 'd["class"]')" = null ]
    [ "$(json 'd["incidents"]')" = '[]' ]
}

@test "UTF-16 is read as far as it is ASCII, and said" {
    printf 'step 1\r\n%s\r\n' "$disk_full" | iconv -f UTF-8 -t UTF-16 >job.log
    run --separate-stderr probelauf explain --json job.log
    [ "$(json 'd["class"]')" = disk_full ]
    [[ "$stderr" == *UTF-16* ]]
}

@test "an empty text has no last lines" {
    : >empty.log
    run -0 probelauf explain empty.log
    has "the text is empty"
    lacks "witness"
    lacks "Last output"
}

@test "a line of which only the beginning was compared is named" {
    python -c 'print("a\n\n" + "x" * 5000 + "\nb\n" + "y" * 4096 + "\r" + "y" * 4096 + "\n" + "z" * 4097)' >job.log
    run -0 --separate-stderr probelauf explain job.log
    [ "$stderr" = "probelauf: line 3 is longer than 4096 bytes; only its beginning was compared; 1 more" ]
    head -c 5000000 /dev/zero | tr '\0' x >job.log
    run -0 --separate-stderr probelauf explain job.log
    [ "$stderr" = "probelauf: line 1 is longer than 4096 bytes; only its beginning was compared" ]
    [[ "$output" != *witness* ]]
}

@test "what is neither a run nor a file is called so; help tells which one wins" {
    run probelauf explain nofile
    fails 1 run-not-found
    has "neither a run nor a file"
    run probelauf explain deadbeef
    fails 1 run-not-found
    has "neither a run nor a file"
    run probelauf explain @1
    fails 1 run-not-found
    lacks "nor a file"
    run -0 probelauf help explain
    has "exit status"
    has "exists as a file"
}

@test "what cannot be read" {
    run probelauf explain ./missing.log
    fails 1 text-unreadable
    mkdir folder
    run probelauf explain ./folder
    fails 1 text-unreadable
}

@test "of output that was not read it is not said that it shows no cause" {
    run probelauf run -q --tee none -- sh -c 'echo "CUDA out of memory. Tried to allocate 1.00 GiB" >&2; exit 1'
    run probelauf explain @1
    has "not all of its output was read"
    run probelauf show @1
    has "not all of its output was read"
    run bash -c '"$PROBELAUF" run -q -- sh -c "echo no wording of ours >&2; exit 1" 2>&1 | cat'
    run probelauf explain @1
    has "its output shows no cause that a rule knows"
}
