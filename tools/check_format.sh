#!/bin/sh
# Checks the layout of all C text against .clang-format; with --fix, mends it. Ends with 77 where clang-format 14 is missing.
cd "$(dirname "$0")/.." || exit 1
formatter=$(command -v clang-format-14 || command -v clang-format)
version=$("${formatter:-false}" --version 2>/dev/null | sed -n 's/.*version \([0-9]*\).*/\1/p')
if [ "$version" != 14 ]; then
  echo "clang-format 14 is the rule (others break lines differently), found: ${version:-none}"
  exit 77
fi
case ${1-} in
--fix) set -- -i ;;
*) set -- --dry-run --Werror ;;
esac
find include src cli tests examples bench \( -name '*.c' -o -name '*.h' -o -name '*.cu' \) -print0 2>/dev/null |
  xargs -0 "$formatter" "$@" && exit 0
echo "to mend it: tools/check_format.sh --fix"
exit 1
