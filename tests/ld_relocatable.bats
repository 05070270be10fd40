# SPDX-License-Identifier: GPL-3.0-or-later
# The linker wrapper's relocatable links: vmlinux.o, whose sections stay apart, and modules, whose do not.
load kernel.bash
load ld.bash

@test "vmlinux.o keeps sections of one name apart, modules do not" {
	make_kernel
	"$HOTTEXT" ld -r -o vmlinux.o --whole-archive vmlinux.a
	readelf -SW vmlinux.o | awk '{ print $2, $3 }' > sections
	for s in .text.helper..fs_file .text.helper..fs_xfs_file .text.asm..lib_memcpy .text.asm..lib_clear_page .text.vfs_read; do
		grep -qF -- "$s PROGBITS" sections || readelf -SW vmlinux.o | grep -qF -- "$s "
	done
	rm vmlinux.a
	ar rcSTP vmlinux.a vmlinux.o
	plan <<-'P'
	*(.text.asm..lib_clear_page)
	*(.text.helper..fs_xfs_file)
	*(.text.xfs_read)
	P
	HOTTEXT_PLAN=plan kernel_link vmlinux
	order vmlinux _stext startup_64 clear_page xfs_read vfs_read schedule_tail nmi_a _etext
	[ "$(first_helper vmlinux)" = 0000000000000046 ]
	nothing_left other
}

@test "vmlinux.o without function sections comes out byte for byte, by either linker" {
	make_kernel 1
	for ld in ld ld.lld-19; do
		command -v $ld > found || continue
		$ld -r -o plain.o --whole-archive vmlinux.a
		HOTTEXT_LD=$ld "$HOTTEXT" ld -r -o vmlinux.o --whole-archive vmlinux.a
		cmp plain.o vmlinux.o
	done
	# The map that was asked for is there, however often was linked.
	make_kernel
	for object in fs/file.o "fs/file.o fs/xfs/file.o" lib/memcpy.o; do
		rm -f asked.map
		"$HOTTEXT" ld -r -o vmlinux.o -Map=asked.map $object
		grep -q "${object##* }" asked.map
	done
	no_temporaries
}

@test "lld: vmlinux.o keeps sections of one name apart, a module's become one .text" {
	need_lld
	make_kernel
	export FLAGS=-O1 HOTTEXT_LD=ld.lld-19
	"$HOTTEXT" ld -r -o vmlinux.o --whole-archive vmlinux.a
	readelf -SW vmlinux.o > sections
	for s in .text.helper..fs_file .text.helper..fs_xfs_file .text.asm..lib_memcpy .text.asm..lib_clear_page .text.vfs_read; do
		grep -qF -- " $s " sections || { echo "no $s"; return 1; }
	done
	rm vmlinux.a
	ar rcSTP vmlinux.a vmlinux.o
	plan < <(printf '*(.text.asm..lib_clear_page)\n*(.text.helper..fs_xfs_file)\n*(.text.xfs_read)\n')
	HOTTEXT_PLAN=plan kernel_link vmlinux
	order vmlinux _stext startup_64 clear_page xfs_read vfs_read schedule_tail _etext
	[ "$(first_helper vmlinux)" = 0000000000000046 ]
	echo 'SECTIONS { /DISCARD/ : { *(.discard) } __ksymtab 0 : { *(SORT(___ksymtab+*)) } }' > module.lds
	{ head -n 1 "$DATA/collect/chains.hot"; echo 'func schedule_tail@small_mod.ko 5 0'; } > plan/profile.hot
	HOTTEXT_PLAN=plan "$HOTTEXT" ld -r -T module.lds -o small-mod.ko fs/file.o kernel/core.o
	order small-mod.ko schedule_tail vfs_read
	readelf -SW small-mod.ko | grep -o '\.text\.[a-z_.]*' > sections
	[ "$(cat sections)" = .text.unlikely ]
	no_temporaries
}

