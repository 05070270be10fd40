#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# hottext compare: what people published has known answers; formats, squeezed rows, noise, kernels.

setup() {
	HOTTEXT=${HOTTEXT:-./hottext}
	case $HOTTEXT in /*) ;; *) HOTTEXT=$PWD/$HOTTEXT ;; esac
	data=$PWD/tests/data/published
	dir=$(mktemp -d)
	cd "$dir"
}

teardown() {
	rm -rf "$dir"
}

# compare ARG...: the result as JSON in ./json.
compare() {
	"$HOTTEXT" compare -q --json "$@" >json
}

# medians HOST TABLE-PATTERN FIGURE: of that host, whichever side it is on.
median() {
	jq -r --arg h "$1" --arg t "$2" --arg n "$3" 'first(.comparisons[] | . as $c | .figures[] |
		select((.table | startswith($t)) and .name == $n) |
		if $c.base == $h then .base.median elif $c.other == $h then .other.median else empty end)' json
}

# The two kernels of the mail: counters of one dd, and two timed runs.
make_8xx() {
	for v in 2.4 2.6; do
		{ cat "$data/tlbmiss-8xx-$v.txt"; grep "^v$v" "$data/time-8xx.txt"; } >$v.txt
	done
}

@test "compare: 8xx dd, the right differences of the counters" {
	compare "$data/tlbmiss-8xx-2.4.txt" "$data/tlbmiss-8xx-2.6.txt"
	[ "$(jq -c '[.comparisons[0].figures[].difference]' json)" = '[140190,116919,42667,40537]' ]
	[ "$(jq '.comparisons[0].tlb_misses.difference' json)" = 340313 ]
}

@test "compare: 8xx dd, the time by the cost of a miss and the cost by the time" {
	make_8xx
	"$HOTTEXT" compare --cycles 23 --clock 48MHz 2.4.txt 2.6.txt >out
	grep -q '^TLB misses together: 351,033 and 691,346, 340,313 more$' out
	grep -q '^at 23 cycles a miss that is 7,827,199 cycles, 0.163 s at 48 MHz (16.3 % of a second, 4.8 % of the run)$' out
	grep -q '^measured: the run takes 0.80 to 0.99 s more: a miss costs 113 to 140 cycles, if ' out
	grep -q '^the two do not agree: a miss costs more than that' out
}

@test "compare: 8xx dd, the machine's own range holds what was measured" {
	make_8xx
	"$HOTTEXT" compare --machine mpc8xx 2.4.txt 2.6.txt >out
	grep -q '^at 23 to 140 cycles a miss that is 7,827,199 to 47,643,820 cycles, 0.163 s to 0.993 s at 48 MHz' out
	if grep 'do not agree' out; then false; fi
	"$HOTTEXT" compare --machine mpc8xx 2.6.txt 2.4.txt >out
	grep -q '340,313 fewer$' out
	grep -q '^measured: the run takes 0.80 to 0.99 s less: a miss costs 113 to 140 cycles' out
}

@test "compare: 8xx dd, two runs a side cannot tell" {
	"$HOTTEXT" compare "$data/time-8xx.txt" >out
	grep -Eq '^real, s +3.403 3.366..3.44 +4.3005 4.241..4.36 .* few runs$' out
	grep -q '^the smallest p that so few runs can give is 0.33: they cannot tell a difference from noise$' out
}

@test "compare: LMbench on a 405GP, medians of the three mappings" {
	compare --base nopintlb "$data/lmbench-405gp.txt"
	while read -r table figure nopin pin large; do
		table=${table//_/ } figure=${figure//_/ }
		got="$(median nopintlb "$table" "$figure") $(median 2pintlb "$table" "$figure") $(median largepte "$table" "$figure")"
		awk -v got="$got" -v want="$nopin $pin $large" 'BEGIN {
			split(got, g, " "); split(want, w, " ")
			exit !(g[1] == w[1] && g[2] == w[2] && g[3] == w[3]) }' || { echo "$figure: $got"; false; }
	done <<-EOF
	Processor fork_proc 2075 1796 1686
	Processor exec_proc 9093 8273 7978
	Processor sh_proc 34000 31000 29000
	Processor null_call 1.46 1.44 1.43
	Context 2p/0K_ctxsw 4.86 5.04 4.66
	Context 8p/16K_ctxsw 94.8 90.3 87.1
	Context 16p/64K_ctxsw 277.4 270.2 264.1
	*Local*_Communication_lat Pipe 37.5 35.1 31.6
	*Local*_Communication_lat TCP 364.5 242.6 279.3
	*Local*_Communication_lat TCP_conn 1151 901 908
	File 0K_Create 649.4 581.7 580
	File Mmap_Latency 1742 1450 1385
	*Local*_Communication_band Pipe 41 43.1 43.6
	*Local*_Communication_band Mmap_reread 115.5 115.6 115.7
	Memory Main_mem 147.9 148 147.4
	EOF
	[ "$(jq '.ambiguous | length' json)" = 0 ]
	# Its RPC and UDP columns are blank: by the ruler, not by counting cells.
	[ "$(jq '[.comparisons[].figures[] | select(.name | test("UDP|RPC"))] | length' json)" = 0 ]
}

@test "compare: LMbench on a 405GP, more than noise only where so few runs can tell" {
	compare --base nopintlb "$data/lmbench-405gp.txt"
	[ "$(jq '.corrected_for' json)" = 80 ]
	[ "$(jq -c '[.comparisons[].figures[].verdict] | unique' json)" = '["alone","equal","noise"]' ]
	compare --base nopintlb --figure 'fork proc' --figure 'exec proc' "$data/lmbench-405gp.txt"
	[ "$(jq -c '[.comparisons[].figures[].verdict] | unique' json)" = '["differs"]' ]
	[ "$(jq '[.comparisons[].figures[] | .p * 126 | round] | unique[0]' json)" = 1 ]
	"$HOTTEXT" compare --base nopintlb "$data/lmbench-405gp.txt" >out
	[ "$(grep -c 'more than noise: 0 of 40, too few runs for so many figures' out)" = 2 ]
}

@test "compare: LMbench with 32 MB, three runs of each cannot tell" {
	"$HOTTEXT" compare --base nopintlb- "$data/lmbench-405gp-32m.txt" >out
	[ "$(grep -c 'the smallest p that so few runs can give is 0.1: they cannot tell' out)" = 2 ]
	grep -Eq '^fork proc +2,075 2,060..2,094 +1,706 1,699..1,713 ' out
	grep -Eq '^fork proc +2,075 2,060..2,094 +1,687 1,684..1,690 ' out
}

@test "compare: LMbench 1.9 on an ARM920T, null call of four kernels" {
	compare --figure 'null call' "$data/lmbench-arm920t.txt"
	[ "$(jq -c '[.comparisons[0].figures[0].base.median, (.comparisons[].figures[0].other.median)]' json)" = '[3.1,1.8,3.1,1.5]' ]
	[ "$(jq -c '[.comparisons[].figures[0].other | .max - .min] | unique' json)" = '[0]' ]
	[ "$(jq '.comparisons[0].figures[0].base.runs' json)" = 2 ]
}

@test "compare: squeezed rows are set aside, every one, and none is guessed" {
	compare "$data/lmbench-arm920t.txt"
	[ "$(jq -c '[.ambiguous[].line]' json)" = '[22,23,24,25,26,27,28,29,35,36,37,38,39,40,41,42,48,49,50,51,52,53,54,55]' ]
	[ "$(jq -c '[.ambiguous[] | "\(.cells) of \(.columns)"] | unique' json)" = '["3 of 8","4 of 7","6 of 7"]' ]
	[ "$(jq '[.comparisons[].figures[] | select(.table | test("Context|latencies in|File"))] | length' json)" = 0 ]
	# -1 is no bandwidth, and suffixes are thousands.
	[ "$(jq '[.comparisons[].figures[] | select(.name == "TCP")] | length' json)" = 0 ]
	[ "$(median 2410-a Processor selct)" = 515 ]
	[ "$(median 2410-d Processor 'sh proc')" = 59000 ]
	"$HOTTEXT" compare "$data/lmbench-arm920t.txt" >out
	[ "$(grep -c "^ambiguous, left out: '.*' line [0-9]*, 2410-[a-d] in '.*': [346] cells for [78] columns$" out)" = 24 ]
}

# A summary of LMbench 3 as it is printed: HOST SYSTEM NULL-CALL [SELCT-TCP PAGE-FAULT], blank where not given.
lmbench3() {
	set -- "$@" "" ""
	cat <<-EOF

	                 L M B E N C H  3 . 0   S U M M A R Y
	                 ------------------------------------
			 (Alpha software, do not distribute)

	Basic system parameters
	------------------------------------------------------------------------------
	Host                 OS Description              Mhz  tlb  cache  mem   scal
	                                                     pages line   par   load
	                                                           bytes  
	--------- ------------- ----------------------- ---- ----- ----- ------ ----
	$(printf '%-9s %13s' "$1" "$2")        i686-pc-linux-gnu 1698   64    64 2.0300    1

	Processor, Processes - times in microseconds - smaller is better
	------------------------------------------------------------------------------
	Host                 OS  Mhz null null      open slct sig  sig  fork exec sh  
	                             call  I/O stat clos TCP  inst hndl proc proc proc
	--------- ------------- ---- ---- ---- ---- ---- ---- ---- ---- ---- ---- ----
	$(printf '%-9s %13s %4s %4s %4s %4s %4s %4s %4s %4s %4s %4s %4s' "$1" "$2" 1698 "$3" 0.52 2.10 3.05 "$4" 0.91 2.80 125. 524. 10.K)

	File & VM system latencies in microseconds - smaller is better
	-------------------------------------------------------------------------------
	Host                 OS   0K File      10K File     Mmap    Prot   Page   100fd
	                        Create Delete Create Delete Latency Fault  Fault  selct
	--------- ------------- ------ ------ ------ ------ ------- ----- ------- -----
	$(printf '%-9s %13s %6s %6s %6s %6s %7s %5s %7s %5s' "$1" "$2" 38.0 15.6 88.0 31.7 875.3K "" "$5" 9.7)

	Memory latencies in nanoseconds - smaller is better
	    (WARNING - may not be correct, check graphs)
	------------------------------------------------------------------------------
	Host                 OS   Mhz   L1 \$   L2 \$    Main mem    Rand mem    Guesses
	--------- -------------   ---   ----   ----    --------    --------    -------
	$(printf '%-9s %13s' "$1" "$2")  1698 1.1790 10.800  150.0       302.4    No L2 cache?
	EOF
}

@test "compare: LMbench 3, blank cells by the ruler" {
	lmbench3 box 'Linux 2.6.12' 0.41 >a
	lmbench3 box 'Linux 2.6.13' 0.39 >b
	compare a b
	[ "$(jq -c '[.comparisons[] | .base, .other]' json)" = '["a","b"]' ]
	[ "$(median a Processor 'null call')/$(median b Processor 'null call')" = 0.41/0.39 ]
	[ "$(median a Processor 'open clos')/$(median a Processor 'selct TCP')/$(median a Processor 'sig inst')" = 3.05//0.91 ]
	[ "$(median a File '100fd selct')/$(median a File 'Prot Fault')/$(median a File 'Mmap Latency')" = 9.7//875300 ]
	[ "$(median a Memory 'Rand mem')" = 302.4 ]
	[ "$(jq '.ambiguous | length' json)" = 0 ]
}

@test "compare: one host under two systems is two sides; one file, several summaries" {
	for figure in 0.41 0.42 0.43 0.44; do lmbench3 box 'Linux 2.6.12' $figure; done >both
	for figure in 0.38 0.37 0.36 0.35; do lmbench3 box 'Linux 2.6.13' $figure; done >>both
	compare --figure 'null call' both
	[ "$(jq -c '.comparisons[0] | [.base, .other]' json)" = '["box Linux 2.6.12","box Linux 2.6.13"]' ]
	[ "$(jq -c '.comparisons[0].figures[0] | [.base.runs, .base.median, .other.median, .verdict]' json)" = \
		'[4,0.425,0.365,"differs"]' ]
}

@test "compare: two summaries of the same hosts, each host against itself" {
	{ lmbench3 left 'Linux 2.6.12' 0.41; lmbench3 right 'Linux 2.6.12' 0.71; } >before
	{ lmbench3 left 'Linux 2.6.13' 0.39; lmbench3 right 'Linux 2.6.13' 0.69; } >after
	compare --figure 'null call' before after
	[ "$(jq -c '[.comparisons[] | [.base, .other, .figures[0].base.median, .figures[0].other.median]]' json)" = \
		'[["before:left","after:left",0.41,0.39],["before:right","after:right",0.71,0.69]]' ]
}

@test "compare: what mailers do: quoted lines, header, ruler and rows broken at the end" {
	# Header and rows break at blanks, rulers anywhere.
	fold_mail() { sed -E 's/^ +\(WARN/(WARN/' | while IFS= read -r line; do
		case $line in -*) fold -w 70 <<<"$line" ;; *) fold -s -w 70 <<<"$line" ;; esac
	done; }
	lmbench3 box 'Linux 2.6.12' 0.41 14.5 1.50 >plain
	sed 's/^/> /' plain >quoted
	fold_mail <plain >broken
	[ "$(wc -l <broken)" -gt "$(wc -l <plain)" ]
	compare plain quoted
	[ "$(jq -c '[.comparisons[0].figures[].difference] | unique' json)" = '[0]' ]
	[ "$(jq '.comparisons[0].figures | length' json)" = 21 ]
	# The row with a blank cell cannot be read behind a broken ruler; the full ones can.
	compare plain broken
	[ "$(jq -c '[.comparisons[0].figures[].difference] | unique' json)" = '[0]' ]
	[ "$(jq '.comparisons[0].figures | length' json)" = 14 ]
	[ "$(jq -c '[.ambiguous[] | [.table, .cells]]' json)" = '[["File & VM system latencies",5]]' ]
}

@test "compare: a squeezed row whose cells all end where columns do is ambiguous, too" {
	lmbench3 wide-host 'Linux 2.6.12-' 0.41 >a
	sed '/ 0.52 2.10/ s/  */ /g' a >squeezed
	grep -q '^wide-host Linux 2.6.12- 1698 0.41 0.52 2.10 3.05 0.91 2.80 125. 524. 10.K$' squeezed
	compare a squeezed
	[ "$(jq -c '[.ambiguous[] | [.table, .cells, .columns]]' json)" = '[["Processor, Processes",10,11]]' ]
	[ "$(median a File '0K Create')" = 38 ]
}

