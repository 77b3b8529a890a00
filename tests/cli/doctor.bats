#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# doctor: what this machine tells, with and without stand-in GPUs. What is said of which facts is tested in tests/doctor.

load common

# A machine of tests/stand-in.
stand_in() {
    : "${STAND_IN:?set STAND_IN to the built tests/stand-in}"
    export LD_LIBRARY_PATH=$STAND_IN/generation-550
    export PROBELAUF_STANDIN_TRACE=$SOURCE/tests/stand-in/traces/$1.trace
    export PROBELAUF_STANDIN_PIDS=$PWD/pids
}

# finding ID: its state and text, or nothing.
finding() {
    json "next((f['state'] + ': ' + f['text'] for f in d['findings'] if f['id'] == '$1'), '')"
}

@test "this machine, for programs" {
    run --separate-stderr probelauf doctor --json
    [ "$status" -eq 0 ]
    valid_schema doctor
    [ "$(json 'd["schema"]')" = probelauf.doctor/1 ]
    [ "$(json 'sum(d["counts"].values()) == len(d["findings"])')" = true ]
    [ "$(json 'sorted({f["topic"] for f in d["findings"]} - {"gpu", "cuda", "disk", "plan"})')" = '["clock", "limits", "machine", "places", "visibility"]' ]
    [[ "$(finding place-writable)" == known:* ]]
}

@test "for people: the verdict first, then what will not work, the snippet last" {
    run probelauf doctor
    [ "$status" -eq 0 ]
    [[ "${lines[0]}" == *"will not work"* ]]
    has "For the plan"
    has "  - id: here"
}

@test "places that take files: one line for people, one finding each for programs" {
    run --separate-stderr probelauf doctor --json
    [ "$(json 'sum(f["id"] == "place-writable" for f in d["findings"])')" -ge 3 ]
    run env COLUMNS=1000 "$PROBELAUF" doctor
    [ "$(grep -c 'takes files' <<<"$output")" -eq 0 ]
    [ "$(grep -c 'files can be written to: ' <<<"$output")" -eq 1 ]
    [[ "$(grep 'files can be written to: ' <<<"$output")" == *"working folder ($PWD), "*"(/dev/shm)"* ]]
}

@test "the snippet is a valid entry of a plan" {
    run -0 probelauf init
    run -0 --separate-stderr probelauf doctor --snippet
    if [[ "${lines[0]}" == *"below the plan's own 'environments:'" ]]; then
        # the key stands in the plan: only the entry is printed
        [[ "$output" != *$'\nenvironments:'* ]]
        python3 - "$output" <<'PY'
import re, sys
text = open("probelauf.yaml").read()
text = re.sub(r"(?m)^environments:.*\n", lambda key: key[0] + sys.argv[1] + "\n", text)
open("probelauf.yaml", "w").write(text)
PY
    else
        [ "${lines[0]}" = '# 1 environment:' ]
        [ "${lines[1]}" = environments: ]
        python3 - "$output" <<'PY'
import re, sys
text = open("probelauf.yaml").read()
text = re.sub(r"(?m)^environments:.*\n(?:[ #].*\n|\n)*", "", text)
open("probelauf.yaml", "w").write(text.rstrip() + "\n" + sys.argv[1] + "\n")
PY
    fi
    run probelauf check
    [ "$status" -ne 1 ]
    run --separate-stderr probelauf doctor --json
    [ "$(finding plan-agrees)$(finding plan-open)$(finding plan-silent)" != "" ] # silent: nothing was seen that the entry could say
}

@test "weights that fit, that do not, and no size" {
    run --separate-stderr probelauf doctor --json --weights 1MB
    [[ "$(finding disk-weights)" == known:* ]]
    run --separate-stderr probelauf doctor --json --weights '900 PB'
    [[ "$(finding disk-too-small)" == problem:* ]]
    run probelauf doctor --weights much
    fails 2 usage-value
    run probelauf doctor --weights 0
    fails 2 usage-value
}

