# SPDX-License-Identifier: GPL-3.0-or-later
# hottext kbuild on a small kernel tree: its Makefile notes how it was called, and links through $(LD) as Kbuild does.
bats_require_minimum_version 1.5.0
load kernel.bash

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	unset HOTTEXT_PLAN HOTTEXT_PROFILE HOTTEXT_LD CROSS_COMPILE LINK SCRIPT LLVM KBUILD_OUTPUT MAKEFLAGS MAKELEVEL
	mkdir bin
	cp "$HOTTEXT" bin/hottext
	ln -s hottext bin/hottext-ld
	ours=$PWD/bin/hottext-ld
	make_tree linux
}

# make_tree FOLDER: what every kernel tree has, and a kernel of six objects. TRACE: what make was told.
make_tree() {
	mkdir -p "$1/scripts"
	touch "$1/Kbuild" "$1/.config" "$1/scripts/link-vmlinux.sh"
	(cd "$1" && make_kernel)
	sed "s|@DATA@|$DATA|" > "$1/Makefile" <<'MAKEFILE'
VERSION = 6
PATCHLEVEL = 1
SUBLEVEL = 7
LD = $(CROSS_COMPILE)ld
O ?= .
all: $(O)/vmlinux
$(O)/vmlinux: trace
	@mkdir -p $(O)
	@echo linking >> $(O)/links
	@$(LD) --no-warn-rwx-segments -z noexecstack --emit-relocs --build-id=sha1 \
		--script=@DATA@/lds/x86-64-6.1.lds -o $@ --whole-archive vmlinux.a --no-whole-archive
trace olddefconfig modules_install bzImage:
	@{ echo "LD=$(LD)"; echo "CFLAGS_KERNEL=$(CFLAGS_KERNEL)"; echo "CFLAGS_MODULE=$(CFLAGS_MODULE)"; \
	   echo "ARCH=$(ARCH)"; echo "plan=$$HOTTEXT_PLAN profile=$$HOTTEXT_PROFILE ld=$$HOTTEXT_LD goals=$(MAKECMDGOALS)"; } > trace
fails:
	@exit 5
.PHONY: all trace olddefconfig modules_install bzImage
MAKEFILE
}

# told LINE: make was told just so.
told() { grep -qxF -- "$1" linux/trace || { cat linux/trace; return 1; }; }

make_plan() {
	mkdir -p plan
	printf '%s\n' '*(.text.xfs_read)' '*(.text.vfs_read)' > plan/hottext.ld
	touch plan/plan.json
}

@test "the first of two builds: function sections, the wrapper by its full name, and what comes next" {
	HOTTEXT_PLAN=/elsewhere run -0 --separate-stderr bin/hottext kbuild -C linux
	told "LD=$ours"
	told CFLAGS_KERNEL=-ffunction-sections
	told CFLAGS_MODULE=
	told "plan= profile= ld= goals="
	[ -e linux/vmlinux ] && [ -e linux/vmlinux.map ]
	[[ $stderr == *"Linux 6.1.7 in 'linux'"* ]]
	[[ $stderr == *"make -C linux LD=$ours CFLAGS_KERNEL=-ffunction-sections"* ]]
	[[ $stderr == *"hottext optimize linux/vmlinux PROFILE -o DIR"* ]]
	run -0 --separate-stderr bin/hottext kbuild -q -C linux
	[ -z "$stderr" ]
}

@test "the second build: linked again by the plan, once" {
	make_plan
	bin/hottext kbuild -q -C linux
	order linux/vmlinux vfs_read xfs_read
	run -0 --separate-stderr bin/hottext kbuild -C linux --plan plan
	[[ $stderr == *"'linux/vmlinux' goes away: it may have been linked otherwise"* ]]
	[[ $stderr == *"check it: hottext verify plan linux/vmlinux"* ]]
	told "plan=$PWD/plan profile= ld= goals="
	order linux/vmlinux xfs_read vfs_read
	# The same plan again: nothing is removed. Another one: it is.
	run -0 --separate-stderr bin/hottext kbuild -C linux --plan plan
	[[ $stderr != *"goes away"* ]]
	printf '%s\n' '*(.text.vfs_read)' '*(.text.schedule_tail)' '*(.text.xfs_read)' > plan/hottext.ld
	touch linux/vmlinux.unstripped
	run -0 --separate-stderr bin/hottext kbuild -C linux --plan plan
	[[ $stderr == *"goes away"* ]]
	[ ! -e linux/vmlinux.unstripped ]
	order linux/vmlinux vfs_read schedule_tail xfs_read
	# And back to link order.
	bin/hottext kbuild -q -C linux
	order linux/vmlinux vfs_read xfs_read schedule_tail
}

