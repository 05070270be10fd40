#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# hottext complete on a kernel of a dozen instructions: what is proved, what is likely, what stays out.

bats_require_minimum_version 1.5.0

setup() {
	HOTTEXT=$(realpath "${HOTTEXT:-$BATS_TEST_DIRNAME/../hottext}")
	cd "$BATS_TEST_TMPDIR" || return 1
	[ "$(uname -m)" = x86_64 ] || skip "needs an x86-64 assembler"
	cat >kernel.s <<-'END'
		.macro fn name
		.section .text.\name, "ax"
		.globl \name
		.type \name, @function
		\name:
		.endm
		.macro end name
		.size \name, . - \name
		.endm
		.section .text.first, "ax"
		.globl _text, _stext
		_text: _stext: nop
		fn sys_root		# always calls a and c; b when a gives something; jumps to last
		call a
		test %rax, %rax
		je 1f
		call b
		1: call c
		jmp last
		end sys_root
		fn a
		call d
		ret
		end a
		fn b
		ret
		end b
		fn c
		test %edi, %edi
		js 1f
		ret
		1: mov $-22, %eax
		call report
		ret
		end c
		fn d
		lea operations(%rip), %rax
		call *8(%rax)
		ret
		end d
		fn last
		ret
		end last
		fn report
		call panic
		end report
		fn panic
		1: jmp 1b
		end panic
		fn never
		ret
		end never
		fn in_table
		ret
		end in_table
		.data
		.globl operations
		.type operations, @object
		operations: .quad 0, in_table
		.size operations, . - operations
		.section .text.zlast, "ax"
		.globl _etext
		_etext: nop
	END
	as kernel.s -o kernel.o
	ld -Ttext 0x1000000 -e _text kernel.o -o vmlinux
	echo "sys_root;c 5" >samples.folded
}

# reason FUNCTION: why it is in the completed profile, as --explain has it.
reason() {
	"$HOTTEXT" complete -q vmlinux samples.folded --explain | awk -F'\t' -v f="$1" '$1 == f { print $3 }'
}

@test "what was sampled is seen" {
	[ "$(reason sys_root)" = seen ]
	[ "$(reason c)" = seen ]
}

@test "calls that must have been made are proved, through calls and jumps" {
	[ "$(reason a)" = "proved: called from sys_root+0x0" ]
	[ "$(reason d)" = "proved: called from a+0x0" ]
	[[ "$(reason last)" = "proved: called from sys_root+0x"* ]]
}

@test "a call behind a branch is likely, with its odds" {
	[[ "$(reason b)" = "likely 0."*": called from sys_root+0x"* ]]
}

@test "an indirect call goes to where a table has a function at its offset" {
	[[ "$(reason in_table)" = "likely 0."*": called from d+0x"* ]]
}

@test "error paths, what does not return and what nobody calls stay out" {
	[ -z "$(reason panic)" ] || [ "$(reason panic)" = unseen ]
	[ -z "$(reason never)" ]
}

@test "--proved adds what is certain only" {
	run -0 "$HOTTEXT" complete -q --proved vmlinux samples.folded --explain
	[[ "$output" = *"a	5.0	proved"* ]]
	[[ "$output" != *likely* ]]
}

@test "counts that no count of runs can hold are the largest there is" {
	echo "sys_root;c 18446744073709551615" > huge.folded
	"$HOTTEXT" complete -q vmlinux huge.folded -o huge.hot
	[ "$(awk '$1 == "path" { print $5 }' huge.hot | sort -u)" = 18446744073709551615 ] || { cat huge.hot; false; }
	[ "$(awk '$1 == "func" && $2 == "a" { print $4 }' huge.hot)" = 18446744073709551615 ] || { cat huge.hot; false; }
}

@test "the completed profile is a profile, twice the same" {
	"$HOTTEXT" complete -q vmlinux samples.folded -o one.hot
	"$HOTTEXT" complete -q vmlinux samples.folded -o two.hot
	cmp one.hot two.hot
	run -0 "$HOTTEXT" collect -q one.hot
	[[ "$output" = *"func d "* ]]
}

