#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Branches of short reach from one section to another: where they leave and where they end, nothing moves.

HOTTEXT=$(realpath "${HOTTEXT:-$BATS_TEST_DIRNAME/../hottext}")

setup() {
	command -v powerpc-linux-gnu-ld powerpc-linux-gnu-as > /dev/null || skip "no binutils for powerpc"
	cd "$BATS_TEST_TMPDIR" || return 1
	ln -s "$HOTTEXT" hottext-ld
	unset HOTTEXT_PLAN HOTTEXT_PROFILE
	{ func .head.text _start blr; func .text.big big '.skip 40000'; } | powerpc-linux-gnu-as -o a.o -
	func .init.text start_kernel blr | powerpc-linux-gnu-as -o z.o -
}

# func SECTION NAME TEXT
func() {
	printf '\t.section %s,"ax",@progbits\n\t.globl %s\n\t.type %s,@function\n%s:\t%b\n\t.size %s,.-%s\n' \
		"$1" "$2" "$2" "$2" "$3" "$2" "$2"
}

link() {
	CROSS_COMPILE=powerpc-linux-gnu- ./hottext-ld -T "$BATS_TEST_DIRNAME/data/lds/ppc32.lds" --build-id=sha1 \
		a.o b.o z.o -o "$1"
}

# stays NAME: a plan whose profile is all NAME's leaves it where it is, and links.
stays() {
	link old
	echo "start_kernel;$1 50" > folded
	"$HOTTEXT" optimize -q --machine generic-4k-32 old folded -o plan > out
	[ "$(jq -c --arg n "$1" '.units[] | select(.name == $n) | [.moved, .why]' plan/plan.json)" = \
		"[false,\"reached by a branch of short reach from another section\"]" ]
	HOTTEXT_PLAN=plan link new
}

@test "a local label in another section: the relocation has a section and no name" {
	{ func .text.f f 'cmpwi 3,0\n beq 1f\n blr'; func .text.g g 'nop\n1: blr'; } | powerpc-linux-gnu-as -o b.o -
	stays g
}

@test "code that is patched in over other code ends in that: the kernel's feature sections" {
	{ func .text memcpy 'nop\n nop\n9: blr'; printf '\t.section __ftr_alt_97,"ax"\n\tcmpwi 3,0\n\tbeq 9b\n\tnop\n'; } |
		powerpc-linux-gnu-as -o b.o -
	stays memcpy
}

@test "a global of the same object, and a static that the link map does not list" {
	{ func .text.f f 'beq g\n blr'; func .text.g g blr; } | powerpc-linux-gnu-as -o b.o -
	stays g
	{ func .text.f f 'beq g\n blr'; func .text.g g blr; } | sed '/globl\tg/d; /globl g/d' | powerpc-linux-gnu-as -o b.o -
	stays g
}
