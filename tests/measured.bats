# SPDX-License-Identifier: GPL-3.0-or-later
# ITLB misses that a CPU sampled, beside those predicted.
bats_require_minimum_version 1.5.0

HOTTEXT=${HOTTEXT:-./hottext}
case $HOTTEXT in /*) ;; *) HOTTEXT=$PWD/$HOTTEXT ;; esac
TOP=$PWD
SAMPLE=$PWD/samples/linux-6.1-x86_64

setup_file() {
	xz -dc "$SAMPLE/vmlinux.xz" > "$BATS_FILE_TMPDIR/vmlinux"
	zstd -qdc "$SAMPLE/vmlinux.map.zst" > "$BATS_FILE_TMPDIR/vmlinux.map"
	zstd -qdc "$SAMPLE/perf.data.zst" > "$BATS_FILE_TMPDIR/perf.data"
	# An event's name as long as the other's: its samples stand for misses.
	LC_ALL=C sed 's/cpu-clock/itlb-miss/g' "$BATS_FILE_TMPDIR/perf.data" > "$BATS_FILE_TMPDIR/itlb.data"
}

setup() {
	cd "$BATS_FILE_TMPDIR"
}

@test "misses by page, as many as samples in text, the heaviest page first" {
	run -0 --separate-stderr "$HOTTEXT" analyze -q --as-seen --misses itlb.data vmlinux perf.data
	sampled=$("$HOTTEXT" collect -q --vmlinux vmlinux --event itlb itlb.data | awk '/^touch / { n += $4 } END { print n }')
	[[ $output = *"ITLB misses sampled: $sampled in text, "* ]]
	sed -n '/^page /,$p' <<< "$output" > table
	[ "$(sed 1d table | wc -l)" = 40 ]
	sed 1d table | awk '{ print $2 }' | sort -rn -c
	# The first page's share, from the profile: its functions' samples.
	"$HOTTEXT" collect -q --vmlinux vmlinux --event itlb itlb.data > itlb.hot
	page=$(awk 'NR == 2 { print $1 }' table)
	nm vmlinux | awk -v page="${page#0x}" '$2 ~ /[tT]/ && substr($1, 1, 13) == substr(page, 1, 13) { print $3 }' > there
	grep -qxF "$(awk 'NR == 2 { print $5 }' table)" there
}

@test "predicted misses by page add up to those that analyze predicts" {
	run -0 --separate-stderr "$HOTTEXT" analyze -q --machine generic-4k-32 --misses itlb.data vmlinux "$SAMPLE/all.fetch"
	predicted=$(sed -n 's/^predicted by the trace: \([0-9]*\), .*/\1/p' <<< "$output")
	[ "$predicted" = "$("$HOTTEXT" analyze -q --json --machine generic-4k-32 vmlinux "$SAMPLE/all.fetch" | jq .before.misses)" ]
	share=$(sed -n 's/^predicted by the trace: .* which \([0-9.]*\) % fall.*/\1/p' <<< "$output")
	awk -v s="$share" 'BEGIN { exit !(s > 0 && s < 100) }'
}

@test "the pages are those that an entry holds, where it holds a piece of a larger one" {
	printf 'level 32 max-page 4K\ntext-page 64K\n' > my.machine
	"$HOTTEXT" analyze -q --json --machine ./my.machine --as-seen --misses itlb.data vmlinux perf.data > pieces.json
	[ "$(jq -c '[.machine_details.page_bytes, .itlb_sampled.page_bytes]' pieces.json)" = '[4096,4096]' ]
}

@test "a recording without such events, or of nothing, is refused" {
	run -1 "$HOTTEXT" analyze -q --as-seen --misses perf.data vmlinux perf.data
	[[ $output = *"hottext: cannot use 'perf.data': it has no event 'itlb'"* ]]
	run -1 --separate-stderr "$HOTTEXT" analyze -q --json --as-seen --misses perf.data vmlinux perf.data
	[ -z "$output" ]
}

