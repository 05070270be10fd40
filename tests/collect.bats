#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# hottext collect: recognising, reading, merging, refusing.

load collect.bash

data=tests/data/collect

@test "perf script callchains: calls, cuts, modules, successions" {
	collect_to out --kallsyms $data/kallsyms $data/chains.perf-script
	diff -u $data/chains.hot "$dir/out"
	diff - "$dir/out.err" <<-END
	hottext: '$data/chains.perf-script': 1 samples of event 'page-faults' left out (--event page-faults takes them)
	hottext: 5 samples, 4 kernel, 2 resolved, 2 unresolved, 0 lost
	END
}

@test "perf script without symbols keeps the text's names" {
	collect_to out $data/chains.perf-script
	grep -q '^func helper 1 0$' "$dir/out"
	grep -q '^func ext4_readpage@ext4.ko 1 0$' "$dir/out"
}

@test "perf script without symbols: high addresses are the kernel's, but not behind a user's frames" {
	collect_to out --kallsyms $data/kallsyms $data/rubbish.perf-script
	[ "$(cat "$dir/out.err")" = "hottext: 2 samples, 1 kernel, 1 resolved, 0 unresolved, 0 lost" ]
	grep -q '^call ksys_read 0x4 vfs_read 1$' "$dir/out"
}

@test "perf script branch stacks, by address and by symbol" {
	collect_to out --kallsyms $data/kallsyms $data/branches.perf-script
	diff -u $data/branches.hot "$dir/out"
}

@test "perf script: --event picks one event" {
	collect_to out --event page-faults $data/chains.perf-script
	grep -q '^source perf-script page-faults - - - 1 1 1 0 0$' "$dir/out"
	refuses "cannot read '$data/chains.perf-script': no event 'cycles' in it, but 'cpu-clock'" \
		--event cycles $data/chains.perf-script
}

@test "a real recording gives the same profile natively and as perf script's text" {
	sample=samples/linux-6.1-x86_64
	command -v perf >/dev/null || skip "no perf"
	xz -dc $sample/vmlinux.xz >"$dir/vmlinux" || skip "no sample"
	zstd -dqc $sample/perf.data.zst >"$dir/perf.data"
	perf script --ns -i "$dir/perf.data" -k "$dir/vmlinux" >"$dir/text" 2>/dev/null || skip "perf cannot read it"
	collect_to native --vmlinux "$dir/vmlinux" "$dir/perf.data"
	collect_to script --vmlinux "$dir/vmlinux" "$dir/text"
	diff <(grep -v ^source "$dir/native") <(grep -v ^source "$dir/script")
	grep -q "^hottext: $(grep -c cpu-clock "$dir/text") samples, .* 0 unresolved, 0 lost$" "$dir/script.err"
	cmp "$dir/script.err" "$dir/native.err"
	nm "$dir/vmlinux" >"$dir/System.map"	# inner labels, aliases, no sizes
	perf script --ns -i "$dir/perf.data" --kallsyms="$dir/System.map" >"$dir/text" 2>/dev/null
	collect_to names --vmlinux "$dir/vmlinux" "$dir/text"
	cmp "$dir/script" "$dir/names"
}

@test "folded stacks with marks" {
	collect_to out $data/marked.folded
	diff -u $data/marked.hot "$dir/out"
	[ "$(cat "$dir/out.err")" = "hottext: 16 samples, 13 kernel, 13 resolved, 0 unresolved, 0 lost" ]
}

@test "folded stacks: mappings of programs are marked like the kernel, inlined functions have no place" {
	printf '%s\n' 'app;main;clock_gettime;[[vdso]]_[k] 100' 'app;main;clock_gettime;__vdso_clock_gettime_[k] 50' \
		'app;main;[[heap]]_[k];read;memcpy 7' 'dd;ksys_read_[k];vfs_read_[k];rw_verify_area_[i] 12' \
		'dd;ksys_read_[k];[[kernel.kallsyms]]_[k] 3' > "$dir/in"
	collect_to out "$dir/in"
	[ "$(cat "$dir/out.err")" = "hottext: 172 samples, 15 kernel, 12 resolved, 3 unresolved, 0 lost" ]
	diff - <(grep '^func\|^call' "$dir/out") <<-END
	func vfs_read 12 0
	call ksys_read - vfs_read 12
	END
}

@test "folded stacks without marks begin the kernel at its entries, and say so" {
	collect_to out $data/unmarked.folded
	grep -q "no frame is marked _\[k\]; the kernel is taken to begin at its entries" "$dir/out.err"
	grep -q '^func vfs_read 12 0$' "$dir/out"
	[ "$(grep -c memcpy "$dir/out")" -eq 0 ]
	collect_to quiet -q $data/unmarked.folded
	[ ! -s "$dir/quiet.err" ]
}

@test "bpftrace maps: the kernel's stack is taken, what is cut is refused" {
	collect_to out $data/stacks.bpftrace
	diff -u $data/stacks.bpftrace.hot "$dir/out"
	[ "$(cat "$dir/out.err")" = "hottext: 17 samples, 14 kernel, 14 resolved, 0 unresolved, 0 lost" ]
	head -c -5 $data/stacks.bpftrace >"$dir/cut"
	refuses "cannot read '$dir/cut': its last stack is cut" "$dir/cut"
	collect_to out --force "$dir/cut"
	grep -q "warning: '$dir/cut': 1 stacks left out, they are cut or have no count" "$dir/out.err"
	grep -q "15 samples, 12 kernel" "$dir/out.err"
}