@test "compare: a hand's remark under a row is no row" {
	lmbench3 box 'Linux 2.6.12' 0.41 | sed '/ 0.52 2.10/ a\                              ^^^' >a
	lmbench3 box 'Linux 2.6.13' 0.39 >b
	compare a b
	[ "$(jq '.lines_not_understood' json)" = 1 ]
	[ "$(median a Processor 'null call')" = 0.41 ]
}

@test "compare: a table that no release has is numbered, and said so" {
	lmbench3 box 'Linux 2.6.12' 0.41 | sed 's/call  I.O stat/gone  I\/O stat/' >a
	run "$HOTTEXT" compare a a
	[ "$status" -eq 0 ]
	[[ $output == *"no release of LMbench has a table 'Processor, Processes' with such a header"* ]]
	[[ $output == *"column 2 "* ]]
}

@test "compare: what time prints, in every shell" {
	printf '\nreal\t1m3.440s\nuser\t0m0.090s\nsys\t0m3.330s\n' >bash
	printf 'real 63.44\nuser 0.09\nsys 3.33\n' >posix
	printf '    1m03.44s real     0m00.09s user     0m03.33s system\n' >ksh
	printf '0.09user 3.33system 1:03.44elapsed 99%%CPU (0avgtext+0avgdata 2048maxresident)k\n0inputs+0outputs (1major+85minor)pagefaults 0swaps\n' >gnu
	printf '\tCommand being timed: "dd"\n\tUser time (seconds): 0.09\n\tSystem time (seconds): 3.33\n\tPercent of CPU this job got: 99%%\n\tElapsed (wall clock) time (h:mm:ss or m:ss): 1:03.44\n\tAverage shared text size (kbytes): 0\n\tMajor (requiring I/O) page faults: 1\n\tExit status: 0\n' >verbose
	printf '\nreal\t1m3,440s\nuser\t0m0,090s\nsys\t0m3,330s\n' >comma
	compare bash posix ksh gnu verbose comma
	[ "$(jq -c '[.comparisons[].figures[] | select(.name == "real") | .other.median] | unique' json)" = '[63.44]' ]
	[ "$(jq -c '[.comparisons[] | .figures | length] | unique' json)" = '[3]' ]
	[ "$(jq -c '[.comparisons[].figures[].difference] | unique' json)" = '[0]' ]
	[ "$(jq '.lines_not_understood' json)" = 0 ]
	compare gnu verbose
	[ "$(jq -c '[.comparisons[0].figures[] | select(.name == "major faults") | .other.median]' json)" = '[1]' ]
}

