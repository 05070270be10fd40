#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# all.sh FUZZER WORK MINUTES [TARGET...]: goes on with the target that was fuzzed least as it is now, a minute at a time,
# for so many minutes, or until each has had GOAL seconds of CPU time (600); then prints the table of doc/testing.md, from
# WORK/log. With 0 minutes the table alone. Exits 1 when there was a finding.
set -u
fuzzer=$1 work=$2 minutes=$3 goal=${GOAL:-600}
shift 3
. tests/fuzz/log.sh
# shellcheck disable=SC2046 # a list of words
[ $# -gt 0 ] || set -- $(all_targets)
mkdir -p "$work"
touch "$work/log"

# The one with the least CPU time; nothing when all have had enough.
least()
{
	local target cpu
	for target; do
		read -r cpu _ < <(fuzzed "$work/log" "$target")
		echo "$cpu $target"
	done | sort -s -n | awk -v goal="$goal" 'NR == 1 && $1 < goal { print $2 }'
}

end=$((SECONDS + minutes * 60)) status=0
while [ $SECONDS -lt $end ]; do
	target=$(least "$@")
	[ -n "$target" ] || break
	before=$(wc -l < "$work/log")
	left=$((end - SECONDS))
	tests/fuzz/run.sh "$fuzzer" "$work" $((left < 60 ? left : 60)) "$target" || status=1
	[ "$(wc -l < "$work/log")" -gt "$before" ] || exit 2
done

echo "| target | CPU s | inputs tried | corpus | found since |"
echo "|---|---|---|---|---|"
for target in $(all_targets); do
	read -r cpu runs found < <(fuzzed "$work/log" "$target")
	echo "$target $cpu $runs $(find "tests/corpus/$target" -type f | wc -l) $found"
done | awk '
function thousands(n) { while (match(n, /[0-9][0-9][0-9][0-9](,|$)/)) n = substr(n, 1, RSTART) "," substr(n, RSTART + 1); return n }
{ printf "| %s | %d | %s | %d | %s |\n", $1, $2, thousands($3), $4, $5 ? $5 : "nothing" }'
exit $status
