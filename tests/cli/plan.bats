#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# init writes a plan, check says what is wrong and what is open. How a plan is read in detail: tests/plan.
# shellcheck shell=bash disable=SC2154 # bats sets status, output and lines

load common

ID=01936a5e-4f00-7c2a-9b1d-5d0c3a7e8f21

# Nothing is open about data protection.
SETTLED='privacy: {class: none, may_transfer: yes, assessment: public texts}'

# A plan from standard input below the head that every plan has; the text begins in line 3.
plan() {
    { printf 'probelauf: 1\nstudy: {id: %s}\n' "$ID"; cat; } >probelauf.yaml
}

@test "init writes a plan that check reads, with everything open" {
    run --separate-stderr probelauf init --title 'A "study": #1'
    [ "$status" -eq 0 ]
    [ -z "$output" ]
    [[ "$stderr" == "probelauf: wrote 'probelauf.yaml'"*"probelauf check"* ]]
    run --separate-stderr probelauf check
    [ "$status" -eq 3 ]
    [ -z "$stderr" ]
    has 'A "study": #1'
    has 'weights.licence: under which licence'
    has 'open facts stand in the way of: validate, compare, scale, verify, booking'
    # every fact of the file is listed as open
    [ "$(grep -c '^  - id: .*\..*' probelauf.yaml)" -eq "$(grep -c '^    [a-z-]*\.[a-z0-9-]*: ' <<<"$output")" ]
    # under what they stop, and what 'block run' wants beside that
    has 'these stop validate'
    [[ "$(tr -s ' \n' ' ' <<<"$output")" == *"'block run' wants data protection settled, too: privacy.class, "* ]]
    [[ "${lines[1]}" == *'open facts stand in the way of'* ]]
}

@test "init gives each study an id of its own, in a file as the umask wants it" {
    umask 027
    probelauf init -q -o one.yaml
    umask 002
    run probelauf init -q -o two.yaml
    [ "$status" -eq 0 ]
    [ -z "$output" ]
    [ "$(stat -c %a one.yaml two.yaml | paste -sd' ')" = "640 664" ]
    run diff one.yaml two.yaml
    [ "$(grep -c '^[<>]' <<<"$output")" -eq 2 ]
    has '  id: '
    [ "$(find . -maxdepth 1 -name '*.yaml*' | wc -l)" -eq 2 ] # and nothing else is left
}

@test "init replaces nothing: file, folder, symbolic link to nowhere" {
    echo mine >probelauf.yaml
    run probelauf init
    fails 1 plan-exists
    [ "$(cat probelauf.yaml)" = mine ]
    mkdir folder
    run probelauf init -o folder
    fails 1 plan-exists
    ln -s nowhere link
    run probelauf init -o link
    fails 1 plan-exists
    [ -L link ] && [ ! -e nowhere ]
    [ "$(find . -maxdepth 1 -name '*.??????' | wc -l)" -eq 0 ]
}

@test "init at a place that cannot be written is one line" {
    run probelauf init -o no/such/folder/probelauf.yaml
    fails 1 output-write
    run probelauf init -o /proc/probelauf.yaml # where not even root may
    fails 1 output-write
    [ "$(id -u)" -eq 0 ] && skip "root may write everywhere"
    mkdir closed && chmod 500 closed && cd closed
    run probelauf init
    fails 1 output-write
    [ -z "$(ls -A)" ]
    chmod 700 .
}

@test "init by --plan and PROBELAUF_PLAN, on standard output, below another plan" {
    probelauf init -q --plan a.yaml
    PROBELAUF_PLAN=b.yaml probelauf init -q
    [ -s a.yaml ] && [ -s b.yaml ] && [ ! -e probelauf.yaml ]
    run probelauf init --plan c.yaml -o d.yaml
    fails 2 usage-conflict
    run --separate-stderr probelauf init -o -
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    [ "${lines[3]}" = 'probelauf: 1' ]
    probelauf init -q
    mkdir sub && cd sub
    run --separate-stderr probelauf init
    [ "$status" -eq 0 ]
    [[ "$stderr" == *"the plan '$BATS_TEST_TMPDIR/probelauf.yaml' no longer holds in this folder"* ]]
    [ -s probelauf.yaml ]
}