@test "JSON has all pages, with the same figures; report shows them as text and HTML" {
	run -0 --separate-stderr "$HOTTEXT" analyze -q --machine generic-4k-32 --misses itlb.data vmlinux "$SAMPLE/all.fetch"
	text=$output
	"$HOTTEXT" analyze -q --json --machine generic-4k-32 --misses itlb.data vmlinux "$SAMPLE/all.fetch" > plan.json
	[ "$(jq "([.itlb_sampled.pages[].sampled] | add) == .itlb_sampled.in_text" plan.json)" = true ]
	[ "$(jq '([.itlb_sampled.pages[].predicted] | add) <= .itlb_sampled.predicted and .itlb_sampled.predicted == .before.misses' plan.json)" = true ]
	# What the share is, from the pages.
	jq -r '.itlb_sampled as $s | [$s.pages[] | [.sampled / $s.in_text, .predicted / $s.predicted] | min] | add - $s.same_pages' plan.json |
		awk '{ exit !($1 < 1e-6 && $1 > -1e-6) }'
	[ "$(jq '.itlb_sampled.pages | length' plan.json)" -gt 40 ]
	"$HOTTEXT" report plan.json > again
	diff <(sed -n '/^ITLB misses sampled/,$p' <<< "$text") <(sed -n '/^ITLB misses sampled/,$p' again)
	"$HOTTEXT" report --json plan.json | cmp - plan.json
	"$HOTTEXT" report -o page.html plan.json
	sed -n '/<section id="sampled"/,/<\/section>/p' page.html > section
	[ "$(grep -c '<tr><th scope="row"' section)" = 40 ]
	grep -q "<th scope=\"row\" class=\"mono\">$(jq -r '.itlb_sampled.pages[0].addr' plan.json)</th>" section
	# Without a trace nothing is predicted.
	"$HOTTEXT" analyze -q --json --as-seen --misses itlb.data vmlinux perf.data > seen.json
	[ "$(jq -c '.itlb_sampled | [.predicted, .same_pages, .pages[0].predicted]' seen.json)" = "[null,null,null]" ]
	"$HOTTEXT" report -o page.html seen.json
	if sed -n '/<section id="sampled"/,/<\/section>/p' page.html | grep -i predicted; then
		false
	fi
	# Plans without are as they were.
	[ "$("$HOTTEXT" analyze -q --json --as-seen vmlinux perf.data | jq 'has("itlb_sampled")')" = false ]
	python3 -c 'import jsonschema' 2>/dev/null || skip "python3-jsonschema is not installed"
	python3 -c 'import json, sys, jsonschema
for f in sys.argv[2:]:
	jsonschema.Draft7Validator(json.load(open(sys.argv[1]))).validate(json.load(open(f)))' \
		"$BATS_TEST_DIRNAME/../doc/plan.schema.json" plan.json seen.json
}

# The attribute of iTLB-load-misses: type 3 (hardware cache), config ITLB | READ << 8 | MISS << 16.
@test "perf's iTLB-load-misses is known by name and by its attribute" {
	patch() {	# patch OFFSET BYTES: over a copy of the recording
		printf "$2" | dd of=cache.data bs=1 seek="$1" conv=notrunc status=none
	}
	u64() { od -An -t u8 -j "$1" -N 8 perf.data | tr -d ' '; }
	cp perf.data cache.data
	attr=$(u64 24)	# where the attrs stand
	[ "$(od -An -t u4 -j "$attr" -N 4 perf.data | tr -d ' ')" = 1 ]
	patch "$attr" '\003'
	patch $((attr + 8)) '\004\000\001'
	# The name that the recording gives to the event is that of another: leave only the attribute to go by.
	LC_ALL=C sed -i 's/cpu-clock/\x0\x0\x0\x0\x0\x0\x0\x0\x0/g' cache.data
	"$HOTTEXT" collect -q --vmlinux vmlinux --event iTLB-load-misses cache.data > cache.hot
	grep -q '^source perf.data iTLB-load-misses ' cache.hot
	run -0 --separate-stderr "$HOTTEXT" analyze -q --as-seen --misses cache.data vmlinux perf.data
	"$HOTTEXT" analyze -q --as-seen --misses itlb.data vmlinux perf.data > other
	diff <(echo "$output") other
}

@test "misses that all lie elsewhere are no measurement" {
	run -1 "$HOTTEXT" analyze -q --force --misses itlb.data "$TOP/tests/corpus/elf/kernel-x86-64" "$TOP/tests/data/collect/chains.hot"
	[ "$output" = "hottext: cannot use 'itlb.data': no ITLB miss of it lies in the kernel's text" ]
}

@test "paths that an order makes worse are counted" {
	run -0 --separate-stderr "$HOTTEXT" optimize --algorithm density --machine generic-4k-32 -o worse vmlinux perf.data
	[[ $stderr =~ "warning: "[0-9]+" of "[0-9]+" paths need more ITLB entries than now (-v names them)" ]]
}
