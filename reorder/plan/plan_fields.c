/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan_fields.h"

#include "plan.h"

#define FIELD(type, member, key, kind) { key, kind, offsetof(struct type, member), false }
#define ADDED(type, member, key, kind) { key, kind, offsetof(struct type, member), true }

const struct field plan_top_fields[] = {
	FIELD(plan, tool, "tool", F_STRING),
	FIELD(plan, algorithm, "algorithm", F_STRING),
	FIELD(plan, effort, "effort", F_U32),
	ADDED(plan, command, "command", F_STRING),
	ADDED(plan, exact_units, "exact_units", F_BOOL),
	ADDED(plan, exact_align, "exact_align", F_BOOL),
	ADDED(plan, text_start, "text_start", F_ADDR),
	ADDED(plan, hot_start, "hot_start", F_ADDR),
	ADDED(plan, hot_end, "hot_end", F_ADDR),
	ADDED(plan, path_weight, "path_weight", F_U64),
	{ NULL, F_STRING, 0, false },
};

const struct field plan_vmlinux_fields[] = {
	FIELD(plan, vmlinux.build_id, "build_id", F_STRING),
	FIELD(plan, vmlinux.release, "release", F_STRING),
	FIELD(plan, vmlinux.arch, "arch", F_STRING),
	{ NULL, F_STRING, 0, false },
};

const struct field plan_profile_fields[] = {
	FIELD(plan, profile.samples, "samples", F_U64),
	FIELD(plan, profile.kernel, "kernel", F_U64),
	FIELD(plan, profile.resolved, "resolved", F_U64),
	FIELD(plan, profile.lost, "lost", F_U64),
	FIELD(plan, profile.matched_exact, "matched_exact", F_U64),
	FIELD(plan, profile.matched_name, "matched_name", F_U64),
	FIELD(plan, profile.matched_normalized, "matched_normalized", F_U64),
	FIELD(plan, profile.unmatched, "unmatched", F_U64),
	{ NULL, F_STRING, 0, false },
};

const struct field plan_hot_fields[] = {
	FIELD(plan, hot.functions, "functions", F_U64),
	FIELD(plan, hot.bytes, "bytes", F_U64),
	FIELD(plan, hot.touched_bytes, "touched_bytes", F_U64),
	FIELD(plan, hot.units, "units", F_U64),
	FIELD(plan, hot.fixed, "fixed", F_U64),
	{ NULL, F_STRING, 0, false },
};

const struct field plan_machine_fields[] = {
	FIELD(plan, machine.about, "about", F_STRING),
	FIELD(plan, machine.arch, "arch", F_STRING),
	FIELD(plan, machine.page_bytes, "page_bytes", F_U64),
	ADDED(plan, machine.block_bytes, "block_bytes", F_U64),
	ADDED(plan, machine.blocks_start, "blocks_start", F_ADDR),
	ADDED(plan, machine.blocks_end, "blocks_end", F_ADDR),
	FIELD(plan, machine.pinned_text, "pinned_text", F_BOOL),
	ADDED(plan, machine.why_no_saving, "why_no_saving", F_STRING),
	FIELD(plan, machine.miss_cycles_min, "miss_cycles_min", F_U32),
	FIELD(plan, machine.miss_cycles_max, "miss_cycles_max", F_U32),
	FIELD(plan, machine.clock_hz, "clock_hz", F_REAL),
	{ NULL, F_STRING, 0, false },
};

const struct field plan_side_fields[] = {
	FIELD(plan_side, pages, "pages", F_U64),
	FIELD(plan_side, misses, "misses", F_COUNT),
	FIELD(plan_side, l1i_misses, "l1i_misses", F_COUNT),
	ADDED(plan_side, estimate, "misses_per_path_estimated", F_ESTIMATE),
	ADDED(plan_side, insns, "insns", F_COUNT),
	ADDED(plan_side, text_bytes, "text_bytes", F_U64),
	{ NULL, F_STRING, 0, false },
};

const struct field plan_entries_fields[] = {
	FIELD(plan_side, mean, "mean", F_REAL),
	FIELD(plan_side, p95, "p95", F_REAL),
	FIELD(plan_side, max, "max", F_REAL),
	{ NULL, F_STRING, 0, false },
};