@test "one build with a profile" {
	printf 'hottext-profile 1\nsource x - - - - 9 9 9 0 0\nfunc xfs_read 9 0\n' > p.hot
	run -0 --separate-stderr bin/hottext kbuild -C linux --profile p.hot
	told "plan= profile=$PWD/p.hot ld= goals="
	[[ $stderr == *"its plan is in 'linux/.hottext/plan'"* ]]
	[ -s linux/.hottext/plan/hottext.ld ]
	order linux/vmlinux xfs_read vfs_read
	# Its plan is made again when it is not whole.
	rm linux/.hottext/plan/hottext.ld
	bin/hottext kbuild -q -C linux --profile p.hot
	order linux/vmlinux xfs_read vfs_read
}

@test "a build that stops keeps no vmlinux, and the next one links" {
	make_plan
	bin/hottext kbuild -q -C linux
	echo '*(.text.nothing_here)' > plan/hottext.ld
	run ! bin/hottext kbuild -q -C linux --plan plan
	[ ! -e linux/vmlinux ]
	make_plan
	bin/hottext kbuild -q -C linux --plan plan
	order linux/vmlinux xfs_read vfs_read
}

@test "make's words: O=, a target, variables, jobs, all at their places" {
	mkdir out && touch out/.config
	bin/hottext kbuild -q -C linux -- O="$PWD/out" ARCH=x86 -j2
	told ARCH=x86
	[ -e out/vmlinux ] && [ ! -e linux/vmlinux ]
	[ "$(head -n 1 out/.hottext-kbuild)" = "link order by ld" ]
	grep -qE '^vmlinux [0-9]+ [0-9]+\.[0-9]{9}$' out/.hottext-kbuild
	bin/hottext kbuild -q -C linux -- O=../out2 olddefconfig
	told "plan= profile= ld= goals=olddefconfig"
	[ ! -e out2 ]
	KBUILD_OUTPUT=$PWD/out run -0 bin/hottext kbuild -n -C linux --modules
	[[ $output == *"CFLAGS_MODULE=-ffunction-sections" ]]
}

@test "flags of one's own stay beside ours" {
	run -0 bin/hottext kbuild -n -C linux --modules -- 'CFLAGS_KERNEL=-O3 -fno-x' CFLAGS_MODULE=-ffunction-sections V=1
	[ "$output" = "make -C linux LD=$ours CFLAGS_KERNEL='-O3 -fno-x -ffunction-sections' CFLAGS_MODULE=-ffunction-sections V=1" ]
	run -0 bin/hottext kbuild -n -C linux -- CFLAGS_MODULE=-g
	[ "$output" = "make -C linux LD=$ours CFLAGS_KERNEL=-ffunction-sections CFLAGS_MODULE=-g" ]
}

@test "LLVM=1 and LD= choose the linker behind the wrapper, as Kbuild would" {
	run -0 bin/hottext kbuild -n -C linux -- LLVM=1
	[[ $output == "HOTTEXT_LD=ld.lld make "* ]]
	run -0 bin/hottext kbuild -n -C linux -- LLVM=-19
	[[ $output == "HOTTEXT_LD=ld.lld-19 make "* ]]
	LLVM=/opt/llvm/ run -0 bin/hottext kbuild -n -C linux
	[[ $output == "HOTTEXT_LD=/opt/llvm/ld.lld make "* ]]
	for ld in hottext-ld "$ours" ../bin/hottext-ld; do	# which would run itself
		run -0 bin/hottext kbuild -n -C linux -- LD="$ld"
		[ "$output" = "make -C linux LD=$ours CFLAGS_KERNEL=-ffunction-sections" ]
		run -0 bin/hottext kbuild -n -C linux -- LLVM=1 LD="$ld"
		[[ $output == "HOTTEXT_LD=ld.lld make "* ]]
	done
	run -0 bin/hottext kbuild -n -C linux -- LD=ld.bfd
	[ "$output" = "HOTTEXT_LD=ld.bfd make -C linux LD=$ours CFLAGS_KERNEL=-ffunction-sections" ]
}

@test "the dry run prints what it would do and does nothing" {
	make_plan
	bin/hottext kbuild -q -C linux
	run -0 --separate-stderr bin/hottext kbuild -n -C linux --plan plan -- -j4
	[ "${lines[0]}" = "rm -f linux/vmlinux linux/vmlinux.unstripped" ]
	[ "${lines[1]}" = "HOTTEXT_PLAN=$PWD/plan make -C linux LD=$ours CFLAGS_KERNEL=-ffunction-sections -j4" ]
	[ -e linux/vmlinux ] && [ -z "$stderr" ]
	order linux/vmlinux vfs_read xfs_read
}