@test "BOLT fdata: branches, and samples after no_lbr" {
	collect_to out --kallsyms $data/kallsyms $data/branches.fdata
	diff -u $data/branches.fdata.hot "$dir/out"
	printf 'no_lbr cycles:k:\n1 vfs_read 3c 10\n' >"$dir/samples"
	collect_to out "$dir/samples"
	grep -q '^source fdata cycles%3ak - - - 10 10 10 0 0$' "$dir/out"
	grep -q '^touch vfs_read 0x30 10$' "$dir/out"
	echo "1 vfs_read zz 10" >>"$dir/samples"
	refuses "cannot read '$dir/samples': line 3 is no record of fdata" "$dir/samples"
	collect_to out --force "$dir/samples"
	grep -q "warning: '$dir/samples': 1 lines left out" "$dir/out.err"
}

@test "AutoFDO text" {
	collect_to out --kallsyms $data/kallsyms $data/sample.autofdo
	diff -u $data/sample.autofdo.hot "$dir/out"
	{ cat $data/sample.autofdo; echo " x: 1"; } >"$dir/bad"
	refuses "cannot read '$dir/bad': line 11 is none of a sample profile" "$dir/bad"
}

@test "concatenation, any order and zstd are a merge" {
	collect_to a $data/marked.folded
	collect_to b --kallsyms $data/kallsyms $data/chains.perf-script
	collect_to ab "$dir/a" "$dir/b"
	collect_to ba "$dir/b" "$dir/a"
	cmp "$dir/ab" "$dir/ba"
	cat "$dir/a" "$dir/b" | "$HOTTEXT" collect - >"$dir/cat"
	cmp "$dir/ab" "$dir/cat"
	cat "$dir/a" "$dir/b" | LC_ALL=C sort | "$HOTTEXT" collect - >"$dir/sorted"
	cmp "$dir/ab" "$dir/sorted"
	{ zstd -qc "$dir/a"; cat "$dir/b"; } | "$HOTTEXT" collect - >"$dir/zstd"
	cmp "$dir/ab" "$dir/zstd"
}

