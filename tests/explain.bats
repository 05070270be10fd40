# SPDX-License-Identifier: GPL-3.0-or-later
# hottext explain: on a plan of the bundled kernel, and on a small plan whose every figure is known.
bats_require_minimum_version 1.5.0
HOTTEXT=$(realpath "${HOTTEXT:-$BATS_TEST_DIRNAME/../hottext}")
SAMPLE=$BATS_TEST_DIRNAME/../samples/linux-6.1-x86_64

setup_file() {
	(
		cd "$BATS_FILE_TMPDIR" || exit 1
		xz -dc "$SAMPLE/vmlinux.xz" > vmlinux
		zstd -dqc "$SAMPLE/vmlinux.map.zst" > vmlinux.map
		zstd -dqc "$SAMPLE/perf.data.zst" > perf.data
		"$HOTTEXT" optimize -q --machine generic-4k-32 --effort 1 vmlinux perf.data -o plan > out
	)
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
}

# A plan of two static helpers, one of which a caller pulls; profile.hot knows one more function.
small_plan() {
	mkdir -p "$BATS_TEST_TMPDIR/small"
	cd "$BATS_TEST_TMPDIR" || return 1
	local side='"pages": 2, "entries_per_path": {"mean": 2, "p95": 2, "max": 2}, "misses": null, "l1i_misses": null'
	cat > small/plan.json <<-JSON
	{"schema": 1, "tool": "hottext 0.1", "machine": "m", "algorithm": "pack", "effort": 3, "path_weight": 200,
	"text_start": "0x1000", "vmlinux": {"build_id": "00", "release": "6.1", "arch": "x86_64"},
	"profile": {"samples": 9, "kernel": 9, "resolved": 9, "lost": 0, "matched_exact": 9, "matched_name": 0,
	"matched_normalized": 0, "unmatched": 0}, "hot": {"functions": 3, "bytes": 96, "touched_bytes": 48, "units": 3, "fixed": 1},
	"before": {$side}, "after": {$side}, "units": [
	{"name": "top", "object": "a.o", "section": ".text.top", "addr": "0x1000", "addr_before": "0x5000", "size": 64, "page": 0,
	"page_before": 4, "weight": 5, "moved": true, "why": "run by 100 % of paths", "group": "main", "align": 16, "calls": 7,
	"path_weight": 200, "touched_bytes": 48, "functions": [["top", 0, 64, "seen"]], "ranges": []},
	{"name": "helper@a.c", "object": "a.o", "section": ".text.helper", "addr": "0x1040", "addr_before": "0x3040", "size": 32,
	"page": 0, "page_before": 2, "weight": 4, "moved": true, "why": "run by 50 % of paths", "group": "main", "align": 16,
	"calls": 3, "path_weight": 100, "touched_bytes": 16, "functions": [["helper@a.c", 0, 32, "likely 0.62: called from top+0x8"]],
	"ranges": []},
	{"name": "b.o:.sched.text", "object": "b.o", "section": ".sched.text", "addr": "0x9000", "addr_before": "0x9000", "size": 48,
	"page": 8, "page_before": 8, "weight": 1, "moved": false, "why": "between boundary symbols", "group": "sched", "align": 1,
	"calls": 1, "path_weight": 10, "touched_bytes": 16, "functions": [["helper@b.c", 16, 32], ["wait", 0, 16, "proved"]], "ranges": []}],
	"paths": [{"root": "read", "symbol": "top", "kind": "syscall", "weight": 100, "entries_before": 3, "entries_after": 1,
	"uses": [[0, 100], [1, 100]], "pages_before": [], "pages_after": []},
	{"root": "write", "symbol": "top", "kind": "syscall", "weight": 100, "entries_before": 2, "entries_after": 2,
	"uses": [[0, 100], [2, 10]], "pages_before": [], "pages_after": []}], "edges": [[0, 1, 60], [0, 2, 4]]}
	JSON
	cat > small/profile.hot <<-HOT
	hottext-profile 1
	source x - - - - 9 9 9 0 0
	func top 5 7
	func helper@a.c 4 3
	func gone 2 1
	call top 0x8 helper@a.c 40
	call top 0x18 helper@a.c 2
	call top - helper@b.c 4
	HOT
}

