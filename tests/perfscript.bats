#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# hottext collect on the text of perf script: names against addresses, whose frames are whose, odd names.

load collect.bash

data=tests/data/collect

text() {	# text FRAMES...: one sample of these lines, in $dir/text
	printf 'app 21 [000] 1.000005: 250000 cpu-clock: \n' >"$dir/text"
	printf '\t%s\n' "$@" >>"$dir/text"
	echo >>"$dir/text"
}

collects() {	# collects ARGS...: the functions and calls of $dir/text, in $dir/got; the summary line in $dir/sum
	collect_to out --kallsyms $data/kallsyms "$@" "$dir/text"
	grep '^func\|^call' "$dir/out" >"$dir/got" || true
	tail -n 1 "$dir/out.err" | sed 's/^hottext: //' >"$dir/sum"
}

@test "a name beside an address that the symbols have elsewhere wins over the address" {
	text "ffffffff81001110 vfs_read+0x10 ([kernel.kallsyms])" "ffffffff81001205 ksys_read+0x5 ([kernel.kallsyms])"
	collects
	diff - "$dir/got" <<-END
	func vfs_read 1 0
	call ksys_read 0x4 vfs_read 1
	END
	grep -q '^touch vfs_read 0x10 1$' "$dir/out"
	grep -q "warning: '$dir/text': 2 of 2 frames are not where the symbols have them: matched by name" "$dir/out.err"
	# Without offsets, too; which bytes is not known then.
	text "ffffffff81001110 vfs_read ([kernel.kallsyms])" "ffffffff81001205 ksys_read ([kernel.kallsyms])"
	collects
	diff - "$dir/got" <<-END
	func vfs_read 1 0
	call ksys_read - vfs_read 1
	END
	# Longer than the symbols' function of that name.
	text "ffffffff81009110 vfs_read+0x110 ([kernel.kallsyms])" "ffffffff81001105 ksys_read+0x5 ([kernel.kallsyms])"
	collects
	diff - "$dir/got" <<-END
	func vfs_read 1 0
	call ksys_read 0x4 vfs_read 1
	END
	! grep '^touch' "$dir/out"
	# By the name it would be 0x1010 behind the start.
	text "ffffffff81001020 vfs_read+0x10 ([kernel.kallsyms])" "ffffffff81001105 ksys_read+0x5 ([kernel.kallsyms])"
	collects
	grep -q '^touch vfs_read 0x10 1$' "$dir/out"
}

@test "two boots one after the other: the kernel's place is learned anew" {
	text "ffffffffab001250 helper+0x50 ([kernel.kallsyms])" "ffffffffab001034 vfs_read+0x34 ([kernel.kallsyms])"
	sed 's/ffffffffab/ffffffff95/; s/1\.000005/9.000005/' "$dir/text" >"$dir/second"
	cat "$dir/second" >>"$dir/text"
	collects
	diff - "$dir/got" <<-END
	func helper#1 2 0
	call vfs_read 0x33 helper#1 2
	END
	[ "$(wc -l <"$dir/out.err")" -eq 1 ]
	# Not by an offset that is behind the function's end; the unnamed frame lies as before.
	text "ffffffff81001105 [unknown] ([kernel.kallsyms])" "ffffffff81009010 vfs_read+0x7010 ([kernel.kallsyms])"
	collects
	grep -qx "func ksys_read 1 0" "$dir/got"
}

@test "branches of the first sample lie where its frame shows the kernel to be" {
	echo 'dd 21 [000] 1.816691: 1 cycles:  ffffffffab001050 vfs_read+0x50 ([kernel.kallsyms])   0xffffffffab001430/0xffffffffab001000/P/-/-/0 ' >"$dir/text"
	collects
	diff - "$dir/got" <<-END
	func vfs_read 1 1
	call __x64_sys_read 0x30 vfs_read 1
	END
}

