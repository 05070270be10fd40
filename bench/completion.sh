#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# How well completed profiles match what ran:  bench/completion.sh [VMLINUX TRACE PROFILE...]
# Each PROFILE is completed alone, with proofs only and in full, and set against the fetch trace of the same work; with
# several, all of them together too. Without arguments: the bundled kernel, its perf.data and its trace.
# One line each: functions and 16-byte chunks found, right and wrong, the share of the trace's runs that they make up,
# and CPU seconds. HOTTEXT may be set.
set -eu
hottext=${HOTTEXT:-./hottext}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
if [ $# -eq 0 ]; then
	sample=samples/linux-6.1-x86_64
	xz -dc $sample/vmlinux.xz >"$dir/vmlinux"
	zstd -dqc $sample/vmlinux.map.zst >"$dir/vmlinux.map"
	zstd -dqc $sample/perf.data.zst >"$dir/perf.data"
	set -- "$dir/vmlinux" $sample/all.fetch "$dir/perf.data"
elif [ $# -lt 3 ]; then
	echo "usage: bench/completion.sh [VMLINUX TRACE PROFILE...]" >&2
	exit 2
fi
vmlinux=$1
# The trace is read once.
"$hottext" collect -q --vmlinux "$vmlinux" "$2" -o "$dir/truth.hot"
shift 2

# row NAME BEFORE-OR-AFTER SECONDS: one line of the table from $dir/out
row() {
	awk -F'\t' -v name="$1" -v which="$2" -v seconds="$3" '
		$1 == "functions " which { f = sprintf("%5d %5d %5d %6.1f", $3, $4, $5, $6); ran = $2 }
		$1 == "chunks " which { c = sprintf("%6d %6d %6d %6.1f", $3, $4, $5, $6); chunks = $2 }
		END { printf "%-34s %s  %s  %5s   of %d functions, %d chunks\n", name, f, c, seconds, ran, chunks }' "$dir/out"
}

# measure NAME OPTION PROFILE...
measure() {
	local name=$1 option=$2 t
	shift 2
	"$hottext" complete -q $option "$vmlinux" "$@" --against "$dir/truth.hot" >"$dir/out"
	if [ "$option" = --proved ]; then
		row "$name" before ""
		name="  proved"
	else
		name="  likely"
	fi
	t=$( { TIMEFORMAT=%U; time "$hottext" complete -q $option "$vmlinux" "$@"; } 2>&1 )
	row "$name" after "$t"
}

printf '%-34s %5s %5s %5s %6s  %6s %6s %6s %6s  %5s\n' profile found right wrong runs% found right wrong runs% "CPU s"
for p in "$@"; do
	measure "$(basename "$p")" --proved "$p"
	measure "" "" "$p"
done
if [ $# -gt 1 ]; then
	measure "all together" --proved "$@"
	measure "" "" "$@"
fi
