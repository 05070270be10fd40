# SPDX-License-Identifier: GPL-3.0-or-later
# Messages about a system that fails: calls made to fail by tests/faults/inject.c, a tracefs of the test's own, no memory.
load kernel.bash
load faults.bash

setup_file() {
	local here=$PWD
	cd "$BATS_FILE_TMPDIR"
	make_faults "$here"
	# shellcheck disable=SC2046 # words
	${CC:-cc} -std=gnu11 -D_GNU_SOURCE -O1 -shared -fPIC -o pretend.so "$here/tests/faults/pretend.c" $(pkg-config --cflags libtracefs)
	"$HOTTEXT" optimize -q --machine generic-4k-32 old p.hot -o plan
	make_kernel
	HOTTEXT_PLAN=$PWD/plan kernel_link moved --section-start=.text=0xffffffff82000000
	cd "$here"
}

setup() {
	unset HOTTEXT_PLAN HOTTEXT_PROFILE HOTTEXT_LD CROSS_COMPILE KBUILD_OUTPUT LINK SCRIPT
	TOP=$PWD base=$BATS_FILE_TMPDIR dir=$BATS_TEST_TMPDIR faults=0
	cd "$dir"
	printf '%s\n' 'ffffffff81000000 T _text' 'ffffffff81000000 T _stext' 'ffffffff81001000 T do_syscall_64' \
		'ffffffff81005000 T _etext' > kallsyms
}

# Counts go to the log of the tests.
teardown() {
	[ "${faults:-0}" -eq 0 ] || echo "# $BATS_TEST_DESCRIPTION: $faults faults" >&3
}

injects() {
	"$base/inject" any EIO 0 "$HOTTEXT" --version 9> "$dir/n" > "$dir/version" || skip "ptrace is not to be had here"
}

# says STATUS MESSAGE COMMAND...: it says just that and ends so.
says() {
	local want=$1 message=$2 status=0
	shift 2
	"$@" > out 2> err || status=$?
	[ "$status" -eq "$want" ] && [ "$(cat err)" = "hottext: $message" ] && return
	echo "wanted: $message, status $want; status $status, said:"
	cat err
	return 1
}