perf_text() {
	cat <<-EOF
	# started on Mon Nov 30 12:00:00 2026


	 Performance counter stats for 'dd if=/dev/zero of=/dev/null' (5 runs):

	          1,234.56 msec task-clock                       #    0.996 CPUs utilized            ( +-  0.03% )
	           140,190      iTLB-load-misses:k               #   12.00% of all iTLB cache accesses  ( +-  1.00% )  (66.61%)
	            20,000      dTLB-load-misses:k                                                   (66.70%)
	   <not supported>      dTLB-prefetch-misses
	     <not counted>      branches                                                             (0.00%)

	       1.239012345 seconds time elapsed                                          ( +-  0.03% )

	       0.100000000 seconds user
	       1.139000000 seconds sys
	EOF
}

@test "compare: perf stat, text and CSV" {
	perf_text >text
	cat >csv <<-EOF
	# started on Mon Nov 30 12:00:00 2026

	1234.56,msec,task-clock,1234560000,100.00,0.996,CPUs utilized
	140000,,iTLB-load-misses:k,4212000,66.61,12.00,of all iTLB cache accesses
	20000,,dTLB-load-misses:k,4212000,66.70,,
	<not supported>,,dTLB-prefetch-misses,0,100.00,,
	EOF
	compare --cycles 20..30 --clock 1GHz text csv
	[ "$(jq -c '[.comparisons[0].figures[] | [.name, .unit, .difference]]' json)" = \
		'[["task-clock","msec",0],["iTLB-load-misses:k","",-190],["dTLB-load-misses:k","",0]]' ]
	[ "$(jq -c '[.without_result, .lines_not_understood, .comparisons[0].tlb_misses.cycles]' json)" = \
		'[3,0,[-5700,-3800]]' ]
	run "$HOTTEXT" compare text text
	[[ $output == *"'text': line 4: means of several runs count as one run"* ]]
	compare text text
	[ "$(jq -c '[.comparisons[0].figures[].name]' json)" = \
		'["task-clock","iTLB-load-misses:k","dTLB-load-misses:k","elapsed","user","sys"]' ]
}

