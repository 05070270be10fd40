#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# hottext calibrate: published measurements have known answers; this CPU's has a form.

setup() {
	HOTTEXT=${HOTTEXT:-./hottext}
	data=tests/data/calibrate
	dir=$(mktemp -d)
}

teardown() {
	rm -rf "$dir"
}

@test "calibrate: Itanium pointer chasing, knees at 30-40 and 110-120, remote tables 3 times as dear" {
	"$HOTTEXT" calibrate --from "$data/chase.txt" >"$dir/out"
	[ "$(grep -c 'knee between 30 and 40 pages' "$dir/out")" -eq 2 ]
	[ "$(grep -c 'knee between 110 and 120 pages' "$dir/out")" -eq 2 ]
	grep -q '^column 3 is at most 3.3 times column 2, at 300 pages$' "$dir/out"
	[ "$(wc -l <"$dir/out")" -eq 7 ]
}

@test "calibrate: Itanium ticks, two populations and what belongs to neither" {
	"$HOTTEXT" calibrate --from "$data/ticks.txt" >"$dir/out"
	[ "$(grep -c 'hits .* median 10$' "$dir/out")" -eq 2 ]
	grep -Eq 'misses .* median 9(3[5-9]|4[0-5])' "$dir/out"
	grep -Eq 'misses .* median 7(4[5-9]|5[0-5])' "$dir/out"
	grep -q 'apart: 1349, touch 3' "$dir/out"
	grep -q 'apart: 1135, touch 3' "$dir/out"
}

@test "calibrate: a plot, the same twice" {
	"$HOTTEXT" calibrate --from "$data/chase.txt" --plot "$dir/a.svg" >/dev/null
	"$HOTTEXT" calibrate --from "$data/chase.txt" --plot "$dir/b.svg" >/dev/null
	cmp "$dir/a.svg" "$dir/b.svg"
	[ "$(grep -c '<polyline' "$dir/a.svg")" -eq 2 ]
}

@test "calibrate: this CPU, in under 30 seconds" {
	SECONDS=0
	run "$HOTTEXT" calibrate
	[ "$status" -eq 0 ] || [ "$status" -eq 3 ]
	[ "$SECONDS" -lt 30 ]
	[[ $output == *"data, 4 KB pages"* ]]
	[ "$status" -eq 0 ] || [[ $output == *"too noisy to tell"* ]]
}

@test "calibrate: damaged tables" {
	printf '1 2\n2 x\n' >"$dir/t"
	run "$HOTTEXT" calibrate --from "$dir/t"
	[ "$status" -eq 1 ]
	[ "$output" = "hottext: cannot read '$dir/t': line 2: not a number" ]
	printf '1 2\n2\n' >"$dir/t"
	run "$HOTTEXT" calibrate --from "$dir/t"
	[ "$status" -eq 1 ]
	[[ $output == *"line 2: another number of columns than before" ]]
	: >"$dir/t"
	run "$HOTTEXT" calibrate --from "$dir/t"
	[ "$status" -eq 1 ]
	[[ $output == *"fewer than four lines of numbers" ]]
}

@test "calibrate: one touch that was held up is not the misses" {
	printf '3\n3\n3\n3\n3\n3\n30\n31\n30\n29\n30\n900\n' | "$HOTTEXT" calibrate --from - >"$dir/out"
	printf 'column 1\n  hits       6, median 3\n  misses     5, median 30\n  apart: 900, touch 12\n' | cmp - "$dir/out"
}

@test "calibrate: costs of nothing, and beyond all measure" {
	printf '1 0\n2 0\n4 0\n8 0\n16 5\n32 5\n' >"$dir/t"
	"$HOTTEXT" calibrate --from "$dir/t" >"$dir/out"
	printf 'column 2\n  knee between 8 and 16 pages: 0 -> 5\n' | cmp - "$dir/out"
	printf '1 1\n2 1\n4 1e308\n' >"$dir/t"
	run "$HOTTEXT" calibrate --from "$dir/t"
	[ "$status" -eq 1 ]
	[ "$output" = "hottext: cannot read '$dir/t': line 3: a number over 1e12" ]
}

@test "calibrate: usage" {
	run "$HOTTEXT" calibrate here
	[ "$status" -eq 2 ]
	run "$HOTTEXT" calibrate --from "$data/chase.txt" -o "$dir/x.machine"
	[ "$status" -eq 2 ]
}
