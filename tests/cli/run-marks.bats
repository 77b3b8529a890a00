#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Marks, inputs, outputs and checks (Req: B3, B6).

load run-common

@test "phases, amounts and results by marks" {
    # shellcheck disable=SC2016
    probelauf run -q -- sh -c '"$PROBELAUF" mark load; sleep 0.3; "$PROBELAUF" mark compute; sleep 0.2
        "$PROBELAUF" mark --items 12 --batch 4 --result accuracy=0.75; "$PROBELAUF" mark --end'
    [ "$(shown '0.25 < d["time"]["phases"]["load"]["value"]')" = true ]
    [ "$(shown '0.15 < d["time"]["phases"]["compute"]["value"]')" = true ]
    [ "$(shown 'd["work"]["items"]["value"] == 12')" = true ]
    [ "$(shown 'd["results"]["accuracy"]["value"]')" = 0.75 ]
    # At each instant exactly one phase holds.
    [ "$(shown 'abs(sum(p["end_s"] - p["start_s"] for p in d["time"]["phase_list"]) - d["time"]["wall"]["value"]) < 1e-6')" = true ]
}

@test "marks by echo, in any language" {
    # shellcheck disable=SC2016
    probelauf run -q -- sh -c 'printf -- "- phase load\n- result x 3\nnonsense\n" >>"$PROBELAUF_MARKS"'
    record MARK | grep -q '"name":"load"'
    record MARK | grep -q '"bad"'
    [ "$(shown 'd["results"]["x"]["value"] == 3')" = true ]
}

# Read once a second the phase would have no length: both marks would be seen at the same look.
short_phase_has_length() {
    # shellcheck disable=SC2016
    probelauf run -q -- sh -c 'sleep 0.3; printf -- "- phase load\n" >>"$PROBELAUF_MARKS"; sleep 0.6
        printf -- "- end load\n" >>"$PROBELAUF_MARKS"; sleep 1.4'
    [ "$(shown '0.3 < d["time"]["phases"]["load"]["value"]')" = true ]
}

@test "a mark without a time counts when it is written" {
    local attempt
    for attempt in 1 2 3 4 5; do # a busy machine may let the reader sleep
        echo "attempt $attempt"
        short_phase_has_length && return
    done
    false
}

@test "the marks file is private and goes with the run" {
    # shellcheck disable=SC2016
    probelauf run -q -- sh -c 'stat -c %a "$PROBELAUF_MARKS" >mode; echo "$PROBELAUF_MARKS" >path'
    [ "$(cat mode)" = 600 ]
    until_true test ! -e "$(cat path)"
}

@test "mark outside of a run is an error" {
    run probelauf mark load
    [ "$status" -eq 1 ]
    has "error[not-in-run]"
}

@test "--phase: the whole command is that phase" {
    probelauf run -q --phase setup -- "$CHILD" sleep 0.2
    [ "$(shown 'd["time"]["phases"]["setup"]["value"] == d["time"]["wall"]["value"]')" = true ]
}

@test "inputs are looked at, not read; outputs tell when the result was complete" {
    mkdir -p blobs snap
    head -c 1000 /dev/zero >blobs/abc123
    ln -s ../blobs/abc123 snap/weights
    touch -a -d 2001-01-01 blobs/abc123
    probelauf run -q --input snap/weights --input snap --input absent --output result -- \
        "$CHILD" sleep 0.2 write result 5000 sleep 0.4
    [ "$(stat -c %x blobs/abc123 | cut -c1-4)" = 2001 ]
    record START | grep -q '"identity":"abc123"'
    record START | grep -q '"kind":"folder"'
    record START | grep -q '"path":"absent","kind":"absent"'
    record END | grep -q '"path":"result","kind":"file","bytes":5000'
    [ "$(shown '0.1 < d["time"]["result_complete"]["value"] < d["time"]["wall"]["value"] - 0.3')" = true ]
}

@test "--expect: met, not met, not checked" {
    touch -d 2001-01-01 old
    echo x >old
    touch -d 2001-01-01 old
    # shellcheck disable=SC2016
    probelauf run -q --expect marker='loss: [0-9.]+' --expect marker='a(b' --expect file=new --expect count=3 -- \
        sh -c 'echo "loss: 0.25 a(b"; echo y >new; "$PROBELAUF" mark --items 3' | cat
    [ "$(shown 'd["verified"]')" = yes ]
    probelauf run -q --expect marker=absent --expect file=old --expect file=missing -- echo something | cat
    [ "$(shown 'd["verified"]')" = no ]
    [ "$(shown '[e["met"] for e in d["expectations"]]')" = '["no", "no", "no"]' ]
    probelauf run -q --expect marker=word --expect count=3 -- echo word >/dev/null
    [ "$(shown '[e["met"] for e in d["expectations"]]')" = '["not-checked", "not-checked"]' ]
    [ "$(shown 'd["verified"]')" = not-checked ]
}

@test "secrets of the command line and of marks do not reach the record" {
    # shellcheck disable=SC2016
    probelauf run -q -- sh -c '"$PROBELAUF" mark --note "token=hf_abcdefghijklmnopqrstuvwxyz0123456789"; exit 1' --token hf_abcdefghijklmnopqrstuvwxyz0123456789 || true
    run probelauf export journal --text @1
    lacks hf_abcdefghijklmnop
    has '[masked]'
}