# perf_run COUNT MSEC SECONDS: a run as text.
perf_run() {
	printf " Performance counter stats for 'x':\n\n  %s  iTLB-load-misses:k  # 0,12%% of all\n  %s msec task-clock\n\n  %s seconds time elapsed\n\n" "$@"
}

@test "compare: perf stat in other languages" {
	want='[["iTLB-load-misses:k",1140191],["task-clock",1.371],["elapsed",0.002105731]]'
	perf_run 1140191 1.371 0.002105731 >c
	perf_run 1,140,191 1.371 0.002105731 >en
	perf_run 1.140.191 1,371 0,002105731 >de
	perf_run $'1\xe2\x80\xaf140\xe2\x80\xaf191' 1,371 0,002105731 >fr
	perf_run $'1\xc2\xa0140\xc2\xa0191' 1,371 0,002105731 >pl
	perf_run $'1\xe2\x80\x99140\xe2\x80\x99191' 1.371 0.002105731 >ch
	for other in en de fr pl ch; do
		compare c $other
		[ "$(jq -c '[.comparisons[0].figures[] | [.name, .other.median]]' json)" = "$want" ] || { echo $other; cat json; false; }
		[ "$(jq '.lines_not_understood' json)" = 0 ]
	done
	# Not only where its own line tells: what the file shows once holds for all of it.
	perf_run 140.191 1,371 0,002105731 >de
	perf_run 140,191 1,371 1371.0021 >en
	compare de en
	[ "$(jq -c '[.comparisons[0].figures[] | [.base.median, .other.median]]' json)" = \
		'[[140191,140191],[1.371,1371],[0.002105731,1371.0021]]' ]
	# A count has no three decimals; a time by itself has.
	grep -v seconds de >a
	grep -v -e seconds -e iTLB de >b
	compare a b
	[ "$(jq -c '[.comparisons[0].figures[] | [.name, .base.median, .other.median]]' json)" = '[["task-clock",1.371,1.371]]' ]
	# How far runs lie apart is no word of the name.
	perf_run 1 1.37 '0.002105731 +- 0.000012' >a
	compare a a
	[ "$(jq '.comparisons[0].figures[] | select(.name == "elapsed") | .base.median' json)" = 0.002105731 ]
}

