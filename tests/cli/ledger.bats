#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# The ledger as its owner meets it: private, refused where it is not ours, damaged and saved, locked, read-only, purged; and
# the folders where records wait for it.

load common

setup() {
    common_setup
    DATA=$XDG_DATA_HOME/probelauf
    LEDGER=$DATA/ledger.db
}

# Waits (at most a minute) until the recorders are done and nothing waits in the journal folder "$1".
settled() {
    local tries
    for tries in $(seq 600); do
        [ -z "$(find "${1:-$DATA/journals}" -name '*.journal*' 2>/dev/null)" ] && return
        sleep 0.1
    done
    echo "still waiting after $tries looks: $(ls "${1:-$DATA/journals}")"
    return 1
}

runs() {
    local n
    for n in $(seq "$1"); do
        probelauf run -q -c "n=$n" -- echo "run $n" >/dev/null
    done
    settled
}

# SQL behind the program's back.
sql() {
    python - "$LEDGER" "$1" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.executescript(sys.argv[2])
db.commit()
PY
}

count() {
    probelauf log --limit 0 --json | python -c 'import json, sys; print(len(json.load(sys.stdin)["runs"]))'
}

@test "private, whatever the umask" {
    umask 000
    runs 1
    [ "$(stat -c %a "$LEDGER")" = 600 ]
    [ "$(stat -c %a "$DATA")" = 700 ]
    [ "$(stat -c %a "$DATA/journals")" = 700 ]
}

@test "the records leave the folder once they are in the ledger" {
    runs 3
    [ -z "$(ls -A "$DATA/journals" | grep -v ^agents-)" ] # what goes into a command stays for the next run
    run probelauf ledger info --json
    [ "$(json 'd["runs"]')" = 3 ]
    [ "$(json 'd["journal_mode"]')" = wal ]
    [ "$(json 'd["stored_bytes"] < d["journal_bytes"]')" = true ]
}

@test "check names what is wrong, rebuild puts it right" {
    runs 3
    run probelauf log --json
    local before=$output
    local damage
    for damage in "UPDATE entry SET outcome = 'failed'" "DELETE FROM entry" "DROP INDEX entry_by_time" "DROP TABLE entry"; do
        sql "$damage"
        run probelauf ledger check -q --json
        [ "$status" -eq 1 ]
        has '"sound": false'
        run probelauf ledger rebuild
        [ "$status" -eq 0 ]
        run probelauf ledger check
        [ "$status" -eq 0 ]
        run probelauf log --json
        [ "$output" = "$before" ]
    done
}

@test "a damaged record: named by check, the others are saved, the old file is kept" {
    runs 3
    sql "UPDATE journal SET content = zeroblob(stored_length) WHERE id = 2"
    run probelauf ledger check -q
    [ "$status" -eq 1 ]
    has "damaged"
    run probelauf ledger rebuild -q
    fails 1 ledger-lost
    [ -e "$LEDGER.damaged" ]
    run probelauf ledger check
    [ "$status" -eq 0 ]
    [ "$(count)" = 2 ]
}

@test "a flipped byte anywhere in the file is found or harmless, never a crash" {
    runs 2
    cp "$LEDGER" sound
    local size place found=0
    size=$(stat -c %s sound)
    for place in $(seq 40 1777 "$size"); do
        cp sound "$LEDGER"
        python - "$LEDGER" "$place" <<'PY'
import sys
with open(sys.argv[1], "r+b") as f:
    f.seek(int(sys.argv[2]))
    byte = f.read(1)
    f.seek(int(sys.argv[2]))
    f.write(bytes([byte[0] ^ 0xff]))
PY
        run probelauf log
        [ "$status" -le 1 ]
        run probelauf ledger check -q
        [ "$status" -le 1 ]
        found=$((found + status))
        rm -f "$LEDGER-wal" "$LEDGER-shm"
    done
    [ "$found" -gt 0 ]
}

@test "files that are not ours are refused and not touched" {
    mkdir -p "$DATA"
    local before
    printf 'My thesis. %0200d' 1 >"$LEDGER"
    before=$(sha256sum <"$LEDGER")
    run probelauf ledger check
    fails 1 ledger-damaged
    run probelauf ledger rebuild
    fails 1 ledger-damaged
    [ "$(sha256sum <"$LEDGER")" = "$before" ]
    rm "$LEDGER"
    sql "CREATE TABLE mine (x); INSERT INTO mine VALUES (1)"
    before=$(sha256sum <"$LEDGER")
    run probelauf ledger info
    fails 1 ledger-foreign
    run probelauf ledger rebuild
    fails 1 ledger-foreign
    run probelauf run -q -- echo result
    [ "$status" -eq 0 ]
    [ "$(sha256sum <"$LEDGER")" = "$before" ]
}

