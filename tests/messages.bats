# SPDX-License-Identifier: GPL-3.0-or-later
# Messages that no other test has reason to raise, whole.

setup() {
	HOTTEXT=${HOTTEXT:-./hottext}
	dir=$BATS_TEST_TMPDIR
	kernel=tests/corpus/elf/kernel-x86-64
}

# says STATUS MESSAGE ARG...: hottext says just that and ends so.
says() {
	local want=$1 message=$2 status=0
	shift 2
	"$HOTTEXT" "$@" > "$dir/out" 2> "$dir/err" || status=$?
	[ $status -eq "$want" ] || { echo "status $status"; cat "$dir/err"; return 1; }
	[ "$(cat "$dir/err")" = "hottext: $message" ] || { echo "said:"; cat "$dir/err"; return 1; }
}

# warns MESSAGE ARG...: hottext does its work and says that, too.
warns() {
	local message=$1
	shift
	"$HOTTEXT" "$@" > "$dir/out" 2> "$dir/err" && grep -qxF "hottext: warning: $message" "$dir/err" ||
		{ echo "wanted: $message; said:"; cat "$dir/err"; return 1; }
}

@test "messages: commands" {
	says 2 "no command; try 'hottext --help'"
	says 2 "unknown command 'warp'; try 'hottext --help'" warp
	says 2 "optimize: give the plan folder with -o DIR; try 'hottext optimize --help'" optimize a b
	says 2 "verify: wants PLAN and NEW_VMLINUX; try 'hottext verify --help'" verify a
	says 2 "tlbdump: wants VMLINUX BEFORE AFTER; try 'hottext tlbdump --help'" tlbdump a
	says 2 "report: wants one PLAN; try 'hottext report --help'" report
	says 2 "report: --diff wants two plans; try 'hottext report --help'" report --diff a
	says 2 "report: --annotate wants --vmlinux FILE; try 'hottext report --help'" report --annotate f tests/corpus/plan/small
}

@test "messages: folders in place of files, and no folder" {
	says 1 "cannot read '$dir': Is a directory" calibrate --from "$dir"
	says 1 "cannot read '$dir': Is a directory" collect --kallsyms "$dir" tests/data/collect/chains.hot
	says 1 "cannot read '$dir': Is a directory" machines "$dir"
	says 1 "cannot read '$dir': Is a directory" tlbdump $kernel "$dir" "$dir"
	says 1 "cannot read '$dir/plan.json': No such file or directory" verify "$dir" $kernel
	says 1 "cannot write '$dir/none/x': No such file or directory" collect -q tests/data/collect/chains.hot -o "$dir/none/x"
}

@test "messages: machines" {
	{ echo 'version 2'; cat analyze/machines/mpc8xx.machine; } > "$dir/newer"
	says 1 "machine '$dir/newer': format version 2, this hottext knows 1" machines "$dir/newer"
	printf 'a\0b\n' > "$dir/zero"
	says 1 "machine '$dir/zero': not a text file" machines "$dir/zero"
}

@test "messages: kernels cut off and of another architecture" {
	head -c 900 $kernel > "$dir/cut"
	"$HOTTEXT" analyze "$dir/cut" tests/data/collect/chains.hot > "$dir/out" 2> "$dir/err" && false
	[ "$(wc -l < "$dir/err")" -eq 1 ]
	grep -q "^hottext: cannot read '$dir/cut': " "$dir/err"
	says 1 "the plan is for x86_64, the kernel is ppc" verify tests/corpus/plan/small tests/corpus/elf/kernel-ppc32
}

@test "messages: tables and TLB dumps" {
	says 1 "ticks are no curve: nothing to plot" calibrate -q --from tests/data/calibrate/ticks.txt --plot "$dir/x.svg"
	: > "$dir/before"
	says 1 "plan 'tests/corpus/plan/small' is not of this kernel: 0 of 4 units are found in it" \
		tlbdump -q --plan tests/corpus/plan/small $kernel "$dir/before" tests/data/tlbdump/itlb-8xx-2.4.txt
	says 1 "cannot read 'tests/corpus/lds/arm.lds': '[' or '{' expected near '/'" \
		tlbdump -q --plan tests/corpus/lds/arm.lds $kernel "$dir/before" tests/data/tlbdump/itlb-8xx-2.4.txt
}

