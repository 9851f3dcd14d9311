# Completion of tessera for bash. Commands and options are those that the program's help tells.
_tessera() {
  local current=${COMP_WORDS[COMP_CWORD]} words
  if [ "$COMP_CWORD" = 1 ]; then
    words="$(tessera --help 2>/dev/null | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p') --help --version"
  elif [[ ${COMP_WORDS[COMP_CWORD - 1]} == --set || ${COMP_WORDS[COMP_CWORD - 1]} == --over ]]; then
    words=$(tessera solve --keys 2>/dev/null | sed -n 's/^ *\([a-z_.]*\): .*/\1=/p')
    compopt -o nospace 2>/dev/null
  elif [ "${COMP_WORDS[1]}" = new ]; then
    words=$(tessera new --help 2>/dev/null | sed -n 's/^  \([a-z][a-z0-9-]*\) .*/\1/p')
  elif [[ $current == -* ]]; then
    words=$(tessera "${COMP_WORDS[1]}" --help 2>/dev/null | grep -oE -e '--[a-z][a-z0-9-]*' | sort -u)
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
    return
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -o filenames -F _tessera tessera
