# SPDX-License-Identifier: GPL-3.0-or-later
# `hottext record qemu` on a guest of twelve bytes: a boot sector that loops 1000
# times and leaves through QEMU's debug exit with status 33.

setup() {
	HOTTEXT=${HOTTEXT:-./hottext}
	T=$BATS_TEST_TMPDIR
	qemu=qemu-system-x86_64
	printf '\xb9\xe8\x03\xe2\xfe\xba\xf4\x00\xb0\x10\xee\xf4' >"$T/guest"
	head -c 498 /dev/zero >>"$T/guest"
	printf '\x55\xaa' >>"$T/guest"
	# The same, but it never leaves.
	printf '\xeb\xfe' >"$T/forever"
	head -c 508 /dev/zero >>"$T/forever"
	printf '\x55\xaa' >>"$T/forever"
	machine="-display none -serial none -monitor none -net none -m 16 -device isa-debug-exit,iobase=0xf4,iosize=4"
}

need_qemu() {
	command -v $qemu >/dev/null || skip "$qemu is not installed"
}

kernel() {
	xz -dc samples/linux-6.1-x86_64/vmlinux.xz > "$T/vmlinux"
}

guest() {
	echo "$qemu $machine -drive format=raw,file=$T/${1:-guest},if=floppy"
}

@test "record qemu: passes the status through, leaves a whole trace" {
	need_qemu
	run "$HOTTEXT" record qemu -v -o "$T/out.fetch" -- $(guest)
	[ "$status" -eq 33 ]
	[[ $output == *"blocks run"* ]]
	[ -s "$T/out.fetch" ]
	[ "$(zstd -dc "$T/out.fetch" | head -c 8)" = HTFETCH1 ]
	[ "$(ls "$T")" = "$(printf 'forever\nguest\nout.fetch')" ]
}

@test "record qemu: counts and simulates exactly" {
	need_qemu
	run "$HOTTEXT" record qemu --machine-sim 32 --machine-sim 4x1:1K:fifo --count 0x7c03 --counts "$T/counts" -- $(guest)
	[ "$status" -eq 33 ]
	grep -q '^sim 32x4K lru: kernel_misses=0 user_misses=[1-9][0-9]* ' "$T/counts"
	grep -q '^sim 4x1K 1-way fifo: ' "$T/counts"
	# The loop's first round is in the block before.
	grep -q '^count 0x7c03: kernel=0 user=999$' "$T/counts"
}

@test "record qemu: marks make sections and switch recording" {
	need_qemu
	run "$HOTTEXT" record qemu -v --kernel-base 0x7c00 --mark 0x7c00 --mark 0x7c05 --counts "$T/counts" \
		--machine-sim 32 -o "$T/out.fetch" -- $(guest)
	[ "$status" -eq 33 ]
	[ "$(grep -c '^section . insns: ' "$T/counts")" -eq 3 ]
	grep -q '^section 1 insns: kernel_insns=1001 user_insns=0 kernel_blocks=1000 user_blocks=0$' "$T/counts"
	grep -q '^insns: kernel_insns=1001 user_insns=0 ' "$T/counts"
	[[ $output == *"1000 blocks run, 1001 instructions, 2 distinct blocks"* ]]
}

@test "record qemu: two runs give equal traces" {
	need_qemu
	for i in 1 2; do
		"$HOTTEXT" record qemu --mark 0x7c00 --kernel-base 0x7c00 -o "$T/$i.fetch" -- $(guest) || [ $? -eq 33 ]
	done
	cmp "$T/1.fetch" "$T/2.fetch"
}

@test "record qemu: a comma in a file name" {
	need_qemu
	run "$HOTTEXT" record qemu -o "$T/a,b.fetch" -- $(guest)
	[ "$status" -eq 33 ]
	[ -s "$T/a,b.fetch" ]
}

@test "record qemu: SIGTERM ends the guest, the trace is whole" {
	need_qemu
	"$HOTTEXT" record qemu -v -o "$T/out.fetch" -- $(guest forever) 2>"$T/err" &
	pid=$!
	sleep 2
	kill $pid
	wait $pid || true
	grep -q 'blocks run' "$T/err"
	if grep 'cut short' "$T/err"; then false; fi
	[ -s "$T/out.fetch" ]
}

@test "record qemu: a killed guest's trace is kept with a warning, or not at all" {
	need_qemu
	"$HOTTEXT" record qemu -o "$T/out.fetch" -- $(guest forever) 2>"$T/err" &
	pid=$!
	sleep 2
	kill -KILL "$(pgrep -P $pid)"
	code=0
	wait $pid || code=$?
	if [ -e "$T/out.fetch" ]; then
		[ $code -eq 137 ]
		grep -q "cut short" "$T/err"
	else
		[ $code -eq 1 ]
		grep -q "recorded nothing" "$T/err"
	fi
	[ "$(ls "$T" | grep -c 'out.fetch\.')" -eq 0 ]
}