@test "init when the disk is full leaves nothing" {
    [ -e /dev/full ] || skip "no /dev/full"
    run bash -c '"$PROBELAUF" init -o - >/dev/full'
    [ "$status" -eq 1 ]
    # a limit on the size of files is a write that fails half way
    run bash -c 'ulimit -f 1; trap "" XFSZ; "$PROBELAUF" init'
    fails 1 output-write
    [ "$(find . -maxdepth 1 -name 'probelauf*' | wc -l)" -eq 0 ]
}

@test "check without a plan, of a named one that is not there, of one named twice" {
    run probelauf check
    fails 1 plan-missing
    run probelauf check nowhere.yaml
    fails 1 plan-unreadable
    run probelauf check --plan nowhere.yaml
    fails 1 plan-unreadable
    plan </dev/null
    run probelauf check --plan probelauf.yaml probelauf.yaml
    fails 2 usage-conflict
    run probelauf check a b
    fails 2 usage-operands
}

@test "the plan is found from a folder below, and not above the home folder" {
    plan <<<"$SETTLED"$'\n''blocks: [{id: a, kind: validate}]'
    mkdir -p deep/er && cd deep/er
    run probelauf check
    [ "$status" -eq 0 ]
    has "$BATS_TEST_TMPDIR/probelauf.yaml"
    has 'no open fact stands in the way'
    HOME=$BATS_TEST_TMPDIR/deep run probelauf check
    fails 1 plan-missing
}

@test "all complaints in one pass, in the order of the file, each with its place" {
    plan <<'PLAN'
blocks:
  - id: a
    kind: comparre
    runs: many
    needs: [b]
    matrix: {keep: [0.5, 0.50]}
    unknown: 1
facts:
  - {id: f, state: known}
PLAN
    run --separate-stderr probelauf check
    [ "$status" -eq 1 ]
    [ -z "$output" ] # nothing is said of a plan that is not what it was meant to be
    run cat <<<"$stderr"
    [[ "${lines[0]}" == "probelauf: error[plan-word]: probelauf.yaml:5:11: "* ]]
    [[ "${lines[1]}" == "probelauf: error[plan-value]: probelauf.yaml:6:11: "* ]]
    [[ "${lines[2]}" == "probelauf: error[plan-reference]: probelauf.yaml:7:13: there is no 'b' under 'blocks'"* ]]
    [[ "${lines[3]}" == "probelauf: warning[plan-spelling]: probelauf.yaml:8:26: "* ]]
    [[ "${lines[4]}" == "probelauf: error[plan-unknown-key]: probelauf.yaml:9:5: unknown key 'unknown'"* ]]
    [[ "${lines[5]}" == "probelauf: error[plan-fact]: probelauf.yaml:11:5: "* ]]
    [[ "${lines[-1]}" == "probelauf: the plan has 8 errors and is not used until they are corrected" ]]
}

@test "tabs, repeated keys and a second document are one line with a place" {
    printf 'probelauf: 1\nstudy:\n\tid: x\n' >tab.yaml
    printf 'probelauf: 1\nprobelauf: 1\n' >twice.yaml
    printf 'probelauf: 1\n---\nprobelauf: 1\n' >second.yaml
    for file in tab:3 twice:2 second:; do
        run --separate-stderr probelauf check -q "${file%:*}.yaml"
        [ "$status" -eq 1 ]
        [ -z "$output" ]
        [ "$(wc -l <<<"$stderr")" -eq 1 ]
        [[ "$stderr" == "probelauf: error[plan-yaml]: ${file%:*}.yaml:${file#*:}"* ]]
    done
}

@test "warnings do not break a plan" {
    plan <<PLAN
blocks:
  - id: a
    kind: compare
    runs: 3
    matrix:
      keep: {values: [0.5, 0.50, {value: 2, state: chosen, supported: no}]}
$SETTLED
PLAN
    COLUMNS=110 run --separate-stderr probelauf check
    [ "$status" -eq 0 ]
    [[ "$stderr" == "probelauf: warning[plan-spelling]: probelauf.yaml:8:28: "* ]]
    has 'a, keep: 2 of 3 values are neither confirmed nor chosen (line 8)'
    has '1 no, 2 open'
    [[ "$output" =~ a\ +compare\ +3\ +9\ +undetermined ]]
}

