#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Builds the guest's program and its initramfs: initramfs.sh OUT.cpio [PROGRAM...]
# Each PROGRAM (perf, trace-cmd) is put in with the libraries it needs; "probe" is built from probe.c, and NAME.ko is a
# module. CROSS_COMPILE and GUEST_CFLAGS choose the target.
set -eu

out=${1:?usage: initramfs.sh OUT.cpio [PROGRAM...]}
shift
here=$(cd "$(dirname "$0")" && pwd)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

mkdir -p "$root"/{dev,proc,sys,tmp,usr/bin,bin,etc}

# build OUT SOURCE...
build()
{
	local to=$1
	shift
	"${CROSS_COMPILE-}gcc" -std=gnu11 -O2 -Wall -Wextra -Werror -ffreestanding -fno-builtin -fno-stack-protector \
		-fno-tree-loop-distribute-patterns -fno-pie -no-pie -static -nostdlib ${GUEST_CFLAGS-} -I"$here" \
		-o "$to" "$@" -lgcc
	"${CROSS_COMPILE-}strip" "$to"
}
build "$root/init" "$here"/{init,sys,work,mix}.c

# A program, the libraries that ldd names and the loader, at the paths where they are here.
add_program()
{
	local path file
	path=$(command -v "$1") || { echo "initramfs: no '$1' here" >&2; exit 1; }
	cp -L "$path" "$root/usr/bin/$1"
	for file in $(ldd "$path" | grep -o '/[^ ]*'); do
		mkdir -p "$root/$(dirname "$file")"
		cp -L "$file" "$root/$file"
	done
}
for program; do
	case $program in
	probe)
		build "$root/usr/bin/probe" "$here"/{probe,sys}.c ;;
	*.ko)
		mkdir -p "$root/lib/modules"
		cp "$program" "$root/lib/modules/" ;;
	*)
		add_program "$program" ;;
	esac
	if [ "$program" = trace-cmd ]; then
		mkdir -p "$root"/usr/lib/x86_64-linux-gnu
	fi
done

# The same bytes for the same contents: fixed times, owner and order.
find "$root" -exec touch -h -d @0 {} +
(cd "$root" && find . -mindepth 1 | LC_ALL=C sort | cpio --quiet --reproducible -R 0:0 -H newc -o) > "$out.tmp"
mv "$out.tmp" "$out"
