#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# One emulated run, every source: sources.sh [HOTTEXT [FOLDER]]
# The kernel that `make check-kernel` linked in link order boots once under our plugin and runs a few workloads under
# function_graph, perf record and /proc/profile. Then:
#  - the calls that function_graph counted between the marks against those of the fetch trace, function by function;
#  - trace.dat against tracefs' text of the same buffer;
#  - the shares of samples against those of instructions in the fetch trace, by chi-square. A timer's sample of code
#    that runs with interrupts off falls where they come back on, and samples are no independent draws: shares.c follows
#    the one through the trace and measures the other, by taking samples of the trace as the timer does. /proc/profile
#    has no times, so perf's own start and end are in it: it is shown as it is;
#  - an order from each source, replayed on the fetch trace that the check left.
# WORKLOADS, SCALE (per cent of their iterations) and FREQ may be set. FREQ is samples a second: taking one must not last a
# period, and the tracer makes it last; nor may the workloads' steps fit into periods (at 500 a second 56 of 80 samples of
# sighandle fall on one instruction). Exit status 1 when calls differ, or shares by more than sampling explains.
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
hottext=$(realpath "${1:-./hottext}") plugin=$(dirname "$(realpath "${1:-./hottext}")")/hottext-qemu.so
out=${2:-$(mktemp -d)} shares=$(realpath "${SHARES:-build/bench/shares}")
check=${HOTTEXT_CHECK:-${HOTTEXT_CACHE:-/var/cache/hottext}/check}/x86_64
[ -e "$check/link/bzImage" ] || { echo "skipped: no kernel in '$check/link' (make check-kernel)"; exit 77; }
mkdir -p "$out/bin"
out=$(realpath "$out")
cp "$hottext" "$plugin" "$out/bin/"
cp "$check/link/vmlinux" "$check/link/vmlinux.map" "$out/"
cd "$out"
PATH=$out/bin:$PATH

if [ ! -e run.fetch ] || [ ! -e console ]; then
	"$top/tests/kernel/initramfs.sh" record.cpio perf trace-cmd
	"$top/tests/kernel/boot.sh" x86_64 "$check/link/bzImage" record.cpio -o console -s stream -t "${SECONDS_MAX:-1200}" \
		-w hottext -w record -w qemu -w -q -w --vmlinux -w vmlinux -w --mark -w __x64_sys_getsid -w -o -w run.fetch -w -- \
		-- nokaslr profile=6 hottext.record=sources hottext.freq="${FREQ:-431}" hottext.scale="${SCALE:-4}" \
		hottext.run="${WORKLOADS:-null,io1,stat,sighandle}"
fi