@test "whole paths beside samples stay as they are, and count for the same time in all" {
	printf '%s\n' 'hottext-profile 1' 'source fetch fetch - - - 160 160 160 0 0' 'func never 160 10' 'touch never 0x0 10' \
		'path daf082453386a41b syscall never 10 never:1' > whole.hot
	"$HOTTEXT" complete -q vmlinux samples.folded whole.hot -o both.hot
	# 5 samples, each of 2^20 bytes run, against 10 runs of 16 bytes; four variants of each path.
	[ "$(awk '$1 == "path" && $4 == "never" { print $5, $6 }' both.hot)" = "$((4 * 10 * (5 << 20) / (10 * 16))) never:1" ]
	"$HOTTEXT" complete -q vmlinux whole.hot samples.folded -o turned.hot
	cmp both.hot turned.hot
}

@test "a completed profile is not completed again" {
	"$HOTTEXT" complete -q vmlinux samples.folded -o once.hot
	grep -qx 'source complete - - - - 0 0 0 0 0' once.hot
	"$HOTTEXT" complete -q vmlinux once.hot -o twice.hot
	cmp once.hot twice.hot
	"$HOTTEXT" optimize -q --machine generic-4k-32 vmlinux samples.folded -o plan > out
	cmp once.hot plan/profile.hot
	"$HOTTEXT" optimize -q --machine generic-4k-32 vmlinux plan/profile.hot -o again > out
	cmp plan/profile.hot again/profile.hot
	cmp <(grep -v samples.folded plan/hottext.ld) <(grep -v plan/profile.hot again/hottext.ld)
	! grep -q '"reader": *"complete"' plan/plan.json
}

@test "--against counts what is right and wrong" {
	printf 'sys_root;c 1\nsys_root;a;d 1\n' >truth.folded
	run -0 --separate-stderr "$HOTTEXT" complete -q --proved vmlinux samples.folded --against truth.folded
	[ "${lines[1]%	*}" = "functions before	4	2	2	0" ]
	[ "${lines[3]%	*}" = "functions after	4	5	4	1" ]
}

@test "--min-probability is 0 to 1, and 0 leaves nothing out" {
	for p in -1 1.01 2; do
		run -2 --separate-stderr "$HOTTEXT" complete --min-probability=$p vmlinux samples.folded
		[ "$stderr" = "hottext: complete: --min-probability is 0 to 1; try 'hottext complete --help'" ]
	done
	local sample=$BATS_TEST_DIRNAME/../samples/linux-6.1-x86_64
	xz -dc "$sample/vmlinux.xz" >kernel
	"$HOTTEXT" complete -q kernel "$sample/perf.data.zst" --explain >default
	"$HOTTEXT" complete -q --min-probability 0 kernel "$sample/perf.data.zst" --explain >all
	"$HOTTEXT" complete -q --min-probability 0.3 kernel "$sample/perf.data.zst" --explain | cmp - default
	[ "$(wc -l <all)" -gt "$(wc -l <default)" ]
}

@test "no profile, no vmlinux" {
	run -2 "$HOTTEXT" complete vmlinux
	echo 'user;main 5' >user.folded
	run -1 --separate-stderr "$HOTTEXT" complete -q vmlinux user.folded -o user.hot
	[ "$stderr" = "hottext: cannot use 'user.folded': it has no kernel samples" ]
	[ ! -e user.hot ]
	run -1 --separate-stderr "$HOTTEXT" complete nothing samples.folded
	[ "$stderr" = "hottext: cannot read 'nothing': No such file or directory" ]
}

@test "libopcodes is loaded to disassemble only; when it cannot be, that is said" {
	name=$(grep -aoE 'libopcodes[-.0-9A-Za-z]*\.so[.0-9]*' "$HOTTEXT" | head -n 1)
	[ -n "$name" ] || skip "a static libopcodes"
	mkdir lib
	: >"lib/$name"
	LD_LIBRARY_PATH=$PWD/lib run -1 --separate-stderr "$HOTTEXT" complete -q vmlinux samples.folded
	[[ $stderr = "hottext: cannot load '$name': "* ]]
	[ -z "$output" ]
	LD_LIBRARY_PATH=$PWD/lib run -0 --separate-stderr "$HOTTEXT" collect -q --vmlinux vmlinux samples.folded
	[[ $output = *"func c 5 0"* ]]
}
