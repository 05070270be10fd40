# SPDX-License-Identifier: GPL-3.0-or-later
# ITLB misses that a CPU sampled, beside those predicted.
bats_require_minimum_version 1.5.0

HOTTEXT=${HOTTEXT:-./hottext}
case $HOTTEXT in /*) ;; *) HOTTEXT=$PWD/$HOTTEXT ;; esac
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

@test "a recording without such events, or of nothing, is refused" {
	run -1 "$HOTTEXT" analyze -q --as-seen --misses perf.data vmlinux perf.data
	[[ $output = *"hottext: cannot use 'perf.data': it has no event 'itlb'"* ]]
	run -2 "$HOTTEXT" analyze --json --misses itlb.data vmlinux perf.data
	[[ $output = *"hottext: analyze: --misses is a table: it excludes --json"* ]]
}
