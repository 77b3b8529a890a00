# SPDX-License-Identifier: GPL-3.0-or-later
# Four languages: which one is spoken, what of it stays English, and that it needs no locale.

load run-common

# The word for an error tells the languages apart.
spoken() {
    case $(env "$@" "$PROBELAUF" zzcommand 2>&1) in
        "probelauf: error["*) echo en ;;
        "probelauf: Fehler["*) echo de ;;
        "probelauf: erreur["*) echo fr ;;
        "probelauf: 오류["*) echo ko ;;
        *) echo '?' ;;
    esac
}

@test "the locale's variables in their order, where its characters are UTF-8" {
    [ "$(spoken LC_ALL=de_DE.UTF-8 LC_MESSAGES=fr_FR.UTF-8 LANG=ko_KR.UTF-8)" = de ]
    [ "$(spoken -u LC_ALL LC_MESSAGES=fr_FR.UTF-8 LANG=ko_KR.UTF-8)" = fr ]
    [ "$(spoken -u LC_ALL LANG=ko_KR.utf8)" = ko ]
    [ "$(spoken LC_ALL= LC_MESSAGES= LANG=de_AT.UTF-8)" = de ]
    [ "$(spoken -u LC_ALL LANG=de_DE)" = en ] # ISO 8859-1
    [ "$(spoken -u LC_ALL LC_CTYPE=C LANG=de_DE.UTF-8)" = en ]
    [ "$(spoken LC_ALL=C LANG=de_DE.UTF-8)" = en ]
    [ "$(spoken LC_ALL=tlh_QO.UTF-8)" = en ]
    [ "$(spoken -u LC_ALL -u LANG)" = en ]
}

@test "who asks for a language gets it, without any locale" {
    local lang
    for lang in en de fr ko; do
        [ "$(spoken LC_ALL=C TERM=dumb PROBELAUF_LANG=$lang)" = $lang ]
        [ "$(spoken -i PROBELAUF_LANG=$lang)" = $lang ]
        [ "$(spoken LC_ALL=de_DE.UTF-8 PROBELAUF_LANG=$lang)" = $lang ]
    done
    mkdir -p "$XDG_CONFIG_HOME/probelauf"
    echo 'lang: fr' >"$XDG_CONFIG_HOME/probelauf/config.yaml"
    run env LC_ALL=C "$PROBELAUF" show
    [[ "$output" == "probelauf: erreur["* ]]
    run env PROBELAUF_LANG=ko "$PROBELAUF" show
    [[ "$output" == "probelauf: 오류["* ]]
    run env PROBELAUF_LANG=ko "$PROBELAUF" show --lang de
    [[ "$output" == "probelauf: Fehler["* ]]
    run env PROBELAUF_LANG=ko "$PROBELAUF" show --lang en
    [[ "$output" == "probelauf: error["* ]]
}

@test "every command takes --lang, and an unknown one is refused with the one that may be meant" {
    local command
    for command in $(probelauf help | sed -n 's/^  \([a-z]*\)  *[A-Z].*/\1/p'); do
        run probelauf "$command" --lang german
        [[ "$output" == "probelauf: error[usage-bad-value]: option '--lang' does not take 'german'; did you mean 'de'? "* ]]
        run probelauf "$command" --lang ko --help
        [ "$status" -eq 0 ]
        [[ "${lines[0]}" == "예:" ]]
    done
    run probelauf config --lang tlh
    fails 2 usage-bad-value
    [[ "$output" == *"'tlh', but: en, de, fr, ko"* ]]
    run env PROBELAUF_LANG=tlh "$PROBELAUF" show
    fails 1 variable-bad-value
    mkdir -p "$XDG_CONFIG_HOME/probelauf"
    echo 'lang: tlh' >"$XDG_CONFIG_HOME/probelauf/config.yaml"
    run probelauf show
    fails 1 config-bad-value
}

@test "help and errors in each language are what they were" {
    local lang
    for lang in en de fr ko; do
        {
            probelauf help show --lang $lang
            probelauf show --lang $lang --columns || true
            PROBELAUF_LANG=$lang probelauf shwo || true
            probelauf run --lang $lang --max-time soon -- true || true
        } >said 2>&1
        golden="$BATS_TEST_DIRNAME/golden/language-$lang.txt"
        if [ -n "${GOLDEN_WRITE-}" ]; then
            cp said "$golden"
        fi
        diff "$golden" said
    done
}

@test "numbers and dates follow the language, JSON and status lines do not" {
    probelauf run -q -- sleep 0.2
    run probelauf show --lang de
    [[ "$output" =~ [0-9]{2}\.[0-9]{2}\.[0-9]{4}\ [0-9:]{8} ]]
    [[ "$output" =~ [0-9],[0-9]+\ MiB ]]
    run probelauf show --lang fr
    [[ "$output" =~ [0-9]{2}/[0-9]{2}/[0-9]{4}\ [0-9:]{8} ]]
    run probelauf show --lang ko
    [[ "$output" =~ [0-9]{4}\.\ [0-9]{2}\.\ [0-9]{2}\.\ [0-9:]{8} ]]
    [[ "$output" =~ [0-9]\.[0-9]+\ MiB ]]
    probelauf show --json >en.json
    for lang in de fr ko; do
        PROBELAUF_LANG=$lang probelauf show --json >other.json
        cmp en.json other.json
    done
}

@test "a run in another language is recorded as in English" {
    for lang in de fr ko; do
        PROBELAUF_LANG=$lang run -3 probelauf run -- sh -c 'echo "ModuleNotFoundError: No module named x" >&2; exit 3'
    done
    probelauf export journal --all --text >all.txt
    [ -z "$(LC_ALL=C grep -nP '[^\x20-\x7e\t]' all.txt)" ]
}

@test "Korean takes two columns a syllable, and no line is wider than the page" {
    probelauf run -q -- true
    for columns in 60 80 100; do
        for command in "help run" "show" "log" "help estimate"; do
            COLUMNS=$columns PROBELAUF_LANG=ko probelauf $command >page
            python3 - $columns page <<'PY'
import sys, unicodedata
width, page = int(sys.argv[1]), open(sys.argv[2], encoding="utf-8").read()
for line in page.split("\n"):
    wide = sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)
    # a command of an example or of the usage is one piece that is not broken
    if wide > width and "probelauf " not in line and not line.lstrip().startswith("-"):
        sys.exit("%d columns: %s" % (wide, line))
PY
        done
    done
}
