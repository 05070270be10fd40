# SPDX-License-Identifier: GPL-3.0-or-later
# The linker wrapper as a linker: what it hands on as it is, how it reads the link line, what failures leave.
load kernel.bash
load ld.bash

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

@test "lld: a kernel without function sections comes out byte for byte" {
	need_lld
	make_kernel 1
	export FLAGS=-O1 HOTTEXT_LD=ld.lld-19
	LINK=ld.lld-19 kernel_link plain
	kernel_link ours
	cmp plain ours
	[ ! -e ours.map ]
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
