# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# Loaded by tests that let calls and allocations fail (tests/faults/).

export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
# A run that is killed while it leaves its counts would spoil those of all others.
export GCOV_PREFIX=$BATS_RUN_TMPDIR/gcov

# make_faults TOP: what lets them fail, and a kernel with its profile, into the working folder.
make_faults() {
	${CC:-cc} -std=gnu11 -D_GNU_SOURCE -O1 -o inject "$1/tests/faults/inject.c"
	${CC:-cc} -std=gnu11 -D_GNU_SOURCE -O1 -shared -fPIC -o nomem.so "$1/tests/faults/nomem.c"
	make_kernel
	kernel_link old
	printf 'task;xfs_read_[k];schedule_[k] 50\ntask;vfs_read_[k];memcpy_[k] 9\n' > stacks.folded
	"$HOTTEXT" collect -q --vmlinux old stacks.folded -o p.hot
}
