# SPDX-License-Identifier: GPL-3.0-or-later
# The PowerPC 405 kernel, sourced by check.sh: TLB-miss exceptions that the guest itself takes.

# Exceptions of the 40x: 0x1100 data TLB miss, 0x1200 instruction TLB miss (PowerPC 405 user's manual, exceptions).
machine=ppc405 sims=32 counts="0x1200 0x1100"
# Software TLB refills are slow to emulate: dd whole, the others shortened.
workloads=dd,pipe,fork,exec,files,tcp

link_order
trace link all.fetch $workloads

for name in cdsort pack; do
	plan $name $name "$out/all.fetch"
	relink $name HOTTEXT_PLAN="$out/plan-$name"
done
for name in link cdsort pack; do
	measure $name $workloads
done
for name in cdsort pack; do
	check "$name: boots and runs the whole workload" grep -q '^DONE$' "$out/$name/console"
	check "$name: verify accepts the relinked kernel" exits 0 hottext verify "$out/plan-$name" "$out/$name/vmlinux"
done
check "verify refuses a kernel in link order" exits 3 hottext verify "$out/plan-pack" "$out/link/vmlinux"

figures() { for name in link cdsort pack; do measured $name "$1" "$2"; done; }
{
	row "dd of 16 MB" "2.4" "2.6" "link order" cdsort pack
	row "ITLB misses in the kernel" 1369 118288 $(figures dd 0x1200.kernel)
	row "DTLB misses in the kernel" 167236 207773 $(figures dd 0x1100.kernel)
	row "kernel instructions" - - $(figures dd kernel_insns)
	row "kernel misses, 32x4K LRU" - - $(figures dd 32x4K.lru.kernel_misses)
	row "all workloads"
	row "ITLB misses in the kernel" - - $(figures all 0x1200.kernel)
	row "DTLB misses in the kernel" - - $(figures all 0x1100.kernel)
	row "kernel misses, 32x4K LRU" - - $(figures all 32x4K.lru.kernel_misses)
	row "(2.4, 2.6: published for an 855T at 48 MHz, 32 entries; the others: this kernel on an emulated 405)"
} | tee "$out/table.txt"

link=$(measured link dd 0x1200.kernel) pack=$(measured pack dd 0x1200.kernel)
check "dd: at most 9300 ITLB misses in the kernel ($pack; link order $link)" holds "$pack <= 9300"
linki=$(measured link dd kernel_insns) packi=$(measured pack dd kernel_insns)
check "dd: misses fall at least 5-fold on 32x4K" \
	holds "$(measured pack dd 32x4K.lru.kernel_misses) * 5 <= $(measured link dd 32x4K.lru.kernel_misses)"
