# SPDX-License-Identifier: GPL-3.0-or-later
# The recorders of a live kernel, as far as that goes without rights or hardware.

setup() {
	HOTTEXT=${HOTTEXT:-./hottext}
	T=$BATS_TEST_TMPDIR
	# A perf that writes its arguments where its data should go, behind the header of a recording with data.
	cat >"$T/perf" <<-'END'
		#!/bin/bash
		for ((i = 1; i <= $#; i++)); do [ "${!i}" != -o ] || { j=$((i + 1)); out=${!j}; }; done
		[ -z "$FAIL" ] || exit 1
		{ printf "PERFILE2%40s\\${SIZE:-1}\0\0\0\0\0\0\0\n" ''; echo "$@"; } >"$out"
		exit ${STATUS:-0}
	END
	chmod +x "$T/perf"
}

@test "record perf: what it asks of perf" {
	run "$HOTTEXT" record perf --perf "$T/perf" -e cycles:k -F 99 -o "$T/out" -- sleep 3
	[ "$status" -eq 0 ]
	grep -aq -- '^record -a -F 99 -o .* -e cycles:k -g --kernel-callchains -q -- sleep 3$' "$T/out"
	run "$HOTTEXT" record perf --perf "$T/perf" -e cycles:k -b --itlb -o "$T/out"
	[ "$status" -eq 0 ]
	grep -aq -- '-F 3999 .* -j any,k -q -e iTLB-load-misses:k$' "$T/out"
	# With its summary, perf says all of its errors.
	"$HOTTEXT" record perf -v --perf "$T/perf" -e cycles:k -o "$T/out"
	grep -aq -- '-g --kernel-callchains$' "$T/out"
	[ "$(ls "$T")" = "out
perf" ]
}

@test "record perf: a command that cannot be run is one line, and the old recording stays" {
	echo before >"$T/out"
	echo text >"$T/text"
	mkdir -p "$T/path/folder" "$T/later"
	echo text >"$T/path/text"
	cp "$T/text" "$T/later/text"
	cannot() {	# cannot COMMAND REASON
		run "$HOTTEXT" record perf --perf "$T/perf" -e cycles:k -o "$T/out" -- "$1"
		[ "$status" -eq 1 ]
		[ "$output" = "hottext: cannot run '$1': $2" ]
		[ "$(cat "$T/out")" = before ]
	}
	cannot "$T/none" "No such file or directory"
	cannot "$T/text" "Permission denied"
	cannot "$T/later" "Permission denied"
	cannot "" "No such file or directory"
	PATH=$T/path:$T/later:$PATH
	cannot no-such-command "No such file or directory"
	cannot folder "Permission denied"
	cannot text "Permission denied"
	chmod +x "$T/later/text"
	"$HOTTEXT" record perf --perf "$T/perf" -e cycles:k -o "$T/out" -- text
	grep -aq -- '-- text$' "$T/out"
	# An empty folder in PATH is this one.
	hottext=$(realpath "$HOTTEXT")
	cd "$T/later"
	mv text here
	PATH=/usr/bin:/bin: "$hottext" record perf --perf "$T/perf" -e cycles:k -o "$T/out" -- here
	grep -aq -- '-- here$' "$T/out"
	(unset PATH; /usr/bin/env -u PATH "$hottext" record perf --perf /bin/true -e cycles:k -o "$T/new" -- sh 2>&1) |
		grep -q 'perf recorded nothing'
}

@test "record perf: an unfinished recording is an error, and the old one stays" {
	echo before >"$T/out"
	for code in 0 255; do
		STATUS=$code SIZE=0 run "$HOTTEXT" record perf --perf "$T/perf" -e cycles:k -o "$T/out" -- true
		[ "$status" -eq 1 ]
		[ "$output" = "hottext: cannot write '$T/out': perf did not finish its recording (-v shows what it says)" ]
	done
	SIZE=0 run "$HOTTEXT" record perf -v --perf "$T/perf" -e cycles:k -o "$T/out" -- true
	[ "${lines[-1]}" = "hottext: cannot write '$T/out': perf did not finish its recording" ]
	[ "$(cat "$T/out")" = before ]
	[ "$(ls "$T" | wc -l)" -eq 2 ]
}

@test "record perf: the recording of the default name is kept, as perf does; one of a name given is replaced" {
	hottext=$(realpath "$HOTTEXT")
	mkdir "$T/w"
	cd "$T/w"
	record() {
		"$hottext" record perf --perf ../perf -e cycles:k "$@"
	}
	record -- true
	[ "$(ls)" = perf.data ]
	record -- sleep 0
	grep -aq -- '-- true$' perf.data.old
	grep -aq -- '-- sleep 0$' perf.data
	cp perf.data before
	cp perf.data.old older
	# A recording that fails changes neither; nor does an empty file become the old one.
	if SIZE=0 record -- true; then false; fi
	if FAIL=1 record -- true; then false; fi
	if record -- ./none; then false; fi
	cmp perf.data before
	cmp perf.data.old older
	: >perf.data
	record -- true
	cmp perf.data.old older
	# It leads elsewhere: the old one stays there.
	mkdir there
	mv before there/x
	ln -sf there/x perf.data
	cp there/x before
	record -- true
	cmp there/x.old before
	[ -L perf.data ]
	cmp perf.data.old older
	# By name.
	record -o perf.data -- sleep 0
	cmp there/x.old before
	rm perf.data perf.data.old
	mkdir perf.data.old
	cp before perf.data
	run record -- touch ran
	[ "$status" -eq 1 ]
	[ "$output" = "hottext: cannot keep 'perf.data' as 'perf.data.old': Is a directory" ]
	cmp perf.data before
	[ "$(ls)" = "before
older
perf.data
perf.data.old
there" ]
}

@test "record perf: a recording that cannot have its name stays under another, which is told" {
	hottext=$(realpath "$HOTTEXT")
	# The command of this one is what happens meanwhile.
	sed '/^exit/i eval "${@: -1}"' "$T/perf" >"$T/busy"
	chmod +x "$T/busy"
	mkdir "$T/w"
	cd "$T/w"
	stays() {	# stays MESSAGE ARGS...
		local said=$1
		shift
		run "$hottext" record perf --perf ../busy -e cycles:k "${@:1:$#-1}" -- test "${!#}"
		[ "$status" -eq 1 ]
		[[ $output =~ ^"hottext: $said; the recording is '"([^\']*)"'"$ ]]
		grep -aq PERFILE2 "${BASH_REMATCH[1]}"
		rm "${BASH_REMATCH[1]}"
	}
	echo before >perf.data
	stays "cannot keep 'perf.data' as 'perf.data.old': Is a directory" 'mkdir perf.data.old'
	[ "$(cat perf.data)" = before ]
	stays "cannot write 'out': Is a directory" -o out 'mkdir out'
	rm -r perf.data.old
	[ "$(ls -d -- *)" = "out
perf.data" ]
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
