#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The layout benchmark: layout.sh PROGRAM FOLDER EFFORT [TRAINING]
# On the bundled x86-64 kernel, and on the PowerPC 405's with what `make check-kernel KERNELS=ppc405` recorded.
# TRAINING: only the rows whose name holds it. KERNELS may name one of the two; GRAPH another recording by
# function_graph (trace.dat, its text or a profile).
set -euo pipefail

program=$1 out=$2 effort=$3 training=${4:-}
if [ "$(id -u)" = 0 ]; then cache=/var/cache/hottext; else cache=$HOME/.cache/hottext; fi
check=${HOTTEXT_CHECK:-${HOTTEXT_CACHE:-$cache}/check}/ppc405
mkdir -p "$out"

# run KERNEL VMLINUX SAME MIX TRAINING=PROFILES...: those wanted.
run()
{
	local head=("${@:1:4}") rows=() spec
	for spec in "${@:5}"; do
		case ${spec%%=*} in *"$training"*) rows+=("$spec") ;; esac
	done
	[ ${#rows[@]} = 0 ] || "$program" "$out" "$effort" "${head[@]}" "${rows[@]}"
}

x86_64()
{
	local sample=samples/linux-6.1-x86_64
	xz -dc $sample/vmlinux.xz >"$out/vmlinux"
	zstd -qdc $sample/vmlinux.map.zst >"$out/vmlinux.map"
	local perf=$sample/perf.data.zst graph=${GRAPH:-$sample/graph.hot.zst}
	run x86_64 "$out/vmlinux" $sample/all.fetch $sample/mix.fetch "the fetch trace=$sample/all.fetch" \
		"branch records=@branches" "callchains=$perf" "a function graph=$graph" \
		"callchains and a function graph=$perf,$graph"
}

# No tool records callchains or function graphs in this guest: callchains are drawn from the trace, as branch records are.
ppc405()
{
	local sample=samples/linux-6.1-ppc405 mix=$check/mix.fetch
	if [ -e "$check/all.fetch" ] && [ -e "$check/link/vmlinux" ]; then
		if [ ! -e "$mix" ]; then
			mix=-
			echo "ppc405, tested on a mix never seen: no '$check/mix.fetch' (make check-kernel KERNELS=ppc405)"
		fi
		run ppc405 "$check/link/vmlinux" "$check/all.fetch" "$mix" "the fetch trace=$check/all.fetch" \
			"branch records=@branches" "callchains=@chains"
		return
	fi
	echo "ppc405: no recordings in '$check' (make check-kernel KERNELS=ppc405), only the bundled trace of four workloads"
	xz -dc $sample/vmlinux.xz >"$out/vmlinux.ppc405"
	run ppc405 "$out/vmlinux.ppc405" $sample/work.fetch - "the fetch trace=$sample/work.fetch"
}

for kernel in ${KERNELS:-x86_64 ppc405}; do
	case $kernel in
	x86_64|ppc405) $kernel | tee "$out/layout-$kernel.txt" ;;
	*) echo "no kernel '$kernel'" >&2; exit 2 ;;
	esac
done
echo
echo "The plots: $out/layout-*.svg"