const struct field plan_source_fields[] = {
	FIELD(plan_source, reader, "reader", F_STRING),
	FIELD(plan_source, event, "event", F_STRING),
	FIELD(plan_source, host, "host", F_STRING),
	FIELD(plan_source, release, "release", F_STRING),
	FIELD(plan_source, build_id, "build_id", F_STRING),
	FIELD(plan_source, samples, "samples", F_U64),
	FIELD(plan_source, kernel, "kernel", F_U64),
	FIELD(plan_source, resolved, "resolved", F_U64),
	FIELD(plan_source, lost, "lost", F_U64),
	{ NULL, F_STRING, 0, false },
};

const struct field plan_guard_fields[] = {
	FIELD(plan_guard, roots, "roots", F_U32),
	FIELD(plan_guard, worse, "worse", F_U32),
	FIELD(plan_guard, worse_by_less, "worse_by_less", F_U32),
	FIELD(plan_guard, unseen_roots, "unseen_roots", F_U32),
	FIELD(plan_guard, unseen_worse, "unseen_worse", F_U32),
	FIELD(plan_guard, unseen_before, "unseen_before", F_REAL),
	FIELD(plan_guard, unseen_after, "unseen_after", F_REAL),
	FIELD(plan_guard, units, "units", F_U32),
	{ NULL, F_STRING, 0, false },
};

const struct field plan_curve_fields[] = {
	FIELD(plan_curve, page_bytes, "page_bytes", F_U64),
	FIELD(plan_curve, before, "before", F_REAL),
	FIELD(plan_curve, after, "after", F_REAL),
	{ NULL, F_STRING, 0, false },
};

const struct field plan_position_fields[] = {
	FIELD(plan_position, name, "name", F_STRING),
	FIELD(plan_position, function, "function", F_STRING),
	FIELD(plan_position, before, "before", F_U32),
	FIELD(plan_position, after, "after", F_U32),
	{ NULL, F_STRING, 0, false },
};

const struct field plan_measured_fields[] = {
	FIELD(plan_measured, page_bytes, "page_bytes", F_U64),
	FIELD(plan_measured, in_text, "in_text", F_U64),
	FIELD(plan_measured, elsewhere, "elsewhere", F_U64),
	FIELD(plan_measured, predicted, "predicted", F_COUNT),
	FIELD(plan_measured, same_pages, "same_pages", F_ESTIMATE),
	{ NULL, F_STRING, 0, false },
};

const struct field plan_missed_fields[] = {
	FIELD(plan_missed, addr, "addr", F_ADDR),
	FIELD(plan_missed, sampled, "sampled", F_U64),
	FIELD(plan_missed, predicted, "predicted", F_COUNT),
	FIELD(plan_missed, function, "function", F_NAME),
	{ NULL, F_STRING, 0, false },
};

const struct field plan_path_fields[] = {
	FIELD(plan_path, root, "root", F_STRING),
	FIELD(plan_path, kind, "kind", F_STRING),
	FIELD(plan_path, weight, "weight", F_U64),
	FIELD(plan_path, entries_before, "entries_before", F_REAL),
	FIELD(plan_path, entries_after, "entries_after", F_REAL),
	ADDED(plan_path, symbol, "symbol", F_STRING),
	ADDED(plan_path, variants, "variants", F_U32),
	ADDED(plan_path, max_before, "max_before", F_U32),
	ADDED(plan_path, max_after, "max_after", F_U32),
	ADDED(plan_path, touched, "touched_bytes", F_U32),
	{ NULL, F_STRING, 0, false },
};

const struct field plan_unit_fields[] = {
	FIELD(plan_unit, name, "name", F_STRING),
	FIELD(plan_unit, object, "object", F_NAME),
	FIELD(plan_unit, section, "section", F_STRING),
	FIELD(plan_unit, addr, "addr", F_ADDR),
	FIELD(plan_unit, size, "size", F_U32),
	FIELD(plan_unit, page, "page", F_I64),
	FIELD(plan_unit, weight, "weight", F_U64),
	FIELD(plan_unit, moved, "moved", F_BOOL),
	FIELD(plan_unit, why, "why", F_STRING),
	ADDED(plan_unit, group, "group", F_STRING),
	ADDED(plan_unit, align, "align", F_U32),
	ADDED(plan_unit, addr_before, "addr_before", F_ADDR),
	ADDED(plan_unit, page_before, "page_before", F_I64),
	ADDED(plan_unit, calls, "calls", F_U64),
	ADDED(plan_unit, path_weight, "path_weight", F_U64),
	ADDED(plan_unit, touched, "touched_bytes", F_U32),
	{ NULL, F_STRING, 0, false },
};
