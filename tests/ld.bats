# SPDX-License-Identifier: GPL-3.0-or-later
# The linker wrapper, on small synthetic kernels.
load kernel.bash
load faults.bash

setup() {
	cd "$BATS_TEST_TMPDIR"
	unset HOTTEXT_PLAN HOTTEXT_PROFILE HOTTEXT_LD CROSS_COMPILE LINK SCRIPT
}

plan() {
	mkdir -p plan
	cat > plan/hottext.ld
}

nothing_left() {
	local left
	left=$(find . -name '*hottext-*' -o -name '.hottext*' -o -name "${1:-vmlinux}")
	[ -z "$left" ] || { echo "left: $left"; return 1; }
}

@test "other links pass through unchanged, their exit status too" {
	make_kernel
	ld -r -o plain.o fs/file.o kernel/core.o
	"$HOTTEXT" ld -r -o ours.o fs/file.o kernel/core.o
	cmp plain.o ours.o
	echo 'SECTIONS { .text : { *(.text .text.*) } }' > module.lds
	ld -r -T module.lds -o plain.ko fs/file.o fs/xfs/file.o
	"$HOTTEXT" ld -r -T module.lds -o ours.ko fs/file.o fs/xfs/file.o
	cmp plain.ko ours.ko
	ld -e 0 -T module.lds -o plain fs/file.o
	HOTTEXT_PLAN=/missing "$HOTTEXT" ld -e 0 -T module.lds -o ours fs/file.o
	cmp plain ours
	[ "$("$HOTTEXT" ld --version)" = "$(ld --version)" ]
	ln -s "$HOTTEXT" hottext-ld
	[ "$(./hottext-ld --version)" = "$(ld --version)" ]
	run "$HOTTEXT" ld missing.o
	[ "$status" -eq 1 ]
	printf '#!/bin/sh\nexit 7\n' > fake; chmod +x fake
	HOTTEXT_LD=./fake run "$HOTTEXT" ld x.o
	[ "$status" -eq 7 ]
	HOTTEXT_LD=./fake run kernel_link vmlinux
	[ "$status" -eq 7 ]
}

@test "a kernel without function sections comes out byte for byte" {
	make_kernel 1
	LINK=ld kernel_link plain
	kernel_link ours
	cmp plain ours
	[ ! -e ours.map ]
	ld -r -o plain.o --whole-archive vmlinux.a
	mkdir o && "$HOTTEXT" ld -r -o o/vmlinux.o --whole-archive vmlinux.a
	cmp plain.o o/vmlinux.o
	run find . -name '*hottext*'
	[ -z "$output" ]
}

@test "function sections are taken in, unlikely text stays behind the main text" {
	make_kernel
	kernel_link vmlinux
	order vmlinux _stext startup_64 vfs_read xfs_read schedule_tail memcpy vfs_read.cold nmi_a __sched_text_start \
		wait_a schedule __sched_text_end entry _etext
	grep -q '^ \.text\.vfs_read' vmlinux.map
	kernel_link .tmp_vmlinux.kallsyms1
	cmp vmlinux .tmp_vmlinux.kallsyms1
	[ ! -e .tmp_vmlinux.kallsyms1.map ]
	kernel_link again -Map=named.map
	[ -e named.map ]
	[ ! -e again.map ]
}

@test "every way to name the script, the output and the map" {
	make_kernel
	kernel_link vmlinux
	local s=$DATA/lds/x86-64-6.1.lds common="-z noexecstack --no-warn-rwx-segments --emit-relocs --build-id=sha1"
	for way in "-T $s" "-T$s" "--script=$s" "--script $s" "-script=$s" "--sc=$s" "-scrip $s"; do
		rm -f out m
		"$HOTTEXT" ld $common $way -oout --whole-archive vmlinux.a -Map m
		cmp vmlinux out
		for output in --output=out "--output out" --outp=out "-out out" --ou=out; do
			rm -f out m
			"$HOTTEXT" ld $common $way $output --whole-archive vmlinux.a --Map=m
			cmp vmlinux out
			[ -s m ]
		done
	done
	rm m
	"$HOTTEXT" ld $common -T$s -outfile --whole-archive vmlinux.a -Ma m
	cmp vmlinux utfile
	[ -s m ]
	for way in -r -i -Ur --relocatable -relocatable --reloc; do
		"$HOTTEXT" ld $way -o vmlinux.o fs/file.o fs/xfs/file.o
		readelf -SW vmlinux.o | grep -qF .text.helper..fs_xfs_file
	done
}

