#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC2154 # bats sets status, output and lines
# The reservation clock: sessions, their gaps and reasons, whatever happens to the processes.

load study-common

# session EXPR: a Python expression over the session of `session status --json $1`, called `s`
session() {
    probelauf session status ${2+"$2"} --json | python -c 'import json, sys
s = json.load(sys.stdin)["session"]
v = eval(sys.argv[1])
print(v if isinstance(v, str) else json.dumps(v))' "$1"
}

# session_is EXPR VALUE: as a command, so that it can be waited for
session_is() {
    [ "$(session "$1")" = "$2" ]
}

told_twice() {
    [ "$(wc -l <told)" -eq 2 ]
}

settled() {
    until_true nothing_waits
}

@test "three runs with two gaps: idle is the session less its runs, each gap has its reason" {
    probelauf session start --gpus 2 --note "first day"
    probelauf run -q -- "$CHILD" sleep 0.3
    sleep 0.4
    probelauf session note --reason decision "which policy"
    probelauf run -q -- "$CHILD" sleep 0.3
    probelauf session note --reason waiting-for-authors
    sleep 0.6
    probelauf run -q -- "$CHILD" sleep 0.3
    settled
    probelauf session stop
    run probelauf session status @1 --json
    valid_schema session
    probelauf session list --json >list.json
    probelauf log --json >log.json
    python -c 'import json
s = json.load(open("list.json"))["sessions"][0]
runs = [r["wall"]["value"] for r in json.load(open("log.json"))["runs"]]
assert len(s["runs"]) == 3, s["runs"]
value = lambda name: s[name]["value"]
assert abs(value("idle") - (value("reserved") - sum(runs))) < 0.1, (value("idle"), value("reserved"), runs)
assert abs(value("idle") - sum(g["length"]["value"] for g in s["gaps"])) < 1e-6
between = [g for g in s["gaps"] if g["after_run"] and g["before_run"]]
assert [g["reason"] for g in between] == ["decision", "waiting-for-authors"], between
assert [g["text"] for g in between] == ["which policy", None]
assert between[0]["length"]["value"] >= 0.4 and between[1]["length"]["value"] >= 0.6
assert abs(s["idle_by_reason"]["decision"]["value"] - between[0]["length"]["value"]) < 1e-9
assert abs(value("gpu_reserved") - 2 * value("reserved")) < 1e-6
assert s["state"] == "stopped" and s["note"] == "first day"
assert s["amount"]["state"] == "open" and s["paid"]["reason"] == "no-offer"'
    probelauf session list --json >again.json
    cmp list.json again.json
}

@test "runs say in which session they were, and log chooses them by it" {
    probelauf run -q -- "$CHILD" exit 0
    probelauf session start
    probelauf run -q -- "$CHILD" exit 0
    settled
    id=$(session 's["session"]')
    run probelauf show --json
    [ "$(json 'd["session"]')" = "$id" ]
    valid_schema run
    run probelauf show @2 --json
    [ "$(json 'd["session"]')" = null ]
    probelauf show | grep -q "session  *${id: -8}$"
    probelauf show -v | grep -q "session  *$id"
    run probelauf log --session "${id: -8}" --json
    [ "$(json 'len(d["runs"])')" -eq 1 ]
    run probelauf log --session 00000000
    fails 1 session-not-found
}

@test "one session at a time, and no stop without one" {
    run probelauf session stop
    fails 1 session-none
    run probelauf session note --reason decision
    fails 1 session-none
    run probelauf session status --json
    [ "$(json 'd["session"]')" = null ]
    valid_schema session
    probelauf session start
    run probelauf session start
    fails 1 session-running
    probelauf session stop
    run probelauf session stop
    fails 1 session-none
    run probelauf session stop @1
    fails 1 session-stopped
    probelauf session start
    [ "$(probelauf session list --json | python -c 'import json, sys; print(len(json.load(sys.stdin)["sessions"]))')" -eq 2 ]
}

