#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tarball.sh VERSION FILE: the sources as FILE (.tar.xz), in a folder hottext-VERSION. Equal sources give equal bytes.
set -euo pipefail
cd "$(dirname "$0")/.."
version=$1 file=$2

# What git knows; in a tree that came from a tarball, everything but what make has built.
list()
{
	if git rev-parse --git-dir > /dev/null 2>&1; then
		git ls-files -z --cached | while IFS= read -r -d '' f; do [ ! -e "$f" ] || printf '%s\0' "$f"; done
	else
		find . -path './build*' -prune -o -path ./debian -prune -o -path ./hottext -o -path ./hottext-ld -o \
			-path ./hottext-qemu.so -o '(' -type f -o -type l ')' -printf '%P\0'
	fi | LC_ALL=C sort -z
}

# The date of the version, not of the day.
date=${SOURCE_DATE_EPOCH:-$(date -d "$(sed -n 's/^ -- .*>  //p' dist/debian/changelog | head -n 1)" +%s)}
mkdir -p "$(dirname "$file")"
list | tar --no-recursion --null -T - --mtime="@$date" --owner=0 --group=0 --numeric-owner \
	--mode=go=rX,u+rw --format=gnu --transform "s,^,hottext-$version/," -c | xz -T1 -6 > "$file.tmp"
mv "$file.tmp" "$file"
echo "$file"
