# Completion of tessera for fish. Commands and options are those that the program's help tells.
function __tessera_words
    set -l words (commandline -opc)
    if test (count $words) = 1
        tessera --help 2>/dev/null | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'
    else if contains -- $words[-1] --set --over
        tessera solve --keys 2>/dev/null | sed -n 's/^ *\([a-z_.]*\): .*/\1=/p'
    else if test $words[2] = new
        tessera new --help 2>/dev/null | sed -n 's/^  \([a-z][a-z0-9-]*\) .*/\1/p'
    else
        tessera $words[2] --help 2>/dev/null | grep -oE -e '--[a-z][a-z0-9-]*' | sort -u
    end
end
complete -c tessera -n 'test (count (commandline -opc)) = 1' -f
complete -c tessera -a '(__tessera_words)'
