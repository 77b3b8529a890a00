#compdef probelauf
# zsh completion for probelauf; 'probelauf completion zsh' prints it.
#
# What may stand next is asked of the program itself (docs/completion.md).

_probelauf() {
    local -a answer candidates
    local how line word what program=${~words[1]}
    answer=("${(@f)$($program completion words -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
    how=${answer[1]-}
    case $how in
    (command\ *)
        # words[1] is the program
        shift $((${how#command } + 1)) words
        ((CURRENT -= ${how#command } + 1))
        _normal
        return
        ;;
    (words|files) ;;
    (*) return 1 ;;
    esac
    for line in "${(@)answer[2,-1]}"; do
        word=${line%%$'\t'*} what=''
        [[ $line != *$'\t'* ]] || what=${line#*$'\t'}
        [[ -z $word ]] || candidates+=("${word//:/\\:}${what:+:$what}")
    done
    local found=1
    ((${#candidates} == 0)) || { _describe -V probelauf candidates && found=0 }
    if [[ $how == files ]]; then
        [[ $PREFIX != --*=* ]] || compset -P '*='
        _files && found=0
    fi
    return found
}

if [[ ${funcstack[1]-} == _probelauf ]]; then
    _probelauf "$@"
else
    compdef _probelauf probelauf
fi
