/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading a profile from text; the same keys met again add up, so concatenation is merging. */
#include <stdlib.h>
#include <string.h>

#include "collect/profile.h"
#include "collect/profile_text.h"
#include "lib/error.h"
#include "lib/fnv.h"
#include "lib/input.h"
#include "lib/mem.h"
#include "lib/number.h"

struct text_reader {
	struct profile *p;
	struct input *in;
	struct profile_ids *ids;	/* of the profile */
	struct index pending;	/* {ids id, ids id} of nexts met before their paths */
	uint64_t *pending_weights;
	uint32_t alloc_pending;
	uint32_t *feet, alloc_feet;
	uint32_t *words, alloc_words;
	char **fields;		/* of the current line */
	uint32_t nr_fields, alloc_fields;
	bool force;		/* leave bad lines out */
	uint64_t good, bad;	/* lines */
};

static int bad_line(struct text_reader *r, const char *why)
{
	r->bad++;
	return r->force ? 0 : error("cannot read '%s': line %lu: %s", input_name(r->in), input_lineno(r->in), why);
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

/* 16 hex digits. */
static bool get_id(const char *s, uint64_t *id)
{
	uint64_t v = 0;

	for (int i = 0; i < 16; i++) {
		int d = hex_digit(s[i]);

		if (d < 0)
			return false;
		v = v << 4 | (uint64_t)d;
	}
	*id = v;
	return true;
}

static uint32_t add_id(struct profile_ids *ids, uint64_t id)
{
	uint32_t had = ids->ids.nr_keys, i = index_add(&ids->ids, &id, sizeof(id));

	ALLOC_GROW(ids->items, ids->ids.nr_keys, ids->alloc_items);
	if (i == had)
		ids->items[i] = (struct profile_id){ UINT32_MAX, 0 };
	return i;
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

/* fields: KIND ROOT FOOT... */
static int add_new_path(struct text_reader *r, char *fields, struct profile_id *item, uint64_t weight)
{
	enum path_kind kind;
	uint32_t root;

	split(r, fields);
	if (r->nr_fields < 2 || !get_kind(r->fields[0], &kind))
		return bad_line(r, "no such kind of path");
	if (!get_func(r, r->fields[1], &root))
		return bad_line(r, "a broken name");
	uint32_t nr = r->nr_fields - 2;
	ALLOC_GROW(r->feet, nr, r->alloc_feet);
	for (uint32_t i = 0; i < nr; i++)
		if (!get_foot(r, r->fields[2 + i], &r->feet[i]))
			return bad_line(r, "not 'FUNCTION[:CHUNKS]'");
	item->path = profile_add_path(r->p, kind, root, r->feet, nr, weight);
	item->input = r->ids->input;
	return 0;
}

/*
 * "path ID KIND ROOT WEIGHT FOOT...": a path whose id is known needs no more than
 * a check that the id is right, and most lines of a merge are of that sort.
 */
static int read_path(struct text_reader *r, char *line, size_t len)
{
	static const char form[] = "not 'path ID KIND ROOT WEIGHT FUNCTION[:CHUNKS]...'";
	char *kind = line + strlen("path 0123456789abcdef "), *root, *count;
	uint64_t id, weight;

	if (len < (size_t)(kind - line) || kind[-1] != ' ' || !get_id(line + strlen("path "), &id) ||
	    !(root = strchr(kind, ' ')) || !(count = strchr(root + 1, ' ')))
		return bad_line(r, form);
	const char *end = count + 1;
	if (!scan_dec(&end, &weight) || (*end && *end != ' '))
		return bad_line(r, form);
	size_t rest = (size_t)(line + len - end);
	uint64_t h = fnv_bytes(FNV_START, kind, (size_t)(count - kind));
	if (fnv_bytes(h, end, rest) != id)
		return bad_line(r, "the path's id is not that of its contents");
	uint32_t i = add_id(r->ids, id);
	struct profile_id *item = &r->ids->items[i];
	if (item->path != UINT32_MAX) {
		item->input = r->ids->input;
		profile_add_path_weight(r->p, item->path, weight);
		return 0;
	}
	/* Close the gap that the weight leaves: "KIND ROOT FOOT...". */
	memmove(count, end, rest + 1);
	return add_new_path(r, kind, item, weight);
}

/* The paths of two ids, where this input has shown both. */
static bool find_paths(const struct text_reader *r, const uint32_t *key, uint32_t *path, uint32_t *next)
{
	const struct profile_id *a = &r->ids->items[key[0]], *b = &r->ids->items[key[1]];

	*path = a->path;
	*next = b->path;
	return a->input == r->ids->input && b->input == r->ids->input;
}

static int read_next(struct text_reader *r, char *line, size_t len)
{
	char *first = line + strlen("next "), *second = first + 17;
	const char *count = second + 17;
	uint64_t a, b, weight;
	uint32_t path, next;

	if (len < (size_t)(count - line) || second[-1] != ' ' || count[-1] != ' ' || !get_id(first, &a) ||
	    !get_id(second, &b) || !get_count(count, &weight))
		return bad_line(r, "not 'next ID ID COUNT'");
	uint32_t key[2] = { add_id(r->ids, a), add_id(r->ids, b) };
	if (find_paths(r, key, &path, &next)) {
		profile_add_next(r->p, path, next, weight);
		return 0;
	}
	uint32_t had = r->pending.nr_keys, i = index_add(&r->pending, key, sizeof(key));
	ALLOC_GROW(r->pending_weights, r->pending.nr_keys, r->alloc_pending);
	if (i == had)
		r->pending_weights[i] = 0;
	add_count(&r->pending_weights[i], weight);
	return 0;
}

/* The nexts that came before their paths; those whose paths never came are dropped, and counted. */
static void settle_nexts(struct text_reader *r)
{
	uint64_t dropped = 0;
	uint32_t path, next;

	for (uint32_t i = 0; i < r->pending.nr_keys; i++) {
		if (find_paths(r, r->pending.keys[i].data, &path, &next))
			profile_add_next(r->p, path, next, r->pending_weights[i]);
		else
			add_count(&dropped, r->pending_weights[i]);
	}
	if (dropped)
		warn("'%s': %llu successions dropped, their paths are missing", input_name(r->in),
		     (unsigned long long)dropped);
}

static int read_header(const struct text_reader *r, const char *version)
{
	if (strcmp(version, PROFILE_VERSION))
		return error("cannot read '%s': profile version '%s', this hottext knows %s",
			     input_name(r->in), version, PROFILE_VERSION);
	return 0;
}

static int read_line(struct text_reader *r, char *line, size_t len)
{
	static const struct { const char *word; int (*read)(struct text_reader *r); } items[] = {
		{ "source", read_source }, { "func", read_func }, { "touch", read_touch },
		{ "call", read_call },
	};

	if (!strncmp(line, "path ", 5))
		return read_path(r, line, len);
	if (!strncmp(line, "next ", 5))
		return read_next(r, line, len);

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

/* Our own lines end in a newline: one that does not may lack the end of its last number. */
static int read_whole_line(struct text_reader *r, char *line, size_t len)
{
	uint64_t bad = r->bad;
	int ret;

	if (strlen(line) != len)
		ret = bad_line(r, "a zero byte");
	else if (!input_line_ended(r->in))
		ret = bad_line(r, "it is cut, no newline ends it");
	else
		ret = read_line(r, line, len);
	if (r->bad == bad && *line && *line != '#' && strncmp(line, PROFILE_MAGIC, strlen(PROFILE_MAGIC)) != 0)
		r->good++;
	return ret;
}

static int end_forced(struct text_reader *r)
{
	if (!r->good)
		return input_failed(r->in) ? -1 : error("cannot read '%s': no line of it is a profile's", input_name(r->in));
	if (input_failed(r->in))
		warn("'%s': what stands before that is used", input_name(r->in));
	if (r->bad)
		warn("'%s': %llu lines left out, they are cut or not a profile's", input_name(r->in),
		     (unsigned long long)r->bad);
	return 0;
}

static int read_profile(struct profile *p, struct input *in, bool force)
{
	if (!p->ids)
		p->ids = xcalloc(1, sizeof(*p->ids));
	p->ids->input++;
	struct text_reader r = { .p = p, .in = in, .ids = p->ids, .force = force };
	size_t len;
	char *line;
	int ret = 0;

	while (!ret && (line = input_line(in, &len)))
		ret = read_whole_line(&r, line, len);
	if (!ret && force)
		ret = end_forced(&r);
	else if (input_failed(in))
		ret = -1;
	if (!ret && !input_lineno(in))
		ret = error("cannot read '%s': the file is empty", input_name(in));
	if (!ret)
		settle_nexts(&r);
	index_release(&r.pending);
	free(r.pending_weights);
	free(r.feet);
	free(r.words);
	free(r.fields);
	return ret;
}

int profile_read(struct profile *p, struct input *in)
{
	return read_profile(p, in, false);
}

int profile_read_damaged(struct profile *p, struct input *in)
{
	return read_profile(p, in, true);
}
