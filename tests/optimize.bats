#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# hottext optimize, analyze and reorder on the bundled kernel: every file of a plan, twice the same, and nothing
# left behind where a plan cannot be made.

bats_require_minimum_version 1.5.0
load kernel.bash
SAMPLE=$BATS_TEST_DIRNAME/../samples/linux-6.1-x86_64
MACHINE=generic-4k-32

setup_file() {
	(	# the name of the tool is looked up where the tests began
		cd "$BATS_FILE_TMPDIR" || exit 1
		xz -dc "$SAMPLE/vmlinux.xz" >vmlinux
		zstd -dqc "$SAMPLE/vmlinux.map.zst" >vmlinux.map
		zstd -dqc "$SAMPLE/perf.data.zst" >perf.data
		"$HOTTEXT" optimize --machine $MACHINE vmlinux perf.data -o plan >out 2>err
	)
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
	dir=$BATS_TEST_TMPDIR
	kernel=vmlinux profile=perf.data
}

# refuses MESSAGE [ARG...]: optimize says just that line, exits 1 and leaves nothing behind.
refuses() {
	local message=$1
	shift
	mkdir -p "$dir/to"
	run -1 --separate-stderr "$HOTTEXT" optimize -q --effort 1 -o "$dir/to/plan" "$@" "$kernel" "$profile"
	[ "$stderr" = "hottext: $message" ] || { echo "said: $stderr"; return 1; }
	[ -z "$output" ]
	[ -z "$(ls -A "$dir/to")" ]
}

# misuse MESSAGE ARG...
misuse() {
	local message=$1
	shift
	run -2 --separate-stderr "$HOTTEXT" "$@"
	[ "$stderr" = "hottext: $message; try 'hottext $1 --help'" ] || { echo "said: $stderr"; return 1; }
	[ -z "$output" ]
}