@test "a plan's order is obeyed, statics told apart by object" {
	make_kernel
	plan <<-'P'
	[f]s/file.o(.text.helper)
	. = ALIGN(256);
	*(.text.xfs_read)
	[l]ib/clear_page.o(.text)
	*(.text.unlikely.vfs_read)
	*(.text.vfs_read)
	P
	HOTTEXT_PLAN=plan kernel_link vmlinux
	order vmlinux _stext startup_64 helper xfs_read clear_page vfs_read.cold vfs_read schedule_tail memcpy nmi_a _etext
	[ $((16#$(nm vmlinux | awk '$3 == "xfs_read" { print $1 }') % 256)) -eq 0 ]
	[ "$(nm vmlinux | awk '/[tT]/ { print $3 }' | sort)" = "$(kernel_link plain; nm plain | awk '/[tT]/ { print $3 }' | sort)" ]
	[ "$(nm -n -S vmlinux | awk '$4 == "helper" { print $2; exit }')" = 000000000000001e ]
	HOTTEXT_PLAN=plan kernel_link again
	cmp vmlinux again
}

@test "groups move whole behind the hot region, their members ordered" {
	make_kernel
	plan <<-'P'
	*(.text.vfs_read)
	/* hottext-group .sched.text after-hot */
	/* hottext-member [k]ernel/core.o(.sched.text) */
	/* hottext-group .noinstr.text after-hot */
	/* hottext-member [f]s/xfs/file.o(.noinstr.text) */
	P
	HOTTEXT_PLAN=plan kernel_link vmlinux
	order vmlinux vfs_read schedule wait_a __sched_text_end nmi_a __noinstr_text_end xfs_read entry
	sed -i 's/ after-hot//' plan/hottext.ld
	HOTTEXT_PLAN=plan kernel_link vmlinux
	order vmlinux vfs_read xfs_read nmi_a schedule wait_a __sched_text_end entry
}

@test "the 6.12 order: head text stays first, noinstr moves with cpuidle inside" {
	make_kernel
	{ section .cpuidle.text idle 20; } | object kernel/core2.o
	ar rcSTP vmlinux.a head.o fs/file.o fs/xfs/file.o kernel/core.o kernel/core2.o lib/memcpy.o lib/clear_page.o
	plan <<-'P'
	*(.text.xfs_read)
	/* hottext-group .noinstr.text after-hot */
	/* hottext-member [f]s/xfs/file.o(.noinstr.text) */
	P
	SCRIPT=$DATA/lds/x86-64-6.12.lds HOTTEXT_PLAN=plan kernel_link vmlinux -e 0
	order vmlinux _stext startup_64 xfs_read __noinstr_text_start nmi_a __cpuidle_text_start idle __cpuidle_text_end \
		__noinstr_text_end vfs_read schedule_tail memcpy vfs_read.cold wait_a schedule entry _etext
}

@test "the 6.13 order, and a script that takes .text.* in by itself" {
	make_kernel
	plan <<< '*(.text.xfs_read)'
	SCRIPT=$DATA/lds/x86-64-6.13.lds HOTTEXT_PLAN=plan kernel_link vmlinux
	order vmlinux _stext entry xfs_read vfs_read.cold vfs_read schedule_tail memcpy nmi_a schedule _etext
	SCRIPT=$DATA/lds/x86-64-dce.lds HOTTEXT_PLAN=plan kernel_link vmlinux -e 0
	order vmlinux _stext startup_64 xfs_read vfs_read schedule_tail schedule _etext
}

@test "a missing or broken plan stops the build with one line" {
	make_kernel
	kernel_link vmlinux
	HOTTEXT_PLAN=missing run kernel_link vmlinux
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 1 ]
	[ "$output" = "hottext: cannot read 'missing/hottext.ld': No such file or directory" ]
	nothing_left
	for bad in '_etext = .;' '} .x : {' '*(.text.a' '/* hottext-member *(.x) */' 'ASSERT(0, "x")'; do
		plan <<< "$bad"
		HOTTEXT_PLAN=plan run kernel_link vmlinux
		[ "$status" -eq 1 ]
		[ "${#lines[@]}" -eq 1 ]
		nothing_left
	done
	plan <<< '/* hottext-group .other.text */'
	HOTTEXT_PLAN=plan run kernel_link vmlinux
	[ "$status" -eq 1 ]
	[ "$output" = "hottext: no group '.other.text' between symbols in '$DATA/lds/x86-64-6.1.lds'" ]
	HOTTEXT_PLAN=plan HOTTEXT_PROFILE=p run kernel_link vmlinux
	stops 1 "hottext: both HOTTEXT_PLAN and HOTTEXT_PROFILE are set"
	HOTTEXT_PROFILE=missing run kernel_link vmlinux
	[ "$status" -eq 1 ]
	[ "${lines[0]}" = "hottext: cannot read 'missing': No such file or directory" ]
	nothing_left
}

@test "less than half of the plan stops, less than 90 % warns" {
	make_kernel
	plan < <(printf '*(.text.none%d)\n' 1 2 3 4; printf '*(.text.%s)\n' vfs_read xfs_read schedule_tail)
	HOTTEXT_PLAN=plan run kernel_link vmlinux
	stops 1 "hottext: only 3 of the 7 sections of plan 'plan' are in 'vmlinux'"
	nothing_left
	[ ! -e vmlinux.map ]
	plan < <(printf '*(.text.none%d)\n' 1; printf '*(.text.%s)\n' vfs_read xfs_read schedule_tail)
	HOTTEXT_PLAN=plan run kernel_link vmlinux
	stops 0 "hottext: warning: only 3 of the 4 sections of plan 'plan' are in 'vmlinux'"
	plan < <(printf '*(.text.%s)\n' vfs_read xfs_read schedule_tail)
	HOTTEXT_PLAN=plan run kernel_link vmlinux
	stops 0 ""
	make_kernel 1
	HOTTEXT_PLAN=plan run kernel_link vmlinux
	[ "$status" -eq 1 ]
	[[ "$output" == *"built without -ffunction-sections?"* ]]
}

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

@test "a script without a .text output section is an error" {
	make_kernel
	SCRIPT=$DATA/lds/no-text.lds run kernel_link vmlinux
	stops 1 "hottext: no .text output section in '$DATA/lds/no-text.lds'"
	nothing_left
}

@test "a link error and a linker that is not there leave nothing" {
	make_kernel
	echo '	call missing' | object bad.o
	run kernel_link vmlinux bad.o
	[ "$status" -eq 1 ]
	[[ "$output" == *"undefined reference to \`missing'"* ]]
	nothing_left
	HOTTEXT_LD=./no-such-ld run kernel_link vmlinux
	stops 1 "hottext: cannot run './no-such-ld': No such file or directory"
	CROSS_COMPILE=no-such- run kernel_link vmlinux
	stops 1 "hottext: cannot run 'no-such-ld': No such file or directory"
	CROSS_COMPILE=no-such- run "$HOTTEXT" ld --version
	stops 1 "hottext: cannot run 'no-such-ld': No such file or directory"
	printf '#!/bin/sh\nkill -SEGV $$\n' > fake; chmod +x fake
	HOTTEXT_LD=./fake run kernel_link vmlinux
	stops 1 "hottext: './fake' was killed by signal 11"
	nothing_left
}

@test "signals: the linker is stopped and nothing is left for a later make" {
	make_kernel
	cat > fake <<-'F'
	#!/bin/sh
	for a; do [ "$last" = -o ] && echo half > "$a"; last=$a; done
	echo $$ > fake.pid
	exec sleep 60
	F
	chmod +x fake
	for sig in TERM HUP INT KILL; do
		rm -f fake.pid
		kernel_link vmlinux
		# Under bats SIGINT is ignored in the background, under nohup SIGHUP.
		HOTTEXT_LD=./fake perl -e '$SIG{$_} = "DEFAULT" for qw(INT HUP); exec @ARGV' "$HOTTEXT" ld --script=$DATA/lds/x86-64-6.1.lds \
			-o vmlinux --whole-archive vmlinux.a 3>&- &
		pid=$!
		for i in $(seq 100); do [ -s fake.pid ] && break; sleep 0.05; done
		kill -$sig $pid
		wait $pid && false
		[ ! -e vmlinux ]
		for i in $(seq 100); do kill -0 "$(cat fake.pid)" 2> kill.err || break; sleep 0.05; done
		grep -q 'No such process' kill.err
		[ $sig = KILL ] || nothing_left
		rm -f vmlinux.hottext-tmp .hottext*
	done
}

@test "vmlinux.o keeps sections of one name apart, modules do not" {
	make_kernel
	"$HOTTEXT" ld -r -o vmlinux.o --whole-archive vmlinux.a
	readelf -SW vmlinux.o | awk '{ print $2, $3 }' > sections
	for s in .text.helper..fs_file .text.helper..fs_xfs_file .text.asm..lib_memcpy .text.asm..lib_clear_page .text.vfs_read; do
		grep -qF -- "$s PROGBITS" sections || readelf -SW vmlinux.o | grep -qF -- "$s "
	done
	rm vmlinux.a
	ar rcSTP vmlinux.a vmlinux.o
	plan <<-'P'
	*(.text.asm..lib_clear_page)
	*(.text.helper..fs_xfs_file)
	*(.text.xfs_read)
	P
	HOTTEXT_PLAN=plan kernel_link vmlinux
	order vmlinux _stext startup_64 clear_page xfs_read vfs_read schedule_tail nmi_a _etext
	[ "$(nm -n -S vmlinux | awk '$4 == "helper" { print $2; exit }')" = 0000000000000046 ]
	nothing_left other
}

@test "vmlinux.o without function sections comes out byte for byte, by either linker" {
	make_kernel 1
	for ld in ld ld.lld-19; do
		command -v $ld > found || continue
		$ld -r -o plain.o --whole-archive vmlinux.a
		HOTTEXT_LD=$ld "$HOTTEXT" ld -r -o vmlinux.o --whole-archive vmlinux.a
		cmp plain.o vmlinux.o
	done
	# The map that was asked for is there, however often was linked.
	make_kernel
	for object in fs/file.o "fs/file.o fs/xfs/file.o" lib/memcpy.o; do
		rm -f asked.map
		"$HOTTEXT" ld -r -o vmlinux.o -Map=asked.map $object
		grep -q "${object##* }" asked.map
	done
	find . -name '*hottext-*' > left
	[ ! -s left ]
}

@test "lld: vmlinux.o keeps sections of one name apart, a module's become one .text" {
	command -v ld.lld-19 > lld || skip "no ld.lld-19"
	make_kernel
	export FLAGS=-O1 HOTTEXT_LD=ld.lld-19
	"$HOTTEXT" ld -r -o vmlinux.o --whole-archive vmlinux.a
	readelf -SW vmlinux.o > sections
	for s in .text.helper..fs_file .text.helper..fs_xfs_file .text.asm..lib_memcpy .text.asm..lib_clear_page .text.vfs_read; do
		grep -qF -- " $s " sections || { echo "no $s"; return 1; }
	done
	rm vmlinux.a
	ar rcSTP vmlinux.a vmlinux.o
	plan < <(printf '*(.text.asm..lib_clear_page)\n*(.text.helper..fs_xfs_file)\n*(.text.xfs_read)\n')
	HOTTEXT_PLAN=plan kernel_link vmlinux
	order vmlinux _stext startup_64 clear_page xfs_read vfs_read schedule_tail _etext
	[ "$(nm -n -S vmlinux | awk '$4 == "helper" { print $2; exit }')" = 0000000000000046 ]
	echo 'SECTIONS { /DISCARD/ : { *(.discard) } __ksymtab 0 : { *(SORT(___ksymtab+*)) } }' > module.lds
	{ head -n 1 "$DATA/collect/chains.hot"; echo 'func schedule_tail@small_mod.ko 5 0'; } > plan/profile.hot
	HOTTEXT_PLAN=plan "$HOTTEXT" ld -r -T module.lds -o small-mod.ko fs/file.o kernel/core.o
	order small-mod.ko schedule_tail vfs_read
	readelf -SW small-mod.ko | grep -o '\.text\.[a-z_.]*' > sections
	[ "$(cat sections)" = .text.unlikely ]
	find . -name '*hottext-*' > left
	[ ! -s left ]
}

@test "lld: statics that ThinLTO renamed, and relocations kept in a kernel" {
	for program in clang-19 ld.lld-19 llvm-ar-19; do
		command -v $program > found || skip "no $program"
	done
	mkdir -p fs kernel
	cat > fs/file.c <<-'C'
		extern int sink;
		int schedule_tail(int);
		static __attribute__((noinline)) int helper(int a) { sink += a * 3; return sink ^ a; }
		int vfs_read(int a) { return helper(a) + schedule_tail(a); }
		int vfs_cold(int a) { sink -= a; return helper(a + 9); }
	C
	cat > kernel/core.c <<-'C'
		int sink;
		int vfs_read(int);
		int vfs_cold(int);
		static __attribute__((noinline)) int helper(int a) { sink ^= a; return sink * a + 7; }
		int schedule_tail(int a) { return helper(a) & 15; }
		__attribute__((section(".head.text"))) int startup_64(int a) { return vfs_read(a) + vfs_cold(a); }
	C
	for f in fs/file kernel/core; do
		clang-19 -c -O2 -flto=thin -fno-pic -mcmodel=kernel -ffreestanding -fno-asynchronous-unwind-tables -o $f.o $f.c
	done
	llvm-ar-19 cDPrST vmlinux.a fs/file.o kernel/core.o
	export FLAGS=-O1 HOTTEXT_LD=ld.lld-19
	"$HOTTEXT" ld -r -o vmlinux.o -Map=o.map --whole-archive vmlinux.a
	grep -q ':(.text.helper.llvm.' o.map
	rm vmlinux.a
	ar rcSTP vmlinux.a vmlinux.o
	kernel_link old -m elf_x86_64
	core=$(nm vmlinux.o | grep -o 'helper.llvm.*' | sed -n 2p)
	{ head -n 1 "$DATA/collect/chains.hot"; printf 'func %s\n' "$core 50 0" 'vfs_read 9 0' 'schedule_tail 5 5'; } > p.hot
	"$HOTTEXT" optimize -v --machine generic-4k-32 old p.hot -o plan > report 2> said
	if grep 'is not used\|inferred' said; then return 1; fi
	grep -qxF "*(.text.$core)" plan/hottext.ld
	grep -qxF "$core" plan/symbols.order
	HOTTEXT_PLAN=plan kernel_link planned -m elf_x86_64
	"$HOTTEXT" verify --exact plan planned
	HOTTEXT_PROFILE=p.hot kernel_link once -m elf_x86_64
	"$HOTTEXT" verify --exact .hottext/plan once
}

@test "lld gets the symbol order" {
	command -v ld.lld-19 > lld || skip "no ld.lld-19"
	make_kernel
	printf '/*\n * 0 functions in 0 sections placed, 6 sections dropped.\n */\n' | plan
	printf 'xfs_read\nclear_page\nvfs_read\n' > plan/symbols.order
	FLAGS=-O1 HOTTEXT_LD=ld.lld-19 HOTTEXT_PLAN=plan kernel_link vmlinux
	order vmlinux _stext startup_64 xfs_read vfs_read schedule_tail
	rm plan/symbols.order
	FLAGS=-O1 HOTTEXT_LD=ld.lld-19 HOTTEXT_PLAN=plan run kernel_link vmlinux
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 1 ]
}

@test "lld: a kernel without function sections comes out byte for byte" {
	command -v ld.lld-19 > lld || skip "no ld.lld-19"
	make_kernel 1
	export FLAGS=-O1 HOTTEXT_LD=ld.lld-19
	LINK=ld.lld-19 kernel_link plain
	kernel_link ours
	cmp plain ours
	[ ! -e ours.map ]
}

@test "lld: a plan's order, statics told apart by object, in one build and in two" {
	command -v ld.lld-19 > lld || skip "no ld.lld-19"
	make_kernel
	export FLAGS=-O1 HOTTEXT_LD=ld.lld-19
	kernel_link old
	grep -q 'fs/xfs/file.o):(.text.helper)' old.map
	plan <<-'P'
	[f]s/xfs/file.o(.text.helper)
	. = ALIGN(256);
	*(.text.xfs_read)
	[l]ib/clear_page.o(.text)
	*(.text.vfs_read)
	/* hottext-group .sched.text after-hot */
	/* hottext-member [k]ernel/core.o(.sched.text) */
	P
	HOTTEXT_PLAN=plan kernel_link vmlinux
	order vmlinux _stext startup_64 xfs_read clear_page vfs_read schedule wait_a __sched_text_end schedule_tail _etext
	[ "$(nm -n -S vmlinux | awk '$4 == "helper" { print $2; exit }')" = 0000000000000046 ]
	plan < <(printf '*(.text.none%d)\n' 1 2 3; printf '[f]s/file.o(.text.helper)\n*(.text.vfs_read)\n')
	HOTTEXT_PLAN=plan run kernel_link vmlinux
	stops 1 "hottext: only 2 of the 5 sections of plan 'plan' are in 'vmlinux'"
	[ ! -e vmlinux ]
	{ head -n 1 "$DATA/collect/chains.hot"; printf 'func %s\n' 'xfs_read 50 0' 'helper@fs/xfs/file.o 9 0' 'schedule 5 5'; } > p.hot
	"$HOTTEXT" optimize -q --machine generic-4k-32 old p.hot -o two
	HOTTEXT_PLAN=two kernel_link planned
	"$HOTTEXT" verify --exact two planned
	HOTTEXT_PROFILE=p.hot kernel_link once
	"$HOTTEXT" verify --exact .hottext/plan once
}

@test "lld by another name is told by its maps" {
	command -v ld.lld-19 > lld || skip "no ld.lld-19"
	make_kernel
	mkdir bin
	printf '#!/bin/sh\necho >> links\nexec ld.lld-19 "$@"\n' > bin/ld; chmod +x bin/ld
	export FLAGS=-O1 PATH=$PWD/bin:$PATH
	kernel_link old
	plan < <(printf '%s\n' '[f]s/xfs/file.o(.text.helper)' '*(.text.xfs_read)' '[l]ib/clear_page.o(.text)' '*(.text.vfs_read)')
	HOTTEXT_PLAN=plan kernel_link vmlinux
	HOTTEXT_LD=ld.lld-19 HOTTEXT_PLAN=plan kernel_link named
	cmp vmlinux named
	order vmlinux _stext startup_64 xfs_read clear_page vfs_read schedule_tail
	[ "$(nm -n -S vmlinux | awk '$4 == "helper" { print $2; exit }')" = 0000000000000046 ]
	# Only once where the first link tells.
	rm links
	{ head -n 1 "$DATA/collect/chains.hot"; printf 'func %s\n' 'xfs_read 50 0' 'helper@fs/xfs/file.o 9 0' 'schedule 5 5'; } > p.hot
	HOTTEXT_PROFILE=p.hot kernel_link once
	"$HOTTEXT" verify --exact .hottext/plan once
	[ "$(wc -l < links)" -eq 2 ]
	"$HOTTEXT" ld -r -o vmlinux.o --whole-archive vmlinux.a
	HOTTEXT_LD=ld.lld-19 "$HOTTEXT" ld -r -o bin/vmlinux.o --whole-archive vmlinux.a
	cmp vmlinux.o bin/vmlinux.o
	readelf -SW vmlinux.o | grep -qF .text.helper..fs_xfs_file
	printf '/*\n * 0 functions in 0 sections placed, 6 sections dropped.\n */\n' | plan
	HOTTEXT_PLAN=plan run kernel_link vmlinux
	stops 1 "hottext: cannot read 'plan/symbols.order': No such file or directory"
	printf 'xfs_read\nclear_page\nvfs_read\n' > plan/symbols.order
	HOTTEXT_PLAN=plan kernel_link vmlinux
	order vmlinux _stext startup_64 xfs_read vfs_read schedule_tail
	find . -name '*hottext-*' > left
	[ ! -s left ]
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
	run find . -name '*hottext-*'
	[ -z "$output" ]
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
			[ -z "$(find . -name '*hottext-*')" ]
			ended=$((ended + 1))
		fi
		if grep interrupted err; then return 1; fi
	done
	echo "# $(cat n) calls, $ended ended while it planned" >&3
	[ $ended -gt 0 ]
}

@test "vmlinux is a copy of vmlinux.unstripped: one map serves both, by either name" {
	make_kernel
	kernel_link vmlinux.unstripped
	[ -e vmlinux.map ]
	[ ! -e vmlinux.unstripped.map ]
	objcopy --remove-section='.rel*' vmlinux.unstripped vmlinux
	printf 'task;xfs_read_[k];schedule_[k] 50\n' > stacks.folded
	exact() { "$HOTTEXT" optimize -v --machine generic-4k-32 "$1" stacks.folded -o plan 2> said && ! grep -q inferred said; }
	exact vmlinux
	exact vmlinux.unstripped
	# As Kbuild calls the map that it asks for itself.
	mv vmlinux.map vmlinux.unstripped.map
	exact vmlinux
	exact vmlinux.unstripped
	rm vmlinux.unstripped.map
	run exact vmlinux
	[ "$status" -ne 0 ]
}

@test "a module's function sections become one .text, what the profile saw first" {
	make_kernel
	echo 'SECTIONS { /DISCARD/ : { *(.discard) } __ksymtab 0 : { *(SORT(___ksymtab+*)) } }' > module.lds
	cat fs/file.o > a.o; cp kernel/core.o b.o
	"$HOTTEXT" ld -r -T module.lds -o merged-mod.ko a.o b.o
	readelf -SW merged-mod.ko | awk '/PROGBITS/ && /\.text\./ { for (i = 1; i < NF; i++) if ($i ~ /^\.text/) print $i }' > sections
	[ "$(cat sections)" = .text.unlikely ]
	[ "$(nm merged-mod.ko | awk '{ print $3 }' | sort)" = "$(ld -r -T module.lds -o plain.ko a.o b.o; nm plain.ko | awk '{ print $3 }' | sort)" ]
	order merged-mod.ko vfs_read schedule_tail
	# Dashes are Kbuild's underscores; another module's functions are no business of this one.
	mkdir plan
	{ head -n 1 "$DATA/collect/chains.hot"
	  printf 'func %s\n' 'schedule_tail@merged_mod.ko 5 0' 'vfs_read@merged_modx.ko 90 0'
	} > plan/profile.hot
	HOTTEXT_PLAN=plan "$HOTTEXT" ld -r -T module.lds -o merged-mod.ko a.o b.o
	order merged-mod.ko schedule_tail vfs_read
	rm plan/profile.hot
	HOTTEXT_PLAN=plan run "$HOTTEXT" ld -r -T module.lds -o merged-mod.ko a.o b.o
	stops 1 "hottext: cannot read 'plan/profile.hot': No such file or directory"
	[ ! -e merged-mod.ko ]
	find . -name '*hottext-*' > left
	[ ! -s left ]
	make_kernel 1
	ld -r -T module.lds -o plain.ko fs/file.o kernel/core.o
	"$HOTTEXT" ld -r -T module.lds -o ours.ko fs/file.o kernel/core.o
	cmp plain.ko ours.ko
}

@test "a device stays one, as output and as map" {
	mknod null c 1 3 2> why || skip "no device can be made here: $(cat why)"
	make_kernel
	plan <<< '*(.text.xfs_read)'
	ln -s null link
	for device in null link; do
		kernel_link $device
		HOTTEXT_PLAN=plan run kernel_link $device
		stops 0 "hottext: warning: cannot order '$device': it is no regular file"
	done
	ln -s null vmlinux.o
	"$HOTTEXT" ld -r -o vmlinux.o fs/file.o lib/memcpy.o
	echo 'SECTIONS { __ksymtab 0 : { *(SORT(___ksymtab+*)) } }' > module.lds
	ln -s null mod.ko
	"$HOTTEXT" ld -r -T module.lds -o mod.ko fs/file.o kernel/core.o
	[ -L link ] && [ -L vmlinux.o ] && [ -L mod.ko ]
	HOTTEXT_PLAN=plan run kernel_link vmlinux -Map=null
	stops 0 ""
	order vmlinux _stext xfs_read vfs_read
	rm vmlinux.o mod.ko
	"$HOTTEXT" ld -r -Map=null -o vmlinux.o fs/file.o fs/xfs/file.o
	"$HOTTEXT" ld -r -Map=null -T module.lds -o mod.ko fs/file.o kernel/core.o
	[ -c null ]
	nothing_left other
}

@test "a map goes where ld would write it: to stdout, into a folder, by the output's name" {
	make_kernel
	plan <<< '*(.text.xfs_read)'
	echo 'SECTIONS { __ksymtab 0 : { *(SORT(___ksymtab+*)) } }' > module.lds
	mkdir maps deep
	export HOTTEXT_PLAN=plan
	for way in -Map=- -M --print-map "-Map -"; do
		kernel_link vmlinux $way < /dev/null > said
		grep -q '^ \*(.text.xfs_read)' said
		order vmlinux _stext xfs_read vfs_read
		"$HOTTEXT" ld -r $way -o vmlinux.o fs/file.o fs/xfs/file.o > said
		grep -q '^ \.text\.xfs_read' said
	done
	unset HOTTEXT_PLAN
	"$HOTTEXT" ld -r -T module.lds -M -o mod.ko fs/file.o kernel/core.o > said
	grep -q '^ \.text\.vfs_read' said
	export HOTTEXT_PLAN=plan
	kernel_link deep/vmlinux -Map=maps
	kernel_link vmlinux -Map=maps/%
	kernel_link vmlinux -Map=%.by
	kernel_link vmlinux -Map=%
	[ "$(echo maps/* deep/* *.map *.by)" = "maps/vmlinux.map deep/vmlinux vmlinux.map vmlinux.by" ] || { ls -R; return 1; }
	grep -q '^ \*(.text.xfs_read)' maps/vmlinux.map
	[ ! -e vmlinux.hottext-map ]
}

@test "a folder with a % in its name, which ld would replace" {
	make_kernel
	kernel_link old
	mkdir a%2Fb
	printf 'task;xfs_read_[k];schedule_[k] 50\n' > stacks.folded
	export TMPDIR=$PWD/tmp
	HOTTEXT_PROFILE=stacks.folded run kernel_link a%2Fb/vmlinux
	[ "$status" -eq 1 ]
	[ "${lines[0]}" = "hottext: cannot write in '$TMPDIR': No such file or directory" ]
	mkdir tmp
	kernel_link a%2Fb/vmlinux
	cmp old a%2Fb/vmlinux
	cmp <(tail -n +2 old.map | sed s/old//) <(tail -n +2 a%2Fb/vmlinux.map | sed s,a%2Fb/vmlinux,,)
	HOTTEXT_PROFILE=stacks.folded kernel_link a%2Fb/vmlinux
	"$HOTTEXT" verify -q --exact a%2Fb/.hottext/plan a%2Fb/vmlinux
	"$HOTTEXT" ld -r -o a%2Fb/vmlinux.o fs/file.o fs/xfs/file.o
	[ -z "$(ls tmp)" ]
}

@test "a link in the output's place goes, so that a kernel of before is not taken for the new one" {
	make_kernel
	echo '	call missing' | object bad.o
	for what in vmlinux vmlinux.o; do
		echo before > kernel.before
		ln -sf kernel.before $what
		case $what in
		vmlinux) run kernel_link vmlinux bad.o ;;
		*) run "$HOTTEXT" ld -r -o vmlinux.o missing.o ;;
		esac
		[ "$status" -eq 1 ]
		[ ! -e $what ] && [ ! -L $what ]
		[ "$(cat kernel.before)" = before ]
		ln -sf kernel.before $what
		case $what in
		vmlinux) kernel_link vmlinux ;;
		*) "$HOTTEXT" ld -r -o vmlinux.o fs/file.o ;;
		esac
		[ -f $what ] && [ ! -L $what ]
		[ "$(cat kernel.before)" = before ]
	done
}

