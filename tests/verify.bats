# SPDX-License-Identifier: GPL-3.0-or-later
# hottext verify, on small synthetic kernels: obeyed plans, and every way to stray.
load kernel.bash

setup() {
	cd "$BATS_TEST_TMPDIR"
	unset HOTTEXT_PLAN HOTTEXT_PROFILE HOTTEXT_LD CROSS_COMPILE LINK SCRIPT
	make_kernel
	kernel_link old
	mkdir plan
	printf '*(.text.%s)\n' xfs_read schedule_tail vfs_read > plan/hottext.ld
	HOTTEXT_PLAN=plan kernel_link planned
	write_plan xfs_read:fs/xfs/file.o:.text.xfs_read schedule_tail:kernel/core.o:.text.schedule_tail \
		vfs_read:fs/file.o:.text.vfs_read schedule:kernel/core.o:.sched.text > plan/plan.json
}

# FILE SYMBOL: its address and size, each as 0x...
symbol() {
	nm -S "$1" | awk -v n="$2" '$4 == n { print "0x" $1, "0x" $2; found = 1; exit } END { if (!found) print "0x0", "0x1" }'
}

# FUNCTION:OBJECT:SECTION...: the plan that "planned" obeys; what is of .text.* was moved.
write_plan() {
	local text end u name object section addr size before skip sep= rest= page
	text=$(nm old | awk '$3 == "_stext" { print "0x" $1 }') end=$(nm old | awk '$3 == "_etext" { print "0x" $1 }')
	cat <<-J
	{"schema": 1, "tool": "hottext 0.1", "algorithm": "pack", "effort": 3, "command": "", "exact_units": true,
	 "exact_align": true, "text_start": "$text", "hot_start": "$text", "hot_end": "$end", "path_weight": 10,
	 "machine": "generic-4k-32", "machine_details": {"about": "", "arch": "any", "page_bytes": 4096, "pinned_text": false,
	  "miss_cycles_min": 20, "miss_cycles_max": 140, "clock_hz": 0,
	  "levels": [{"entries": 32, "ways": 32, "policy": "lru", "unified": false}]},
	 "vmlinux": {"build_id": "-", "release": "-", "arch": "${ARCH:-x86_64}"},
	 "profile": {"samples": 1, "kernel": 1, "resolved": 1, "lost": 0, "matched_exact": 1, "matched_name": 0,
	  "matched_normalized": 0, "unmatched": 0},
	 "hot": {"functions": 3, "bytes": 100, "touched_bytes": 100, "units": 3, "fixed": 1},
	 "before": {"pages": 2, "misses": null, "l1i_misses": null, "text_bytes": $((end - text)),
	  "entries_per_path": {"mean": 2, "p95": 2, "max": 2}},
	 "after": {"pages": 1, "misses": null, "l1i_misses": null, "text_bytes": $((end - text)),
	  "entries_per_path": {"mean": 1, "p95": 1, "max": 1}},
	 "sources": [], "curve": [], "units": [
	J
	for u; do
		IFS=: read -r name object section <<< "$u"
		read -r before skip <<< "$(symbol old "$name")"
		read -r addr size <<< "$(symbol planned "$name")"
		page=$(((addr - text) / 4096))
		printf '%s{"name": "%s", "object": "%s", "section": "%s", "addr": "%s", "size": %d, "page": %d, "weight": 1,
		 "moved": %s, "why": "-", "group": "%s", "align": 16, "addr_before": "%s", "page_before": %d, "calls": 1,
		 "path_weight": 10, "touched_bytes": %d, "functions": [["%s", 0, %d]], "ranges": [[0, %d, 1]]}\n' \
			"$sep" "$name" "$object" "$section" "$addr" $((size)) $page \
			"$(case $section in .text.*) echo true ;; *) echo false ;; esac)" \
			"$(case $section in .text.*) echo main ;; *) echo sched ;; esac)" \
			"$before" $(((before - text) / 4096)) $((size)) "$name" $((size)) $((size))
		sep=,
	done
	echo '], "paths": [{"root": "read", "symbol": "vfs_read", "kind": "syscall", "weight": 10, "variants": 1,'
	echo '"entries_before": 2, "entries_after": 1, "max_before": 2, "max_after": 1, "touched_bytes": 100,'
	echo '"uses": [[0, 10], [1, 10], [2, 10]], "pages_before": [[0, 10]], "pages_after": [[0, 10]]}], "edges": []}'
}

has() {
	[[ "$output" == *"$1"* ]] || { echo "no '$1' in: $output"; return 1; }
}

@test "an obeyed plan, with the map and without" {
	run "$HOTTEXT" verify plan planned
	[ "$status" -eq 0 ] || { echo "$output"; false; }
	has "units      4 of 4 found, 4 at their planned address, 4 on their planned pages"
	has "order      3 of 3 placed units in order"
	has "entries    1.00 a path, planned 1.00; 1 of 1 paths as planned"
	has "the plan was obeyed"
	cp planned elsewhere
	run "$HOTTEXT" verify --exact plan/plan.json elsewhere
	[ "$status" -eq 0 ]
	run "$HOTTEXT" verify --map planned.map plan elsewhere
	[ "$status" -eq 0 ]
	"$HOTTEXT" verify --json plan planned > a
	"$HOTTEXT" verify --json plan planned > b
	cmp a b
	grep -q '"obeyed": true' a
	grep -q '"linked_by_plan": true' a
}

@test "link order and another order are told" {
	run "$HOTTEXT" verify plan old
	[ "$status" -eq 3 ]
	has "the plan was not obeyed"
	has "strayed: vfs_read: out of order: in front of schedule_tail"
	[ "${lines[0]}" = "it was not linked by this plan: 3 of 3 units that it moves lie where they lay before" ]
	printf '*(.text.%s)\n' schedule_tail xfs_read vfs_read > plan/hottext.ld
	HOTTEXT_PLAN=plan kernel_link other
	run "$HOTTEXT" verify plan other
	[ "$status" -eq 3 ]
	has "strayed: schedule_tail: out of order: in front of xfs_read"
	[[ $output != *"it was not linked"* ]]	# most are on their pages
	run "$HOTTEXT" verify --json plan other
	[ "$status" -eq 3 ]
	has '"obeyed": false'
}

@test "a kernel that was linked without the plan says so first, with three strays" {
	local i n order
	for i in {1..40}; do section .text.f$i f$i 5000; done | object fs/xfs/file.o
	kernel_link old
	order=$(for i in {40..1}; do echo f$i; done)
	printf '*(.text.%s)\n' $order > plan/hottext.ld
	HOTTEXT_PLAN=plan kernel_link planned
	# shellcheck disable=SC2046
	write_plan $(for n in $order; do echo $n:fs/xfs/file.o:.text.$n; done) > plan/plan.json
	run "$HOTTEXT" verify plan planned
	[ "$status" -eq 0 ] || { echo "$output"; false; }
	[[ $output != *"it was not linked"* ]]
	run "$HOTTEXT" verify plan old
	[ "$status" -eq 3 ]
	[ "${lines[0]}" = "it was not linked by this plan: 40 of 40 units that it moves lie where they lay before" ]
	[ "$(grep -c '^strayed: .*:' <<< "$output")" -eq 3 ]
	has " more (--all)"
	run "$HOTTEXT" verify --all plan old
	[ "$(grep -c '^strayed: .*:' <<< "$output")" -ge 39 ]
	run "$HOTTEXT" verify --json plan old
	[ "$status" -eq 3 ]
	has '"linked_by_plan": false'
	has '"unmoved": 40'
	# By another plan, where the text before it is longer, too.
	{ echo .globl startup_64; section .head.text startup_64 9000; } | object head.o
	for i in {1..40}; do echo $(((i * 17) % 41)); done | sed 's/.*/*(.text.f&)/' > plan/hottext.ld
	HOTTEXT_PLAN=plan kernel_link other
	run "$HOTTEXT" verify plan other
	[ "$status" -eq 3 ]
	[[ ${lines[0]} =~ ^"it was not linked by this plan: "[0-3]" of 40 units that it moves lie on their planned pages"$ ]] ||
		{ echo "$output"; false; }
}

# Pages of 1 KB, but whole ones of 4 KB count as one: what it says is what it says of 4 KB.
@test "pages of a machine's blocks are one entry" {
	command -v jq >/dev/null || skip "jq is not installed"
	local i order
	for i in {1..40}; do section .text.f$i f$i 5000; done | object fs/xfs/file.o
	kernel_link old
	order=$(for i in {40..1}; do echo f$i; done)
	printf '*(.text.%s)\n' $order > plan/hottext.ld
	HOTTEXT_PLAN=plan kernel_link planned
	# shellcheck disable=SC2046
	write_plan $(for i in $order; do echo $i:fs/xfs/file.o:.text.$i; done) > plan/plan.json
	jq '.machine_details += {page_bytes: 1024, block_bytes: 4096, blocks_start: .text_start,
		blocks_end: "0xffffffff81100000"} | .units[] |= (.page *= 4 | .page_before *= 4)' plan/plan.json > blocks.json
	for i in planned old; do
		"$HOTTEXT" verify --all plan $i > whole || true
		"$HOTTEXT" verify --all blocks.json $i > blocks || true
		diff whole blocks
	done
	grep '^entries .*, planned 1.00; 0 of 1 paths as planned' blocks
}