@test "a guest's frames and branches are none of the host's kernel" {
	text "ffffffff81001110 vfs_read+0x10 ([guest.kernel.kallsyms])"
	echo 'kvm 22 [000] 2.500000: 1 cpu-clock:  ffffffff81001110 vfs_read+0x10 ([guest.kernel.kallsyms.7])   0xffffffff81001430/0xffffffff81001000/P/-/-/0 ' >>"$dir/text"
	collects
	[ "$(cat "$dir/sum")" = "2 samples, 0 kernel, 0 resolved, 0 unresolved, 0 lost" ]
	[ ! -s "$dir/got" ]
	# Nor do they tell where it lies.
	text "ffffffff81005010 vfs_read+0x10 ([guest.kernel.kallsyms])"
	printf 'app 21 [000] 2.000005: 1 cpu-clock: \n\tffffffff81001210 [unknown] ([kernel.kallsyms])\n\n' >>"$dir/text"
	collects
	[ "$(cat "$dir/got")" = "func helper#1 1 0" ]
}

@test "mappings of programs are not modules" {
	for frame in "7f0000001000 [unknown] ([uprobes])" "ffff0fc0 __kuser_cmpxchg+0x0 ([vectors])" \
		"10400 Builtin_x+0x4 ([anon:v8])" "7f0000002000 f+0x0 ([odd])" "ffffffffff600000 f+0x0 ([vsyscall])" \
		"7ffd00001000 f+0x0 ([vvar_vclock])" "7f0000002000 f+0x0 (bpf_prog_x)"; do
		text "$frame"
		collects
		[ "$(cat "$dir/sum")" = "1 samples, 0 kernel, 0 resolved, 0 unresolved, 0 lost" ]
		"$HOTTEXT" collect "$dir/text" 2>&1 >/dev/null | grep -q "^hottext: 1 samples, 0 kernel,"
	done
	text "bf001010 f+0x10 ([odd])"	# a module, where addresses have 32 bits
	"$HOTTEXT" collect "$dir/text" 2>"$dir/err" | grep -q '^func f@odd.ko 1 0$'
}

@test "BPF programs and generated code are as in perf.data: named, unresolved, and part of the chain" {
	text "ffffffffc010002a bpf_prog_6deef7357e7b4530_prog+0x2a (bpf_prog_6deef7357e7b4530_prog)" \
		"ffffffff81001010 vfs_read+0x10 ([kernel.kallsyms])" "ffffffffc0200005 kprobe_insn_page+0x5 (kprobe_insn_page)" \
		"ffffffff81001105 ksys_read+0x5 ([kernel.kallsyms])"
	collects
	diff - "$dir/got" <<-END
	func bpf_prog_6deef7357e7b4530_prog@[bpf] 1 0
	call kprobe_insn_page@[generated] - vfs_read 1
	call ksys_read 0x4 kprobe_insn_page@[generated] 1
	call vfs_read 0xf bpf_prog_6deef7357e7b4530_prog@[bpf] 1
	END
	[ "$(cat "$dir/sum")" = "1 samples, 1 kernel, 0 resolved, 1 unresolved, 0 lost" ]
}

@test "a module has one name, by file or in brackets" {
	text "ffffffffc0001010 azx_irq+0x10 (/lib/modules/6.1.0/kernel/sound/pci/hda/snd-hda-intel.ko.xz)"
	printf 'app 21 [000] 2.000005: 1 cpu-clock: \n\tffffffffc0001010 azx_irq+0x10 ([snd_hda_intel])\n\n' >>"$dir/text"
	collects
	[ "$(cat "$dir/got")" = "func azx_irq@snd_hda_intel.ko 2 0" ]
}

@test "tasks may be called like comments, times and events" {
	text "ffffffff81001010 vfs_read+0x10 ([kernel.kallsyms])"
	for name in '#evil' '# evil' '1.000000: a' '1.000000: a:' 'x 1.000000: 5 a:'; do
		printf '%s 22 [000] 2.000005: 1 cpu-clock: \n\tffffffff81001105 ksys_read+0x5 ([kernel.kallsyms])\n\n' "$name"
	done >"$dir/more"
	cat "$dir/more" >>"$dir/text"
	collects
	[ "$(cat "$dir/sum")" = "6 samples, 6 kernel, 6 resolved, 0 unresolved, 0 lost" ]
	grep -q '^func ksys_read 5 0$' "$dir/got"
	for first in 1 4 7 10 13; do
		tail -n +$first "$dir/more" >"$dir/text"
		collects
	done
}

