#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# run.sh FUZZER WORK SECONDS [TARGET...]: each target (all without one) for so many seconds of wall-clock time, one after
# the other, from the corpus in the repository and what earlier runs left in WORK. Prints what was run; a finding is
# left as WORK/TARGET-* and makes the exit status 1.
set -u
fuzzer=$(realpath "$1") work=$2 seconds=$3
shift 3
# shellcheck disable=SC2046 # a list of words
[ $# -gt 0 ] || set -- $(sed -n 's/^\t{ "\([a-z]*\)", fuzz_.*/\1/p' tests/fuzz/targets.c)

# A malloc over 1 GB for a file of this size is a finding; so is a run of over 10 s.
fuzz()
{
	FUZZ_TARGET=$1 ASAN_OPTIONS=handle_abort=1 "$fuzzer" -close_fd_mask=3 -max_total_time="$seconds" -timeout=10 \
		-malloc_limit_mb=1024 -rss_limit_mb=2048 -max_len=65536 -artifact_prefix="$work/$1-" \
		-print_final_stats=1 "$work/$1" "tests/corpus/$1" < /dev/null
}

status=0
TIMEFORMAT='time %R %U'
for target; do
	[ -d "tests/corpus/$target" ] || { echo "no target '$target'"; exit 2; }
	mkdir -p "$work/$target"
	log=$work/$target.log
	found="no finding"
	{ time fuzz "$target"; } > "$log" 2>&1 || { found="a finding, see $log"; status=1; }
	runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
	read -r _ wall cpu < <(tail -n 1 "$log")
	echo "$target: $wall s, of these $cpu s of CPU, ${runs:-?} runs, $(find "$work/$target" -type f | wc -l) inputs kept, $found"
done
exit $status
