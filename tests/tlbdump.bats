#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# hottext tlbdump: the published dumps of an MPC8xx around sys_read, and what can be wrong with a dump.

setup() {
	HOTTEXT=${HOTTEXT:-./hottext}
	data=tests/data/tlbdump
	dir=$(mktemp -d)
	"${CC:-cc}" -c "$data/kernel.S" -o "$dir/kernel.o"
	"${LD:-ld}" -T "$data/kernel.lds" -Map="$dir/vmlinux.map" -o "$dir/vmlinux" "$dir/kernel.o"
}

teardown() {
	rm -rf "$dir"
}

first_line() {
	"$HOTTEXT" tlbdump "$dir/vmlinux" "$@" >"$dir/out"
	head -n 1 "$dir/out"
}

@test "tlbdump: v2.4 sys_read, 6 entries" {
	[ "$(first_line /dev/null "$data/itlb-8xx-2.4.txt")" = "6 entries appeared: 2 user, 4 kernel" ]
}

@test "tlbdump: v2.6 sys_read, 13 entries" {
	[ "$(first_line /dev/null "$data/itlb-8xx-2.6.txt")" = "13 entries appeared: 3 user, 10 kernel" ]
}

@test "tlbdump: the functions on each page" {
	first_line /dev/null "$data/itlb-8xx-2.6.txt"
	grep -Eq '^ *0xc004b000 +4K  sys_read, vfs_read$' "$dir/out"
	grep -Eq '^ *0xc010e000 +4K  cap_check, fget_light$' "$dir/out"
	grep -Eq '^ *0xfeda000 +4K  user$' "$dir/out"
	[ "$(wc -l <"$dir/out")" -eq 14 ]
}

@test "tlbdump: what was there before is not new" {
	head -n 5 "$data/itlb-8xx-2.6.txt" >"$dir/before"
	[ "$(first_line "$dir/before" "$data/itlb-8xx-2.6.txt")" = "8 entries appeared: 0 user, 8 kernel" ]
	[ "$(first_line "$data/itlb-8xx-2.6.txt" "$data/itlb-8xx-2.6.txt")" = "0 entries appeared: 0 user, 0 kernel" ]
}

@test "tlbdump: hottest first with a profile" {
	printf 'dd;vfs_read_[k] 7\ndd;sys_read_[k] 2\n' >"$dir/p.folded"
	"$HOTTEXT" tlbdump --profile "$dir/p.folded" "$dir/vmlinux" /dev/null "$data/itlb-8xx-2.6.txt" >"$dir/out"
	grep -Eq '^ *0xc004b000 +4K  vfs_read \(7\), sys_read \(2\)$' "$dir/out"
}

@test "tlbdump: entries that the plan needs for the same functions" {
	cat >"$dir/plan.json" <<-EOF
	{ "schema": 1, "units": [
	  { "name": "sys_read", "addr_before": "0xc004b000", "addr": "0xc0001000" },
	  { "name": "vfs_read", "addr_before": "0xc004b040", "addr": "0xc0001040" },
	  { "name": "pipe_read", "addr_before": "0xc004a000", "addr": "0xc0001080" } ] }
	EOF
	"$HOTTEXT" tlbdump --plan "$dir" "$dir/vmlinux" /dev/null "$data/itlb-8xx-2.6.txt" >"$dir/out"
	[ "$(tail -n 1 "$dir/out")" = "under the plan the 3 functions that it places on these 10 kernel entries need 1" ]
}

@test "tlbdump: CAM and RAM words, page sizes, invalid entries" {
	cat >"$dir/after" <<-EOF
	# 8 MB shared and valid; 512 KB with no valid sub-page; 16 KB whose RAM word says invalid; 4 KB of space 11
	SPR  816 : 0xc0000e1f
	SPR  817 : 0x00000000
	SPR  818 : 0x00000002
	SPR  816 : 0xc0080600
	SPR  817 : 0x00080000
	SPR  818 : 0x00000002
	SPR  816 : 0xc010421f
	SPR  817 : 0x00104000
	SPR  818 : 0x00000000
	SPR  816 : 0x1000116f    268439919
	SPR  817 : 0x00001000
	SPR  818 : 0x00000002
	EOF
	[ "$(first_line /dev/null "$dir/after")" = "2 entries appeared: 1 user, 1 kernel" ]
	grep -Eq '^ *0xc0000000 +8M ' "$dir/out"
	# The same registers one after the other.
	{ grep 816 "$dir/after"; grep 817 "$dir/after"; grep 818 "$dir/after"; } >"$dir/columns"
	[ "$(first_line /dev/null "$dir/columns")" = "2 entries appeared: 1 user, 1 kernel" ]
	[ "$(first_line "$dir/after" "$dir/columns")" = "0 entries appeared: 0 user, 0 kernel" ]
}

@test "tlbdump: a plain list of other CPUs" {
	printf '0xc0000000 4M\n10000000 4096\n# nothing\n\n0xc0000000 4M\n' >"$dir/after"
	[ "$(first_line /dev/null "$dir/after")" = "2 entries appeared: 1 user, 1 kernel" ]
}

@test "tlbdump: --json says the same" {
	"$HOTTEXT" tlbdump --json "$dir/vmlinux" /dev/null "$data/itlb-8xx-2.6.txt" >"$dir/json"
	grep -q '"appeared": 13' "$dir/json"
	grep -q '"kernel": 10' "$dir/json"
}

@test "tlbdump: another kernel is warned of" {
	printf '0xc0800000 4K\n' >"$dir/after"
	run "$HOTTEXT" tlbdump "$dir/vmlinux" /dev/null "$dir/after"
	[ "$status" -eq 0 ]
	[[ $output == *"is it the kernel that was dumped?"* ]]
}

@test "tlbdump: damaged lines are errors that name the line" {
	while IFS='|' read -r line why; do
		printf '# one\n%s\n' "$line" >"$dir/bad"
		run "$HOTTEXT" tlbdump "$dir/vmlinux" /dev/null "$dir/bad"
		[ "$status" -eq 1 ]
		[ "$output" = "hottext: cannot read '$dir/bad': line 2: $why" ] || { echo "$output"; false; }
	done <<-EOF
	SPR  816 : 0xc009e01f  -1073094624|the two values disagree
	SPR  816 : 0xc009e41f|no such page size in register 816
	SPR  816 : 0x1c009e01f|not a 32-bit value
	SPR  816 0xc009e01f|no ':' behind the register
	SPR  815 : 0xc009e01f|not register 816, 817 or 818
	SPR  818 : 0x00000002|a RAM word without its entry's register 816
	SPR  816 : 0xc009e01f  -1073094625 x|junk behind the value
	hello|neither a register nor an address and a size
	0xc0000000 5K|not a page size
	0xc0000800 4K|the address is not a page's
	EOF
}

@test "tlbdump: a plan of another kernel is refused" {
	echo '{ "schema": 1, "units": [ { "addr_before": "0x10", "addr": "0x20" } ] }' >"$dir/plan.json"
	run "$HOTTEXT" tlbdump --plan "$dir/plan.json" "$dir/vmlinux" /dev/null "$data/itlb-8xx-2.6.txt"
	[ "$status" -eq 1 ]
	[[ $output == *"is not of this kernel"* ]]
}
