#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# hottext collect on perf.data: a recording of a real kernel, checked against perf where it is installed.

setup_file() {
	export DIR
	DIR=$(mktemp -d)
	xz -dkc samples/linux-6.1-x86_64/vmlinux.xz > "$DIR/vmlinux"
	zstd -dqc samples/linux-6.1-x86_64/perf.data.zst > "$DIR/perf.data"
}

teardown_file() {
	rm -rf "$DIR"
}

setup() {
	HOTTEXT=${HOTTEXT:-./hottext}
}

collect() {
	"$HOTTEXT" collect --vmlinux "$DIR/vmlinux" "$@"
}

refuses() {	# refuses PATTERN ARGS...: exit status 1, one line that matches, and nothing written
	local pattern=$1 status=0
	shift
	rm -f "$DIR/refused"
	collect -o "$DIR/refused" "$@" 2>"$DIR/err" || status=$?
	[ "$status" -eq 1 ]
	[ "$(wc -l < "$DIR/err")" -eq 1 ]
	grep -q "$pattern" "$DIR/err" || { cat "$DIR/err"; return 1; }
	[ ! -e "$DIR/refused" ]
}

# Samples and kernel callchain frames as -v tells them.
counts() {
	sed -n "s/.*: \([0-9]*\) samples, kernel callchain depth \([0-9]*\),.*/\1 \2/p" "$1"
}

@test "every kernel sample is resolved in spite of KASLR" {
	collect -v -o "$DIR/profile" "$DIR/perf.data" 2>"$DIR/err"
	grep -q '^hottext: 2522 samples, 2444 kernel, 2444 resolved, 0 unresolved, 0 lost$' "$DIR/err"
	[ "$(counts "$DIR/err")" = "2522 22937" ]
	grep -q 'kernel moved by 0x20600000$' "$DIR/err"
	[ "$(awk '$1 == "func" { n += $3 } END { print n }' "$DIR/profile")" -eq 2444 ]
}

