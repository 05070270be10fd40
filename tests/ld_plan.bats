# SPDX-License-Identifier: GPL-3.0-or-later
# The linker wrapper's order of a kernel: without a plan, by one, and by one that is broken or only half there.
load kernel.bash
load ld.bash

@test "function sections are taken in, unlikely text stays behind the main text" {
	make_kernel
	kernel_link vmlinux
	order vmlinux _stext startup_64 vfs_read xfs_read schedule_tail memcpy vfs_read.cold nmi_a __sched_text_start \
		wait_a schedule __sched_text_end entry _etext
	grep -q '^ \.text\.vfs_read' vmlinux.map
	kernel_link .tmp_vmlinux.kallsyms1
	cmp vmlinux .tmp_vmlinux.kallsyms1
	[ ! -e .tmp_vmlinux.kallsyms1.map ]
	kernel_link again -Map=named.map
	[ -e named.map ]
	[ ! -e again.map ]
}

@test "a plan's order is obeyed, statics told apart by object" {
	make_kernel
	plan <<-'P'
	[f]s/file.o(.text.helper)
	. = ALIGN(256);
	*(.text.xfs_read)
	[l]ib/clear_page.o(.text)
	*(.text.unlikely.vfs_read)
	*(.text.vfs_read)
	P
	HOTTEXT_PLAN=plan kernel_link vmlinux
	order vmlinux _stext startup_64 helper xfs_read clear_page vfs_read.cold vfs_read schedule_tail memcpy nmi_a _etext
	[ $((16#$(nm vmlinux | awk '$3 == "xfs_read" { print $1 }') % 256)) -eq 0 ]
	[ "$(nm vmlinux | awk '/[tT]/ { print $3 }' | sort)" = "$(kernel_link plain; nm plain | awk '/[tT]/ { print $3 }' | sort)" ]
	[ "$(first_helper vmlinux)" = 000000000000001e ]
	HOTTEXT_PLAN=plan kernel_link again
	cmp vmlinux again
}

@test "groups move whole behind the hot region, their members ordered" {
	make_kernel
	plan <<-'P'
	*(.text.vfs_read)
	/* hottext-group .sched.text after-hot */
	/* hottext-member [k]ernel/core.o(.sched.text) */
	/* hottext-group .noinstr.text after-hot */
	/* hottext-member [f]s/xfs/file.o(.noinstr.text) */
	P
	HOTTEXT_PLAN=plan kernel_link vmlinux
	order vmlinux vfs_read schedule wait_a __sched_text_end nmi_a __noinstr_text_end xfs_read entry
	sed -i 's/ after-hot//' plan/hottext.ld
	HOTTEXT_PLAN=plan kernel_link vmlinux
	order vmlinux vfs_read xfs_read nmi_a schedule wait_a __sched_text_end entry
}

@test "the 6.12 order: head text stays first, noinstr moves with cpuidle inside" {
	make_kernel
	{ section .cpuidle.text idle 20; } | object kernel/core2.o
	ar rcSTP vmlinux.a head.o fs/file.o fs/xfs/file.o kernel/core.o kernel/core2.o lib/memcpy.o lib/clear_page.o
	plan <<-'P'
	*(.text.xfs_read)
	/* hottext-group .noinstr.text after-hot */
	/* hottext-member [f]s/xfs/file.o(.noinstr.text) */
	P
	SCRIPT=$DATA/lds/x86-64-6.12.lds HOTTEXT_PLAN=plan kernel_link vmlinux -e 0
	order vmlinux _stext startup_64 xfs_read __noinstr_text_start nmi_a __cpuidle_text_start idle __cpuidle_text_end \
		__noinstr_text_end vfs_read schedule_tail memcpy vfs_read.cold wait_a schedule entry _etext
}

@test "the 6.13 order, and a script that takes .text.* in by itself" {
	make_kernel
	plan <<< '*(.text.xfs_read)'
	SCRIPT=$DATA/lds/x86-64-6.13.lds HOTTEXT_PLAN=plan kernel_link vmlinux
	order vmlinux _stext entry xfs_read vfs_read.cold vfs_read schedule_tail memcpy nmi_a schedule _etext
	SCRIPT=$DATA/lds/x86-64-dce.lds HOTTEXT_PLAN=plan kernel_link vmlinux -e 0
	order vmlinux _stext startup_64 xfs_read vfs_read schedule_tail schedule _etext
}

@test "a missing or broken plan stops the build with one line" {
	make_kernel
	kernel_link vmlinux
	HOTTEXT_PLAN=missing run kernel_link vmlinux
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 1 ]
	[ "$output" = "hottext: cannot read 'missing/hottext.ld': No such file or directory" ]
	nothing_left
	for bad in '_etext = .;' '} .x : {' '*(.text.a' '/* hottext-member *(.x) */' 'ASSERT(0, "x")'; do
		plan <<< "$bad"
		HOTTEXT_PLAN=plan run kernel_link vmlinux
		[ "$status" -eq 1 ]
		[ "${#lines[@]}" -eq 1 ]
		nothing_left
	done
	plan <<< '/* hottext-group .other.text */'
	HOTTEXT_PLAN=plan run kernel_link vmlinux
	[ "$status" -eq 1 ]
	[ "$output" = "hottext: no group '.other.text' between symbols in '$DATA/lds/x86-64-6.1.lds'" ]
	HOTTEXT_PLAN=plan HOTTEXT_PROFILE=p run kernel_link vmlinux
	stops 1 "hottext: both HOTTEXT_PLAN and HOTTEXT_PROFILE are set"
	HOTTEXT_PROFILE=missing run kernel_link vmlinux
	[ "$status" -eq 1 ]
	[ "${lines[0]}" = "hottext: cannot read 'missing': No such file or directory" ]
	nothing_left
}

@test "less than half of the plan stops, less than 90 % warns" {
	make_kernel
	plan < <(printf '*(.text.none%d)\n' 1 2 3 4; printf '*(.text.%s)\n' vfs_read xfs_read schedule_tail)
	HOTTEXT_PLAN=plan run kernel_link vmlinux
	stops 1 "hottext: only 3 of the 7 sections of plan 'plan' are in 'vmlinux'"
	nothing_left
	[ ! -e vmlinux.map ]
	plan < <(printf '*(.text.none%d)\n' 1; printf '*(.text.%s)\n' vfs_read xfs_read schedule_tail)
	HOTTEXT_PLAN=plan run kernel_link vmlinux
	stops 0 "hottext: warning: only 3 of the 4 sections of plan 'plan' are in 'vmlinux'"
	plan < <(printf '*(.text.%s)\n' vfs_read xfs_read schedule_tail)
	HOTTEXT_PLAN=plan run kernel_link vmlinux
	stops 0 ""
	make_kernel 1
	HOTTEXT_PLAN=plan run kernel_link vmlinux
	[ "$status" -eq 1 ]
	[[ "$output" == *"built without -ffunction-sections?"* ]]
}

@test "a plan that places nothing links as without one, and says so" {
	make_kernel
	plan < <(printf '/*\n * 0 functions in 0 sections placed, 6 sections dropped.\n */\n')
	HOTTEXT_PLAN=plan run kernel_link vmlinux
	stops 0 "hottext: warning: plan 'plan' places no sections: 'vmlinux' is in link order"
	kernel_link unplanned
	cmp vmlinux unplanned
}

@test "lld gets the symbol order" {
	need_lld
	make_kernel
	printf '/*\n * 0 functions in 0 sections placed, 6 sections dropped.\n */\n' | plan
	printf 'xfs_read\nclear_page\nvfs_read\n' > plan/symbols.order
	FLAGS=-O1 HOTTEXT_LD=ld.lld-19 HOTTEXT_PLAN=plan kernel_link vmlinux
	order vmlinux _stext startup_64 xfs_read vfs_read schedule_tail
	rm plan/symbols.order
	FLAGS=-O1 HOTTEXT_LD=ld.lld-19 HOTTEXT_PLAN=plan run kernel_link vmlinux
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 1 ]
}

@test "lld: a plan's order, statics told apart by object, in one build and in two" {
	need_lld
	make_kernel
	export FLAGS=-O1 HOTTEXT_LD=ld.lld-19
	kernel_link old
	grep -q 'fs/xfs/file.o):(.text.helper)' old.map
	plan <<-'P'
	[f]s/xfs/file.o(.text.helper)
	. = ALIGN(256);
	*(.text.xfs_read)
	[l]ib/clear_page.o(.text)
	*(.text.vfs_read)
	/* hottext-group .sched.text after-hot */
	/* hottext-member [k]ernel/core.o(.sched.text) */
	P
	HOTTEXT_PLAN=plan kernel_link vmlinux
	order vmlinux _stext startup_64 xfs_read clear_page vfs_read schedule wait_a __sched_text_end schedule_tail _etext
	[ "$(first_helper vmlinux)" = 0000000000000046 ]
	plan < <(printf '*(.text.none%d)\n' 1 2 3; printf '[f]s/file.o(.text.helper)\n*(.text.vfs_read)\n')
	HOTTEXT_PLAN=plan run kernel_link vmlinux
	stops 1 "hottext: only 2 of the 5 sections of plan 'plan' are in 'vmlinux'"
	[ ! -e vmlinux ]
	{ head -n 1 "$DATA/collect/chains.hot"; printf 'func %s\n' 'xfs_read 50 0' 'helper@fs/xfs/file.o 9 0' 'schedule 5 5'; } > p.hot
	"$HOTTEXT" optimize -q --machine generic-4k-32 old p.hot -o two
	HOTTEXT_PLAN=two kernel_link planned
	"$HOTTEXT" verify --exact two planned
	HOTTEXT_PROFILE=p.hot kernel_link once
	"$HOTTEXT" verify --exact .hottext/plan once
}

@test "lld by another name is told by its maps" {
	need_lld
	make_kernel
	mkdir bin
	printf '#!/bin/sh\necho >> links\nexec ld.lld-19 "$@"\n' > bin/ld; chmod +x bin/ld
	export FLAGS=-O1 PATH=$PWD/bin:$PATH
	kernel_link old
	plan < <(printf '%s\n' '[f]s/xfs/file.o(.text.helper)' '*(.text.xfs_read)' '[l]ib/clear_page.o(.text)' '*(.text.vfs_read)')
	HOTTEXT_PLAN=plan kernel_link vmlinux
	HOTTEXT_LD=ld.lld-19 HOTTEXT_PLAN=plan kernel_link named
	cmp vmlinux named
	order vmlinux _stext startup_64 xfs_read clear_page vfs_read schedule_tail
	[ "$(first_helper vmlinux)" = 0000000000000046 ]
	# Only once where the first link tells.
	rm links
	{ head -n 1 "$DATA/collect/chains.hot"; printf 'func %s\n' 'xfs_read 50 0' 'helper@fs/xfs/file.o 9 0' 'schedule 5 5'; } > p.hot
	HOTTEXT_PROFILE=p.hot kernel_link once
	"$HOTTEXT" verify --exact .hottext/plan once
	[ "$(wc -l < links)" -eq 2 ]
	"$HOTTEXT" ld -r -o vmlinux.o --whole-archive vmlinux.a
	HOTTEXT_LD=ld.lld-19 "$HOTTEXT" ld -r -o bin/vmlinux.o --whole-archive vmlinux.a
	cmp vmlinux.o bin/vmlinux.o
	readelf -SW vmlinux.o | grep -qF .text.helper..fs_xfs_file
	printf '/*\n * 0 functions in 0 sections placed, 6 sections dropped.\n */\n' | plan
	HOTTEXT_PLAN=plan run kernel_link vmlinux
	stops 1 "hottext: cannot read 'plan/symbols.order': No such file or directory"
	printf 'xfs_read\nclear_page\nvfs_read\n' > plan/symbols.order
	HOTTEXT_PLAN=plan kernel_link vmlinux
	order vmlinux _stext startup_64 xfs_read vfs_read schedule_tail
	no_temporaries
}

@test "a plan is set, and a kernel is linked without a kernel's script: a warning" {
	make_kernel
	echo 'SECTIONS { .text : { *(.text .text.*) } }' > other.lds
	plan <<< '*(.text.xfs_read)'
	for kernel in vmlinux vmlinux.unstripped .tmp_vmlinux1 .tmp_vmlinux.btf; do
		HOTTEXT_PLAN=plan run "$HOTTEXT" ld -e 0 -T other.lds -o $kernel fs/file.o
		stops 0 "hottext: warning: cannot order '$kernel': it is linked by no kernel's script"
	done
	HOTTEXT_PROFILE=p run "$HOTTEXT" ld -e 0 -o vmlinux fs/file.o
	stops 0 "hottext: warning: cannot order 'vmlinux': it is linked by no kernel's script"
	run "$HOTTEXT" ld -e 0 -T other.lds -o vmlinux fs/file.o
	stops 0 ""
	mkdir boot
	export HOTTEXT_PLAN=plan
	for link in "-e 0 -o boot/vmlinux" "-e 0 -o other" "-r -o vmlinux"; do
		run "$HOTTEXT" ld $link -T other.lds fs/file.o
		stops 0 ""
	done
}
