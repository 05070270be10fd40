/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan.json: one table of keys drives both the writer and the reader. */
#include "plan.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/error.h"
#include "lib/file.h"
#include "lib/mem.h"
#include "lib/number.h"

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
};

struct field {
	const char *key;
	enum field_kind kind;
	size_t off;
	bool added;	/* may be missing: then it stays as it is */
};

#define FIELD(type, member, key, kind) { key, kind, offsetof(struct type, member), false }
#define ADDED(type, member, key, kind) { key, kind, offsetof(struct type, member), true }

static const struct field top_fields[] = {
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
};

static const struct field vmlinux_fields[] = {
	FIELD(plan, vmlinux.build_id, "build_id", F_STRING),
	FIELD(plan, vmlinux.release, "release", F_STRING),
	FIELD(plan, vmlinux.arch, "arch", F_STRING),
};

static const struct field profile_fields[] = {
	FIELD(plan, profile.samples, "samples", F_U64),
	FIELD(plan, profile.kernel, "kernel", F_U64),
	FIELD(plan, profile.resolved, "resolved", F_U64),
	FIELD(plan, profile.lost, "lost", F_U64),
	FIELD(plan, profile.matched_exact, "matched_exact", F_U64),
	FIELD(plan, profile.matched_name, "matched_name", F_U64),
	FIELD(plan, profile.matched_normalized, "matched_normalized", F_U64),
	FIELD(plan, profile.unmatched, "unmatched", F_U64),
};

static const struct field hot_fields[] = {
	FIELD(plan, hot.functions, "functions", F_U64),
	FIELD(plan, hot.bytes, "bytes", F_U64),
	FIELD(plan, hot.touched_bytes, "touched_bytes", F_U64),
	FIELD(plan, hot.units, "units", F_U64),
	FIELD(plan, hot.fixed, "fixed", F_U64),
};

static const struct field machine_fields[] = {
	FIELD(plan, machine.about, "about", F_STRING),
	FIELD(plan, machine.arch, "arch", F_STRING),
	FIELD(plan, machine.page_bytes, "page_bytes", F_U64),
	FIELD(plan, machine.pinned_text, "pinned_text", F_BOOL),
	FIELD(plan, machine.miss_cycles_min, "miss_cycles_min", F_U32),
	FIELD(plan, machine.miss_cycles_max, "miss_cycles_max", F_U32),
	FIELD(plan, machine.clock_hz, "clock_hz", F_REAL),
};

static const struct field side_fields[] = {
	FIELD(plan_side, pages, "pages", F_U64),
	FIELD(plan_side, misses, "misses", F_COUNT),
	FIELD(plan_side, l1i_misses, "l1i_misses", F_COUNT),
	ADDED(plan_side, insns, "insns", F_COUNT),
	ADDED(plan_side, text_bytes, "text_bytes", F_U64),
};

static const struct field entries_fields[] = {
	FIELD(plan_side, mean, "mean", F_REAL),
	FIELD(plan_side, p95, "p95", F_REAL),
	FIELD(plan_side, max, "max", F_REAL),
};

static const struct field source_fields[] = {
	FIELD(plan_source, reader, "reader", F_STRING),
	FIELD(plan_source, event, "event", F_STRING),
	FIELD(plan_source, host, "host", F_STRING),
	FIELD(plan_source, release, "release", F_STRING),
	FIELD(plan_source, build_id, "build_id", F_STRING),
	FIELD(plan_source, samples, "samples", F_U64),
	FIELD(plan_source, kernel, "kernel", F_U64),
	FIELD(plan_source, resolved, "resolved", F_U64),
	FIELD(plan_source, lost, "lost", F_U64),
};

static const struct field curve_fields[] = {
	FIELD(plan_curve, page_bytes, "page_bytes", F_U64),
	FIELD(plan_curve, before, "before", F_REAL),
	FIELD(plan_curve, after, "after", F_REAL),
};

static const struct field path_fields[] = {
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
};

static const struct field unit_fields[] = {
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
};

/* Writing */

/* JSON integers are signed here. */
static json_t *json_count(uint64_t v)
{
	return json_integer(v > INT64_MAX ? INT64_MAX : (json_int_t)v);
}