@test "samples and callchain frames are as many as perf script's" {
	command -v perf || skip "no perf"
	perf script -i "$DIR/perf.data" -G -F comm > "$DIR/script" 2>/dev/null || skip "perf cannot read it"
	samples=$(wc -l < "$DIR/script")
	# Frames behind the marker of kernel context, before the next marker.
	frames=$(perf script -D -i "$DIR/perf.data" 2>/dev/null | awk '
		/FP chain: nr:/ { chain = 1; kernel = 0; next }
		chain && /^[.][.][.][.][.] +[0-9]+: / { if ($3 ~ /^fffffffffffff/) kernel = $3 == "ffffffffffffff80"; else n += kernel; next }
		{ chain = 0 }
		END { print n }')
	collect -v -o "$DIR/profile" "$DIR/perf.data" 2>"$DIR/err"
	[ "$(counts "$DIR/err")" = "$samples $frames" ]
}

@test "branch entries are as many as perf script's" {
	command -v perf || skip "no perf"
	${CC:-gcc} -D_GNU_SOURCE -I. -o "$DIR/perfmodule" tests/perfmodule.c lib/mem.c lib/error.c
	BRANCHES=7 "$DIR/perfmodule" "$DIR/branches.data" x.ko 0xffffffffc0100000 0x4000 00 5:0xffffffffc0100010 3:0xffffffff81003010
	entries=$(perf script -i "$DIR/branches.data" -F brstack 2>/dev/null | wc -w)
	[ "$entries" -gt 0 ] || skip "perf cannot read it"
	printf '%s\n' "ffffffff81000000 T _text" "ffffffff81001000 T do_syscall_64" "ffffffff81002000 T __x64_sys_read" > "$DIR/kallsyms"
	"$HOTTEXT" collect -v --kallsyms "$DIR/kallsyms" -o "$DIR/profile" "$DIR/branches.data" 2>"$DIR/err"
	grep -q ": 8 samples, kernel callchain depth 24, $entries branch entries," "$DIR/err"
}

@test "plain, compressed and from a pipe: the same profile" {
	collect -q -o "$DIR/one" "$DIR/perf.data"
	collect -q -o "$DIR/two" samples/linux-6.1-x86_64/perf.data.zst
	cat "$DIR/perf.data" | collect -q -o "$DIR/three" -
	cmp "$DIR/one" "$DIR/two"
	cmp "$DIR/one" "$DIR/three"
}

@test "no symbols" {
	status=0
	"$HOTTEXT" collect "$DIR/perf.data" 2>"$DIR/err" || status=$?
	[ "$status" -eq 1 ]
	grep -q "perf.data holds no symbols; give the kernel's --vmlinux or --kallsyms" "$DIR/err"
}

@test "a perf.data of another kernel names the remedy" {
	id=$(collect -q "$DIR/perf.data" | awk '$1 == "source" { print $6; exit }')
	at=$(LC_ALL=C grep -obUaP "$(echo "$id" | sed 's/../\\x&/g')" "$DIR/perf.data" | tail -n 1 | cut -d: -f1)
	cp "$DIR/perf.data" "$DIR/other.data"
	printf 'hot' | dd of="$DIR/other.data" bs=1 seek="$at" conv=notrunc status=none
	refuses "it is of kernel .*; use 'hottext collect --vmlinux OLD' and the profile that it writes" "$DIR/other.data"
	collect --force -o "$DIR/forced" "$DIR/other.data" 2>"$DIR/err"
	grep -q "warning: '.*' is of kernel .* is $id: addresses may lead to wrong functions" "$DIR/err"
	collect -q -o "$DIR/same" "$DIR/perf.data"
	diff <(grep -v ^source "$DIR/same") <(grep -v ^source "$DIR/forced")
}

@test "a folder of several files: none may be missing, and none stands for all" {
	mkdir "$DIR/folder"
	tail -c +409 "$DIR/perf.data" | head -c $((0x74368)) > "$DIR/folder/data.0"
	cp "$DIR/folder/data.0" "$DIR/folder/data.1"
	cp "$DIR/folder/data.0" "$DIR/folder/data.old"
	cp "$DIR/perf.data" "$DIR/folder/data"
	# Feature 24, of folders, in place of 25.
	printf '\x85' | dd of="$DIR/folder/data" bs=1 seek=75 conv=notrunc status=none
	collect -o "$DIR/profile" "$DIR/folder" 2>"$DIR/err"
	grep -q "^hottext: $((3 * 2522)) samples, $((3 * 2444)) kernel, " "$DIR/err"
	refuses "cannot read '.*/data': it is one of a folder's files; give the folder" "$DIR/folder/data"
	collect --force -o "$DIR/profile" "$DIR/folder/data" 2>"$DIR/err"
	grep -q "warning: '.*/data' is one of a folder's files: the samples in the others are lost" "$DIR/err"
	mv "$DIR/folder/data.0" "$DIR/folder/data.3"
	refuses "cannot read '.*/folder': its data.0: No such file or directory (--force uses the others)" "$DIR/folder"
	collect --force -o "$DIR/profile" "$DIR/folder" 2>"$DIR/err"
	grep -q "warning: '.*/folder': its data.0 is lost: No such file or directory" "$DIR/err"
	grep -q "warning: '.*/folder': its data.2 is lost" "$DIR/err"
	grep -q "^hottext: $((3 * 2522)) samples, " "$DIR/err"
	rm "$DIR"/folder/data.[0-9]
	refuses "its data.0: No such file or directory" "$DIR/folder"
}

@test "the samples of a folder's files, and of one processor after another, are put in order" {
	mkdir "$DIR/parts"
	# What one file has in order, here in two files by turns; and in one file, blocks of 500 samples exchanged.
	perl -e '
		my ($dir, $data, @part, @sample) = @ARGV;
		open(my $in, "<:raw", "$dir/perf.data"); local $/; $data = <$in>;
		my ($at, $size) = unpack("Q<2", substr($data, 40, 16));
		for (my $end = $at + $size; $at < $end; ) {
			my ($type, $misc, $len) = unpack("L<S<S<", substr($data, $at, 8));
			my $record = substr($data, $at, $len);
			if ($type == 9) {
				push @sample, $record;
				$part[@sample / 7 % 2] .= $record;
				substr($data, $at, 4) = pack("L<", 200);
			}
			$at += $len;
		}
		my @block; push @block, [splice @sample, 0, 500] while @sample;
		@sample = map { @$_ } reverse @block;
		sub put { open(my $out, ">:raw", shift); print $out shift; }
		put("$dir/parts/data", $data), put("$dir/parts/data.0", $part[0]), put("$dir/parts/data.1", $part[1]);
		put("$dir/parts/blocks", join("", @sample));
	' "$DIR"
	collect -q -o "$DIR/one" "$DIR/perf.data"
	collect -q -o "$DIR/two" "$DIR/parts"
	cmp "$DIR/one" "$DIR/two"
	mv "$DIR/parts/blocks" "$DIR/parts/data.0"
	rm "$DIR/parts/data.1"
	collect -q -o "$DIR/two" "$DIR/parts"
	cmp "$DIR/one" "$DIR/two"
}

@test "a folder of more files than may be open at once" {
	mkdir "$DIR/many"
	perl -e '
		my ($dir, @part) = @ARGV;
		open(my $in, "<:raw", "$dir/perf.data"); local $/; my $data = <$in>;
		my ($at, $size) = unpack("Q<2", substr($data, 40, 16));
		for (my ($nr, $end) = (0, $at + $size); $at < $end; ) {
			my ($type, $misc, $len) = unpack("L<S<S<", substr($data, $at, 8));
			if ($type == 9) {
				$part[$nr++ % 100] .= substr($data, $at, $len);
				substr($data, $at, 4) = pack("L<", 200);
			}
			$at += $len;
		}
		sub put { open(my $out, ">:raw", shift); print $out shift; }
		put("$dir/many/data", $data);
		put("$dir/many/data.$_", $part[$_]) for 0..99;
	' "$DIR"
	collect -q -o "$DIR/one" "$DIR/perf.data"
	(ulimit -Sn 50; collect -q -o "$DIR/all" "$DIR/many")
	cmp "$DIR/one" "$DIR/all"
	# No more to be had: one after the other. All of them fit in the window that sorts.
	(ulimit -n 50; collect -q -o "$DIR/turns" "$DIR/many")
	cmp "$DIR/one" "$DIR/turns"
	# What cannot be opened is told once, either way.
	ln -sf nowhere "$DIR/many/data.20"
	ln -sf nowhere "$DIR/many/data.70"
	(ulimit -n 50; refuses "its data.20: No such file or directory (--force uses the others)" "$DIR/many")
	(ulimit -n 50; collect --force -o "$DIR/turns" "$DIR/many") 2>"$DIR/err"
	[ "$(grep -c 'its data.[27]0 is lost' "$DIR/err")" -eq 2 ]
}

@test "a perf.data of another architecture" {
	LC_ALL=C sed 's/x86_64\x00/ppc64e\x00/' "$DIR/perf.data" > "$DIR/arch.data"
	refuses "it was recorded on ppc64e, '.*' is for x86_64" "$DIR/arch.data"
}

@test "an event that is not there" {
	status=0
	collect --event branches "$DIR/perf.data" 2>"$DIR/err" || status=$?
	[ "$status" -eq 1 ]
	grep -q "it has no event 'branches'" "$DIR/err"
	grep -q "has the event 'cpu-clock'" "$DIR/err"
}

@test "truncated: an error, and with --force a prefix with the loss stated" {
	size=$(stat -c %s "$DIR/perf.data")
	for n in 9 50 200 600 100001 $((size - 4000)) $((size - 1)); do
		head -c $n "$DIR/perf.data" > "$DIR/cut.data"
		refuses "truncated" "$DIR/cut.data"
	done
	head -c 100001 "$DIR/perf.data" > "$DIR/cut.data"
	collect --force -o "$DIR/profile" "$DIR/cut.data" 2>"$DIR/err"
	grep -q "warning: '.*' is truncated: it lacks part of its records" "$DIR/err"
	grep -Eq '^hottext: [1-9][0-9]+ samples' "$DIR/err"
}

@test "a record of no size is an error, what precedes it can be forced" {
	cp "$DIR/perf.data" "$DIR/zero.data"
	printf '\0\0\0\0\0\0\0\0' | dd of="$DIR/zero.data" bs=1 seek=$((408 + 56)) conv=notrunc status=none
	refuses "a record is smaller than its header at byte 56 of its records" "$DIR/zero.data"
}
