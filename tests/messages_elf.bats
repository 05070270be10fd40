# SPDX-License-Identifier: GPL-3.0-or-later
# Messages about kernels, modules and link maps that are damaged.
bats_require_minimum_version 1.5.0
load kernel.bash

setup_file() {
	local here=$PWD
	cd "$BATS_FILE_TMPDIR"
	make_kernel
	kernel_link vmlinux
	printf 'task;xfs_read_[k];schedule_[k] 50\ntask;vfs_read_[k];memcpy_[k] 9\n' > stacks.folded
	cd "$here"
}

TOP=$PWD
setup() {
	unset HOTTEXT_PLAN HOTTEXT_PROFILE HOTTEXT_LD CROSS_COMPILE LINK SCRIPT
	base=$BATS_FILE_TMPDIR
	cd "$BATS_TEST_TMPDIR"
}

# says MESSAGE ARG...: hottext says just that and ends with status 1.
says() {
	local message=$1 status=0
	shift
	"$HOTTEXT" "$@" > out 2> err || status=$?
	[ $status -eq 1 ] && [ "$(cat err)" = "hottext: $message" ] || { echo "wanted: $message; status $status, said:"; cat err; return 1; }
}

# damaged WHERE=VALUE... -- MESSAGE: so damaged the kernel is refused.
damaged() {
	cp "$base/vmlinux" k
	while [ "$1" != -- ]; do
		"$TOP/tests/elfpoke.pl" k "$1"
		shift
	done
	says "cannot read 'k': $2" analyze -q --machine generic-4k-32 k "$base/stacks.folded"
}

@test "messages: damaged kernels" {
	damaged e_type=1 -- "an object file, not a linked kernel"
	damaged .text.sh_addr=0xfffffffffffff000 .text.sh_size=0x2000 -- "a section wraps around the address space"
	damaged .symtab.sh_entsize=0 -- "the symbol table's entry size is zero"
	damaged .symtab+48.4=0xffffff -- "a symbol's name lies outside the string table"
	damaged .strtab.sh_type=8 -- "a symbol's name lies outside the string table"	# no bytes in the file
	damaged .symtab.sh_type=1 -- "no .symtab (stripped?)"
	damaged .text.sh_size=0xffffff -- "section '.text' is cut off"
	damaged .init.text.sh_addr="$((16#$(readelf -SW "$base/vmlinux" | sed -n 's/.* \.text *PROGBITS *\([0-9a-f]*\).*/\1/p') + 1))" -- \
		"sections '.head.text' and '.init.text' overlap"
	# Two thousand million symbols, all but some of them a hole in the file.
	truncate -s 60G hole 2> /dev/null || skip "no file of 60 GB, not even an empty one"
	cp "$base/vmlinux" k
	"$TOP/tests/elfpoke.pl" k .symtab.sh_size=$((24 << 31))
	truncate -s 60G k
	says "cannot read 'k': too many symbols" analyze -q --machine generic-4k-32 k "$base/stacks.folded"
	rm k hole
}

@test "messages: a kernel of no known machine" {
	cp "$base/vmlinux" k
	"$TOP/tests/elfpoke.pl" k e_machine=4711
	printf 'dd 100/100 [000] 1.000000: 1 cycles:\n\tffffffff81000010 vfs_read+0x4 ([kernel.kallsyms])\n\n' > script
	says "no disassembler for 'ELF machine 4711'" complete -q k script
}

