# SPDX-License-Identifier: GPL-3.0-or-later
# The recorders of a live kernel, as far as that goes without rights or hardware.

setup() {
	HOTTEXT=${HOTTEXT:-./hottext}
	T=$BATS_TEST_TMPDIR
	# A perf that writes its arguments where its data should go.
	cat >"$T/perf" <<-'END'
		#!/bin/bash
		for ((i = 1; i <= $#; i++)); do [ "${!i}" != -o ] || { j=$((i + 1)); out=${!j}; }; done
		[ -z "$FAIL" ] || exit 1
		echo "$@" >"$out"
		exit ${STATUS:-0}
	END
	chmod +x "$T/perf"
}

@test "record perf: what it asks of perf" {
	run "$HOTTEXT" record perf --perf "$T/perf" -e cycles:k -F 99 -o "$T/out" -- sleep 3
	[ "$status" -eq 0 ]
	grep -q -- '^record -q -a -F 99 -o .* -e cycles:k -g --kernel-callchains -- sleep 3$' "$T/out"
	run "$HOTTEXT" record perf --perf "$T/perf" -e cycles:k -b --itlb -o "$T/out"
	[ "$status" -eq 0 ]
	grep -q -- '-F 3999 .* -j any,k -e iTLB-load-misses:k$' "$T/out"
}

@test "record perf: passes the command's status through" {
	STATUS=5 run "$HOTTEXT" record perf --perf "$T/perf" -e cycles:k -o "$T/out" -- false
	[ "$status" -eq 5 ]
	[ -s "$T/out" ]
}

@test "record perf: nothing recorded is an error, and leaves nothing" {
	FAIL=1 run "$HOTTEXT" record perf --perf "$T/perf" -e cycles:k -o "$T/out"
	[ "$status" -eq 1 ]
	[[ $output == *"perf recorded nothing"* ]]
	run "$HOTTEXT" record perf --perf "$T/no-perf" -e cycles:k -o "$T/out"
	[ "$status" -eq 1 ]
	[[ $output == *"install linux-perf"* ]]
	[ "$(ls "$T")" = perf ]
	run "$HOTTEXT" record perf -o -
	[ "$status" -eq 2 ]
}

@test "record profile: resets, runs, copies" {
	printf 'counters' >"$T/proc"
	run "$HOTTEXT" record profile --file "$T/proc" -o "$T/out" -- bash -c "printf 1234567 >'$T/proc'; exit 4"
	[ "$status" -eq 4 ]
	[ "$(cat "$T/out")" = 1234567 ]
}

@test "record profile: says how to get one" {
	run "$HOTTEXT" record profile --file "$T/none" -o "$T/out" -- true
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 1 ]
	[[ $output == *"boot it with profile=2"* ]]
	[ ! -e "$T/out" ]
	run "$HOTTEXT" record profile -- true
	[ "$status" -eq 2 ]
}

@test "record profile: a signal ends the recording, not the recorder" {
	printf 'counters' >"$T/proc"
	"$HOTTEXT" record profile --file "$T/proc" -o "$T/out" &
	pid=$!
	sleep 1
	kill $pid
	wait $pid
	[ "$(cat "$T/out")" = rounters ]
}

@test "record: a signal is handed on to the command" {
	printf 'counters' >"$T/proc"
	"$HOTTEXT" record profile --file "$T/proc" -o "$T/out" -- sleep 60 &
	pid=$!
	sleep 1
	kill $pid
	code=0
	wait $pid || code=$?
	[ $code -eq 143 ]
	[ -s "$T/out" ]
}

@test "record ftrace: without tracefs or the tracer, one line that names the remedy" {
	[ ! -e /sys/kernel/tracing/available_tracers ] || skip "tracefs is mounted"
	run "$HOTTEXT" record ftrace -o "$T/out" -- true
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 1 ]
	[[ $output == *"mount -t tracefs"* || $output == *"run as root"* ]]
	[ ! -e "$T/out" ]
	run "$HOTTEXT" record ftrace -- true
	[ "$status" -eq 2 ]
}

@test "record: the manual page names every option" {
	for what in perf ftrace profile qemu; do
		while read -r option; do
			grep -q -e "Fl -$option\b" -e "Fl . , -$option\b" doc/hottext-record.1
		done < <("$HOTTEXT" record $what --help | sed -n 's/^  ..,\{0,1\} *--\([a-z-]*\).*/\1/p' |
			grep -v -x -e verbose -e quiet -e help)
	done
}
