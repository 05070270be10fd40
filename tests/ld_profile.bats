# SPDX-License-Identifier: GPL-3.0-or-later
# The linker wrapper with a profile: one build plans and links.
load kernel.bash
load ld.bash

@test "in one build: less than half of the profile stops, less than 90 % warns" {
	make_kernel
	profile() { { head -n 1 "$DATA/collect/chains.hot"; printf 'func %s\n' "$@"; } > p.hot; }
	export HOTTEXT_PROFILE=p.hot
	profile 'vfs_read 40 0' 'not_there 60 0'
	run kernel_link vmlinux
	echo "$output"
	[ "$status" -eq 1 ]
	grep -v ' samples, ' <<< "$output" > said
	[ "$(cat said)" = "hottext: cannot use 'p.hot': only 40.0 % of it is found in 'vmlinux'" ]
	[ ! -e vmlinux ]
	[ ! -e vmlinux.hottext-trial ]
	profile 'vfs_read 80 0' 'not_there 20 0'
	run kernel_link vmlinux
	[ "$status" -eq 0 ]
	[[ "$output" == *"hottext: warning: only 80.0 % of the profile is found in 'vmlinux'"* ]]
	rm -r vmlinux .hottext
	profile 'vfs_read 95 0' 'not_there 5 0'
	run kernel_link vmlinux
	[ "$status" -eq 0 ]
	[[ "$output" != *warning* ]]
	rm p.hot
	run kernel_link vmlinux
	stops 1 "hottext: cannot read 'p.hot': No such file or directory"
	[ ! -e vmlinux ]
}

@test "one build gives the order of two, and every link of it the same" {
	make_kernel
	kernel_link old
	printf 'task;xfs_read_[k];schedule_[k] 50\ntask;vfs_read_[k];memcpy_[k] 9\n' > stacks.folded
	"$HOTTEXT" collect -q --vmlinux old stacks.folded -o p.hot
	"$HOTTEXT" optimize -q --machine generic-4k-32 old p.hot -o two
	HOTTEXT_PLAN=two kernel_link planned
	"$HOTTEXT" verify --exact two planned
	export HOTTEXT_PROFILE=$PWD/p.hot
	# As in a kernel's build: two links for kallsyms with its object of the step before, then vmlinux.
	kernel_link .tmp_vmlinux.kallsyms1 --strip-debug
	made=$(stat -c %i:%y .hottext/plan/hottext.ld)
	{ echo '	.section .rodata,"a"'; echo '	.skip 100,1'; } | object .tmp_vmlinux.kallsyms1.o
	kernel_link vmlinux .tmp_vmlinux.kallsyms1.o
	[ "$made" = "$(stat -c %i:%y .hottext/plan/hottext.ld)" ]
	cmp <(nm -n planned | awk '/ [tT] / { print $3 }') <(nm -n vmlinux | awk '/ [tT] / { print $3 }')
	cmp <(nm planned | grep ' [tT] ') <(nm .tmp_vmlinux.kallsyms1 | grep ' [tT] ')
	no_temporaries
	# A changed object makes a new plan.
	before=$(cat .hottext/plan/inputs)
	sleep 0.01
	section .text memcpy 61 | object lib/memcpy.o
	kernel_link vmlinux
	[ "$before" != "$(cat .hottext/plan/inputs)" ]
	# Without its last file a plan is none; what is broken stops the build.
	rm .hottext/plan/inputs
	kernel_link vmlinux
	[ -s .hottext/plan/inputs ]
	echo garbage > p.hot
	run kernel_link vmlinux
	[ "$status" -eq 1 ]
	[ ! -e vmlinux ]
}

@test "in one build: interrupted while it plans, the build ends, and half a plan is none" {
	local top=$OLDPWD n step status ended=0
	load faults.bash
	make_faults "$top"
	./inject any EIO 0 "$HOTTEXT" --version 9> n > version || skip "ptrace is not to be had here"
	echo '$SIG{INT} = "DEFAULT"; exec @ARGV' > int.pl
	export HOTTEXT_PROFILE=p.hot
	LINK="./inject any INT 0 $HOTTEXT ld" kernel_link vmlinux 9> n
	step=$(($(cat n) / 300 + 1))
	for ((n = step; n < $(cat n); n += step)); do
		rm -rf vmlinux .hottext
		status=0
		# Under bats SIGINT is ignored in what it starts.
		LINK="perl int.pl ./inject any INT $n $HOTTEXT ld" kernel_link vmlinux 2> err || status=$?
		if grep -q ' samples, ' err && ! grep -q 'no fetch trace' err; then
			echo "call $n: status $status"
			[ $status -eq 130 ]
			[ ! -e .hottext/plan/inputs ]
			[ ! -e vmlinux ]
			no_temporaries
			ended=$((ended + 1))
		fi
		if grep interrupted err; then return 1; fi
	done
	echo "# $(cat n) calls, $ended ended while it planned" >&3
	[ $ended -gt 0 ]
}
