# SPDX-License-Identifier: GPL-3.0-or-later
# The x86-64 kernel built with clang and lld, sourced by check.sh.

machine=generic-4k-32 sims="32 64" counts= workloads=all unseen=mix

run_orders
check_orders
order_rows | tee "$out/table.txt"
check_misses
