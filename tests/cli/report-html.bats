#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC2154 # bats sets status, output and lines
# probelauf report --format html: one page that asks for nothing, says all that the Markdown says, and lets no text from
# outside become markup. page.py reads it as a browser without scripts would. How it looks: tests/browser.

load study-common

page() {
    probelauf report --format html -o page.html "$@"
    python "$SOURCE/tests/cli/page.py" page.html
}

@test "a study in each language: well-formed, alone, and as complete as the Markdown" {
    make_study
    study_run 1
    study_run 2
    for language in en de fr ko; do
        probelauf report --lang $language -o report.md
        probelauf report --lang $language --format html -o page.html
        # the time at which it was made differs
        sed -i '/SHA-256/d' report.md
        python "$SOURCE/tests/cli/page.py" page.html report.md
        grep -q "<html lang=\"$language\">" page.html
    done
    grep -q 'Content-Security-Policy' page.html
    grep -q '<figure class="plot intervals">' page.html
    [ "$(grep -c '<article class="run"' page.html)" -eq 2 ]
}

@test "a run has its curves and every figure" {
    probelauf run -q -- "$CHILD" hold 1 2
    page
    grep -q '<figure class="plot timeline">' page.html
    grep -q '<th scope="row">largest process</th><td><span class="mark measured">' page.html
    grep -q '<path class="curve curve-0"' page.html
    # so many runs at most
    probelauf run -q -- true
    page --limit 1
    [ "$(grep -c '<article class="run"' page.html)" -eq 1 ]
    page --limit 0
    [ "$(grep -c '<article class="run"' page.html)" -eq 2 ]
}

@test "texts from outside stay text" {
    local evil=$'<script>alert(1)</script>"\'&\033[31m\u202e\u2066x' long
    long=$(printf 'y%.0s' $(seq 10000))
    probelauf run -q --note "$evil" -c "a<b>=$evil" -- sh -c 'echo "<img src=x onerror=alert(1)>" >&2; exit 3' "$evil" "$long" ||
        [ $? -eq 3 ]
    probelauf annotate @1 --invalid --why "$evil"
    make_study
    python -c 'text = open("probelauf.yaml").read()
text = text.replace("title: sizes", "title: \"<script>x</script> \\u202e & | `b`\"")
text = text.replace("value: in this folder", "value: \"</style><script>y</script>\"")
open("probelauf.yaml", "w").write(text)'
    commit hostile
    study_run 1
    page
    grep -q '&lt;script&gt;x&lt;/script&gt;' page.html
    cd ..
    page
    grep -q '&lt;script&gt;alert(1)&lt;/script&gt;' page.html
    [ "$(wc -c <page.html)" -lt 300000 ]
}

@test "documents for others are pages, too" {
    make_study
    for whom in generic rental neurips; do
        page --for $whom
    done
    run probelauf report --for generic --format csv
    fails 2 usage-conflict
}

@test "an empty ledger is a page that says so; a file appears when it is whole" {
    page
    grep -q 'None was recorded yet' page.html
    run probelauf report --format html -o missing/page.html
    [ "$status" -eq 1 ]
    run -0 probelauf report --format html
    [[ "$output" == "<!DOCTYPE html>"*"</html>" ]]
}