# The pipes of doc/fleet.md, on six hosts.
fleet() {
	mkdir "$dir/profiles"
	for i in 1 2 3 4 5 6; do
		collect_to one --kallsyms $data/kallsyms $data/chains.perf-script $data/marked.folded
		sed "s/^source perf-script cpu-clock -/source perf-script cpu-clock host$i/; /^touch\|^call/s/ 1\$/ $i/" "$dir/one" |
			grep -v '^path\|^next' >"$dir/profiles/$i.hot"
		grep '^path\|^next' "$dir/one" >>"$dir/profiles/$i.hot"
	done
	collect_to all "$dir"/profiles/*.hot
	mkdir "$dir/bin"
	ln -s "$(realpath "$HOTTEXT")" "$dir/bin/hottext"
	PATH=$dir/bin:$PATH
}

@test "a fleet, with GNU parallel" {
	command -v parallel >/dev/null || skip "no parallel"
	fleet
	find "$dir/profiles" -name '*.hot*' -print0 | sort -z |
		HOME=$dir parallel -0 -N 2 hottext collect -q 2>"$dir/err" | hottext collect -o "$dir/fleet.hot" -
	cmp "$dir/all" "$dir/fleet.hot"
}

@test "a fleet, with xargs" {
	fleet
	cd "$dir"
	find profiles -name '*.hot*' -print0 | sort -z |
		xargs -0 -n 2 -P 4 sh -c 'hottext collect -q -o "part.$$" "$@"' sh
	hottext collect -o fleet.hot part.*
	[ "$(ls part.* | wc -l)" -eq 3 ]
	cmp all fleet.hot
}

@test "a fleet, as a mapper, a combiner and a reducer" {
	fleet
	cd "$dir"
	for half in '[123]' '[456]'; do
		ls profiles/$half.hot |
			sh -c "xargs cat | hottext collect -q - | sed 's/^/fleet\t/'" | sort |
			sh -c "cut -f 2- | hottext collect -q - | sed 's/^/fleet\t/'"
	done | sort | sh -c "cut -f 2- | hottext collect -" >fleet.hot
	cmp all fleet.hot
}

@test "sources of equal keys add up" {
	collect_to a $data/marked.folded
	collect_to twice "$dir/a" "$dir/a"
	grep -q '^source folded - - - - 32 26 26 0 0$' "$dir/twice"
	[ "$(grep -c '^source' "$dir/twice")" -eq 1 ]
}

@test "counts stop at 2^64 - 1, in any order and any kind of text" {
	most=18446744073709551615
	half=9223372036854775808
	{ echo "next 43ad24cf9812dc7c 43ad25cf9812de2f $most"; echo "next 43ad24cf9812dc7c 43ad25cf9812de2f 2"; } >"$dir/next"
	printf 'path 43ad24cf9812dc7c syscall a 1 a b\npath 43ad25cf9812de2f syscall a 1 a c\n' >"$dir/path"
	cat "$dir/next" "$dir/path" | "$HOTTEXT" collect -q - >"$dir/a"
	cat "$dir/path" "$dir/next" | "$HOTTEXT" collect -q - >"$dir/b"
	cmp "$dir/a" "$dir/b"
	grep -qx "next 43ad24cf9812dc7c 43ad25cf9812de2f $most" "$dir/a"
	cat "$dir/next" | sed "s/ [0-9]*$/ $half/" | "$HOTTEXT" collect - 2>&1 >/dev/null | grep -q " $most successions dropped"
	for i in 1 2 3; do echo "a_[k];b_[k] $half"; done >"$dir/folded"
	printf "@[\n    b+1\n    do_syscall_64+9\n]: $half\n%.0s" 1 2 3 >"$dir/bpftrace"
	printf "1 b 3c 1 c 0 0 $half\n%.0s" 1 2 3 >"$dir/fdata"
	printf "b:$half:1\n 1: 1\n%.0s" 1 2 3 >"$dir/autofdo"
	printf "$half b 1.0\n%.0s" 1 2 3 >"$dir/readprofile"
	for kind in folded bpftrace fdata autofdo readprofile; do
		collect_to out "$dir/$kind"
		grep -q "^source $kind .* $most $most $most 0 0$" "$dir/out"
		grep -q "^func b $most " "$dir/out"
	done
	sed 's/_\[k\]/x/g' "$dir/folded" >"$dir/user"
	collect_to out "$dir/user"
	grep -q "^source folded .* $most 0 0 0 0$" "$dir/out"
}

@test "--normalize: each host weighs as the busiest does; sources keep their counts" {
	for h in alpha:10 beta:1000; do
		printf 'hottext-profile 1\nsource perf.data cycles %s - - %s %s %s 0 0\nfunc on_%s %s 0\n' \
			"${h%:*}" "${h#*:}" "${h#*:}" "${h#*:}" "${h%:*}" "${h#*:}" >"$dir/${h%:*}"
	done
	collect_to out --normalize "$dir/alpha" "$dir/beta" "$dir/alpha"
	grep -q '^func on_alpha 1000 0$' "$dir/out"	# two inputs of one host are one host
	grep -q '^func on_beta 1000 0$' "$dir/out"
	grep -q '^source perf.data cycles alpha - - 20 20 20 0 0$' "$dir/out"
	collect_to both "$dir/alpha" "$dir/beta"
	sed -i 's/alpha/gamma/' "$dir/alpha"
	collect_to out --normalize "$dir/both" "$dir/alpha"	# merged before: two shares, 505 each
	grep -q '^func on_beta 1000 0$' "$dir/out"
	grep -q '^func on_gamma 505 0$' "$dir/out"
	refuses "cannot normalize 'standard input': it would be read twice" --normalize - </dev/null
}

@test "the same run twice gives the same bytes" {
	collect_to a $data/chains.perf-script
	collect_to b $data/chains.perf-script
	cmp "$dir/a" "$dir/b"
}

@test "bad input: empty, junk, missing, a folder, stdin" {
	: >"$dir/empty"
	tail -c +5 "$HOTTEXT" | head -c 3000 >"$dir/junk"
	refuses "cannot read '$dir/empty': the file is empty" "$dir/empty"
	refuses "cannot read '$dir/junk': not a profile of any known kind" "$dir/junk"
	refuses "cannot read '$dir/none': No such file or directory" "$dir/none"
	refuses "cannot read 'standard input': not a profile of any known kind" - </dev/zero
	echo "some words" >"$dir/words"
	refuses "cannot read '$dir/words': not a profile of any known kind" "$dir/words"
}

@test "bad input: broken after a good start; --force uses the rest of a text" {
	{ cat $data/marked.folded; echo "no count here"; } >"$dir/folded"
	refuses "cannot read '$dir/folded': not a profile of any known kind" "$dir/folded"
	for i in {1..200}; do cat $data/marked.folded; done >"$dir/long"
	echo "no count here" >>"$dir/long"
	refuses "cannot read '$dir/long': line 601 is not 'frame;frame;... count'" "$dir/long"
	collect_to out --force "$dir/long"
	grep -q "warning: '$dir/long': 1 lines left out, they are not 'frame;frame;... count'" "$dir/out.err"
	echo "dd;ksys_read_[k];vfs_read_[k] 4 6" >"$dir/difference"
	refuses "cannot read '$dir/difference': line 1 has two counts, of a difference; give the folded stacks that it was made of" \
		"$dir/difference"
	echo "dd;thread 4 6" >>$dir/names	# of a program's frame it may be the name
	collect_to out "$dir/names"
	{ cat $data/chains.perf-script; echo "what is this"; } >"$dir/script"
	refuses "cannot read '$dir/script': line $(wc -l <"$dir/script") is neither a sample nor a frame" "$dir/script"
	collect_to out --force "$dir/script"
	grep -q "warning: '$dir/script': 1 lines left out" "$dir/out.err"
}

@test "bad profile: version, lines, ids, truncated zstd" {
	printf 'hottext-profile 2\n' >"$dir/v2"
	refuses "cannot read '$dir/v2': profile version '2', this hottext knows 1" "$dir/v2"
	printf 'hottext-profile 1\nfunc f 1\n' >"$dir/line"
	refuses "cannot read '$dir/line': line 2: not 'func NAME SAMPLES CALLS'" "$dir/line"
	printf 'hottext-profile 1\npath 0123456789abcdef chain f 1 f\n' >"$dir/id"
	refuses "cannot read '$dir/id': line 2: the path's id is not that of its contents" "$dir/id"
	printf 'hottext-profile 1\nfunc f 1 1\nfunc f 1 18446744073709551616\n' >"$dir/big"
	refuses "cannot read '$dir/big': line 3: not 'func NAME SAMPLES CALLS'" "$dir/big"
	zstd -qc $data/chains.hot | head -c 200 >"$dir/cut"
	refuses "cannot read '$dir/cut': zstd frame is truncated" "$dir/cut"
}

@test "a succession to a path that never comes is dropped and counted" {
	printf 'hottext-profile 1\nnext 0123456789abcdef 0123456789abcdef 7\n' >"$dir/next"
	collect_to out "$dir/next"
	grep -q "warning: '$dir/next': 7 successions dropped, their paths are missing" "$dir/out.err"
}

@test "text cut at every byte is refused or read, never crashes" {
	for f in chains.perf-script marked.folded chains.hot branches.fdata sample.autofdo stacks.bpftrace; do
		size=$(wc -c <$data/$f)
		for ((n = 1; n < size; n += 1 + size / 300)); do
			head -c "$n" $data/$f >"$dir/cut"
			status=0
			"$HOTTEXT" collect -q "$dir/cut" >/dev/null 2>"$dir/err" || status=$?
			[ "$status" -le 1 ]
			[ "$status" -eq 0 ] || [ "$(wc -l <"$dir/err")" -eq 1 ]
		done
	done
}

@test "symbols: bad vmlinux, bad kallsyms" {
	refuses "cannot read '$data/chains.hot': not an ELF file" --vmlinux $data/chains.hot $data/chains.hot
	printf '0000000000000000 T _text\n0000000000000000 T f\n' >"$dir/zero"
	refuses "cannot use '$dir/zero': every address is zero (kernel.kptr_restrict hides them)" \
		--kallsyms "$dir/zero" $data/chains.hot
	refuses "cannot read '$data/chains.hot': line 1 is not 'address type name'" \
		--kallsyms $data/chains.hot $data/chains.hot
}

@test "usage: no input, two kinds of symbols" {
	run "$HOTTEXT" collect
	[ "$status" -eq 2 ]
	[ "$output" = "hottext: collect: no input; try 'hottext collect --help'" ]
	run "$HOTTEXT" collect --vmlinux a --kallsyms b c
	[ "$status" -eq 2 ]
}

@test "a full disk is a failure" {
	status=0
	"$HOTTEXT" collect -q $data/chains.hot >/dev/full 2>"$dir/err" || status=$?
	[ "$status" -eq 1 ]
	grep -q "cannot write" "$dir/err"
}

@test "an unwritable output leaves nothing and keeps the old file" {
	echo old >"$dir/old"
	chmod 500 "$dir"
	status=0
	"$HOTTEXT" collect -q $data/chains.hot -o "$dir/none/x" 2>/dev/null || status=$?
	[ "$status" -eq 1 ]
	chmod 700 "$dir"
	[ "$(cat "$dir/old")" = old ]
}

@test "what a link leads to is replaced, the link and devices stay" {
	input=$data/marked.folded
	collect_to want $input
	mkdir "$dir/there"
	echo old > "$dir/there/real"
	ln -s there/real "$dir/link"
	collect_to link $input
	[ -L "$dir/link" ]
	cmp "$dir/want" "$dir/there/real"
	[ "$(ls "$dir/there")" = real ]
	# The output of before stays, too.
	{ echo first; "$HOTTEXT" collect -q -o /dev/stdout $input; } > "$dir/out"
	cmp <(echo first; cat "$dir/want") "$dir/out"
	"$HOTTEXT" collect -q -o /dev/stdout $input | cmp - "$dir/want"
	ln -s /dev/stdout "$dir/stdout"
	"$HOTTEXT" collect -q -o "$dir/stdout" $input | cmp - "$dir/want"
	[ -L "$dir/stdout" ]
	# A file that has no name any more.
	exec 7<> "$dir/gone"
	rm "$dir/gone"
	"$HOTTEXT" collect -q -o /dev/fd/7 $input
	cmp /dev/fd/7 "$dir/want"
	exec 7>&-
	mkfifo "$dir/pipe"
	cat "$dir/pipe" > "$dir/piped" &
	"$HOTTEXT" collect -q -o "$dir/pipe" $input
	wait $!
	[ -p "$dir/pipe" ]
	cmp "$dir/piped" "$dir/want"
}

@test "bpftrace maps: a value that is no count, a stack that is cut, keys before it, addresses" {
	next=$'@[\n    vfs_read+1\n    ksys_read+9\n    do_syscall_64+59\n]: 7'
	printf '%s\n' "$next" >"$dir/next"
	collect_to alone "$dir/next"
	for value in ": count 3, average 5, total 15" ": -4" $':\n[1, 2)  3 |@@@|\n[2, 4)  5 |@@@|\n' ": (1, 2)" ""; do
		printf '@[\n    vfs_write+1\n    do_syscall_64+59\n]%s\n%s\n' "$value" "$next" >"$dir/bt"
		refuses "cannot read '$dir/bt': line 4: a stack's value is not a count" "$dir/bt"
		sed -i 's/^]\(: [-c(].*\)/, dd]\1/' "$dir/bt"
		refuses "cannot read '$dir/bt': line 4: a stack's value is not a count" "$dir/bt"
		collect_to out --force "$dir/bt"
		cmp "$dir/alone" "$dir/out"
		grep -qF "warning: '$dir/bt': 1 stacks left out, they are cut or have no count" "$dir/out.err"
	done
	printf '@[\n    vfs_write+1\n%s\n' "$next" >"$dir/bt"
	refuses "cannot read '$dir/bt': line 3: the stack before it is cut" "$dir/bt"
	collect_to out --force "$dir/bt"
	cmp "$dir/alone" "$dir/out"
	{ echo "@reads[dd]: 4"; sed 's/^@\[/@x[dd, 5, /' "$dir/next"; } >"$dir/bt"	# @x[comm, cpu, kstack]
	collect_to out "$dir/bt"
	cmp "$dir/alone" "$dir/out"
	sed 's/^    /\tffffffffb4019501 /; s/+9$/& ([kernel.kallsyms])/' "$dir/next" >"$dir/bt"	# kstack(perf)
	collect_to out "$dir/bt"
	cmp "$dir/alone" "$dir/out"
}

@test "frames that are bare addresses are resolved where the symbols have them, at the call's own byte" {
	cat >"$dir/names" <<-END
	@[
	    copy_user+16
	    vfs_read+52
	    ksys_read+95
	    do_syscall_64+59
	    entry_SYSCALL_64_after_hwframe+68
	]: 12
	@[
	    tick_handler+0
	    sysvec_apic_timer_interrupt+16
	    asm_sysvec_apic_timer_interrupt+18
	    vfs_read+32
	    ksys_read+95
	]: 3
	END
	printf '@[\n' >"$dir/raw"	# as kstack(raw) prints the same
	printf '    ffffffff8100%s\n' 1610 1034 115f 153b 2084 >>"$dir/raw"
	printf ']: 12\n@[\n' >>"$dir/raw"
	printf '    ffffffff8100%s\n' 1800 1790 1712 1020 115f >>"$dir/raw"
	echo ']: 3' >>"$dir/raw"
	collect_to by-name --kallsyms $data/kallsyms "$dir/names"
	collect_to by-addr --kallsyms $data/kallsyms "$dir/raw"
	cmp "$dir/by-name" "$dir/by-addr"
	grep -qx 'call vfs_read 0x33 copy_user 12' "$dir/by-addr"
	grep -qx 'touch copy_user 0x10 12' "$dir/by-addr"
	grep -qx 'call asm_sysvec_apic_timer_interrupt 0x11 sysvec_apic_timer_interrupt 3' "$dir/by-addr"
	grep -qx 'call ksys_read 0x5e vfs_read 15' "$dir/by-addr"	# to its end, which is no entry
	grep -q ' vfs_read:4$' "$dir/by-addr"	# what was interrupted is exact
	[ "$(cat "$dir/by-addr.err")" = "hottext: 15 samples, 15 kernel, 15 resolved, 0 unresolved, 0 lost" ]
	# What bpftrace has no name for, among names; what kstack(perf) says of it.
	sed 's/ffff/0x&/; s/0xffffffff8100115f/ksys_read+95/' "$dir/raw" >"$dir/mixed"
	sed 's/^    \(ffff.*\)/\t\1 0x\1 ([kernel.kallsyms])/' "$dir/raw" >"$dir/perf"
	for kind in mixed perf; do
		collect_to out --kallsyms $data/kallsyms "$dir/$kind"
		cmp "$dir/by-name" "$dir/out"
	done
	# Folded, with marks and without, behind frames of a program.
	fold() { awk '/^ / { s = ";" $1 s } /^]/ { print "app;7f12345678ab;0x401136" s, $2; s = "" }' "$1"; }
	fold "$dir/raw" >"$dir/folded"
	sed 's/\(ffff[0-9a-f]*\)/\1_[k]/g' "$dir/folded" >"$dir/marked"
	fold "$dir/mixed" | sed 's/;ksys_read+95/;ksys_read+0x5f_[k]/; s/0xffff[0-9a-f]*/&_[k]/g' >"$dir/mixed.folded"
	for kind in marked mixed.folded folded; do
		collect_to out --kallsyms $data/kallsyms "$dir/$kind"
		diff <(sed 's/^source bpftrace/source folded/' "$dir/by-name") "$dir/out"
	done
	grep -q "is taken to begin at its entries" "$dir/out.err"
	# One mark, and an address without one is a program's.
	{ cat "$dir/folded"; echo 'app;main;vfs_read_[k] 1'; } >"$dir/one"
	collect_to out --kallsyms $data/kallsyms "$dir/one"
	[ "$(tail -n 1 "$dir/out.err")" = "hottext: 16 samples, 1 kernel, 1 resolved, 0 unresolved, 0 lost" ]
	# Errors look like the highest addresses; names like addresses.
	printf '%s 1\n' 'app;main;add' 'app;main;0xfffffffffffffff2' 'app;main;deadbeef' >"$dir/one"
	collect_to out --kallsyms $data/kallsyms "$dir/one"
	[ "$(tail -n 1 "$dir/out.err")" = "hottext: 3 samples, 0 kernel, 0 resolved, 0 unresolved, 0 lost" ]
	# 32 bits.
	sed 's/^ffffffff81/c0/' $data/kallsyms >"$dir/map"
	sed 's/ffffffff81/c0/' "$dir/raw" >"$dir/raw32"
	collect_to out --kallsyms "$dir/map" "$dir/raw32"
	cmp "$dir/by-name" "$dir/out"
}

