#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# run.sh FUZZER WORK SECONDS [TARGET...]: each target (all without one) for so many seconds of wall-clock time, one after
# the other, from the corpus in the repository and what earlier runs left in WORK. Prints what was run, and adds it to
# WORK/log: "TARGET KEY CPU-SECONDS RUNS FINDINGS", KEY being that of the sources (log.sh). A finding is left as
# WORK/TARGET-crash-* (or -leak-, -oom-, -timeout-) and makes the exit status 1.
set -u
fuzzer=$(realpath "$1") work=$2 seconds=$3
shift 3
. tests/fuzz/log.sh
# shellcheck disable=SC2046 # a list of words
[ $# -gt 0 ] || set -- $(all_targets)

# A malloc over 1 GB for a file of this size is a finding; so is a run of over 10 s. But libtracecmd asks for, and may
# clear, what a damaged trace.dat says, in a process of its own, which a small quarantine makes quicker to start.
fuzz()
{
	local limit=1024 seconds_each=10 options=handle_abort=1
	[ "$1" != tracedat ] || {
		limit=1000000 seconds_each=60
		options=$options:allocator_may_return_null=1:quarantine_size_mb=1
		options=$options:log_path=$work/report-$1:suppressions=tests/fuzz/asan.supp
	}
	FUZZ_TARGET=$1 ASAN_OPTIONS=$options "$fuzzer" -close_fd_mask=3 -max_total_time="$seconds" -timeout=$seconds_each \
		-malloc_limit_mb=$limit -rss_limit_mb=2048 -max_len=65536 -artifact_prefix="$work/$1-" \
		-print_final_stats=1 "$work/$1" "tests/corpus/$1" < /dev/null
}

# What a child of the fuzzer was found to do makes a file, but no exit status.
# A slow unit is none: another program may have had the processor.
new_findings() { find "$work" -maxdepth 1 -name "$1-*" ! -name "$1-slow-unit-*" -newer "$2"; }

status=0
TIMEFORMAT='time %R %U %S'
for target; do
	[ -d "tests/corpus/$target" ] || { echo "no target '$target'"; exit 2; }
	mkdir -p "$work/$target"
	log=$work/$target.log
	found="no finding" findings=0 key=$(source_key "$target")
	touch "$log"
	{ time fuzz "$target"; } > "$log.now" 2>&1 && [ -z "$(new_findings "$target" "$log")" ] ||
		{ found="a finding, see $log"; findings=1; status=1; }
	rm -f "$work/report-$target".*
	mv "$log.now" "$log"
	runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
	# A finding ends a run without its figures.
	[ -n "$runs" ] || runs=$(sed -n 's/^#\([0-9]*\).*/\1/p' "$log" | tail -n 1)
	read -r _ wall user system < <(tail -n 1 "$log")
	cpu=$(echo "$user $system" | awk '{ print $1 + $2 }')
	echo "$target $key $cpu ${runs:-0} $findings" >> "$work/log"
	echo "$target: $wall s, of these $cpu s of CPU, ${runs:-?} runs, $(find "$work/$target" -type f | wc -l) inputs kept, $found"
done
exit $status
