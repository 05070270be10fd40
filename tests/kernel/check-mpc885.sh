# SPDX-License-Identifier: GPL-3.0-or-later
# The MPC885 kernel, sourced by check.sh: kin of the 855T. No emulator runs it: it is linked, verified, and predicted under
# each mapping that the 8xx has for kernel text. Its profile is what the PowerPC 405 kernel fetched, by the functions'
# names: the same source, compiler and configuration of the generic kernel, another CPU's entry and MMU code.

boots="no: no emulator has this CPU"
mappings="mpc8xx mpc8xx-16k mpc8xx-512k mpc8xx-8m mpc8xx-8m-pinned"

donor=$(dirname "$out")/ppc405
[ -e "$donor/all.fetch" ] || (
	start_kernel ppc405
	link_order
	trace link all.fetch dd,pipe,fork,exec,files,tcp
) || die "cannot record on the PowerPC 405"
# Without the lines of its TLB-miss handlers, two fifths of what it ran: they run unmapped, and the 8xx's have other names.
hottext collect -q --vmlinux "$donor/link/vmlinux" "$donor/all.fetch" -o "$out/ppc405.all" || die "cannot read the 405's trace"
grep -vE '^(func|touch) (ITLBMiss|DTLBMiss|finish_tlb_load) ' "$out/ppc405.all" > "$out/ppc405.hot"

link_order
for mapping in $mappings; do
	machine=$mapping plan $mapping pack "$out/ppc405.hot"
done
machine=mpc8xx plan cdsort cdsort "$out/ppc405.hot"
cp -r "$out/plan-mpc8xx" "$out/plan-pack"
for name in cdsort pack; do
	relink $name HOTTEXT_PLAN="$out/plan-$name"
	check "$name: verify accepts the relinked kernel" exits 0 hottext verify "$out/plan-$name" "$out/$name/vmlinux"
done
check "verify refuses a kernel in link order" exits 3 hottext verify "$out/plan-pack" "$out/link/vmlinux"

# The 405's kernel under the TLB of the 8xx, for which there is a trace to replay.
donor_folder=$("$here/build.sh" folder ppc405 fs)
for mapping in $mappings; do
	hottext optimize -q "$donor/link/vmlinux" --map "$donor/link/vmlinux.map" --objects "$donor_folder" \
		"$donor/all.fetch" -o "$out/plan-405-$mapping" --machine $mapping > /dev/null || die "cannot plan the 405's kernel"
done
replayed() { for mapping in $mappings; do planned 405-$mapping "$1"; done; }

mapped() { for mapping in $mappings; do planned $mapping "$1"; done; }
# The line of the report that says where the hot region lies.
region() { grep -h '^region' "$out/plan-$1/report.txt" || echo "region    in pages too small to hold it"; }
{
	row "pages of kernel text" "4K" "16K" "512K" "8M" "8M pinned"
	row "hot pages, link order" $(mapped .before.pages)
	row "hot pages, pack" $(mapped .after.pages)
	row "ITLB entries per path, link order" $(mapped .before.entries_per_path.mean)
	row "ITLB entries per path, pack" $(mapped .after.entries_per_path.mean)
	row "  worst, link order" $(mapped .before.entries_per_path.max)
	row "  worst, pack" $(mapped .after.entries_per_path.max)
	row "ITLB misses a path, estimated, link order" $(mapped .before.misses_per_path_estimated)
	row "ITLB misses a path, estimated, pack" $(mapped .after.misses_per_path_estimated)
	row "bytes of text" $(mapped .after.text_bytes)
	row "the 405's kernel: ITLB misses, link order" $(replayed .before.misses)
	row "the 405's kernel: ITLB misses, pack" $(replayed .after.misses)
	row "(cdsort, 4K: $(planned cdsort .after.pages) hot pages, $(planned cdsort .after.entries_per_path.mean) entries per path)"
	for mapping in $mappings; do
		echo "$mapping: $(region $mapping)"
	done
} | tee "$out/table.txt"

before=$(planned mpc8xx .before.entries_per_path.mean) after=$(planned mpc8xx .after.entries_per_path.mean)
check "with 4 KB pages, entries per path fall by a third at least ($after of $before)" holds "$after * 3 <= $before * 2"
matched=$(planned mpc8xx '100 * (.profile.matched_exact + .profile.matched_name + .profile.matched_normalized) /
	(.profile.matched_exact + .profile.matched_name + .profile.matched_normalized + .profile.unmatched)')
check "$matched % of the other kernel's profile is found by name" holds "$matched >= 90"
