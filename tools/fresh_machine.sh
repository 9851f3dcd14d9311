#!/usr/bin/env bash
# Proves that the package lists are complete: makes a minimal system in a temporary folder, and runs a command of this
# project (what is committed) in it, twice: the second time nothing should be left to do.
#   tools/fresh_machine.sh [SUITE [COMMAND]]     default: bookworm ./run; as root, with debootstrap; also: noble
set -eu
suite=${1:-bookworm}
command=${2:-./run}
root=$(cd "$(dirname "$0")/.." && pwd)
if [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null; then
  echo "a fresh machine needs root and debootstrap"
  exit 77
fi
case $suite in
bookworm) components=main ;;
*) components=main,universe ;;
esac

machine=$(mktemp -d)
clean_up() {
  umount "$machine/proc" "$machine/dev" 2>/dev/null || true
  rm -rf --one-file-system "$machine"
}
trap clean_up EXIT

debootstrap --variant=minbase --components="$components" "$suite" "$machine" >"$machine.log" 2>&1 || {
  tail -n 5 "$machine.log"
  exit 1
}
rm -f "$machine.log"
mount -t proc proc "$machine/proc"
mount --bind /dev "$machine/dev"
# A path with a space, as people have them.
mkdir "$machine/srv/my files"
git -C "$root" archive HEAD | tar -x -C "$machine/srv/my files"
for round in first second; do
  begin=$(date +%s)
  chroot "$machine" /bin/sh -c "cd '/srv/my files' && $command"
  echo "$suite: the $round $command took $(($(date +%s) - begin)) s"
done