@test "lld: statics that ThinLTO renamed, and relocations kept in a kernel" {
	for program in clang-19 ld.lld-19 llvm-ar-19; do
		command -v $program > found || skip "no $program"
	done
	mkdir -p fs kernel
	cat > fs/file.c <<-'C'
		extern int sink;
		int schedule_tail(int);
		static __attribute__((noinline)) int helper(int a) { sink += a * 3; return sink ^ a; }
		int vfs_read(int a) { return helper(a) + schedule_tail(a); }
		int vfs_cold(int a) { sink -= a; return helper(a + 9); }
	C
	cat > kernel/core.c <<-'C'
		int sink;
		int vfs_read(int);
		int vfs_cold(int);
		static __attribute__((noinline)) int helper(int a) { sink ^= a; return sink * a + 7; }
		int schedule_tail(int a) { return helper(a) & 15; }
		__attribute__((section(".head.text"))) int startup_64(int a) { return vfs_read(a) + vfs_cold(a); }
	C
	for f in fs/file kernel/core; do
		clang-19 -c -O2 -flto=thin -fno-pic -mcmodel=kernel -ffreestanding -fno-asynchronous-unwind-tables -o $f.o $f.c
	done
	llvm-ar-19 cDPrST vmlinux.a fs/file.o kernel/core.o
	export FLAGS=-O1 HOTTEXT_LD=ld.lld-19
	"$HOTTEXT" ld -r -o vmlinux.o -Map=o.map --whole-archive vmlinux.a
	grep -q ':(.text.helper.llvm.' o.map
	rm vmlinux.a
	ar rcSTP vmlinux.a vmlinux.o
	kernel_link old -m elf_x86_64
	core=$(nm vmlinux.o | grep -o 'helper.llvm.*' | sed -n 2p)
	{ head -n 1 "$DATA/collect/chains.hot"; printf 'func %s\n' "$core 50 0" 'vfs_read 9 0' 'schedule_tail 5 5'; } > p.hot
	"$HOTTEXT" optimize -v --machine generic-4k-32 old p.hot -o plan > report 2> said
	if grep 'is not used\|inferred' said; then return 1; fi
	grep -qxF "*(.text.$core)" plan/hottext.ld
	grep -qxF "$core" plan/symbols.order
	HOTTEXT_PLAN=plan kernel_link planned -m elf_x86_64
	"$HOTTEXT" verify --exact plan planned
	HOTTEXT_PROFILE=p.hot kernel_link once -m elf_x86_64
	"$HOTTEXT" verify --exact .hottext/plan once
}

@test "a module's function sections become one .text, what the profile saw first" {
	make_kernel
	echo 'SECTIONS { /DISCARD/ : { *(.discard) } __ksymtab 0 : { *(SORT(___ksymtab+*)) } }' > module.lds
	cat fs/file.o > a.o; cp kernel/core.o b.o
	"$HOTTEXT" ld -r -T module.lds -o merged-mod.ko a.o b.o
	readelf -SW merged-mod.ko | awk '/PROGBITS/ && /\.text\./ { for (i = 1; i < NF; i++) if ($i ~ /^\.text/) print $i }' > sections
	[ "$(cat sections)" = .text.unlikely ]
	[ "$(nm merged-mod.ko | awk '{ print $3 }' | sort)" = "$(ld -r -T module.lds -o plain.ko a.o b.o; nm plain.ko | awk '{ print $3 }' | sort)" ]
	order merged-mod.ko vfs_read schedule_tail
	# Dashes are Kbuild's underscores; another module's functions are no business of this one.
	mkdir plan
	{ head -n 1 "$DATA/collect/chains.hot"
	  printf 'func %s\n' 'schedule_tail@merged_mod.ko 5 0' 'vfs_read@merged_modx.ko 90 0'
	} > plan/profile.hot
	HOTTEXT_PLAN=plan "$HOTTEXT" ld -r -T module.lds -o merged-mod.ko a.o b.o
	order merged-mod.ko schedule_tail vfs_read
	rm plan/profile.hot
	HOTTEXT_PLAN=plan run "$HOTTEXT" ld -r -T module.lds -o merged-mod.ko a.o b.o
	stops 1 "hottext: cannot read 'plan/profile.hot': No such file or directory"
	[ ! -e merged-mod.ko ]
	no_temporaries
	make_kernel 1
	ld -r -T module.lds -o plain.ko fs/file.o kernel/core.o
	"$HOTTEXT" ld -r -T module.lds -o ours.ko fs/file.o kernel/core.o
	cmp plain.ko ours.ko
}
