#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The kernel check: builds Linux, profiles it in QEMU, plans, relinks, boots, verifies, measures, and compares.
#   check.sh [KERNEL...]     x86_64 (default), x86_64-ibt, x86_64-llvm, x86_64-6.12, ppc405, arm64, arm, riscv64 and mpc885
# HOTTEXT_CACHE keeps kernels between runs (see build.sh); HOTTEXT_EFFORT is passed to optimize; what was recorded,
# planned and measured stays in HOTTEXT_CHECK (default: $HOTTEXT_CACHE/check/KERNEL). Each kernel's row goes into the table
# of HOTTEXT_MATRIX (default: the README).
set -eu

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
. "$here/steps.sh"
. "$here/orders.sh"

[ $# -gt 0 ] || set -- x86_64
for kernel; do
	[ -e "$here/check-$kernel.sh" ] || die "no kernel '$kernel'"
done
install_packages "$@"
for kernel; do
	echo "# $kernel"
	start_kernel "$kernel"
	# shellcheck source=/dev/null # one of the files beside this one
	. "$here/check-$kernel.sh"
	matrix_row
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
