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
    [ "$(shown '0.5 <= d["time"]["phases"]["load"]["value"]')" = true ]
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
    has "never ready: no line of the output matched"
    has "will not come"
    probelauf run -q --ready "http://127.0.0.1:$(free_port)/" -- "$CHILD" sleep 0.5
    [[ "$(ready_of_end 'r["reason"]')" == "no connection to the address"* ]]
    [ "$(shown 'd["outcome"]["class"]')" = ok ]
}

# Loads for 0.3 s, says so and works on.
says_ready=(sh -c 'sleep 0.3; echo complete; sleep 0.3')

load_is_open() { # because REASON
    [ "$(ready_of_end 'r["reason"]')" = "$1" ]
    [ "$(shown 'd["time"]["phases"]["load"]["state"]')" = open ]
    [ "$(shown 'd["time"]["phases"]["compute"]["state"]')" = open ]
    [ "$(shown 'd["time"]["phase_list"][0]["name"]')" = unattributed ]
    [ "$(shown 'd["ready"]["after"]["reason"]')" = not-visible ]
    run probelauf show @1
    output=$(tr -s ' \n' ' ' <<<"$output")
    lacks "never ready"
    has "$1"
}

@test "where the output was not read loading is open, not as long as the run" {
    probelauf run -q --ready complete -- "${says_ready[@]}" >/dev/null
    load_is_open "standard output was not read"
    output=$("$PROBELAUF" run --ready complete -- "${says_ready[@]}" 2>&1 >/dev/null)
    output=$(tr -s ' \n' ' ' <<<"$output")
    has "standard output was not read); let all of its output be read"
    probelauf run -q --ready complete -- "${says_ready[@]}" >/dev/null 2>&1
    load_is_open "the output was not read"
    probelauf run -q --ready complete -- sh -c 'sleep 0.3; echo complete >&2' 2>/dev/null | cat
    load_is_open "standard error was not read"
    # nothing can come through a descriptor that is closed
    probelauf run -q --ready x -- "$CHILD" sleep 0.2 2>&- | cat
    [ "$(ready_of_end 'r["reason"]')" = "no line of the output matched" ]
    [ "$(shown 'd["time"]["phases"]["load"]["bound"]')" = at-least ]
}

@test "where a line was cut it may be there; where it comes again it was ready by then" {
    probelauf run -q --ready complete -- python3 -c 'print("x" * 5000 + "complete")' | cat >/dev/null
    load_is_open "no line matched of the output that could be looked at, and that was not all of it"
    probelauf run -q --ready complete -- sh -c 'sleep 0.3; echo complete >&2; sleep 0.3' 3>&1 >/dev/null 2>&3 | cat
    [ "$(shown 'd["time"]["phases"]["load"]["bound"]')" = at-most ]
    [ "$(shown 'd["time"]["phases"]["compute"]["bound"]')" = at-least ]
    [ "$(shown 'd["ready"]["after"]["bound"]')" = at-most ]
    run probelauf show --json @1
    valid_schema run
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
        [ "$(shown 'd["ready"]["status"]')" = "$how" ]
        run probelauf show @1
        has "never ready: the last answer was $how"
        [ "$(shown 'd["time"]["phases"]["load"]["bound"]')" = at-least ]
    done
}

@test "what answers and is no HTTP is not ready, and is named" {
    serve garbage
    until_true asked 2
    touch stop
    wait "$monitor"
    [[ "$(ready_of_end 'r["reason"]')" == "what answered at the address was no HTTP"* ]]
}

@test "an answer with thousands of headers is one" {
    local port
    port=$(free_port)
    python -c 'import socket, sys
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    peer, _ = listener.accept()
    peer.recv(65536)
    peer.sendall(b"HTTP/1.1 200 OK\r\n" + b"".join(b"X-%d: %s\r\n" % (i, b"y" * 20) for i in range(5000)) + b"\r\n")
    peer.close()' "$port" 3>&- 4>&- &
    SERVERS=$!
    sleep 0.5
    probelauf run -q --attach "$SERVERS" --ready "http://127.0.0.1:$port/" --max-time 2s
    [ "$(ready_of_end '"reason" in r')" = False ]
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
    [[ "$(shown 'd["ready"]["reason"]')" == "the address answered before"* ]]
    run probelauf show @1
    output=$(tr -s ' \n' ' ' <<<"$output")
    has "the address answered before the command started: something else serves it; end it or use another port"
    has "waits for http://127.0.0.1:$port/"
    lacks "probelauf mark load"
    run probelauf show --json @1
    valid_schema run
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
    # it had begun to load before
    [ "$(shown 'd["time"]["phases"]["load"]["bound"]')" = at-least ]
    [ "$(shown 'd["ready"]["after"]["bound"]')" = at-least ]
    [ "$(shown 'd["time"]["phases"]["compute"].get("bound", "exact")')" = exact ]
    run probelauf show @1
    output=$(tr -s ' \n' ' ' <<<"$output")
    has "since it was attached to"
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
    [ "$(shown 'd["time"]["phases"]["compute"]["bound"]')" = at-least ]
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
    run -125 probelauf run --ready x --tee none -- true
    fails 125 usage-conflict
    run -125 env PROBELAUF_TEE=none "$PROBELAUF" run --ready x -- true
    fails 125 usage-conflict
    run -125 probelauf run --pattern load=x --tee none -- true
    fails 125 usage-conflict
    run -125 probelauf run --expect marker=x --tee none -- true
    fails 125 usage-conflict
    run -125 probelauf run --ready x --phase setup -- true
    fails 125 usage-conflict
    [ "$(runs_in_ledger)" = 0 ]
    run -0 env PROBELAUF_TEE=none "$PROBELAUF" run -q --tee auto --ready x -- true
    run -0 probelauf run -q --ready http://127.0.0.1:1/ --tee none -- true
}

@test "a secret in the address is masked in the record" {
    probelauf run -q --ready "http://127.0.0.1:$(free_port)/?api_key=hunter2hunter2hunter2" -- "$CHILD" sleep 0.1
    run probelauf export journal --text @1
    lacks hunter2
}