@test "what was reserved before and after is told by time" {
    run probelauf session start --began 2200-01-01
    fails 1 session-future
    run probelauf session start --began soon
    fails 2 usage-bad-value
    probelauf session start --began 2h
    python -c "assert 7200 <= $(session 's["reserved"]["value"]') < 7300"
    run probelauf session stop --at 3h
    fails 1 session-stop-before-start
    run probelauf session stop --at 2200-01-01T00:00:00Z
    fails 1 session-future
    probelauf session stop --at 1h
    [ "$(session 's["ended_given"]' @1)" = true ]
    python -c "assert 3590 <= $(session 's["reserved"]["value"]' @1) < 3610"
    run probelauf session start --began 90m
    fails 1 session-overlap
    probelauf session start --began 30m
    # a time that was told wrong is told again
    run probelauf session stop --at 10m --again
    fails 1 session-not-stopped
    run probelauf session stop @2 --at 20m --again
    fails 1 session-overlap
    [[ "$output" == *"an earlier time"* ]]
    probelauf session stop @2 --at 90m --again
    python -c "assert 1790 <= $(session 's["reserved"]["value"]' @2) < 1810"
    probelauf session stop @2 --at 45m --again
    python -c "assert 4490 <= $(session 's["reserved"]["value"]' @2) < 4510"
    run probelauf session stop @2 --again
    fails 2 usage-needs
    run probelauf session stop @2 --at 50m
    fails 1 session-stopped
    [[ "$output" == *"--again --at TIME"* ]]
}

@test "reasons: words, numbers, spans, taken back" {
    probelauf session start --began 1h
    run probelauf session note --reason decison
    fails 2 usage-bad-value
    [[ "$output" == *"did you mean 'decision'"* ]]
    run probelauf session note "no reason"
    fails 2 usage-needs
    run probelauf session note --reason decision --gap 7
    fails 1 session-gap-unknown
    probelauf session note --reason preparing-next
    probelauf session note --reason approval --from 30m --to 20m "boss away"
    [ "$(session '[g["reason"] for g in s["gaps"]]')" = '["preparing-next", "approval", "preparing-next"]' ]
    python -c "assert abs($(session 's["idle_by_reason"]["approval"]["value"]') - 600) < 2"
    # the last note holds, a gap that goes on keeps it
    probelauf session note --gap 3 --reason data-missing
    sleep 0.3
    [ "$(session '[g["reason"] for g in s["gaps"]]')" = '["preparing-next", "approval", "data-missing"]' ]
    probelauf session note --gap 2 --reason unknown
    [ "$(session '[g["reason"] for g in s["gaps"]]')" = '["preparing-next", "unknown", "data-missing"]' ]
    python -c "assert abs($(session 's["idle"]["value"]') - $(session 's["reserved"]["value"]')) < 5"
    run probelauf session note --reason approval --from 10m --to 20m
    fails 1 session-span
    probelauf session stop
    run probelauf session note --reason approval --session @1
    fails 1 session-no-gap
    probelauf session note --reason approval --session @1 --gap 2
    [ "$(session 's["gaps"][1]["reason"]' @1)" = approval ]
}

@test "a run in the way of a note, and a failed one that only suggests" {
    probelauf session start
    probelauf run -q -- "$CHILD" exit 3 || true
    settled
    sleep 1.1
    [ "$(session '(s["gaps"][-1]["reason"], s["gaps"][-1]["suggestion"])')" = '["unknown", "failure-handling"]' ]
    [ "$(session 's["idle_by_reason"]["failure-handling"]["value"]')" = 0.0 ]
    probelauf session status | tr -s " \n" " " | grep -q "the run before it failed"
    "$PROBELAUF" run -q -- "$CHILD" sleep 60 3>&- &
    monitor=$!
    until_true session_is 's["runs"][-1]["running"]' true
    run probelauf session note --reason decision
    fails 1 session-no-gap
    kill -TERM "$monitor"
    wait "$monitor" || true
}