static json_t *json_address(uint64_t addr)
{
	char buf[24];

	snprintf(buf, sizeof(buf), "0x%" PRIx64, addr);
	return json_string(buf);
}

static json_t *field_json(const struct field *f, const void *base)
{
	const void *at = (const char *)base + f->off;

	switch (f->kind) {
	case F_STRING:
	case F_NAME: {
		const char *s = *(const char *const *)at;

		return s ? json_string(s) : f->kind == F_NAME ? json_null() : json_string("");
	}
	case F_U32:
		return json_integer(*(const uint32_t *)at);
	case F_U64:
		return json_count(*(const uint64_t *)at);
	case F_COUNT:
		return *(const uint64_t *)at == PLAN_UNKNOWN ? json_null() : json_count(*(const uint64_t *)at);
	case F_I64:
		return json_integer(*(const int64_t *)at);
	case F_ADDR:
		return json_address(*(const uint64_t *)at);
	case F_BOOL:
		return json_boolean(*(const bool *)at);
	case F_REAL:
		return json_real(*(const double *)at);
	}
	return NULL;
}

static json_t *fields_json(const struct field *f, size_t nr, const void *base)
{
	json_t *obj = json_object();

	for (size_t i = 0; i < nr; i++)
		json_object_set_new(obj, f[i].key, field_json(&f[i], base));
	return obj;
}
#define FIELDS_JSON(fields, base) fields_json(fields, ARRAY_SIZE(fields), base)

/* A short array of integers. */
static json_t *tuple(uint64_t a, uint64_t b)
{
	json_t *t = json_array();

	json_array_append_new(t, json_count(a));
	json_array_append_new(t, json_count(b));
	return t;
}

static json_t *triple(uint64_t a, uint64_t b, uint64_t c)
{
	json_t *t = tuple(a, b);

	json_array_append_new(t, json_count(c));
	return t;
}

static json_t *unit_json(const struct plan *p, const struct plan_unit *u)
{
	json_t *obj = FIELDS_JSON(unit_fields, u), *functions = json_array(), *ranges = json_array();

	for (uint32_t i = u->first_function; i < u->first_function + u->nr_functions; i++) {
		const struct plan_function *f = &p->functions[i];
		json_t *t = json_array();

		json_array_append_new(t, json_string(f->name));
		json_array_append_new(t, json_integer(f->off));
		json_array_append_new(t, json_integer(f->size));
		json_array_append_new(functions, t);
	}
	for (uint32_t i = u->first_range; i < u->first_range + u->nr_ranges; i++)
		json_array_append_new(ranges, triple(p->ranges[i].start, p->ranges[i].end, p->ranges[i].weight));
	json_object_set_new(obj, "functions", functions);
	json_object_set_new(obj, "ranges", ranges);
	return obj;
}

static json_t *pages_json(const struct plan *p, uint32_t first, uint32_t nr)
{
	json_t *a = json_array();

	for (uint32_t i = first; i < first + nr; i++) {
		json_t *t = json_array();

		json_array_append_new(t, json_integer(p->pages[i].page));
		json_array_append_new(t, json_count(p->pages[i].weight));
		json_array_append_new(a, t);
	}
	return a;
}

static json_t *path_json(const struct plan *p, const struct plan_path *path)
{
	json_t *obj = FIELDS_JSON(path_fields, path), *uses = json_array();

	for (uint32_t i = path->first_use; i < path->first_use + path->nr_uses; i++)
		json_array_append_new(uses, tuple(p->uses[i].unit, p->uses[i].weight));
	json_object_set_new(obj, "pages_before", pages_json(p, path->first_before, path->nr_before));
	json_object_set_new(obj, "pages_after", pages_json(p, path->first_after, path->nr_after));
	json_object_set_new(obj, "uses", uses);
	return obj;
}

static json_t *side_json(const struct plan_side *s)
{
	json_t *obj = FIELDS_JSON(side_fields, s);

	json_object_set_new(obj, "entries_per_path", FIELDS_JSON(entries_fields, s));
	return obj;
}

