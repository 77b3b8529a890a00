# bash completion for probelauf; 'probelauf completion bash' prints it.
# shellcheck shell=bash
#
# What may stand next is asked of the program itself (docs/completion.md).

# Behind `run` and its options stands somebody else's command: complete as that one.
_probelauf_other_command() {
    if declare -F _command_offset >/dev/null; then
        _command_offset "$1"
    elif [ "$COMP_CWORD" -eq "$1" ]; then
        mapfile -t COMPREPLY < <(compgen -c -- "$2")
    else
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$2")
    fi
}

# bash takes words apart at '=', ':' and '@': pieces that touch in the line are one word. Fills `words` with what stands
# behind the program's name, and `places` with the piece that each of them begins with.
_probelauf_join_words() {
    local line=${COMP_LINE:0:COMP_POINT} at piece
    words=() places=()
    for ((at = 0; at <= COMP_CWORD; at++)); do
        piece=${COMP_WORDS[at]}
        if [ "$at" -le 1 ] || [[ $line == [[:space:]]* ]] || [ -z "$line" ]; then
            words+=("") places+=("$at")
            line=${line#"${line%%[![:space:]]*}"}
        fi
        [ "$at" -lt "$COMP_CWORD" ] || [ "${#line}" -ge "${#piece}" ] || piece=$line
        words[-1]+=$piece
        line=${line:${#piece}}
    done
    words=("${words[@]:1}")
}

_probelauf() {
    local cur=${COMP_WORDS[COMP_CWORD]} words places answer how lead
    COMPREPLY=()
    _probelauf_join_words
    mapfile -t answer < <("${COMP_WORDS[0]/#~\//$HOME/}" completion words -- "${words[@]}" 2>/dev/null)
    how=${answer[0]-}
    case $how in
    command\ *)
        _probelauf_other_command "${places[${how#command } + 1]}" "$cur"
        return
        ;;
    words | files) ;;
    *) return ;;
    esac
    # What of the word stands in the line before the part that bash replaces: a piece of '=' or ':' is not replaced, an '@'
    # before the piece is.
    [[ $cur != [=:@]* ]] || cur=${cur##*[=:]}
    lead=${words[-1]%"$cur"}
    lead=${lead%@}
    answer=("${answer[@]:1}")
    answer=("${answer[@]%%$'\t'*}")
    COMPREPLY=("${answer[@]#"$lead"}")
    if [ "$how" = files ]; then
        compopt -o filenames 2>/dev/null
        [[ $lead != '' || $cur != --*=* ]] || cur=${cur#*=}
        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$cur")
    fi
}

complete -F _probelauf probelauf
