/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The keys of plan.json: one table of them drives both the writer and the reader. */
#ifndef REORDER_PLAN_PLAN_FIELDS_H
#define REORDER_PLAN_PLAN_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

enum field_kind {
	F_STRING,	/* const char *, never NULL */
	F_NAME,		/* const char *, NULL is null */
	F_U32,
	F_U64,
	F_COUNT,	/* uint64_t, PLAN_UNKNOWN is null */
	F_I64,
	F_ADDR,		/* uint64_t as "0x...": beyond what JSON numbers hold */
	F_BOOL,
	F_REAL,
	F_ESTIMATE,	/* double, negative is null */
};

struct field {
	const char *key;
	enum field_kind kind;
	size_t off;
	bool added;	/* may be missing: then it stays as it is */
};

/* Each closed by a NULL key; offsets are in struct plan, or in the item that the name says. */
extern const struct field plan_top_fields[];
extern const struct field plan_vmlinux_fields[];
extern const struct field plan_profile_fields[];
extern const struct field plan_hot_fields[];
extern const struct field plan_machine_fields[];
extern const struct field plan_side_fields[];
extern const struct field plan_entries_fields[];
extern const struct field plan_source_fields[];
extern const struct field plan_guard_fields[];
extern const struct field plan_curve_fields[];
extern const struct field plan_position_fields[];
extern const struct field plan_measured_fields[];
extern const struct field plan_missed_fields[];
extern const struct field plan_path_fields[];
extern const struct field plan_unit_fields[];

#endif
