#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# forecast-replay on small records written here: what it writes, that a seed decides all of it, and that nothing is read
# that a forecast could not know: later runs of the target, other sources, records of the same repository in the class.
# shellcheck shell=bash disable=SC2154 # bats sets status, output and lines

bats_require_minimum_version 1.5.0

: "${FORECAST_REPLAY:?set FORECAST_REPLAY to the built program}"

HEADER=source,group,run_index,seconds,outcome,size,peak_gpu_mem_mib,notes,family

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    mkdir history target nothing
    records s 20 1 >history/s.csv
    records s 6 2 >target/s.csv
}

# SOURCE GROUPS SEED: five good runs each and a failed attempt before the third; spreads differ by family.
records() {
    awk -v header=$HEADER -v source="$1" -v groups="$2" -v seed="$3" 'BEGIN {
        srand(seed)
        print header
        for (g = 0; g < groups; g++)
            for (run = 0; run < 6; run++)
                printf "%s,%d-%02d,%d,%s,%s,,,,f%d\n", source, seed, g, run,
                    run == 2 ? "" : (10 + g) * (1 + (0.01 + 0.05 * (g % 3)) * (rand() - 0.5)), run == 2 ? "fail" : "ok", g % 3
    }'
}

# The target with two good runs each: k = 1 only, and quickly.
two_runs() {
    mkdir two
    awk -F, 'NR == 1 || $3 < 2' target/s.csv >two/s.csv
}

replay() { # HISTORY TARGET [OPTION…]
    "$FORECAST_REPLAY" --history "$1" --target "$2" "${@:3}"
}

# EXPRESSION over `rows`: the lines of FILE as dicts with numbers
rows() { # FILE EXPRESSION
    /usr/bin/python3 - "$1" <<PYTHON
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
for row in rows:
    for key in row:
        if key not in ("source", "group", "matrix"):
            row[key] = float(row[key]) if row[key] else None
sys.exit(not ($2))
PYTHON
}

@test "one line for each group and k, in seconds of all later runs together" {
    # of one good run nothing is left to score; of two only k = 1
    printf 's,one,0,50,ok,,,,f0\ns,two,0,60,ok,,,,f0\ns,two,1,61,ok,,,,f0\n' >>target/s.csv
    replay history target >out.csv
    [ "$(head -1 out.csv)" = source,group,k,pred,lo,hi ]
    rows out.csv "[(r['group'], r['k']) for r in rows] == [('2-%02d' % g, k) for g in range(6) for k in (1, 2, 3)] + [('two', 1)]"
    rows out.csv "all(r['source'] == 's' and 0 < r['lo'] < r['pred'] < r['hi'] for r in rows)"
    rows out.csv "all(0.8 < r['pred'] / ((10 + int(r['group'][2:])) * (5 - r['k'])) < 1.2 for r in rows[:-1])"
    rows out.csv "50 < rows[-1]['pred'] < 70"
    # where in the forecast the outcome fell: 1 above all of it, 0 below
    sed -i 's/^s,two,1,61,/s,two,1,600,/' target/s.csv
    printf 's,three,0,60,ok,,,,f0\ns,three,1,6,ok,,,,f0\n' >>target/s.csv
    replay history target --places places.csv >again.csv
    cmp out.csv <(grep -v three again.csv)
    rows places.csv "len(rows) == 20 and all(0 < r['place'] < 1 for r in rows[:-2])"
    rows places.csv "[(r['group'], r['place']) for r in rows[-2:]] == [('three', 0), ('two', 1)]"
}

@test "the same input and seed give the same bytes; the seed is that of the matrices" {
    two_runs
    replay history two --matrices a.csv >1.csv
    replay history two --matrices b.csv >2.csv
    cmp 1.csv 2.csv
    cmp a.csv b.csv
    replay history two --matrices c.csv --seed 5 >3.csv
    cmp 1.csv 3.csv
    run ! cmp -s a.csv c.csv
}

