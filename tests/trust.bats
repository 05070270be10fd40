# SPDX-License-Identifier: GPL-3.0-or-later
# What no input, however made, may bring hottext to do, and how its binary is built against the rest.

setup() {
	HOTTEXT=${HOTTEXT:-./hottext}
	dir=$BATS_TEST_TMPDIR
}

@test "trust: a perf.data names files, and none of them is opened" {
	xz -dc samples/linux-6.1-x86_64/vmlinux.xz > "$dir/vmlinux"
	trap_dir=$(mktemp -d /tmp/ht.XXXXXX)
	# Opening a pipe that nobody writes to would never end.
	for lib in libc.so.6 libdw.so.1 libelf.so.1; do
		was=/lib/x86_64-linux-gnu/$lib
		named=$trap_dir/$(printf "%$((${#was} - ${#trap_dir} - 1))s" | tr ' ' x)
		mkfifo "$named"
		zstd -dqc samples/linux-6.1-x86_64/perf.data.zst | LC_ALL=C sed "s,$was,$named,g" > "$dir/perf.data"
		LC_ALL=C grep -qaF "$named" "$dir/perf.data"
		status=0
		timeout 60 "$HOTTEXT" collect -q --vmlinux "$dir/vmlinux" "$dir/perf.data" -o "$dir/hot" || status=$?
		rm "$named"
		[ $status -eq 0 ] || { rmdir "$trap_dir"; echo "status $status"; return 1; }
	done
	rmdir "$trap_dir"
	[ -s "$dir/hot" ]
}

@test "trust: a plan and a profile name files, and none of them is opened" {
	mkfifo "$dir/pipe"
	sed "s,^source [^ ]* [^ ]*,source $dir/pipe $dir/pipe," tests/data/collect/chains.hot > "$dir/hot"
	grep -q "$dir/pipe" "$dir/hot"
	timeout 20 "$HOTTEXT" collect -q "$dir/hot" -o "$dir/out"
	sed "s,fs/file.o,$dir/pipe,g" tests/corpus/plan/small > "$dir/plan.json"
	grep -q "$dir/pipe" "$dir/plan.json"
	timeout 20 "$HOTTEXT" report "$dir/plan.json" > "$dir/text"
	timeout 20 "$HOTTEXT" report "$dir/plan.json" -o "$dir/report.html"
}

@test "trust: the binary is built for the worst" {
	nm -D "$HOTTEXT" > "$dir/symbols"
	grep -q '__asan_init' "$dir/symbols" && skip "a build with sanitizers"
	readelf -hldW "$HOTTEXT" > "$dir/elf"
	grep -q 'Type: *DYN' "$dir/elf"
	grep -q 'GNU_RELRO' "$dir/elf"
	grep -qE 'BIND_NOW|Flags:.* NOW' "$dir/elf"
	grep -q 'GNU_STACK .* RW ' "$dir/elf"
	grep -q '__stack_chk_fail' "$dir/symbols"
	grep -q '__fprintf_chk\|__vfprintf_chk' "$dir/symbols" || skip "built without optimisation, so without _FORTIFY_SOURCE"
}

@test "trust: no shell, no names that can be guessed, no unchecked allocation" {
	git rev-parse > "$dir/git" 2>&1 || skip "not in a clone"
	tests/lint.sh words
}

@test "trust: a file that is cut while it is mapped is an error, and no temporary stays" {
	mkfifo "$dir/pipe"
	mkdir "$dir/out"
	"$HOTTEXT" collect -q "$dir/pipe" tests/data/collect/chains.hot -o "$dir/out/hot" 2> "$dir/err" &
	pid=$!
	exec 6> "$dir/pipe"
	kill -BUS $pid
	status=0
	wait $pid || status=$?
	exec 6>&-
	[ $status -eq 1 ]
	[ "$(cat "$dir/err")" = "hottext: a file was cut short, or could not be read, while it was in use" ]
	[ -z "$(ls "$dir/out")" ]
}