@test "compare: perf stat in two languages in one file cannot be read, nor intervals" {
	{ perf_run 140.191 1,371 0,002105731; perf_run 140,191 1.371 0.002105731; } >both
	run "$HOTTEXT" compare both both
	[ "$status" -eq 1 ]
	[ "$output" = "hottext: cannot compare 'both': decimal commas and points in it: lines 3 and 10" ]
	printf '#           time             counts unit events\n     1.001060833            140,190      iTLB-load-misses\n' >text
	printf '1.001060833,140190,,iTLB-load-misses,1000,100.00,,\n' >csv
	printf '1,001060833;<not counted>;;iTLB-load-misses;1000;100,00;;\n' >semicolon
	for f in text:2 csv:1 semicolon:1; do
		run "$HOTTEXT" compare ${f%:*} csv
		[ "$status" -eq 1 ]
		[ "$output" = "hottext: cannot compare '${f%:*}': line ${f#*:}: perf stat -I prints parts of one run: record several runs" ]
	done
}

@test "compare: perf stat as CSV, semicolons and events with commas" {
	printf '1,37;msec;task-clock;1370000;100,00;0,996;CPUs utilized\n140190;;iTLB-load-misses;4212000;66,61;;\n' >a
	printf '1.37,msec,task-clock,1370000,100.00,0.996,CPUs utilized\n140190,,iTLB-load-misses,4212000,66.61,,\n' >b
	compare a b
	[ "$(jq -c '[.comparisons[0].figures[] | [.name, .base.median, .other.median]]' json)" = \
		'[["task-clock",1.37,1.37],["iTLB-load-misses",140190,140190]]' ]
	printf '140190,,cpu/event=0x85,umask=0x1/,4212000,66.61,,\n340190,,cpu/event=0x85,umask=0x2/k,4212000,66.61,,\n7,MB/s,uncore/read/,1,100.00,,\n' >a
	compare a a
	[ "$(jq -c '[.comparisons[0].figures[] | [.name, .unit, .base.median]]' json)" = \
		'[["cpu/event=0x85,umask=0x1/","",140190],["cpu/event=0x85,umask=0x2/k","",340190],["uncore/read/","MB/s",7]]' ]
}

