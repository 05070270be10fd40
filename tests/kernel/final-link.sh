#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# final-link.sh FOLDER OUTPUT LD: the last link of scripts/link-vmlinux.sh again, in a
# finished build folder that is only read, by the linker LD, to OUTPUT (an absolute name).
set -eu
cd "$1"
output=$2 ld=$3

# cmd_vmlinux := .../link-vmlinux.sh "LD" "KBUILD_LDFLAGS" "LDFLAGS_vmlinux"; ...
words=$(sed -n 's/^\(saved\)\?cmd_vmlinux := //p' .vmlinux.cmd)
eval "set -- ${words%%;*}"
while [ "${1##*/}" != link-vmlinux.sh ]; do shift; done
flags="$3 $4"
libs=$(sed -n 's/.*--start-group \(.*\) --end-group.*/\1/p' .vmlinux.o.cmd)
objects=vmlinux.a
if grep -qE '^CONFIG_(LTO_CLANG|X86_KERNEL_IBT)=y' .config; then
	objects=vmlinux.o libs=
fi
[ ! -e .vmlinux.export.o ] || objects="$objects .vmlinux.export.o"
exec $ld $flags --script="$(echo arch/*/kernel/vmlinux.lds)" -o "$output" --whole-archive $objects \
	init/version-timestamp.o --no-whole-archive --start-group $libs --end-group .tmp_vmlinux.kallsyms2.o