@test "bare addresses without symbols, or of a kernel that lay elsewhere, are the kernel's and unresolved" {
	printf '@[\n    ffffffff%s\n    ffffffff%s\n    ffffffff%s\n]: 4\n' 81001010 81001105 81002084 \
		81001610 81001034 81002084 >"$dir/raw"
	collect_to out "$dir/raw"
	[ "$(cat "$dir/out.err")" = "hottext: 8 samples, 8 kernel, 0 resolved, 8 unresolved, 0 lost" ]
	[ "$(wc -l <"$dir/out")" -eq 2 ]
	elsewhere() {	# elsewhere SLIDE OUT ALL
		perl -pe "s/ffffffff\\K\\w+/sprintf '%x', $1 + hex \$&/e" "$dir/raw" >"$dir/slid"
		collect_to out --kallsyms $data/kallsyms "$dir/slid"
		diff - "$dir/out.err" <<-END
		hottext: warning: '$dir/slid': $2 of $3 addresses are not in the text of '$data/kallsyms', which lay elsewhere (KASLR) or is another: none of them is resolved
		hottext: 8 samples, 8 kernel, 0 resolved, 8 unresolved, 0 lost
		END
	}
	elsewhere 0x19000000 6 6
	[ "$(wc -l <"$dir/out")" -eq 2 ]
	# By so little that most fall into the text: those that fall behind it show it.
	elsewhere 0x200 2 6
	# Names beside them stay.
	sed 's/ffffffff81001105/ksys_read+5/' "$dir/raw" >"$dir/mixed"
	sed 's/ffffffff81/ffffffff9a/' "$dir/mixed" >"$dir/slid"
	collect_to out --kallsyms $data/kallsyms "$dir/slid"
	grep -q "warning: '$dir/slid': 5 of 5 addresses are not in the text" "$dir/out.err"
	grep -q '^path [0-9a-f]* syscall ksys_read 4 ksys_read:1$' "$dir/out"
	# A few of modules are no sign of it.
	{ cat "$dir/raw"; printf '@[\n    ffffffffc0001010\n    ffffffff81001034\n]: 1\n'; } >"$dir/module"
	collect_to out --kallsyms $data/kallsyms "$dir/module"
	[ "$(cat "$dir/out.err")" = "hottext: 9 samples, 9 kernel, 8 resolved, 1 unresolved, 0 lost" ]
}

