#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# forecast-score on small records written here: what it refuses and where, that a baseline scores the same whether it is
# computed or read, the two directions of a split, missing forecasts, --check.
# shellcheck shell=bash disable=SC2154 # bats sets status, output and lines

bats_require_minimum_version 1.5.0

: "${FORECAST_SCORE:?set FORECAST_SCORE to the built program}"

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    mkdir data
    records s 48 >data/s.csv
    records t 44 >data/t.csv
}

# SOURCE GROUPS: five ok runs each, spread differently by family, and a failed attempt.
records() {
    awk -v source="$1" -v groups="$2" 'BEGIN {
        srand(7)
        print "source,group,run_index,seconds,outcome,size,peak_gpu_mem_mib,notes,family"
        for (g = 0; g < groups; g++)
            for (run = 0; run < 6; run++)
                printf "%s,g %02d,%d,%s,%s,,,,f%d\n", source, g, run,
                    run == 2 ? "" : (10 + g) * (1 + (0.01 + 0.05 * (g % 3)) * (rand() - 0.5)), run == 2 ? "fail" : "ok", g % 3
    }'
}

score() {
    "$FORECAST_SCORE" "$@"
}

# Ends with 2 and one line that has the text.
refused() {
    [ "$status" -eq 2 ]
    [ "${#lines[@]}" -eq 1 ]
    [[ $output == "forecast-score: error["*"]: "*"$1"* ]]
}

halves() {
    score --target data --split a --split b
    parts=(--target a --history b --target b --history a)
}

forecasts_of() { # BASELINE MATRIX-BASELINE
    score --write-baseline "$1" --target a --history b >a.csv
    score --write-baseline "$1" --target b --history a >b.csv
    score --write-baseline "$2" --target a --history b >a.m.csv
    score --write-baseline "$2" --target b --history a >b.m.csv
    parts=(--target a --history b --matrices a.m.csv a.csv --target b --history a --matrices b.m.csv b.csv)
}

json() {
    /usr/bin/python3 -c 'import json, sys
d = json.load(sys.stdin)
sys.exit(not ('"$1"'))' <<<"$output"
}

