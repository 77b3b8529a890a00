#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# The guide is run as it stands (guide.py), and translations of guide and README follow the English text.
# shellcheck shell=bash disable=SC2154 # bats sets status, output and lines

load common

@test "docs/guide.md: every command is run in order, and what is shown comes" {
    /usr/bin/python3 -c 'import torch' 2>/dev/null || skip "no PyTorch (python3-torch)"
    command -v git >/dev/null || skip "no git"
    mkdir walk
    run /usr/bin/python3 "$SOURCE/tests/cli/guide.py" run "$SOURCE/docs/guide.md" "$PWD/walk"
    [ "$status" -eq 0 ] || { echo "$output" && false; }
    # from open facts and a cautious verdict to a decision
    has "ended: check 3, decide 4, check 3, check 0, decide 0"
    # what is handed over is there, in the language that was asked for
    cd walk/home/mini
    grep -q "<!DOCTYPE html>" report.html
    grep -q "^# " report.md
    grep -q "Does half of the cache do?" justification.md
    grep -q "gemessen" bericht.md
}

@test "guide.py: a command that fails and a line that does not come are found" {
    printf '```sh run\nprobelauf --version\nprobelauf nothing\n```\n' >bad.md
    mkdir one two
    run -1 /usr/bin/python3 "$SOURCE/tests/cli/guide.py" run bad.md "$PWD/one"
    has "bad.md:1: the block ends with 2"
    printf '```sh run\nprobelauf help run\n```\n```text\nUsage: probelauf walk\n```\n' >wrong.md
    run -1 /usr/bin/python3 "$SOURCE/tests/cli/guide.py" run wrong.md "$PWD/two"
    has "does not come any more: Usage: probelauf walk"
}

@test "guide.py: a translation that differs in code, headings or tables is found" {
    printf '# A\n\n```sh\none\n```\n\n| a | b |\n' >en.md
    printf '# Das\n\n```sh\none\n```\n\n| ä | ö |\n' >de.md
    /usr/bin/python3 "$SOURCE/tests/cli/guide.py" same en.md de.md
    for change in 's/one/two/' 's/^# /## /' 's/ | ö//' 's/ö/`x`/' 's/ö/[x](y.md)/'; do
        sed "$change" de.md >other.md
        run -1 /usr/bin/python3 "$SOURCE/tests/cli/guide.py" same en.md other.md
    done
}

@test "README and guide: the translations have what the English text has" {
    cd "$SOURCE"
    run -0 /usr/bin/python3 tests/cli/guide.py same README.md README.de.md README.fr.md README.ko.md
    run -0 /usr/bin/python3 tests/cli/guide.py same docs/guide.md docs/de/guide.md docs/fr/guide.md docs/ko/guide.md
}