# Files as the guest framed them: "NAME BYTES", the bytes.
at=0
while read -r name bytes < <(tail -c +$((at + 1)) stream | head -n 1) && [ -n "$bytes" ]; do
	at=$((at + ${#name} + ${#bytes} + 2))
	tail -c +$((at + 1)) stream | head -c "$bytes" > "$name"
	at=$((at + bytes))
done

# Calls between the marks: the fetch trace begins and ends where getsid() is entered.
awk '/__x64_sys_getsid\(\)/ { on = !on; if (on) marks++ }
	/^#/ || on { print }
	/LOST/ { lost++ }
	END { print marks + 0, lost + 0 > "marks" }' trace.txt > cut.txt
read -r marks lost < marks
hottext collect -q --vmlinux vmlinux run.fetch > fetch.hot
hottext collect -q --vmlinux vmlinux cut.txt > graph.hot 2> graph.err || true
calls() { awk '$1 == "func" && $4 > 0 { print $2, $4 }' "$1" | sort; }
calls fetch.hot > fetch.calls
calls graph.hot > graph.calls
awk '{ print $1 }' available_filter_functions | sort | uniq -u > traceable
join fetch.calls traceable | join -a 1 -a 2 -e 0 -o 0,1.2,2.2 - <(join graph.calls traceable) > both
awk -v marks="$marks" -v lost="$lost" '
	{ n++; a += $2; b += $3; if ($2 == $3) same++; else { d++; if (d <= 12) worst = worst sprintf("  %-40s %8d %8d\n", $1, $2, $3) } }
	END {
		printf "%d workloads between marks, %d gaps in the trace\n", marks, lost
		printf "calls of traceable functions: %d in the fetch trace, %d in function_graph\n", a, b
		printf "%d of %d functions agree exactly\n", same, n
		if (d) printf "  %-40s %8s %8s\n%s", "that differ", "fetch", "graph", worst
		exit d > 0
	}' both && status=0 || status=1

# The same buffer, as text and as trace.dat.
hottext collect -q --vmlinux vmlinux trace.txt > text.hot
hottext collect -q --vmlinux vmlinux trace.dat > dat.hot
calls text.hot > text.calls
calls dat.hot > dat.calls
join -a 1 -a 2 -e 0 -o 0,1.2,2.2 text.calls dat.calls |
	awk '{ n++; same += $2 == $3 } END { printf "trace.dat and tracefs text: %d of %d functions have the same calls\n", same, n; exit same < n }' ||
	status=1

# Whether each event's task, which the readers go by, is the one that sched_switch announced.
trace-cmd report -i trace.dat 2>trace-cmd.err | awk '
	!match($0, /-[0-9]+ +\[[0-9]+\]/) { next }
	{
		pid = substr($0, RSTART + 1) + 0
		cpu = $0; sub(/^[^[]*-[0-9]+ +\[/, "", cpu); cpu += 0
		if (to[cpu] != "" && pid != from[cpu]) { bad += pid != to[cpu]; switches++; to[cpu] = "" }
		else bad += to[cpu] == "" && cpu in last && pid != last[cpu]
		last[cpu] = pid; n++
	}
	/ sched_switch: / && match($0, / sched_switch: .* ==> /) {
		s = substr($0, RSTART, RLENGTH - 5); sub(/ \[[^[]*$/, "", s); sub(/.*:/, "", s); from[cpu] = s + 0
		s = substr($0, RSTART + RLENGTH); sub(/ \[[^[]*$/, "", s); sub(/.*:/, "", s); to[cpu] = s + 0
		bad += from[cpu] != pid
	}
	END { printf "trace.dat: %d events, %d switches of tasks, %d events of another task than sched_switch says\n", n, switches, bad; exit bad > 0 }' ||
	status=1

# Samples between the marks against what the trace says of them.
objdump -d --no-show-raw-insn vmlinux | awk -F '\t' '/\t(cli|sti|iretq?|sysretq?) *$/ {
	sub(/^ */, "", $1); sub(/:/, "", $1); sub(/ *$/, "", $2)
	print $1, $2 == "cli" || $2 == "sti" ? $2 : "iretq" }' > switches
trace-cmd report -i trace.dat 2>>trace-cmd.err |
	awk '/__x64_sys_getsid/ && match($0, /[0-9]+\.[0-9]+:/) { print substr($0, RSTART, RLENGTH - 1) }' > mark.times
perf script -F time,ip -i perf.data 2>perf.err | awk '
	NR == FNR { m[++n] = $1; next }
	/^ *[0-9]+\.[0-9]+:/ { t = $1 + 0; first = 1; next }
	NF && first { first = 0; for (i = 1; i < n; i += 2) if (t >= m[i] && t < m[i + 1]) print (i + 1) / 2, $1 }' mark.times - > samples
"$shares" vmlinux run.fetch switches samples perf_swevent_hrtimer || status=1

# /proc/profile, as it is: functions that expect fewer than 5 samples in one class.
hottext collect -q --vmlinux vmlinux profile > flat.hot
awk '
	$1 != "func" { next }
	FNR == NR { e[$2] = $3; all += $3; next }
	{ o[$2] = $3; n += $3 }
	END {
		for (f in e) {
			want = e[f] * n / all
			if (want < 5) { rest += want; got += o[f]; continue }
			chi += (o[f] - want) ^ 2 / want; k++
		}
		for (f in o) if (!(f in e)) got += o[f]
		if (rest > 0) { chi += (got - rest) ^ 2 / rest; k++ }
		printf "/proc/profile: %d samples in %d classes, chi-square %.1f against instructions where they ran\n", n, k, chi
	}' fetch.hot flat.hot

printf '%-24s %10s %10s %12s\n' "order from" functions samples "misses*"
misses() { hottext analyze -q --json --machine generic-4k-32 "$@" vmlinux "$check/all.fetch" 2>/dev/null | jq .after.misses; }
printf '%-24s %10s %10s %12d\n' "(link order)" - - "$(misses)"
for input in perf.data profile cut.txt trace.dat run.fetch; do
	hottext reorder -q --machine generic-4k-32 --force -o $input.order vmlinux $input 2>/dev/null || continue
	printf '%-24s %10d %10d %12d\n' $input "$(grep -vc '^#' $input.order)" \
		"$(hottext collect --vmlinux vmlinux -o x.hot $input 2>&1 | sed -n 's/^hottext: \([0-9]*\) samples.*/\1/p')" \
		"$(misses --order $input.order)"
done
echo "* of 32 x 4 KB, replayed over the check's trace of all workloads"
exit $status