@test "the halves are all records, each once, and the same for a seed" {
    halves
    tail -qn +2 data/*.csv | sort >all
    tail -qn +2 a/*.csv b/*.csv | sort | cmp - all
    [ "$(cut -d, -f1,2 a/s.csv | sort -u | wc -l)" -eq 25 ] # and the header
    score --target data --split a2 --split b2
    cmp a/s.csv a2/s.csv
    score --target data --split a3 --split b3 --seed 5
    run ! cmp -s a/s.csv a3/s.csv
    run score --target data --split a --split other
    refused "cannot make the folder 'a'"
}

@test "a baseline scores the same whether it is computed or read" {
    halves
    for name in pooled-empirical shrunk-family t-interval; do
        forecasts_of $name quadrature
        run score "${parts[@]}" --json --min-groups 40
        [ "$status" -eq 0 ]
        json "all(c['methods'].get('forecast') == c['methods'].get('$name') for c in d['cells']) and len(d['cells']) == 6"
        json "all(c['methods']['forecast'] == c['methods']['quadrature'] for c in d['matrices']) and len(d['matrices']) == 6"
        json "d['missing'] == ($([ $name = t-interval ] && echo 92 || echo 0)) and d['missing_matrices'] == 0"
    done
    # k = 1 has no t-interval
    json "'forecast' not in d['cells'][0]['methods'] and d['cells'][1]['methods']['forecast']['no_interval'] == 0"
}

@test "both directions are one cell" {
    halves
    run score "${parts[@]}" --json --min-groups 45
    json "[c['cases'] for c in d['cells']] == [48] * 3 + [44] * 3"
    json "all(s['sources'] == 1 for s in d['summary']) and len(d['summary']) == 28" # t and lognormal not at k = 1
    json "d['verdicts'] == [] and 'missing' not in d"
}

@test "what is missing or has no interval is scored at the largest, counted and shown" {
    halves
    forecasts_of pooled-empirical plain-sum
    sed -i '/^s,.*,1,/{s/^\(.*\),[^,]*,[^,]*$/\1,,/}' a.csv
    sed -i '/^s,.*,2,/d' a.csv
    run score "${parts[@]}" --json --min-groups 40
    json "d['missing'] == 24"
    json "[c['methods']['forecast']['no_interval'] for c in d['cells']] == [24, 24, 0, 0, 0, 0]"
    json "all(c['methods']['forecast']['score'] > 10 and c['methods']['forecast']['coverage'] <= 0.5 for c in d['cells'][:2])"
    json "[v['ok'] for v in d['verdicts'] if v['text'] == 'groups without a forecast'] == [False]"
}

@test "--check fails where a demand is not met, and needs forecasts" {
    halves
    forecasts_of pooled-empirical plain-sum
    run score "${parts[@]}" --check --min-groups 40
    [ "$status" -eq 1 ]
    [[ $output == *"not ok (0 to 0.85): k=1: interval score to that of the best baseline"* ]]
    # exact forecasts, nine of ten intervals hold
    for half in a b; do
        /usr/bin/python3 - $half >$half.csv <<'PYTHON'
import csv, glob, sys
print("source,group,k,pred,lo,hi")
number = 0
for name in sorted(glob.glob(sys.argv[1] + "/*.csv")):
    groups = {}
    for row in csv.DictReader(open(name)):
        if row["outcome"] == "ok":
            groups.setdefault((row["source"], row["group"]), []).append(float(row["seconds"]))
    for k in 1, 2, 3:
        for key, runs in groups.items():
            number += 1
            total = sum(runs[k:])
            print("%s,%s,%d,%.17g,%.17g,%.17g" % (*key, k, total, total * (1 + 1e-6 if number % 10 == 0 else 0.9999), total * 1.0001))
PYTHON
    done
    run score --target a --history b a.csv --target b --history a b.csv --check --min-groups 40
    [ "$status" -eq 0 ]
    [[ $output != *"not ok"* ]]
    run score --target a --check
    refused "--check needs PREDICTIONS"
}

@test "forecasts that cannot be: file, line, column" {
    local header=source,group,k,pred,lo,hi
    bad() { # ROW PLACE WHY
        printf '%s\ns,g 01,1,40,30,50\n%s\n' "$header" "$1" >p.csv
        run score --target data p.csv
        refused "p.csv:$2: $3"
    }
    bad "x,g 01,1,1,1,1" 3:1 "the target has no such source, found 'x'"
    bad "s,g 99,1,1,1,1" 3:3 "the target has no such group"
    bad "s,g 01,0,1,1,1" 3:8 "expected a whole number from 1 to 3"
    bad "s,g 01,4,1,1,1" 3:8 "expected a whole number from 1 to 3"
    printf '%s\nu,g,0,1,ok,,,,f\nu,g,1,1,ok,,,,f\n' "$(head -1 data/s.csv)" >data/u.csv
    bad "u,g,2,1,1,1" 3:5 "the group has no ok run behind its first k"
    bad "s,g 01,2,,1,1" 3:10 "expected a number"
    bad "s,g 01,2,inf,1,1" 3:10 "expected a number"
    bad "s,g 01,2,1,-1,1" 3:12 "expected a number"
    bad "s,g 01,2,1,1," 3:14 "expected lo and hi, or none"
    bad "s,g 01,2,1,2,1" 3:14 "expected hi, not below lo"
    bad "s,g 01,1,1,1,2" 3:1 "forecast before, in line 2"
    bad "s,g 01,1" 3:9 "fewer fields"
    printf 'group,k\n' >p.csv
    run score --target data p.csv
    refused "p.csv:1:1: the header must be 'source,group,k,pred,lo,hi'"
    run score --target data missing.csv
    refused "cannot read 'missing.csv'"
    run score --target nowhere
    refused "cannot read the folder 'nowhere'"
}

@test "matrices are those of their seed" {
    halves
    score --write-baseline plain-sum --target a --history b --seed 5 >m.csv
    score --write-baseline mean --target a >p.csv
    run score --target a --history b --matrices m.csv p.csv --json
    json "d['missing_matrices'] == 0 and all(c['methods']['forecast'] == c['methods']['plain-sum'] for c in d['matrices'])"
    bad() { # SED PLACE WHY
        sed "$1" m.csv >bad.csv
        run score --target a --history b --matrices bad.csv p.csv
        refused "bad.csv:$2: $3"
    }
    bad '2s/^s,5-0,1,[0-9]*/s,5-0,1,9/' 2:9 "expected a whole number from 4 to 8"
    bad '2s/^s,5-0,1,\([4-7]\)/s,5-0,1,8/; 2s/^s,5-0,1,8/s,5-0,1,4/' 2:9 "the matrix has another number of conditions"
    bad '3s/5-1/6-1/' 3:3 "another seed"
    bad '3s/5-1/5-100/' 3:3 "expected SEED-NUMBER"
    bad 2p 3:1 "forecast before, in line 2"
}

@test "options that do not go together" {
    run score
    refused "--target DIR is needed"
    run score --history data --target data
    refused "--target must come first"
    run score --target data --split a
    refused "--split twice"
    run score --target data --write-baseline oracle
    refused "no such baseline"
    run score --target data one.csv two.csv
    refused "one PREDICTIONS"
    run score --target data --seed many
    refused "whole number"
    run score --target data --nonsense
    refused "unknown option"
}
