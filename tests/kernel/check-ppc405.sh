# SPDX-License-Identifier: GPL-3.0-or-later
# The PowerPC 405 kernel, sourced by check.sh: TLB-miss exceptions that the guest itself takes. Its text is mapped by
# 4 KB pages (STRICT_KERNEL_RWX), and by those of 16 MB when the same kernel is booted with rodata=off
# (strict_kernel_rwx_enabled() in mmu_mapin_ram, arch/powerpc/mm/nohash/40x.c).

# Exceptions of the 40x: 0x1100 data TLB miss, 0x1200 instruction TLB miss (PowerPC 405 user's manual, exceptions).
machine=ppc405 sims="32 64" counts="0x1200 0x1100"
# Software TLB refills are slow to emulate: dd whole, the others shortened.
workloads=dd,pipe,fork,exec,files,tcp unseen= settle=

run_orders
trace link mix.fetch mix	# for make bench-layout
for name in link cdsort pack; do
	mkdir -p "$out/$name-large"
	ln -s "../$name/vmlinux" "../$name/$image" "$out/$name-large/"
	parameters=rodata=off measure $name-large "$workloads"
done
check_orders
machine=ppc405-16m plan large pack "$out/all.fetch"
check "with 16 MB pages, hottext promises no fewer entries" \
	holds "$(planned large .after.entries_per_path.mean) >= $(planned large .before.entries_per_path.mean)"

# The same of the three kernels under large pages.
large() { for name in link cdsort pack; do measured $name-large "$1" "$2"; done; }
# rows FIGURES: of one mapping.
rows()
{
	row "  ITLB misses in the kernel" ${3-} $($1 $2 0x1200.kernel)
	row "  ITLB misses of programs" ${4-} $($1 $2 0x1200.user)
	row "  DTLB misses in the kernel" ${5-} $($1 $2 0x1100.kernel)
	row "  kernel instructions" ${3:+- -} $($1 $2 kernel_insns)
}
{
	row "dd of 16 MB" "2.4" "2.6" "link order" cdsort pack
	row "kernel text in 4 KB pages"
	rows three_measured dd "1369 118288" "2179 142369" "167236 207773"
	row "kernel text in 16 MB pages"
	rows large dd "- -" "- -" "- -"
	echo
	row "dd, pipe, fork, exec, files, tcp" "link order" cdsort pack
	row "kernel text in 4 KB pages"
	rows three_measured all
	row "kernel text in 16 MB pages"
	rows large all
	echo
	order_rows
	row "(2.4, 2.6: published for an 855T at 48 MHz, 32 entries; the others: this kernel on an emulated 405)"
} | tee "$out/table.txt"

link=$(measured link dd 0x1200.kernel) pack=$(measured pack dd 0x1200.kernel)
check "dd: at most 9300 ITLB misses in the kernel ($pack; link order $link)" holds "$pack <= 9300"
# Without any miss: what an order can save of the instructions, and no more.
least=$(measured link-large dd kernel_insns) packi=$(measured pack dd kernel_insns)
check "dd: at most 5 % more kernel instructions than with large pages ($packi, $least)" holds "$packi <= 1.05 * $least"
check "dd: misses fall at least 5-fold on 32x4K" \
	holds "$(measured pack dd 32x4K.lru.kernel_misses) * 5 <= $(measured link dd 32x4K.lru.kernel_misses)"
check "dd: with 16 MB pages, link order misses less than a hundredth" \
	holds "$(measured link-large dd 0x1200.kernel) * 100 <= $link"
