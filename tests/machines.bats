#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# hottext machines: the list, one machine, a file, refusals.

setup() {
	HOTTEXT=${HOTTEXT:-./hottext}
	dir=$(mktemp -d)
}

teardown() {
	rm -rf "$dir"
}

@test "machines: every file is listed, sorted, each once" {
	"$HOTTEXT" machines >"$dir/list"
	sed 1d "$dir/list" | cut -d' ' -f1 >"$dir/names"
	(cd analyze/machines && ls *.machine) | sed 's/\.machine$//' | LC_ALL=C sort >"$dir/files"
	cmp "$dir/names" "$dir/files"
}

@test "machines: a name prints the very file" {
	for f in analyze/machines/*.machine; do
		"$HOTTEXT" machines "$(basename "$f" .machine)" >"$dir/out"
		cmp "$dir/out" "$f"
	done
}

@test "machines: every shipped file says where its numbers come from" {
	for f in analyze/machines/*.machine; do
		sed 1d "$f" >"$dir/body"
		grep -q '^# ..........' "$dir/body" || { echo "$f"; false; }
	done
}

@test "machines: what is printed reads back as a file" {
	"$HOTTEXT" machines skylake >"$dir/my.machine"
	"$HOTTEXT" machines -j "$dir/my.machine" >"$dir/a"
	"$HOTTEXT" machines -j skylake >"$dir/b"
	sed -i 's/"my"/"skylake"/' "$dir/a"
	cmp "$dir/a" "$dir/b"
}

@test "machines: --json is a list of all" {
	"$HOTTEXT" machines --json >"$dir/json"
	[ "$(grep -c '"arch":' "$dir/json")" = "$(ls analyze/machines/*.machine | wc -l)" ]
}

@test "machines: an unknown name is an error that tells what to do" {
	run "$HOTTEXT" machines pdp11
	[ "$status" -eq 1 ]
	[ "$output" = "hottext: unknown machine 'pdp11'; 'hottext machines' lists them" ]
}

@test "machines: a broken file is an error with its line" {
	printf 'level 32\ntext-page 5K\n' >"$dir/x.machine"
	run "$HOTTEXT" machines "$dir/x.machine"
	[ "$status" -eq 1 ]
	[[ $output == *"x.machine': line 2: not a page size"* ]]
}

@test "machines: what the page says of keys is held: once each, the version first, large-ways with large" {
	while IFS='|' read -r text says; do
		printf "$text" >"$dir/x.machine"
		run "$HOTTEXT" machines "$dir/x.machine"
		[ "$status" -eq 1 ]
		[ "$output" = "hottext: machine '$dir/x.machine': $says" ]
	done <<-'END'
		about a\nlevel 32\nabout b\n|line 3: a second 'about'
		level 32\n\nversion 1\n|line 3: not the first key: 'version'
		level 32 large-ways 4\n|line 1: no 'large' beside 'large-ways'
		level 32\ntext-page 64K\nedge-page 2M\n|an 'edge-page' larger than 'text-page'
	END
	printf '# mine\r\nversion 1\r\nabout\tthis one\r\nlevel 32\r\ntext-page 4K\r\n' >"$dir/x.machine"
	"$HOTTEXT" machines --json "$dir/x.machine" >"$dir/json"
	grep -q '"about": "this one",$' "$dir/json"
}

@test "machines: --json of names that are not UTF-8" {
	printf 'about \377\narch \377\nlevel 32\ntext-page 4K\n' >"$dir/x.machine"
	"$HOTTEXT" machines --json "$dir/x.machine" >"$dir/json"
	grep -q $'"arch": "\xef\xbf\xbd",$' "$dir/json"
}

@test "machines: two names are a usage error" {
	run "$HOTTEXT" machines skylake zen2
	[ "$status" -eq 2 ]
}

@test "machines: a full disk is exit status 1" {
	[ -w /dev/full ] || skip "no /dev/full"
	run bash -c "'$HOTTEXT' machines >/dev/full"
	[ "$status" -eq 1 ]
}

# The plan's guard, its search and its region count what an entry holds, as its entries per path do.
@test "machines: larger mappings that are held in 4 KB pieces make the plan that 4 KB pages make" {
	sample=samples/linux-6.1-ppc405
	xz -dc $sample/vmlinux.xz >"$dir/vmlinux"
	for page in '4K' '1M'; do
		printf 'level 16 max-page 4K\ntext-page %s\n' $page >"$dir/my.machine"
		"$HOTTEXT" optimize -q --machine "$dir/my.machine" --effort 1 "$dir/vmlinux" $sample/work.fetch -o "$dir/$page" >"$dir/out"
	done
	cmp "$dir/4K/sections.order" "$dir/1M/sections.order"
	cmp "$dir/4K/report.txt" "$dir/1M/report.txt"
}

# arm64_kernel OUTPUT FUNCTIONS FLAGS: of so many functions of 200 KB, its text 64 KB behind 2 MB; a profile of every fifth.
arm64_kernel() {
	local i
	printf '\t.section .head.text,"ax"\n\t.globl _start\n_start:\tret\n' >"$dir/k.s"
	for ((i = 0; i < $2; i++)); do
		printf '\t.section .text.f%d,"ax"\n\t.globl f%d\n\t.type f%d,%%function\nf%d:\n' $i $i $i $i
		printf '\t.skip 199996\n\tret\n\t.size f%d,.-f%d\n' $i $i
	done >>"$dir/k.s"
	aarch64-linux-gnu-as -o "$dir/k.o" "$dir/k.s"
	cat >"$dir/k.lds" <<-'END'
		SECTIONS {
			. = 0xffffffc008000000;
			.head.text : { _text = .; *(.head.text) }
			. = ALIGN(0x10000);
			.text : { _stext = .; *(.text.*) . = ALIGN(0x10000); _etext = .; }
		}
	END
	aarch64-linux-gnu-ld --build-id=sha1 -Map "$dir/$1.map" --defsym _kernel_flags_le_lo32=$3 -T "$dir/k.lds" \
		-o "$dir/$1" "$dir/k.o"
	for ((i = 5; i < $2; i += 5)); do echo "f0;f$i 10"; done >"$dir/$1.folded"
}

# planned KERNEL [ARG...]: its machine, the page size, hot pages before and after.
planned() {
	"$HOTTEXT" optimize -q --effort 1 "${@:2}" "$dir/$1" "$dir/$1.folded" -o "$dir/plan" >"$dir/out"
	jq -c '[.machine, .machine_details.page_bytes, .before.pages, .after.pages]' "$dir/plan/plan.json"
}

@test "machines: an arm64 kernel whose text fills no whole 2 MB is on 64 KB pieces" {
	command -v aarch64-linux-gnu-ld aarch64-linux-gnu-as >/dev/null || skip "no binutils for arm64"
	arm64_kernel small 18 0xa
	[[ $(planned small) == '["arm64-64k",65536,'* ]]
	of=$(planned small)
	[ "$(planned small --machine arm64-2m)" = "${of/64k/2m}" ]
}

@test "machines: an arm64 kernel with whole 2 MB blocks is on them, but for the text in front, where the hot text goes" {
	command -v aarch64-linux-gnu-ld aarch64-linux-gnu-as >/dev/null || skip "no binutils for arm64"
	arm64_kernel large 40 0xa
	# Of f0, 5 .. 35 before: f0 and f5 in front, the rest on three blocks, but the last behind them.
	[[ $(planned large) == '["arm64-2m",65536,'* ]]
	before=$("$HOTTEXT" optimize -q --effort 1 "$dir/large" "$dir/large.folded" -o "$dir/plan" >"$dir/out"
		jq .before.pages "$dir/plan/plan.json")
	after=$(jq .after.pages "$dir/plan/plan.json")
	[ "$before" -le "$after" ]
	# The plan tells where they are, and units go by the pages that paths go by.
	[ "$(jq -c '.machine_details | [.block_bytes, .blocks_start, .blocks_end]' "$dir/plan/plan.json")" = \
		'[2097152,"0xffffffc008200000","0xffffffc008600000"]' ]
	[ "$(jq -c '[.units[].page_before] - [.paths[].pages_before[][0]]' "$dir/plan/plan.json")" = '[]' ]
	# In pieces alone each function has one of its own.
	[ "$(planned large --machine arm64-64k | jq '.[2]')" -gt "$before" ]
	# The image's header tells the size of pages.
	arm64_kernel large 40 0xc
	[[ $(planned large) == '["arm64-16k-granule",16384,'* ]]
	arm64_kernel large 40 0xe
	[[ $(planned large) == '["arm64-64k-granule",65536,'* ]]
}