@test "no look-ahead: the later runs of a target group change nothing" {
    replay history target >1.csv
    # the good runs are numbers 0 1 3 4 5: all behind the third one ten times as long
    awk -F, -v OFS=, 'NR > 1 && $3 > 3 { $4 = 10 * $4 } { print }' target/s.csv >x && mv x target/s.csv
    replay history target >2.csv
    cmp 1.csv 2.csv
    # those behind the first one: k = 1 stays, k = 2 and 3 do not
    awk -F, -v OFS=, 'NR > 1 && $3 > 0 && $4 != "" { $4 = 10 * $4 } { print }' target/s.csv >x && mv x target/s.csv
    replay history target >3.csv
    cmp <(grep -E ',1(,[^,]*){3}$' 1.csv) <(grep -E ',1(,[^,]*){3}$' 3.csv)
    run ! cmp -s 2.csv 3.csv
}

@test "the history of the same source decides the width; that of others is not used" {
    replay history target >1.csv
    records t 30 3 >history/t.csv
    records t 4 4 >target/t.csv
    replay history target >2.csv
    cmp 1.csv <(grep -v '^t,' 2.csv)
    # a history that varies ten times as much: wider intervals
    awk -F, -v OFS=, 'NR > 1 && $4 != "" { m = 10 + substr($2, 3); $4 = m * (1 + 5 * ($4 / m - 1)) } { print }' \
        history/s.csv >x && mv x history/s.csv
    replay history target >3.csv
    paste -d, 1.csv <(grep -v '^t,' 3.csv) >both.csv
    awk -F, 'NR > 1 && $3 == 1 { n++; wider += $12 / $11 > $6 / $5 } END { exit !(n == 6 && wider == 6) }' both.csv
}

@test "a source without history is forecast from the reference class, without its own records" {
    replay nothing target >1.csv
    rows 1.csv "len(rows) == 18 and all(r['lo'] < r['pred'] < r['hi'] for r in rows)"
    # other history is none for it
    mkdir other
    records t 30 3 >other/t.csv
    replay other target >2.csv
    cmp 1.csv 2.csv
    # the same times under the name of a source that is in the class: its records are left out, and the widths change
    sed '2,$s/^s,/llama_bench,/' target/s.csv >nothing/llama_bench.csv
    mkdir named && mv nothing/llama_bench.csv named/
    replay nothing named | sed 's/^llama_bench,/s,/' >3.csv
    run ! cmp -s 1.csv 3.csv
}

@test "matrices: 100 for each k, their totals and intervals" {
    replay history target --matrices m.csv >out.csv
    [ "$(head -1 m.csv)" = source,matrix,k,conditions,pred,lo,hi ]
    rows m.csv "[sum(r['k'] == k for r in rows) for k in (1, 2, 3)] == [100] * 3"
    rows m.csv "all(4 <= r['conditions'] <= 6 and 0 < r['lo'] < r['pred'] < r['hi'] for r in rows)"
    # later runs change nothing here either
    two_runs
    replay history two --matrices 1.csv >out.csv
    awk -F, -v OFS=, 'NR > 1 && $3 > 0 { $4 = 10 * $4 } { print }' two/s.csv >x && mv x two/s.csv
    replay history two --matrices 2.csv >out.csv
    [ "$(wc -l <1.csv)" -eq 101 ]
    cmp 1.csv 2.csv
}

@test "what cannot be used ends with 2 and one line" {
    refused() {
        run --separate-stderr "$FORECAST_REPLAY" "$@"
        [ "$status" -eq 2 ]
        [ "${#stderr_lines[@]}" -eq 1 ]
    }
    refused
    refused --history history
    refused --history history --target target --seed many
    refused --history nowhere --target target
    sed -i '2s/,ok,/,fine,/' target/s.csv
    refused --history history --target target
    [[ $stderr == *"s.csv:2"* ]]
}
