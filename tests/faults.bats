# SPDX-License-Identifier: GPL-3.0-or-later
# What hottext leaves when a system call fails, memory runs out or a signal comes, at every moment of a run: the output of
# before or the new one, one line that says why, exit status 1. FAULTS=all tries every moment instead of some of them.
load kernel.bash
load faults.bash

setup_file() {
	local here=$PWD
	cd "$BATS_FILE_TMPDIR"
	make_faults "$here"
	"$HOTTEXT" optimize -q --machine generic-4k-32 --lds "$DATA/lds/x86-64-6.1.lds" old p.hot -o plan
	printf 'func vfs_read 9 0\n' | cat <(head -n 1 p.hot) - > q.hot
	cd "$here"
}

setup() {
	unset HOTTEXT_PLAN HOTTEXT_PROFILE HOTTEXT_LD CROSS_COMPILE LINK SCRIPT
	cd "$BATS_FILE_TMPDIR"
	base=$PWD dir=$BATS_TEST_TMPDIR runs=0 failures=0
	./inject any EIO 0 "$HOTTEXT" --version 9> "$dir/n" > "$dir/version" || skip "ptrace is not to be had here"
	mkdir "$dir/old" "$dir/out"
}

# Counts go to the log of the tests.
teardown() {
	[ -z "${runs:-}" ] || echo "# $BATS_TEST_DESCRIPTION: $runs faults, of these $failures made it fail" >&3
}

# new COMMAND...: what a run without faults makes of `old`, in `new`. The command writes into its folder `out`.
new() {
	command=("$@")
	fresh
	(cd "$dir" && "${command[@]}") > "$dir/said" 2> "$dir/clean" || { cat "$dir/clean"; return 1; }
	mv "$dir/out" "$dir/new"
	[ -d "$dir/failed" ] || cp -a "$dir/old" "$dir/failed"
}

fresh() {
	rm -rf "$dir/out"
	cp -a "$dir/old" "$dir/out"
}

# moments COUNT: which of so many calls fail.
moments() {
	local n=$1 most=${2:-5}
	if [ "${FAULTS:-}" = all ] || [ "$n" -le "$most" ]; then
		seq "$n"
	else
		for ((i = 0; i < most; i++)); do echo $((1 + i * (n - 1) / (most - 1))); done
	fi
}

# A plan whose command line could not be read does not tell how it was made; one whose objects could not be, that its
# alignments are inferred. Neither makes it wrong.
same() {
	diff -r -I '^ "command": ' -I '^<pre><code>hottext ' -I '^ "exact_align": ' -I 'alignments' -I '^addresses exact' -x .hottext "$dir/out" "$dir/$1" > "$dir/diff"
}

# Whether an object could not be opened, for which there is a warning unless -q is given: addresses then rest on inferred
# alignments, the order is the same.
inferred() {
	[[ $1 == open* ]] && order out > "$dir/order.out" && order new | cmp -s - "$dir/order.out" &&
		diff <(files out) <(files new) > "$dir/diff"
}

# What there is, none of it empty; profiles with what is in them.
files() {
	(cd "$dir/$1" && find . -type f ! -path '*/.hottext*' -size +0 | sort && find . -name '*.hot' -exec cat {} +)
}

order() {
	(cd "$dir/$1" && find . -type f \( -name hottext.ld -o -name '*.order' -o -name order \) | sort | xargs sed 's/ 0x[0-9a-f]*//') |
		grep .
}

# judge WHAT STATUS: the run was WHAT.
judge() {
	runs=$((runs + 1))
	case $2 in
	0)	same new || inferred "$1" || { echo "$1: status 0, but:"; cat "$dir/diff"; return 1; } ;;
	1)	failures=$((failures + 1))
		same failed || same old || { echo "$1: failed, but left:"; cat "$dir/diff"; return 1; }
		# What a run without faults says, too, is no message of the failure.
		grep -vxFf "$dir/clean" "$dir/err" | sed '/^profiling:/d' > "$dir/message" || true
		[ "$(wc -l < "$dir/message")" -eq 1 ] && grep -q '^hottext: ' "$dir/message" ||
			{ echo "$1: said:"; cat "$dir/err"; return 1; } ;;
	*)	echo "$1: status $2"; cat "$dir/err"; return 1 ;;
	esac
}

