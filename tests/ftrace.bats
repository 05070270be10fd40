#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# hottext collect on what the kernel's own tracers and profiler write.

load collect.bash

data=tests/data/ftrace

same() {	# same INPUT PROFILE TOTALS
	collect_to out "$data/$1"
	diff -u "$data/$2" "$dir/out"
	[ "$(cat "$dir/out.err")" = "hottext: $3" ]
}

# sources ARG...: the lines of them
sources() {
	collect_to out "$@"
	sed -nE 's/^source (ftrace|trace.dat) //p' "$dir/out"
}

@test "function_graph text: calls, paths, interrupts and tasks apart" {
	same graph.txt graph.hot "262 samples, 262 kernel, 262 resolved, 0 unresolved, 0 lost"
	grep -q ' interrupt __common_interrupt 2 ' "$dir/out"
}

@test "function_graph text with task and time columns" {
	same graph-proc.txt graph-proc.hot "101 samples, 101 kernel, 101 resolved, 0 unresolved, 0 lost"
}

# Every line's task, on one CPU, against what the sched_switch before it announced: "lines switches disagreements".
check_switches() {
	awk 'match($0, /-[0-9]+ +\|/) {
			pid = substr($0, RSTART + 1) + 0
			if (to != "" && pid != from) {
				bad += pid != to
				switches++
				to = ""
			} else {
				bad += to == "" && n && pid != last
			}
			last = pid
			n++
		}
		/sched_switch: prev_comm/ {
			from = $0; sub(/.*prev_pid=/, "", from); from += 0
			bad += from != pid
			to = $0; sub(/.*next_pid=/, "", to); to += 0
		}
		END { print n, switches + 0, bad + 0 }' "$1"
}

@test "every event tells its task: sched_switch adds nothing, and no path goes from one task to another" {
	[ "$(check_switches $data/graph-sched.txt)" = "709 2 0" ]
	sed '100,$s/ksoftir-8 /ksoftir-9 /' $data/graph-sched.txt > "$dir/bad"
	[ "$(check_switches "$dir/bad" | cut -d" " -f3)" -gt 0 ]
	collect_to out $data/graph-sched.txt
	grep -v 'sched_switch: prev_comm' $data/graph-sched.txt > "$dir/in"
	collect_to without "$dir/in"
	cmp "$dir/out" "$dir/without"
	# One path was left for the other task and gone on with later.
	grep '^path .* exit_to_user_mode_prepare 1 ' "$dir/out" > "$dir/path"
	grep -q ' finish_task_switch.isra.0 .* schedule ' "$dir/path"
	if grep -E ' (kthread_should_stop|run_ksoftirqd|switch_mm_irqs_off)( |$)' "$dir/path"; then
		false
	fi
	# Without the column of tasks, only banners tell them: the same paths.
	sed -E 's/^( [0-9]\)) +[a-z]+-[0-9]+ +\|/\1/' $data/graph-sched.txt > "$dir/in"
	collect_to banners "$dir/in"
	diff <(grep -E '^(path|next)' "$dir/out") <(grep -E '^(path|next)' "$dir/banners")
}

@test "function text in latency format" {
	same function-latency.txt function-latency.hot "242 samples, 242 kernel, 242 resolved, 0 unresolved, 0 lost"
}

@test "function text with offsets names the call sites" {
	same function-offsets.txt function-offsets.hot "118 samples, 118 kernel, 118 resolved, 0 unresolved, 0 lost"
}

@test "stack traces as text; the function events they belong to count once" {
	same stack-offsets.txt stack-offsets.hot "12 samples, 12 kernel, 12 resolved, 0 unresolved, 0 lost"
	collect_to out $data/stack.txt
	grep -q '^func vfs_read 5 0$' "$dir/out"
}

@test "what trace-cmd report prints" {
	same report.txt report.hot "138 samples, 138 kernel, 138 resolved, 0 unresolved, 0 lost"
}