@test "a folder that takes no files" {
    [ "$(id -u)" -ne 0 ] || skip "root writes everywhere"
    mkdir -m 500 closed
    run --separate-stderr env TMPDIR="$PWD/closed" "$PROBELAUF" doctor --json
    [[ "$(finding place-not-writable)" == problem:*closed* ]]
}

@test "where weights would lie is looked at by its nearest folder, and nothing is made there" {
    run --separate-stderr env HF_HOME="$PWD/not/there" "$PROBELAUF" doctor --json
    [[ "$(finding disk-free)$(finding disk-low)" == *not/there/hub* ]]
    [ ! -e not ]
}

@test "stand-in GPUs: devices, driver, and that they are stand-ins" {
    stand_in eight-h200
    run --separate-stderr probelauf doctor --json
    [ "$status" -eq 0 ]
    valid_schema doctor
    [[ "$(finding gpu-device)" == known:*H200* ]]
    [[ "$(finding gpu-driver)" == known:* ]]
    [[ "$(finding gpu-stand-in)" == warning:* ]]
    [[ "$(json 'd["snippet"]')" == *"gpus: 8"* ]]
}

@test "a lost board does not hide the others" {
    stand_in lost-board
    run --separate-stderr probelauf doctor --json
    [[ "$(finding gpu-lost)" == problem:* ]]
    [[ "$(finding gpu-device)" == known:* ]]
}

@test "a driver that is not there is a problem, with what to do" {
    stand_in no-driver
    run --separate-stderr probelauf doctor --json
    [[ "$(finding gpu-no-driver)" == problem:* ]]
    [ "$(json "next(f['advice'] for f in d['findings'] if f['id'] == 'gpu-no-driver') != None")" = true ]
}

@test "each stand-in: GPUs are counted where the library works, and else not" {
    local trace count
    run -0 probelauf init
    python3 - <<'PY'
import re
text = re.sub(r"(?m)^environments:.*\n(?:[ #].*\n|\n)*", "", open("probelauf.yaml").read())
text += "\nenvironments:\n  - id: hpc\n    kind: rented\n    gpus: 8\n"
open("probelauf.yaml", "w").write(text)
PY
    for trace in "$SOURCE"/tests/stand-in/traces/*.trace; do
        trace=${trace##*/}
        trace=${trace%.trace}
        [ "$trace" != hang ] || continue # below: it takes its time
        stand_in "$trace"
        run --separate-stderr probelauf doctor --json
        [ "$status" -eq 0 ]
        count=$(json 'next((l.split()[1] for l in d["snippet"].splitlines() if "gpus:" in l), None)')
        echo "$trace: $count"
        case $trace in
        slow-init | no-driver | mismatch | no-permission)
            [ "$count" = null ]
            [[ "$(finding plan-open)" == open:* ]]
            [ -z "$(finding plan-gpu-count)" ]
            ;;
        no-gpu) [ "$count" = '"0"' ] || [ "$count" = 0 ] ;;
        eight-h200) [ "$count" = '"8"' ] || [ "$count" = 8 ] ;;
        *) [ "$count" != null ] ;;
        esac
    done
}

@test "a library that hangs is not waited for beyond its time" {
    stand_in hang
    SECONDS=0
    run --separate-stderr probelauf doctor --json
    [ "$status" -eq 0 ]
    [ "$SECONDS" -lt 100 ]
    [ "$(json 'any(f["topic"] == "gpu" for f in d["findings"])')" = true ]
}

@test "an environment that the plan does not have" {
    run probelauf doctor --env elsewhere
    fails 1 environment-unknown
    has "or name the plan with --plan FILE"
    probelauf init -q
    run probelauf doctor --env elsewhere
    fails 1 environment-unknown
    has "'elsewhere'; it has: target"
}

@test "findings for programs are the same in every language" {
    run --separate-stderr probelauf doctor --json
    local english
    english=$(json '[(f["id"], f["state"]) for f in d["findings"]]')
    run --separate-stderr env LC_ALL=de_DE.UTF-8 PROBELAUF_LANG=de "$PROBELAUF" doctor --json
    [ "$(json '[(f["id"], f["state"]) for f in d["findings"]]')" = "$english" ]
}