@test "messages: profiles that hold nothing for this kernel" {
	says 1 "cannot use 'tests/corpus/procprofile/little': it holds no symbols; give the kernel's --vmlinux or --kallsyms" \
		collect -q tests/corpus/procprofile/little
	printf '# tracer: function_graph\n#\n# CPU  DURATION                  FUNCTION CALLS\n' > "$dir/trace"
	says 1 "cannot use '$dir/trace': it has no function_graph, function or stack trace lines" collect -q "$dir/trace"
	printf 'hottext-profile 1\nsource folded - - - - 5 0 0 0 0\n' > "$dir/user"
	says 1 "cannot use '$dir/user': it has no kernel samples" analyze -q $kernel "$dir/user"
	says 1 "cannot use '$dir/user': it has no kernel samples" compare -q --profile "$dir/user" $kernel $kernel
	says 1 "cannot use 'tests/corpus/fetch/end': its guest is of ELF machine 62, 'tests/corpus/elf/kernel-ppc32' is for ppc" \
		collect -q --vmlinux tests/corpus/elf/kernel-ppc32 tests/corpus/fetch/end
}

@test "messages: recorders that are told too little" {
	says 2 "record ftrace: no output: give -o; try 'hottext record ftrace --help'" record ftrace -- true
	says 2 "record profile: no output: give -o; try 'hottext record profile --help'" record profile -- true
	touch "$dir/plugin.so"
	says 2 "record qemu: bad value 'low' for --kernel-base; try 'hottext record qemu --help'" \
		record qemu --plugin "$dir/plugin.so" --kernel-base low -o "$dir/x" -- true
	says 1 "cannot find 'warp': no such symbol in '$kernel'" \
		record qemu --plugin "$dir/plugin.so" --vmlinux $kernel --mark warp -o "$dir/x" -- true
}

@test "messages: a script that is none" {
	printf 'sys;one_[k];two_[k] 5\n' > "$dir/stacks.folded"
	echo 'SECTIONS { ) }' > "$dir/bad.lds"
	says 1 "cannot read '$dir/bad.lds': line 1: unexpected '}'" \
		optimize -q --force --lds "$dir/bad.lds" -o "$dir/plan" $kernel "$dir/stacks.folded"
	printf 'SECTIONS\0' > "$dir/zero.lds"
	says 1 "cannot read '$dir/zero.lds': no text" \
		optimize -q --force --lds "$dir/zero.lds" -o "$dir/plan" $kernel "$dir/stacks.folded"
	[ ! -e "$dir/plan" ]
}

@test "messages: a plan folder in which somebody put a folder" {
	printf 'sys;one_[k];two_[k] 5\n' > "$dir/stacks.folded"
	for name in hottext.ld sections.order; do
		mkdir -p "$dir/plan/$name"
		"$HOTTEXT" optimize -q --force -o "$dir/plan" $kernel "$dir/stacks.folded" 2> "$dir/err" && false
		[ "$(cat "$dir/err")" = "hottext: cannot write '$dir/plan/$name': Is a directory" ] || { cat "$dir/err"; return 1; }
		rmdir "$dir/plan/$name"
	done
}

@test "messages: links whose output is a folder" {
	mkdir -p "$dir/vmlinux.o" "$dir/a.ko"
	printf '.section .text.a,"ax"\na: nop\n.section .text.b,"ax"\nb: nop\n' | as -o "$dir/in.o" -
	echo 'SECTIONS { __ksymtab 0 : { *(SORT(___ksymtab+*)) } }' > "$dir/module.lds"
	# The linker's own words.
	for line in "-r -o $dir/vmlinux.o" "-r -T $dir/module.lds -o $dir/a.ko"; do
		# shellcheck disable=SC2086 # words
		! ld $line "$dir/in.o" 2> "$dir/want" || false
		status=0
		# shellcheck disable=SC2086
		"$HOTTEXT" ld $line "$dir/in.o" 2> "$dir/err" || status=$?
		[ $status -eq 1 ]
		cmp "$dir/want" "$dir/err"
	done
	[ "$(ls "$dir" | grep -c hottext-)" -eq 0 ]
}