@test "the wrapper named as the real linker, by whatever name, is one line" {
	make_kernel
	ln -s "$HOTTEXT" hottext-ld
	mkdir bin
	printf '#!/bin/sh\nexec "%s" "$@"\n' "$PWD/hottext-ld" > bin/ld; chmod +x bin/ld
	cp "$HOTTEXT" bin/hottext-ld
	for ld in hottext-ld "$PWD/hottext-ld" bin/hottext-ld bin/ld; do
		said="hottext: '$ld' is this wrapper again: HOTTEXT_LD must name the real linker"
		PATH=$PWD:$PATH HOTTEXT_LD=$ld run timeout 20 ./hottext-ld --version
		stops 1 "$said"
		PATH=$PWD:$PATH HOTTEXT_LD=$ld run kernel_link vmlinux
		stops 1 "$said"
		PATH=$PWD:$PATH HOTTEXT_LD=$ld run timeout 20 ./hottext-ld -r -o vmlinux.o fs/file.o
		stops 1 "$said"
	done
	PATH=$PWD/bin:$PATH run timeout 20 ./hottext-ld --version
	stops 1 "hottext: 'ld' is this wrapper again: HOTTEXT_LD must name the real linker"
	PATH=$PWD:$PATH CROSS_COMPILE=hottext- run kernel_link vmlinux
	stops 1 "hottext: 'hottext-ld' is this wrapper again: HOTTEXT_LD must name the real linker"
	[ ! -e vmlinux ] && [ ! -e vmlinux.o ]
}

