# SPDX-License-Identifier: GPL-3.0-or-later
# Formats are versioned: a file of an older or a newer version is refused by name, whoever reads it; what a version
# allows to be added or left out is read.
bats_require_minimum_version 1.5.0
load kernel.bash
SAMPLE=$BATS_TEST_DIRNAME/../samples/linux-6.1-x86_64

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return 1
	xz -dc "$SAMPLE/vmlinux.xz" > vmlinux
	printf 'hottext-profile 1\nsource x - - - - 9 9 9 0 0\nfunc vfs_read 9 1\n' > p.hot
	"$HOTTEXT" optimize -q --effort 1 vmlinux p.hot -o plan > /dev/null
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
	dir=$BATS_TEST_TMPDIR
}

# refused MESSAGE COMMAND...: just that, exit status 1, nothing on standard output.
refused() {
	local message=$1
	shift
	run -1 --separate-stderr "$HOTTEXT" "$@"
	[ "$stderr" = "hottext: $message" ] || { echo "said: $stderr"; return 1; }
	[ -z "$output" ]
}

@test "profile: older and newer versions are refused by every reader" {
	for v in 0 2 1.1; do
		sed "1s/1/$v/" p.hot > "$dir/p.hot"
		said="cannot read '$dir/p.hot': profile version '$v', this hottext knows 1"
		refused "$said" collect "$dir/p.hot"
		refused "$said" optimize vmlinux "$dir/p.hot" -o "$dir/plan"
		[ ! -e "$dir/plan" ]
		# Also where it comes second, as after cat.
		cat p.hot "$dir/p.hot" > "$dir/both.hot"
		refused "cannot read '$dir/both.hot': profile version '$v', this hottext knows 1" collect "$dir/both.hot"
	done
	# A line of a kind that this version has not.
	echo "weather vfs_read 3" | cat p.hot - > "$dir/p.hot"
	refused "cannot read '$dir/p.hot': line 4: not a line of a profile" collect "$dir/p.hot"
}

@test "plan.json: older and newer schemas are refused by every reader" {
	for v in 0 2; do
		mkdir -p "$dir/plan"
		sed "s/\"schema\": 1/\"schema\": $v/" plan/plan.json > "$dir/plan/plan.json"
		said="cannot read '$dir/plan/plan.json': schema $v, this hottext knows 1"
		refused "$said" report "$dir/plan"
		refused "$said" verify "$dir/plan" vmlinux
		refused "$said" explain "$dir/plan" vfs_read
		refused "$said" report --diff "$dir/plan" plan
		refused "$said" tlbdump --plan "$dir/plan" vmlinux /dev/null /dev/null
	done
	sed 's/"schema": 1/"schema": "one"/' plan/plan.json > "$dir/plan/plan.json"
	refused "'$dir/plan/plan.json' is no plan: bad or missing 'schema' in 'plan'" report "$dir/plan"
}

@test "plan.json: keys unknown to this version are ignored, keys that older plans lack are optional" {
	mkdir "$dir/plan"
	jq '.weather = "fine" | .units[0].weather = 3 | del(.command, .text_start, .curve, .sources, .edges) | del(.units[].align)
		| .units[].functions |= map(.[:3])' plan/plan.json > "$dir/plan/plan.json"
	run -0 "$HOTTEXT" report "$dir/plan"
	[[ $output == *"ITLB entries per path, mean"* ]]
	run -0 "$HOTTEXT" explain "$dir/plan" vfs_read
	[[ $output == *"evidence  not recorded in this plan"* ]]
}

@test "fetch trace: older and newer versions are refused by every reader" {
	zstd -dqc "$SAMPLE/mix.fetch" > raw || [ -s raw ]
	for v in 0 2 4294967295; do
		{ head -c 8 raw; printf "$(printf '\\x%02x\\x%02x\\x%02x\\x%02x' $((v & 255)) $((v >> 8 & 255)) $((v >> 16 & 255)) $((v >> 24 & 255)))"
		  tail -c +13 raw; } > "$dir/t.fetch"
		said="cannot read '$dir/t.fetch': fetch trace of version $v, only 1 is known"
		refused "$said" collect --vmlinux vmlinux "$dir/t.fetch"
		refused "$said" analyze vmlinux "$dir/t.fetch"
	done
}

