/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads plan.json; nothing in it is trusted. */
#include "plan.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/error.h"
#include "lib/file.h"
#include "lib/kind.h"
#include "lib/mem.h"
#include "lib/number.h"
#include "plan_fields.h"


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
		if (!json_is_integer(v) || json_integer_value(v) < -(1LL << 53) ||
		    json_integer_value(v) > 1LL << 53)
			return false;
		*(int64_t *)at = json_integer_value(v);
		return true;
	case F_ADDR:
		return json_is_string(v) && parse_u64(json_string_value(v), 0, at);
	case F_BOOL:
		*(bool *)at = json_is_true(v);
		return json_is_boolean(v);
	case F_ESTIMATE:
		*(double *)at = json_is_null(v) ? -1 : json_number_value(v);
		return json_is_null(v) || (json_is_number(v) && json_number_value(v) >= 0);
	case F_REAL:
		*(double *)at = json_number_value(v);
		return json_is_number(v) && json_number_value(v) >= 0;
	}
	return false;
}

static void read_fields(struct reading *r, const char *where, const json_t *obj, const struct field *f,
			void *base)
{
	for (; f->key; f++) {
		const json_t *v = json_object_get(obj, f->key);

		if (!v && f->added && json_is_object(obj)) {
			void *at = (char *)base + f->off;

			if (f->kind == F_STRING && !*(const char **)at)
				*(const char **)at = plan_string(r->p, "");
			continue;
		}
		if (!v || !read_field(r->p, f, v, (char *)base + f->off))
			complain(r, where, f->key);
	}
}

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
		const json_t *why = json_array_get(t, 3);
		uint64_t off, size;

		if (!is_tuple(t, 3) || (why && !json_is_string(why)) || !json_is_string(json_array_get(t, 0)) ||
		    !tuple_u64(t, 1, u->size, &off) || !tuple_u64(t, 2, UINT32_MAX, &size)) {
			complain(r, "units", "functions");
			return;
		}
		ALLOC_GROW(p->functions, p->nr_functions + 1, p->alloc_functions);
		p->functions[p->nr_functions++] = (struct plan_function){
			plan_string(p, json_string_value(json_array_get(t, 0))), (uint32_t)off, (uint32_t)size,
			plan_string(p, json_string_value(why))
		};
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

		if (!is_tuple(t, 3) || !tuple_u64(t, 2, INT64_MAX, &weight) ||
		    !tuple_u64(t, 0, u->size, &start) || !tuple_u64(t, 1, u->size, &end) || start >= end ||
		    start < last) {
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
	read_fields(r, "units", obj, plan_unit_fields, u);
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
	read_fields(r, "paths", obj, plan_path_fields, path);
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
	read_fields(r, "sources", obj, plan_source_fields, s);
}

static void read_curve(struct reading *r, const json_t *obj)
{
	struct plan *p = r->p;

	ALLOC_GROW(p->curve, p->nr_curve + 1, p->alloc_curve);
	struct plan_curve *c = &p->curve[p->nr_curve++];
	memset(c, 0, sizeof(*c));
	read_fields(r, "curve", obj, plan_curve_fields, c);
}

static void read_position(struct reading *r, const json_t *obj)
{
	struct plan *p = r->p;

	ALLOC_GROW(p->positions, p->nr_positions + 1, p->alloc_positions);
	struct plan_position *pos = &p->positions[p->nr_positions++];
	memset(pos, 0, sizeof(*pos));
	read_fields(r, "positions", obj, plan_position_fields, pos);
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
	read_fields(r, "machine_details", details, plan_machine_fields, r->p);
	read_array(r, details, "levels", true, read_level);
	if (m->page_bytes < 64 || m->page_bytes > 1ULL << 40 || (m->page_bytes & (m->page_bytes - 1)))
		complain(r, "machine_details", "page_bytes");
	if (m->block_bytes && (m->block_bytes <= m->page_bytes || m->block_bytes > 1ULL << 40 ||
			       (m->block_bytes & (m->block_bytes - 1)) || m->blocks_start > m->blocks_end))
		complain(r, "machine_details", "block_bytes");
}

static void read_side(struct reading *r, const json_t *top, const char *key, struct plan_side *s)
{
	const json_t *side = json_object_get(top, key);

	read_fields(r, key, side, plan_side_fields, s);
	read_fields(r, key, json_object_get(side, "entries_per_path"), plan_entries_fields, s);
}

static void read_missed(struct reading *r, const json_t *obj)
{
	struct plan_measured *m = &r->p->measured;

	ALLOC_GROW(m->pages, m->nr_pages + 1, m->alloc_pages);
	struct plan_missed *page = &m->pages[m->nr_pages++];
	memset(page, 0, sizeof(*page));
	read_fields(r, "itlb_sampled", obj, plan_missed_fields, page);
}

static void read_measured(struct reading *r, const json_t *top)
{
	const json_t *obj = json_object_get(top, "itlb_sampled");

	if (!obj)
		return;
	read_fields(r, "itlb_sampled", obj, plan_measured_fields, &r->p->measured);
	read_array(r, obj, "pages", false, read_missed);
}

static void read_guard(struct reading *r, const json_t *guard)
{
	if (!guard)
		return;
	r->p->guard.known = true;
	read_fields(r, "guard", guard, plan_guard_fields, &r->p->guard);
}

static void read_plan(struct reading *r, const json_t *top)
{
	struct plan *p = r->p;

	read_fields(r, "plan", top, plan_top_fields, p);
	read_fields(r, "vmlinux", json_object_get(top, "vmlinux"), plan_vmlinux_fields, p);
	read_fields(r, "profile", json_object_get(top, "profile"), plan_profile_fields, p);
	read_fields(r, "hot", json_object_get(top, "hot"), plan_hot_fields, p);
	read_machine(r, top);
	read_side(r, top, "before", &p->before);
	read_side(r, top, "after", &p->after);
	read_measured(r, top);
	read_guard(r, json_object_get(top, "guard"));
	read_array(r, top, "sources", true, read_source);
	read_array(r, top, "curve", true, read_curve);
	read_array(r, top, "positions", true, read_position);
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
	if (kind_check_head(file, f.data, f.size, "a plan")) {
		mapfile_release(&f);
		r.bad = true;
		goto out;
	}
	top = json_loadb(f.data, f.size, JSON_REJECT_DUPLICATES, &je);
	mapfile_release(&f);
	if (!top) {
		error("'%s' is no plan: line %d: %s", file, je.line, *je.text ? je.text : "out of memory");
		r.bad = true;
		goto out;
	}
	if (!read_u64(json_object_get(top, "schema"), UINT32_MAX, &schema)) {
		complain(&r, "plan", "schema");
	} else if (schema != PLAN_SCHEMA) {
		error("cannot read '%s': schema %" PRIu64 ", this hottext knows %d", file, schema,
		      PLAN_SCHEMA);
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
