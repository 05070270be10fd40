# SPDX-License-Identifier: GPL-3.0-or-later
# Loadable modules: from samples in a .ko to its order in the next link.
bats_require_minimum_version 1.5.0
load kernel.bash

ROOT=$PWD
LOAD=0xffffffffc0100000

setup() {
	cd "$BATS_TEST_TMPDIR"
	unset HOTTEXT_PLAN HOTTEXT_PROFILE HOTTEXT_LD CROSS_COMPILE
	(cd "$ROOT" && ${CC:-gcc} -D_GNU_SOURCE -I. -o "$BATS_TEST_TMPDIR/perfmodule" tests/perfmodule.c lib/mem.c lib/error.c)
	cat > kallsyms <<-'END'
		ffffffff81000000 T _text
		ffffffff81000000 T _stext
		ffffffff81001000 T do_syscall_64
		ffffffff81002000 T __x64_sys_read
		ffffffff81003000 t copy
		ffffffff81004000 t other
		ffffffff81005000 T _etext
	END
	# As Kbuild links a module of two objects built with -ffunction-sections; `copy` is a name of the kernel's, too.
	{ section .text.cold_one cold_one 5000; section .text.hot_one hot_one 90; section .init.text start 64; } | object a.o
	{ section .text.copy copy 40; section .text.warm_one warm_one 100; section .text.unlikely.far far 30; } | object b.o
	echo 'SECTIONS { /DISCARD/ : { *(.discard) } __ksymtab 0 : { *(SORT(___ksymtab+*)) } }' > module.lds
	mkdir -p lib/modules/kernel
	link_module
}

link_module() {
	"$HOTTEXT" ld -r --build-id=sha1 -T module.lds -o lib/modules/kernel/small-mod.ko a.o b.o
}

ko=lib/modules/kernel/small-mod.ko

build_id() {
	readelf -n $ko | awk '/Build ID/ { print $3 }'
}

