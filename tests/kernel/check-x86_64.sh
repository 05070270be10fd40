# SPDX-License-Identifier: GPL-3.0-or-later
# The x86-64 kernel, sourced by check.sh: stock, link order, cdsort and pack side by side.

. "$here/predictions.sh"
machine=generic-4k-32 sims="$prediction_sims 32:4K:flush=user" counts=
sim=32x4K.lru.kernel_misses

through_wrapper
record_sample
hottext collect -q --vmlinux "$out/link/vmlinux" "$out/all.fetch" -o "$out/all.hot"

plan cdsort cdsort "$out/all.fetch"
plan pack pack "$out/all.fetch"
plan perf pack "$out/perf.data"
plan perf-cdsort cdsort "$out/perf.data"
cp -r "$out/plan-pack" "$out/plan-first"
plan pack pack "$out/all.fetch"
check "the same input gives the same bytes in every file" diff -rq "$out/plan-first" "$out/plan-pack"
samples=$(planned perf .profile.kernel) resolved=$(planned perf .profile.resolved)
check "perf.data: $resolved of $samples kernel samples resolved in spite of KASLR" \
	holds "$samples > 1500 && $resolved >= 0.99 * $samples"

relinked="cdsort pack perf-cdsort perf"
for name in $relinked; do
	relink $name HOTTEXT_PLAN="$out/plan-$name"
done
rm -rf "$folder/.hottext"
relink once HOTTEXT_PROFILE="$out/all.hot"
for name in stock link $relinked; do
	measure $name all,mix
done

for name in $relinked; do
	check "$name: boots and runs the whole workload" grep -q '^DONE$' "$out/$name/console"
	check "$name: verify accepts the relinked kernel" exits 0 hottext verify "$out/plan-$name" "$out/$name/vmlinux"
done
check "verify refuses a kernel in link order" exits 3 hottext verify "$out/plan-pack" "$out/link/vmlinux"
check "verify refuses a kernel in another order" exits 3 hottext verify "$out/plan-pack" "$out/cdsort/vmlinux"

# The one build plans for the kernel's own machine, by the profile alone.
machine= plan once pack "$out/all.hot"
# The kernels planned on differ in build-id alone: the trial link has no kallsyms yet.
check "one build makes the plan of two builds" \
	cmp <(grep -v build-id "$out/plan-once/hottext.ld") <(grep -v build-id "$folder/.hottext/plan/hottext.ld")
check "one build obeys it" exits 0 hottext verify "$out/plan-once" "$out/once/vmlinux"

. "$here/probes.sh"
run_probes

names="stock link cdsort pack perf-cdsort perf"
figures() { for name in $names; do measured $name "$1" "$2"; done; }
before() { echo "- $(planned pack "$1")"; }
after() { for name in $relinked; do planned $name "$1"; done; }
sizes() { for name in $names; do $1 $name; done; }
{
	row "" "no sections" "link order" "cdsort(trace)" "pack(trace)" "cdsort(perf)" "pack(perf)"
	row "hot pages" $(before .before.pages) $(after .after.pages)
	row "ITLB entries per path, mean" $(before .before.entries_per_path.mean) $(after .after.entries_per_path.mean)
	row "ITLB entries per path, 95th percentile" $(before .before.entries_per_path.p95) $(after .after.entries_per_path.p95)
	row "ITLB entries per path, worst" $(before .before.entries_per_path.max) $(after .after.entries_per_path.max)
	row "kernel misses, 32x4K, predicted" $(before .before.misses) $(after .after.misses)
	row "kernel misses, 32x4K, measured" $(figures all $sim)
	row "  dd of 16 MB alone" $(figures dd $sim)
	row "  held-out mix" $(figures mix $sim)
	row "  flushed of user pages at switches" $(figures all 32x4K.lru.flush=user.kernel_misses)
	row "kernel misses, 64x4K, measured" $(figures all 64x4K.lru.kernel_misses)
	row "kernel misses, 8x2M, measured" $(figures all 8x2M.lru.user=apart.kernel_misses)
	row "bytes of text" $(sizes text_bytes)
	row "bytes of image" $(sizes image_bytes)
} | tee "$out/table.txt"

check_predictions cdsort pack
link=$(measured link all $sim) pack=$(measured pack all $sim) perf=$(measured perf all $sim)
check "trained on the trace: misses at most 1/6 of link order's ($pack of $link)" holds "$pack <= $link / 6"
linkdd=$(measured link dd $sim) packdd=$(measured pack dd $sim)
check "trained on the trace: dd's at most 1/300 ($packdd of $linkdd)" holds "$packdd <= $linkdd / 300"
check "trained on perf.data alone: at most 1/2 ($perf of $link)" holds "$perf <= $link / 2"
linkmix=$(measured link mix $sim) packmix=$(measured pack mix $sim)
check "held-out mix: at most 1/2 ($packmix of $linkmix)" holds "$packmix <= $linkmix / 2"
nr_plans=${PLANS:-100}
note "linking $nr_plans random plans"
check "$nr_plans random plans: every function there once and where it was laid out, every group whole" \
	env HOTTEXT=hottext HOTTEXT_LINK_KERNEL="$folder" HOTTEXT_LINK_CASES="$nr_plans" "$top/${LINK_TEST:-build/tests/unit/link}"