@test "a newer ledger is refused, its records wait" {
    runs 1
    sql "PRAGMA user_version = 99"
    run probelauf ledger info
    fails 1 ledger-newer
    run probelauf run -q -- echo result
    [ "$status" -eq 0 ]
    sleep 0.5
    run probelauf log --json
    [ "$status" -eq 0 ]
    sql "PRAGMA user_version = 1"
    [ "$(count)" = 2 ]
}

@test "ledger URLs: what cannot be says what to write instead" {
    run probelauf log --ledger postgresql://host/db
    fails 1 ledger-unsupported
    has "sqlite:PATH"
    run probelauf log --ledger mysql:x
    fails 1 ledger-url
    run probelauf log --ledger 'sqlite:~/x.db'
    fails 1 ledger-url
    probelauf run -q --ledger ./here.db -- true
    settled "$PWD/journals"
    run probelauf log --json --ledger "sqlite:$PWD/here.db"
    [ "$(json 'len(d["runs"])')" = 1 ]
}

@test "readers go on beside a writer that holds the lock" {
    runs 2
    python - "$LEDGER" <<'PY' 3>&- &
import os, sqlite3, sys, time
held = sqlite3.connect(sys.argv[1], isolation_level=None)
held.execute("BEGIN IMMEDIATE")
open("held", "w").close()
for _ in range(600):
    if os.path.exists("release"):
        break
    time.sleep(0.1)
PY
    local holder=$!
    while [ ! -e held ]; do sleep 0.1; done
    run probelauf log --json
    [ "$status" -eq 0 ]
    [ "$(json 'len(d["runs"])')" = 2 ]
    # what is said now waits
    run probelauf annotate -q @1 --note later
    [ "$status" -eq 0 ]
    run probelauf show @1 --json
    has later
    touch release
    wait "$holder"
    run probelauf show @1 --json
    has later
    settled
}

@test "a ledger that can only be read is read, and annotations wait elsewhere" {
    unshare --mount true 2>/dev/null || skip "mount namespaces are not permitted here"
    runs 2
    run unshare --mount bash -c "
        mount --bind '$DATA' '$DATA' && mount -o remount,bind,ro '$DATA'
        '$PROBELAUF' log --json 2>warnings | grep -c '\"run\":'
        cat warnings
        '$PROBELAUF' annotate -q @1 --note 'said meanwhile' 2>/dev/null
        '$PROBELAUF' show -q @1 --json 2>/dev/null | grep -c 'said meanwhile'"
    [ "${lines[0]}" = 2 ]
    has "can only be read"
    [ "${lines[-1]}" = 1 ]
    run probelauf show @1 --json
    has "said meanwhile"
}

@test "what waits for one ledger is not taken into another" {
    unshare --mount true 2>/dev/null || skip "mount namespaces are not permitted here"
    mkdir other
    run unshare --mount bash -c "
        mount -t tmpfs -o ro none other
        '$PROBELAUF' run -q --ledger 'sqlite:$PWD/other/ledger.db' -- true 2>/dev/null
        sleep 0.5"
    [ "$(count)" = 0 ]
    run probelauf log --json --ledger "sqlite:$PWD/other/ledger.db"
    [ "$(json 'len(d["runs"])')" = 1 ]
}

@test "purged is gone, from the file too, with what was said about it" {
    probelauf run -q --note 'needle in the note' -- true
    probelauf run -q -- true
    settled
    probelauf annotate -q @2 --note 'needle two'
    settled
    run probelauf ledger purge @2
    [ "$status" -eq 0 ]
    [ "$(count)" = 2 ]
    local purged
    purged=$(probelauf log --json | python -c 'import json, sys; print(json.load(sys.stdin)["runs"][1]["run"])')
    run probelauf ledger purge @2 --yes
    [ "$status" -eq 0 ]
    run probelauf ledger info --json
    [ "$(json '[d["runs"], d["events"]]')" = '[1, 0]' ]
    run grep -c "$purged" "$LEDGER"
    [ "$output" = 0 ]
    run probelauf ledger check
    [ "$status" -eq 0 ]
}

@test "ten imports of the same stream at once: everything once" {
    runs 5
    probelauf export -q journal --all >stream
    local pids=() pid
    for _ in $(seq 10); do
        "$PROBELAUF" import -q journal stream --ledger "sqlite:$PWD/away.db" 3>&- &
        pids+=($!)
    done
    for pid in "${pids[@]}"; do
        wait "$pid"
    done
    run probelauf log --json --ledger "sqlite:$PWD/away.db"
    [ "$(json 'len(d["runs"])')" = 5 ]
    run probelauf ledger check --ledger "sqlite:$PWD/away.db"
    [ "$status" -eq 0 ]
}
