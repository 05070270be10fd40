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

# Link order, to compare with; its recording is the modules' profile.
build_modules link
probe link
perf_text link > "$out/modules.perf"
hottext collect -q --vmlinux "$out/link/vmlinux" "$out/modules.perf" -o "$out/modules.hot" || die "cannot read the module's profile"
build_modules pack HOTTEXT_PROFILE="$out/modules.hot"
probe pack

check "no message of objtool, compiler or linker that the kernel in link order has not" \
	cmp "$out/link/link.log" "$out/pack/link.log"
check "renaming what would fuse adds no message of objtool" same_objtool_messages
say_probes pack
check "kallsyms has every function where nm has it" kallsyms_agree pack
check "perf names every sample as nm does" perf_agrees pack
check "stacks show the same functions as in link order" same_stacks
check "the plan lists the names whose functions change their order" positions_agree
check "verify holds the kernel to that list" eval \
	"hottext verify '$out/plan-pack' '$out/pack/vmlinux' | grep -q '^livepatch  '"
check_modules