static json_t *machine_json(const struct plan_machine *m, const struct plan *p)
{
	json_t *obj = FIELDS_JSON(machine_fields, p), *levels = json_array();

	for (uint32_t i = 0; i < m->nr_levels; i++) {
		json_t *l = json_object();

		json_object_set_new(l, "entries", json_integer(m->levels[i].entries));
		json_object_set_new(l, "ways", json_integer(m->levels[i].ways));
		json_object_set_new(l, "policy", json_string(m->levels[i].policy));
		json_object_set_new(l, "unified", json_boolean(m->levels[i].unified));
		json_array_append_new(levels, l);
	}
	json_object_set_new(obj, "levels", levels);
	return obj;
}

static void put_value(json_t *v, FILE *fp)
{
	json_dumpf(v, fp, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(9));
	json_decref(v);
}

/* A key of the top level; consumes v. */
static void put_key(const char *key, json_t *v, FILE *fp)
{
	fprintf(fp, " \"%s\": ", key);
	put_value(v, fp);
	fputs(",\n", fp);
}

#define PUT_ARRAY(key, i, nr, value, last) \
	do { \
		fprintf(fp, " \"%s\": [", key); \
		for (uint32_t i = 0; i < (nr); i++) { \
			fputs(i ? ",\n  " : "\n  ", fp); \
			put_value(value, fp); \
		} \
		fputs(last ? "\n ]\n" : "\n ],\n", fp); \
	} while (0)

void plan_write_json(const struct plan *p, FILE *fp)
{
	fprintf(fp, "{\n \"schema\": %d,\n", PLAN_SCHEMA);
	for (size_t i = 0; i < ARRAY_SIZE(top_fields); i++)
		put_key(top_fields[i].key, field_json(&top_fields[i], p), fp);
	put_key("machine", json_string(p->machine.name), fp);
	put_key("machine_details", machine_json(&p->machine, p), fp);
	put_key("vmlinux", FIELDS_JSON(vmlinux_fields, p), fp);
	put_key("profile", FIELDS_JSON(profile_fields, p), fp);
	put_key("hot", FIELDS_JSON(hot_fields, p), fp);
	put_key("before", side_json(&p->before), fp);
	put_key("after", side_json(&p->after), fp);
	PUT_ARRAY("sources", i, p->nr_sources, FIELDS_JSON(source_fields, &p->sources[i]), false);
	PUT_ARRAY("curve", i, p->nr_curve, FIELDS_JSON(curve_fields, &p->curve[i]), false);
	PUT_ARRAY("paths", i, p->nr_paths, path_json(p, &p->paths[i]), false);
	PUT_ARRAY("units", i, p->nr_units, unit_json(p, &p->units[i]), false);
	PUT_ARRAY("edges", i, p->nr_edges, triple(p->edges[i].from, p->edges[i].to, p->edges[i].weight), true);
	fputs("}\n", fp);
}

/* Reading */

struct reading {
	struct plan *p;
	const char *path;
	bool bad;	/* reported already */
};

static void complain(struct reading *r, const char *where, const char *key)
{
	if (!r->bad)
		error("'%s' is no plan: bad or missing '%s' in '%s'", r->path, key, where);
	r->bad = true;
}

static bool read_u64(const json_t *v, uint64_t max, uint64_t *out)
{
	json_int_t n = json_integer_value(v);

	if (!json_is_integer(v) || n < 0 || (uint64_t)n > max)
		return false;
	*out = (uint64_t)n;
	return true;
}