@test "the real linker's name may be several words, or hold a blank" {
	make_kernel
	kernel_link old
	mkdir "a tool"
	printf '#!/bin/sh\necho "$@" > args\nexec "$@"\n' > run; chmod +x run
	cp run "a tool/ld"
	sed -i 's/^exec.*/exec ld "$@"/' "a tool/ld"
	plan <<< '*(.text.xfs_read)'
	HOTTEXT_PLAN=plan kernel_link want
	for ld in "ld -O1" " ld  --no-demangle" "./run ld" "$PWD/a tool/ld"; do
		HOTTEXT_LD=$ld HOTTEXT_PLAN=plan kernel_link vmlinux
		cmp want vmlinux
	done
	CROSS_COMPILE="./run $(dirname "$(command -v ld)")/" HOTTEXT_PLAN=plan kernel_link vmlinux
	cmp want vmlinux
	grep -q "^/.*/ld .*--script" args
	[ "$(HOTTEXT_LD="ld -v" "$HOTTEXT" ld)" = "$(ld -v)" ]
	HOTTEXT_LD="no-such-ld -O1" run kernel_link vmlinux
	stops 1 "hottext: cannot run 'no-such-ld': No such file or directory"
	HOTTEXT_LD=" " run kernel_link vmlinux
	stops 1 "hottext: cannot run ' ': No such file or directory"
}