@test "a build folder stands for its tree" {
	mkdir out && touch out/.config
	ln -s ../linux out/source
	printf 'all:\n\t@$(MAKE) --no-print-directory -C ../linux O=%s\n' "$PWD/out" > out/Makefile
	bin/hottext kbuild -q -C out
	[ -e out/vmlinux ] && [ -e out/.hottext-kbuild ]
}

@test "targets that link no kernel leave the kernel alone" {
	make_plan
	bin/hottext kbuild -q -C linux
	bin/hottext kbuild -q -C linux --plan plan -- modules_install
	[ -e linux/vmlinux ]
	[ "$(head -n 1 linux/.hottext-kbuild)" = "link order by ld" ]
	bin/hottext kbuild -q -C linux --plan plan -- bzImage
	[ ! -e linux/vmlinux ]
}

# A kernel in link order and a module of it, then words for make with a plan: which have them removed?
@test "words that have make link no kernel: modules of elsewhere, single files, dry runs" {
	make_plan
	bin/hottext kbuild -q -C linux
	touch linux/a.ko
	local spared=('M=/tmp/x' 'M=/tmp/x modules' 'KBUILD_EXTMOD=/tmp/x modules' fs/file.o fs/ fs/file.i fs/file.s a.ko fs/file.lst -n
		-kn --dry-run --just-print -q --question -t --touch --help 'clean' 'mrproper' 'help' 'htmldocs' 'checkstack'
		'-j4 -n bzImage' '-o vmlinux -n' vmlinux.o defconfig kvm_guest.config savedefconfig modules_prepare tags
		arch/x86/boot/dts/a.dtb) removed=('' 'M=' bzImage modules 'tinyconfig all' out/vmlinux arch/arm64/boot/Image
		'-j 4 -k' '-j4 --file Makefile' '-f Makefile' '-o notes' --trace -Otarget deb-pkg)
	for words in "${spared[@]}"; do
		# shellcheck disable=SC2086
		run -0 bin/hottext kbuild -n -C linux --modules --plan plan -- $words
		[ "${#lines[@]}" -eq 1 ] || { echo "removed by: $words"; return 1; }
	done
	for words in "${removed[@]}"; do
		# shellcheck disable=SC2086
		run -0 bin/hottext kbuild -n -C linux --modules --plan plan -- $words
		[ "${#lines[@]}" -eq 3 ] || { echo "not removed by: $words"; return 1; }
		[ "${lines[0]}" = "rm -f linux/vmlinux linux/vmlinux.unstripped" ]
		[ "${lines[1]}" = "find linux -type f -name '*.ko' -delete" ]
	done
	KBUILD_EXTMOD=/tmp/x run -0 bin/hottext kbuild -n -C linux --plan plan
	[ "${#lines[@]}" -eq 1 ]
	# Nor is a note written where none may be.
	bin/hottext kbuild -q -C linux --modules --plan plan -- M=/tmp/x
	[ -e linux/a.ko ] && [ "$(head -n 1 linux/.hottext-kbuild)" = "link order by ld" ]
}

# keeps WORD... and relinks WORD...: whether kbuild, given these, has the kernel linked again.
keeps() { run -0 bin/hottext kbuild -n -C linux "$@"; [ "${#lines[@]}" -eq 1 ] || { echo "$output"; return 1; }; }
relinks() { run -0 bin/hottext kbuild -n -C linux "$@"; [[ ${lines[0]} == "rm -f linux/vmlinux"* ]] || { echo "$output"; return 1; }; }

@test "all that decides the link has the kernel linked again: files of the plan, the linker, another's link" {
	make_plan
	echo 1 > plan/symbols.order
	echo 'hottext-profile 1' > plan/profile.hot
	bin/hottext kbuild -q -C linux --plan plan
	keeps --plan plan
	echo 2 > plan/profile.hot
	keeps --plan plan
	echo 2 > plan/symbols.order
	relinks --plan plan
	echo 1 > plan/symbols.order
	keeps --plan plan -- LD=ld
	relinks --plan plan -- LD=ld.lld
	relinks --plan plan -- LLVM=1
	relinks --plan plan -- CROSS_COMPILE=arm-linux-
	HOTTEXT_LD=ld.gold relinks --plan plan
	relinks --plan plan --modules
	bin/hottext kbuild -q -C linux --plan plan --modules
	keeps --plan plan --modules
	echo 3 > plan/profile.hot
	touch linux/a.ko
	relinks --plan plan --modules
	[ "${lines[1]}" = "find linux -type f -name '*.ko' -delete" ]
	bin/hottext kbuild -q -C linux --plan plan --modules
	[ ! -e linux/a.ko ]
	# Linked by hand in between, without the plan.
	make -C linux vmlinux LD="$ours" > out
	relinks --plan plan --modules
	run -0 --separate-stderr bin/hottext kbuild -C linux --plan plan --modules
	[[ $stderr == *"'linux/vmlinux' goes away"* ]]
	order linux/vmlinux xfs_read vfs_read
	keeps --plan plan --modules
	rm linux/vmlinux
	keeps --plan plan --modules
}