@test "a hot function: evidence, samples, unit, pages, callers and the paths that pull it" {
	small_plan
	run -0 "$HOTTEXT" explain small top
	[ "$output" = "top
  evidence  seen
  samples   5, entered 7 times
  heat      on 100.0 % of all paths; 48 of 64 bytes known to run
  unit      .text.top of a.o, 64 bytes, aligned to 16, group main
  before    0x5000, page 4 (of 4 KB, from _stext)
  after     0x1000, page 0
  moved     run by 100 % of paths
  callers   none known
  calls     helper@a.c                                       42   91.3 %  page 0
            helper@b.c                                        4    8.7 %  page 8
  pulled by read                     syscall     100.0 % of its runs; entries 3.0 -> 1.0
            write                    syscall     100.0 % of its runs; entries 2.0 -> 2.0" ]
}

@test "a name that statics share names each, the inferred and the one that stays" {
	small_plan
	run -0 "$HOTTEXT" explain small helper
	[ "${lines[0]}" = "'helper' names 2 functions:" ]
	[[ $output == *"helper@a.c
  evidence  likely 0.62: called from top+0x8"* ]]
	[[ $output == *"helper@b.c
  evidence  not recorded in this plan"* ]]
	[[ $output == *"not moved between boundary symbols"* ]]
	# Its own address, 16 bytes into the unit.
	[[ $output == *"after     0x9010, page 8"* ]]
	run -0 "$HOTTEXT" explain small helper@b.c
	[[ $output != *helper@a.c* ]]
}

@test "a path's name is its function, a unit's name the unit" {
	small_plan
	run -0 "$HOTTEXT" explain small read
	[ "${lines[0]}" = top ]
	run -0 "$HOTTEXT" explain small b.o:.sched.text
	[ "${lines[0]}" = b.o:.sched.text ]
}

@test "without profile.hot, calls are those between units" {
	small_plan
	run -0 "$HOTTEXT" explain small/plan.json helper@a.c
	[[ $output == *"callers   top                                              42  100.0 %  page 0"* ]]
	rm small/profile.hot
	run -0 "$HOTTEXT" explain small helper@a.c
	[[ $output == *"callers   top                                              60  100.0 %  page 0"* ]]
	echo rubbish > small/profile.hot
	run -1 "$HOTTEXT" explain small helper@a.c
}

@test "names of a plan cannot drive a terminal" {
	small_plan
	sed -i 's/"top"/"top\\u001b[2J"/g' small/plan.json
	run -3 "$HOTTEXT" explain small to
	[[ $output == *"similar   "*"top?[2J"* && $output != *$'\033'* ]]
	run -0 "$HOTTEXT" explain small $'top\033[2J'
	[[ $output == *"top?[2J"* && $output != *$'\033'* ]]
}

@test "lost: in the profile, but not in the kernel" {
	small_plan
	run -3 "$HOTTEXT" explain small gone
	[[ $output == *"lost      in the profile with 2 samples, entered 1 times"* ]]
	run -3 --separate-stderr "$HOTTEXT" explain -j small gone
	[ "$output" = "[]" ]
}

@test "not in the plan: cold or unknown, and --vmlinux tells" {
	run -3 "$HOTTEXT" explain plan vfs_rea
	[[ $output == *"not hot   or no function of the kernel at all: --vmlinux tells"* ]]
	[[ $output == *"similar   "*"vfs_read"* ]]
	run -3 "$HOTTEXT" explain --vmlinux vmlinux plan start_kernel
	[[ $output == *"not hot   nothing in the profile has it"* ]]
	[[ $output == *"unit      .init.text of init/main.o"*"group init; would stay: init text is freed after boot"* ]]
	run -1 "$HOTTEXT" explain --vmlinux vmlinux plan no_such_function
	[ "$output" = "hottext: no function 'no_such_function' in 'vmlinux'" ]
	# Of several questions the worst answer counts.
	run -3 "$HOTTEXT" explain plan vfs_read vfs_rea
}

@test "a real plan says how every function of it is known to run" {
	jq -r '.units[] | select(.path_weight > 0) | .functions[] | .[3] // "none"' plan/plan.json | sed 's/[ :].*//' |
		sort | uniq -c > kinds
	[ "$(awk '$2 == "seen" { print $1 }' kinds)" -gt 500 ]
	[ "$(awk '$2 == "proved" { print $1 }' kinds)" -gt 200 ]
	[ "$(awk '$2 == "likely" { print $1 }' kinds)" -gt 200 ]
	run -0 "$HOTTEXT" explain plan vfs_read
	[[ $output == *"evidence  seen"* ]]
	[[ $output == *"callers   ksys_read"* ]]
	[[ $output == *"pulled by read "* ]]
	proved=$(jq -r '[.units[].functions[] | select((.[3] // "") | startswith("proved: called from"))][0][0]' plan/plan.json)
	run -0 "$HOTTEXT" explain plan "$proved"
	[[ $output == *"evidence  proved: called from "*"+0x"* ]]
}

@test "all callers and paths with --all, and everything as JSON" {
	run -0 "$HOTTEXT" explain plan entry_SYSCALL_64
	[[ $output == *"more (--all)"* ]]
	short=${#lines[@]}
	run -0 "$HOTTEXT" explain --all plan entry_SYSCALL_64
	[[ $output != *"more (--all)"* ]] && [ "${#lines[@]}" -gt "$short" ]
	"$HOTTEXT" explain -j plan vfs_read ksys_read > both.json
	[ "$(jq -r '.[].name' both.json)" = "vfs_read
ksys_read" ]
	[ "$(jq -r '.[0].callers[0].name' both.json)" = ksys_read ]
	[ "$(jq -r '.[0].page' both.json)" = "$(jq '.units[] | select(.name == "vfs_read").page' plan/plan.json)" ]
	run -3 --separate-stderr "$HOTTEXT" explain -j plan no_such
	[ "$output" = "[]" ]
	run -3 --separate-stderr "$HOTTEXT" explain -j --vmlinux vmlinux plan start_kernel
	[ "$output" = "[]" ]
	run -1 --separate-stderr "$HOTTEXT" explain -j --vmlinux vmlinux plan no_such
	[ "$output" = "[]" ]
	[ "$stderr" = "hottext: no function 'no_such' in 'vmlinux'" ]
}

@test "usage, and files that cannot be read" {
	run -2 "$HOTTEXT" explain plan
	[ "$output" = "hottext: explain: wants PLAN and FUNCTION; try 'hottext explain --help'" ]
	run -1 "$HOTTEXT" explain missing vfs_read
	[ "$output" = "hottext: cannot read 'missing': No such file or directory" ]
	run -1 "$HOTTEXT" explain --vmlinux missing plan vfs_read
	[[ $output == *"'missing'"* ]]
}

@test "optimize -v says what was decided: machine, units, completion, what is lost, what stays and why" {
	# A function that the kernel has not, by half of the weight of all others.
	"$HOTTEXT" collect -q --vmlinux vmlinux perf.data -o p.hot
	echo "func not_in_this_kernel 1200 0" >> p.hot
	run -0 --separate-stderr "$HOTTEXT" optimize -v --effort 1 vmlinux p.hot -o "$BATS_TEST_TMPDIR/plan"
	[[ $stderr == *"machine 'x86-64-2m', for a kernel of 'x86_64'"* ]]
	[[ $stderr == *" units, by the link map"* ]]
	[[ $stderr =~ ([0-9]+)" functions seen, "([0-9]+)" proved, "([0-9]+)" likely" ]]
	[ "${BASH_REMATCH[1]}" -gt 500 ] && [ "${BASH_REMATCH[2]}" -gt 100 ] && [ "${BASH_REMATCH[3]}" -gt 100 ]
	[[ $stderr == *"lost: not_in_this_kernel (weight 1200)"* ]]
	[[ $stderr == *"units stay: entry text is mapped into user page tables"* ]]
	[[ $stderr == *"'hottext explain DIR FUNCTION' says it of one function"* ]]
	run -0 --separate-stderr "$HOTTEXT" optimize -vv --effort 1 vmlinux p.hot -o "$BATS_TEST_TMPDIR/plan"
	[[ $stderr == *"stays: "*": entry text is mapped into user page tables"* ]]
	run -0 --separate-stderr "$HOTTEXT" optimize --as-seen --effort 1 vmlinux perf.data -o "$BATS_TEST_TMPDIR/plan"
	[[ $stderr != *"functions seen"* && $stderr != *"units stay"* ]]
}
