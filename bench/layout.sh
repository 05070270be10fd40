#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The layout benchmark on the bundled sample: layout.sh PROGRAM FOLDER EFFORT [TRAINING]
# GRAPH may name a function_graph recording (trace.dat, its text or a profile) of the same kernel.
set -eu

sample=samples/linux-6.1-x86_64
mkdir -p "$2"
xz -dc $sample/vmlinux.xz >"$2/vmlinux"
zstd -qdc $sample/vmlinux.map.zst >"$2/vmlinux.map"
"$1" "$2/vmlinux" $sample/all.fetch $sample/mix.fetch $sample/perf.data.zst "$2" "$3" "${4:-}" "${GRAPH:-}" | tee "$2/layout.txt"
echo
echo "The plot: $2/layout.svg"