@test "compare: the kinds of CPUs of a hybrid count parts of an event" {
	printf '100,,cpu_core/iTLB-load-misses/,1,100.00,,\n20,,cpu_atom/iTLB-load-misses/,1,100.00,,\n9,,cpu_core/cycles/,1,100.00,,\n' >a
	printf '70,,cpu_core/iTLB-load-misses/k,1,100.00,,\n' >kernel
	compare a a
	[ "$(jq .comparisons[0].tlb_misses.base json)" = 120 ]
	cat a kernel >b
	compare b b
	[ "$(jq .comparisons[0].tlb_misses.base json)" = 120 ]
	compare kernel kernel
	[ "$(jq .comparisons[0].tlb_misses.base json)" = 70 ]
	{ cat b; echo '121,,iTLB-load-misses,1,100.00,,'; } >c
	compare c c
	[ "$(jq .comparisons[0].tlb_misses.base json)" = 121 ]
}

@test "compare: parts of an event are not added to the whole" {
	printf '100,,iTLB-load-misses,1,100.00,,\n60,,iTLB-load-misses:u,1,100.00,,\n40,,iTLB-load-misses:k,1,100.00,,\n9,,itlb_misses.walk_completed,1,100.00,,\n' >a
	sed 's/^100/300/' a >b
	compare a b
	[ "$(jq -c '.comparisons[0].tlb_misses | [.base, .other]' json)" = '[100,300]' ]
}