@test "messages: link maps" {
	head='Linker script and memory map\n\n'
	map() { printf "$head$1" > map; says "$2" analyze -q --machine generic-4k-32 --map map "$base/vmlinux" "$base/stacks.folded"; }
	map '.text 0xfffffffffffffff0 0x100\n' "cannot read 'map': line 3: output section past the end of memory"
	map '.text 0x1000 0x100\n .text 0x2000 0x10 a.o\n' "cannot read 'map': line 4: section outside '.text'"
	map '.text 0x1000 0x100\n .text 0x1000 0x10 a.o\n .text 0x1008 0x10 b.o\nOUTPUT(k elf)\n' \
		"cannot read 'map': sections '.text' and '.text' overlap"
	map '.text 0x1000 0x100\n' "cannot read 'map': cut off"
	head='' map 'nothing\n' "cannot read 'map': not a link map of GNU ld or lld"
	head='             VMA              LMA     Size Align Out     In      Symbol\n' map 'nothing\n' \
		"cannot read 'map': line 2: not a line of lld's map"
	map '.text 0x1000 0x10\n .text 0x1000 0x10 a.o\nOUTPUT(k elf)\n' \
		"link map 'map' is not of '$base/vmlinux': section '.text' is not at 0x1000 with size 0x10"
	{ printf 'Linker script and memory map\n\n.text 0x81000000 0x1000000\n'
	  yes ' .text 0x81000000 0x1 a.o' | head -n $(((8 << 20) + 1)); } | zstd -q > map
	says "cannot read 'map': line 8388612: more than 8388608 items" \
		analyze -q --machine generic-4k-32 --map map "$base/vmlinux" "$base/stacks.folded"
}

@test "messages: a link map that nobody named and that is damaged" {
	cp "$base/vmlinux" k
	printf 'Linker script and memory map\n\n.text 0x1000 0x100\n' > k.map
	says "cannot read 'k.map': cut off" analyze -q --machine generic-4k-32 k "$base/stacks.folded"
	"$HOTTEXT" analyze --machine generic-4k-32 k "$base/stacks.folded" > out 2> err || status=$?
	[ "$status" -eq 1 ]
	grep -qx "hottext: 'k.map' was taken since it lies beside 'k': without it units are inferred from symbols" err
	status=0
	"$HOTTEXT" analyze --map k.map --machine generic-4k-32 k "$base/stacks.folded" > out 2> err || status=$?
	[ "$status" -eq 1 ]
	[ "$(cat err)" = "hottext: cannot read 'k.map': cut off" ]
}

@test "messages: a kernel of debug information only" {
	"${CROSS_COMPILE:-}objcopy" --only-keep-debug "$base/vmlinux" k
	"$HOTTEXT" analyze --machine generic-4k-32 k "$base/stacks.folded" > out 2> err
	said="'k' has symbols and no code: a profile is taken as it is, and roots never profiled are not guarded"
	[ "$(grep -cxF "hottext: warning: $said" err)" -eq 1 ]
	"$HOTTEXT" analyze --machine generic-4k-32 "$base/vmlinux" "$base/stacks.folded" > out 2> err
	[ "$(grep -c 'no code' err)" -eq 0 ]
}

@test "messages: lines that never end" {
	{ echo 'hottext-profile 1'; head -c 68000000 /dev/zero | tr '\0' a; } | zstd -q > long.hot
	says "cannot read 'long.hot': line is longer than 64 MiB" collect -q long.hot
}

