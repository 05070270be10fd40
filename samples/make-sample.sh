#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Rebuilds the samples from nothing: builds each kernel in link order through the wrapper, runs the kernel check's
# workloads on it in QEMU, and keeps what was recorded.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/.." && pwd)
to=$here/linux-6.1-x86_64
HOTTEXT_CHECK=$(mktemp -d)
trap 'rm -rf "$HOTTEXT_CHECK"' EXIT
here=$top/tests/kernel
. "$here/steps.sh"

install_packages x86_64
start_kernel x86_64
record_sample

mkdir -p "$to"
xz -9e -c "$out/link/vmlinux" > "$to/vmlinux.xz"
zstd -q -19 -f "$out/link/vmlinux.map" -o "$to/vmlinux.map.zst"
zstd -q -19 -f "$out/perf.data" -o "$to/perf.data.zst"
cp "$out/all.fetch" "$out/mix.fetch" "$to/"

# Of this one only what a plan by a fetch trace reads: symbols, sections, build-id.
to=$top/samples/linux-6.1-ppc405
install_packages ppc405
start_kernel ppc405
link_order
trace link work.fetch dd,pipe,fork,exec
mkdir -p "$to"
powerpc-linux-gnu-objcopy --only-keep-debug "$out/link/vmlinux" "$out/symbols"
xz -9e -c "$out/symbols" > "$to/vmlinux.xz"
cp "$out/work.fetch" "$to/"
du -ch "$top"/samples/linux-6.1-*/*
