#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# messages.sh HOTTEXT LOG: how many of the messages that HOTTEXT can report are in LOG, which it wrote while it was tested
# (messages.h), and the name of each other. Exits 1 when there is one.
#
# A message is a call that reports, and a reason that a file hands to a function of its folder to report.
set -eu
hottext=$1 log=$2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

HOTTEXT_MESSAGES_LIST=1 "$hottext" | grep -v '^tests/' | sort -t: -k1,1 -k2,2n > "$tmp/calls"
if [ ! -s "$tmp/calls" ] || [ ! -s "$log" ]; then
	echo "nothing was noted"
	exit 1
fi

# "file:line<tab>reason", a line each; plugin.c is QEMU's and no part of the program.
grep -rnE '\b(fail|bad|bad_line|damaged)\([^"]*"' lib collect analyze reorder ldscripts --include='*.c' |
	grep -v '^collect/qemu/plugin' |
	awk '{
		split($0, at, ":"); rest = substr($0, length(at[1] at[2]) + 3)
		sub(/.*(fail|bad|bad_line|damaged)\([^"]*/, "", rest)
		while (match(rest, /"[^"]+"/)) {
			print at[1] ":" at[2] "\t" substr(rest, RSTART + 1, RLENGTH - 2)
			rest = substr(rest, RSTART + RLENGTH)
		}
	}' > "$tmp/reasons"

awk -F '\t' -v noted="$log" '
function folder(at) { sub(/[^\/]*$/, "", at); return at }
BEGIN {
	FS = "\t"
	while ((getline < noted) > 0) {
		said[$1] = 1
		text[folder($1)] = text[folder($1)] "\n" $2
	}
}
{
	all++
	if (FILENAME ~ /calls$/ ? $1 in said : index(text[folder($1)], $2)) raised++
	else miss[++n] = sprintf("  %-40s %s", $1, substr($2, 1, 100))
}
END {
	printf "messages: %d, raised by a test: %d%s\n", all, raised, n ? "; not raised:" : ""
	for (i = 1; i <= n; i++) print miss[i]
	exit n > 0
}' "$tmp/calls" "$tmp/reasons"