# at NAME OFFSET: the run-time address of a byte of a function of .text
at() {
	printf '%#x' $((LOAD + 16#$(nm $ko | awk -v n="$1" '$3 == n { print $1 }') + $2))
}

record() {
	./perfmodule perf.data /lib/modules/6.1/kernel/small-mod.ko $LOAD 0x4000 "${1:-$(build_id)}" \
		5:$(at hot_one 0x24) 3:$(at warm_one 0) 2:$(at copy 0x10) 1:0xffffffff81003010
}

@test "samples in a module are its functions', by build-id and load address, and order its next link" {
	order $ko cold_one hot_one copy warm_one
	record
	run -0 "$HOTTEXT" collect --kallsyms kallsyms --modules lib -o profile.hot perf.data
	stops 0 "hottext: 11 samples, 11 kernel, 11 resolved, 0 unresolved, 0 lost"
	grep ^func profile.hot > funcs
	diff - funcs <<-'END'
		func copy 1 0
		func copy@small_mod.ko 2 0
		func hot_one@small_mod.ko 5 0
		func warm_one@small_mod.ko 3 0
	END
	grep -q '^touch hot_one@small_mod.ko 0x20 5$' profile.hot
	grep -q '^call __x64_sys_read 0x44 hot_one@small_mod.ko 5$' profile.hot
	HOTTEXT_PROFILE=profile.hot link_module
	order $ko hot_one warm_one copy cold_one
	# The old recording is of another build now.
	run -0 --separate-stderr "$HOTTEXT" collect --kallsyms kallsyms --modules lib perf.data
	[[ $stderr = *"module 'small_mod' of 'perf.data' is "*": its functions are not told apart"* ]]
	grep -q '^func \[small_mod\] 10 0$' <<<"$output"
	[[ $stderr = *"1 resolved, 10 unresolved"* ]]
}

@test "without its file a module is one function, with a compressed file it is not" {
	record
	run -0 --separate-stderr "$HOTTEXT" collect --kallsyms kallsyms perf.data
	grep -q '^func \[small_mod\] 10 0$' <<<"$output"
	"$HOTTEXT" collect -q --kallsyms kallsyms --modules lib -o plain.hot perf.data
	xz -q $ko
	"$HOTTEXT" collect -q --kallsyms kallsyms --modules lib -o packed.hot perf.data
	cmp plain.hot packed.hot
	mv $ko.xz lib/modules/kernel/other.ko.xz
	run -0 --separate-stderr "$HOTTEXT" collect --kallsyms kallsyms --modules lib perf.data
	grep -q '^func \[small_mod\] 10 0$' <<<"$output"
}

@test "one build: a profile that only the kernel's link can read orders modules after it" {
	make_kernel
	printf '%s\n' 'dd    100/100 [000]     1.000000:     1 cycles: ' '	ffffffffc0100004 hot_one+0x4 ([small_mod])' \
		'	ffffffff81000008 vfs_read+0x8 ([kernel.kallsyms])' '' > script
	export HOTTEXT_PROFILE=script
	warning="cannot order '$ko': '%s' is read by the kernel's link, which left no '.hottext/plan/profile.hot' here"
	run link_module
	# shellcheck disable=SC2059 # a format
	stops 0 "hottext: warning: $(printf "$warning" script)"
	order $ko cold_one hot_one
	kernel_link vmlinux
	run link_module
	stops 0 ""
	order $ko hot_one cold_one
	# Folded stacks and folders (of perf.data) are of another kind, too.
	printf 'task;vfs_read_[k] 50\n' > folded
	HOTTEXT_PROFILE=folded run link_module
	stops 0 ""
	order $ko hot_one cold_one
	rm -r .hottext
	HOTTEXT_PROFILE=folded run link_module
	# shellcheck disable=SC2059 # a format
	stops 0 "hottext: warning: $(printf "$warning" folded)"
	HOTTEXT_PROFILE=lib run link_module
	# shellcheck disable=SC2059 # a format
	stops 0 "hottext: warning: $(printf "$warning" lib)"
	HOTTEXT_PROFILE=none run link_module
	stops 1 "hottext: cannot read 'none': No such file or directory"
	# Without sections there is nothing to order, and no word about it.
	section .text copy 40 | object a.o
	section .text warm 40 | object b.o
	HOTTEXT_PROFILE=folded run link_module
	stops 0 ""
}

@test "the recorded boot's kallsyms tell a module's functions as well as its file" {
	record
	"$HOTTEXT" collect -q --kallsyms kallsyms --modules lib -o file.hot perf.data
	nm $ko | while read -r off type name; do
		case $type in t) printf '%x t %s\t[small_mod]\n' $((LOAD + 16#$off)) "$name" ;; esac
	done > loaded
	cat kallsyms loaded > all
	"$HOTTEXT" collect -q --kallsyms all -o text.hot perf.data
	grep -v ^source file.hot > want
	grep -v ^source text.hot | cmp - want
	"$HOTTEXT" collect -q --kallsyms kallsyms --modules loaded -o text.hot perf.data
	grep -v ^source text.hot | cmp - want
	# Another boot loaded it elsewhere.
	sed 's/^ffffffffc01/ffffffffc02/' loaded > moved
	run -0 --separate-stderr "$HOTTEXT" collect --kallsyms kallsyms --modules moved perf.data
	[[ $stderr = *"module 'small_mod' was loaded elsewhere when 'perf.data' was recorded: its functions are not told apart"* ]]
	sed 's/^[0-9a-f]*/0000000000000000/' loaded > hidden
	run -1 "$HOTTEXT" collect --kallsyms kallsyms --modules hidden perf.data
	stops 1 "hottext: cannot use 'hidden': modules' addresses are zero (kernel.kptr_restrict hides them)"
}

@test "a path's entries count its modules' pages" {
	make_kernel
	kernel_link vmlinux
	printf '%s\n' 'dd    100/100 [000]     1.000000:     1 cycles: ' '	ffffffffc0100004 hot_one+0x4 ([small_mod])' \
		'	ffffffffc0100008 cold_one+0x8 ([small_mod])' '	ffffffff81000008 vfs_read+0x8 ([kernel.kallsyms])' '' > script
	mean() { "$HOTTEXT" analyze -q --json --as-seen --force "$@" vmlinux script 2> /dev/null | jq .before.entries_per_path.mean; }
	[ "$(mean)" = 1 ]
	# cold_one begins on the first page, hot_one 5,000 bytes behind it.
	[ "$(mean --modules lib)" = 3 ]
	# Completion adds to the kernel's functions and keeps the modules'.
	[ "$("$HOTTEXT" analyze -q --json --force --modules lib vmlinux script 2> /dev/null | jq .before.entries_per_path.mean)" = 3 ]
	# Two kernels alike, the module of the second in the order of its profile: both on one page.
	printf 'hottext-profile 1\nsource x - - - - 9 9 9 0 0\n' > p.hot
	"$HOTTEXT" collect -q --vmlinux vmlinux --modules lib script | grep -v '^[hs]o' >> p.hot
	cp vmlinux again
	cp -r lib packed
	HOTTEXT_PROFILE=p.hot "$HOTTEXT" ld -r --build-id=sha1 -T module.lds -o packed/modules/kernel/small-mod.ko a.o b.o
	means() { "$HOTTEXT" compare -q --json --profile p.hot "$@" vmlinux again | jq -c '[.kernels[].entries_per_path.mean]'; }
	means > got
	means --modules lib >> got
	means --modules lib --modules packed >> got
	diff - got <<-'END'
		[1,1]
		[3,3]
		[3,2]
	END
	run -2 --separate-stderr "$HOTTEXT" compare --profile p.hot --modules lib --modules lib --modules lib vmlinux again
	[[ $stderr = *"give --modules once, or once for each kernel"* ]]
}

@test "damaged modules are said and passed over, missing folders stop" {
	record
	run -1 "$HOTTEXT" collect --kallsyms kallsyms --modules nowhere perf.data
	stops 1 "hottext: cannot read 'nowhere': No such file or directory"
	for how in "head -c 200" "strip -o -" "echo"; do
		case $how in
		strip*) strip -o bad $ko ;;
		*) $how < $ko > bad ;;
		esac
		mkdir -p broken
		cp bad broken/small-mod.ko
		run -0 --separate-stderr "$HOTTEXT" collect --kallsyms kallsyms --modules broken perf.data
		[[ $stderr = *"cannot read 'broken/small-mod.ko': "* ]]
		grep -q '^func \[small_mod\] 10 0$' <<<"$output"
	done
}

# damaged HOW WHY: the module, so damaged by elfpoke.pl, is not told apart because of that.
damaged() {
	mkdir -p broken
	cp $ko broken/small-mod.ko
	"$ROOT/tests/elfpoke.pl" broken/small-mod.ko $1
	run -0 --separate-stderr "$HOTTEXT" collect --kallsyms kallsyms --modules broken perf.data
	[[ $stderr = *"hottext: cannot read 'broken/small-mod.ko': $2"$'\n'*"functions of module 'small_mod' are not told apart"* ]] ||
		{ echo "wanted $2, said: $stderr"; return 1; }
}

@test "why a module cannot be read" {
	record
	damaged e_type=2 "not a module"
	damaged .text.sh_addralign=3 "a section's size or alignment cannot be"
	damaged .symtab.sh_type=1 "no .symtab (stripped?)"
	first=$(readelf -sW $ko | awk '$4 == "FUNC" { sub(":", "", $1); print $1; exit }')
	damaged ".symtab+$((first * 24)).4=0xffffff" "a symbol's name lies outside the string table"
	mkdir empty
	run -0 --separate-stderr "$HOTTEXT" collect --kallsyms kallsyms --modules empty perf.data
	[[ $stderr = *"warning: 'empty' holds no .ko files"* ]]
	echo nonsense > text
	run -1 "$HOTTEXT" collect --kallsyms kallsyms --modules text perf.data
	stops 1 "hottext: cannot read 'text': line 1 is not 'address type name'"
}
