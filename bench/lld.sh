#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Our cdsort and c3 against lld's on the same call graph: lld.sh [HOTTEXT [FOLDER]]
# Every hot unit of the bundled sample becomes a section of its size; lld orders them by the call graph of the fetch
# trace; both orders are replayed on the trace.
set -eu

hottext=$(realpath "${1:-./hottext}") sample=samples/linux-6.1-x86_64 machine=${MACHINE:-generic-4k-32}
dir=${2:-$(mktemp -d)}
mkdir -p "$dir"
lld=$(command -v ld.lld-19 || true)
[ -n "$lld" ] || { echo "skipped: no ld.lld-19 (Debian: lld-19)"; exit 77; }

xz -dc $sample/vmlinux.xz >"$dir/vmlinux"
zstd -qdc $sample/vmlinux.map.zst >"$dir/vmlinux.map"
cp $sample/all.fetch "$dir/"
cd "$dir"

"$hottext" analyze -q --json --machine $machine vmlinux all.fetch >graph.json
# Units in link order, as the linker would see them: number, section, object, size, alignment.
jq -r '.units | to_entries | sort_by(.value.addr_before) | .[] |
	[.key, .value.section, .value.object, .value.size, .value.align] | @tsv' graph.json >units
awk -F'\t' '{ printf "\t.section .text.u%d,\"ax\",@progbits\n\t.balign %d\n\t.globl u%d\n\t.type u%d,@function\nu%d:\t.skip %d\n\t.size u%d,%d\n",
	$1, $5, $1, $1, $1, $4, $1, $4 }' units | as -o units.o -
jq -r '.edges[] | "u\(.[0]) u\(.[1]) \(.[2])"' graph.json >graph

misses() {	# misses ORDER: those of the trace under it
	"$hottext" analyze -q --json --machine $machine --order "$1" vmlinux all.fetch | jq .after.misses
}

printf '%-8s %10s %10s %8s\n' "" lld hottext ratio
for pair in cdsort:cdsort c3:hfsort; do
	ours=${pair%:*} theirs=${pair#*:}
	"$lld" -e 0 --call-graph-ordering-file=graph --call-graph-profile-sort="$theirs" -o "$theirs.out" units.o
	nm -n "$theirs.out" | awk -F'\t' 'NR == FNR { name[$1] = $2 " " $3; next }
		{ n = $0; if (sub(/.* [tT] u/, "", n)) print name[n] }' units - >"lld-$theirs.order"
	"$hottext" reorder -q --algorithm "$ours" --machine $machine -o "$ours.order" vmlinux all.fetch
	a=$(misses "lld-$theirs.order") b=$(misses "$ours.order")
	awk -v n="$ours" -v a="$a" -v b="$b" 'BEGIN { printf "%-8s %10d %10d %8.3f\n", n, a, b, b / a }'
done