static bool read_field(struct plan *p, const struct field *f, const json_t *v, void *at)
{
	uint64_t n;

	switch (f->kind) {
	case F_STRING:
	case F_NAME:
		if (json_is_null(v) && f->kind == F_NAME)
			*(const char **)at = NULL;
		else if (json_is_string(v))
			*(const char **)at = plan_string(p, json_string_value(v));
		else
			return false;
		return true;
	case F_U32:
		if (!read_u64(v, UINT32_MAX, &n))
			return false;
		*(uint32_t *)at = (uint32_t)n;
		return true;
	case F_COUNT:
		if (json_is_null(v)) {
			*(uint64_t *)at = PLAN_UNKNOWN;
			return true;
		}
		return read_u64(v, INT64_MAX, at);
	case F_U64:
		return read_u64(v, INT64_MAX, at);
	case F_I64:
		/* Pages: bounded so that their arithmetic cannot overflow. */
		if (!json_is_integer(v) || json_integer_value(v) < -(1LL << 53) || json_integer_value(v) > 1LL << 53)
			return false;
		*(int64_t *)at = json_integer_value(v);
		return true;
	case F_ADDR:
		return json_is_string(v) && parse_u64(json_string_value(v), 0, at);
	case F_BOOL:
		*(bool *)at = json_is_true(v);
		return json_is_boolean(v);
	case F_REAL:
		*(double *)at = json_number_value(v);
		return json_is_number(v) && json_number_value(v) >= 0;
	}
	return false;
}

static void read_fields(struct reading *r, const char *where, const json_t *obj, const struct field *f, size_t nr,
			void *base)
{
	for (size_t i = 0; i < nr; i++) {
		const json_t *v = json_object_get(obj, f[i].key);

		if (!v && f[i].added && json_is_object(obj)) {
			void *at = (char *)base + f[i].off;

			if (f[i].kind == F_STRING && !*(const char **)at)
				*(const char **)at = plan_string(r->p, "");
			continue;
		}
		if (!v || !read_field(r->p, &f[i], v, (char *)base + f[i].off))
			complain(r, where, f[i].key);
	}
}
#define READ_FIELDS(r, where, obj, fields, base) read_fields(r, where, obj, fields, ARRAY_SIZE(fields), base)

/* Array of at least want items; NULL otherwise. */
static bool is_tuple(const json_t *v, size_t want)
{
	return json_is_array(v) && json_array_size(v) >= want;
}

static bool tuple_u64(const json_t *t, size_t i, uint64_t max, uint64_t *out)
{
	return read_u64(json_array_get(t, i), max, out);
}

static void read_functions(struct reading *r, const json_t *a, struct plan_unit *u)
{
	struct plan *p = r->p;
	size_t i;
	json_t *t;

	u->first_function = p->nr_functions;
	json_array_foreach(a, i, t) {
		uint64_t off, size;

		if (!is_tuple(t, 3) || !json_is_string(json_array_get(t, 0)) || !tuple_u64(t, 1, u->size, &off) ||
		    !tuple_u64(t, 2, UINT32_MAX, &size)) {
			complain(r, "units", "functions");
			return;
		}
		ALLOC_GROW(p->functions, p->nr_functions + 1, p->alloc_functions);
		p->functions[p->nr_functions++] = (struct plan_function){
			plan_string(p, json_string_value(json_array_get(t, 0))), (uint32_t)off, (uint32_t)size };
	}
	u->nr_functions = p->nr_functions - u->first_function;
}

static void read_ranges(struct reading *r, const json_t *a, struct plan_unit *u)
{
	struct plan *p = r->p;
	uint64_t last = 0;
	size_t i;
	json_t *t;

	u->first_range = p->nr_ranges;
	json_array_foreach(a, i, t) {
		uint64_t start, end, weight;

		if (!is_tuple(t, 3) || !tuple_u64(t, 2, INT64_MAX, &weight) || !tuple_u64(t, 0, u->size, &start) || !tuple_u64(t, 1, u->size, &end) ||
		    start >= end || start < last) {
			complain(r, "units", "ranges");
			return;
		}
		ALLOC_GROW(p->ranges, p->nr_ranges + 1, p->alloc_ranges);
		p->ranges[p->nr_ranges++] = (struct plan_range){ (uint32_t)start, (uint32_t)end, weight };
		last = end;
	}
	u->nr_ranges = p->nr_ranges - u->first_range;
}

static void read_unit(struct reading *r, const json_t *obj)
{
	struct plan *p = r->p;

	ALLOC_GROW(p->units, p->nr_units + 1, p->alloc_units);
	struct plan_unit *u = &p->units[p->nr_units++];
	memset(u, 0, sizeof(*u));
	READ_FIELDS(r, "units", obj, unit_fields, u);
	if (r->bad)
		return;
	read_functions(r, json_object_get(obj, "functions"), u);
	read_ranges(r, json_object_get(obj, "ranges"), u);
}

