#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Speed and memory of the readers against perf script and trace-cmd report, in one run, on files grown from a
# small recording:  bench/collect.sh [VMLINUX PERF.DATA [TRACE.DAT]], of the bundled ones when none is given.
# HOTTEXT and TMPDIR may be set, and SIZE (such as 1G) of the large files: by default perf.data has 1000 MB, trace.dat 200,
# for trace-cmd takes its time. Times are CPU seconds, the least of RUNS (3) runs: all of these programs have one thread,
# and other work on the machine does not count.
set -eu
hottext=${HOTTEXT:-./hottext}
[ $# = 0 ] || [ $# -ge 2 ] || { echo "usage: bench/collect.sh [VMLINUX PERF.DATA [TRACE.DAT]]" >&2; exit 2; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
if [ $# = 0 ]; then
	xz -dc samples/linux-6.1-x86_64/vmlinux.xz >"$dir/vmlinux"
	zstd -qdc samples/linux-6.1-x86_64/perf.data.zst >"$dir/perf.data"
	set -- "$dir/vmlinux" "$dir/perf.data" tests/data/ftrace/graph.dat
fi
big=1000 big_trace=200
[ -z "${SIZE:-}" ] || big=$(($(numfmt --from=iec "$SIZE") >> 20)) big_trace=$(($(numfmt --from=iec "$SIZE") >> 20))
vmlinux=$1 perfdata=$2 tracedat=${3:-}
${CC:-gcc} -O2 -D_GNU_SOURCE -I. -o "$dir/growperf" bench/growperf.c

# seconds NAME COMMAND...: CPU time into $dir/NAME
seconds() {
	local name=$1 best=
	shift
	for _ in $(seq "${RUNS:-3}"); do
		local t
		t=$( { TIMEFORMAT='%U %S'; time "$@" >"$dir/out" 2>"$dir/err"; } 2>&1 ) || { cat "$dir/err" >&2; exit 1; }
		best=$(echo "$t $best" | awk '{ t = $1 + $2; print NF < 3 || t < $3 ? t : $3 }')
	done
	echo "$best" >"$dir/$name"
}

collect() {
	"$hottext" collect --vmlinux "$vmlinux" -o "$dir/profile" "$1"
}

# Peak resident kilobytes of a collect.
peak() {
	"$hottext" collect -q --vmlinux "$vmlinux" -o "$dir/profile" "$1" &
	local pid=$! kb most=0
	while kb=$(awk '/VmHWM/ { print $2 }' "/proc/$pid/status" 2>/dev/null) && [ -n "$kb" ]; do
		most=$kb
		sleep 0.02
	done
	wait "$pid"
	echo "$most"
}

"$dir/growperf" "$perfdata" "$dir/50.data" 50
"$dir/growperf" "$perfdata" "$dir/big.data" "$big"
echo "input                      reader         seconds   MB/s"
row() {
	printf '%-26s %-12s %9.2f %6.0f\n' "$1" "$2" "$4" "$(echo "$3 $4" | awk '{ print $1 / 1048576 / ($2 > 0 ? $2 : 0.001) }')"
}
# perf_script NAME MB: the row of perf script for NAME.data, whose reading took us the time in $dir/NAME, and the ratio.
perf_script() {
	command -v perf >/dev/null || return 0
	seconds perf perf script -F comm,tid,time,event,ip -i "$dir/$1.data"
	row "perf.data $2 MB" "perf script" "$(stat -c %s "$dir/$1.data")" "$(cat "$dir/perf")"
	echo "  ratio $(paste "$dir/perf" "$dir/$1" | awk '{ printf "%.1f", $1 / $2 }'), wanted 30"
}

seconds 50 collect "$dir/50.data"
row "perf.data 50 MB" hottext "$(stat -c %s "$dir/50.data")" "$(cat "$dir/50")"
grep samples "$dir/err" | sed 's/^/  /'
perf_script 50 50
seconds big collect "$dir/big.data"
row "perf.data $big MB" hottext "$(stat -c %s "$dir/big.data")" "$(cat "$dir/big")"
echo "  wanted 400 MB/s; peak memory $(($(peak "$dir/big.data") / 1024)) MB, wanted below 300"
RUNS=1 perf_script big "$big"
rm "$dir/big.data" "$dir/50.data"

[ -n "$tracedat" ] && command -v trace-cmd >/dev/null || exit 0
${CC:-gcc} -O2 -D_GNU_SOURCE -o "$dir/growtrace" bench/growtrace.c
trace-cmd convert -i "$tracedat" -o "$dir/v6.dat" --file-version 6 >"$dir/out" 2>&1
"$dir/growtrace" "$dir/v6.dat" "$dir/trace.dat" "$big_trace"
size=$(stat -c %s "$dir/trace.dat")
seconds trace collect "$dir/trace.dat"
row "trace.dat $((size >> 20)) MB" hottext "$size" "$(cat "$dir/trace")"
grep samples "$dir/err" | sed 's/^/  /'
seconds report trace-cmd report -i "$dir/trace.dat"
row "trace.dat $((size >> 20)) MB" "trace-cmd" "$size" "$(cat "$dir/report")"
echo "  ratio $(echo "$(cat "$dir/report") $(cat "$dir/trace")" | awk '{ printf "%.1f", $1 / $2 }'), wanted 3"
