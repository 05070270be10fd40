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