@test "machine file: another version is refused, none is this one, and the page's example is one" {
	"$HOTTEXT" machines generic-4k-32 > "$dir/plain.machine"
	"$HOTTEXT" machines "$dir/plain.machine" > "$dir/out"
	{ echo version 1; cat "$dir/plain.machine"; } > "$dir/one.machine"
	run -0 "$HOTTEXT" machines "$dir/one.machine"
	for v in 0 2; do
		{ echo version $v; cat "$dir/plain.machine"; } > "$dir/m.machine"
		said="machine '$dir/m.machine': format version $v, this hottext knows 1"
		refused "$said" machines "$dir/m.machine"
		refused "$said" optimize --machine "$dir/m.machine" vmlinux p.hot -o "$dir/plan"
	done
	{ echo version one; cat "$dir/plain.machine"; } > "$dir/m.machine"
	refused "machine '$dir/m.machine': line 1: not a number in range 'one'" machines "$dir/m.machine"
	awk -f "$BATS_TEST_DIRNAME/docs/blocks.awk" "$BATS_TEST_DIRNAME/../doc/hottext-machine.5" | sed -n 's/^\t//p' > "$dir/page.machine"
	run -0 "$HOTTEXT" machines "$dir/page.machine"
	[[ $output == *"level 32 policy round-robin"* ]]
}

@test "the documents name the versions that the program has" {
	run -0 "$HOTTEXT" --version
	[[ $output == *"formats    profile 1, plan 1, fetch trace 1, machine 1"* ]]
	for line in '| profile | hottext-profile(5) | 1 |' '| plan.json | hottext-plan(5) | 1 |' \
		'| fetch trace | hottext-fetch(5) | 1 |' '| machine file | hottext-machine(5) | 1 |'; do
		grep -qF "$line" "$BATS_TEST_DIRNAME/../doc/stability.md"
	done
}

# broken MESSAGE < FRAGMENT: with that in a plan no kernel is linked, for that reason.
broken() {
	cat > cut/hottext.ld
	HOTTEXT_PLAN=cut run -1 kernel_link vmlinux
	[ "$output" = "hottext: 'cut/hottext.ld' $1" ] || { echo "said: $output"; return 1; }
	[ ! -e vmlinux ]
}

@test "hottext.ld: one that is empty, cut or filled with zeroes stops the link" {
	cd "$dir"
	unset HOTTEXT_PLAN HOTTEXT_PROFILE HOTTEXT_LD CROSS_COMPILE LINK SCRIPT
	make_kernel
	kernel_link k
	printf 'task;xfs_read_[k];schedule_[k] 50\ntask;vfs_read_[k];memcpy_[k] 9\n' > st.folded
	"$HOTTEXT" optimize -q --machine generic-4k-32 --effort 1 k st.folded -o whole
	HOTTEXT_PLAN=whole kernel_link whole.k
	mkdir cut
	broken "is no hottext fragment: it names no section" < /dev/null
	echo '/* soon */' | broken "is no hottext fragment: it names no section"
	head -c 500 /dev/zero | broken "is no hottext fragment: it holds a zero byte"
	{ cat whole/hottext.ld; printf '\0'; } | broken "is no hottext fragment: it holds a zero byte"
	said="is cut short or changed: it has %d of the 4 sections that its heading names"
	for nr in $(seq 5 $(($(wc -l < whole/hottext.ld) - 1))); do
		head -n "$nr" whole/hottext.ld > part
		broken "$(printf "$said" "$(grep -cE '^[[*]|hottext-member' part)")" < part
	done
	{ cat whole/hottext.ld; echo '*(.text.helper)'; } | broken "$(printf "$said" 5)"
	# Complete, and by hand without a heading.
	for edit in 's/$/\r/' '1,5d'; do
		sed "$edit" whole/hottext.ld > cut/hottext.ld
		HOTTEXT_PLAN=cut kernel_link vmlinux
		cmp <(nm whole.k) <(nm vmlinux)
	done
}