# fails KIND:FAULT MESSAGE COMMAND...: there is a call of that kind whose failure makes it say just that, with status 1. A
# * in the message stands for a temporary's name. ON=+: all later calls fail, too. ALL=1: every such call.
# A folder `new` is removed before each run.
fails() {
	local kind=${1%:*} fault=${1#*:} message=$2 n status said=
	shift 2
	"$base/inject" "$kind" "$fault" 0 "$@" 9> n > out 2> err || true
	for ((n = 1; n <= $(cat n); n++)); do
		rm -rf new
		faults=$((faults + 1)) status=0
		"$base/inject" "$kind" "$fault" "$n${ON:-}" "$@" > out 2> err || status=$?
		# shellcheck disable=SC2053 # a pattern
		[ $status -ne 1 ] || [[ $(cat err) != "hottext: "$message ]] || said=$n
		[ -z "$said" ] || [ -n "${ALL:-}" ] || return 0
	done
	[ -z "$said" ] || return 0
	echo "none of $(cat n) calls ($kind, $fault) made it say: $message; last:"
	cat err
	return 1
}

# What a kernel tree has.
make_tree() {
	mkdir -p linux/scripts
	touch linux/{Kbuild,.config,scripts/link-vmlinux.sh}
	printf 'VERSION = 6\nPATCHLEVEL = 1\nSUBLEVEL = 7\nall:\n' > linux/Makefile
}

@test "messages: tracefs that is not there, or lacks what is needed" {
	T=$dir/tracing
	export LD_PRELOAD=$base/pretend.so
	has_sanitizers && skip "the sanitizers want to be loaded first"
	record=("$HOTTEXT" record ftrace -o trace.txt)
	says 1 "cannot find tracefs: mount it (mount -t tracefs nodev /sys/kernel/tracing); the kernel needs CONFIG_FTRACE" \
		"${record[@]}" -- true
	export PRETEND_TRACEFS=$T
	mkdir "$T"
	echo nop > "$T/available_tracers"
	says 1 "cannot use tracer 'function_graph': this kernel has none (CONFIG_FUNCTION_GRAPH_TRACER)" "${record[@]}" -- true
	echo nop function_graph > "$T/available_tracers"
	says 1 "cannot set tracing's 'buffer_size_kb' to '8192': No such file or directory" "${record[@]}" -- true
	echo 1408 > "$T/buffer_size_kb"
	says 1 "cannot set tracing's 'set_graph_function' to '': No such file or directory" "${record[@]}" -- true
	says 1 "cannot limit the trace: this kernel cannot filter functions (CONFIG_DYNAMIC_FTRACE)" "${record[@]}" --syscall read -- true
	printf '__x64_sys_read\nvfs_read\nvfs_write\n' > "$T/available_filter_functions"
	says 1 "cannot trace system call 'warp': no such function" "${record[@]}" --syscall warp -- true
	says 1 "cannot trace 'warp': no such traceable function" "${record[@]}" --function warp -- true
	all="#### all functions enabled ####"
	echo "$all" > "$T/set_graph_function"
	echo nop > "$T/current_tracer"
	says 1 "cannot read tracing's 'trace_pipe': No such file or directory" "${record[@]}" -- true
	echo '# tracer: function_graph' > "$T/trace_pipe"
	echo "$all" > "$T/set_graph_function"
	says 1 "cannot switch tracing on: No such file or directory" "${record[@]}" -- true
	[ ! -e trace.txt ]
	echo 0 > "$T/tracing_on"
	echo "$all" > "$T/set_graph_function"
	says 0 "warning: cannot restore tracing's 'buffer_size_kb' to '1408': No such file or directory" \
		"${record[@]}" -- rm "$T/buffer_size_kb"
	[ "$(cat "$T/current_tracer")" = nop ]
}

@test "messages: tracefs whose files fail, and no rights to it" {
	injects
	has_sanitizers && skip "the sanitizers want to be loaded first"
	export LD_PRELOAD=$base/pretend.so
	fails user:nobody "cannot use tracefs: no right (run as root)" "$HOTTEXT" record ftrace -o trace.txt -- true
	export PRETEND_TRACEFS=$dir/tracing
	mkdir "$dir/tracing"
	cd "$dir/tracing"
	echo nop function_graph > available_tracers
	for f in buffer_size_kb set_graph_function current_tracer trace_pipe tracing_on; do echo 0 > $f; done
	printf '__x64_sys_read\nvfs_read\nvfs_write\n' > available_filter_functions
	cd ..
	fails open:EACCES "cannot add 'vfs_write' to tracing's 'set_graph_function': Permission denied" \
		"$HOTTEXT" record ftrace --function vfs_read --function vfs_write -o trace.txt -- true
	fails start:EAGAIN "cannot start a thread: Resource temporarily unavailable" "$HOTTEXT" record ftrace -o trace.txt -- true
}

# A perf whose recording is finished.
make_perf() {
	printf '%s\n' '#!/bin/bash' 'while [ "$1" != -o ]; do shift; done' 'printf "PERFILE2%40s\1\0\0\0\0\0\0\0" "" > "$2"' > perf
	chmod +x perf
}

@test "messages: kernels that let nobody sample them" {
	make_perf
	if ! has_sanitizers; then
		echo 2 > kptr_restrict
		LD_PRELOAD=$base/pretend.so PRETEND_KPTR_RESTRICT=$dir/kptr_restrict says 0 \
			"warning: kernel addresses are hidden from perf: set sysctl kernel.kptr_restrict=0, else KASLR cannot be undone" \
			"$HOTTEXT" record perf --perf ./perf -e cycles:k -o data -- true
	fi
	injects
	fails perf:EACCES \
		"cannot sample the whole system: no right (run as root, or set sysctl kernel.perf_event_paranoid=-1)" \
		"$HOTTEXT" record perf --perf ./perf -o data
	says 1 "cannot sample: No such file or directory (a kernel with CONFIG_PERF_EVENTS is needed)" \
		"$base/inject" perf ENOENT 1+ "$HOTTEXT" record perf --perf ./perf -o data
}

@test "messages: recorders that cannot start what they record" {
	injects
	printf '#!/bin/sh\nexit 0\n' > perf
	chmod +x perf
	run=("$HOTTEXT" record perf --perf ./perf -e cycles:k -o data)
	fails pipe:EMFILE "cannot run './perf': Too many open files" "${run[@]}"
	fails start:EAGAIN "cannot run './perf': Resource temporarily unavailable" "${run[@]}"
	fails wait:ECHILD "cannot wait for the command: No child processes" "${run[@]}"
	says 1 "cannot run './none': No such file or directory" "$HOTTEXT" record profile --file perf -o data -- ./none
	cp perf counters
	fails open:EACCES "cannot read 'counters': no right (run as root)" "$HOTTEXT" record profile --file counters -o data -- true
	fails read:EIO "cannot read 'counters': Input/output error" "$HOTTEXT" record profile --file counters -o data -- true
}

@test "messages: a recording that cannot take the old one's place" {
	injects
	make_perf
	echo before > perf.data
	run=("$HOTTEXT" record perf --perf ./perf -e cycles:k)
	stays() {	# stays CALL MESSAGE: where that renaming fails, the recording has the name told
		"$base/inject" rename EACCES "$1" "${run[@]}" > out 2> err || [ $? -eq 1 ]
		[[ $(cat err) =~ ^"hottext: $2: Permission denied; the recording is 'perf.data."(......)"'"$ ]]
		[ "$(head -c 8 "perf.data.${BASH_REMATCH[1]}")" = PERFILE2 ]
		[ "$(cat perf.data)" = before ]
	}
	stays 1 "cannot keep 'perf.data' as 'perf.data.old'"
	stays 2 "cannot write 'perf.data'"
	[ ! -e perf.data.old ]
	says 1 "cannot run './none': No such file or directory" "${run[@]}" -- ./none
	[ "$(cat perf.data)" = before ]
}

@test "messages: a linker that cannot be started, waited for or found" {
	injects
	echo 'nop' | as -o a.o -
	says 1 "cannot run './none': No such file or directory" env HOTTEXT_LD=./none "$HOTTEXT" ld a.o -o a
	says 1 "cannot run './none': No such file or directory" env HOTTEXT_LD=./none "$HOTTEXT" ld -r a.o -o vmlinux.o
	fails start:EAGAIN "cannot run 'ld': Resource temporarily unavailable" "$HOTTEXT" ld -r a.o -o vmlinux.o
	fails wait:ECHILD "cannot wait for 'ld': No child processes" "$HOTTEXT" ld -r a.o -o vmlinux.o
	printf '#!/bin/sh\nkill -KILL $$\n' > killed
	chmod +x killed
	says 1 "'./killed' was killed by signal 9" env HOTTEXT_LD=./killed "$HOTTEXT" ld -r a.o -o vmlinux.o
	[ ! -e vmlinux.o ]
}

@test "messages: a failed link fails where SIGCHLD is ignored, too" {
	printf '#!/bin/sh\nexit 3\n' > three
	chmod +x three
	echo 'nop' | as -o a.o -
	status=0
	HOTTEXT_LD=./three perl -e '$SIG{CHLD} = "IGNORE"; exec @ARGV' "$HOTTEXT" ld -r a.o -o vmlinux.o || status=$?
	[ $status -eq 3 ]
	[ ! -e vmlinux.o ]
}

@test "messages: scripts and outputs of the wrapper that cannot be written" {
	injects
	cp -a "$base"/{head.o,fs,kernel,lib,vmlinux.a} .
	export HOTTEXT_PLAN=$base/plan
	link=("$HOTTEXT" ld --no-warn-rwx-segments -z noexecstack --script="$DATA/lds/x86-64-6.1.lds" -o vmlinux --whole-archive vmlinux.a)
	fails rename:EACCES "cannot write 'vmlinux': Permission denied" "${link[@]}"
	[ ! -e vmlinux ]
	unset HOTTEXT_PLAN
	fails rename:EACCES "cannot write 'vmlinux.o': Permission denied" "$HOTTEXT" ld -r -o vmlinux.o --whole-archive vmlinux.a
	fails rename:EACCES "cannot write 'x.map': Permission denied" "$HOTTEXT" ld -r -Map=x.map -o vmlinux.o lib/memcpy.o
	[ ! -e vmlinux.o ]
}

@test "messages: no memory, at allocations all through a run" {
	has_sanitizers && skip "the sanitizers' own allocations would fail as well"
	zstd -q "$base/p.hot" -o p.zst
	make_tree
	# The wrapper stands beside the program.
	cp "$HOTTEXT" hottext
	ln -s hottext hottext-ld
	HOTTEXT=$dir/hottext
	"$HOTTEXT" kbuild -n -C linux > command
	for command in "collect" "collect -q p.zst -o x" "report -q $base/plan -o x.txt" "verify -q $base/plan $base/moved" \
		"machines x" "kbuild -n -C linux" "reorder -q --machine generic-4k-32 $base/old p.zst -o x"; do
		LD_PRELOAD=$base/nomem.so NOMEM_AT=0 "$HOTTEXT" $command 9> n > out 2> err || true
		count=$(cat n)
		[ "$count" -gt 0 ]
		for ((n = 1; n <= count; n += count > 600 ? count / 300 : 1)); do
			faults=$((faults + 1)) status=0
			LD_PRELOAD=$base/nomem.so NOMEM_AT=$n "$HOTTEXT" $command > out 2> err || status=$?
			[ $status -le 3 ] || { echo "$command, allocation $n: status $status"; cat err; return 1; }
			[ $status -ne 0 ] || [[ $command != kbuild* ]] || cmp out command
			[ $status -ne 1 ] || [ "$(wc -l < err)" -eq 1 ] || { echo "$command, allocation $n"; cat err; return 1; }
		done
	done
}

@test "messages: a kernel that changes while it is read" {
	injects
	cp "$base/old" k
	analyze=("$HOTTEXT" analyze -q --machine generic-4k-32 k "$base/p.hot")
	ALL=1 fails open:EACCES "cannot read 'k': Permission denied" "${analyze[@]}"
	has_sanitizers && skip "the sanitizers want to be loaded first"
	export LD_PRELOAD=$base/pretend.so
	PRETEND_NO_ELF=1 says 1 "cannot read 'k': no error" "${analyze[@]}"
	PRETEND_NO_ELF=2 says 1 "cannot read 'k': no error" "${analyze[@]}"
	PRETEND_NO_ELF=3 says 1 "cannot read 'k': no error" "${analyze[@]}"
}

@test "messages: recordings that cannot be read or copied" {
	injects
	seeds=$TOP/tests/corpus
	cp "$seeds/perfdata/unit-000" perf.data
	collect=("$HOTTEXT" collect -q --kallsyms kallsyms)
	ALL=1 fails stat:EIO "cannot read 'perf.data': Input/output error" "${collect[@]}" perf.data
	mkdir dir
	cp perf.data dir/data
	fails open:EACCES "cannot read 'dir': Permission denied" "${collect[@]}" dir
	fails open:EACCES "cannot read 'dir/data': Permission denied" "${collect[@]}" dir
	zstd -q perf.data -o perf.data.zst
	ALL=1 ON=+ fails open:EACCES "cannot copy 'perf.data.zst' to a temporary file: Permission denied" "${collect[@]}" perf.data.zst
	fails write:ENOSPC "cannot copy 'perf.data.zst' to a temporary file: No space left on device" "${collect[@]}" perf.data.zst
	cp "$TOP/tests/data/ftrace/graph.dat" trace.dat
	fails start:EAGAIN "cannot read 'trace.dat': Resource temporarily unavailable" "${collect[@]}" trace.dat
	fails wait:ECHILD "cannot read 'trace.dat': No child processes" "${collect[@]}" trace.dat
	fails write:ENOSPC "cannot write what 'trace.dat' tells to a temporary file: No space left on device" "${collect[@]}" trace.dat
	for cut in "$seeds"/tracerepair/{version-6-cut,small-cut}; do
		fails write:ENOSPC "cannot copy '$cut' to a temporary file: No space left on device" \
			"${collect[@]}" --force "$cut"
	done
	mkdir modules
	fails stat:EIO "cannot read 'modules': Input/output error" "${collect[@]}" --modules modules perf.data
	mkdir -p figures/a
	fails open:EACCES "cannot read 'figures': Permission denied" "$HOTTEXT" compare figures
}

@test "messages: a module that cannot be opened any more" {
	injects
	${CC:-gcc} -D_GNU_SOURCE -I"$TOP" -o perfmodule "$TOP"/tests/perfmodule.c "$TOP"/lib/mem.c "$TOP"/lib/error.c
	section .text.hot_one hot_one 90 | object a.o
	mkdir modules
	ld -r -o modules/small.ko a.o
	./perfmodule perf.data /lib/modules/small.ko 0xffffffffc0100000 0x4000 00 5:0xffffffffc0100010
	found=
	"$base/inject" open EACCES 0 "$HOTTEXT" collect --kallsyms kallsyms --modules modules perf.data 9> n > out 2> err
	for ((i = 1; i <= $(cat n); i++)); do
		"$base/inject" open EACCES $i "$HOTTEXT" collect --kallsyms kallsyms --modules modules perf.data > out 2> err || continue
		! grep -qxF "hottext: cannot read 'modules/small.ko': Permission denied" err || found=1
	done
	[ -n "$found" ]
}

@test "messages: plans and pictures that cannot be read, written or drawn" {
	injects
	cp -r "$base/plan" .
	# As long as pages are, it is read and not mapped.
	printf '%*s' $((8192 - $(stat -c %s plan/plan.json) % 4096)) '' >> plan/plan.json
	fails read:EIO "cannot read 'plan/plan.json': Input/output error" "$HOTTEXT" report -q plan
	optimize=("$HOTTEXT" optimize -q --machine generic-4k-32 "$base/old" "$base/p.hot" -o new)
	fails make:EROFS "cannot write 'new': Read-only file system" "${optimize[@]}"
	fails rename:EACCES "cannot write 'new': Permission denied" "${optimize[@]}"
	report=("$HOTTEXT" report -q plan --pages -o x.svg)
	fails open:EACCES "cannot write '/tmp/hottext-*': Permission denied" "${report[@]}"
	fails write:ENOSPC "cannot write '/tmp/hottext-*': No space left on device" "${report[@]}"
	fails open:EACCES "cannot read '/tmp/hottext-*': Permission denied" "${report[@]}"
	fails start:EAGAIN "cannot draw '/tmp/hottext-*': Resource temporarily unavailable" "${report[@]}"
	fails wait:ECHILD "cannot draw '/tmp/hottext-*': No child processes" "${report[@]}"
	ALL=1 fails open:EACCES "cannot read '$base/old': Permission denied" \
		"$HOTTEXT" report --annotate vfs_read --vmlinux "$base/old" plan
}

@test "messages: a module's script that cannot be written" {
	injects
	{ section .text.a a 40; section .text.b b 60; } | object in.o
	echo 'SECTIONS { __ksymtab 0 : { *(SORT(___ksymtab+*)) } }' > module.lds
	printf 'hottext-profile 1\nfunc b@a.ko 5 0\n' > p.hot
	export HOTTEXT_PROFILE=$dir/p.hot
	fails write:ENOSPC "cannot write '.hottext-module.lds.*': No space left on device" \
		"$HOTTEXT" ld -r -T module.lds -o a.ko in.o
	fails rename:EACCES "cannot write 'a.ko': Permission denied" "$HOTTEXT" ld -r -T module.lds -o a.ko in.o
	[ ! -e a.ko ]
}

@test "messages: kbuild that does not know where it is" {
	injects
	make_tree
	fails link:ENOENT "cannot read '/proc/self/exe': No such file or directory" "$HOTTEXT" kbuild -C linux
}

@test "messages: no disassembler, no plugin" {
	mkdir alone
	cp "$HOTTEXT" alone/hottext
	folder=$("$HOTTEXT" --version | sed -n 's,^plugin  *\(.*\)/hottext-qemu.so$,\1,p')
	[ -n "$folder" ]
	[ -e "$folder/hottext-qemu.so" ] || says 1 \
		"cannot find 'hottext-qemu.so' beside hottext or in '$folder' (name it with --plugin)" \
		alone/hottext record qemu -o trace -- true
	has_sanitizers && skip "the sanitizers want to be loaded first"
	printf 'dd 100/100 [000] 1.000000: 1 cycles:\n\tffffffff81000010 vfs_read+0x4 ([kernel.kallsyms])\n\n' > script
	grep -q OPCODES_SONAME "$TOP/Makefile" && soname=$(LC_ALL=C grep -aoE 'libopcodes[-a-z0-9.]*\.so[.0-9]*' "$HOTTEXT" | head -n 1)
	[ -n "$soname" ] || skip "libopcodes is linked in"
	LD_PRELOAD=$base/pretend.so PRETEND_NO_DISASSEMBLER=none.so says 1 \
		"cannot load '$soname': none.so: cannot open shared object file: No such file or directory" \
		"$HOTTEXT" complete -q "$base/old" script
	LD_PRELOAD=$base/pretend.so PRETEND_NO_DISASSEMBLER='' says 1 \
		"no disassembler for 'x86_64' (Debian has it in libbinutils of binutils-multiarch)" \
		"$HOTTEXT" complete -q "$base/old" script
	# A profile that is taken as it was seen does without.
	LD_PRELOAD=$base/pretend.so PRETEND_NO_DISASSEMBLER='' "$HOTTEXT" reorder --as-seen --machine generic-4k-32 \
		"$base/old" script -o order 2> err
	grep -qx 'hottext: warning: no disassembler for this kernel: roots that were never profiled are not guarded' err
	[ -s order ]
}

@test "messages: a clock without knees" {
	has_sanitizers && skip "the sanitizers want to be loaded first"
	LD_PRELOAD=$base/pretend.so PRETEND_EVEN_CLOCK=1 says 1 \
		"no machine file: no knee of code on 4 KB pages was found" "$HOTTEXT" calibrate -q -o my.machine
	[ ! -e my.machine ]
}

@test "messages: renamed sections that cannot be written" {
	injects
	{ section .text.a a 40; section .text.b b 60; } | object in.o
	fails write:ENOSPC "cannot write '.hottext-rename.lds.*': No space left on device" "$HOTTEXT" ld -r -o vmlinux.o in.o
	[ ! -e vmlinux.o ]
}
