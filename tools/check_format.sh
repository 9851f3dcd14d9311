#!/bin/sh
# Checks the layout of all C text against .clang-format; with --fix, mends it. Ends with 77 where clang-format 14
# is missing.
cd "$(dirname "$0")/.." || exit 1
formatter=$(command -v clang-format-14 || command -v clang-format)
version=$("${formatter:-false}" --version 2>/dev/null | sed -n 's/.*version \([0-9]*\).*/\1/p')
if [ "$version" != 14 ]; then
  echo "clang-format 14 is the rule (others break lines differently), found: ${version:-none}"
  exit 77
fi
files() {
  find include src cli tests examples bench \( -name '*.c' -o -name '*.h' -o -name '*.cu' \) -print0 2>/dev/null
}
if [ "${1-}" = --fix ]; then
  files | xargs -0 "$formatter" -i
  exit
fi
faults=$(files | xargs -0 "$formatter" --dry-run 2>&1 | sed -n 's/: warning: code should be.*//p' | awk -F: \
  '!seen[$1]++')
[ -n "$faults" ] || exit 0
printf 'not formatted, first at:\n%s\nto mend it: tools/check_format.sh --fix\n' "$faults"
exit 1
