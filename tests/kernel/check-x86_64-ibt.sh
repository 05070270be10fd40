# SPDX-License-Identifier: GPL-3.0-or-later
# The x86-64 kernel with what distributions switch on, sourced by check.sh: its last link is of vmlinux.o, and a guest
# tries everything that looks its functions up by name, by address or on the stack. QEMU's CPU has no IBT itself.

machine=generic-4k-32 sims="32 64 32:4K:flush=user" counts= workloads=all unseen=mix
parameters="pti=on spectre_v2=retpoline"
. "$here/probes.sh"

run_orders
check_orders
order_rows | tee "$out/table.txt"
check_misses

run_probes
check "page tables are isolated, retpolines used" eval \
	"grep -q 'page tables isolated: yes' '$out/pack/console.probe' && grep -q 'spectre_v2: Mitigation: Retpolines' '$out/pack/console.probe'"
check "no message of compiler or linker that the kernel in link order has not" cmp "$out/link/link.log" "$out/pack/link.log"
check "renaming what would fuse adds no message of objtool" same_objtool_messages
check "the plan lists the names whose functions change their order" positions_agree
check "verify holds the kernel to that list" eval \
	"hottext verify '$out/plan-pack' '$out/pack/vmlinux' | grep -q '^livepatch  '"
