# SPDX-License-Identifier: GPL-3.0-or-later
# The riscv64 kernel, sourced by check.sh. ld relaxes its calls: how long a function is follows from where those that
# it calls lie, so that a plan's addresses hold only when they come from a link in that order.

machine=generic-4k-32 sims="32 64" counts= workloads=all unseen=mix settle=yes

run_orders
check_orders
order_rows | tee "$out/table.txt"
check_misses
