#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# RISC-V's linker shortens a call that reaches its target: sizes follow from the order, and a plan's addresses from a link.

bats_require_minimum_version 1.5.0
HOTTEXT=$(realpath "${HOTTEXT:-$BATS_TEST_DIRNAME/../hottext}")
SCRIPT=$BATS_TEST_DIRNAME/data/lds/riscv.lds

# 8 objects of 8 functions of 40 KB: 2.5 MB of text, in which some calls reach (1 MB) and others do not.
setup_file() {
	command -v riscv64-linux-gnu-ld riscv64-linux-gnu-as > /dev/null || return 0
	cd "$BATS_FILE_TMPDIR" || return 1
	local o f c
	for o in {0..7}; do
		for ((f = 8 * o; f < 8 * o + 8; f++)); do
			printf '\t.section .text.f%d,"ax"\n\t.globl f%d\n\t.type f%d, @function\nf%d:\n' $f $f $f $f
			for c in {1..40}; do echo "	call f$(((f * 7 + c * 31) % 64))"; done
			printf '\tret\n\t.skip 40000\n\t.size f%d, . - f%d\n' $f $f
		done > o.s
		riscv64-linux-gnu-as -o o$o.o o.s || return 1
	done
	for f in {0..63..5}; do echo "f$f;f$(((f + 24) % 64)) 10"; done > folded
	ln -s "$HOTTEXT" hottext-ld
	link old || return 1
	"$HOTTEXT" optimize -q --algorithm density --machine generic-4k-32 old folded -o plan > /dev/null || return 1
	HOTTEXT_PLAN=plan link new
}

setup() {
	command -v riscv64-linux-gnu-ld riscv64-linux-gnu-as > /dev/null || skip "no binutils for riscv64"
	cd "$BATS_FILE_TMPDIR" || return 1
}

link() {
	CROSS_COMPILE=riscv64-linux-gnu- ./hottext-ld -T "$SCRIPT" --build-id=sha1 o?.o -o "$1"
}

@test "alignments are read from objects whose sections got shorter" {
	local whole short
	read -r _ whole _ < <(riscv64-linux-gnu-nm -S o0.o | grep ' f0$')
	read -r _ short _ < <(riscv64-linux-gnu-nm -S old | grep ' f0$')
	[ $((16#$short)) -lt $((16#$whole)) ]
	grep -qx 'addresses exact, from the link map and the objects' plan/report.txt
}

@test "verify: the order is held, pages may differ, and --exact says so" {
	run -0 "$HOTTEXT" verify plan new
	[[ "$output" == *" on other pages, since the linker resizes code by where it lies"* ]]
	[[ "$output" =~ order\ +([0-9]+)\ of\ ([0-9]+)\ placed ]]
	[ "${BASH_REMATCH[1]}" = "${BASH_REMATCH[2]}" ]
	run -3 "$HOTTEXT" verify --exact plan new
	[[ "$output" =~ "has "[0-9]+" bytes, planned "[0-9]+ ]]
	run -3 "$HOTTEXT" verify plan old
	[[ "$output" == *"out of order"* ]]
}

@test "planned again with the sizes of that link, every address is as planned" {
	"$HOTTEXT" optimize -q --algorithm density --machine generic-4k-32 --trial new.map old folded -o again > /dev/null
	cmp plan/hottext.ld again/hottext.ld
	run -0 "$HOTTEXT" verify --exact again new
	run -1 --separate-stderr "$HOTTEXT" optimize -q --trial /dev/null old folded -o none
	[ ! -e none ]
}

@test "one build plans twice, so that its addresses hold" {
	HOTTEXT_PROFILE=folded link once
	[ -z "$(ls | grep hottext-)" ] || [ "$(ls | grep hottext-)" = hottext-ld ]
	run -0 "$HOTTEXT" verify --exact .hottext/plan once
}
