#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# stranger.sh [ROOT]: a stranger's first hour. A fresh Debian 12 in the folder ROOT (default: a temporary one), holding
# make, a clone of this repository's last commit and nothing else; in it, README's two commands. As root, with a network.
# With CI=1: git and ca-certificates in place of make, and .ci/run without the kernel build (PARTS: of it, these).
#
# An existing ROOT is refused; a given one is kept, with what the commands said in ROOT/*.log.
set -eu
cd "$(dirname "$0")/.."
top=$PWD
mirror=${MIRROR:-http://deb.debian.org/debian}

fail() { echo "stranger: $*" >&2; exit 1; }

[ "$(id -u)" = 0 ] || fail "only root can change the root folder"
for program in debootstrap git; do
	command -v $program > /dev/null || fail "no $program: apt-get install $program"
done
[ ! -e "${1:-/none}" ] || fail "there is '$1' already"
given=${1:-} root=${1:-$(mktemp -d)}
mkdir -p "$root"
root=$(cd "$root" && pwd)

leave()
{
	for f in proc dev/pts; do
		! mountpoint -q "$root/$f" || umount -l "$root/$f"
	done
	[ -n "$given" ] || rm -rf --one-file-system "$root" "$root.debootstrap"
}
trap leave EXIT

has="make"
[ -z "${CI:-}" ] || has=git,ca-certificates
echo "# a fresh Debian 12 with $has"
debootstrap --variant=minbase --include=$has bookworm "$root" "$mirror" > "$root.debootstrap" 2>&1 ||
	{ tail -n 5 "$root.debootstrap"; fail "debootstrap failed"; }
mv "$root.debootstrap" "$root/debootstrap.log"
cp /etc/resolv.conf "$root/etc/resolv.conf"
mount -t proc proc "$root/proc"
mount --bind /dev/pts "$root/dev/pts"
git clone -q --no-hardlinks "$top" "$root/root/hottext"
echo "# hottext $(git -C "$root/root/hottext" log -1 --format=%h), $(chroot "$root" dpkg-query -f '.\n' -W | wc -l) packages"

# inside LOG COMMAND...: nothing of our environment goes in.
inside()
{
	local log=$root/$1 status=0
	shift
	echo "# $*"
	SECONDS=0
	chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb LANG=C.UTF-8 \
		sh -c 'cd /root/hottext && exec "$@"' sh "$@" > "$log" 2>&1 < /dev/null || status=$?
	echo "# status $status after $SECONDS s"
	[ $status = 0 ] || { grep -E -A 8 '^not ok' "$log" | head -n 60; tail -n 5 "$log"; fail "'$*' failed"; }
}

cd /
if [ -n "${CI:-}" ]; then
	inside ci.log env PARTS="${PARTS:-check check-dist}" .ci/run
	tail -n 1 "$root/ci.log"
	exit
fi
inside demo.log make demo
grep '^Saved: ' "$root/demo.log"
inside check.log make check
tail -n 1 "$root/check.log"
grep -hiE '^(not )?ok .*# skip' "$root/check.log" | sed 's/^/# skipped: /' || true
