#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Our cdsort and c3 against lld's on the same call graphs: lld.sh [HOTTEXT [FOLDER]]
# Every hot unit of the bundled sample that can move becomes a section of its size; lld orders them by the calls between
# them in two fetch traces and in a perf.data. Both orders are replayed on the first trace. Units outside all
# calls, which lld leaves in link order behind the others, are not compared. Exit status 1 when misses differ by over 3 %.
set -eu

hottext=$(realpath "${1:-./hottext}") sample=samples/linux-6.1-x86_64 machine=${MACHINE:-generic-4k-32}
dir=${2:-$(mktemp -d)} status=0
mkdir -p "$dir"
lld=$(command -v ld.lld-19 || true)
[ -n "$lld" ] || { echo "skipped: no ld.lld-19 (Debian: lld-19)"; exit 77; }

xz -dc $sample/vmlinux.xz >"$dir/vmlinux"
zstd -qdc $sample/vmlinux.map.zst >"$dir/vmlinux.map"
cp $sample/all.fetch $sample/mix.fetch $sample/perf.data.zst "$dir/"
cd "$dir"

# graph PROFILE: the calls between units that can move, as lld's "caller callee weight", and units.o with these units.
graph() {
	"$hottext" analyze -q --json --machine "$machine" vmlinux "$1" >graph.json
	"$hottext" reorder -q --algorithm density --machine "$machine" vmlinux "$1" | sed '/^#/d' | cut -d' ' -f1,2 >movable
	jq -r '.units | to_entries | sort_by(.value.addr_before) | .[] |
		[.key, .value.section, .value.object, .value.size, .value.align] | @tsv' graph.json |
		awk -F'\t' 'NR == FNR { movable[$0]; next } $2 " " $3 in movable' movable - >units
	awk -F'\t' '{ printf "\t.section .text.u%d,\"ax\",@progbits\n\t.balign %d\n\t.globl u%d\n\t.type u%d,@function\nu%d:\t.skip %d\n\t.size u%d,%d\n",
		$1, $5, $1, $1, $1, $4, $1, $4 }' units | as -o units.o -
	jq -r '.edges[] | "u\(.[0]) u\(.[1]) \(.[2])"' graph.json |
		awk 'NR == FNR { movable["u" $1]; next } $1 in movable && $2 in movable && $3 > 0' units - >calls
}

misses() {	# misses ORDER: those of the fetch trace under it
	"$hottext" analyze -q --json --machine "$machine" --order "$1" vmlinux all.fetch | jq .after.misses
}

# among ORDER: the units of ORDER that are in calls
among() {
	awk 'FILENAME == "units" { split($0, u, "\t"); name["u" u[1]] = u[2] " " u[3]; next }
		FILENAME == "calls" { called[name[$1]]; called[name[$2]]; next }
		{ n = $1 " " $2 } n in called { print n }' units calls "$1"
}

printf '%-14s %-8s %8s %8s %10s %10s %8s\n' "calls from" "" units same lld hottext ratio
for profile in all.fetch mix.fetch perf.data.zst; do
	graph $profile
	for pair in cdsort:cdsort c3:hfsort; do
		ours=${pair%:*} theirs=${pair#*:}
		"$lld" -e 0 --call-graph-ordering-file=calls --call-graph-profile-sort="$theirs" -o "$theirs.out" units.o
		nm -n "$theirs.out" | awk -F'\t' 'NR == FNR { name[$1] = $2 " " $3; next }
			{ n = $0; if (sub(/.* [tT] u/, "", n)) print name[n] }' units - >"lld-$theirs.order"
		"$hottext" reorder -q --algorithm "$ours" --machine "$machine" -o "$ours.order" vmlinux $profile
		among "lld-$theirs.order" >theirs
		among "$ours.order" >ours
		same=$(paste -d'\n' theirs ours | awk 'NR % 2 { a = $0; next } a == $0 { n++ } END { print n + 0 }')
		a=$(misses "lld-$theirs.order") b=$(misses "$ours.order")
		awk -v p=$profile -v n="$ours" -v u="$(wc -l <theirs)" -v s="$same" -v a="$a" -v b="$b" 'BEGIN {
			printf "%-14s %-8s %8d %8d %10d %10d %8.3f\n", p, n, u, s, a, b, b / a
			exit b / a < 0.97 || b / a > 1.03 }' || status=1
	done
done
exit $status
