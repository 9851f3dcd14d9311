#!/bin/sh
# Checks that the manual pages know the options of the program: tools/check_man.sh PROGRAM
cd "$(dirname "$0")/.." || exit 1
faults=0
for command in solve check new bench info; do
  page=docs/man/tessera-$command.1
  for option in $("$1" $command --help | grep -oE -e '--[a-z][a-z-]*' | sort -u); do
    grep -qE "Fl -${option#--}( |$)" "$page" && continue
    echo "$page does not know $option"
    faults=1
  done
    # shellcheck disable=SC2013 # options are words
  for option in $(grep -oE 'Fl -[a-z][a-z-]*' "$page" | sed 's/Fl -/--/' | sort -u); do
    "$1" $command --help | grep -qE -e "$option( |$)" && continue
    echo "$page tells of $option, which tessera $command --help does not"
    faults=1
  done
done
[ $faults = 0 ] && echo "manual pages: right"
exit $faults
