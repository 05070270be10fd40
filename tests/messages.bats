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
