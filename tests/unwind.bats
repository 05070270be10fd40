# SPDX-License-Identifier: GPL-3.0-or-later
# ARM's modules: their tables of unwinding are merged along with their text, and in its order.
bats_require_minimum_version 1.5.0
load kernel.bash

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	unset HOTTEXT_PLAN HOTTEXT_PROFILE HOTTEXT_LD
	command -v arm-linux-gnueabi-as arm-linux-gnueabi-ld > /dev/null || skip "no binutils for arm"
	export CROSS_COMPILE=arm-linux-gnueabi-
	{ unwound .text.cold_one cold_one; unwound .text.hot_one hot_one; unwound .init.text start; } | assemble a.o
	{ unwound .text.table table '.personality __aeabi_unwind_cpp_pr1
	.handlerdata'; unwound .text.warm warm; unwound .text.unlikely.far far; unwound .exit.text stop; } | assemble b.o
	echo 'SECTIONS { /DISCARD/ : { *(.discard) } }' > module.lds
	printf 'hottext-profile 1\nsource x - - - - 9 9 9 0 0\nfunc warm@m.ko 5 0\nfunc hot_one@m.ko 3 0\n' > profile.hot
}

assemble() {
	{ echo .syntax unified; cat; echo '.section .note.GNU-stack,"",%progbits'; } | arm-linux-gnueabi-as -o "$1" -
}

# unwound SECTION FUNCTION [DIRECTIVES]: 16 bytes and how to unwind them.
unwound() {
	printf '\t.section %s,"ax",%%progbits\n\t.type %s,%%function\n%s:\t.fnstart\n\tpush {r4,lr}\n\t.save {r4,lr}\n' "$1" "$2" "$2"
	printf '\tnop\n\tnop\n\tpop {r4,pc}\n\t%s\n\t.fnend\n\t.size %s,.-%s\n' "${3:-}" "$2" "$2"
}

# The loader's rule: .ARM.exidx is of .text, .ARM.exidxNAME of NAME.
tables_find_text() {
	local table names
	names=$(arm-linux-gnueabi-readelf -SW "$1" | awk -F'[][ ]+' '/\[/ { print $3 }')
	while read -r table; do
		table=${table#.ARM.exidx}
		grep -qxF -- "${table:-.text}" <<< "$names" || { echo "no text for .ARM.exidx$table"; return 1; }
	done < <(grep '^\.ARM\.exidx' <<< "$names")
}

@test "each table's text is found by its name, its entries in the order of the functions" {
	HOTTEXT_PROFILE=profile.hot "$HOTTEXT" ld -r -T module.lds -o m.ko a.o b.o
	tables_find_text m.ko
	arm-linux-gnueabi-readelf -SW m.ko | awk -F'[][ ]+' '$3 ~ /^\.ARM\.ex/ { print $3 }' | sort > got
	diff - got <<-'END'
		.ARM.exidx
		.ARM.exidx.exit.text
		.ARM.exidx.init.text
		.ARM.exidx.text.unlikely
		.ARM.extab
		.ARM.extab.exit.text
		.ARM.extab.init.text
		.ARM.extab.text.unlikely
	END
	arm-linux-gnueabi-nm -n m.ko | awk '/ t (warm|hot_one|cold_one|table)$/ { print $3 }' > text
	printf '%s\n' warm hot_one cold_one table | diff - text
	# A section's first function is shown by its offset alone.
	arm-linux-gnueabi-readelf -u m.ko | sed -n "/'.ARM.exidx'/,/^Unwind.*init/s/^\(0x[0-9a-f]*\).*:.*/\1/p" > entries
	printf '%s\n' 0x0 0x10 0x20 0x30 | diff - entries
	arm-linux-gnueabi-readelf -u m.ko | grep -q '^0x30.*: @0x0'
	# What the linker says of link order: the table's text.
	link=$(arm-linux-gnueabi-readelf -SW m.ko | awk '/ \.ARM\.exidx  / { print $(NF - 2) }')
	arm-linux-gnueabi-readelf -SW m.ko | grep -q "\[ *$link\] \.text "
}

@test "the same with lld, whose maps of 32 bits have narrower columns" {
	command -v ld.lld-19 > /dev/null || skip "no ld.lld-19"
	HOTTEXT_LD=ld.lld-19 HOTTEXT_PROFILE=profile.hot "$HOTTEXT" ld -r -T module.lds -o m.ko a.o b.o
	tables_find_text m.ko
	arm-linux-gnueabi-nm -n m.ko | awk '/ t (warm|hot_one|cold_one|table)$/ { print $3 }' > text
	printf '%s\n' warm hot_one cold_one table | diff - text
	# Offsets that its relocations add to: of each entry, its function's.
	arm-linux-gnueabi-objcopy -O binary -j .ARM.exidx m.ko table
	od -An -v -tx4 -w8 table | awk '{ print $1 }' > entries
	printf '%08x\n' 0 16 32 48 | diff - entries
}