@test "compare: runs are lines behind one another, or files of a folder" {
	mkdir -p before after
	for i in 1 2 3 4; do
		echo "misses: $((100 + i))" >before/$i
		echo "misses: $((90 + i))" >after/$i
	done
	compare before after
	[ "$(jq -c '.comparisons[0] | [.base, .other] + (.figures[0] | [.base.runs, .other.median, .verdict])' json)" = \
		'["before","after",4,92.5,"differs"]' ]
	cat before/* >before.txt
	cat after/* >after.txt
	cp json folders
	compare before.txt after.txt
	diff <(jq .comparisons[0].figures folders) <(jq .comparisons[0].figures json)
	# As much overlap as noise makes.
	sed 's/9[12]/105/' after.txt >mixed.txt
	compare before.txt mixed.txt
	[ "$(jq -r .comparisons[0].figures[0].verdict json)" = noise ]
}

@test "compare: folders in a folder of runs are left out" {
	mkdir -p runs/sub bare/sub
	echo 'misses: 1' >runs/1
	run "$HOTTEXT" compare --json runs runs/1
	[ "$status" -eq 0 ]
	[[ $output == *"warning: 'runs/sub' is a folder in a folder: left out"* ]]
	compare runs runs/1
	[ "$(jq .comparisons[0].figures[0].base.runs json)" = 1 ]
	run "$HOTTEXT" compare -q bare runs
	[ "$status" -eq 1 ]
	[ "$output" = "hottext: cannot compare 'bare': the folder is empty" ]
}

@test "compare: pipes are read once" {
	echo 'misses: 1' >a
	echo 'misses: 2' >b
	compare <(cat a) <(cat b)
	[ "$(jq -c '.comparisons[0].figures[0] | [.base.median, .other.median]' json)" = '[1,2]' ]
	compare - b <a
	[ "$(jq -c '.comparisons[0].figures[0] | [.base.median, .other.median]' json)" = '[1,2]' ]
}

@test "compare: --base as labelled, and as given" {
	mkdir runs
	echo 'misses: 1' >runs/1.txt
	echo 'misses: 2' >runs/2.txt
	for base in 2.txt runs/2.txt; do
		compare --base $base runs/1.txt runs/2.txt
		[ "$(jq -c '.comparisons[0] | [.base, .figures[0].base.median]' json)" = '["2.txt",2]' ]
	done
	compare --base runs/2.txt runs/1.txt runs/2.txt runs/2.txt
	[ "$(jq -c '[.comparisons[].base] | unique' json)" = '["2.txt (2)"]' ]
	printf 'a real 1.5\nb real 2.5\n' >hosts
	run "$HOTTEXT" compare --base hosts hosts runs/1.txt
	[ "$status" -eq 1 ]
	[ "$output" = "hottext: --base 'hosts' has several hosts: name one of them" ]
}

@test "compare: names in any language, and nothing that steers a terminal" {
	ue=$'\xc3\xbc' snow=$'\xe2\x98\x83'
	echo "f${ue}r: 1" >"k$ue"
	echo "f${ue}r: 2" >"$snow"
	compare --base "$snow" "k$ue" "$snow"
	[ "$(jq -r '.comparisons[0] | .base, .other, .figures[0].name' json)" = "$snow"$'\n'"k$ue"$'\n'"f${ue}r" ]
	# Columns are characters, not bytes.
	{ echo "f${ue}r: 1"; echo 'abcdefghijklm: 1'; } >a
	"$HOTTEXT" compare a a >out
	grep -qx "f${ue}r  *1  *1  *+0 .*" out
	[ "$(grep -E '^(f|abc)' out | LC_ALL=C sed "s/$ue/u/" | awk '{ print index($0, " 1 ") }' | sort -u | wc -l)" = 1 ]
	# A control, C1, a bare second byte, an overlong '/', a surrogate, what turns lines round, and a cut character.
	for bytes in '\x1b' '\xc2\x9b' '\xbf' '\xc0\xaf' '\xed\xa0\x80' '\xe2\x80\xae' '\xc3'; do
		printf "a${bytes}b: 1\n" >a
		compare a a
		[[ $(jq -r '.comparisons[0].figures[0].name' json) =~ ^a[?]+b$ ]] || { echo "$bytes"; false; }
	done
}

@test "compare: --no-worse answers no when a figure got worse by more than noise" {
	seq -f 'misses: %g' 101 104 >low
	seq -f 'misses: %g' 111 114 >high
	run "$HOTTEXT" compare --no-worse low high
	[ "$status" -eq 3 ]
	run "$HOTTEXT" compare --no-worse high low
	[ "$status" -eq 0 ]
	run "$HOTTEXT" compare low high
	[ "$status" -eq 0 ]
	head -n 2 low >two
	run "$HOTTEXT" compare --no-worse two high
	[ "$status" -eq 0 ]
}

# Five functions, a page each; the order of their sections is the argument's.
link_kernel() {
	local out=$1 s
	shift
	{
		echo 'SECTIONS { . = 0x81000000; .text : { _text = .; _stext = .;'
		for s; do echo "*(.text.$s)"; done
		echo '_etext = .; } /DISCARD/ : { *(.comment) *(.note*) } }'
	} >lds
	${LD:-ld} -T lds -Map="$out.map" -o "$out" kernel.o
}

make_kernels() {
	for f in sys_read vfs_read copy; do
		printf '\t.section .text.%s,"ax"\n\t.balign 16\n\t.globl %s\n\t.type %s,%%function\n%s:\t.skip 64\n\t.size %s,64\n' $f $f $f $f $f
	done >kernel.s
	for f in cold1 cold2; do
		printf '\t.section .text.%s,"ax"\n\t.balign 16\n\t.globl %s\n\t.type %s,%%function\n%s:\t.skip 8192\n\t.size %s,8192\n' $f $f $f $f $f
	done >>kernel.s
	${AS:-as} -o kernel.o kernel.s
	link_kernel scattered sys_read cold1 vfs_read cold2 copy
	link_kernel packed cold1 sys_read vfs_read copy cold2
	printf 'dd;sys_read_[k];vfs_read_[k];copy_[k] 7\n' >p.folded
}

@test "compare: kernels, entries a path under a profile" {
	make_kernels
	compare --machine generic-4k-32 --profile p.folded scattered packed
	[ "$(jq -c '[.kernels[] | [.label, .pages, .entries_per_path.mean, .matched]]' json)" = \
		'[["scattered",3,3,1],["packed",1,1,1]]' ]
	[ "$(jq -c '[.paths[] | [.root, .entries]]' json)" = '[["sys_read",[3,1]]]' ]
	"$HOTTEXT" compare -q --machine generic-4k-32 --profile p.folded scattered packed >out
	grep -Eq '^ITLB entries a path, mean +3.0 +1.0 +-66.7 %$' out
	run "$HOTTEXT" compare -q --no-worse --machine generic-4k-32 --profile p.folded packed scattered
	[ "$status" -eq 3 ]
	grep -Eq '^profile found +100.0 % +100.0 %$' out
	"$HOTTEXT" compare -q --machine ppc440 --profile p.folded scattered packed >out
	grep -q '^no order saves ITLB entries on it: ' out
}

@test "compare: kernels, a function that one of them lacks counts for none" {
	make_kernels
	printf 'dd;sys_read_[k];cold1_[k] 1\ndd;cold1_[k] 1\n' >>p.folded
	sed -i 's/cold1/renamed/g' kernel.s
	${AS:-as} -o kernel.o kernel.s
	link_kernel other sys_read renamed vfs_read cold2 copy
	for kernels in "scattered other" "other scattered"; do
		"$HOTTEXT" compare --json --machine generic-4k-32 --profile p.folded $kernels >json 2>err
		# 8 + 7 + 7 + 2 times entered or sampled, of which 2 in cold1.
		[ "$(jq '.left_out * 24 * 1e6 | round' json)" = 2000000 ]
		[ "$(jq -c '[.kernels[].matched * 24 | round] | sort' json)" = '[22,24]' ]
		[ "$(jq -c '[.kernels[] | [.pages, .entries_per_path, .misses_per_path]] | unique | [length, .[0][0]]' json)" = '[1,3]' ]
		[ "$(jq -c '[.paths[] | .root, (.entries | unique | length)]' json)" = '["sys_read",1]' ]
		grep -q 'warning: 8.3 % of the profile is found in some kernels only: left out of all$' err
	done
	"$HOTTEXT" compare -q --machine generic-4k-32 --profile p.folded scattered other >out
	grep -q '^left out, since not all have it: 8.3 % of the profile$' out
	grep -Eq '^profile found +100.0 % +91.7 %$' out
	# Most of it: that is another kernel.
	printf 'dd;cold1_[k] 99\n' >>p.folded
	run "$HOTTEXT" compare -q --machine generic-4k-32 --profile p.folded scattered other
	[ "$status" -eq 1 ]
	[ "$output" = "hottext: cannot use 'p.folded': only 17.9 % of it is found in 'other'" ]
}

@test "compare: kernels of two architectures" {
	corpus=$(dirname "$data")/../corpus/elf
	make_kernels
	cp "$corpus/kernel-x86-64" "$corpus/kernel-ppc32" .
	echo 'dd;_stext_[k] 1' >p
	run "$HOTTEXT" compare -q --profile p kernel-x86-64 kernel-ppc32
	[ "$status" -eq 1 ]
	[[ $output == *"cannot compare 'kernel-ppc32' with 'kernel-x86-64': they are of different architectures"* ]] || { echo "$output"; false; }
}

@test "compare: long names are whole in the text" {
	name=uncore_imc_free_running/data_read_of_channel
	printf '1,,%s_0/,1,100.00,,\n2,,%s_1/,1,100.00,,\n3,,%0100d_x,1,100.00,,\n' $name $name 0 >a
	"$HOTTEXT" compare a a >out
	grep -Eq "^${name}_0/ +1 +1 " out
	grep -Eq "^${name}_1/ +2 +2 " out
	grep -Eq "^0{100}_x +3 +3 " out
	make_kernels
	mkdir -p long-name-of-a-folder/x long-name-of-a-folder/y
	cp scattered long-name-of-a-folder/x/vmlinux-6.6
	cp packed long-name-of-a-folder/y/vmlinux-6.6
	"$HOTTEXT" compare -q --machine generic-4k-32 --profile p.folded long-name-of-a-folder/*/* >out
	grep -Eq '^ +x/vmlinux-6.6  +y/vmlinux-6.6$' out
	mv scattered scattered-vmlinux-6.6
	mv packed packed-vmlinux-6.6
	"$HOTTEXT" compare -q --machine generic-4k-32 --profile p.folded *-vmlinux-6.6 >out
	grep -Eq '^ +packed-vmlinux-6.6 scattered-vmlinux-6.6$' out
}