@test "a name that the symbols lack, or have several times, is kept and not resolved, in every text" {
	for name in vfs_read helper gone; do
		printf 'app 21 [000] 1.000005: 1 cpu-clock: \n\tffffffff81009110 %s+0x10 ([kernel.kallsyms])\n\n' $name >>"$dir/script"
		echo "app;do_syscall_64_[k];${name}_[k] 3" >>"$dir/folded"
		echo "app;do_syscall_64;$name 3" >>"$dir/unmarked"
		printf '@[\n    %s+16\n    do_syscall_64+59\n]: 3\n' $name >>"$dir/bpftrace"
		printf '    ls-13  [000] .....  2.245690: <stack trace>\n => %s\n => do_syscall_64\n' $name >>"$dir/stack"
		printf '%s:3:1\n 1: 3\n' $name >>"$dir/autofdo"
		echo "1 $name 10 3" >>"$dir/no_lbr"
	done
	sed -i '1i # tracer: nop' "$dir/stack"
	sed -i '1i no_lbr cycles:' "$dir/no_lbr"
	for kind in script folded unmarked bpftrace stack; do
		collect_to out "$dir/$kind"	# without symbols there is no other name
		grep -Eq '([39]) samples, \1 kernel, \1 resolved, 0 unresolved' "$dir/out.err"
		collect_to out --kallsyms $data/kallsyms "$dir/$kind"
		grep -Eq '(3 samples, 3 kernel, 1 resolved, 2|9 samples, 9 kernel, 3 resolved, 6) unresolved' "$dir/out.err"
		[ "$(grep -c '^func vfs_read \|^func helper \|^func gone ' "$dir/out")" -eq 3 ]
	done
	# Those two are of programs, too, and keep of them only what the kernel has.
	for kind in autofdo no_lbr; do
		collect_to out --kallsyms $data/kallsyms "$dir/$kind"
		grep -q '9 samples, . kernel, 3 resolved, 6 unresolved' "$dir/out.err"
		[ "$(grep -c '^func vfs_read \|^func helper ' "$dir/out")" -eq 2 ]
	done
}