@test "kill -9 of everything leaves a session that goes on" {
    probelauf session start
    id=$(session 's["session"]')
    probelauf run -q -- "$CHILD" sleep 30 3>&- &
    monitor=$!
    until_true session_is 'len(s["runs"])' 1
    # the program and all that it started: they are sessions of their own, so by the parent
    pids=$(pgrep -P "$monitor"; for p in $(pgrep -P "$monitor"); do pgrep -P "$p" || true; done)
    # shellcheck disable=SC2086 # a list of numbers
    kill -9 "$monitor" $pids || true
    wait || true
    sleep 0.5
    [ "$(session 's["session"]')" = "$id" ]
    [ "$(session 's["state"]')" = running ]
    [ "$(session 's["runs"][0]["running"]')" = false ]
    probelauf session stop
    [ "$(session 's["state"]' @1)" = stopped ]
}

@test "of fifty starts at once one session remains" {
    local i
    for i in $(seq 50); do
        probelauf session start >"out.$i" 2>&1 && touch "won.$i" 3>&- &
    done
    wait
    [ "$(find . -name 'won.*' | wc -l)" -eq 1 ]
    grep -L session-running out.* >others || true
    [ "$(wc -l <others)" -eq 1 ]
    [ "$(probelauf session list --json | python -c 'import json, sys; print(len(json.load(sys.stdin)["sessions"]))')" -eq 1 ]
    for i in $(seq 20); do
        probelauf session stop >"stop.$i" 2>&1 && touch "stopped.$i" 3>&- &
    done
    wait
    [ "$(find . -name 'stopped.*' | wc -l)" -eq 1 ]
    [ "$(session 's["state"]' @1)" = stopped ]
}

@test "another ledger says the same, byte for byte, in every locale" {
    probelauf session start
    probelauf run -q -- "$CHILD" sleep 0.1
    settled
    probelauf session note --reason manual-action "unplugged, by hand"
    probelauf session stop
    probelauf session status @1 --json >here.json
    probelauf export journal --all -o all.stream
    XDG_DATA_HOME=$HOME/other XDG_STATE_HOME=$HOME/other probelauf import journal all.stream
    XDG_DATA_HOME=$HOME/other XDG_STATE_HOME=$HOME/other probelauf session status @1 --json >there.json
    cmp here.json there.json
    LC_ALL=de_DE.UTF-8 LANG=de_DE.UTF-8 LANGUAGE=de probelauf --lang de session status @1 --json >german.json ||
        LC_ALL=de_DE.UTF-8 probelauf session status @1 --json --lang de >german.json
    cmp here.json german.json
}

@test "watch warns once for a stretch, runs its command, and ends by Ctrl-C" {
    run probelauf session watch
    fails 1 session-none
    probelauf session start
    # shellcheck disable=SC2016 # the command's own variables
    "$PROBELAUF" session watch --after 1s --every 100ms \
        --exec 'echo "$PROBELAUF_SESSION $PROBELAUF_IDLE_SECONDS" >>told' 2>watch.err 3>&- &
    watch=$!
    until_true test -s told
    sleep 1
    [ "$(wc -l <told)" -eq 1 ]
    grep -q "a reserved machine has been idle" watch.err
    [ "$(cut -d' ' -f1 told)" = "$(session 's["session"]')" ]
    probelauf run -q -- "$CHILD" exit 0
    until_true told_twice
    kill -TERM "$watch"
    wait "$watch"
    [ "$(session 's["state"]')" = running ]
}

# in a UTS namespace of its own, as a container has one: another host name, the same boot
in_container() {
    unshare --user --map-root-user --uts sh -c 'hostname box && exec "$@"' sh "$@"
}

@test "a ledger that cannot be read is no sign that no session runs" {
    probelauf session start
    settled
    ledger=$(find "$HOME" -name ledger.db)
    cp "$ledger" sound.db
    "$PROBELAUF" session watch --after 1h --every 100ms 2>watch.err 3>&- &
    watch=$!
    sleep 0.3
    rm -f "$ledger"-wal "$ledger"-shm
    echo "no database at all, though it is long enough to look like one" >"$ledger"
    until_true grep -q "cannot be read" watch.err
    for verb in status "note --reason decision" start stop list; do
        # shellcheck disable=SC2086 # words
        run probelauf session $verb
        fails 1 ledger-damaged
        [ "${#lines[@]}" -eq 1 ]
        [[ "$output" != *"session start"* ]]
    done
    mv "$ledger" "$ledger.away"
    sleep 0.5
    [ ! -e "$ledger" ] # looking at it begins no new one
    kill -0 "$watch"
    run grep -q "is over" watch.err
    [ "$status" -ne 0 ]
    cp sound.db "$ledger"
    probelauf session stop
    until_true grep -q "the session is over" watch.err
    wait "$watch"
}

