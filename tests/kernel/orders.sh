# SPDX-License-Identifier: GPL-3.0-or-later
# Link order, cdsort and pack side by side: the course of every kernel that is profiled by a fetch trace alone.
# check-NAME.sh sources this, having set machine, sims and counts as steps.sh wants them, and
#   workloads   what is traced and measured
#   unseen      workloads that are measured only; may be empty
#   settle      yes: sizes follow from the order (linker relaxation), so plan once more with those of the first link

# Record, plan, link and measure.
run_orders()
{
	local name
	link_order
	trace link all.fetch "$workloads"
	for name in cdsort pack; do
		plan $name $name "$out/all.fetch"
		relink $name HOTTEXT_PLAN="$out/plan-$name"
		[ -z "${settle-}" ] || settle_plan $name
	done
	for name in link cdsort pack; do
		measure $name "$workloads${unseen:+,$unseen}"
	done
}

# The same again by the sizes of the kernel just linked; a fragment that comes out the same was obeyed already.
settle_plan()
{
	cp "$out/plan-$1/hottext.ld" "$out/first.ld"
	plan $1 $1 "$out/all.fetch" --trial "$out/$1/vmlinux.map"
	cmp -s "$out/first.ld" "$out/plan-$1/hottext.ld" || relink $1 HOTTEXT_PLAN="$out/plan-$1"
}

check_orders()
{
	local name
	for name in cdsort pack; do
		check "$name: boots and runs the whole workload" grep -q '^DONE$' "$out/$name/console"
		check "$name: verify accepts the relinked kernel" exits 0 hottext verify "$out/plan-$name" "$out/$name/vmlinux"
	done
	check "verify refuses a kernel in link order" exits 3 hottext verify "$out/plan-pack" "$out/link/vmlinux"
	check "verify refuses a kernel in another order" exits 3 hottext verify "$out/plan-pack" "$out/cdsort/vmlinux"
}

# A measured figure, a planned one (before and after), or what a command says of each of the three kernels.
three_measured() { for name in link cdsort pack; do measured $name "$1" "$2"; done; }
three_planned() { planned pack ".before.$1"; for name in cdsort pack; do planned $name ".after.$1"; done; }
three() { for name in link cdsort pack; do "$1" $name; done; }

# The rows that all kernels have.
order_rows()
{
	row "" "link order" cdsort pack
	row "hot pages of 4 KB" $(three_planned pages)
	row "ITLB entries per path, mean" $(three_planned entries_per_path.mean)
	row "ITLB entries per path, 95th percentile" $(three_planned entries_per_path.p95)
	row "ITLB entries per path, worst" $(three_planned entries_per_path.max)
	row "kernel misses predicted, $machine" $(three_planned misses)
	row "kernel misses, 32x4K, measured" $(three_measured all 32x4K.lru.kernel_misses)
	row "  dd of 16 MB alone" $(three_measured dd 32x4K.lru.kernel_misses)
	[ -z "$unseen" ] || row "  held-out mix" $(three_measured mix 32x4K.lru.kernel_misses)
	row "kernel misses, 64x4K, measured" $(three_measured all 64x4K.lru.kernel_misses)
	row "bytes of text" $(three text_bytes)
}

# Predicted misses hold, and they fall at least 5-fold.
check_misses()
{
	local name sim=32x4K.lru.kernel_misses predicted got link pack
	for name in cdsort pack; do
		predicted=$(planned $name .after.misses) got=$(measured $name all $sim)
		check "$name: predicted misses ($predicted) within 10 % of measured ($got)" \
			holds "$predicted <= 1.1 * $got && $predicted >= 0.9 * $got"
	done
	link=$(measured link all $sim) pack=$(measured pack all $sim)
	check "misses fall at least 5-fold on 32x4K ($pack of $link)" holds "$pack * 5 <= $link"
}

# symbol NAME SYMBOL: its address in that kernel, as a number of bash.
symbol() { echo $((0x$(nm "$out/$1/vmlinux" | awk -v s="$2" '$3 == s { print $1; exit }'))); }

# aligned SYMBOL BYTES: in every kernel.
aligned()
{
	local name
	for name in link cdsort pack; do
		[ $(($(symbol $name "$1") % $2)) = 0 ] || return 1
	done
}