@test "folded stacks: marks count for all lines, before them too" {
	printf 'app;main;timer_interrupt;tick 5\n' >"$dir/a"
	printf 'app;main;do_syscall_64_[k];vfs_read_[k] 3\n' >"$dir/b"
	cat "$dir/a" "$dir/b" >"$dir/ab"
	cat "$dir/b" "$dir/a" >"$dir/ba"
	collect_to ab.hot "$dir/ab"
	collect_to ba.hot "$dir/ba"
	cmp "$dir/ab.hot" "$dir/ba.hot"
	[ "$(cat "$dir/ab.hot.err")" = "hottext: 8 samples, 3 kernel, 3 resolved, 0 unresolved, 0 lost" ]
	sed 's/_\[k\]/[k]/g' "$dir/ab" >"$dir/bare"
	collect_to bare.hot "$dir/bare"
	cmp "$dir/ab.hot" "$dir/bare.hot"
}

@test "an input is recognised behind long comments and by a long first line" {
	{ for i in {1..200}; do echo "# CPU cache info: L1 Data 32K [$i]"; done; cat $data/chains.perf-script; } >"$dir/script"
	collect_to out --kallsyms $data/kallsyms "$dir/script"
	diff -u $data/chains.hot "$dir/out"
	{ printf 'java'; printf ';Lorg/GeneratedClass%d::method_[j]' {1..5000}; echo ';do_syscall_64_[k];vfs_read_[k] 12'; } >"$dir/folded"
	collect_to out "$dir/folded"
	grep -q '^func vfs_read 12 0$' "$dir/out"
}

@test "profiles may begin with comments and need no header" {
	for head in '# c\n' '\n# c\nhottext-profile 1\n' ''; do
		printf "${head}func a;b 3 0\n" >"$dir/hot"
		collect_to out "$dir/hot"
		grep -qx 'func a;b 3 0' "$dir/out"
	done
	printf 'func a;b 1\n' >"$dir/folded"	# a stack
	collect_to out "$dir/folded"
	grep -q '^source folded - - - - 1 0 0 0 0$' "$dir/out"
}

@test "--force takes the sound lines of a profile, in any order of inputs" {
	printf 'hottext-profile 1\nsource x - - - - 1 1 1 0 0\nfunc b 1 1\n' >"$dir/good"
	printf 'hottext-profile 1\nrubbish here now\nfunc a 1 1\npath 43ad24cf9812dc7c syscall a:x 1 a b\n' >"$dir/bad"
	collect_to one --force "$dir/good" "$dir/bad"
	collect_to two --force "$dir/bad" "$dir/good"
	cmp "$dir/one" "$dir/two"
	grep -qx 'func a 1 1' "$dir/one"
	grep -qF "warning: '$dir/bad': 2 lines left out, they are cut or not a profile's" "$dir/one.err"
	{ echo 'next 43ad24cf9812dc7c 43ad25cf9812de2f 5'; echo 'path 43ad24cf9812dc7c syscall a 1 a b'
	  echo 'path 43ad25cf9812de2f syscall a 1 a c'; echo rubbish; } >"$dir/next"
	collect_to out --force "$dir/next"
	grep -qx 'next 43ad24cf9812dc7c 43ad25cf9812de2f 5' "$dir/out"
	printf 'hottext-profile 1\nrubbish\n' >"$dir/none"
	refuses "cannot read '$dir/none': no line of it is a profile's" --force "$dir/none"
	printf 'hottext-profile 2\nfunc a 1 1\n' >"$dir/v2"
	refuses "cannot read '$dir/v2': profile version '2', this hottext knows 1" --force "$dir/v2"
}

@test "a profile that is cut within a count is refused; folded text may lack its last newline" {
	printf 'hottext-profile 1\nfunc a 1 1\nfunc vfs_read 1234 5' >"$dir/cut"
	refuses "cannot read '$dir/cut': line 3: it is cut, no newline ends it" "$dir/cut"
	collect_to out --force "$dir/cut"
	grep -qF "warning: '$dir/cut': 1 lines left out, they are cut or not a profile's" "$dir/out.err"
	[ "$(grep -c vfs_read "$dir/out")" -eq 0 ]
	printf 'a;vfs_read_[k] 5' >"$dir/folded"
	collect_to out "$dir/folded"
	grep -q '^func vfs_read 5 0$' "$dir/out"
}

