# bash completion for probelauf; written by 'probelauf completion bash'. Do not edit.
# shellcheck shell=bash

_probelauf_words() {
    mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2")
}

_probelauf_files() {
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$1")
}

# Behind `run` and its options stands somebody else's command: complete as that one.
_probelauf_other_command() {
    if declare -F _command_offset >/dev/null; then
        _command_offset "$1"
    elif [ "$COMP_CWORD" -eq "$1" ]; then
        mapfile -t COMPREPLY < <(compgen -c -- "$2")
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$2")
    fi
}

_probelauf_commands='init doctor check run mark log show compare annotate explain estimate next decide block session report review import export ledger config completion help'

_probelauf_takes_value() {
    case $1 in
    --attach|--condition|-c|--block|--env|--step|--purpose|--phase|--pattern|--ready|--gpu|--max-time|--max-cost|--offer|--grace|--linger|--retry|--input|--output|--expect|--note|--change|--tee|--ledger|--journal-dir|--plan|--lang|--color) return 0 ;;
    esac
    return 1
}

_probelauf() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
    local command=${COMP_WORDS[1]} verb=${COMP_WORDS[2]} at
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        _probelauf_words "$_probelauf_commands --version --help" "$cur"
        return
    fi
    if [ "$command" = run ]; then
        for ((at = 2; at < COMP_CWORD; at++)); do
            case ${COMP_WORDS[at]} in
            --)
                _probelauf_other_command $((at + 1)) "$cur"
                return
                ;;
            -*)
                if _probelauf_takes_value "${COMP_WORDS[at]}"; then
                    at=$((at + 1))
                    if [ "${COMP_WORDS[at]}" = '=' ]; then at=$((at + 1)); fi
                fi
                ;;
            *)
                _probelauf_other_command "$at" "$cur"
                return
                ;;
            esac
        done
    fi
    # bash splits --name=value at '='
    if [ "$cur" = '=' ]; then
        cur=''
    elif [ "$prev" = '=' ]; then
        prev=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    case $command:$prev in
    init:--paper) _probelauf_words "fast-kvzip linearard adkv list" "$cur"; return ;;
    init:--output|init:-o) _probelauf_files "$cur"; return ;;
    init:--title) return ;;
    doctor:--env|doctor:--repo|doctor:--only|doctor:--weights) return ;;
    run:--purpose) _probelauf_words "trial function-test work" "$cur"; return ;;
    run:--phase) _probelauf_words "setup transfer data load preprocess compute write evaluate fix teardown" "$cur"; return ;;
    run:--input) _probelauf_files "$cur"; return ;;
    run:--output) _probelauf_files "$cur"; return ;;
    run:--tee) _probelauf_words "auto none" "$cur"; return ;;
    run:--attach|run:--condition|run:-c|run:--block|run:--env|run:--step|run:--pattern|run:--ready|run:--gpu|run:--max-time|run:--max-cost|run:--offer|run:--grace|run:--linger|run:--retry|run:--expect|run:--note|run:--change) return ;;
    mark:--items|mark:--length|mark:--batch|mark:--shape|mark:--result|mark:--note) return ;;
    log:--outcome) _probelauf_words "running ok failed start_failed gpu_oom host_oom shm_exhausted disk_full access_denied dependency gpu_fault budget interrupted killed preempted ended lost" "$cur"; return ;;
    log:--purpose) _probelauf_words "trial function-test work" "$cur"; return ;;
    log:--limit|log:--after|log:--since|log:--text|log:--session) return ;;
    annotate:--why|annotate:--change|annotate:--disposition|annotate:--note) return ;;
    estimate:--assume-class) _probelauf_words "training-steps training-goal inference command any list" "$cur"; return ;;
    estimate:--repeat|estimate:--env|estimate:--offer|estimate:--set|estimate:--freeze|estimate:--compare|estimate:--seed) return ;;
    next:--env|next:--within|next:--limit|next:--seed) return ;;
    decide:--env|decide:--keep) return ;;
    block:--env|block:--lanes|block:--gpus|block:--retry|block:--max-time|block:--max-cost|block:--offer|block:--why) return ;;
    session:--reason) _probelauf_words "unknown approval decision correction data-missing file-missing waiting-for-authors manual-action preparing-next failure-handling" "$cur"; return ;;
    session:--offer|session:--env|session:--gpus|session:--note|session:--began|session:--at|session:--gap|session:--from|session:--to|session:--session|session:--after|session:--every|session:--exec|session:--limit|session:--behind) return ;;
    report:--format) _probelauf_words "markdown json csv" "$cur"; return ;;
    report:--for) _probelauf_words "generic rental neurips nairr access cscs genci nhr" "$cur"; return ;;
    report:--output|report:-o) _probelauf_files "$cur"; return ;;
    report:--env|report:--limit) return ;;
    review:--format) _probelauf_words "csv markdown" "$cur"; return ;;
    review:--output|review:-o) _probelauf_files "$cur"; return ;;
    review:--estimate|review:--env|review:--part|review:--cause|review:--why) return ;;
    export:--output|export:-o) _probelauf_files "$cur"; return ;;
    ledger:--older-than|ledger:--study) return ;;
    *:--journal-dir) _probelauf_files "$cur"; return ;;
    *:--lang) _probelauf_words "en de fr ko" "$cur"; return ;;
    *:--color) _probelauf_words "auto always never" "$cur"; return ;;
    *:--ledger) return ;;
    esac
    if [[ $cur == -* ]]; then
        case $command in
        init) _probelauf_words "--title --paper --output --plan --lang --color --quiet --verbose --help" "$cur" ;;
        doctor) _probelauf_words "--env --repo --only --weights --snippet --ledger --journal-dir --plan --json --lang --color --quiet --verbose --help" "$cur" ;;
        check) _probelauf_words "--plan --json --lang --color --quiet --verbose --help" "$cur" ;;
        run) _probelauf_words "--attach --condition --block --env --step --purpose --phase --pattern --ready --gpu --max-time --max-cost --offer --grace --linger --retry --input --output --expect --note --change --tee --ledger --journal-dir --plan --lang --color --quiet --verbose --help" "$cur" ;;
        mark) _probelauf_words "--end --items --length --batch --shape --result --note --lang --quiet --help" "$cur" ;;
        log) _probelauf_words "--limit --after --outcome --purpose --since --text --session --ledger --journal-dir --json --lang --color --quiet --verbose --help" "$cur" ;;
        show) _probelauf_words "--ledger --journal-dir --json --lang --color --quiet --verbose --help" "$cur" ;;
        compare) _probelauf_words "--ledger --journal-dir --json --lang --color --quiet --verbose --help" "$cur" ;;
        annotate) _probelauf_words "--invalid --valid --why --change --disposition --note --ledger --journal-dir --plan --lang --color --quiet --verbose --help" "$cur" ;;
        explain) _probelauf_words "--ledger --journal-dir --json --lang --color --quiet --verbose --help" "$cur" ;;
        estimate) _probelauf_words "--repeat --env --offer --set --freeze --compare --assume-class --studies --seed --ledger --journal-dir --plan --json --lang --color --quiet --verbose --help" "$cur" ;;
        next) _probelauf_words "--env --within --limit --seed --ledger --journal-dir --plan --json --lang --color --quiet --verbose --help" "$cur" ;;
        decide) _probelauf_words "--env --keep --ledger --journal-dir --plan --json --lang --color --quiet --verbose --help" "$cur" ;;
        block) _probelauf_words "--env --lanes --gpus --retry --max-time --max-cost --offer --dry-run --why --ledger --journal-dir --plan --json --lang --color --quiet --verbose --help" "$cur" ;;
        session) _probelauf_words "--offer --env --gpus --note --began --at --again --reason --gap --from --to --session --after --every --exec --limit --behind --ledger --journal-dir --plan --json --lang --color --quiet --verbose --help" "$cur" ;;
        report) _probelauf_words "--format --for --output --env --limit --ledger --journal-dir --plan --json --lang --color --quiet --verbose --help" "$cur" ;;
        review) _probelauf_words "--estimate --env --part --cause --why --log --format --output --ledger --journal-dir --plan --json --lang --color --quiet --verbose --help" "$cur" ;;
        import) _probelauf_words "--ledger --journal-dir --lang --color --quiet --verbose --help" "$cur" ;;
        export) _probelauf_words "--all --text --output --ledger --journal-dir --lang --color --quiet --verbose --help" "$cur" ;;
        ledger) _probelauf_words "--older-than --study --yes --ledger --journal-dir --json --lang --color --quiet --verbose --help" "$cur" ;;
        config) _probelauf_words "--show-origin --ledger --journal-dir --json --lang --color --quiet --verbose --help" "$cur" ;;
        completion) _probelauf_words "--lang --quiet --help" "$cur" ;;
        help) _probelauf_words "--lang --quiet --help" "$cur" ;;
        esac
        return
    fi
    [ "$COMP_CWORD" -gt 2 ] || verb=''
    case $command:$verb in
    init:*) _probelauf_words "" "$cur" ;;
    doctor:*) _probelauf_words "" "$cur" ;;
    check:*) _probelauf_files "$cur" ;;
        run:*) _probelauf_other_command "$COMP_CWORD" "$cur" ;;
    mark:*) _probelauf_words "setup transfer data load preprocess compute write evaluate fix teardown" "$cur" ;;
    log:*) _probelauf_words "" "$cur" ;;
    show:*) _probelauf_words "@1 @2 @3 @4 @5" "$cur" ;;
    compare:*) _probelauf_words "@1 @2 @3 @4 @5" "$cur" ;;
    annotate:*) _probelauf_words "@1 @2 @3 @4 @5" "$cur" ;;
    explain:*) _probelauf_files "$cur" ;;
    estimate:*) _probelauf_words "@1 @2 @3 @4 @5" "$cur" ;;
    next:*) _probelauf_words "" "$cur" ;;
    decide:*) _probelauf_words "" "$cur" ;;
    block:list) _probelauf_words "" "$cur" ;;
    block:freeze) _probelauf_words "" "$cur" ;;
    block:run) _probelauf_words "" "$cur" ;;
    block:gate) _probelauf_words "" "$cur" ;;
    block:*) _probelauf_words "list freeze run gate" "$cur" ;;
    session:start) _probelauf_words "" "$cur" ;;
    session:stop) _probelauf_words "" "$cur" ;;
    session:status) _probelauf_words "" "$cur" ;;
    session:note) _probelauf_words "" "$cur" ;;
    session:watch) _probelauf_words "" "$cur" ;;
    session:list) _probelauf_words "" "$cur" ;;
    session:*) _probelauf_words "start stop status note watch list" "$cur" ;;
    report:*) _probelauf_words "" "$cur" ;;
    review:*) _probelauf_words "" "$cur" ;;
    import:journal) _probelauf_files "$cur" ;;
    import:*) _probelauf_words "journal" "$cur" ;;
    export:journal) _probelauf_words "@1 @2 @3 @4 @5" "$cur" ;;
    export:json) _probelauf_words "@1 @2 @3 @4 @5" "$cur" ;;
    export:csv) _probelauf_words "@1 @2 @3 @4 @5" "$cur" ;;
    export:*) _probelauf_words "journal json csv" "$cur" ;;
    ledger:info) _probelauf_words "" "$cur" ;;
    ledger:check) _probelauf_words "" "$cur" ;;
    ledger:rebuild) _probelauf_words "" "$cur" ;;
    ledger:purge) _probelauf_words "@1 @2 @3 @4 @5" "$cur" ;;
    ledger:*) _probelauf_words "info check rebuild purge" "$cur" ;;
    config:*) _probelauf_words "" "$cur" ;;
    completion:bash) _probelauf_words "" "$cur" ;;
    completion:*) _probelauf_words "bash" "$cur" ;;
    help:*) _probelauf_words "init doctor check run mark log show compare annotate explain estimate next decide block session report review import export ledger config completion help" "$cur" ;;
    esac
}

complete -F _probelauf probelauf