@test "what vmlinux is stripped from is removed also where vmlinux is missing, and modules with it" {
	# As from 6.15 on: vmlinux <- vmlinux.unstripped <- vmlinux.a.
	sed -i 's|^$(O)/vmlinux: trace|$(O)/vmlinux: $(O)/vmlinux.unstripped\n\tcp $< $@\n$(O)/vmlinux.unstripped: vmlinux.a|' linux/Makefile
	make_plan
	bin/hottext kbuild -q -C linux --plan plan --modules
	order linux/vmlinux xfs_read vfs_read
	rm linux/vmlinux
	touch linux/a.ko
	printf '%s\n' '*(.text.vfs_read)' '*(.text.schedule_tail)' '*(.text.xfs_read)' > plan/hottext.ld
	run -0 --separate-stderr bin/hottext kbuild -C linux --plan plan --modules
	[[ $stderr == *"the .ko files in 'linux' go away: they may have been linked otherwise"* ]]
	order linux/vmlinux vfs_read schedule_tail xfs_read
	[ ! -e linux/a.ko ]
	# Nothing linked, but modules of a plan before.
	rm linux/vmlinux linux/vmlinux.unstripped
	touch linux/a.ko
	make_plan
	bin/hottext kbuild -q -C linux --plan plan --modules
	[ ! -e linux/a.ko ]
	order linux/vmlinux xfs_read vfs_read
}

@test "with --modules the modules are linked again, too" {
	make_plan
	bin/hottext kbuild -q --modules -C linux
	mkdir linux/fs/m && touch linux/fs/m/a.ko linux/fs/m/a.o
	bin/hottext kbuild -q -C linux --modules --plan plan
	[ ! -e linux/fs/m/a.ko ] && [ -e linux/fs/m/a.o ]
}

@test "make's exit status is passed on" {
	run -2 bin/hottext kbuild -q -C linux -- fails
	[ "$status" -eq 2 ]
	cat > bin/make <<'SH'
#!/bin/sh
exit 42
SH
	chmod +x bin/make
	PATH=$PWD/bin:$PATH run -42 bin/hottext kbuild -q -C linux
}

@test "what cannot work is refused before make runs" {
	mkdir empty
	run -1 bin/hottext kbuild -C empty
	[ "$output" = "hottext: 'empty' is no kernel tree: no Kbuild, or no scripts/link-vmlinux.sh" ]
	run -1 bin/hottext kbuild -C /missing
	[ "$output" = "hottext: '/missing' is no kernel tree: no Kbuild, or no scripts/link-vmlinux.sh" ]
	run -1 bin/hottext kbuild -C linux -- O="$PWD/empty"
	[ "$output" = "hottext: '$PWD/empty' is not configured: no .config" ]
	run -1 bin/hottext kbuild -C linux --plan missing
	[ "$output" = "hottext: cannot read 'missing': No such file or directory" ]
	run -1 bin/hottext kbuild -C linux --plan empty
	[ "$output" = "hottext: cannot read '$PWD/empty/hottext.ld': No such file or directory" ]
	: > empty/hottext.ld
	run -1 bin/hottext kbuild -C linux --plan empty
	[ "$output" = "hottext: '$PWD/empty/hottext.ld' is no hottext fragment: it names no section" ]
	run -1 bin/hottext kbuild -C linux --profile missing.hot
	[ "$output" = "hottext: cannot read 'missing.hot': No such file or directory" ]
	echo > linux/Makefile
	run -1 bin/hottext kbuild -C linux
	[ "$output" = "hottext: 'linux' is no kernel tree: no version in its Makefile" ]
	[ ! -e linux/trace ] && [ ! -e linux/.hottext-kbuild ]
}