@test "messages: graphviz that fails" {
	mkdir "$dir/bin"
	for end in 'exit 3' 'exit 126' 'exit 127' 'kill -SEGV $$'; do
		printf '#!/bin/sh\n%s\n' "$end" > "$dir/bin/dot"
		chmod +x "$dir/bin/dot"
		PATH=$dir/bin:$PATH "$HOTTEXT" report tests/corpus/plan/small --pages -o "$dir/x.png" 2> "$dir/err" && false
		grep -qE "^hottext: cannot draw '$dir/x.png': (dot exited with (3|126)|graphviz is not installed|dot was killed by signal 11); \
a .dot file can be written without it$" "$dir/err" || { cat "$dir/err"; return 1; }
		[ ! -e "$dir/x.png" ]
	done
}

@test "messages: options" {
	says 2 "optimize: bad value 'much' for --effort; try 'hottext optimize --help'" optimize --effort much
	says 2 "calibrate: unknown option '-z'; try 'hottext calibrate --help'" calibrate -z
	says 2 "calibrate: unknown option '--warp'; try 'hottext calibrate --help'" calibrate --warp
	says 2 "calibrate: option '--from' wants a value; try 'hottext calibrate --help'" calibrate --from
	says 2 "compare: bad value 'small' for --alpha; try 'hottext compare --help'" compare --alpha small
	says 2 "compare: give --modules once, or once for each kernel; try 'hottext compare --help'" \
		compare --profile p --modules a --modules b $kernel $kernel $kernel
}

@test "messages: perf script" {
	says 1 "cannot read 'tests/data/collect/chains.perf-script': no event 'warp' in it, but 'cpu-clock'" \
		collect -q --event warp tests/data/collect/chains.perf-script
	printf 'dd 100/100 [000] 1.000000: 1 cycles:\n\tffffffff81000010 a+0x4 ([kernel.kallsyms])\n\n\0\n' > "$dir/zero"
	says 1 "cannot read '$dir/zero': line 4 holds a zero byte" collect -q "$dir/zero"
}