@test "a function that grew shifts what follows" {
	{ section .text.xfs_read xfs_read 9000; section .text.helper helper 70; section .noinstr.text nmi_a 16; } |
		object fs/xfs/file.o
	HOTTEXT_PLAN=plan kernel_link grown
	run "$HOTTEXT" verify plan grown
	[ "$status" -eq 3 ]
	has "bytes: xfs_read has 9000 bytes, planned 200"
	has "strayed: vfs_read: shifted by"
	has "along with schedule_tail"
	has "0 of 1 paths as planned"
	# A little more stays on its page: the promise holds, though not to the byte.
	{ section .text.xfs_read xfs_read 220; section .text.helper helper 70; section .noinstr.text nmi_a 16; } |
		object fs/xfs/file.o
	HOTTEXT_PLAN=plan kernel_link grown
	run "$HOTTEXT" verify plan grown
	[ "$status" -eq 0 ]
	has "1 at their planned address, 4 on their planned pages"
	run "$HOTTEXT" verify --exact plan grown
	[ "$status" -eq 3 ]
}

@test "a function that is gone, and one that no statement took in" {
	{ section .text.helper helper 70; section .noinstr.text nmi_a 16; } | object fs/xfs/file.o
	HOTTEXT_PLAN=plan kernel_link gone
	run "$HOTTEXT" verify plan gone
	[ "$status" -eq 3 ]
	has "strayed: xfs_read: section '.text.xfs_read' not found"
	has "strayed: xfs_read: function lost"
	make_kernel
	LINK=ld kernel_link orphans
	run "$HOTTEXT" verify plan orphans
	[ "$status" -eq 3 ]
	has "outside _stext.._etext: in output section '.text.xfs_read'"
}