# refuses_profile FILE MESSAGE: before make runs.
refuses_profile() {
	run -1 bin/hottext kbuild -C linux --profile "$1"
	[ "$output" = "hottext: $2" ] || { echo "$output"; return 1; }
	[ ! -e linux/trace ] && [ ! -e linux/.hottext-kbuild ]
}

@test "a profile that the link could not use is refused before make runs" {
	: > empty
	refuses_profile empty "cannot read '$PWD/empty': the file is empty"
	refuses_profile bin/hottext "'$PWD/bin/hottext' is an ELF file, not a profile"
	printf 'hottext-profile 1\nsource x - - - - 9 0 0 0 0\n' > none.hot
	refuses_profile none.hot "cannot use '$PWD/none.hot': it has no kernel samples"
	printf 'hottext-profile 1\nfunc xfs_read x 0\n' > broken.hot
	run -1 bin/hottext kbuild -C linux --profile broken.hot
	[ ! -e linux/trace ]
	# Addresses of the kernel before are not those of the one that is linked.
	local trace
	zstd -dqc "$BATS_TEST_DIRNAME/../samples/linux-6.1-x86_64/perf.data.zst" > perf.data
	for trace in "$PWD/perf.data" "$BATS_TEST_DIRNAME/corpus/fetch/end"; do
		trace=$(realpath "$trace")
		refuses_profile "$trace" "cannot use '$trace': it holds addresses of the kernel that it was taken on; give what \
'hottext collect --vmlinux OLD -o old.hot $trace' makes of it"
	done
}

@test "a plan for another architecture than the tree's is refused before make runs" {
	make_plan
	echo '{"vmlinux": {"arch": "x86_64"}}' > plan/plan.json
	printf '%s\n' CONFIG_64BIT=y CONFIG_ARM64=y > linux/.config
	run -1 bin/hottext kbuild -C linux --plan plan
	[ "$output" = "hottext: cannot use '$PWD/plan': it is for x86_64, 'linux' is configured for arm64" ]
	[ ! -e linux/trace ]
	for config in CONFIG_X86_64=y '# CONFIG_ARM64=y' CONFIG_ARM64=yes NO_CONFIG_ARM64=y CONFIG_OF_ANOTHER=y; do
		echo "$config" > linux/.config
		bin/hottext kbuild -n -C linux --plan plan
	done
}

@test "words for make in front of '--' are make's, too; the '--' is not" {
	local make="make -C linux LD=$ours CFLAGS_KERNEL=-ffunction-sections"
	run -0 bin/hottext kbuild -n -C linux bzImage -- -j8 V=1
	[ "$output" = "$make bzImage -j8 V=1" ]
	run -0 bin/hottext kbuild -n -C linux bzImage --
	[ "$output" = "$make bzImage" ]
	run -0 bin/hottext kbuild -n -C linux -- bzImage -j8
	[ "$output" = "$make bzImage -j8" ]
}

@test "no wrapper beside the program, or one that make could not name" {
	rm bin/hottext-ld
	run -1 bin/hottext kbuild -C linux
	[ "$output" = "hottext: cannot run '$ours': not there" ]
	mkdir 'a b' && cp bin/hottext 'a b/' && ln -s hottext 'a b/hottext-ld'
	run -1 'a b/hottext' kbuild -C linux
	[ "$output" = "hottext: cannot use '$PWD/a b/hottext-ld': make and its shell take no ' ' in LD" ]
	for c in '$' "'" '"' '(' '&' ';'; do
		mkdir "a${c}b" && cp 'a b/hottext' "a${c}b/" && ln -s hottext "a${c}b/hottext-ld"
		run -1 "a${c}b/hottext" kbuild -C linux
		[ "$output" = "hottext: cannot use '$PWD/a${c}b/hottext-ld': make and its shell take no '$c' in LD" ]
	done
}

@test "what cannot be removed stops it before make runs" {
	mkdir linux/vmlinux
	run -1 bin/hottext kbuild -q -C linux
	[ "$output" = "hottext: cannot remove 'linux/vmlinux': Is a directory" ]
	[ ! -e linux/trace ]
}

@test "usage" {
	run -2 bin/hottext kbuild --plan a --profile b
	[ "$output" = "hottext: kbuild: give either --plan or --profile; try 'hottext kbuild --help'" ]
	run -2 bin/hottext kbuild -C linux -- -C elsewhere
	[ "$output" = "hottext: kbuild: give the kernel tree before '--', with -C; try 'hottext kbuild --help'" ]
	run -2 bin/hottext kbuild --unknown
	[ "$output" = "hottext: kbuild: unknown option '--unknown'; try 'hottext kbuild --help'" ]
}
