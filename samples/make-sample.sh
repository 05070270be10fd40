#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Rebuilds samples/linux-6.1-x86_64/ from nothing: builds the kernel in link order through the wrapper, runs the
# kernel check's workloads on it in QEMU, and keeps what was recorded.
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
du -ch "$to"/*
