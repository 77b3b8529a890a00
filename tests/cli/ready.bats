#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# A server loads until it is ready: a line of its output, or an address that answers (Req: B2, --ready).

load run-common

teardown() {
    local pid
    for pid in ${SERVERS-}; do
        { kill -KILL "$pid" && wait "$pid"; } 2>/dev/null || true
    done
}

free_port() {
    python -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])'
}

server() { # PORT HOW: the command of a server that is ready once `go` exists and ends once `stop` does
    echo /usr/bin/env python3 "$BATS_TEST_DIRNAME/ready-server.py" "$1" "$2" go stop
}

# Runs a server in the background under --ready URL.
serve() { # HOW [run options]
    local how=$1 port
    shift
    port=$(free_port)
    # shellcheck disable=SC2046
    "$PROBELAUF" run -q --ready "http://localhost:$port/health" "$@" -- $(server "$port" "$how") 3>&- 4>&- &
    monitor=$!
    SERVERS="${SERVERS-} $monitor"
}

asked() { # at least N times
    [ "$(stat -c %s asked 2>/dev/null || echo 0)" -ge "$1" ]
}

phases() {
    shown '[[phase["name"], phase["source"]] for phase in d["time"]["phase_list"]]'
}

ready_of_end() { # a Python expression over END's `ready`, called `r`
    record END | tail -1 | python -c 'import json, sys
r = json.loads(sys.stdin.read().split(" END ", 1)[1])["ready"]
print(eval(sys.argv[1]))' "$1"
}