static uint32_t read_pages(struct reading *r, const json_t *a, const char *where, uint32_t *first)
{
	static const struct field page = { "page", F_I64, 0, false };
	struct plan *p = r->p;
	size_t i;
	json_t *t;

	*first = p->nr_pages;
	json_array_foreach(a, i, t) {
		struct plan_page pg;

		if (!is_tuple(t, 2) || !read_field(p, &page, json_array_get(t, 0), &pg.page) ||
		    !tuple_u64(t, 1, INT64_MAX, &pg.weight)) {
			complain(r, where, "pages");
			break;
		}
		ALLOC_GROW(p->pages, p->nr_pages + 1, p->alloc_pages);
		p->pages[p->nr_pages++] = pg;
	}
	return p->nr_pages - *first;
}

static void read_uses(struct reading *r, const json_t *a, struct plan_path *path)
{
	struct plan *p = r->p;
	size_t i;
	json_t *t;

	path->first_use = p->nr_uses;
	json_array_foreach(a, i, t) {
		uint64_t unit, weight;

		if (!is_tuple(t, 2) || !tuple_u64(t, 0, UINT32_MAX, &unit) || unit >= p->nr_units ||
		    !tuple_u64(t, 1, INT64_MAX, &weight)) {
			complain(r, "paths", "uses");
			return;
		}
		ALLOC_GROW(p->uses, p->nr_uses + 1, p->alloc_uses);
		p->uses[p->nr_uses++] = (struct plan_use){ (uint32_t)unit, weight };
	}
	path->nr_uses = p->nr_uses - path->first_use;
}

static void read_path(struct reading *r, const json_t *obj)
{
	struct plan *p = r->p;

	ALLOC_GROW(p->paths, p->nr_paths + 1, p->alloc_paths);
	struct plan_path *path = &p->paths[p->nr_paths++];
	memset(path, 0, sizeof(*path));
	READ_FIELDS(r, "paths", obj, path_fields, path);
	if (r->bad)
		return;
	read_uses(r, json_object_get(obj, "uses"), path);
	path->nr_before = read_pages(r, json_object_get(obj, "pages_before"), "paths", &path->first_before);
	path->nr_after = read_pages(r, json_object_get(obj, "pages_after"), "paths", &path->first_after);
}

static void read_edge(struct reading *r, const json_t *t)
{
	struct plan *p = r->p;
	uint64_t from, to, weight;

	if (!is_tuple(t, 3) || !tuple_u64(t, 0, UINT32_MAX, &from) || !tuple_u64(t, 1, UINT32_MAX, &to) ||
	    from >= p->nr_units || to >= p->nr_units || !tuple_u64(t, 2, INT64_MAX, &weight)) {
		complain(r, "edges", "edge");
		return;
	}
	ALLOC_GROW(p->edges, p->nr_edges + 1, p->alloc_edges);
	p->edges[p->nr_edges++] = (struct plan_edge){ (uint32_t)from, (uint32_t)to, weight };
}

static void read_source(struct reading *r, const json_t *obj)
{
	struct plan *p = r->p;

	ALLOC_GROW(p->sources, p->nr_sources + 1, p->alloc_sources);
	struct plan_source *s = &p->sources[p->nr_sources++];
	memset(s, 0, sizeof(*s));
	READ_FIELDS(r, "sources", obj, source_fields, s);
}

static void read_curve(struct reading *r, const json_t *obj)
{
	struct plan *p = r->p;

	ALLOC_GROW(p->curve, p->nr_curve + 1, p->alloc_curve);
	struct plan_curve *c = &p->curve[p->nr_curve++];
	memset(c, 0, sizeof(*c));
	READ_FIELDS(r, "curve", obj, curve_fields, c);
}

/* Hand each item of a top-level array to the reader; a missing optional array is an empty one. */
static void read_array(struct reading *r, const json_t *top, const char *key, bool added,
		       void (*read)(struct reading *, const json_t *))
{
	const json_t *a = json_object_get(top, key);
	size_t i;
	json_t *v;

	if (!a && added)
		return;
	if (!json_is_array(a)) {
		complain(r, "plan", key);
		return;
	}
	json_array_foreach(a, i, v) {
		if (r->bad)
			return;
		read(r, v);
	}
}

