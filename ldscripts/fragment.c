/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fragment.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/image/image.h"
#include "ldscripts/pattern.h"
#include "lib/error.h"
#include "lib/file.h"
#include "lib/index.h"
#include "lib/mem.h"
#include "reorder/layout.h"

/* The groups whose members a script may order or move, by the input section that makes them. */
static const struct {
	enum group group;
	const char *section;
} bounded[] = {
	{ GROUP_NOINSTR, ".noinstr.text" },
	{ GROUP_SCHED, ".sched.text" },
	{ GROUP_LOCK, ".spinlock.text" },
	{ GROUP_KPROBES, ".kprobes.text" },
	{ GROUP_IRQENTRY, ".irqentry.text" },
	{ GROUP_SOFTIRQENTRY, ".softirqentry.text" },
	{ GROUP_CPUIDLE, ".cpuidle.text" },
	{ GROUP_STATIC_CALL, ".static_call.text" },
};

/* Index in bounded[], -1 for main text, -2 for what never moves. */
static int bounded_index(enum group group)
{
	if (group == GROUP_MAIN)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(bounded); i++)
		if (bounded[i].group == group)
			return (int)i;
	return -2;
}

struct line {
	char *pattern;	/* NULL: dropped */
	const char *why;
	int group;
	uint32_t unit, align;
};

/* Decide every line, the same pattern only once. Returns how many. */
static struct line *plan_lines(const struct layout *l, struct fragment_totals *t)
{
	struct line *lines = xcalloc(l->nr_hot + 1, sizeof(*lines));
	struct pattern_names names;
	struct index seen = { 0 };

	pattern_names_init(&names, l->image);
	for (uint32_t i = 0; i < l->nr_hot; i++) {
		const struct unit *u = &l->image->units[l->hot[i].unit];
		struct line *ln = &lines[i];

		ln->unit = l->hot[i].unit;
		ln->align = l->hot[i].align;
		ln->group = bounded_index(u->group);
		ln->pattern = ln->group == -2 ? NULL : pattern_of_unit(&names, l->image, ln->unit);
		ln->why = ln->group == -2 ? "fixed" : "its name cannot be written in a script";
		if (ln->pattern && index_find_str(&seen, ln->pattern) != INDEX_NONE) {
			free(ln->pattern);
			ln->pattern = NULL;
			ln->why = "fused with an earlier one of the same name";
		}
		if (!ln->pattern) {
			t->dropped++;
			continue;
		}
		index_add_str(&seen, ln->pattern);
		t->units++;
		t->functions += u->nr_funcs;
	}
	pattern_names_release(&names);
	index_release(&seen);
	return lines;
}

/* A name inside a comment: nothing in it may close the comment. */
static void print_name(FILE *fp, const char *s)
{
	for (; *s; s++)
		fputc(*s < ' ' || *s == '*' || *s == 0x7f ? '?' : *s, fp);
}

static void print_header(FILE *fp, const struct layout *l, const struct line *lines,
			 const struct fragment_totals *t)
{
	char hex[2 * BUILD_ID_MAX + 1];
	const struct symtab *st = &l->image->symtab;

	fprintf(fp, "/*\n * hottext %s: " FRAGMENT_TITLE ".\n"
		" * Planned on a kernel with build-id %s.\n"
		" * %u functions in %u sections placed, %u sections dropped.\n",
		HOTTEXT_VERSION, build_id_hex(st->build_id, st->build_id_size, hex), t->functions, t->units, t->dropped);
	for (uint32_t i = 0; i < l->nr_hot; i++) {
		if (lines[i].pattern)
			continue;
		fputs(" * dropped: ", fp);
		print_name(fp, l->image->units[lines[i].unit].section);
		fprintf(fp, " (%s)\n", lines[i].why);
	}
	fputs(" */\n", fp);
}

/* Members of one bounded group, announced by its name. */
static void print_group(FILE *fp, const struct line *lines, uint32_t nr, int group)
{
	bool first = true;

	for (uint32_t i = 0; i < nr; i++) {
		if (lines[i].group != group || !lines[i].pattern)
			continue;
		if (first)
			fprintf(fp, "/* hottext-group %s after-hot */\n", bounded[group].section);
		fprintf(fp, "/* hottext-member %s */\n", lines[i].pattern);
		first = false;
	}
}

void fragment_write(FILE *fp, const struct layout *l, struct fragment_totals *totals)
{
	struct fragment_totals t = { 0 };
	struct line *lines = plan_lines(l, &t);
	bool done[ARRAY_SIZE(bounded)] = { false };

	print_header(fp, l, lines, &t);
	for (uint32_t i = 0; i < l->nr_hot; i++) {
		const struct line *ln = &lines[i];

		if (!ln->pattern || ln->group >= 0)
			continue;
		if (ln->align > 1)
			fprintf(fp, ". = ALIGN(%u);\n", ln->align);
		fprintf(fp, "%s\n", ln->pattern);
	}
	for (uint32_t i = 0; i < l->nr_hot; i++) {
		int g = lines[i].group;

		if (g < 0 || done[g] || !lines[i].pattern)
			continue;
		print_group(fp, lines, l->nr_hot, g);
		done[g] = true;
	}
	for (uint32_t i = 0; i < l->nr_hot; i++)
		free(lines[i].pattern);
	free(lines);
	if (totals)
		*totals = t;
}
