# SPDX-License-Identifier: GPL-3.0-or-later
# Small synthetic kernels for the linker's tests: assembled in a folder of the test's own.

TESTS=${BATS_TEST_DIRNAME:-$PWD/tests}
HOTTEXT=$(realpath "${HOTTEXT:-$TESTS/../hottext}")
DATA=$TESTS/data
AS=${AS:-as}

# section NAME LABEL BYTES [ALIGN]: one function in a section of its own.
section() {
	echo "	.section $1,\"ax\",@progbits"
	echo "	.balign ${4:-16}"
	echo "	.type $2,@function"
	echo "$2:	.skip $3,0x60"
	echo "	.size $2,$3"
}

# object PATH < ASSEMBLY
object() {
	mkdir -p "$(dirname "$1")"
	$AS -o "$1" -
}

# A kernel of six objects with statics of one name, cold parts, bounded groups and an
# assembler object, as a thin archive vmlinux.a. With an argument: without function sections.
make_kernel() {
	local f=${1:+.text}
	{ echo .globl startup_64; section .head.text startup_64 40; } | object head.o
	{ section "${f:-.text.vfs_read}" vfs_read 100; section "${f:-.text.helper}" helper 30
	  section "${1:+.text.unlikely}${1:-.text.unlikely.vfs_read}" vfs_read.cold 20; section .sched.text wait_a 50
	} | sed "s/\.text\.unlikely1/.text.unlikely/" | object fs/file.o
	{ section "${f:-.text.xfs_read}" xfs_read 200; section "${f:-.text.helper}" helper 70; section .noinstr.text nmi_a 16; } |
		object fs/xfs/file.o
	{ section "${f:-.text.schedule_tail}" schedule_tail 48; section .sched.text schedule 90; section .entry.text entry 64
	  section .init.text start_kernel 32; } | object kernel/core.o
	section .text memcpy 60 | object lib/memcpy.o
	section .text clear_page 44 | object lib/clear_page.o
	rm -f vmlinux.a
	ar rcSTP vmlinux.a head.o fs/file.o fs/xfs/file.o kernel/core.o lib/memcpy.o lib/clear_page.o
}

# kernel_link OUTPUT [ARG...]: as scripts/link-vmlinux.sh does it, through the wrapper or $LINK.
kernel_link() {
	local out=$1
	shift
	${LINK:-$HOTTEXT ld} ${FLAGS:---no-warn-rwx-segments} -z noexecstack --emit-relocs --build-id=sha1 \
		--script=${SCRIPT:-$DATA/lds/x86-64-6.1.lds} -o "$out" --whole-archive vmlinux.a --no-whole-archive "$@"
}

# order FILE NAME...: whether the symbols stand in that order.
order() {
	local file=$1 last=0 addr
	shift
	for name; do
		addr=$((16#$(nm "$file" | awk -v n="$name" '$3 == n { print $1; exit }')))
		# The top bit makes kernel addresses negative: the difference still tells.
		[ $((addr - last)) -ge 0 ] || [ $last = 0 ] || { echo "$name is not behind the one before"; return 1; }
		last=$addr
	done
}

# stops STATUS TEXT: what `run` ran said just this and ended so.
stops() {
	[ "$status" -eq "$1" ] || { echo "status $status: $output"; return 1; }
	[ "$output" = "$2" ] || { echo "said: $output"; return 1; }
}

# Whether the program has what gets in the way of LD_PRELOAD: sanitizers, or gcov's own allocations.
has_sanitizers() {
	LC_ALL=C grep -qaE '__asan_init|\.gcda' "$HOTTEXT"
}
