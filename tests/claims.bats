# SPDX-License-Identifier: GPL-3.0-or-later
# What the kernel's script has a place of its own for stays there: when a plan is made, when it is linked, when it is verified.
bats_require_minimum_version 1.5.0
load kernel.bash

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	unset HOTTEXT_PLAN HOTTEXT_PROFILE HOTTEXT_LD CROSS_COMPILE LINK
	make_kernel
	printf '%s\n' 'vfs_read_[k];thunk_rax_[k] 50' 'xfs_read_[k];special_[k] 50' \
		'xfs_read_[k];startup_[k];schedule_tail_[k] 40' 'vfs_read_[k];exit_[k];asan_ctor_[k] 30' > folded
	export SCRIPT=v.lds
}

# script BASE SED...: v.lds, after a kernel's script.
script() {
	local base=$1
	shift
	sed "$@" "$DATA/lds/$base.lds" > v.lds
}

# extra SECTION LABEL BYTES [ALIGN]...: one more object of the kernel.
extra() {
	object lib/extra.o
	rm vmlinux.a
	ar rcSTP vmlinux.a head.o fs/file.o fs/xfs/file.o kernel/core.o lib/memcpy.o lib/clear_page.o lib/extra.o
}

optimize() {
	rm -rf plan
	"$HOTTEXT" optimize -q --force --machine generic-4k-32 vmlinux folded -o plan "$@" > /dev/null
}

# placed: what the plan moves, without alignments and comments.
placed() {
	grep '^[*[]' "${1:-plan}/hottext.ld"
}

obeyed() {
	run -0 "$HOTTEXT" verify --exact plan "$1"
	[[ "$output" = *"the plan was obeyed"* ]]
}

# As 4.15 to 6.4 have it, and with a section of a name that nobody else uses.
thunks='s/^  \*(\.gnu\.warning)/  __indirect_thunk_start = .; *(.text.__x86.indirect_thunk) __indirect_thunk_end = .;\n&/'

@test "x86's thunks of one dot stay between their symbols" {
	script x86-64-6.1 "$thunks"
	{ section .text.__x86.indirect_thunk thunk_rax 32 32; section .text.__x86.return_thunk thunk_ret 32 64; } | extra
	kernel_link vmlinux
	optimize
	placed > got
	run ! grep thunk got
	grep -q 'vfs_read' got
	HOTTEXT_PLAN=plan run -0 kernel_link new
	stops 0 ""
	order new __indirect_thunk_start thunk_rax __indirect_thunk_end _etext
	obeyed new
	[[ "$output" = *"groups     8 of 8 whole"* ]]
	"$HOTTEXT" explain plan thunk_rax | grep -q 'thunks keep to their own section'
	# They are no sections of functions.
	make_kernel 1
	{ section .text.__x86.indirect_thunk thunk_rax 32 32; section .text.__x86.indirect_thunk thunk_rbx 32 32; } | extra
	rm vmlinux.map
	kernel_link vmlinux
	[ ! -e vmlinux.map ]
}

@test "verify says when thunks were taken away from between their symbols" {
	script x86-64-6.1 "$thunks"
	section .text.__x86.indirect_thunk thunk_rax 32 32 | extra
	kernel_link vmlinux
	optimize
	sed -i 's/\*(\.text\.hot /*(.text.__x86.indirect_thunk) &/' v.lds
	HOTTEXT_PLAN=plan kernel_link new
	run -3 "$HOTTEXT" verify plan new
	[[ "$output" = *"strayed: lib/extra.o: .text.__x86.indirect_thunk lies outside __indirect_thunk_start..__indirect_thunk_end"* ]]
	[[ "$output" = *"groups     7 of 8 whole"* ]]
}

@test "a link drops from the plan what the script claims, with one warning, and verify says what else was obeyed" {
	script x86-64-6.1 "$thunks"
	{ section .text.__x86.indirect_thunk thunk_rax 32 32; section .text.startup startup 32; section .text.exit exit 32; } | extra
	kernel_link vmlinux
	optimize
	cp -r plan old
	sed -i '/\*\//a. = ALIGN(64);\n*(.text.__x86.indirect_thunk)' old/hottext.ld
	sed -i "s/ in [0-9]* sections placed/ in $(placed old | wc -l) sections placed/" old/hottext.ld
	HOTTEXT_PLAN=old run kernel_link new
	stops 0 "hottext: warning: 'v.lds' has places of its own for 1 of the plan's sections, which stay there: '*(.text.__x86.indirect_thunk)'"
	order new __indirect_thunk_start thunk_rax __indirect_thunk_end _etext
	obeyed new
	# All of several kinds, on a line of their own or not; what is left of the plan stands.
	mkdir hand
	printf '*(.text.xfs_read) *(.text.startup)\n[l]ib/extra.o(.text.exit) *(.text.__x86.indirect_thunk)\n*(.text.vfs_read)' > hand/hottext.ld
	HOTTEXT_PLAN=hand run kernel_link new
	stops 0 "hottext: warning: 'v.lds' has places of its own for 3 of the plan's sections, which stay there: '*(.text.startup)' ..."
	order new _stext xfs_read vfs_read schedule_tail __indirect_thunk_start thunk_rax __indirect_thunk_end _sinittext startup exit
	# A plan from before that moved it: strayed, and its group whole.
	jq '(.units[] | select(.section == ".text.__x86.indirect_thunk")) |= (.moved = true | .group = "main")' plan/plan.json > old/plan.json
	run -3 "$HOTTEXT" verify --exact old new
	[[ "$output" != *"lies inside"* && "$output" = *"groups     8 of 8 whole"* ]]
}