@test "open facts that stop nothing do not stop check" {
    plan <<<"$SETTLED"$'\n''facts: [{id: f, state: open, question: is it?}]'
    run probelauf check
    [ "$status" -eq 0 ]
    has 'Open facts: 1 of 1'
    has 'f: is it? (line 4)'
}

@test "unsettled data protection stops booking, and says what it asks" {
    plan <<<'blocks: [{id: a, kind: validate}]'
    COLUMNS=160 run probelauf check
    [ "$status" -eq 3 ]
    has 'Open facts: 3 of 3'
    has 'these stop booking:'
    has 'privacy/class: which class are the data: none, personal or sensitive?'
    has "(the plan has no part 'privacy')"
    has 'open facts stand in the way of: booking'
    run probelauf check --json
    [ "$status" -eq 3 ]
    [ "$(json '[(f["id"], f["stops"], f["source"]) for f in d["open_facts"]][1]')" = '["privacy/may_transfer", ["booking"], null]' ]
    [ "$(json 'd["stopped"]')" = '["booking"]' ]
    valid_schema check
    plan <<<'privacy: {class: personal, may_transfer: yes, assessment: theirs, readers: us, retention: a year}'
    COLUMNS=160 run probelauf check
    [ "$status" -eq 3 ]
    has 'Open facts: 2 of 2'
    has 'privacy/storage: where do data and logs lie?'
    has 'privacy/provider_statement: what does the provider state about such data, with its source and date?'
    has '(line 3)'
}

@test "a fact about data protection that is answered says where its answer is entered" {
    plan <<'PLAN'
facts:
  - {id: privacy.transfer, state: known, about: privacy, value: it may, source: the officer, source_kind: other, seen: 2026-11-01}
privacy: {class: none, assessment: words}
PLAN
    COLUMNS=160 run probelauf check
    [ "$status" -eq 3 ]
    has "privacy/may_transfer: the fact 'privacy.transfer' is answered: enter it under privacy: may_transfer (line 5)"
    lacks 'may data and models be moved'
    # the assessment is another question than what the provider states
    sed -i 's/assessment: words/may_transfer: yes/; s/privacy.transfer/privacy.provider/' probelauf.yaml
    COLUMNS=160 run probelauf check
    has "privacy/assessment: what is the team's own assessment?"
}

@test "check begins with what to do next, in words that hold when runs were made" {
    plan <<<"$SETTLED"
    run probelauf check
    [ "$status" -eq 0 ]
    has 'next: write the first block'
    plan <<PLAN
blocks:
  - {id: "first", kind: compare, command: "true {a}", matrix: {a: {values: [x y, 2]}, b: 3}}
  - {id: small, kind: validate}
$SETTLED
PLAN
    run probelauf check
    [ "$status" -eq 0 ]
    [ "${lines[1]}" = '  no open fact stands in the way' ]
    [[ "$(tr -s ' \n' ' ' <<<"$output")" == *'first, if it was not done yet, measure a run: probelauf run --block small -- COMMAND '* ]]
    sed -i '/small/d' probelauf.yaml
    run probelauf check
    [[ "$(tr -s ' \n' ' ' <<<"$output")" == *"measure a run: probelauf run --block first -c 'a=x y' -c b=3 "* ]]
    printf 'facts: [{id: f, state: open, question: q, stops: compare}]\n' >>probelauf.yaml
    run probelauf check
    [ "$status" -eq 3 ]
    [[ "$(head -n 4 <<<"$output")" == *"next: answer the open facts that stop 'compare'"* ]]
}

@test "what is said to have been seen in the future is a warning" {
    plan <<PLAN
facts:
  - {id: f, state: known, value: v, source: s, source_kind: authors, seen: 2199-01-01}
  - {id: g, state: known, value: v, source: s, source_kind: authors, seen: 2026-01-01}
tasks:
  - {id: t, what: w, component: checking, time: 1h, who: Kim, why: once, when: 2199-01-02}
owning: {power: {value: 300 W, source: s, seen: 2199-01-03}}
$SETTLED
PLAN
    run --separate-stderr probelauf check
    [ "$status" -eq 0 ]
    [ "$(grep -c 'warning\[plan-date\]' <<<"$stderr")" -eq 3 ]
    [ "$(wc -l <<<"$stderr")" -eq 3 ]
    [[ "$stderr" == *"warning[plan-date]: probelauf.yaml:4:76: 2199-01-01 is in the future"* ]]
}