@test "profile: one that comes through a pipe is read once" {
	"$HOTTEXT" analyze -q vmlinux p.hot > "$dir/file"
	"$HOTTEXT" analyze -q vmlinux <(cat p.hot) > "$dir/pipe"
	cmp "$dir/file" "$dir/pipe"
	"$HOTTEXT" analyze -q vmlinux - < p.hot | cmp "$dir/file"
	"$HOTTEXT" reorder -q vmlinux p.hot > "$dir/file"
	"$HOTTEXT" reorder -q vmlinux <(cat p.hot) | cmp "$dir/file"
}

@test "profile: what it holds decides, not how it came" {
	zstd -dqc "$SAMPLE/perf.data.zst" > perf.data
	"$HOTTEXT" collect -q --vmlinux vmlinux perf.data -o "$dir/c.hot"
	{ head -n 1 "$dir/c.hot"; tail -n +2 "$dir/c.hot" | shuf --random-source=vmlinux; } > "$dir/s.hot"
	! cmp -s "$dir/c.hot" "$dir/s.hot"
	for profile in "$SAMPLE/perf.data.zst" "$dir/c.hot" "$dir/s.hot"; do
		"$HOTTEXT" complete -q vmlinux "$profile" -o "$dir/done"
		"$HOTTEXT" reorder -q --effort 1 --machine generic-4k-32 vmlinux "$profile" | grep -v "^# .*$profile" > "$dir/order"
		cat "$dir/done" "$dir/order" | sha256sum
	done > "$dir/sums"
	[ "$(uniq "$dir/sums" | wc -l)" -eq 1 ]
	grep -qv '^#' "$dir/order"
}

@test "order: members of archives are found again, by the link map's name and by a statement's" {
	zstd -dqc "$SAMPLE/vmlinux.map.zst" | sed -E 's# (fs/[a-z_/0-9]+)\.o$# lib/x.a(\1.o)#' > "$dir/vmlinux.map"
	"$HOTTEXT" reorder -q --map "$dir/vmlinux.map" vmlinux p.hot > "$dir/order"
	grep -q '^[^ ]* lib/x\.a(fs/' "$dir/order"
	"$HOTTEXT" analyze --json --map "$dir/vmlinux.map" --order "$dir/order" vmlinux p.hot > "$dir/json" 2> "$dir/err"
	[ "$(grep -c 'name no unit' "$dir/err")" -eq 0 ]
	grep -o '"addr":"[^"]*"' "$dir/json" | cut -d'"' -f4 | sort > "$dir/given"
	[ -s "$dir/given" ]
	grep -vE '^(#|\. = ALIGN)' "$dir/order" | grep -oE '0x[0-9a-f]+ [0-9]+$' | cut -d' ' -f1 | sort |
		comm -23 - "$dir/given" > "$dir/elsewhere"
	[ ! -s "$dir/elsewhere" ]
	sed -E 's/^([^ #]+) lib.x\.a\((.*)\) 0x.*/[l]ib\/x.a:\2(\1)/' "$dir/order" > "$dir/statements"
	grep -q '^.l.ib/x.a:fs/' "$dir/statements"
	"$HOTTEXT" analyze --json --map "$dir/vmlinux.map" --order "$dir/statements" vmlinux p.hot > "$dir/again"
	grep -o '"addr":"[^"]*"' "$dir/again" | cut -d'"' -f4 | sort | cmp "$dir/given"
}

@test "plan.json: no absolute path of the command gets in" {
	"$HOTTEXT" machines generic-4k-32 > "$dir/m.machine"
	for option in --machine="$dir/m.machine" -m"$dir/m.machine" "--machine $dir/m.machine"; do
		# shellcheck disable=SC2086
		"$HOTTEXT" optimize -q --effort 1 $option "$PWD/vmlinux" p.hot -o "$dir/plan" > "$dir/out"
		option=${option/"$dir/"/}
		[ "$(jq -r .command "$dir/plan/plan.json")" = "hottext optimize -q --effort 1 $option vmlinux p.hot" ]
		rm -r "$dir/plan"
	done
}