@test "optimize: a plan folder has every file, and nothing is beside it" {
	[ "$(ls plan)" = "$(printf '%s\n' hotpages.dot hotpages.svg hottext.ld plan.json profile.hot report.html \
		report.txt sections.order symbols.order)" ]
	for f in plan/*; do [ -s "$f" ]; done
	[ "$(echo plan*)" = plan ]
	cmp out plan/report.txt
}

@test "optimize: at least 99 % of the kernel's samples are resolved" {
	read -r _ all _ in_kernel _ resolved _ < <(grep ' kernel, ' err)
	[ "$all" -gt 2000 ] && [ "$in_kernel" -gt 2000 ]
	[ $((resolved * 100)) -ge $((in_kernel * 99)) ]
}

@test "optimize: twice the same, byte for byte, from whatever folder" {
	mkdir "$dir/elsewhere"
	cd "$dir/elsewhere"
	"$HOTTEXT" optimize --machine $MACHINE "$BATS_FILE_TMPDIR/vmlinux" "$BATS_FILE_TMPDIR/perf.data" \
		-o again/ >again.out 2>&1
	for f in "$BATS_FILE_TMPDIR"/plan/*; do cmp "$f" again/"$(basename "$f")"; done
}

@test "analyze: under the plan's order the same entries as the plan promised" {
	command -v jq >/dev/null || skip "jq is not installed"
	"$HOTTEXT" analyze -q --json --machine $MACHINE vmlinux perf.data --order plan/hottext.ld >"$dir/given.json"
	for side in before after; do
		jq -c ".$side" plan/plan.json >"$dir/promised"
		jq -c ".$side" "$dir/given.json" | diff "$dir/promised" -
	done
	[ "$(jq '.after.entries_per_path.mean < .before.entries_per_path.mean' plan/plan.json)" = true ]
}

@test "reorder: every algorithm lists every hot unit once, pack also the groups that follow" {
	for algorithm in density ph c3 cdsort pack; do
		"$HOTTEXT" reorder -q --as-seen --machine $MACHINE --allow-regress --algorithm $algorithm vmlinux plan/profile.hot >"$dir/order"
		sed -i '/^\. = ALIGN/d' "$dir/order"
		grep -v '^#' "$dir/order" | cut -d' ' -f1,2 | sort >"$dir/$algorithm"
		[ "$(wc -l <"$dir/$algorithm")" -gt 1000 ]
		cut -d' ' -f3 "$dir/order" | sort | uniq -d >"$dir/double"
		[ ! -s "$dir/double" ]
		grep -vE '^\.(noinstr|sched|spinlock|kprobes)\.text ' "$dir/$algorithm" | diff "$dir/density" -
	done
	grep -q '^\.sched\.text kernel/sched/core\.o$' "$dir/pack"
	[ "$("$HOTTEXT" reorder -q --as-seen --algorithm link vmlinux plan/profile.hot)" = "# section object address size" ]
}

@test "analyze: reads the orders of reorder back, whole" {
	"$HOTTEXT" reorder -q --as-seen --effort 1 -o "$dir/order" vmlinux plan/profile.hot
	"$HOTTEXT" analyze --as-seen --json --order "$dir/order" vmlinux plan/profile.hot >"$dir/json" 2>"$dir/err"
	if grep 'no unit that moves' "$dir/err"; then false; fi
	# Each listed unit stands where reorder said.
	grep -o '"addr":"[^"]*"' "$dir/json" | tr -d '"' | cut -d: -f2 | sort >"$dir/given"
	grep -vE '^(#|\. = ALIGN)' "$dir/order" | cut -d' ' -f3 | sort | comm -23 - "$dir/given" >"$dir/elsewhere"
	[ ! -s "$dir/elsewhere" ]
}

@test "reorder: the order goes to a file as well, and a full disk is an error" {
	"$HOTTEXT" reorder -q --as-seen --algorithm ph -o "$dir/order" vmlinux plan/profile.hot
	"$HOTTEXT" reorder -q --as-seen --algorithm ph vmlinux plan/profile.hot | cmp "$dir/order"
	run -1 --separate-stderr sh -c '"$1" reorder -q --as-seen --algorithm ph vmlinux plan/profile.hot >/dev/full' \
		sh "$HOTTEXT"
	[ "$stderr" = "hottext: cannot write 'standard output': No space left on device" ]
}

# interrupt SECONDS: optimize gets a SIGINT so long after it has read the profile.
interrupt() {
	env --default-signal=INT "$HOTTEXT" optimize --effort 9 --machine $MACHINE vmlinux perf.data -o "$dir/plan" \
		>/dev/null 2>"$dir/err" &
	local pid=$!
	until grep -q ' kernel, ' "$dir/err" || ! kill -0 $pid 2>/dev/null; do sleep 0.1; done
	sleep "$1"
	kill -INT $pid
	wait $pid
}

@test "optimize: an interrupt ends the search, and there is a plan; before it, there is none" {
	for seconds in 1 3 9 20; do	# a slow machine may not have begun to search
		interrupt $seconds && break
		[ -z "$(ls -d "$dir"/plan* 2>/dev/null)" ]
	done
	grep -qx "hottext: interrupted: the plan is the best found so far" "$dir/err"
	[ "$(ls -d "$dir"/plan*)" = "$dir/plan" ]
	[ "$(ls "$dir/plan" | wc -l)" -eq 9 ]
	"$HOTTEXT" report "$dir/plan" >"$dir/report"
}

@test "optimize: refuses a recording that is cut, empty or of another kernel" {
	profile=$dir/perf.data
	head -c 100000 perf.data >"$profile"
	refuses "cannot read '$profile': truncated, it lacks part of its records (--force uses what is there)"
	: >"$profile"
	refuses "cannot read '$profile': the file is empty"
	id=$(readelf -n vmlinux | awk '/Build ID/ { print $3 }')
	at=$(LC_ALL=C grep -obUaP "$(sed 's/../\\x&/g' <<<"$id")" perf.data | cut -d: -f1)
	cp perf.data "$profile"
	printf 'HOTT' | dd of="$profile" bs=1 seek="$at" conv=notrunc status=none
	refuses "cannot use '$profile': it is of kernel 484f5454${id:8}, 'vmlinux' is $id; use 'hottext collect \
--vmlinux OLD' and the profile that it writes"
	profile=$dir/nowhere
	refuses "cannot read '$profile': No such file or directory"
}

@test "optimize: refuses a profile without kernel samples" {
	profile=$dir/user.folded
	printf 'server;main;parse 10\nserver;main;reply 5\n' >"$profile"
	refuses "cannot use '$profile': it has no kernel samples"
	printf 'hottext-profile 1\nsource folded - - - - 10 0 0 0 0\n' >"$profile"
	refuses "cannot use '$profile': it has no kernel samples"
}

@test "optimize: refuses a kernel that is stripped, cut, or none" {
	kernel=$dir/vmlinux
	strip -o "$kernel" vmlinux
	refuses "cannot read '$kernel': no .symtab (stripped?)"
	head -c 5000000 vmlinux >"$kernel"
	run -1 --separate-stderr "$HOTTEXT" optimize -q "$kernel" perf.data -o "$dir/plan"
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ $stderr == "hottext: cannot read '$kernel': "* ]]
	[ ! -e "$dir/plan" ]
	printf '.globl _start\n.type _start,@function\n_start: .skip 64\n.size _start,64\n' | as -o "$dir/start.o" -
	ld -o "$kernel" "$dir/start.o"
	run -1 --separate-stderr "$HOTTEXT" optimize -q "$kernel" perf.data -o "$dir/plan"
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ $stderr == "hottext: cannot read '$kernel': "* ]]
	[ ! -e "$dir/plan" ]
	kernel=$dir/nowhere
	refuses "cannot read '$kernel': No such file or directory"
}

@test "optimize: refuses a map and a script that are none" {
	: >"$dir/map"
	refuses "cannot read '$dir/map': not a link map of GNU ld or lld" --map "$dir/map"
	refuses "no .text output section in '$DATA/lds/no-text.lds'" --lds "$DATA/lds/no-text.lds"
	refuses "cannot read '$dir/nowhere': No such file or directory" --lds "$dir/nowhere"
	refuses "cannot use '/dev/null' as --lds: it is read twice, and is no regular file" --lds /dev/null
	refuses "unknown machine 'vax'; 'hottext machines' lists them" --machine vax
}

@test "optimize: refuses a folder that cannot be written, and leaves what is there" {
	mkdir "$dir/to"
	dir=$dir/to
	echo mine >"$dir/file"
	for to in "$dir/file/plan" "$dir/file" "$dir/none/plan"; do
		run -1 --separate-stderr "$HOTTEXT" optimize -q --effort 1 vmlinux perf.data -o "$to"
		[ "${#stderr_lines[@]}" -eq 1 ]
		[[ $stderr == "hottext: cannot write '$to': "* ]] || { echo "said: $stderr"; return 1; }
		[ "$(ls -A "$dir")" = file ]
		[ "$(cat "$dir/file")" = mine ]
	done
}

@test "optimize: a full disk is an error, and leaves nothing" {
	mkdir "$dir/small"
	mount -t tmpfs -o size=128k tmpfs "$dir/small" 2>/dev/null || skip "cannot mount a small file system"
	run --separate-stderr "$HOTTEXT" optimize -q --effort 1 vmlinux perf.data -o "$dir/small/plan"
	left=$(ls -A "$dir/small")
	umount "$dir/small"
	[ "$status" -eq 1 ]
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ $stderr == "hottext: cannot write '$dir/small/plan"*": No space left on device" ]] || { echo "said: $stderr"; return 1; }
	[ -z "$left" ]
}

@test "optimize: what cannot be written or read is told before the search" {
	local to
	touch "$dir/file"
	for to in "$dir/none/x/plan:No such file or directory" "$dir/file:Not a directory" "$dir/file/plan/:Not a directory"; do
		run -1 --separate-stderr "$HOTTEXT" optimize -o "${to%:*}" vmlinux perf.data
		[ "${stderr##*$'\n'}" = "hottext: cannot write '${to%:*}': ${to#*:}" ] || { echo "said: $stderr"; return 1; }
		[[ $stderr != *"an estimated"* ]]
	done
	run -1 --separate-stderr "$HOTTEXT" optimize -o "$dir/plan" --lds "$dir/none" vmlinux perf.data
	[[ $stderr == *"hottext: cannot read '$dir/none': No such file or directory" && $stderr != *"an estimated"* ]]
	cd "$dir"	# one without a folder in its name
	"$HOTTEXT" optimize -q --effort 1 -o here//// "$BATS_FILE_TMPDIR/vmlinux" "$BATS_FILE_TMPDIR/perf.data"
	[ -s here/hottext.ld ]
}

@test "optimize: where next to nothing is to be saved, the table and the page say so" {
	"$HOTTEXT" optimize -q --effort 1 --machine x86-64-2m -o "$dir/plan" vmlinux perf.data
	local line="practically no misses to save here: an estimated 0.00 a path as it is linked now"
	grep -qx "machine   $line" "$dir/plan/report.txt"
	grep -qF "<strong>There are $line.</strong>" "$dir/plan/report.html"
	if grep -q "practically" plan/report.txt plan/report.html; then false; fi
	# Counted on a trace: three misses of 10,000 runs of paths are none, a hundred are some.
	jq '.before.misses = 3 | .after.misses = 2 | .path_weight = 10000 | .sources[].reader = "fetch"' plan/plan.json > "$dir/few.json"
	"$HOTTEXT" report "$dir/few.json" | grep -qx "machine   practically no misses to save here: 3 in the whole trace"
	"$HOTTEXT" report -o "$dir/few.html" "$dir/few.json"
	grep -qF "There are practically no misses to save here: 3 in the whole trace." "$dir/few.html"
	# With samples beside the trace, paths have no counts.
	for edit in '.before.misses = 100' '.sources[0].reader = "perf.data"'; do
		jq "$edit" "$dir/few.json" > "$dir/some.json"
		if "$HOTTEXT" report "$dir/some.json" | grep practically; then false; fi
	done
}

@test "analyze: what is, in one column; with --order before and after" {
	run -0 --separate-stderr "$HOTTEXT" analyze -q --machine $MACHINE vmlinux perf.data
	[[ ${lines[1]} =~ ^" "+now$ ]]
	entries=$(jq .before.entries_per_path.mean plan/plan.json)
	grep -Eqx "ITLB entries per path, mean +$(printf %.1f "$entries")" <<< "$output"
	grep -Eqx 'hottest paths, ITLB entries +kind +share +now' <<< "$output"
	grep -Eqx '[a-z_]+ +syscall +[0-9.]+ % +[0-9.]+' <<< "$output"
	if grep -E 'before|after|saved|estimated' <<< "$output"; then false; fi
	run -0 --separate-stderr "$HOTTEXT" analyze -q --machine $MACHINE --order plan/symbols.order vmlinux perf.data
	[[ ${lines[1]} =~ ^" "+before" "+after" "+saved$ ]]
}

@test "a trace of another kernel, or one that is cut, is used for its names when forced" {
	head -c 60000 "$SAMPLE/all.fetch" > "$dir/cut.fetch"
	cp vmlinux "$dir/k"
	id=$(readelf -n vmlinux | awk '/Build ID/ { print $3; exit }')
	perl -0pi -e "my \$id = pack 'H*', '$id'; s/\Q\$id/~\$id/e" "$dir/k"
	[ "$(readelf -n "$dir/k" | awk '/Build ID/ { print $3; exit }')" != "$id" ]
	run -1 "$HOTTEXT" analyze -q "$dir/k" "$dir/cut.fetch"
	run -0 --separate-stderr "$HOTTEXT" analyze --force "$dir/k" "$dir/cut.fetch"
	[[ $stderr == *"warning: '$dir/cut.fetch' is of another kernel: no misses are predicted from it"* ]]
	[[ $output == *"ITLB entries per path"* && $output != *"predicted"* ]]
	run -0 --separate-stderr "$HOTTEXT" analyze --force vmlinux "$dir/cut.fetch"
	[[ $stderr == *"warning: no misses are predicted from '$dir/cut.fetch'"* ]]
	[[ $output == *"ITLB entries per path"* && $output != *"predicted"* ]]
}

@test "optimize: the warning and the report count the same roots that need more" {
	local f
	cd "$dir"
	{ echo .globl startup_64; section .head.text startup_64 40; } | object head.o
	{ section .text.pad pad 4096 4096	# s and c share a page; a does not fit there
	  for f in s:700 c:1600 pad2:1700 a:3300 pad3:800 x:1500 y:1500; do section .text.${f%:*} ${f%:*} ${f#*:}; done; } | object f.o
	ar rcSTP vmlinux.a head.o f.o
	kernel_link vmlinux
	{ printf 'task;%s_[k];s_[k] %d\n' a 1000 c 1; printf 'task;%s_[k] 1\n' x y; } > st.folded
	run -0 "$HOTTEXT" optimize -v --machine $MACHINE vmlinux st.folded -o plan
	[[ $output == *"warning: 1 of 4 roots need more ITLB entries than now, in the mean or the 95th percentile (-v names them)"* ]]
	[[ $output == *"guard     of 4 roots profiled 1 need more ITLB entries than before;"* ]]
	[[ $output == *"chain c, profiled, needs 2 entries instead of 1"* ]]
	run -0 "$HOTTEXT" optimize --allow-regress --machine $MACHINE vmlinux st.folded -o plan
	[[ $output != *warning* ]]
}

@test "optimize: usage errors" {
	misuse "optimize: give the plan folder with -o DIR" optimize vmlinux perf.data
	misuse "optimize: give a vmlinux and at least one profile" optimize vmlinux -o "$dir/plan"
	misuse "optimize: no algorithm 'best'" optimize vmlinux perf.data -o "$dir/plan" --algorithm best
	misuse "optimize: bad value '10' for --effort" optimize vmlinux perf.data -o "$dir/plan" --effort 10
	misuse "optimize: unknown option '--fast'" optimize vmlinux perf.data -o "$dir/plan" --fast
	misuse "analyze: give a vmlinux and at least one profile" analyze vmlinux
	misuse "reorder: no algorithm 'best'" reorder --algorithm best vmlinux perf.data
	[ ! -e "$dir/plan" ]
}

@test "optimize: --lds writes the kernel's script with the hot region in it" {
	"$HOTTEXT" optimize -q --effort 1 --lds "$DATA/lds/x86-64-6.1.lds" -o "$dir/plan" vmlinux perf.data
	first=$(grep -m 1 -F '(.text' "$dir/plan/hottext.ld")
	grep -qF "$first" "$dir/plan/vmlinux.lds"
	[ "$(grep -c '__sched_text_start = \.;' "$dir/plan/vmlinux.lds")" = 1 ]
}

@test "optimize: roots never profiled are guarded, unless they may regress" {
	"$HOTTEXT" optimize -q --machine $MACHINE --allow-regress vmlinux perf.data -o "$dir/free"
	[ "$(jq .guard "$dir/free/plan.json")" = null ]
	jq -e '.guard | .roots > 20 and .worse == 0 and .unseen_roots > 300 and .units > 0' plan/plan.json
	jq -e '.guard | .unseen_after < .unseen_before and .unseen_worse * 10 < .unseen_roots' plan/plan.json
	grep -Eq '^guard     of [0-9]+ roots profiled none need more ITLB entries than before; [0-9]+ never profiled: ' plan/report.txt
	grep -Eq '<strong>Roots</strong>: of [0-9]+ that were profiled, none need more ITLB entries than before\. Of [0-9]+ that' plan/report.html
	if grep '^guard' "$dir/free/report.txt" || grep -q '<strong>Roots' "$dir/free/report.html"; then false; fi
	[ "$(jq '[.units[] | select(.why | startswith("keeps "))] | length' plan/plan.json)" = "$(jq .guard.units plan/plan.json)" ]
	# What they run is listed behind what was seen to run, but for the page that the groups share.
	jq -e '[.units[] | select(.moved and .group == "main")] | [.[] | select(.why | startswith("keeps ")) | .page] as $guarded |
		[.[] | select(.why | startswith("run by")) | .page] | map(select(. > ($guarded | min))) | unique | length <= 1' \
		plan/plan.json
}

# small: a kernel of six objects in the test's own folder, where the test goes on, and plans of it by `plan DIR [ARG...]`.
small() {
	cd "$dir"
	make_kernel
	kernel_link vmlinux
	printf 'task;xfs_read_[k];schedule_[k] 50\ntask;vfs_read_[k];memcpy_[k] 9\n' >st.folded
}
plan() {
	local to=$1
	shift
	"$HOTTEXT" optimize -q --machine $MACHINE --effort 1 "$@" vmlinux st.folded -o "$to"
}

# spares FOLDER MESSAGE ARG...: optimize says just that, and the folder is as it was.
spares() {
	local folder=$1 message=$2
	shift 2
	rm -rf "$dir/before"
	cp -a "$folder" "$dir/before"
	run -1 --separate-stderr "$HOTTEXT" optimize -q --machine $MACHINE "$@"
	[ "$stderr" = "hottext: $message" ] || { echo "said: $stderr"; return 1; }
	diff -r "$dir/before" "$folder"
}

@test "optimize: what is read is not written over, and nothing that is somebody else's" {
	small
	mkdir prof of
	"$HOTTEXT" collect -q --vmlinux vmlinux st.folded -o prof/profile.hot
	spares prof "cannot write 'prof/profile.hot': it is read as well" vmlinux prof/profile.hot -o prof
	spares prof "cannot write 'prof/profile.hot': it is of no plan of ours; give another folder, or remove it" \
		vmlinux st.folded -o prof
	ln vmlinux.map of/report.txt
	spares of "cannot write 'of/report.txt': it is read as well" --map vmlinux.map vmlinux st.folded -o of
	rm of/report.txt
	echo '{ "schema": 1 }' >of/plan.json
	spares of "cannot write 'of/plan.json': it is of no plan of ours; give another folder, or remove it" vmlinux st.folded -o of
	rm of/*
	plan of
	plan of
	"$HOTTEXT" collect -q --vmlinux vmlinux st.folded -o of/profile.hot
	spares of "cannot write 'of/profile.hot': it is read as well" vmlinux of/profile.hot -o of/
}

@test "optimize: a kernel's own vmlinux.lds stays, one of ours goes with its plan" {
	small
	mkdir build of
	cp "$DATA/lds/x86-64-6.1.lds" build/vmlinux.lds
	for ((i = 0; i < 2; i++)); do
		(cd build && "$HOTTEXT" optimize -q --machine $MACHINE ../vmlinux ../st.folded -o .)
		plan build
		cmp "$DATA/lds/x86-64-6.1.lds" build/vmlinux.lds
	done
	spares build "cannot write 'build/vmlinux.lds': it is of no plan of ours; give another folder, or remove it" \
		--lds "$DATA/lds/x86-64-6.1.lds" vmlinux st.folded -o build
	spares build "cannot write 'build/vmlinux.lds': it is read as well" --lds build/vmlinux.lds vmlinux st.folded -o build
	plan of --lds "$DATA/lds/x86-64-6.1.lds"
	touch of/mine
	plan of --lds "$DATA/lds/x86-64-6.1.lds"
	[ -e of/vmlinux.lds ]
	plan of
	[ -e of/mine ] && [ ! -e of/vmlinux.lds ]
}

@test "optimize: into a mounted folder, empty or with a plan, and one bound there" {
	small
	plan new
	plan old --algorithm link
	mkdir volume bound there
	mount -t tmpfs -o size=4m tmpfs volume 2>/dev/null || skip "cannot mount a small file system"
	plan volume || status=$?
	diff -r -I command new volume >diff || status=$?
	cp old/* volume
	plan volume || status=$?
	diff -r -I command new volume >>diff || status=$?
	[ "$(ls -A volume)" = "$(ls -A new)" ] || status=1
	umount volume
	[ "${status:-0}" = 0 ] || { cat diff; return 1; }
	mount --bind there bound || skip "cannot bind a folder"
	plan bound && plan bound || status=$?
	umount bound
	[ "${status:-0}" = 0 ]
	diff -r -I command new there
}

@test "optimize: into a folder beside which nothing can be made, but not into one that is protected" {
	local as=(env)
	if [ "$(id -u)" = 0 ]; then	# whom no mode keeps out
		as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
		dir=$(mktemp -d)
	fi
	small
	plan new
	mkdir above above/plan
	chmod 777 "$dir" above/plan
	"${as[@]}" "$HOTTEXT" --version >version || skip "nobody else can get at this folder"
	chmod 555 above
	for ((i = 0; i < 2; i++)); do
		"${as[@]}" "$HOTTEXT" optimize -q --machine $MACHINE --effort 1 vmlinux st.folded -o above/plan
	done
	chmod 755 above
	diff -r -I command new above/plan
	[ "$(ls -A above)" = plan ] && [ "$(ls -A new)" = "$(ls -A above/plan)" ]
	chmod 555 new
	run -1 "${as[@]}" "$HOTTEXT" optimize -q --machine $MACHINE --effort 1 vmlinux st.folded -o new
	chmod 755 new
	[ "$output" = "hottext: cannot write 'new': Permission denied" ]
	[ -z "$(find . -maxdepth 1 -name 'new.*')" ]
	[ "$dir" = "$BATS_TEST_TMPDIR" ] || rm -r "$dir"
}

@test "optimize: a folder that has to stay is as it was after an error, whatever could not be moved" {
	small
	${CC:-cc} -std=gnu11 -D_GNU_SOURCE -O1 -o inject "$BATS_TEST_DIRNAME/faults/inject.c"
	./inject any EIO 0 "$HOTTEXT" --version 9>n >version || skip "ptrace is not to be had here"
	export ASAN_OPTIONS=detect_leaks=0
	plan new
	plan old --algorithm link --lds "$DATA/lds/x86-64-6.1.lds"
	echo mine | tee new/mine >old/mine
	cp -a old to
	./inject rename EACCES 0 "$HOTTEXT" optimize -q --machine $MACHINE --effort 1 vmlinux st.folded -o to 9>n
	diff -r -I command new to
	for nth in $(seq "$(cat n)"); do
		rm -rf to
		cp -a old to
		run -1 --separate-stderr ./inject rename EACCES $nth "$HOTTEXT" optimize -q --machine $MACHINE --effort 1 vmlinux st.folded -o to
		[[ $stderr == "hottext: cannot write 'to/"*"': Permission denied" || $stderr == "hottext: cannot write '$dir/to/"*"': Permission denied" ]]
		diff -r old to
	done
	[ "$nth" -gt 25 ]
	# An end that comes in between has them all of one plan, but for the picture, whose drawing may have been hit.
	./inject any EIO 0 "$HOTTEXT" optimize -q --machine $MACHINE --effort 1 vmlinux st.folded -o to 9>n
	for nth in $(seq "$(cat n)" -9 $(($(cat n) - 80))); do
		rm -rf to
		cp -a old to
		run ./inject any TERM $nth "$HOTTEXT" optimize -q --machine $MACHINE --effort 1 vmlinux st.folded -o to
		[ $status -eq 0 ] || [ $status -eq 143 ]
		diff -r old to >diff || diff -r -I command -x hotpages.svg new to >diff || { cat diff; return 1; }
	done
}

@test "optimize: a graphviz that fails takes the picture, not the plan" {
	small
	plan new
	mkdir bin
	for end in 'exit 1' 'exit 126' 'exit 127' 'kill -SEGV $$'; do
		printf '#!/bin/sh\n%s\n' "$end" >bin/dot
		chmod +x bin/dot
		PATH=$dir/bin:$PATH run -0 --separate-stderr "$HOTTEXT" optimize --machine $MACHINE --effort 1 vmlinux st.folded -o bad
		grep -qE "^hottext: no picture: (dot exited with 1(26)?|graphviz is not installed|dot was killed by signal 11); later, \`dot -Tsvg hotpages.dot -o hotpages.svg\` in the plan's folder draws it$" <<<"$stderr" || { echo "said: $stderr"; return 1; }
		[ "$(ls bad)" = "$(ls new | grep -v '\.svg')" ]
	done
	# In the links of a build nothing is drawn.
	printf '#!/bin/sh\ntouch %s/drawn\nexit 1\n' "$dir" >bin/dot
	PATH=$dir/bin:$PATH HOTTEXT_PROFILE=st.folded kernel_link ordered
	[ -e .hottext/plan/report.html ] && [ ! -e drawn ]
}