@test "idle tasks follow each other on their CPU" {
	printf 'swapper 0 [%s] %s: 1 cpu-clock: \n\tffffffff81001010 vfs_read+0x10 ([kernel.kallsyms])\n\tffffffff8100%s ([kernel.kallsyms])\n\n' \
		000 1.000000 '1105 ksys_read+0x5' 001 1.000500 '1105 ksys_read+0x5' 000 1.001000 '1405 __x64_sys_read+0x5' >"$dir/text"
	collects
	[ "$(grep -c '^next' "$dir/out")" -eq 1 ]
	path=$(awk '$1 == "path" && $4 == "ksys_read" { print $2 }' "$dir/out")
	grep -q "^next $path " "$dir/out"
}

@test "--event itlb takes what a CPU calls its ITLB misses" {
	text "ffffffff81001010 vfs_read+0x10 ([kernel.kallsyms])"
	sed 's/cpu-clock/iTLB-load-misses:k/; s/vfs_read+0x10/ksys_read+0x5/; s/1010/1105/' "$dir/text" >"$dir/more"
	cat "$dir/more" >>"$dir/text"
	collects --event itlb
	[ "$(cat "$dir/got")" = "func ksys_read 1 0" ]
	grep -q "'$dir/text': 1 samples of event 'cpu-clock' left out" "$dir/out.err"
}

@test "--force and a cut .zst: the whole samples before, and a word of it" {
	for i in {1..20000}; do
		printf 'app 21 [000] %d.000005: 1 cpu-clock: \n\tffffffff8100%04x vfs_read+0x10 ([kernel.kallsyms])\n\tffffffff81001105 ksys_read+0x5 ([kernel.kallsyms])\n\n' \
			"$i" $((i * 7919 % 4096))
	done >"$dir/whole"
	zstd -q "$dir/whole"
	head -c $(($(stat -c %s "$dir/whole.zst") / 2)) "$dir/whole.zst" >"$dir/text"
	status=0
	collects || status=$?
	[ "$(cat "$dir/out.err")" = "hottext: cannot read '$dir/text': zstd frame is truncated" ]
	collects --force
	grep -q "warning: '$dir/text': what stands before that is used" "$dir/out.err"
	calls=$(awk '/^call/ { n += $5 } END { print n }' "$dir/got")
	[ "$calls" -gt 100 ]
	grep -q "^$calls samples, $calls kernel, " "$dir/sum"
}