@test "a truncated zstd frame is one error; --force takes what stands before it" {
	seq 60000 | sed 's/.*/func f& & 1/' >"$dir/hot"
	seq 60000 | sed 's/.*/a;do_syscall_64_[k];f&_[k] 1/' >"$dir/folded"
	seq 60000 | sed 's/.*/@[\n  f&+1\n  do_syscall_64+9\n]: 1/' >"$dir/bpftrace"
	seq 60000 | sed 's/.*/1 f& 3c 1 g 0 0 1/' >"$dir/fdata"
	seq 60000 | sed 's/.*/f&:1:1\n 1: 1/' >"$dir/autofdo"
	seq 60000 | sed 's/.*/1 f& 0.5/' >"$dir/readprofile"
	for kind in hot folded bpftrace fdata autofdo readprofile; do
		zstd -q "$dir/$kind"
		truncate -s -1000 "$dir/$kind.zst"
		refuses "cannot read '$dir/$kind.zst': zstd frame is truncated" "$dir/$kind.zst"
		collect_to out --force "$dir/$kind.zst"
		grep -q "warning: '$dir/$kind.zst': what stands before that is used" "$dir/out.err"
		[ "$(wc -l <"$dir/out.err")" -eq 3 ]
		grep -q '^func f1 1 ' "$dir/out"
		[ "$(grep -c '^func f60000 ' "$dir/out")" -eq 0 ]
	done
}

@test "--force leaves lines out that are none of their kind" {
	{ cat $data/sample.autofdo; printf 'x y\n 1: 5 g:7\n'; } >"$dir/autofdo"
	collect_to out --force --kallsyms $data/kallsyms "$dir/autofdo"
	cmp $data/sample.autofdo.hot "$dir/out"
	grep -qF "warning: '$dir/autofdo': 2 lines left out, they are none of a sample profile" "$dir/out.err"
	printf '3 vfs_read 0.5\nx\n4 ksys_read 0.5\n' >"$dir/readprofile"
	refuses "cannot read '$dir/readprofile': line 2 is not 'samples name ratio'" "$dir/readprofile"
	collect_to out --force "$dir/readprofile"
	grep -qF "warning: '$dir/readprofile': 1 lines left out, they are not 'samples name ratio'" "$dir/out.err"
	grep -q '^source readprofile tick - - - 7 7 7 0 0$' "$dir/out"
}

@test "lines may end in CR and newline" {
	sed 's/$/\r/' $data/kallsyms >"$dir/kallsyms"
	for f in chains.perf-script marked.folded chains.hot branches.fdata sample.autofdo stacks.bpftrace; do
		sed 's/$/\r/' $data/$f >"$dir/$f"
		collect_to lf --kallsyms $data/kallsyms $data/$f
		collect_to crlf --kallsyms "$dir/kallsyms" "$dir/$f"
		cmp "$dir/lf" "$dir/crlf"
	done
	printf '# tracer: function_graph\n 0)               |  vfs_read() {\n 0)   0.541 us    |    fsnotify();\n 0) + 13.7 us |  }\n' >"$dir/ft"
	sed 's/$/\r/' "$dir/ft" >"$dir/ft.crlf"
	collect_to lf "$dir/ft"
	collect_to crlf "$dir/ft.crlf"
	cmp "$dir/lf" "$dir/crlf"
	grep -q '^func fsnotify ' "$dir/lf"
}

@test "a profile behind text of another kind is refused" {
	for i in {1..50}; do cat $data/marked.folded; done >"$dir/folded"
	for f in "$dir/folded" $data/stacks.bpftrace; do
		cat "$f" $data/chains.hot >"$dir/both"
		refuses "cannot read '$dir/both': line $(($(wc -l <"$f") + 1)) begins a profile; give that as an input of its own" \
			"$dir/both"
	done
}

@test "/proc/profile twice in one file is not one of 64-bit words" {
	perl -e 'my @n = (0) x 529; @n[0, 257] = (16, 5); print pack "V*", @n' >"$dir/le"
	perl -e 'my @n = (0) x 529; @n[0, 257] = (16, 5); print pack "N*", @n' >"$dir/be"
	perl -e 'my @n = (0) x 529; @n[0, 257] = (16, 5); print pack "Q<*", @n' >"$dir/wide"
	for f in le be; do
		collect_to one --kallsyms $data/kallsyms "$dir/$f"
		grep -q '^source profile tick - .* 5 5 5 0 0$' "$dir/one"
		for n in "$f $f" "$f $f $f"; do
			(cd "$dir" && cat $n) >"$dir/more"
			refuses "cannot use '$dir/more': it is several profiles in one; give each as an input of its own" \
				--kallsyms $data/kallsyms "$dir/more"
		done
	done
	collect_to out --kallsyms $data/kallsyms "$dir/wide"
	collect_to one --kallsyms $data/kallsyms "$dir/le"
	cmp "$dir/one" "$dir/out"
}