@test "a container of the machine has no second session" {
    in_container true || skip "no user namespaces here"
    probelauf session start
    settled
    run in_container "$PROBELAUF" session start
    fails 1 session-running
    in_container "$PROBELAUF" session note --reason decision
    [ "$(session '[g["reason"] for g in s["gaps"]]')" = '["decision"]' ]
    in_container "$PROBELAUF" session stop
    [ "$(session 's["state"]' @1)" = stopped ]
}

@test "a note is about the numbered gap that goes on, and says so" {
    probelauf session start --began 1h
    probelauf session note --reason approval --from 50m --to 40m
    run probelauf session note --reason decision
    [[ "$output" == *"noted for gap 3 (from "*" UTC, goes on): decision"* ]]
    [ "$(session '[g["reason"] for g in s["gaps"]]')" = '["unknown", "approval", "decision"]' ]
    # the same once more is no gap of its own, and neither are parts with one reason
    probelauf session note --reason decision --from 20m --to 10m
    probelauf session note --reason decision
    [ "$(session '[g["reason"] for g in s["gaps"]]')" = '["unknown", "approval", "decision"]' ]
    run probelauf session note --reason unknown --gap 2
    [[ "$output" == *"the reason of gap 1 (from "*" is taken back"* ]]
    [ "$(session '[g["reason"] for g in s["gaps"]]')" = '["unknown", "decision"]' ]
    probelauf session note --reason approval --gap 1
    probelauf session stop
    [ "$(session '[g["reason"] for g in s["gaps"]]' @1)" = '["approval", "decision"]' ]
    run probelauf session note --reason approval --session @1 --from 10m --to 20m
    fails 1 session-span
    [[ "$output" == *"is the earlier one"* ]]
}

@test "the page begins with its heading, keeps its columns, and cuts what has no end" {
    probelauf session start --began 1h --note "$(printf 'x%.0s' $(seq 100000))"
    probelauf session note --reason waiting-for-authors "$(printf 'y%.0s' $(seq 100000))"
    local width
    for width in 40 80; do
        run env COLUMNS=$width "$PROBELAUF" session status
        [ -n "$(printf '%s' "$output" | head -n 1)" ]
        [ "${#output}" -lt 5000 ]
        python - "$output" $width <<'PY'
import sys
long = [l for l in sys.argv[1].split("\n") if len(l) > int(sys.argv[2])]
assert not long, long
PY
    done
    run probelauf help session
    [[ "$output" == *"waiting-for-authors,"* && "$output" == *"Not for: watch"* ]]
}

@test "the command of watch runs once at a time, and its end is told" {
    probelauf session start
    "$PROBELAUF" session watch --after 300ms --every 100ms \
        --exec 'echo >>told; sleep 5; exit 3' 2>watch.err 3>&- &
    watch=$!
    until_true test -s told
    sleep 1.2 # stretches that begin within a second are one
    probelauf run -q -- "$CHILD" exit 0
    until_true grep -q "still runs since the idle time before" watch.err
    [ "$(wc -l <told)" -eq 1 ]
    until_true grep -q "ended with exit code 3" watch.err
    kill -TERM "$watch"
    wait "$watch"
}