@test "record qemu: without nokaslr it warns, with it it does not" {
	kernel
	run "$HOTTEXT" record qemu --vmlinux "$T/vmlinux" -o "$T/out.fetch" -- /bin/true -append "console=ttyS0"
	[[ $output == *"no 'nokaslr' in -append"* ]]
	run "$HOTTEXT" record qemu --vmlinux "$T/vmlinux" -o "$T/out.fetch" -- /bin/true -append "console=ttyS0 nokaslr"
	[[ $output != *"no 'nokaslr' in -append"* ]]
}

@test "record qemu: errors are one line, and leave nothing" {
	run "$HOTTEXT" record qemu -o "$T/out.fetch" -- ./no-such-emulator
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 1 ]
	[[ $output == *"cannot run './no-such-emulator'"*"is the emulator installed?"* ]]
	for emulator in true false; do
		run "$HOTTEXT" record qemu -o "$T/out.fetch" -- $emulator
		[ "$status" -eq 1 ]
		[[ $output == *"the emulator recorded nothing"* ]]
	done
	run "$HOTTEXT" record qemu -o "$T/out.fetch" -- sh -c 'exit 5'
	[ "$status" -eq 1 ]
	run "$HOTTEXT" record qemu -o "$T/none/out.fetch" -- true
	[ "$status" -eq 1 ]
	[[ $output == *"cannot write"* ]]
	run "$HOTTEXT" record qemu --mark foo -o "$T/out.fetch" -- true
	[ "$status" -eq 1 ]
	[[ $output == *"cannot find 'foo': no --vmlinux"* ]]
	run "$HOTTEXT" record qemu --plugin "$T/none.so" -o "$T/out.fetch" -- true
	[ "$status" -eq 1 ]
	run "$HOTTEXT" record qemu -o "$T/out.fetch" -- true -enable-kvm
	[ "$status" -eq 1 ]
	[[ $output == *"plugins need emulation"* ]]
	[ ! -e "$T/out.fetch" ]
}

@test "record qemu: a kernel of another architecture" {
	kernel
	run "$HOTTEXT" record qemu --vmlinux "$T/vmlinux" -o "$T/out.fetch" -- qemu-system-ppc
	[ "$status" -eq 1 ]
	[[ $output == *"under 'qemu-system-ppc': it is for x86_64"* ]]
}

@test "record qemu: wrong usage is status 2" {
	run "$HOTTEXT" record qemu -o "$T/out.fetch"
	[ "$status" -eq 2 ]
	run "$HOTTEXT" record qemu -- true
	[ "$status" -eq 2 ]
	run "$HOTTEXT" record qemu -o - -- true
	[ "$status" -eq 2 ]
	run "$HOTTEXT" record qemu --machine-sim 33x2 -o "$T/out.fetch" -- true
	[ "$status" -eq 2 ]
	run "$HOTTEXT" record what
	[ "$status" -eq 2 ]
	run "$HOTTEXT" record
	[ "$status" -eq 2 ]
}

@test "record: help names every recorder" {
	run "$HOTTEXT" record --help
	[ "$status" -eq 0 ]
	[[ $output == *" qemu "* ]]
	run "$HOTTEXT" record qemu --help
	[ "$status" -eq 0 ]
	[[ $output == *"--machine-sim"* ]]
}

@test "fetch: a trace cut anywhere is an error, with --force a prefix" {
	need_qemu
	"$HOTTEXT" record qemu -o "$T/out.fetch" -- $(guest) || [ $? -eq 33 ]
	printf '%s\n' 'ffffffff81000000 T _text' 'ffffffff81000000 T _stext' 'ffffffff81000010 T foo' \
		'ffffffff81001000 T _etext' >"$T/kallsyms"
	zstd -dcq "$T/out.fetch" | head -c 40000 >"$T/cut.fetch"
	run "$HOTTEXT" collect --kallsyms "$T/kallsyms" "$T/cut.fetch" -o "$T/out.hot"
	[ "$status" -eq 1 ]
	[[ $output == *"trace ends early"* ]]
	[ ! -e "$T/out.hot" ]
	run "$HOTTEXT" collect --force --kallsyms "$T/kallsyms" "$T/cut.fetch" -o "$T/out.hot"
	[[ $output == *"the readable part is used"* ]]
}
