#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC2154 # bats sets status, output and lines
# probelauf serve: who may ask, what is answered, that nothing is written, and that nothing that is asked harms it.

load study-common

setup() {
    common_setup
    : "${CHILD:?set CHILD to the built child program}"
    export PROBELAUF
    server=
}

teardown() {
    : >go # what a failed test left waiting
    [ -z "$server" ] || kill -KILL "$server" 2>/dev/null || :
}

# Starts it in the background: $base is its address, $url that with the token.
start() {
    "$PROBELAUF" serve "$@" >url 2>said &
    server=$!
    until_true test -s url
    url=$(cat url)
    base=${url%%/\?*}
}

stop() {
    kill -TERM "$server"
    wait "$server"
    server=
}

# ask PATH [HEADER…]: $status is that of HTTP, $output the body, $headers a file.
ask() {
    output=$(python "$SOURCE/tests/cli/ask.py" "$base$1" "${@:2}" 3>status)
    status=$(cat status)
}

# The same with the cookie.
get() {
    ask "$1" "Cookie: $cookie"
}

open_it() {
    start "$@"
    ask "/${url#*/\?}" # the token alone is not the address
    ask "/?token=${url#*token=}"
    [ "$status" -eq 303 ]
    cookie=$(sed -n 's/^Set-Cookie: \([^;]*\);.*/\1/p' headers)
    grep -q 'HttpOnly; SameSite=Strict' headers
}

@test "without the token, by another name, from another page: refused" {
    start
    ask /
    [ "$status" -eq 403 ]
    has "holds the token"
    ask "/?token=0123456789abcdef"
    [ "$status" -eq 403 ]
    ask "/?token=${url#*token=}0"
    [ "$status" -eq 403 ]
    ask "/?token=${url#*token=}" "Host: example.org"
    [ "$status" -eq 403 ]
    ask "/?token=${url#*token=}" "Host: 127.0.0.1.example.org"
    [ "$status" -eq 403 ]
    ask "/?token=${url#*token=}" "Origin: http://example.org"
    [ "$status" -eq 403 ]
    ask "/?token=${url#*token=}" "Host: localhost:8080"
    [ "$status" -eq 303 ]
    lacks token
    for page in /runs /runs/@1 /metrics /api/log.json /nothing; do
        ask "$page" "Cookie: probelauf-${base##*:}=00"
        [ "$status" -eq 403 ]
    done
    stop
    [ "${#url}" -gt 60 ]
    grep -q 'ssh -L' said
}

@test "report, list and run are pages that stand alone, and nothing is written" {
    make_study
    study_run 1
    study_run 2
    open_it
    local before
    before=$(find "$HOME/data" -type f ! -name '*-shm' ! -name '*-wal' -exec sha256sum {} + | sort)
    for page in / /runs "/runs/@1" "/runs?outcome=ok&text=work"; do
        get "$page"
        [ "$status" -eq 200 ]
        printf '%s\n' "$output" >page.html
        python "$SOURCE/tests/cli/page.py" --served page.html
        grep -q "nosniff" headers
        grep -q "frame-ancestors 'none'" headers
    done
    has "src/work sleep"
    [ "$(find "$HOME/data" -type f ! -name '*-shm' ! -name '*-wal' -exec sha256sum {} + | sort)" = "$before" ]
    get "/?token=${url#*token=}"
    [ "$status" -eq 303 ]
    get "/runs?outcome=failed"
    has "No run matches."
    get "/runs/00000000"
    [ "$status" -eq 404 ]
    get /none
    [ "$status" -eq 404 ]
    stop
}

@test "texts that are asked for stay text" {
    probelauf run -q -- true '<script>alert(1)</script>'
    open_it
    get '/runs?text=%3Cscript%3E&study=%22%3E%3Cb%3E&after='
    [ "$status" -eq 200 ]
    lacks '<script'
    lacks '<b>'
    get '/runs?text=%3Cscript%3Ealert'
    has '&lt;script&gt;alert(1)'
    get '/runs/%3Cscript%3E'
    lacks '<script'
    get '/api/log.json?text=--help'
    [ "$(json 'd["runs"]')" = '[]' ]
    get '/api/show.json?run=--help'
    [ "$status" -eq 500 ]
    stop
}

@test "the documents are those of the commands" {
    make_study
    study_run 1
    open_it
    for name in log blocks check estimate decide review next ledger; do
        get "/api/$name.json"
        [ "$status" -eq 200 ] || { echo "$name: $status $output" && false; }
        case $name in
            blocks) command="block list" ;;
            ledger) command="ledger info" ;;
            *) command=$name ;;
        esac
        # shellcheck disable=SC2086 # words
        probelauf $command --json >own.json 2>/dev/null || :
        # of one moment each
        [ $name = ledger ] || diff <(grep -v '_utc"' own.json) <(grep -v '_utc"' <<<"$output")
        [[ "$(json 'd["schema"]')" == probelauf.* ]]
    done
    get "/api/show.json?run=@1"
    [ "$(json 'd["outcome"]["class"]')" = ok ]
    get "/api/show.json?run=00000000"
    [ "$status" -eq 500 ]
    [[ "$(json 'd["error"]')" == *"'probelauf show' says why"* ]]
    get /api/run.json
    [ "$status" -eq 404 ]
    stop
}

@test "measurements for Prometheus: what is not known has no line" {
    probelauf run -q -- true
    "$PROBELAUF" run -q -- "$CHILD" wait-file go &
    open_it
    until_true running_is_seen
    get /metrics
    [ "$status" -eq 200 ]
    has 'probelauf_runs{outcome="ok"} 1'
    has 'probelauf_runs{outcome="running"} 1'
    has '# EOF'
    if command -v promtool >/dev/null; then
        promtool check metrics <<<"$output"
    fi
    get "/runs/@1"
    has '<meta http-equiv="refresh"'
    : >go
    until_true ledger_has 2
    get "/runs/@1"
    lacks '<meta http-equiv="refresh"'
    stop
}

running_is_seen() {
    get /metrics
    [[ "$output" == *"probelauf_running_seconds{"* ]]
}

@test "many at once, half requests, other methods: it goes on" {
    open_it
    for _ in $(seq 30); do
        python "$SOURCE/tests/cli/ask.py" "$base/" "Cookie: $cookie" 3>/dev/null >/dev/null &
        asking+=($!)
    done
    wait "${asking[@]}" || :
    python "$SOURCE/tests/cli/ask.py" --raw "$base" $'GET / HTTP/1.1\r\nHost: 127' 3>status
    python "$SOURCE/tests/cli/ask.py" --raw "$base" $'DELETE / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n' 3>status
    [[ "$(cat status)" == 40[05] || "$(cat status)" == 501 ]]
    python "$SOURCE/tests/cli/ask.py" --raw "$base" "GET /$(printf 'x%.0s' $(seq 40000)) HTTP/1.1" 3>status
    get /
    [ "$status" -eq 200 ]
    stop
}

@test "a broken plan is a page until it is mended; a taken port is said" {
    make_study
    open_it
    get /
    [ "$status" -eq 200 ]
    cp probelauf.yaml sound.yaml
    printf 'nonsense: [\n' >>probelauf.yaml
    get /
    [ "$status" -eq 500 ]
    has probelauf.yaml
    cp sound.yaml probelauf.yaml
    get /
    [ "$status" -eq 200 ]
    run probelauf serve --port "${base##*:}"
    fails 1 serve-port
    run probelauf serve --port 70000
    [ "$status" -eq 2 ]
    kill -INT "$server"
    run wait "$server"
    server=
}
