/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes plan.json. */
#include "plan.h"

#include <inttypes.h>
#include <jansson.h>

#include "lib/json_text.h"
#include "plan_fields.h"

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

		return s || f->kind == F_NAME ? json_text(s) : json_string("");
	}
	case F_U32:
		return json_integer(*(const uint32_t *)at);
	case F_U64:
		return json_count(*(const uint64_t *)at);
	case F_COUNT:
		return *(const uint64_t *)at == PLAN_UNKNOWN ? json_null()
							     : json_count(*(const uint64_t *)at);
	case F_I64:
		return json_integer(*(const int64_t *)at);
	case F_ADDR:
		return json_address(*(const uint64_t *)at);
	case F_BOOL:
		return json_boolean(*(const bool *)at);
	case F_REAL:
		return json_real(*(const double *)at);
	case F_ESTIMATE:
		return *(const double *)at < 0 ? json_null() : json_real(*(const double *)at);
	}
	return NULL;
}

static json_t *fields_json(const struct field *f, const void *base)
{
	json_t *obj = json_object();

	for (; f->key; f++)
		json_object_set_new(obj, f->key, field_json(f, base));
	return obj;
}

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
	json_t *obj = fields_json(plan_unit_fields, u), *functions = json_array(), *ranges = json_array();

	for (uint32_t i = u->first_function; i < u->first_function + u->nr_functions; i++) {
		const struct plan_function *f = &p->functions[i];
		json_t *t = json_array();

		json_array_append_new(t, json_text(f->name));
		json_array_append_new(t, json_integer(f->off));
		json_array_append_new(t, json_integer(f->size));
		if (f->evidence)
			json_array_append_new(t, json_text(f->evidence));
		json_array_append_new(functions, t);
	}
	for (uint32_t i = u->first_range; i < u->first_range + u->nr_ranges; i++)
		json_array_append_new(ranges,
				      triple(p->ranges[i].start, p->ranges[i].end, p->ranges[i].weight));
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
	json_t *obj = fields_json(plan_path_fields, path), *uses = json_array();

	for (uint32_t i = path->first_use; i < path->first_use + path->nr_uses; i++)
		json_array_append_new(uses, tuple(p->uses[i].unit, p->uses[i].weight));
	json_object_set_new(obj, "pages_before", pages_json(p, path->first_before, path->nr_before));
	json_object_set_new(obj, "pages_after", pages_json(p, path->first_after, path->nr_after));
	json_object_set_new(obj, "uses", uses);
	return obj;
}

static json_t *side_json(const struct plan_side *s)
{
	json_t *obj = fields_json(plan_side_fields, s);

	json_object_set_new(obj, "entries_per_path", fields_json(plan_entries_fields, s));
	return obj;
}

static json_t *measured_json(const struct plan_measured *m)
{
	json_t *obj = fields_json(plan_measured_fields, m), *pages = json_array();

	for (uint32_t i = 0; i < m->nr_pages; i++)
		json_array_append_new(pages, fields_json(plan_missed_fields, &m->pages[i]));
	json_object_set_new(obj, "pages", pages);
	return obj;
}

static json_t *machine_json(const struct plan_machine *m, const struct plan *p)
{
	json_t *obj = fields_json(plan_machine_fields, p), *levels = json_array();

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

/* NOLINTBEGIN(bugprone-macro-parentheses): i is a name, value and last go where an argument does */
#define PUT_ARRAY(key, i, nr, value, last) \
	do { \
		fprintf(fp, " \"%s\": [", key); \
		for (uint32_t i = 0; i < (nr); i++) { \
			fputs(i ? ",\n  " : "\n  ", fp); \
			put_value(value, fp); \
		} \
		fputs(last ? "\n ]\n" : "\n ],\n", fp); \
	} while (0)
/* NOLINTEND(bugprone-macro-parentheses) */

void plan_write_json(const struct plan *p, FILE *fp)
{
	fprintf(fp, "{\n \"schema\": %d,\n", PLAN_SCHEMA);
	for (const struct field *f = plan_top_fields; f->key; f++)
		put_key(f->key, field_json(f, p), fp);
	put_key("machine", json_text(p->machine.name), fp);
	put_key("machine_details", machine_json(&p->machine, p), fp);
	put_key("vmlinux", fields_json(plan_vmlinux_fields, p), fp);
	put_key("profile", fields_json(plan_profile_fields, p), fp);
	put_key("hot", fields_json(plan_hot_fields, p), fp);
	put_key("before", side_json(&p->before), fp);
	put_key("after", side_json(&p->after), fp);
	if (p->measured.page_bytes)
		put_key("itlb_sampled", measured_json(&p->measured), fp);
	if (p->guard.known)
		put_key("guard", fields_json(plan_guard_fields, &p->guard), fp);
	PUT_ARRAY("sources", i, p->nr_sources, fields_json(plan_source_fields, &p->sources[i]), false);
	PUT_ARRAY("curve", i, p->nr_curve, fields_json(plan_curve_fields, &p->curve[i]), false);
	PUT_ARRAY("positions", i, p->nr_positions, fields_json(plan_position_fields, &p->positions[i]), false);
	PUT_ARRAY("paths", i, p->nr_paths, path_json(p, &p->paths[i]), false);
	PUT_ARRAY("units", i, p->nr_units, unit_json(p, &p->units[i]), false);
	PUT_ARRAY("edges", i, p->nr_edges, triple(p->edges[i].from, p->edges[i].to, p->edges[i].weight),
		  true);
	fputs("}\n", fp);
}
