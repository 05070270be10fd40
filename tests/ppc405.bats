#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# The PowerPC 405 model under the three mappings that LMbench was once run on: 4 KB pages, pinned 16 MB entries,
# page tables with 16 MB pages. Entries per path and misses of the sample kernel, before and after ordering.

setup_file() {
	HOTTEXT=${HOTTEXT:-./hottext}
	case $HOTTEXT in /*) ;; *) HOTTEXT=$PWD/$HOTTEXT ;; esac
	export HOTTEXT
	sample=$PWD/samples/linux-6.1-ppc405
	xz -dc "$sample/vmlinux.xz" >"$BATS_FILE_TMPDIR/vmlinux"
	for m in ppc405 ppc405-pinned ppc405-16m; do
		"$HOTTEXT" optimize -q --machine $m --effort 1 "$BATS_FILE_TMPDIR/vmlinux" "$sample/work.fetch" -o "$BATS_FILE_TMPDIR/$m"
	done
}

plan() {
	jq -r "$2" "$BATS_FILE_TMPDIR/$1/plan.json"
}

holds() {
	[ "$(awk "BEGIN { print ($*) ? 1 : 0 }")" = 1 ] || { echo "not so: $*"; false; }
}

@test "ppc405: 4 KB pages cost many entries a path; an order saves most of them and of the misses" {
	[ "$(plan ppc405 '.machine_details.page_bytes')" = 4096 ]
	[ "$(plan ppc405 '.before | [.pages, (.entries_per_path.mean * 10 | round), .misses] | @csv')" = 227,258,415561 ]
	holds "$(plan ppc405 .after.entries_per_path.mean) <= $(plan ppc405 .before.entries_per_path.mean) / 2"
	holds "$(plan ppc405 .after.misses) <= $(plan ppc405 .before.misses) / 4"
	[ "$(plan ppc405 .machine_details.why_no_saving)" = "" ]
}

@test "ppc405: pinned entries never miss, and the plan says that no order helps" {
	[ "$(plan ppc405-pinned '[.before.misses, .after.misses] | @csv')" = 0,0 ]
	[ "$(plan ppc405-pinned .machine_details.why_no_saving)" = "kernel text is pinned: it never misses" ]
	grep -q '^machine   no order saves ITLB entries here: kernel text is pinned: ' "$BATS_FILE_TMPDIR/ppc405-pinned/report.txt"
}

@test "ppc405: one 16 MB page is one entry for every path in any order, missed when data evicts it" {
	[ "$(plan ppc405-16m '[.before, .after | .entries_per_path.mean, .entries_per_path.max] | unique | @csv')" = 1 ]
	[ "$(plan ppc405-16m .before.misses)" = "$(plan ppc405-16m .after.misses)" ]
	holds "0 < $(plan ppc405-16m .before.misses) && $(plan ppc405-16m .before.misses) < $(plan ppc405 .before.misses) / 100"
	[[ $(plan ppc405-16m .machine_details.why_no_saving) == "one page maps all kernel text"* ]]
}

@test "ppc405: where no entry can be saved, instruction-cache misses are" {
	for m in ppc405-16m ppc405-pinned; do
		holds "$(plan $m .after.l1i_misses) < 0.97 * $(plan $m .before.l1i_misses)"
		holds "$(plan $m .after.l1i_misses) <= $(plan ppc405 .after.l1i_misses)"
	done
}

@test "ppc405: time saved, as a range and as a share of the run" {
	grep -Eq '^time      [0-9.]+ m?s to [0-9.]+ m?s saved over the trace, at 37 to 100 cycles a miss$' \
		"$BATS_FILE_TMPDIR/ppc405/report.txt"
	grep -Eq '^          [0-9.]+ % to [0-9.]+ % of the run, were each instruction a cycle$' "$BATS_FILE_TMPDIR/ppc405/report.txt"
}

@test "a profile of another architecture is told by its call sites" {
	cd "$BATS_FILE_TMPDIR"
	sample=$BATS_TEST_DIRNAME/../samples
	[ -e x86 ] || xz -dc "$sample/linux-6.1-x86_64/vmlinux.xz" > x86
	zstd -dqc "$sample/linux-6.1-x86_64/perf.data.zst" | "$HOTTEXT" collect -q --vmlinux x86 -o x86.hot -
	"$HOTTEXT" collect -q --vmlinux vmlinux "$sample/linux-6.1-ppc405/work.fetch" -o ppc.hot
	for pair in "vmlinux x86 ppc" "x86 ppc x86_64"; do
		read -r kernel profile arch <<< "$pair"
		status=0
		"$HOTTEXT" optimize -q --effort 1 --machine generic-4k-32 "$kernel" "$profile.hot" -o other 2> err || status=$?
		[ "$status" -eq 1 ]
		[ "$(cat err)" = "hottext: cannot use '$profile.hot': its call sites are not those of $arch code, it is of another architecture (--force uses its names)" ]
		[ ! -e other ]
		"$HOTTEXT" analyze --force --machine generic-4k-32 "$kernel" "$profile.hot" 2> err > out
		grep -qxF "hottext: warning: the call sites of '$profile.hot' are not those of $arch code: it is of another architecture" err
	done
	"$HOTTEXT" analyze -q --machine generic-4k-32 vmlinux ppc.hot > out
	"$HOTTEXT" analyze -q --machine generic-4k-32 x86 x86.hot > out
}