@test "tracked data of a block that count as code are a warning" {
    git init -q
    mkdir part
    printf 1 | tee data.txt part/3.txt part/out.csv notes.md loose.txt >/dev/null
    git add data.txt part notes.md
    plan <<PLAN
blocks:
  - {id: a, kind: compare, matrix: {n: [3, 4]}, inputs: [./data.txt, "part/{n}.txt", notes.md, loose.txt, /etc/passwd, ../x]}
  - {id: b, kind: scale, folder: part, inputs: [../data.txt, data.txt], outputs: [out.csv, 3.txt]}
$SETTLED
PLAN
    run --separate-stderr probelauf check
    [ "$status" -eq 0 ]
    echo "$stderr"
    [ "$(wc -l <<<"$stderr")" -eq 3 ]
    [[ "$stderr" == *"warning[plan-code]: probelauf.yaml:4:"*"also data.txt, an input of block 'a'"* ]]
    [[ "$stderr" == *"also part/3.txt, an input of block 'a'"* ]]
    [[ "$stderr" == *"also part/out.csv, an output of block 'b'"* ]]
    printf 'code: {paths: [src]}\n' >>probelauf.yaml
    run --separate-stderr probelauf check
    [ -z "$stderr" ]
    sed -i '/^code/d' probelauf.yaml
    rm -rf .git
    run --separate-stderr probelauf check
    [ -z "$stderr" ]
}

@test "assumptions are checked by what the estimate understands" {
    plan <<'PLAN'
blocks: [{id: a, kind: validate}]
assumptions:
  - {key: a.failure-rate, value: 0.1, who: Kim, when: 2026-11-30, why: last month}
  - {key: a.failurerate, value: 0.1, who: Kim, when: 2026-11-30, why: last month}
  - {key: b.runs, value: 3, who: Kim, when: 2026-11-30, why: last month}
  - {key: a.failure-rate, value: often, who: Kim, when: 2026-11-30, why: last month}
PLAN
    run --separate-stderr probelauf check -q
    [ "$status" -eq 1 ]
    [ "$(grep -c '^probelauf: error\[plan-assumption\]: probelauf.yaml:[678]:5: ' <<<"$stderr")" -eq 3 ]
    [ "$(wc -l <<<"$stderr")" -eq 3 ]
    # what else reads the plan does not read them: only the estimate refuses, by the plan's line
    run --separate-stderr probelauf check
    [[ "$stderr" == *"3 errors; nothing is estimated from it"* ]]
    run --separate-stderr probelauf block list -q
    [ "$status" -eq 0 ]
    run --separate-stderr probelauf estimate -q
    [ "$status" -eq 1 ]
    [[ "$stderr" == *"error[plan-assumption]: probelauf.yaml:6: "* ]]
    sed -i 's/failurerate, value: 0.1/idle, value: 1d 4h/; s/b.runs, value: 3/a.fixing, value: 10 min/; s/often/1/' \
        probelauf.yaml
    run probelauf estimate -q
    [ "$status" -eq 0 ]
}

@test "expressions are checked where they stand" {
    plan <<'PLAN'
phases:
  patterns:
    - {phase: load, regex: "(open"}
    - {phase: load, regex: "^Loading"}
blocks:
  - id: a
    kind: validate
    results:
      - {name: r, file: out.txt, regex: "a{5,2}"}
      - {name: s, file: out.txt, regex: "agreement: ([0-9.]+)"}
PLAN
    run --separate-stderr probelauf check -q
    [ "$status" -eq 1 ]
    [ "$(wc -l <<<"$stderr")" -eq 2 ]
    [[ "$stderr" == "probelauf: error[plan-expression]: probelauf.yaml:5:28: "*"probelauf: error[plan-expression]: probelauf.yaml:11:41: "* ]]
}