@test "what trace-cmd report prints of the function tracer, with callers or not" {
	command -v trace-cmd || skip "no trace-cmd"
	trace-cmd report -i $data/instances.dat > "$dir/in" 2> "$dir/log"
	collect_to out "$dir/in"
	[ "$(cat "$dir/out.err")" = "hottext: 20 samples, 20 kernel, 20 resolved, 0 unresolved, 0 lost" ]
	[ "$(grep -v '^path' "$dir/out")" = "hottext-profile 1
source ftrace function - - - 20 20 20 0 0
func vfs_read 0 12
func vfs_write 0 8" ]
	trace-cmd report -O parent -i $data/instances.dat > "$dir/in" 2> "$dir/log"
	collect_to out "$dir/in"
	[ "$(grep '^call' "$dir/out")" = "call ksys_read - vfs_read 12
call ksys_write - vfs_write 8" ]
	trace-cmd report -i $data/lost.dat > "$dir/in" 2> "$dir/log"
	collect_to out "$dir/in"
	grep -qx 'hottext: 28 samples, .* 2 lost' "$dir/out.err"
}

@test "function text with arguments: names without them" {
	line='cat-77 [000] ..... 123.456790'
	printf '%s\n' '# tracer: function' "$line: ksys_read <-do_syscall_64" "$line: vfs_read <-ksys_read" \
		"$line: ext4_read [ext4] <-vfs_read" "$line: vfs_read+0x4/0x90 <-ksys_read+0x20/0x80" > "$dir/in"
	collect_to without "$dir/in"
	printf '%s\n' '# tracer: function' "$line: ksys_read(fd=3, buf=0x7ffd1000) <-do_syscall_64" \
		"$line: vfs_read(file=0xffff888003c1e800, pos=(loff_t)[0x1:2]) <-ksys_read" \
		"$line: ext4_read [ext4](iocb=0xffffc90000177ee0, to=0x0) <-vfs_read" \
		"$line: vfs_read+0x4/0x90(file=0xffff888003c1e900) <-ksys_read+0x20/0x80" > "$dir/in"
	collect_to out "$dir/in"
	diff "$dir/without" "$dir/out"
	[ "$(grep '^func' "$dir/out")" = "func ext4_read@ext4.ko 0 1
func ksys_read 0 1
func vfs_read 0 2" ]
}

@test "calls that func-no-repeats tells once count as often, like the trace that tells them all" {
	line='cat-77 [000] ..... 123.456790'
	times() {	# times N LINE
		yes "$2" | head -n "$1"
	}
	{ echo '# tracer: function'
	  echo "$line: ksys_read <-do_syscall_64"
	  times 42 "$line: vfs_read <-ksys_read"
	  times 3 "$line: ext4_read [ext4] <-ext4_iter [ext4]"
	  echo "$line: ksys_write <-do_syscall_64"
	  times 65535 "$line: fsnotify <-ksys_write"; } > "$dir/in"
	collect_to all "$dir/in"
	{ echo '# tracer: function'
	  echo "$line: ksys_read <-do_syscall_64"
	  echo "$line: vfs_read <-ksys_read"
	  echo "$line: vfs_read <-ksys_read (repeats: 41, last_ts:   123.456795)"
	  echo "$line: ext4_read [ext4] <-ext4_iter [ext4]"
	  echo "$line: func_repeats:          ext4_read [ext4] <-ext4_iter [ext4]	(repeats:2  delta_ts: -7)"
	  echo "$line: ksys_write <-do_syscall_64"
	  echo "$line: fsnotify <-ksys_write (repeats: 65535, last_ts:   123.456795)"; } > "$dir/in"
	collect_to out "$dir/in"
	diff "$dir/all" "$dir/out"
	diff "$dir/all.err" "$dir/out.err"
	grep -qx 'func vfs_read 0 42' "$dir/out"
	# More than the kernel can count, and a number that may be cut: one call at least.
	echo "$line: fsnotify <-ksys_write (repeats: 65536, last_ts: 1)" >> "$dir/in"
	printf %s "$line: vfs_read <-ksys_read (repeats: 4" >> "$dir/in"
	collect_to out "$dir/in"
	grep -qx 'func fsnotify 0 65536' "$dir/out"
	grep -qx 'func vfs_read 0 43' "$dir/out"
	grep -qx 'call ksys_read - vfs_read 42' "$dir/out"
}

@test "calls told once, whatever they begin, end or interrupt, are as many told one by one" {
	names="do_syscall_64 syscall_enter_from_user_mode __x64_sys_read vfs_read irq_enter_rcu __sysvec_x irq_exit_rcu
		exit_to_user_mode_prepare handle_mm_fault exc_page_fault schedule_tail do_task_dead 0xffffffff81000000"
	echo '# tracer: function' | tee "$dir/once" > "$dir/each"
	for f in $names; do
		for caller in $names; do
			line="x-7 [000] ..... 1.0: $f <-$caller"
			echo "$line (repeats: 3, last_ts: 1)" >> "$dir/once"
			printf '%s\n' "$line" "$line" "$line" >> "$dir/each"
		done
	done
	line='x-7 [000] ..... 1.0: dput <-dput'	# deeper than any stack
	echo "$line (repeats: 3000, last_ts: 1)" >> "$dir/once"
	yes "$line" | head -n 3000 >> "$dir/each"
	collect_to out "$dir/once"
	collect_to all "$dir/each"
	cmp "$dir/out" "$dir/all"
	diff "$dir/out.err" "$dir/all.err"
}

@test "many calls told at once take no longer than one" {
	repeats() {	# repeats FUNC CALLER
		{ echo '# tracer: function'
		  yes "x-7 [000] ..... 1.0: $1 <-$2 (repeats: 65535, last_ts: 1)" | head -n 4000; } > "$dir/in"
		(ulimit -t 6; collect_to out "$dir/in")
		grep -qx "func $1 0 $((4000 * 65535))" "$dir/out"
	}
	repeats vfs_read ksys_read
	repeats dput dput
	repeats vfs_read 0xffffffff81000000	# without a caller,
	repeats irq_enter_rcu vfs_read		# and each a path
}

@test "returns and prints with an arrow in them are no calls" {
	printf '%s\n' '# tracer: nop' 'bash-12 [000] d.... 1.216651: r_vfs_read_0: (ksys_read+0x6c/0xf0 <- vfs_read) ret=0x10' \
		'bash-12 [000] d.... 1.216652: vfs_read <-ksys_read' 'bash-12 [000] d.... 1.216653: bprint: x <-y' > "$dir/in"
	collect_to out "$dir/in"
	[ "$(cat "$dir/out.err")" = "hottext: 1 samples, 1 kernel, 1 resolved, 0 unresolved, 0 lost" ]
	diff - <(grep '^func\|^call' "$dir/out") <<-END
	func vfs_read 0 1
	call ksys_read - vfs_read 1
	END
}

@test "trace.dat: func_repeats counts as often as it says" {
	printf 'ffffffff%s\n' '81000000 T _text' '81000000 T _stext' '813d3a40 T f1' '813d4350 T f2' '82000000 T _etext' > "$dir/syms"
	# An event's format by another's name: the count is how deep calls were nested.
	LC_ALL=C sed '/name: funcgraph_exit/,/print fmt/{s/name: funcgraph_exit/name: func_repeats  /;s/long func;/long ip;  /
		s/int depth;/int count;/;s/long long calltime;/long parent_ip;    /;}' $data/lost.dat > "$dir/repeats.dat"
	collect_to before --kallsyms "$dir/syms" $data/lost.dat
	collect_to out --kallsyms "$dir/syms" "$dir/repeats.dat"
	[ "$(grep '^func' "$dir/before")" = "func f1 0 4
func f2 0 3" ]
	[ "$(sed -n 's/^source.* function / /p' "$dir/out")" = " - - - 134 134 25 109 0" ]
	[ "$(grep '^func' "$dir/out")" = "func f1 0 24
func f2 0 8" ]
}

@test "lost events are told by whole lines, not by the names of tasks" {
	{ echo '# tracer: function'
	  echo '        [LOST 9-13  [000] .....  2.245684: vfs_read <-ksys_read'
	  echo '    CPU:3 [LOST-14  [000] .....  2.245685: vfs_read <-ksys_read'; } > "$dir/in"
	collect_to out "$dir/in"
	[ "$(cat "$dir/out.err")" = "hottext: 2 samples, 2 kernel, 2 resolved, 0 unresolved, 0 lost" ]
	printf '%s\n' 'CPU:3 [LOST 9 EVENTS]' 'CPU:3 [LOST EVENTS]' 'CPU:0 [20 EVENTS DROPPED]' 'CPU:70000 [EVENTS DROPPED]' >> "$dir/in"
	collect_to out "$dir/in"
	[ "$(cat "$dir/out.err")" = "hottext: 2 samples, 2 kernel, 2 resolved, 0 unresolved, 31 lost" ]
	printf '%s\n' 'CPU:3 [LOST 9 EVENT' 'CPU:3 [9]' 'CPU: [LOST EVENTS]' 'CPU:3 [LOST EVENTS] x' >> "$dir/in"
	collect_to out "$dir/in"
	[ "$(cat "$dir/out.err")" = "hottext: warning: '$dir/in': 4 lines not understood
hottext: 2 samples, 2 kernel, 2 resolved, 0 unresolved, 31 lost" ]
}

@test "a last line without newline: only what is certain of it is taken" {
	cut="hottext: warning: '$dir/in': no newline ends the last line: what may be cut of it is left out"
	ends() {	# ends TRACER LINE SAMPLES [MESSAGE]: after one like it that is whole, the profile without its source
		{ printf '# tracer: %s\n' "$1"
		  [ "$1" = function_graph ] || echo '    ls-13  [000] .....  2.245684: vfs_read <-ksys_read'
		  [ "$1" = function ] || echo ' 0)   0.541 us    |  vfs_read();'
		  printf %s "$2"; } > "$dir/in"
		collect_to out "$dir/in"
		[ "$(cat "$dir/out.err")" = "${4:+$4
}hottext: $3 samples, $3 kernel, $3 resolved, 0 unresolved, 0 lost" ]
	}
	line='    ls-13  [000] .....  2.245685: vfs_write <-'
	ends function "${line}ksys_wri" 2 "$cut"
	[ "$(grep '^[fc]' "$dir/out")" = "func vfs_read 0 1
func vfs_write 0 1
call ksys_read - vfs_read 1" ]
	ends function "$line" 2 "$cut"
	ends function "${line}ext4_write [ext4]" 2
	grep -qx 'call ext4_write@ext4.ko - vfs_write 1' "$dir/out"
	ends function "${line% <-}" 1 "$cut"
	ends function "${line%vfs*}function:     vfs_wri" 1 "$cut"
	ends function "    ls-13  [00" 1 "$cut"
	ends function "# a comme" 1
	ends function_graph ' 0)   0.541 us    |  vfs_write();' 2
	ends function_graph ' 0)               |  vfs_write() { /* <-ksys' 2
	ends function_graph ' 0)               |  vfs_write()' 1 "$cut"
	ends function_graph ' 0)               |  vfs_wri' 1 "$cut"
	ends function_graph ' 0)   1.541 us    |  } /* vfs_' 1
	# Of a stack that is cut, the frames before.
	head -c -4 $data/stack.txt > "$dir/in"
	collect_to out "$dir/in"
	[ "$(head -n 1 "$dir/out.err")" = "$cut" ]
	sed '$d' $data/stack.txt > "$dir/in"
	collect_to before "$dir/in"
	cmp "$dir/before" "$dir/out"
	printf %s "$(cat $data/graph.txt)" > "$dir/in"
	collect_to out "$dir/in"
	cmp $data/graph.hot "$dir/out"
}

@test "lost events and odd lines of text are counted" {
	{ sed -n 1,8p $data/graph.txt; echo 'CPU:0 [LOST 17 EVENTS]'; echo 'what is this'; sed -n '9,$p' $data/graph.txt; } > "$dir/in"
	collect_to out "$dir/in"
	grep -q 'warning: .* 1 lines not understood' "$dir/out.err"
	grep -q ' 0 unresolved, 17 lost$' "$dir/out.err"
}

@test "trace.dat: function_graph" {
	same graph.dat graph.dat.hot "205 samples, 205 kernel, 205 resolved, 0 unresolved, 0 lost"
	if command -v trace-cmd; then
		[ "$(trace-cmd report -i $data/graph.dat 2>/dev/null | grep -c funcgraph_entry:)" -eq 205 ]
	fi
}

@test "trace.dat: version 6 and uncompressed tell the same" {
	command -v trace-cmd || skip "no trace-cmd"
	trace-cmd convert -i $data/graph.dat -o "$dir/v6.dat" --file-version 6 > "$dir/log" 2>&1
	trace-cmd convert -i $data/graph.dat -o "$dir/plain.dat" --compression none > "$dir/log" 2>&1
	for f in v6 plain; do
		collect_to out "$dir/$f.dat"
		cmp $data/graph.dat.hot "$dir/out"
	done
}

@test "several events in one recording: a source for each with counts of its own, and what was lost told once" {
	printf 'ffffffff%s\n' '80000000 T _text' '80000000 T _stext' '8116bfb0 T g1' '8116c100 T g2' '813d4350 T f1' \
		'813d4400 T f2' '82000000 T _etext' > "$dir/syms"
	# An event's format by another's name.
	LC_ALL=C sed '/name: funcgraph_exit/,/print fmt/{s/name: funcgraph_exit/name: function      /;s/long func;/long ip;  /}' \
		$data/lost.dat > "$dir/both.dat"
	[ "$(sources --kallsyms "$dir/syms" "$dir/both.dat")" = "function - - - 20 20 4 16 0
function_graph - - - 28 28 4 24 2" ]
	LC_ALL=C sed '/name: funcgraph_entry/,/print fmt/{s/name: funcgraph_entry/name: kernel_stack /;s/long func;/long caller;/}' \
		$data/lost.dat > "$dir/stacks.dat"
	[ "$(sources --kallsyms "$dir/syms" "$dir/stacks.dat")" = "kernel_stack - - - 28 4 4 0 2" ]
	{ cat $data/graph.txt; echo 'CPU:0 [LOST 3 EVENTS]'; cat $data/function-offsets.txt $data/stack.txt; } > "$dir/in"
	[ "$(sources "$dir/in")" = "function - - - 118 118 118 0 0
function_graph - - - 262 262 262 0 3
kernel_stack - - - 5 5 5 0 0" ]
	grep -q '^hottext: 385 samples, 385 kernel, 385 resolved, 0 unresolved, 3 lost$' "$dir/out.err"
}

@test "trace.dat: names of the recording that the symbols lack are unresolved, in stacks as in a graph" {
	command -v trace-cmd || skip "no trace-cmd"
	trace-cmd convert --compression none -i $data/graph.dat -o "$dir/graph.dat"
	printf 'ffffffff%s\n' '71000000 T _stext' '71001000 T nobody' '71002000 T _etext' > "$dir/none"
	[ "$(sources --kallsyms "$dir/none" "$dir/graph.dat")" = "function_graph - - - 205 205 0 205 0" ]
	LC_ALL=C sed 's/name: kernel_stack/name: kernel_stock/' "$dir/graph.dat" |
		LC_ALL=C sed '/name: funcgraph_entry/,/print fmt/{s/name: funcgraph_entry/name: kernel_stack /;s/long func;/long caller;/}' > "$dir/stacks.dat"
	[ "$(sources --kallsyms "$dir/none" "$dir/stacks.dat")" = "kernel_stack - - - 205 205 0 205 0" ]
}

@test "trace.dat: instances" {
	same instances.dat instances.dat.hot "20 samples, 20 kernel, 20 resolved, 0 unresolved, 0 lost"
}

@test "a second trace.dat behind the first is not read, and that is said" {
	said="a second recording in it is not read; give it as an input of its own"
	second() {	# second FILE BEHIND
		collect_to one "$1"
		! grep -q "$said" "$dir/one.err"
		cat "$1" "$2" > "$dir/two"
		collect_to out "$dir/two"
		cmp "$dir/one" "$dir/out"
		diff <(sed "s,$1,$dir/two,; \$i hottext: warning: '$dir/two': $said" "$dir/one.err") "$dir/out.err"
	}
	for f in graph instances lost; do
		second $data/$f.dat $data/lost.dat
	done
	"$HOTTEXT" collect - < "$dir/two" 2>&1 > "$dir/out" | grep -qx "hottext: warning: 'standard input': $said"
	{ cat $data/graph.dat; printf ' \x17\x08\x44tracing7'; } > "$dir/two"	# not where this one ends
	collect_to out "$dir/two"
	[ "$(wc -l < "$dir/out.err")" -eq 1 ]
	command -v trace-cmd || skip "no trace-cmd"
	for f in graph instances; do
		trace-cmd convert -i $data/$f.dat -o "$dir/v6" --file-version 6 > "$dir/log" 2>&1
		trace-cmd convert -i $data/$f.dat -o "$dir/plain" --compression none > "$dir/log" 2>&1
		second "$dir/v6" $data/lost.dat
		second "$dir/plain" "$dir/v6"
	done
}

@test "trace.dat: what only looks like the begin of a table takes no time" {
	command -v trace-cmd || skip "no trace-cmd"
	trace-cmd convert -i $data/graph.dat -o "$dir/v6" --file-version 6 > "$dir/log" 2>&1
	marks() {	# marks N: so many of them behind the symbols, in whole pages
		perl -0777 -pe '
			BEGIN { $marks = "flyrecord\0" x shift; $marks .= "\n" x (-length($marks) & 4095); }
			s/(.{4})((?:[0-9a-f]{16} . [^\n]+\n){100,})/pack("L<", unpack("L<", $1) + length($marks)) . $2 . $marks/se;
			s/(.*flyrecord\0)(.{8})/$1 . pack("Q<", unpack("Q<", $2) + length($marks))/se;
		' "$1" "$dir/v6" > "$dir/marks"
	}
	marks 1500000
	(ulimit -t 3; collect_to out "$dir/marks")
	collect_to one "$dir/v6"
	cmp "$dir/one" "$dir/out"
	marks 60
	cat $data/lost.dat >> "$dir/marks"
	collect_to out "$dir/marks"
	cmp "$dir/one" "$dir/out"
	grep -q "a second recording in it is not read" "$dir/out.err"
}

@test "trace.dat from standard input and compressed once more" {
	"$HOTTEXT" collect -q - < $data/graph.dat > "$dir/out"
	cmp $data/graph.dat.hot "$dir/out"
	zstd -q -o "$dir/graph.zst" $data/graph.dat
	collect_to out "$dir/graph.zst"
	cmp $data/graph.dat.hot "$dir/out"
}

@test "trace.dat cut short is an error" {
	for n in 20 1000 100000 370000; do
		head -c $n $data/graph.dat > "$dir/cut.dat"
		status=0
		collect_to cut "$dir/cut.dat" || status=$?
		[ "$status" -eq 1 ]
		[ "$(wc -l < "$dir/cut.err")" -eq 1 ]
		[ ! -e "$dir/cut" ]
	done
}

@test "trace.dat of version 6 cut among its pages: --force uses the whole ones and says what is lost" {
	command -v trace-cmd || skip "no trace-cmd"
	trace-cmd convert -i $data/graph.dat -o "$dir/v6.dat" --file-version 6 > "$dir/log" 2>&1
	size=$(stat -c %s "$dir/v6.dat")	# four pages of 4 KB end it
	head -c $((size - 4096 - 100)) "$dir/v6.dat" > "$dir/cut.dat"
	status=0
	collect_to cut "$dir/cut.dat" || status=$?
	[ "$status" -eq 1 ]
	collect_to cut --force "$dir/cut.dat"
	grep -qx "hottext: warning: '$dir/cut.dat' is truncated: of its 4 pages of events the last 2 are lost" "$dir/cut.err"
	all=$(awk '/^func / { n += $4 } END { print n }' $data/graph.dat.hot)
	some=$(awk '/^func / { n += $4 } END { print n }' "$dir/cut")
	[ "$some" -gt $((all / 4)) ]
	[ "$some" -lt "$all" ]
	# Whole files are left alone; before the pages there is nothing to use.
	collect_to whole --force "$dir/v6.dat"
	cmp $data/graph.dat.hot "$dir/whole"
	head -c $((size - 4 * 4096 - 1)) "$dir/v6.dat" > "$dir/cut.dat"
	status=0
	collect_to cut2 --force "$dir/cut.dat" || status=$?
	[ "$status" -eq 1 ]
}

@test "trace.dat of version 7 cut among its records: --force uses the whole ones and says what is lost" {
	forced() {	# forced FILE BYTES TOTAL WARNING
		head -c "$2" "$1" > "$dir/cut.dat"
		collect_to cut --force "$dir/cut.dat"
		printf '%s\n' "hottext: warning: '$dir/cut.dat' is truncated: $4" \
			"hottext: $3 samples, $3 kernel, $3 resolved, 0 unresolved, 0 lost" | diff - "$dir/cut.err"
	}
	# Two buffers, each followed by where its records are.
	forced $data/instances.dat 372914 8 "what stood behind its first buffers is lost"
	forced $data/instances.dat 374000 8 "what stood behind its first buffers is lost"
	forced $data/instances.dat 376919 20 "what stood behind the first 3989 bytes of its last buffer is lost"
	[ "$(grep -c '^func vfs_' "$dir/cut")" -eq 2 ]
	# Where each buffer is, is whole; only names of sections are cut.
	head -c 377050 $data/instances.dat > "$dir/cut.dat"
	collect_to cut --force "$dir/cut.dat"
	cmp $data/instances.dat.hot "$dir/cut"
	command -v trace-cmd || skip "no trace-cmd"
	trace-cmd convert -i $data/graph.dat -o "$dir/plain.dat" --compression none > "$dir/log" 2>&1
	# Behind the last of its four pages stand the options of 79 bytes and the strings.
	end=$(grep -obUaP '\x03\x00\x2b\x00\x00\x00' "$dir/plain.dat" | tail -n 1 | cut -d: -f1)
	status=0
	head -c $((end - 16 - 5000)) "$dir/plain.dat" > "$dir/cut.dat"
	collect_to cut "$dir/cut.dat" || status=$?
	[ "$status" -eq 1 ]
	collect_to cut --force "$dir/cut.dat"
	grep -q "is truncated: of the [0-9]* bytes of its last buffer the last 8192 are lost$" "$dir/cut.err"
	some=$(awk '/^func / { n += $4 } END { print n }' "$dir/cut")
	[ "$some" -gt 50 ]
	[ "$some" -lt 205 ]
	collect_to whole --force "$dir/plain.dat"
	cmp $data/graph.dat.hot "$dir/whole"
}

@test "trace.dat with chunks of records that do not decode: an error; --force uses the others and says what is lost" {
	small=tests/corpus/tracedat/small
	damaged() {	# damaged FILE OFFSET BYTE: the byte there, in hexadecimal
		cp "$1" "$dir/bad.dat"
		printf "\\x$3" | dd of="$dir/bad.dat" bs=1 seek="$2" conv=notrunc status=none
		collect_to bad --force "$dir/bad.dat"
		mv "$dir/bad.err" "$dir/forced.err"
		status=0
		collect_to none "$dir/bad.dat" || status=$?
		[ "$status" -eq 1 ]
		[ "$(wc -l < "$dir/none.err")" -eq 1 ]
	}
	lost() {	# lost BYTES ALL: so forced.err says
		[ "$(head -n 1 "$dir/forced.err")" = \
			"hottext: warning: '$dir/bad.dat' is damaged: of the $2 bytes of its events $1 are lost" ]
	}
	# A CPU's second chunk: what it begins with, the size of it, and of what it decodes to.
	for at in "4306 4a" "4300 10" "4303 01"; do
		# shellcheck disable=SC2086 # two words
		damaged $small $at
		lost 179 773
		grep -qx "hottext: cannot read '$dir/bad.dat': damaged, of the 773 bytes of its events 179 are lost" "$dir/none.err"
		grep -q '^hottext: 22 samples, ' "$dir/forced.err"
	done
	# The first chunk of the first CPU, of the second, of which libtracecmd crashes.
	damaged $small 8205 4a
	lost 397 773
	grep -q ": damaged, of the 773 bytes of its events 397 are lost$" "$dir/none.err"
	damaged $small 4109 4a
	lost 376 773
	grep -q '^hottext: 14 samples, ' "$dir/forced.err"
	# All there is of an instance, of which there are two.
	damaged $data/instances.dat 372749 4a
	lost 91 174
	grep -qx "hottext: cannot read '$dir/bad.dat': libtracecmd does not take its buffer 'two' (damaged?)" "$dir/none.err"
	grep -q '^hottext: 12 samples, ' "$dir/forced.err"
	# Damage and a cut.
	damaged $small 4306 4a
	head -c 8500 "$dir/bad.dat" > "$dir/cut.dat"
	collect_to cut --force "$dir/cut.dat"
	grep -q "'$dir/cut.dat' is truncated: " "$dir/cut.err"
	grep -q "'$dir/cut.dat' is damaged: " "$dir/cut.err"
	# No damage.
	collect_to whole --force $small
	collect_to plain $small
	cmp "$dir/whole" "$dir/plain"
	[ "$(wc -l < "$dir/whole.err")" -eq 1 ]
}

@test "trace.dat with damage anywhere is read or refused, never a crash" {
	size=$(stat -c %s $data/graph.dat)
	for at in 12 40 90 200 700 3000 20000 200000 $((size - 5000)) $((size - 300)) $((size - 20)); do
		cp $data/graph.dat "$dir/bad.dat"
		printf '\377\377{[*\0\1\2' | dd of="$dir/bad.dat" bs=1 seek="$at" conv=notrunc status=none
		status=0
		collect_to bad "$dir/bad.dat" || status=$?
		[ "$status" -le 1 ]
		[ "$status" -eq 0 ] || [ "$(grep -c '^hottext: ' "$dir/bad.err")" -ge 1 ]
	done
}

@test "trace.dat: a record whose size goes back is an error, no loop; --force uses what stands before it" {
	cp $data/lost.dat "$dir/bad.dat"
	# An event with its length in the next word, which is more than 2^31.
	printf '\140\257\063\0\200\377\377\377' | dd of="$dir/bad.dat" bs=1 seek=4384 conv=notrunc status=none
	status=0
	collect_to bad "$dir/bad.dat" || status=$?
	[ "$status" -eq 1 ]
	[ "$(cat "$dir/bad.err")" = "hottext: cannot read '$dir/bad.dat': damaged, a record has a size that cannot be \
(--force uses what stands before it)" ]
	[ ! -e "$dir/bad" ]
	collect_to bad --force "$dir/bad.dat"
	grep -q "'$dir/bad.dat': a record has a size that cannot be: what its CPU wrote behind it is lost" "$dir/bad.err"
	grep -q '^source trace.dat function_graph .* 18 18 ' "$dir/bad"
}

# Words of a size and byte order: the step, then counters.
words() {
	local size=$1 order=$2 w hex
	shift 2
	for w; do
		hex=$(printf "%0$((2 * size))x" "$w")
		[ "$order" = big ] || hex=$(echo "$hex" | fold -w2 | tac | tr -d '\n')
		printf "$(echo "$hex" | sed 's/../\\x&/g')"
	done
}

@test "/proc/profile in every word size, byte order and shift" {
	printf '%s\n' 'c0000000 T _text' 'c0000000 T _stext' 'c0000000 T first' 'c0000020 T second' 'c0000040 T _etext' > "$dir/syms"
	for size in 4 8; do
		for order in little big; do
			words $size $order 16 1 2 3 0 > "$dir/raw"
			collect_to out --kallsyms "$dir/syms" "$dir/raw"
			grep -q '^func first 3 0$' "$dir/out"
			grep -q '^func second 3 0$' "$dir/out"
			words $size $order 32 5 0 > "$dir/raw"
			collect_to out --kallsyms "$dir/syms" "$dir/raw"
			grep -q '^func first 5 0$' "$dir/out"
		done
	done
	# The last counter also counts what lies outside.
	words 4 little 16 1 0 0 9 > "$dir/raw"
	collect_to out --kallsyms "$dir/syms" "$dir/raw"
	[ "$(cat "$dir/out.err")" = "hottext: 10 samples, 10 kernel, 1 resolved, 9 unresolved, 0 lost" ]
	words 4 little 16 1 > "$dir/raw"
	status=0
	collect_to bad --kallsyms "$dir/syms" "$dir/raw" || status=$?
	[ "$status" -eq 1 ]
	grep -q 'its counters do not span the text' "$dir/bad.err"
}

@test "readprofile's text" {
	printf '%6d %-40s %8.4f\n' 7 default_idle 0.25 12 vfs_read 1.5 19 total 0.0001 > "$dir/in"
	collect_to out "$dir/in"
	grep -q '^func vfs_read 12 0$' "$dir/out"
	[ "$(cat "$dir/out.err")" = "hottext: 19 samples, 19 kernel, 19 resolved, 0 unresolved, 0 lost" ]
	echo 'rubbish' >> "$dir/in"
	status=0
	collect_to bad "$dir/in" || status=$?
	[ "$status" -eq 1 ]
	grep -q "line 4 is not 'samples name ratio'" "$dir/bad.err"
	# Where there were ticks in no function, it says so without a ratio.
	printf '     5 vfs_read                                   0.0068\n     4 *unknown*\n     9 total                                      0.0000\n' \
		> "$dir/unknown"
	collect_to out "$dir/unknown"
	grep -q '^source readprofile tick - - - 9 9 5 4 0$' "$dir/out"
}

@test "recordings without an event of a tracer that is known" {
	LC_ALL=C sed 's/name: func/name: warp/g' tests/corpus/tracedat/small > "$dir/other.dat"
	collect_to out "$dir/other.dat" && false
	[ "$(cat "$dir/out.err")" = "hottext: cannot use '$dir/other.dat': it has no function_graph, function or stack trace events" ]
	{ cat $data/function-offsets.txt; echo 'what is this'; } > "$dir/odd"
	collect_to out "$dir/odd"
	[ "$(head -n 1 "$dir/out.err")" = "hottext: warning: '$dir/odd': 1 lines not understood" ]
}