@test "compare: what cannot be compared" {
	make_kernels
	seq -f 'misses: %g' 3 >counters
	echo hello >text
	printf 'a\0b: 1\n' >binary
	while IFS='|' read -r want args; do
		run "$HOTTEXT" compare $args
		[ "$status" -eq 1 ] && [ "$output" = "hottext: $want" ] || { echo "$output"; false; }
	done <<-EOF
	cannot compare 'text': no kernel, counters, times or LMbench summary|text counters
	cannot read 'binary': not a text|binary counters
	cannot compare kernels with what are none|packed counters
	nothing to compare: there is one host or file only|counters
	no figure that two sides have in common|counters $data/time-8xx.txt --base counters
	no host or file 'x' among what was read|--base x counters counters
	EOF
	run "$HOTTEXT" compare counters nothing
	[ "$status" -eq 1 ]
	[[ $output == *"cannot read 'nothing'"* ]]
}

@test "compare: usage" {
	make_kernels
	for args in "" "--alpha 2 a b" "--cycles x packed packed" "packed packed" "--profile p.folded packed"; do
		run "$HOTTEXT" compare $args
		[ "$status" -eq 2 ] || { echo "$args: $status"; false; }
	done
	echo 'n: 1' >n
	for args in "--cycles 5-2" "--clock 48MX" "--cycles 0" "--clock -1"; do
		run "$HOTTEXT" compare $args n n
		[ "$status" -eq 2 ] || { echo "$args: $status"; false; }
	done
}

@test "compare: the same twice, and a full disk" {
	"$HOTTEXT" compare "$data/lmbench-405gp.txt" >a
	"$HOTTEXT" compare "$data/lmbench-405gp.txt" >b
	cmp a b
	[ -w /dev/full ] || skip "no /dev/full"
	run bash -c "'$HOTTEXT' compare '$data/lmbench-405gp.txt' >/dev/full"
	[ "$status" -eq 1 ]
}

@test "compare: kernels, a profile that none of its functions has" {
	make_kernels
	for rest in '5 0 0 0 0' '5 5 0 5 0' '5 5 5 0 0\nfunc vfs_read 0 0'; do
		printf "hottext-profile 1\nsource x - - - - $rest\n" >none.hot
		"$HOTTEXT" compare -q --machine generic-4k-32 --profile none.hot scattered packed 2>err && false
		[ "$(cat err)" = "hottext: cannot use 'none.hot': it has no kernel samples" ]
	done
}
