# SPDX-License-Identifier: GPL-3.0-or-later
# The table of kernels that the kernel check writes.

setup() {
	matrix=$BATS_TEST_DIRNAME/kernel/matrix.sh
	cd "$BATS_TEST_TMPDIR"
	{
		echo 'before'
		echo '<!-- kernels: written by make check-kernel -->'
		echo '| kernel | toolchain |'
		echo '|---|---|'
		echo '| m68k | old row |'
		echo '<!-- /kernels -->'
		echo '| a | other table |'
	} > table.md
}

@test "a row is put in by name, replaced the next time, and the others stay" {
	"$matrix" row table.md x86_64 "gcc 12.2.0, ld 2.40" yes 20 yes 1440665 23937
	"$matrix" row table.md arm64 "gcc 12" yes 20 no 100 0
	[ "$(sed -n 5,7p table.md)" = '| arm64 | gcc 12 | yes | 20 | no | 100 | 0 | - |
| m68k | old row |
| x86_64 | gcc 12.2.0, ld 2.40 | yes | 20 | yes | 1,440,665 | 23,937 | 60.2 |' ]
	"$matrix" row table.md m68k "gcc 13" no - - - -
	grep -qxF '| m68k | gcc 13 | no | - | - | - | - | - |' table.md
	[ "$(wc -l < table.md)" -eq 9 ]
	[ "$(head -n 1 table.md)" = before ]
	[ "$(tail -n 1 table.md)" = '| a | other table |' ]
	cp table.md once.md
	"$matrix" row table.md m68k "gcc 13" no - - - -
	cmp once.md table.md
}

@test "a file without the table is left alone" {
	echo text > plain.md
	run "$matrix" row plain.md x86_64 gcc yes 20 yes 2 1
	[ "$status" -eq 1 ]
	[ "$output" = "matrix: no table of kernels in 'plain.md'" ]
	[ "$(cat plain.md)" = text ]
}

@test "the toolchain is read from the kernel's banner" {
	banner() { printf 'x\0Linux version 6.1.1 (me@here) (%s) #1 SMP 2024\n' "$1" > vmlinux; "$matrix" toolchain vmlinux; }
	[ "$(banner 'gcc (Debian 12.2.0-14+deb12u1) 12.2.0, GNU ld (GNU Binutils for Debian) 2.40')" = "gcc 12.2.0, ld 2.40" ]
	[ "$(banner 'powerpc-linux-gnu-gcc (Debian 12.2.0-13) 12.2.0, GNU ld (GNU Binutils for Debian) 2.40')" = "gcc 12.2.0, ld 2.40" ]
	[ "$(banner 'Debian clang version 19.1.7 (3~deb12u1), Debian LLD 19.1.7 (compatible with GNU linkers)')" = "clang 19.1.7, lld 19.1.7" ]
	[ "$(banner 'Debian clang version 19.1.7 (3~deb12u1), Debian LLD 19.1.7')" = "clang 19.1.7, lld 19.1.7" ]
	echo none > vmlinux
	run "$matrix" toolchain vmlinux
	[ "$status" -eq 1 ]
	[ "$output" = "matrix: no banner in 'vmlinux'" ]
}