@test "a script of another program that defines _stext passes through" {
	make_kernel
	cat > bootp.lds <<-'L'
	ENTRY(_start)
	SECTIONS
	{
	  . = 0;
	  .text : {
	   _stext = .;
	   *(.start)
	   *(.text)
	   initrd_size = initrd_end - initrd_start;
	   _etext = .;
	  }
	}
	L
	boot() { "$@" --defsym initrd_start=0 --defsym initrd_end=9 -e 0 -T bootp.lds -o bootp lib/memcpy.o fs/file.o; }
	boot ld
	mv bootp want
	plan <<< '*(.text.xfs_read)'
	HOTTEXT_PLAN=plan run boot "$HOTTEXT" ld
	stops 0 ""
	cmp want bootp
	HOTTEXT_PROFILE=missing run boot "$HOTTEXT" ld
	stops 0 ""
	cmp want bootp
}

@test "the kernel's script is found in a response file, by -L, and as one of several" {
	make_kernel
	kernel_link old
	printf 'task;xfs_read_[k];schedule_[k] 50\n' > stacks.folded
	local s=$DATA/lds/x86-64-6.1.lds common="-z noexecstack --no-warn-rwx-segments --emit-relocs --build-id=sha1"
	local objects="--whole-archive vmlinux.a"
	export HOTTEXT_PLAN=$PWD/plan
	plan <<< '*(.text.xfs_read)'
	kernel_link want
	mkdir "scripts of it" empty "odd 'name"
	cp "$s" "scripts of it/k.lds"
	cp "$s" "odd 'name/k.lds"
	echo '/* nothing */' > more.lds
	printf '%s\n' "-o 'vmlinux' -T" " \"scripts of it/k.lds\"" > link.rsp
	"$HOTTEXT" ld $common @link.rsp $objects
	cmp want vmlinux
	printf '%s\n' "-o" 'vmlinux' "$common" '-T' "odd\\ \\'name/k.lds" '@inner.rsp' '@none' > link.rsp
	echo "$objects" > inner.rsp
	echo fs/file.o > @none
	run "$HOTTEXT" ld @link.rsp
	[[ "$output" == *"@none"* ]]
	sed -i '$d' link.rsp
	run "$HOTTEXT" ld @link.rsp
	stops 0 ""
	cmp want vmlinux
	for way in "-Lempty:-Lscripts of it:-Tk.lds" "-L:scripts of it:-T:k.lds" "--library-path=scripts of it:--script:k.lds" \
		"--library-path:scripts of it:-script=k.lds" "-T:scripts of it/k.lds:-T:more.lds" "-T:more.lds:--script=scripts of it/k.lds"; do
		rm -f vmlinux
		IFS=: read -ra args <<< "$way"
		"$HOTTEXT" ld $common "${args[@]}" -o vmlinux $objects
		cmp want vmlinux || { echo "$way"; return 1; }
	done
	# Where ld finds none, the wrapper does not.
	run "$HOTTEXT" ld $common -Tk.lds -L "scripts of it" -o vmlinux $objects
	[ "$status" -eq 1 ]
	# In one build, what a response file names is an input of the plan.
	unset HOTTEXT_PLAN
	HOTTEXT_PROFILE=stacks.folded "$HOTTEXT" ld @link.rsp
	grep -q '^file .* vmlinux.a$' .hottext/plan/inputs
	# A response file that names itself has no end.
	echo '-o other @own.rsp' > own.rsp
	run timeout 20 "$HOTTEXT" ld @own.rsp
	[ "$status" -eq 1 ]
}

