#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A distribution's own kernel with its debug information: seconds and memory of call graph and plan, by the bundled
# sample's callchains, which are found by name. Fails over 20 s of CPU time or 2 GB.
#   bench/distribution.sh [HOTTEXT [VMLINUX]]   (without VMLINUX: Debian's cloud kernel, some 300 MB through apt, 900 MB
#                                                in TMPDIR meanwhile; PACKAGE may name another debug package)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
hottext=$(realpath "${1:-./hottext}")
vmlinux=${2+$(realpath "$2")}
sample=$here/../samples/linux-6.1-x86_64
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

die() { echo "distribution: $*" >&2; exit 1; }

# fetch PACKAGE: its vmlinux alone; a metapackage stands for what it depends on.
fetch()
{
	local package=$1 real
	real=$(apt-cache depends "$package" | sed -n 's/^ *Depends: //p' | grep -m 1 'linux-image.*-dbg' || true)
	apt-get download -qq "${real:-$package}" || die "cannot download '${real:-$package}'"
	dpkg-deb --fsys-tarfile ./*.deb | tar -xf - --wildcards './usr/lib/debug/boot/vmlinux-*'
	rm ./*.deb
	vmlinux=$(echo "$PWD"/usr/lib/debug/boot/vmlinux-*)
	echo "${real:-$package}"
}
[ -n "$vmlinux" ] || fetch "${PACKAGE:-linux-image-cloud-amd64-dbg}"

xz -dc "$sample/vmlinux.xz" > sample
"$hottext" collect -q --vmlinux sample "$sample/perf.data.zst" -o profile.hot
echo "vmlinux of $(($(stat -c %s "$vmlinux") / 1000000)) MB, $(nm "$vmlinux" | grep -c ' [tTwW] ') text symbols"

failed=0
# timed WHAT COMMAND...
timed()
{
	local what=$1 user system kb
	shift
	command time -f '%U %S %M' -o time "$@" > out || die "'$what' failed"
	read -r user system kb < <(tail -n 1 time)
	awk -v what="$what" -v s="$user" -v t="$system" -v kb="$kb" 'BEGIN {
		printf "%-28s %6.2f CPU s, %5d MB\n", what, s + t, kb / 1024
		exit s + t > 20 || kb > 2 * 1024 * 1024 }' || failed=1
}
timed "analyze" "$hottext" analyze -q "$vmlinux" profile.hot
timed "optimize, its own machine" "$hottext" optimize -q "$vmlinux" profile.hot -o plan
timed "optimize, generic-4k-32" "$hottext" optimize -q --machine generic-4k-32 "$vmlinux" profile.hot -o plan
jq -r '"\(.hot.functions) hot functions, entries per path \(.before.entries_per_path.mean) -> \(.after.entries_per_path.mean)"' \
	plan/plan.json
[ "$failed" = 0 ] || die "more than 20 s or 2 GB"
