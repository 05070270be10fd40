# SPDX-License-Identifier: GPL-3.0-or-later
# The arm64 kernel, sourced by check.sh. Linked with the workaround of Cortex-A53 erratum 843419: ld puts a veneer
# in for each sequence at a page's end that it must break, so that their number follows the order.

machine=generic-4k-32 sims="32 64" counts= workloads=all unseen=mix settle=

veneers() { nm "$out/$1/vmlinux" | grep -c ' e843419@' || true; }

run_orders
check_orders
check "text begins and ends at 64 KB, as each of the segments must" \
	eval "aligned _stext 65536 && aligned _etext 65536 && aligned __inittext_begin 65536"
{
	order_rows
	row "veneers of erratum 843419" $(three veneers)
} | tee "$out/table.txt"
check_misses