@test "a script that can be read once only is the linker's" {
	make_kernel
	local common="-z noexecstack --no-warn-rwx-segments --emit-relocs --build-id=sha1 --whole-archive vmlinux.a"
	cp "$DATA/lds/x86-64-6.1.lds" k.lds
	ld $common -T k.lds -o want
	"$HOTTEXT" ld $common -T /dev/stdin -o vmlinux < <(cat k.lds)
	cmp want vmlinux
	plan <<< '*(.text.xfs_read)'
	HOTTEXT_PLAN=plan run "$HOTTEXT" ld $common -T <(cat k.lds) -o vmlinux
	stops 0 "hottext: warning: cannot order 'vmlinux': its linker script is no regular file"
	cmp want vmlinux
	echo 'SECTIONS { __ksymtab 0 : { *(SORT(___ksymtab+*)) } }' > module.lds
	ld -r -T module.lds -o want fs/file.o
	HOTTEXT_PROFILE=missing run "$HOTTEXT" ld -r -T <(cat module.lds) -o mod.ko fs/file.o
	stops 0 "hottext: warning: cannot order 'mod.ko': its linker script is no regular file"
	cmp want mod.ko
	# A file is one by whatever name.
	HOTTEXT_PLAN=plan "$HOTTEXT" ld $common -T /dev/stdin -o vmlinux < k.lds
	order vmlinux _stext xfs_read vfs_read
}

