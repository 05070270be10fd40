/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading a profile from text; the same keys met again add up, so concatenation is merging. */
#include <stdlib.h>
#include <string.h>

#include "collect/profile.h"
#include "collect/profile_text.h"
#include "lib/error.h"
#include "lib/input.h"
#include "lib/mem.h"
#include "lib/number.h"

struct text_reader {
	struct profile *p;
	struct input *in;
	struct index ids;	/* path ids of the text, 8 bytes each */
	uint32_t *path_of_id;	/* [ids id]: path, UINT32_MAX while only a next names it */
	uint32_t alloc_path_of_id;
	struct index pending;	/* {ids id, ids id} of nexts met before their paths */
	uint64_t *pending_weights;
	uint32_t alloc_pending;
	uint32_t *feet, alloc_feet;
	uint32_t *words, alloc_words;
	char **fields;		/* of the current line */
	uint32_t nr_fields, alloc_fields;
};

static int bad_line(const struct text_reader *r, const char *why)
{
	return error("cannot read '%s': line %lu: %s", input_name(r->in), input_lineno(r->in), why);
}

static void split(struct text_reader *r, char *line)
{
	r->nr_fields = 0;
	for (char *s = line; s; r->nr_fields++) {
		char *blank = strchr(s, ' ');

		ALLOC_GROW(r->fields, r->nr_fields + 1, r->alloc_fields);
		r->fields[r->nr_fields] = s;
		if (blank)
			*blank++ = '\0';
		s = blank;
	}
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Undo the writer's escapes in place; false when one is broken. */
static bool unescape(char *s)
{
	char *at = s;

	if (!*s)
		return false;
	if (!strcmp(s, "%")) {
		*s = '\0';
		return true;
	}
	for (; *s; s++) {
		int high, low;

		if (*s != '%') {
			*at++ = *s;
			continue;
		}
		if ((high = hex_digit(s[1])) < 0 || (low = hex_digit(s[2])) < 0 || !(high | low))
			return false;
		*at++ = (char)(high << 4 | low);
		s += 2;
	}
	*at = '\0';
	return true;
}

static bool get_func(struct text_reader *r, char *field, uint32_t *func)
{
	/* Most names need no work. */
	if (!*field || (strchr(field, '%') && !unescape(field)))
		return false;
	*func = profile_func(r->p, field);
	return true;
}

static bool get_off(const char *field, uint32_t *off)
{
	const char *p = field + 2;
	uint64_t v;

	if (field[0] != '0' || field[1] != 'x' || !scan_hex(&p, &v) || *p || v >= PROFILE_MAX_BYTES)
		return false;
	*off = (uint32_t)v;
	return true;
}

static bool get_count(const char *field, uint64_t *count)
{
	return scan_dec(&field, count) && !*field;
}

static int read_source(struct text_reader *r)
{
	struct profile_source s = { 0 };
	char **f = r->fields;

	if (r->nr_fields != 11)
		return bad_line(r, "a source has 10 fields");
	for (int i = 1; i <= 5; i++)
		if (!unescape(f[i]))
			return bad_line(r, "a broken %-escape");
	s.reader = f[1];
	s.event = f[2];
	s.host = f[3];
	s.release = f[4];
	s.build_id = f[5];
	if (!get_count(f[6], &s.samples) || !get_count(f[7], &s.kernel) || !get_count(f[8], &s.resolved) ||
	    !get_count(f[9], &s.unresolved) || !get_count(f[10], &s.lost))
		return bad_line(r, "a source's counts are numbers");
	profile_merge_source(r->p, &s);
	return 0;
}

static int read_func(struct text_reader *r)
{
	uint64_t samples, calls;
	uint32_t func;

	if (r->nr_fields != 4 || !get_func(r, r->fields[1], &func) || !get_count(r->fields[2], &samples) ||
	    !get_count(r->fields[3], &calls))
		return bad_line(r, "not 'func NAME SAMPLES CALLS'");
	profile_add_samples(r->p, func, PROFILE_OFF_UNKNOWN, samples);
	profile_add_entries(r->p, func, calls);
	return 0;
}

static int read_touch(struct text_reader *r)
{
	uint32_t func, off;
	uint64_t weight;

	if (r->nr_fields != 4 || !get_func(r, r->fields[1], &func) || !get_off(r->fields[2], &off) ||
	    !get_count(r->fields[3], &weight))
		return bad_line(r, "not 'touch NAME OFFSET COUNT'");
	profile_add_touch(r->p, func, off / PROFILE_CHUNK, weight);
	return 0;
}

static int read_call(struct text_reader *r)
{
	uint32_t caller, callee, off = PROFILE_OFF_UNKNOWN;
	uint64_t count;

	if (r->nr_fields != 5 || !get_func(r, r->fields[1], &caller) ||
	    (strcmp(r->fields[2], "-") && !get_off(r->fields[2], &off)) ||
	    !get_func(r, r->fields[3], &callee) || !get_count(r->fields[4], &count))
		return bad_line(r, "not 'call CALLER OFFSET CALLEE COUNT'");
	profile_add_call(r->p, caller, off, callee, count);
	return 0;
}

/* Id in r->ids of a path id written as 16 hex digits. */
static bool get_path_id(struct text_reader *r, const char *field, uint32_t *id, uint64_t *value)
{
	uint64_t v;

	if (strlen(field) != 16 || !scan_hex(&field, &v) || *field)
		return false;
	uint32_t had = r->ids.nr_keys;
	*id = index_add(&r->ids, &v, sizeof(v));
	ALLOC_GROW(r->path_of_id, r->ids.nr_keys, r->alloc_path_of_id);
	if (*id == had)
		r->path_of_id[*id] = UINT32_MAX;
	*value = v;
	return true;
}

/* "NAME" or "NAME:CHUNKS" to a foot. */
static bool get_foot(struct text_reader *r, char *field, uint32_t *foot)
{
	char *colon = strchr(field, ':');
	uint32_t func, nr_words = 0;

	if (colon) {
		*colon++ = '\0';
		size_t nr = strlen(colon);
		if (!nr || nr > PROFILE_MAX_BYTES / PROFILE_CHUNK / 4)
			return false;
		nr_words = (uint32_t)(nr + 7) / 8;
		ALLOC_GROW(r->words, nr_words, r->alloc_words);
		memset(r->words, 0, nr_words * sizeof(*r->words));
		for (size_t i = 0; i < nr; i++) {
			int d = hex_digit(colon[i]);
			if (d < 0)
				return false;
			r->words[i / 8] |= (uint32_t)d << i % 8 * 4;
		}
	}
	if (!get_func(r, field, &func))
		return false;
	*foot = profile_foot(r->p, func, r->words, nr_words);
	return true;
}

static bool get_kind(const char *field, enum path_kind *kind)
{
	for (int i = 0; i < NR_PATH_KINDS; i++) {
		if (!strcmp(field, path_kind_names[i])) {
			*kind = (enum path_kind)i;
			return true;
		}
	}
	return false;
}

static uint64_t hash_path_fields(const struct text_reader *r)
{
	uint64_t h = path_hash_add(PATH_HASH_START, r->fields[2]);

	h = path_hash_add(path_hash_add(h, " "), r->fields[3]);
	for (uint32_t i = 5; i < r->nr_fields; i++)
		h = path_hash_add(path_hash_add(h, " "), r->fields[i]);
	return h;
}

static int read_path(struct text_reader *r)
{
	uint32_t id, root;
	enum path_kind kind;
	uint64_t value, weight;

	if (r->nr_fields < 5 || !get_path_id(r, r->fields[1], &id, &value) || !get_kind(r->fields[2], &kind) ||
	    !get_count(r->fields[4], &weight))
		return bad_line(r, "not 'path ID KIND ROOT WEIGHT FUNCTION[:CHUNKS]...'");
	if (hash_path_fields(r) != value)
		return bad_line(r, "the path's id is not that of its contents");
	if (!get_func(r, r->fields[3], &root))
		return bad_line(r, "a broken name");
	uint32_t nr = r->nr_fields - 5;
	ALLOC_GROW(r->feet, nr, r->alloc_feet);
	for (uint32_t i = 0; i < nr; i++)
		if (!get_foot(r, r->fields[5 + i], &r->feet[i]))
			return bad_line(r, "not 'FUNCTION[:CHUNKS]'");
	uint32_t path = profile_add_path(r->p, kind, root, r->feet, nr, weight);
	if (r->path_of_id[id] != UINT32_MAX && r->path_of_id[id] != path)
		return bad_line(r, "two paths have this id");
	r->path_of_id[id] = path;
	return 0;
}

static int read_next(struct text_reader *r)
{
	uint32_t key[2];
	uint64_t value, count;

	if (r->nr_fields != 4 || !get_path_id(r, r->fields[1], &key[0], &value) ||
	    !get_path_id(r, r->fields[2], &key[1], &value) || !get_count(r->fields[3], &count))
		return bad_line(r, "not 'next ID ID COUNT'");
	uint32_t path = r->path_of_id[key[0]], next = r->path_of_id[key[1]];
	if (path != UINT32_MAX && next != UINT32_MAX) {
		profile_add_next(r->p, path, next, count);
		return 0;
	}
	uint32_t had = r->pending.nr_keys, i = index_add(&r->pending, key, sizeof(key));
	ALLOC_GROW(r->pending_weights, r->pending.nr_keys, r->alloc_pending);
	if (i == had)
		r->pending_weights[i] = 0;
	r->pending_weights[i] += count;
	return 0;
}

/* The nexts that came before their paths; those whose paths never came are dropped, and counted. */
static void settle_nexts(struct text_reader *r)
{
	uint64_t dropped = 0;

	for (uint32_t i = 0; i < r->pending.nr_keys; i++) {
		const uint32_t *key = r->pending.keys[i].data;
		uint32_t path = r->path_of_id[key[0]], next = r->path_of_id[key[1]];

		if (path != UINT32_MAX && next != UINT32_MAX)
			profile_add_next(r->p, path, next, r->pending_weights[i]);
		else
			dropped += r->pending_weights[i];
	}
	if (dropped)
		warn("'%s': %llu successions dropped, their paths are missing", input_name(r->in),
		     (unsigned long long)dropped);
}

static int read_header(const struct text_reader *r, const char *version)
{
	if (strcmp(version, PROFILE_VERSION))
		return error("cannot read '%s': profile version '%s', this hottext knows %s", input_name(r->in),
			     version, PROFILE_VERSION);
	return 0;
}

static int read_line(struct text_reader *r, char *line)
{
	static const struct { const char *word; int (*read)(struct text_reader *r); } items[] = {
		{ "source", read_source }, { "func", read_func }, { "touch", read_touch },
		{ "call", read_call }, { "path", read_path }, { "next", read_next },
	};

	if (!strncmp(line, PROFILE_MAGIC, strlen(PROFILE_MAGIC)))
		return read_header(r, line + strlen(PROFILE_MAGIC));
	if (!*line || *line == '#')
		return 0;
	split(r, line);
	for (size_t i = 0; i < ARRAY_SIZE(items); i++)
		if (!strcmp(r->fields[0], items[i].word))
			return items[i].read(r);
	return bad_line(r, "not a line of a profile");
}

int profile_read(struct profile *p, struct input *in)
{
	struct text_reader r = { .p = p, .in = in };
	size_t len;
	char *line;
	int ret = 0;

	while (!ret && (line = input_line(in, &len)))
		ret = strlen(line) == len ? read_line(&r, line) : bad_line(&r, "a zero byte");
	if (input_failed(in))
		ret = -1;
	if (!ret && !input_lineno(in))
		ret = error("cannot read '%s': the file is empty", input_name(in));
	if (!ret)
		settle_nexts(&r);
	index_release(&r.ids);
	index_release(&r.pending);
	free(r.path_of_id);
	free(r.pending_weights);
	free(r.feet);
	free(r.words);
	free(r.fields);
	return ret;
}