@test "messages: comparisons" {
	mkdir "$dir/empty"
	says 1 "cannot compare '$dir/empty': the folder is empty" compare "$dir/empty"
	for ((i = 0; i < 251; i++)); do printf 'real 1.0\nuser 0.5\nsys 0.%d\n' $i > "$dir/empty/$i"; done
	says 1 "cannot compare more than 250 hosts and files, here are 251" compare -q "$dir"/empty/*
	printf '{}' > "$dir/plan.json"
	: > "$dir/before"
	says 1 "'$dir/plan.json' is no plan: bad or missing 'schema' in 'plan'" \
		tlbdump -q --plan "$dir" $kernel "$dir/before" tests/data/tlbdump/itlb-8xx-2.4.txt
}

@test "messages: outputs that are no files" {
	says 1 "cannot write '$dir': Is a directory" collect -q tests/data/collect/chains.hot -o "$dir"
	[ -w /dev/full ] || skip "no /dev/full"
	for command in "verify --json tests/corpus/plan/small $kernel" "machines"; do
		status=0
		"$HOTTEXT" $command > /dev/full 2> "$dir/err" || status=$?
		[ $status -eq 1 ] && grep -qxF "hottext: cannot write 'standard output'" "$dir/err" || { cat "$dir/err"; return 1; }
	done
}

@test "messages: an emulator that ran nothing" {
	touch "$dir/plugin.so"
	# Writes a trace of no blocks where the plugin would, as far as it is asked to.
	cat > "$dir/emulator" <<-'END'
		#!/bin/bash
		[[ $* =~ out=([^, ]*) ]]
		perl -e 'print "HTFETCH1", pack("V13", 1, 62, 1), pack("V5", 0xffffff06)' | zstd -q | head -c "${BYTES:-1000}" > "${BASH_REMATCH[1]}"
	END
	chmod +x "$dir/emulator"
	warns "'$dir/x' holds no executions" record qemu --plugin "$dir/plugin.so" -o "$dir/x" -- "$dir/emulator"
	[ -s "$dir/x" ]
	rm "$dir/x"
	BYTES=0 says 1 "cannot write '$dir/x': the emulator recorded nothing" \
		record qemu --plugin "$dir/plugin.so" -o "$dir/x" -- "$dir/emulator"
	[ ! -e "$dir/x" ]
	zstd -qdc samples/linux-6.1-x86_64/mix.fetch | head -c 400000 | zstd -q | head -c -10 > "$dir/cut"
	printf '#!/bin/bash\n[[ $* =~ out=([^, ]*) ]]\ncp "%s" "${BASH_REMATCH[1]}"\n' "$dir/cut" > "$dir/emulator"
	says 0 "warning: '$dir/x' is cut short, the emulator did not end by itself: read it with --force" \
		record qemu --plugin "$dir/plugin.so" -o "$dir/x" -- "$dir/emulator"
}

@test "messages: orders, scripts and profiles of another kernel" {
	printf '*(.text.warp)\none\n' > "$dir/order"
	printf 'hottext-profile 1\nfunc schedule 5 0\n' > "$dir/seen"
	warns "1 lines of '$dir/order' name no unit that moves" \
		analyze --machine generic-4k-32 --as-seen --order "$dir/order" $kernel "$dir/seen"
	echo '*(.text.warp)' > "$dir/order"
	says 1 "cannot use '$dir/order': none of its 1 lines names a unit of this kernel" \
		analyze -q --as-seen --order "$dir/order" $kernel "$dir/seen"
	printf 'one\nwarp\0\n' > "$dir/order"
	says 1 "cannot read '$dir/order': line 2: not a text" analyze -q --as-seen --order "$dir/order" $kernel "$dir/seen"
	: > "$dir/order"
	"$HOTTEXT" analyze -q --as-seen --order "$dir/order" $kernel "$dir/seen"
	echo 'SECTIONS { .text : { KEEP(;) } }' > "$dir/odd.lds"
	printf 'sys;one_[k];two_[k] 5\n' > "$dir/stacks.folded"
	says 1 "cannot read '$dir/odd.lds': line 1: unexpected ';'" \
		optimize -q --force --lds "$dir/odd.lds" -o "$dir/plan" $kernel "$dir/stacks.folded"
	printf 'hottext-profile 1\nfunc schedule 0 0\n' > "$dir/zero"
	says 1 "cannot use '$dir/zero': it has no kernel samples" analyze -q --as-seen $kernel "$dir/zero"
	printf 'hottext-profile 1\ncall schedule 0x4 vfs_read 5\n' > "$dir/calls"
	says 1 "cannot use '$dir/calls': it has no kernel samples" analyze -q --as-seen $kernel "$dir/calls"
	says 1 "cannot use '$dir/calls': it has no kernel samples" compare -q --profile "$dir/calls" $kernel $kernel
	printf 'hottext-profile 1\nfunc schedule 5 0\nfunc warp 95 0\n' > "$dir/other"
	says 1 "cannot use '$dir/other': only 5.0 % of it is found in '$kernel' (--force goes on)" \
		analyze -q --as-seen $kernel "$dir/other"
	printf 'hottext-profile 1\nfunc schedule 60 0\nfunc warp 40 0\n' > "$dir/other"
	warns "only 60.0 % of the profile is found in '$kernel'" analyze --as-seen $kernel "$dir/other"
	cp $kernel "$dir/k"
	warns "only 60.0 % of the profile is found in 'k'" compare --profile "$dir/other" $kernel "$dir/k"
}
