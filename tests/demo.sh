#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The main job on the bundled sample kernel: demo.sh HOTTEXT FOLDER
set -eu

hottext=$1 dir=$2
sample=samples/linux-6.1-x86_64
mkdir -p "$dir"
[ -e "$dir/vmlinux" ] || { xz -dc $sample/vmlinux.xz > "$dir/vmlinux.tmp" && mv "$dir/vmlinux.tmp" "$dir/vmlinux"; }
[ -e "$dir/vmlinux.map" ] || { zstd -qdc $sample/vmlinux.map.zst > "$dir/map.tmp" && mv "$dir/map.tmp" "$dir/vmlinux.map"; }

run()
{
	echo
	printf '$'
	printf ' %s' "$(basename "$1")" "${@:2}"
	echo
	"$@"
}

echo "A Linux 6.1 kernel for x86-64, a fetch trace of 19 workloads in it, and an ITLB of 32 entries for 4 KB pages:"
run "$hottext" optimize --machine generic-4k-32 "$dir/vmlinux" $sample/all.fetch -o "$dir/plan"
echo
echo "What that order does for work it has never seen:"
run "$hottext" analyze --machine generic-4k-32 --order "$dir/plan/hottext.ld" "$dir/vmlinux" $sample/mix.fetch | head -9
echo
echo "And from 2,500 samples of perf alone, without branch records:"
run "$hottext" optimize --machine generic-4k-32 "$dir/vmlinux" $sample/perf.data.zst -o "$dir/plan-perf" | head -7

# The figure that matters, from the plan itself.
jq -r '"\nSaved: \(.before.misses - .after.misses) of \(.before.misses) kernel ITLB misses, " +
	"\(.before.entries_per_path.mean * 10 | round / 10) -> \(.after.entries_per_path.mean * 10 | round / 10) ITLB entries per path."' \
	"$dir/plan/plan.json"
echo "The report: $dir/plan/report.html"
echo "Why a function is where it is: $hottext explain $dir/plan vfs_read"
echo "Your own kernel: $hottext kbuild -C LINUX, see README.md"