is_ready() {
    grep -qs '"name":"compute","source":"ready"' "$HOME"/data/probelauf/journals/*.journal
}

@test "loading ends at the first 2xx answer" {
    serve 503
    until_true asked 3
    touch go
    until_true is_ready
    sleep 0.5
    touch stop
    wait "$monitor"
    [ "$(phases)" = '[["load", "ready"], ["compute", "ready"]]' ]
    [ "$(shown 'abs(d["time"]["phases"]["load"]["value"] + d["time"]["phases"]["compute"]["value"] - d["time"]["wall"]["value"]) < 1e-6')" = true ]
    [ "$(shown '0.5 <= d["time"]["phases"]["load"]["value"]')" = true ]
    [ "$(shown '0.5 <= d["time"]["phases"]["compute"]["value"]')" = true ]
    [ "$(shown 'd["time"]["phases"]["load"].get("bound", "exact")')" = exact ]
    record START | grep -q '"ready":"http://localhost:'
    [ "$(ready_of_end '"reason" in r')" = False ]
    [ "$(shown 'abs(d["ready"]["after"]["value"] - d["time"]["phases"]["load"]["value"]) < 1e-6')" = true ]
    run probelauf show --json @1
    valid_schema run
}

@test "an address where nobody listens yet is asked again" {
    serve refuse
    sleep 1
    touch go
    until_true is_ready
    touch stop
    wait "$monitor"
    [ "$(shown '1 <= d["time"]["phases"]["load"]["value"]')" = true ]
}

@test "a line ends loading: through a pipe, a terminal and into a file" {
    local words=("$CHILD" out Loading wait-file go out "Application startup complete" sleep 0.5 out "Application startup complete")
    run_lines() { probelauf run -q --ready 'startup complete$' -- "${words[@]}"; }
    (sleep 0.5; touch go) 3>&- &
    run_lines | cat
    [ "$(phases)" = '[["load", "ready"], ["compute", "ready"]]' ]
    [ "$(shown '0.3 <= d["time"]["phases"]["load"]["value"]')" = true ]
    [ "$(shown '0.4 <= d["time"]["phases"]["compute"]["value"]')" = true ]
    record PHASE | grep -q '"line":"Application startup complete"'
    [ "$(record PHASE | wc -l)" = 2 ]
    rm go
    (sleep 0.5; touch go) 3>&- &
    run_lines >output
    [ "$(phases)" = '[["load", "ready"], ["compute", "ready"]]' ]
    [ "$(shown '0.2 <= d["time"]["phases"]["load"]["value"]')" = true ]
    rm go
    (sleep 0.5; touch go) 3>&- &
    script -qec "'$PROBELAUF' run -q --ready 'startup complete' -- '$CHILD' out Loading wait-file go err 'startup complete' sleep 0.5" /dev/null >/dev/null
    [ "$(phases)" = '[["load", "ready"], ["compute", "ready"]]' ]
    record START | grep -q '"tee":"pty"'
}

@test "marks are above, patterns below what is ready" {
    probelauf run -q --ready ready --pattern preprocess=prepare -- "$CHILD" out prepare sleep 0.3 out ready sleep 0.3 | cat
    [ "$(phases)" = '[["load", "ready"], ["compute", "ready"]]' ]
    probelauf run -q --ready ready -- sh -c "'$PROBELAUF' mark setup; sleep 0.2; echo ready; sleep 0.2" | cat
    [ "$(phases)" = '[["unattributed", "none"], ["setup", "mark"]]' ]
}

@test "what is never ready loads for at least the whole time, with the reason" {
    probelauf run -q --ready 'will not come' -- "$CHILD" out something sleep 0.3 | cat
    [ "$(shown 'd["time"]["phases"]["load"]["bound"]')" = at-least ]
    [ "$(shown 'd["time"]["phases"]["compute"]["state"]')" = open ]
    [ "$(ready_of_end 'r["reason"]')" = "no line of the output matched" ]
    [ "$(shown 'd["ready"]["after"]["state"]')" = open ]
    run probelauf show @1
    has "never ready"
    probelauf run -q --tee none --ready x -- "$CHILD" out x | cat
    [ "$(ready_of_end 'r["reason"]')" = "the output was not read" ]
    probelauf run -q --ready "http://127.0.0.1:$(free_port)/" -- "$CHILD" sleep 0.5
    [[ "$(ready_of_end 'r["reason"]')" == "no connection to the address"* ]]
    [ "$(shown 'd["outcome"]["class"]')" = ok ]
}

@test "statuses other than 2xx are not ready: 503, redirects" {
    local how
    for how in 503 302; do
        rm -f asked stop
        serve "$how"
        until_true asked 2
        touch stop
        wait "$monitor"
        [ "$(ready_of_end 'r["status"]')" = "$how" ]
        [ "$(shown 'd["time"]["phases"]["load"]["bound"]')" = at-least ]
    done
}

@test "what answers and is no HTTP is not ready, and is named" {
    serve garbage
    until_true asked 2
    touch stop
    wait "$monitor"
    [ "$(ready_of_end 'r["reason"]')" = "what answered at the address was no HTTP" ]
}

@test "an address that hangs delays nothing, and nobody goes on asking" {
    local asker
    serve hang
    until_true asked 1
    asker=$(helper "$(helper "$monitor" pl-recorder)" pl-ready)
    touch stop
    SECONDS=0
    wait "$monitor"
    [ "$SECONDS" -lt 4 ]
    [ "$(shown 'd["outcome"]["class"]')" = ok ]
    until_true is_gone "$asker"
}

is_gone() {
    ! kill -0 "$1" 2>/dev/null
}

@test "an address that answers before the command starts is somebody else's" {
    local port
    port=$(free_port)
    touch go
    # shellcheck disable=SC2046
    $(server "$port" 503) 3>&- 4>&- &
    SERVERS=$!
    appears listening
    probelauf run -q --ready "http://127.0.0.1:$port/" -- "$CHILD" sleep 0.4
    [[ "$(ready_of_end 'r["reason"]')" == "the address answered before"* ]]
    [ "$(shown 'd["time"]["phases"]["load"]["state"]')" = open ]
}

@test "a running server that becomes ready while it is watched" {
    local port
    port=$(free_port)
    # shellcheck disable=SC2046
    $(server "$port" 503) 3>&- 4>&- &
    SERVERS=$!
    appears listening
    "$PROBELAUF" run -q --attach "$SERVERS" --ready "http://127.0.0.1:$port/" 3>&- 4>&- &
    monitor=$!
    until_true asked 2
    touch go
    until_true is_ready
    sleep 0.3
    touch stop
    wait "$monitor"
    [ "$(phases)" = '[["load", "ready"], ["compute", "ready"]]' ]
}

@test "a running server that is ready already only computes" {
    local port
    port=$(free_port)
    touch go
    # shellcheck disable=SC2046
    $(server "$port" 503) 3>&- 4>&- &
    SERVERS=$!
    appears listening
    probelauf run -q --attach "$SERVERS" --ready "http://127.0.0.1:$port/" --max-time 1s
    [ "$(phases)" = '[["compute", "ready"]]' ]
    [ "$(shown 'd["time"]["phases"]["load"]["state"]')" = open ]
    [ "$(ready_of_end 'r["before"]')" = True ]
}

@test "readiness is told once, also by a recorder that follows a killed one" {
    serve 503
    until_true asked 2
    kill -KILL "$(helper "$monitor" pl-recorder)"
    touch go
    until_true is_ready
    kill -KILL "$(helper "$monitor" pl-recorder)"
    sleep 1
    touch stop
    wait "$monitor"
    [ "$(record PHASE | wc -l)" = 2 ]
    [ "$(phases)" = '[["load", "ready"], ["compute", "ready"]]' ]
}

@test "what cannot be waited for is told before the start" {
    run -125 probelauf run --ready https://localhost:8000/ -- true
    fails 125 ready-scheme
    run -125 probelauf run --ready ftp://localhost/ -- true
    fails 125 ready-scheme
    run -125 probelauf run --ready http://me:secretword@localhost/ -- true
    fails 125 ready-credentials
    lacks secretword
    run -125 probelauf run --ready http:// -- true
    fails 125 ready-address
    run -125 probelauf run --ready 'http://localhost:99999/' -- true
    fails 125 ready-address
    run -125 probelauf run --ready '(' -- true
    fails 125 pattern-invalid
    [ "$(runs_in_ledger)" = 0 ]
}

@test "a secret in the address is masked in the record" {
    probelauf run -q --ready "http://127.0.0.1:$(free_port)/?api_key=hunter2hunter2hunter2" -- "$CHILD" sleep 0.1
    run probelauf export journal --text @1
    lacks hunter2
}