@test "messages: fetch traces of another kernel, and without an end" {
	id=$(readelf -n "$base/vmlinux" | awk '/Build ID/ { print $3 }')
	trace=$TOP/tests/corpus/fetch/end
	theirs=$(od -An -tx1 -j 28 -N 20 "$trace" | tr -d ' \n')
	not="cannot use '$trace': it is of kernel $theirs, '$base/vmlinux' is $id; use 'hottext collect --vmlinux OLD' and the profile that it writes"
	says "$not" collect -q --vmlinux "$base/vmlinux" "$trace"
	"$HOTTEXT" collect --force --vmlinux "$base/vmlinux" "$trace" > out 2> err
	[ "$(head -n 2 err)" = "hottext: $not
hottext: warning: '$trace' is used in spite of that" ]
	perl -e 'my $define = pack "V5", 0xffffff01, 16, 0, 16, 1;
		print "HTFETCH1", pack "V13", 1, 62, 1; print $define x 4096 for 1 .. 4096; print $define' | zstd -q -1 > many
	says "cannot read 'many': too many block definitions at byte 335544384 of the decompressed trace" \
		collect -q --vmlinux "$base/vmlinux" many
}

@test "messages: plans of which a kernel has nothing, or less than a script can say" {
	"$HOTTEXT" optimize -q --machine generic-4k-32 -o plan "$base/vmlinux" "$base/stacks.folded"
	{ section '".text.odd!name"' odd 100; section .text.plain plain 9000; } | object odd.o
	{ echo .globl startup_64; section .head.text startup_64 40; } | object head.o
	rm -f vmlinux.a
	ar rcST vmlinux.a head.o odd.o
	kernel_link k -Map=k.map
	says "nothing of the plan is in this kernel" verify plan k
	printf 'task;odd_[k] 50\n' > odd.folded
	"$HOTTEXT" optimize --machine generic-4k-32 -o odd k odd.folded > out 2> err
	grep -qxF "hottext: warning: 1 hot units have no name that a linker script could give, and stay" err || { cat err out; return 1; }
}

@test "messages: files in the place of others" {
	kernel=$base/vmlinux stacks=$base/stacks.folded
	local packer f
	says "'$kernel' is an ELF file, not a profile" analyze -q "$kernel" "$kernel"
	says "'$kernel' is an ELF file, not a profile" collect -q "$kernel"
	# Kernels hold compressed parts, which are not to be opened in passing.
	{ cat "$kernel"; head -c 30 /dev/zero | zstd -qc | head -c 8; head -c 9000 /dev/urandom; } > k
	says "'k' is an ELF file, not a profile" collect -q k
	says "'k' is an ELF file, not a link map" analyze -q --map k "$kernel" "$stacks"
	says "'k' is an ELF file, not an order" analyze -q --machine generic-4k-32 --order k "$kernel" "$stacks"
	says "'k' is an ELF file, not a plan" report k
	says "'k' is an ELF file, not a plan" verify k "$kernel"
	run -2 "$HOTTEXT" analyze "$stacks" "$kernel"
	[ "$output" = "hottext: analyze: VMLINUX comes first, then profiles: '$kernel' is an ELF file, '$stacks' is none; \
try 'hottext analyze --help'" ]
	says "cannot read '.': Is a directory" analyze -q . "$stacks"
	says "cannot read '.': Is a directory" collect -q --vmlinux . "$stacks"
	for packer in gzip xz zstd; do
		$packer -qc "$kernel" > packed
		says "cannot read 'packed': compressed by $packer: unpack it first" analyze -q packed "$stacks"
		says "cannot read 'packed': compressed by $packer: unpack it first" collect -q --vmlinux packed "$stacks"
		$packer -qc "$stacks" > packed
		[ $packer = zstd ] ||
			says "cannot read 'packed': compressed by $packer: unpack it first (zstd is read as it is)" collect -q packed
	done
	"$HOTTEXT" collect -q packed > out
	printf '\004\042\115\030' > packed
	says "cannot read 'packed': compressed by lz4: unpack it first" analyze -q packed "$stacks"
	echo 'BZh91AY&SY' > packed
	says "cannot read 'packed': compressed by bzip2: unpack it first" analyze -q packed "$stacks"
	{ head -c 514 /dev/zero; printf HdrS; } > image
	says "cannot read 'image': a bzImage has no symbols: give the vmlinux that it was made from" analyze -q image "$stacks"
	for f in 'ARM\x64' 'RSC\x05'; do
		{ head -c 56 /dev/zero; printf "$f"; } > image
		says "cannot read 'image': a bootable Image has no symbols: give the vmlinux that it was made from" analyze -q image "$stacks"
	done
	printf '\x27\x05\x19\x56' > image
	says "cannot read 'image': a uImage has no symbols: give the vmlinux that it was made from" analyze -q image "$stacks"
}
