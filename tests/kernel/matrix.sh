#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The table of kernels that were built, relinked and booted, between two comment lines of a Markdown file:
#   matrix.sh row FILE KERNEL TOOLCHAIN BOOTS WORKLOADS VERIFY MISSES-BEFORE MISSES-AFTER
#                              puts this kernel's row in; all other rows stay as they are
#   matrix.sh toolchain VMLINUX   what built it, from the kernel's own banner
# A figure that nobody measured is `-`.
set -eu

begin='<!-- kernels: written by make check-kernel -->' end='<!-- /kernels -->'

die() { echo "matrix: $*" >&2; exit 1; }

# 1234567 as 1,234,567; anything else as it is.
grouped()
{
	case $1 in
	*[!0-9]*) echo "$1" ;;
	*) sed -E ':a; s/^([0-9]+)([0-9]{3})/\1,\2/; ta' <<< "$1" ;;
	esac
}

ratio()
{
	case "$1$2" in
	*[!0-9]*) echo - ;;
	*) awk -v a="$1" -v b="$2" 'BEGIN { if (b > 0) printf "%.1f\n", a / b; else print "-" }' ;;
	esac
}

# row FILE KERNEL TOOLCHAIN BOOTS WORKLOADS VERIFY BEFORE AFTER
row()
{
	local file=$1 line
	[ "$(grep -cxF -e "$begin" -e "$end" "$file")" = 2 ] || die "no table of kernels in '$file'"
	line="| $2 | $3 | $4 | $5 | $6 | $(grouped "$7") | $(grouped "$8") | $(ratio "$7" "$8") |"
	awk -v begin="$begin" -v end="$end" -v kernel="$2" -v line="$line" '
		function flush_new() { if (!put) { print line; put = 1 } }
		$0 == begin { inside = 1 }
		$0 == end { if (inside) flush_new(); inside = 0 }
		inside && /^\| / && ++rows > 1 {
			name = $0
			sub(/^\| /, "", name)
			sub(/ \|.*/, "", name)
			if (name >= kernel) flush_new()
			if (name == kernel) next
		}
		{ print }' "$file" > "$file.tmp"
	if cmp -s "$file.tmp" "$file"; then
		rm "$file.tmp"
	else
		mv "$file.tmp" "$file"
	fi
}

# "Linux version 6.1.192 (user@host) (gcc (Debian 12.2.0-14) 12.2.0, GNU ld (GNU Binutils for Debian) 2.40) #1 ..."
# The last release string may stand in other places too; the banner alone has a user in it.
toolchain()
{
	grep -a -o -m 1 'Linux version [0-9][^ ]* ([^)]*@[^)]*) (.*) #' "$1" | head -n 1 | sed -E '
		s/^Linux version [^ ]* \([^)]*\) \((.*)\) #$/\1/
		s/ \([^()]*\)//g; s/\([^()]*\)//g; s/^(Debian )?([^ ]*-)?(gcc|clang)( version)?/\3/; s/, .*(LLD|ld)/, \1/; s/LLD/lld/
		s/  */ /g; s/ $//' | grep . || die "no banner in '$1'"
}

case ${1-} in
row)
	[ $# = 9 ] || die "wants nine words"
	shift
	row "$@" ;;
toolchain)
	toolchain "${2:?}" ;;
*)
	sed -n 's/^# \?//;3,7p' "$0" >&2
	exit 2 ;;
esac