@test "a member outside its group" {
	sed 's/\*(\.sched\.text) __sched_text_end = \.;/__sched_text_end = .; *(.sched.text)/' \
		"$DATA/lds/x86-64-6.1.lds" > broken.lds
	SCRIPT=broken.lds HOTTEXT_PLAN=plan kernel_link broken
	run "$HOTTEXT" verify plan broken
	[ "$status" -eq 3 ]
	has "strayed: kernel/core.o: .sched.text lies outside __sched_text_start..__sched_text_end"
	has "groups     6 of 7 whole"
}

@test "what cannot be told is status 1, usage is 2" {
	run "$HOTTEXT" verify plan
	[ "$status" -eq 2 ]
	run "$HOTTEXT" verify missing planned
	[ "$status" -eq 1 ]
	run "$HOTTEXT" verify plan missing
	[ "$status" -eq 1 ]
	run "$HOTTEXT" verify plan "$DATA/lds/ppc32.lds"
	[ "$status" -eq 1 ]
	ARCH=ppc write_plan vfs_read:fs/file.o:.text.vfs_read other:a.o:.text.other third:a.o:.text.third > plan/plan.json
	run "$HOTTEXT" verify plan planned
	stops 1 "hottext: the plan is for ppc, the kernel is x86_64"
	write_plan nothing:none.o:.text.nothing other:a.o:.text.other third:a.o:.text.third > plan/plan.json
	run "$HOTTEXT" verify plan planned
	stops 1 "hottext: nothing of the plan is in this kernel"
}
