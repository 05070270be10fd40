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
