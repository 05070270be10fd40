# SPDX-License-Identifier: GPL-3.0-or-later
# Functions that share a name and change their order: livepatches name them by it.
load kernel.bash

setup() {
	cd "$BATS_TEST_TMPDIR"
	unset HOTTEXT_PLAN HOTTEXT_PROFILE HOTTEXT_LD CROSS_COMPILE LINK SCRIPT
	make_kernel
	{ echo '	.file "file.c"'; section .text.helper helper 30; section .text.vfs_read vfs_read 100; } | object fs/file.o
	{ echo '	.file "xfs.c"'; section .text.helper helper 70; section .text.xfs_read xfs_read 200; } | object fs/xfs/file.o
	{ head -n 1 "$DATA/collect/chains.hot"; printf 'func %s\n' 'helper@xfs.c 9 0' 'xfs_read 50 0' 'schedule 5 5'; } > p.hot
}

# link_and_plan [SYMBOL]: a kernel with one more function, and a plan of it whose talk is in `err`.
link_and_plan() {
	section ".text.$1" "$1" 16 | object klp.o
	ar rcSTP vmlinux.a head.o fs/file.o fs/xfs/file.o kernel/core.o lib/memcpy.o lib/clear_page.o klp.o
	kernel_link old
	"$HOTTEXT" optimize --machine generic-4k-32 old p.hot -o plan > out 2> err
	HOTTEXT_PLAN=plan kernel_link new
}

@test "with livepatching: a warning, the plan's list, and verify holds the kernel to it" {
	link_and_plan klp_enable_patch
	grep -qxF "hottext: warning: livepatches must count anew: functions of the same name change their order (helper)" err
	[ "$(jq -c '.positions[]' plan/plan.json)" = '{"name":"helper","function":"helper@file.c","before":1,"after":2}
{"name":"helper","function":"helper@xfs.c","before":2,"after":1}' ]
	run "$HOTTEXT" verify plan new
	[ "$status" -eq 0 ]
	[[ "$output" == *"livepatch  2 of 2 functions at their planned place among those of their name; not that of link order"* ]]
	run "$HOTTEXT" verify --all plan old
	[ "$status" -eq 3 ]
	[[ "$output" == *"strayed: helper@xfs.c: number 2 of the functions called helper, planned 1"* ]]
	# A plan that was read and written keeps them.
	sed -i 's/"after":1}/"after":3}/' plan/plan.json
	run "$HOTTEXT" verify plan new
	[ "$status" -eq 3 ]
	[[ "$output" == *"strayed: helper@xfs.c: number 1 of the functions called helper, planned 3"* ]]
}

@test "no warning where the order stays, or where the kernel has no livepatching" {
	link_and_plan other
	[ -s err ] && ! grep livepatch err
	[ "$(jq -c '.positions' plan/plan.json)" = '[]' ]
	run "$HOTTEXT" verify plan new
	[ "$status" -eq 0 ]
	[[ "$output" != *livepatch* ]]
	sed -i 's/helper@xfs.c/helper@file.c/' p.hot
	link_and_plan klp_enable_patch
	[ -s err ] && ! grep livepatch err
	[ "$(jq -c '.positions' plan/plan.json)" = '[]' ]
}
