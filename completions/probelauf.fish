# fish completion for probelauf; 'probelauf completion fish' prints it.
#
# What may stand next is asked of the program itself (docs/completion.md).

function __probelauf_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l program (string replace -r '^~/' "$HOME/" -- $words[1])
    set -l answer ($program completion words -- $words[2..-1] 2>/dev/null)
    or return
    switch "$answer[1]"
        case 'command *'
            set -l skip (string replace 'command ' '' -- $answer[1])
            # words[1] is the program
            complete -C (string join ' ' -- (string escape -- $words[(math $skip + 2)..-2]) $words[-1])
            return
        case words files
            printf '%s\n' $answer[2..-1]
    end
    if test "$answer[1]" = files
        set -l typed (string match -r -- '^--[a-z-]+=' $words[-1])
        for file in (__fish_complete_path (string replace -r -- '^--[a-z-]+=' '' $words[-1]))
            printf '%s%s\n' "$typed" $file
        end
    end
end

complete -c probelauf -f -a '(__probelauf_complete)'