@test "--normalize: hosts that do not divide the samples, hosts without any, pipes" {
	printf 'hottext-profile 1\nsource x - h1 - - 2 2 2 0 0\nsource x - h2 - - 1 1 1 0 0\nfunc b 3 300\n' >"$dir/odd"
	collect_to out --normalize "$dir/odd"
	cmp "$dir/odd" "$dir/out"
	printf 'hottext-profile 1\nsource x - h1 - - 1 1 1 0 0\nsource x - h2 - - 0 0 0 0 0\nfunc b 3 300\n' >"$dir/few"
	collect_to out --normalize "$dir/few"
	cmp "$dir/few" "$dir/out"
	printf 'hottext-profile 1\nsource x - h3 - - 1 1 1 0 0\nfunc c 100 18446744073709551615\n' >"$dir/third"
	collect_to out --normalize "$dir/odd" "$dir/third"	# 1.5 each
	grep -qx 'func b 3 300' "$dir/out"
	grep -qx 'func c 150 18446744073709551615' "$dir/out"
	mkfifo "$dir/fifo"
	refuses "cannot normalize '$dir/fifo': it would be read twice" --normalize "$dir/odd" "$dir/fifo"
	cat "$dir/odd" | refuses "cannot normalize '/dev/stdin': it would be read twice" --normalize /dev/stdin
	collect_to out --normalize "$dir/none" || [ "$(cat "$dir/out.err")" = "hottext: cannot read '$dir/none': No such file or directory" ]
}

@test "a second perf.data behind the first is not read, and that is said" {
	zstd -dqc samples/linux-6.1-x86_64/perf.data.zst >"$dir/one"
	cat "$dir/one" "$dir/one" >"$dir/two"
	collect_to one.hot --kallsyms $data/kallsyms "$dir/one"
	collect_to two.hot --kallsyms $data/kallsyms "$dir/two"
	cmp "$dir/one.hot" "$dir/two.hot"
	said="warning: '$dir/two': a second recording in it is not read; give it as an input of its own"
	diff <(cat <(echo "hottext: $said") "$dir/one.hot.err") "$dir/two.hot.err"
	cat "$dir/two" | collect_to piped.hot --kallsyms $data/kallsyms -
	cmp "$dir/one.hot" "$dir/piped.hot"
	diff <(sed "s,$dir/two,standard input," "$dir/two.hot.err") "$dir/piped.hot.err"
	printf 'hottext-profile 1\nfunc a 1 1\n' >"$dir/hot"
	collect_to out "$dir/hot"
	[ "$(wc -l <"$dir/out.err")" -eq 1 ]
}

@test "a second piped perf.data behind the first is not read, and that is said" {
	# One event, cpu-clock with ip and tid, and two samples in the kernel.
	perl -e 'print pack "a8Q<", "PERFILE2", 16; print pack "Vvv VVQ<Q<Q<x32", 64, 0, 72, 1, 64, 0, 1, 3;
		print pack "Vvv Q<VV", 9, 1, 24, $_, 7, 7 for 0xffffffff81001010, 0xffffffff81001020' >"$dir/one"
	printf '%s\n' 'ffffffff81000000 T _stext' 'ffffffff81001000 T do_syscall_64' 'ffffffff81002000 T _etext' >"$dir/kallsyms"
	cat "$dir/one" "$dir/one" >"$dir/two"
	said="a second recording in it is not read; give it as an input of its own"
	collect_to one.hot --kallsyms "$dir/kallsyms" "$dir/one"
	grep -qx 'hottext: 2 samples, 2 kernel, 2 resolved, 0 unresolved, 0 lost' "$dir/one.hot.err"
	! grep -q "$said" "$dir/one.hot.err"
	collect_to two.hot --kallsyms "$dir/kallsyms" "$dir/two"
	grep -q "^hottext: warning: '$dir/two': $said" "$dir/two.hot.err"
	cat "$dir/two" | collect_to piped.hot --kallsyms "$dir/kallsyms" -
	grep -q "^hottext: warning: 'standard input': $said" "$dir/piped.hot.err"
	cmp "$dir/one.hot" "$dir/two.hot"
	cmp "$dir/one.hot" "$dir/piped.hot"
}

@test "folded: what begins as bzip2's name does is no bzip2" {
	echo 'BZhao;entry_SYSCALL_64_after_hwframe_[k];vfs_read_[k] 12' > "$dir/in"
	collect_to out "$dir/in"
	grep -qx 'func vfs_read 12 0' "$dir/out"
	echo 'BZh91AY&SY' > "$dir/in.bz2"
	refuses "cannot read '$dir/in.bz2': compressed by bzip2: unpack it first (zstd is read as it is)" "$dir/in.bz2"
}

@test "folded: an address among names is no reason to doubt the symbols" {
	printf '%s\n' 'ffffffff81000000 T _stext' 'ffffffff81001000 T entry_SYSCALL_64_after_hwframe' \
		'ffffffff81002000 T vfs_read' 'ffffffff81003000 T _etext' > "$dir/kallsyms"
	echo 'a;entry_SYSCALL_64_after_hwframe_[k];vfs_read_[k];0xffffffffc0001234_[k] 2' > "$dir/in"
	collect_to out --kallsyms "$dir/kallsyms" "$dir/in"
	! grep -q 'KASLR' "$dir/out.err"
	echo 'a;0xffffffff91001010_[k];0xffffffff91002010_[k] 2' > "$dir/in"
	collect_to out --kallsyms "$dir/kallsyms" "$dir/in"
	grep -q '2 of 2 addresses are not in the text of .* (KASLR)' "$dir/out.err"
}

@test "a profile's first line tells it by its fields" {
	for line in 'call a 0x4 b 5' 'call a - b 5' 'touch a 0x10 5' 'source x - - - - 1 1 1 0 0' 'next 43ad24cf9812dc7c 43ad25cf9812de2f 5' \
		'path db0c1b86238ca130 syscall vfs_read 3 do_syscall_64 vfs_read' 'path 4a1b6d7c5d3e2f10 chain a 1'; do
		echo "$line" >"$dir/hot"
		collect_to out -v "$dir/hot" || true
		grep -qF "hottext: '$dir/hot' is read as hot" "$dir/out.err"
	done
	for line in 'func a;b 3' 'call a;b c 12' 'touch x;y 1 7' 'path a;b 1 2 3'; do
		echo "$line" >"$dir/folded"
		collect_to out -v "$dir/folded"
		grep -qF "hottext: '$dir/folded' is read as folded" "$dir/out.err"
	done
}