@test "the plan says what environments and offers there are" {
    make_study
    cat >>probelauf.yaml <<'YAML'
offers:
  - {id: lambda, environment: there, rate: "2.49", currency: EUR, per: hour, increment: 1h, source: mail, seen: 2026-11-30}
YAML
    commit offer
    run probelauf session start --env thre
    fails 1 environment-unknown
    [[ "$output" == *"did you mean 'there'"* ]]
    run probelauf session start --offer lamda
    fails 1 offer-unknown
    [[ "$output" == *"did you mean 'lambda'"* ]]
    run probelauf session start --offer lambda --env here
    fails 1 offer-environment
    probelauf session start --offer lambda --json >start.json
    python -c 'import json
s = json.load(open("start.json"))["session"]
assert s["environment"] == "there" and s["study"], s
assert s["paid"]["value"] == 3600.0 and "increment" in s["paid"]["method"], s["paid"]'
    # shellcheck disable=SC2016 # the command's own variables
    "$PROBELAUF" session watch --after 100ms --every 100ms --exec 'touch told' 2>watch.err 3>&- &
    watch=$!
    until_true test -e told
    kill -TERM "$watch"
    wait "$watch"
    grep -q "a machine that is paid has been idle.*offer 'lambda' costs 2.49 EUR per hour" watch.err
    probelauf session stop
    run probelauf session start
    [ "$status" -eq 0 ]
    [[ "$output" == *"warning: no environment is named"* ]]
}

unnamed_run() {
    probelauf run -q --block compare -c size=1 -- src/work sleep 0.01 out done
    settled
}

@test "a run takes the environment of the session that it is in" {
    make_study
    probelauf session start --env there
    unnamed_run
    id=$(session 's["session"]')
    run probelauf export journal @1 --text
    [[ "$output" == *'"environment_id": "there"'* || "$output" == *'"environment_id":"there"'* ]]
    [[ "$output" == *"$id"* ]]
    # what is said counts more
    PROBELAUF_ENV=here unnamed_run
    run probelauf export journal @1 --text
    [[ "$output" == *'"environment_id":"here"'* || "$output" == *'"environment_id": "here"'* ]]
    # a file that nobody can use, a pipe among them, keeps no run waiting
    folder=$(find "$HOME" -name running-sessions)
    mkfifo "$folder/01234567-89ab-7def-8123-456789abcdef.json"
    echo '[' >"$folder/01234567-89ab-7def-8123-456789abcdee.json"
    unnamed_run
    run probelauf export journal @1 --text
    [[ "$output" == *'"environment_id":"there"'* || "$output" == *'"environment_id": "there"'* ]]
    probelauf session stop
    [ -z "$(find "$folder" -name '*.json')" ]
    unnamed_run
    run probelauf export journal @1 --text
    [[ "$output" != *environment_id* && "$output" != *"$id"* ]]
}

@test "the estimate takes its idle time from the sessions of the environment" {
    make_study
    sed -i 's/runs: 2/runs: 5/' probelauf.yaml
    commit "more runs"
    run probelauf estimate --json
    [ "$(json '[c["state"] for c in [d["blocks"][0]["components"]["idle"]["time"]]]')" = '["open"]' ]
    probelauf session start --env here
    study_run 1
    sleep 0.5
    probelauf session stop
    probelauf session start --env there
    study_run 1
    sleep 0.5
    probelauf session stop
    probelauf estimate --json >one.json
    probelauf session start --env here
    study_run 1
    sleep 0.5
    probelauf session stop
    probelauf estimate --json >two.json
    probelauf report --json >report.json
    python -c 'import json
one, two, report = (json.load(open(n + ".json")) for n in ("one", "two", "report"))
idle = lambda d: d["blocks"][0]["components"]["idle"]["time"]
sessions = report["sessions"]
here = [s["session"] for s in sessions if s["environment"] == "here"]
assert len(sessions) == 3 and len(here) == 2
assert idle(one)["state"] == "estimated", idle(one)
assert "p05" not in idle(one), idle(one)
assert here[0] in idle(one)["sources"] and len(set(idle(one)["sources"]) & {s["session"] for s in sessions}) == 1
assert set(here) <= set(idle(two)["sources"]), idle(two)
known = {r["run"] for r in report["runs"]} | {s["session"] for s in sessions}
assert all(x in known or x.startswith("probelauf.yaml:") for x in idle(two)["sources"])
assert idle(two)["value"] > 0'
    run cat report.json
    valid_schema report
    run cat two.json
    valid_schema estimate
    probelauf report --format markdown | grep -q "^## Reserved time"
}