branched() {	# branched HEADER-END [LINE]: a sample of branches, its text in $dir/text, its profile in $dir/out
	printf 'dd 21 [000] 1.816691: 1 cycles:%s\n' "$1" >"$dir/text"
	[ $# -eq 1 ] || printf '%s\n\n' "$2" >>"$dir/text"
	collects
}

two_calls() {	# $dir/out has vfs_read+0x50 sampled and two calls that led there, by code that ran straight through
	diff - <(grep '^func\|^touch\|^call' "$dir/out") <<-END
	func __x64_sys_read 0 1
	func vfs_read 1 1
	touch __x64_sys_read 0x0 1
	touch __x64_sys_read 0x10 1
	touch __x64_sys_read 0x20 1
	touch __x64_sys_read 0x30 1
	touch vfs_read 0x50 1
	call __x64_sys_read 0x30 vfs_read 1
	call do_syscall_64 0x38 __x64_sys_read 1
	END
	[ "$(cat "$dir/sum")" = "1 samples, 1 kernel, 1 resolved, 0 unresolved, 0 lost" ]
}

@test "branches stand behind the address and its symbol as perf's options and releases have it" {
	k='([kernel.kallsyms])'
	addrs='0xffffffff81001430/0xffffffff81001000/P/-/-/0/CALL  0xffffffff81001538/0xffffffff81001400/P/-/-/0/CALL '
	named='__x64_sys_read+0x30/vfs_read+0x0/P/-/-/0/ do_syscall_64+0x38/__x64_sys_read+0x0/P/-/-/0/ '
	addrs_dso="0xffffffff81001430$k/0xffffffff81001000$k/P/-/-/0/  0xffffffff81001538$k/0xffffffff81001400$k/P/-/-/0/ "
	named_dso="__x64_sys_read+0x30$k/vfs_read+0x0$k/P/-/-/0/ do_syscall_64+0x38$k/__x64_sys_read+0x0$k/P/-/-/0/ "
	# perf 6.12 and above put a blank before each dso, and a field behind the type.
	addrs_612=${addrs_dso//(/ (}
	named_612=${named_dso//(/ (}
	addrs_612=${addrs_612//0\/ /0\/COND\/- }
	named_612=${named_612//0\/ /0\/COND\/- }
	at='  ffffffff81001050'
	for branches in "$addrs" "$addrs_dso" "$addrs_612"; do
		for head in "$at" "$at vfs_read" "$at vfs_read+0x50" "$at vfs_read+0x50 $k" "$at vfs_read+0x50 $k  " "$at $k"; do
			branched "$head $branches"
			two_calls
		done
	done
	for branches in "$named" "$named_dso" "$named_612"; do
		for head in "$at" "$at vfs_read" "$at vfs_read+0x50" "$at vfs_read+0x50 $k" "$at vfs_read $k" "$at vfs_read+0x50   " \
			"$at [unknown]" "$at [unknown] $k" "$at  "; do
			branched "$head$branches"
			two_calls
		done
	done
	for branches in "$addrs" "$addrs_dso" "$addrs_612" "$named" "$named_dso" "$named_612"; do
		branched " " "	ffffffff81001050 vfs_read+0x50 $k
$branches"
		two_calls
		# Those of a sample without address.
		branched " $branches"
		[ "$(grep -c ^call "$dir/out")" -eq 2 ]
		[ "$(cat "$dir/sum")" = "1 samples, 0 kernel, 0 resolved, 0 unresolved, 0 lost" ]
	done
}

@test "a branch's name glued to an offset of a sample: digits of either, as the symbols have it" {
	at='  ffffffff81001050 vfs_read+0x50'
	branched "${at}do_syscall_64+0x38/vfs_read+0x10/P/-/-/0/ "
	grep -qx 'touch vfs_read 0x50 1' "$dir/out"
	branched "${at}do_syscall_64+0x38/vfs_read+0x0/P/-/-/0/ "
	[ "$(grep ^call "$dir/out")" = "call do_syscall_64 0x38 vfs_read 1" ]
	# Nobody knows the branch's name: the sample is found by its address.
	branched "${at}cafe+0x38/vfs_read+0x0/P/-/-/0/ "
	grep -qx 'touch vfs_read 0x50 1' "$dir/out"
	# Without symbols: neither the name nor the branch's is guessed.
	"$HOTTEXT" collect "$dir/text" >"$dir/out" 2>"$dir/err"
	grep -qx 'hottext: 1 samples, 1 kernel, 0 resolved, 1 unresolved, 0 lost' "$dir/err"
	[ -z "$(grep 'cafe\|fe+\|+' "$dir/out")" ]
	printf 'dd 21 [000] 1.816691: 1 cycles:%s\n' "${at}vfs_write+0x38/ksys_read+0x0/P/-/-/0/ " >"$dir/text"
	[ "$("$HOTTEXT" collect "$dir/text" 2>/dev/null | grep '^call\|^func vfs')" = \
		"func vfs_read 1 0"$'\n'"call vfs_write 0x38 ksys_read 1" ]
}

@test "programs' functions among branches may hold blanks and slashes; what is not understood parts its neighbours" {
	at='  ffffffff81001050 vfs_read+0x50 ([kernel.kallsyms])'
	calls='__x64_sys_read+0x30/vfs_read+0x0/P/-/-/0/ '
	older='do_syscall_64+0x38/__x64_sys_read+0x0/P/-/-/0/ '
	for other in 'std::foo(int, char const*)+0x10/std::bar(int)+0x0/P/-/-/0/ ' 'A::operator/(A const&)+0x1/main+0x2/M/-/-/0 ' \
		'net/http.(*conn).serve+0x20/runtime.x+0x1/PN/-/-/1/ ' '[unknown]/[unknown]/-/-/-/0 ' \
		'f(int) (/usr/lib/a b (deleted))/g (/x)/P/-/-/0/COND/- ' '0xzz/0x12/P/-/-/0 '; do
		for branches in "$calls$other$older" "$other$calls$older"; do
			branched "$at$branches"
			grep -qx 'call __x64_sys_read 0x30 vfs_read 1' "$dir/out"
			grep -qx 'call do_syscall_64 0x38 __x64_sys_read 1' "$dir/out"
			[ "$(grep -c ^call "$dir/out")" -eq 2 ]
			[ "$(wc -l <"$dir/out.err")" -eq 1 ]
			branched " " "	${at#  }
 $branches"
			[ "$(grep -c ^call "$dir/out")" -eq 2 ]
			[ "$(wc -l <"$dir/out.err")" -eq 1 ]
		done
		branched "$at$calls$other$older"
		[ -z "$(grep '^touch __x64' "$dir/out")" ]
	done
}

@test "what could be no function's name is none of the kernel's" {
	for name in 'vfs_read+0x5 ([kernel.kallsyms])x' 'vfs read' 'fs/read+0x5' 'f(int)+0x5' 'a+0x1b+0x2'; do
		text "ffffffff81001010 $name ([kernel.kallsyms])"
		"$HOTTEXT" collect "$dir/text" >"$dir/out" 2>"$dir/err"
		[ -z "$(grep '^func' "$dir/out")" ]
		grep -qx 'hottext: 1 samples, 1 kernel, 0 resolved, 1 unresolved, 0 lost' "$dir/err"
		collects	# its address is as good as any
		[ "$(cat "$dir/got")" = "func vfs_read 1 0" ]
	done
	branched "  ffffffff81001050 vfs_read+0x50 ([kernel.kallsyms])f(int) x+0x1([kernel.kallsyms])/vfs_read+0x0([kernel.kallsyms])/P/-/-/0 "
	[ "$(cat "$dir/got")" = "func vfs_read 1 1" ]	# entered, but nobody knows from where
}

# turns LETTERS TIMES...: samples of one task, in vfs_read and ksys_read by turns, in $dir/text
turns() {
	local misc=$1 frame i=0
	shift
	for time; do
		frame="ffffffff81001010 vfs_read+0x10"
		((i++ % 2)) && frame="ffffffff81001110 ksys_read+0x10"
		printf 'app 21 [000] %s %s: 1 cpu-clock: \n\t%s ([kernel.kallsyms])\n\tffffffff81001505 do_syscall_64+0x5 ([kernel.kallsyms])\n\n' \
			"$misc" "$time" "$frame"
	done >"$dir/text"
	collects
	nexts=$(awk '/^next/ { n += $4 } END { print n + 0 }' "$dir/out")
}

@test "successions: -F +misc keeps them, --reltime too, the differences of --deltatime do not tell them" {
	for misc in "" "K" "U" "Sp" "K   "; do
		turns "$misc" 7.000000 7.001000 7.002000
		[ "$nexts" -eq 2 ]
		sed -i 's/\[000\] //' "$dir/text"
		collects
		[ "$(awk '/^next/ { n += $4 } END { print n + 0 }' "$dir/out")" -eq 2 ]
	done
	turns "" 0.{000..011}000
	[ "$nexts" -eq 11 ]
	[ "$(wc -l <"$dir/out.err")" -eq 1 ]
	turns "" 0.000000 0.00{2,0,1,0,1,0,2,0,1,0,1}003
	[ "$nexts" -eq 0 ]
	[ "$(head -n 1 "$dir/out.err")" = "hottext: warning: '$dir/text': its times fall again and again: successions \
left out (perf script without --deltatime tells them)" ]
	[ "$(cat "$dir/sum")" = "12 samples, 12 kernel, 12 resolved, 0 unresolved, 0 lost" ]
	# Texts one behind the other.
	turns "" 7.{000..009}000 3.{000..009}000
	[ "$nexts" -eq 18 ]
	[ "$(wc -l <"$dir/out.err")" -eq 1 ]
}

@test "-F +dsoff: modules are told with the offset behind them" {
	for dso in '[ext4]+0x11234' '/lib/modules/6.12.0/kernel/fs/ext4/ext4.ko+0x11234' '/lib/modules/ext4.ko.xz+0x11234'; do
		text "ffffffffc0211234 ext4_file_read_iter+0x34 ($dso)" "ffffffff81001005 vfs_read+0x5 ([kernel.kallsyms]+0x1005)"
		collects
		diff - "$dir/got" <<-END
		func ext4_file_read_iter@ext4.ko 1 0
		call vfs_read 0x4 ext4_file_read_iter@ext4.ko 1
		END
	done
	text "7f0000001000 main+0x5 (/usr/bin/x+0x1000)"
	collects
	[ "$(cat "$dir/sum")" = "1 samples, 0 kernel, 0 resolved, 0 unresolved, 0 lost" ]
}

@test "without dsos the symbols say where the kernel lies" {
	for base in c0 c000000000; do	# of 32 bits; ppc64
		printf "$base%s T %s\n" 000000 _text 000000 _stext 001000 vfs_read 002000 ksys_read 003000 _etext >"$dir/syms"
		text "${base}001020 vfs_read" "${base}002024 ksys_read" "10000400 main"
		collect_to out --kallsyms "$dir/syms" "$dir/text"
		[ "$(grep '^func\|^call' "$dir/out")" = "func vfs_read 1 0"$'\n'"call ksys_read 0x23 vfs_read 1" ]
		text "10000400 main"
		collect_to out --kallsyms "$dir/syms" "$dir/text"
		grep -q '1 samples, 0 kernel,' "$dir/out.err"
	done
}

@test "lines without end: a mebibyte of what branches are made of" {
	for piece in /P/- 'a)/' '(/+0x1' a+0x1 +0xa; do for end in '' +0x10/main+0x0/P/-/-/0; do
		printf 'cat  100 [000]    10.000000:     1000 cycles:  ffffffff81001110 vfs_read+0x10 ([kernel.kallsyms])\n ' > "$dir/text"
		yes -- "$piece" | head -c 1048576 | tr -d '\n' >> "$dir/text"
		echo "q$end" >> "$dir/text"
		timeout 100 "$HOTTEXT" collect -q "$dir/text" -o "$dir/out" 2> "$dir/err" || [ $? -eq 1 ] || { echo "$piece"; return 1; }
	done; done
}

@test "what -F and --show-...-events add on lines of their own leaves the samples as they are" {
	text "ffffffff81001110 vfs_read+0x10 ([kernel.kallsyms])" "ffffffff81001205 ksys_read+0x5 ([kernel.kallsyms])"
	collects
	cp "$dir/out" "$dir/plain"
	sed -i -e '/vfs_read/a \  read_write.c:450 (discriminator 2)' -e '/ksys_read/a \  [kernel.kallsyms][ffffffff81001205]' "$dir/text"
	collects
	cmp "$dir/out" "$dir/plain"
	sed -i -e '/discriminator/a |450      return ret;' -e '/^$/i \ ilen: 2\n insn: 48 89' "$dir/text"
	collects
	cmp "$dir/out" "$dir/plain"
	{
		echo 'swapper     0 [000]     0.000000: PERF_RECORD_MMAP -1/0: [0xffffffff81000000(0x600c10) @ 0]: x [kernel.kallsyms]_text'
		echo 'init     0 [000]     0.000000: PERF_RECORD_COMM: init:1/1'
	} > "$dir/records"
	{ cat "$dir/records" "$dir/text"; echo 'app 21 [000] 1.2: PERF_RECORD_FORK(2:2):(0:0)' | sed 's/1.2:/1.200000:/'; } > "$dir/with"
	cp "$dir/with" "$dir/text"
	collects
	cmp "$dir/out" "$dir/plain"
	grep -q '^1 samples, 1 kernel, 1 resolved, 0 unresolved, 0 lost$' "$dir/sum"
	{ echo PERF_RECORD_FINISHED_ROUND; cat "$dir/with"; } > "$dir/text"
	collects
	cmp "$dir/out" "$dir/plain"
	# What brstackinsn puts behind a sample.
	text "ffffffff81001110 vfs_read+0x10 ([kernel.kallsyms])" "ffffffff81001205 ksys_read+0x5 ([kernel.kallsyms])"
	printf '\t%s\n' "ksys_read+0:" "vfs_read+16:	read_write.c:450" $'ffffffff81001110\tinsn: e8 2b' $'ffffffff81001112\t# PRED 5 cycles' \
		"... not reaching sample ..." "mismatch of LBR data and executable" > "$dir/insns"
	sed -i -e "\$d" "$dir/text"
	cat "$dir/insns" >> "$dir/text"
	collects
	cmp "$dir/out" "$dir/plain"
	# Losses count, wherever they are told.
	{ echo 'app 21 [000] 0.900000: PERF_RECORD_LOST lost 7'; cat "$dir/with"; } > "$dir/text"
	collects
	grep -q '^1 samples, 1 kernel, 1 resolved, 0 unresolved, 7 lost$' "$dir/sum"
	grep -q '^source perf-script cpu-clock .* 1 1 1 0 7$' "$dir/out"
	# Nothing else is in it.
	refuses "cannot read '$dir/records': no event 'cycles' in it" "$dir/records"
}

@test "text without times is told what it lacks" {
	printf 'app \n\tffffffff81001110 vfs_read\n\tffffffff81001205 ksys_read\n\n' > "$dir/text"
	refuses "cannot read '$dir/text': line 1 has no time (perf script -F comm,tid,time,event,ip,sym,symoff,dso prints it)" "$dir/text"
	printf '\n\tffffffff81001110 vfs_read\n' > "$dir/text"	# -F ip,sym
	refuses "cannot read '$dir/text': line 2 has no time (perf script -F comm,tid,time,event,ip,sym,symoff,dso prints it)" "$dir/text"
	# bpftrace's kstack(perf) prints frames alike.
	printf '@[\n\tffffffff81001110 vfs_read+16\n\tffffffff81001205 ksys_read+5\n]: 3\n' > "$dir/text"
	collects
	grep -q '^source bpftrace ' "$dir/out"
}

@test "an image of any name is the kernel's where its addresses are, and no program's" {
	text "ffffffff81009110 vfs_read+0x10 (linux-6.1.debug)" "ffffffff8100f000 main (vmlinux.debug)"
	sed -i 's/ffffffff8100f000/7f0000001000/' "$dir/text"
	collects
	[ "$(cat "$dir/sum")" = "1 samples, 1 kernel, 1 resolved, 0 unresolved, 0 lost" ]
	[ "$(cat "$dir/got")" = "func vfs_read 1 0" ]
	text "7f0000001000 main+0x10 (/usr/bin/vmlinux-to-elf)"
	collects
	[ "$(cat "$dir/sum")" = "1 samples, 0 kernel, 0 resolved, 0 unresolved, 0 lost" ]
}

@test "raw events have two words; one that counts no cycles is named with the way to take it" {
	text "ffffffff81009110 vfs_read+0x10 ([kernel.kallsyms])"
	sed -i 's/cpu-clock:/raw 0x20c4:/' "$dir/text"
	refuses "cannot read '$dir/text': no event 'cycles' in it, but 'raw 0x20c4' (--event takes it)" "$dir/text"
	collects --event "raw 0x20c4"
	[ "$(cat "$dir/sum")" = "1 samples, 1 kernel, 1 resolved, 0 unresolved, 0 lost" ]
}

@test "without symbols nothing is said of where they have the frames" {
	text "ffffffff81001110 vfs_read+0x10 ([kernel.kallsyms])"
	collect_to out "$dir/text"
	[ "$(cat "$dir/out.err")" = "hottext: 1 samples, 1 kernel, 1 resolved, 0 unresolved, 0 lost" ]
}