static void read_level(struct reading *r, const json_t *l)
{
	struct plan_machine *m = &r->p->machine;
	const char *policy = json_string_value(json_object_get(l, "policy"));
	uint64_t entries, ways;

	if (m->nr_levels == PLAN_MAX_LEVELS || !policy ||
	    !read_u64(json_object_get(l, "entries"), UINT32_MAX, &entries) ||
	    !read_u64(json_object_get(l, "ways"), UINT32_MAX, &ways)) {
		complain(r, "machine_details", "levels");
		return;
	}
	m->levels[m->nr_levels].entries = (uint32_t)entries;
	m->levels[m->nr_levels].ways = (uint32_t)ways;
	m->levels[m->nr_levels].policy = plan_string(r->p, policy);
	m->levels[m->nr_levels++].unified = json_is_true(json_object_get(l, "unified"));
}

static void read_machine(struct reading *r, const json_t *top)
{
	const json_t *details = json_object_get(top, "machine_details");
	const char *name = json_string_value(json_object_get(top, "machine"));
	struct plan_machine *m = &r->p->machine;

	if (!name)
		complain(r, "plan", "machine");
	m->name = plan_string(r->p, name ? name : "");
	if (!details)
		return;
	READ_FIELDS(r, "machine_details", details, machine_fields, r->p);
	read_array(r, details, "levels", true, read_level);
	if (m->page_bytes < 64 || m->page_bytes > 1ULL << 40 || (m->page_bytes & (m->page_bytes - 1)))
		complain(r, "machine_details", "page_bytes");
}

static void read_side(struct reading *r, const json_t *top, const char *key, struct plan_side *s)
{
	const json_t *side = json_object_get(top, key);

	READ_FIELDS(r, key, side, side_fields, s);
	READ_FIELDS(r, key, json_object_get(side, "entries_per_path"), entries_fields, s);
}

static void read_plan(struct reading *r, const json_t *top)
{
	struct plan *p = r->p;

	READ_FIELDS(r, "plan", top, top_fields, p);
	READ_FIELDS(r, "vmlinux", json_object_get(top, "vmlinux"), vmlinux_fields, p);
	READ_FIELDS(r, "profile", json_object_get(top, "profile"), profile_fields, p);
	READ_FIELDS(r, "hot", json_object_get(top, "hot"), hot_fields, p);
	read_machine(r, top);
	read_side(r, top, "before", &p->before);
	read_side(r, top, "after", &p->after);
	read_array(r, top, "sources", true, read_source);
	read_array(r, top, "curve", true, read_curve);
	read_array(r, top, "units", false, read_unit);
	read_array(r, top, "paths", false, read_path);
	read_array(r, top, "edges", true, read_edge);
}

int plan_read_json(struct plan *p, const char *path)
{
	struct stat st;
	bool is_dir = !stat(path, &st) && S_ISDIR(st.st_mode);
	char *file = is_dir ? path_join(path, "plan.json") : xstrdup(path);
	struct reading r = { .p = p, .path = file };
	struct mapfile f;
	json_error_t je;
	json_t *top = NULL;
	uint64_t schema;

	plan_init(p);
	if (mapfile_init(&f, file)) {
		r.bad = true;
		goto out;
	}
	top = json_loadb(f.data, f.size, JSON_REJECT_DUPLICATES, &je);
	mapfile_release(&f);
	if (!top) {
		error("'%s' is no plan: line %d: %s", file, je.line, je.text);
		r.bad = true;
		goto out;
	}
	if (!read_u64(json_object_get(top, "schema"), UINT32_MAX, &schema)) {
		complain(&r, "plan", "schema");
	} else if (schema != PLAN_SCHEMA) {
		error("cannot read '%s': schema %" PRIu64 ", this hottext knows %d", file, schema, PLAN_SCHEMA);
		r.bad = true;
	} else {
		read_plan(&r, top);
	}
out:
	json_decref(top);
	free(file);
	if (r.bad)
		plan_release(p);
	return r.bad ? -1 : 0;
}
