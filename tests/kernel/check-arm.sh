# SPDX-License-Identifier: GPL-3.0-or-later
# The 32-bit arm kernel, sourced by check.sh.

machine=generic-4k-32 sims="32 64" counts= workloads=all unseen=mix settle=

run_orders
check_orders
order_rows | tee "$out/table.txt"
check_misses