@test "check --json: a sound plan" {
    probelauf init -q --title 'A study'
    run --separate-stderr probelauf check --json
    [ "$status" -eq 3 ]
    [ -z "$stderr" ]
    [ "$(json 'd["study"]["title"], d["study"]["scope"], d["study"]["environments"]')" = '["A study", "open", ["target"]]' ]
    [ "$(json 'd["errors"], d["warnings"], d["complaints"]')" = '[0, 0, []]' ]
    [ "$(json '[(b["id"], b["kind"], b["conditions"], b["runs"], b["supported"]["open"]) for b in d["blocks"]]')" = '[["validate", "validate", 1, null, 1]]' ]
    [ "$(json '[f["stops"] for f in d["open_facts"] if f["id"] == "weights.access"]')" = '[["validate", "booking"]]' ]
    # every source is a line of the file, where that fact begins
    line=$(json '[f["source"] for f in d["open_facts"] if f["id"] == "weights.access"][0].split(":")[1]')
    [ "$(sed -n "${line}p" probelauf.yaml)" = '  - id: weights.access' ]
    [ "$(json 'd["stopped"]')" = '["validate", "compare", "scale", "verify", "booking"]' ]
    valid_schema check
}

@test "check --json: a broken plan is a document, too" {
    plan <<'PLAN'
blocks:
  - {id: a, kind: validate, needs: b}
  - {id: c, kind: verify}
PLAN
    run --separate-stderr probelauf check --json
    [ "$status" -eq 1 ]
    [ -z "$stderr" ]
    [ "$(json 'd["errors"], d["warnings"]')" = '[1, 1]' ]
    [ "$(json '[(c["level"], c["id"], c["line"], c["column"]) for c in d["complaints"]]')" = \
        '[["error", "plan-reference", 4, 36], ["warning", "plan-verify", 5, 5]]' ]
    [ "$(json 'd["study"], d["blocks"], d["open_facts"], d["undetermined"], d["stopped"]')" = '[null, null, null, null, null]' ]
    valid_schema check
    : >empty.yaml
    run probelauf check --json empty.yaml
    [ "$status" -eq 1 ]
    [ "$(json '[(c["line"], c["column"]) for c in d["complaints"]]')" = '[[1, 1]]' ]
    valid_schema check
}

@test "check --json: what is undetermined, and the same in every locale" {
    plan <<'PLAN'
facts: [{id: f, state: open, question: wie groß?, stops: scale, environment: e}]
environments: [{id: e}]
blocks:
  - id: a
    kind: scale
    runs: 2
    matrix: {n: {values: [1, {value: 2, state: chosen}, 3]}, m: {values: [x], state: chosen}}
PLAN
    run probelauf check --json
    [ "$status" -eq 3 ]
    [ "$(json 'd["undetermined"]')" = '[{"block": "a", "axis": "n", "values": ["1", "3"], "source": "probelauf.yaml:9"}]' ]
    [ "$(json 'd["blocks"][0]["runs"], d["blocks"][0]["runs_per_condition"]')" = '[6, 2]' ]
    [ "$(json 'd["open_facts"][0]["environment"], d["open_facts"][0]["question"]')" = '["e", "wie gro\u00df?"]' ]
    valid_schema check
    here=$output
    LC_ALL=C LANG=de_DE run probelauf check --json
    [ "$output" = "$here" ]
}

@test "hostile texts of a plan reach no terminal" {
    printf 'probelauf: 1\nstudy: {id: %s, title: "a\\e[31mb"}\nblocks: [{id: a, kind: validate, needs: "\\e[2J"}]\n' "$ID" >probelauf.yaml
    run probelauf check
    [ "$status" -eq 1 ]
    [[ "$output" != *$'\e'* ]]
    printf 'probelauf: 1\n"\033[2J": 1\n' >probelauf.yaml
    run probelauf check
    [ "$status" -eq 1 ]
    [[ "$output" != *$'\e'* ]]
}

@test "check changes nothing" {
    probelauf init -q
    before=$(sha256sum probelauf.yaml; stat -c %Y.%i probelauf.yaml; find . | sort)
    run probelauf check
    [ "$before" = "$(sha256sum probelauf.yaml; stat -c %Y.%i probelauf.yaml; find . | sort)" ]
}