@test "a section of any name stays where the script has a place for it" {
	# Between symbols: the link map says so.
	section .text.special special 32 | extra
	script x86-64-6.1 's/^  \*(\.gnu\.warning)/  special_start = .; *(.text.special) special_end = .;\n&/'
	kernel_link vmlinux
	optimize
	placed > got
	grep -q xfs_read got
	run ! grep special got
	HOTTEXT_PLAN=plan kernel_link new
	order new _stext xfs_read memcpy special_start special special_end _etext
	obeyed new
	# What such a kernel's plan moved moves again.
	mv new vmlinux
	mv new.map vmlinux.map
	optimize
	placed | grep -q '(.text.xfs_read)'
	# In init text: it is not among the text that stays.
	script x86-64-6.1 's/\*(\.init\.text \.init\.text\.\*)/& *(.text.special)/'
	kernel_link vmlinux
	optimize
	placed > got
	run ! grep special got
	HOTTEXT_PLAN=plan kernel_link new
	order new _etext _sinittext special
	obeyed new
}

@test "a statement of its own, without symbols: the script itself tells" {
	section .text.special special 32 | extra
	script x86-64-6.1 's/^  \*(\.gnu\.warning)/  *(.text.special)\n&/'
	kernel_link vmlinux
	optimize --lds v.lds
	placed > got
	grep -q xfs_read got
	run ! grep special got
	HOTTEXT_PROFILE=folded run -0 kernel_link new
	[[ "$output" != *"places of its own"* ]]
	placed .hottext/plan > got
	grep -q xfs_read got
	run ! grep special got
	order new _stext xfs_read memcpy special _etext
	cp -r .hottext/plan/. plan
	obeyed new
	run -1 "$HOTTEXT" optimize --force vmlinux folded -o other --lds none.lds
	[[ "$output" = *"cannot read 'none.lds': No such file or directory"* ]]
	[ ! -e other ]
}

@test "what is called startup or exit is init text by the kernel's script" {
	script x86-64-6.1 ''
	{ section .text.startup startup 200; section .text.exit exit 48; } | extra
	kernel_link vmlinux
	optimize
	placed > got
	grep -q xfs_read got
	run ! grep -E 'startup|exit' got
	HOTTEXT_PLAN=plan kernel_link new
	order new _etext _sinittext startup exit
	obeyed new
}

@test "sanitizers' constructors stand in front of the hot region, where the script puts them" {
	script x86-64-6.13 ''
	section .text.asan.module_ctor asan_ctor 5000 | extra
	kernel_link vmlinux
	optimize
	HOTTEXT_PLAN=plan kernel_link new
	order new entry asan_ctor xfs_read vfs_read.cold
	obeyed new
}

@test "lld: the same, and a statement that cannot be repeated for archives is an error" {
	command -v ld.lld-19 > /dev/null || skip "no ld.lld-19"
	script x86-64-6.1 "$thunks"
	{ section .text.__x86.indirect_thunk thunk_rax 32 32; section .text.startup startup 32; } | extra
	mkdir plan
	printf '*(.text.xfs_read)\n[l]ib/extra.o(.text.startup)\n*(.text.__x86.indirect_thunk)\n' > plan/hottext.ld
	FLAGS=-O1 HOTTEXT_LD=ld.lld-19 HOTTEXT_PLAN=plan run -0 kernel_link new
	[[ "$output" = "hottext: warning: 'v.lds' has places of its own for 2 of the plan's sections, which stay there: "* ]]
	order new _stext xfs_read vfs_read __indirect_thunk_start thunk_rax __indirect_thunk_end _sinittext startup
	printf '[l]ib/extra.o(\n.text.other)\n*(.text.vfs_read)\n' > plan/hottext.ld
	FLAGS=-O1 HOTTEXT_LD=ld.lld-19 HOTTEXT_PLAN=plan run -1 kernel_link new
	stops 1 "hottext: cannot read 'hottext.ld': unbalanced braces"
}