# Every kind of call fails at every moment, or at some.
fail_calls() {
	local kind fault n status
	for kind in write:ENOSPC write:short read:EIO read:EINTR rename:EACCES close:EIO fsync:EIO open:EMFILE make:EROFS; do
		fault=${kind#*:} kind=${kind%:*}
		fresh
		(cd "$dir" && "$base/inject" $kind $fault 0 "${command[@]}") 9> "$dir/n" > "$dir/said" 2>&1
		for n in $(moments "$(cat "$dir/n")"); do
			fresh
			status=0
			(cd "$dir" && "$base/inject" $kind $fault $n "${command[@]}") > "$dir/said" 2> "$dir/err" || status=$?
			judge "$kind number $n: $fault" $status
		done
	done
}

# No memory any more from the n-th allocation on, or none as large.
fail_memory() {
	local n status
	# The sanitizers' and gcov's own allocations would fail as well.
	! has_sanitizers || return 0
	fresh
	(cd "$dir" && LD_PRELOAD=$base/nomem.so NOMEM_AT=0 "${command[@]}") 9> "$dir/n" > "$dir/said" 2>&1
	for n in $(moments "$(cat "$dir/n")" 12); do
		fresh
		status=0
		(cd "$dir" && LD_PRELOAD=$base/nomem.so NOMEM_AT=$n "${command[@]}") > "$dir/said" 2> "$dir/err" || status=$?
		judge "allocation $n" $status
	done
}

# Signals before the n-th call: a temporary may be left by SIGKILL alone, and is not the output.
kill_it() {
	local sig n status number
	for sig in TERM:15 INT:2 QUIT:3 PIPE:13 KILL:9; do
		number=${sig#*:} sig=${sig%:*}
		fresh
		(cd "$dir" && "$base/inject" any EIO 0 "${command[@]}") 9> "$dir/n" > "$dir/said" 2>&1
		for n in $(moments "$(cat "$dir/n")" 8); do
			fresh
			status=0
			# Under bats SIGINT is ignored in what it starts: ask a program that does not.
			(cd "$dir" && perl -e '$SIG{INT} = "DEFAULT"; exec @ARGV' "$base/inject" any $sig $n "${command[@]}") \
				> "$dir/said" 2> "$dir/err" || status=$?
			runs=$((runs + 1))
			[ $status -eq 0 ] || failures=$((failures + 1))
			[ $status -eq 0 ] || [ $status -eq $((128 + number)) ] || [ $status -eq 1 ] ||
				{ echo "SIG$sig before call $n: status $status"; cat "$dir/err"; return 1; }
			[ $sig != KILL ] || find "$dir/out" -regextype posix-extended \( -name '*.hottext-*' -o -name '.hottext*' -o -regex '.*\.[A-Za-z0-9]{6}' \) \
				-prune -exec rm -rf {} +
			# The map of a link that did not end is beside no kernel.
			[ $sig != KILL ] || [ -e "$dir/out/vmlinux" ] || rm -f "$dir/out/vmlinux.map"
			# Where the child that draws was hit, the plan has no picture.
			[ $status -ne 0 ] || [ ! -e "$dir/out/plan" ] || cp -n "$dir/new/plan/hotpages.svg" "$dir/out/plan/"
			same new || { [ $status -ne 0 ] && { same old || same failed; }; } ||
				{ echo "SIG$sig before call $n: status $status, left"; cat "$dir/diff"; return 1; }
		done
	done
}

@test "faults: collect" {
	echo before > "$dir/old/profile"
	new "$HOTTEXT" collect -q --vmlinux "$base/old" "$base/stacks.folded" "$base/p.hot" -o out/profile
	fail_calls
	fail_memory
	kill_it
}

@test "faults: reorder" {
	echo before > "$dir/old/order"
	new "$HOTTEXT" reorder -q --machine generic-4k-32 "$base/old" "$base/p.hot" -o out/order
	fail_calls
	fail_memory
	kill_it
}

@test "faults: report" {
	echo before > "$dir/old/report.html"
	new "$HOTTEXT" report -q "$base/plan" -o out/report.html
	fail_calls
	fail_memory
	kill_it
}

@test "faults: optimize, over a plan of before" {
	"$HOTTEXT" optimize -q --machine generic-4k-64 "$base/old" "$base/q.hot" -o "$dir/old/plan"
	new "$HOTTEXT" optimize -q --machine generic-4k-32 --lds "$DATA/lds/x86-64-6.1.lds" "$base/old" "$base/p.hot" -o out/plan
	fail_calls
	fail_memory
	kill_it
}

@test "faults: ld with a plan" {
	cp -a "$base"/{head.o,fs,kernel,lib,vmlinux.a} "$dir"
	mkdir "$dir/failed"
	echo before > "$dir/old/vmlinux"
	export HOTTEXT_PLAN=$base/plan
	new "$HOTTEXT" ld --no-warn-rwx-segments -z noexecstack --script="$DATA/lds/x86-64-6.1.lds" -o out/vmlinux \
		--whole-archive vmlinux.a
	fail_calls
	fail_memory
	kill_it
}

@test "faults: ld with a profile" {
	cp -a "$base"/{head.o,fs,kernel,lib,vmlinux.a} "$dir"
	mkdir "$dir/failed"
	echo before > "$dir/old/vmlinux"
	export HOTTEXT_PROFILE=$base/p.hot
	new "$HOTTEXT" ld --no-warn-rwx-segments -z noexecstack --script="$DATA/lds/x86-64-6.1.lds" -o out/vmlinux \
		--whole-archive vmlinux.a
	rm -r "$dir/new/.hottext"
	fail_calls
	fail_memory
	kill_it
}

@test "faults: ld of vmlinux.o" {
	cp -a "$base"/{head.o,fs,kernel,lib,vmlinux.a} "$dir"
	mkdir "$dir/failed"
	echo before > "$dir/old/vmlinux.o"
	new "$HOTTEXT" ld -r -o out/vmlinux.o --whole-archive vmlinux.a
	fail_calls
	fail_memory
	kill_it
}