@test "a plan is set, and a kernel is linked without a kernel's script: a warning" {
	make_kernel
	echo 'SECTIONS { .text : { *(.text .text.*) } }' > other.lds
	plan <<< '*(.text.xfs_read)'
	for kernel in vmlinux vmlinux.unstripped .tmp_vmlinux1 .tmp_vmlinux.btf; do
		HOTTEXT_PLAN=plan run "$HOTTEXT" ld -e 0 -T other.lds -o $kernel fs/file.o
		stops 0 "hottext: warning: cannot order '$kernel': it is linked by no kernel's script"
	done
	HOTTEXT_PROFILE=p run "$HOTTEXT" ld -e 0 -o vmlinux fs/file.o
	stops 0 "hottext: warning: cannot order 'vmlinux': it is linked by no kernel's script"
	run "$HOTTEXT" ld -e 0 -T other.lds -o vmlinux fs/file.o
	stops 0 ""
	mkdir boot
	export HOTTEXT_PLAN=plan
	for link in "-e 0 -o boot/vmlinux" "-e 0 -o other" "-r -o vmlinux"; do
		run "$HOTTEXT" ld $link -T other.lds fs/file.o
		stops 0 ""
	done
}

@test "questions to the linker are no links" {
	make_kernel
	echo before > a.out
	echo before > vmlinux
	export HOTTEXT_PLAN=missing
	for question in --version --help --target-help -v -V; do
		ld -T "$DATA/lds/x86-64-6.1.lds" $question > want
		"$HOTTEXT" ld -T "$DATA/lds/x86-64-6.1.lds" $question > got
		cmp want got
	done
	"$HOTTEXT" ld -T "$DATA/lds/x86-64-6.1.lds" -o vmlinux --version > got
	[ "$(cat a.out vmlinux)" = "$(printf 'before\nbefore')" ]
	unset HOTTEXT_PLAN
	kernel_link vmlinux -v > got
	order vmlinux _stext startup_64 vfs_read xfs_read
}
