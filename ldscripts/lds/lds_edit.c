/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Changes to a kernel's linker script, as insertions into and deletions from its text. */
#include <stdlib.h>
#include <string.h>

#include "lds.h"
#include "lib/error.h"
#include "lib/mem.h"

struct edit {
	size_t at, del;
	char *ins;	/* owned */
	unsigned int seq;
};

struct edits {
	struct edit *v;
	unsigned int nr, alloc;
};

static void edit_add(struct edits *e, size_t at, size_t del, char *ins)
{
	ALLOC_GROW(e->v, e->nr + 1, e->alloc);
	e->v[e->nr] = (struct edit){ at, del, ins, e->nr };
	e->nr++;
}

static void edits_release(struct edits *e)
{
	for (unsigned int i = 0; i < e->nr; i++)
		free(e->v[i].ins);
	free(e->v);
	memset(e, 0, sizeof(*e));
}

static int compare_edits(const void *a, const void *b)
{
	const struct edit *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

static void edits_write(struct edits *e, const struct lds *l, FILE *fp)
{
	size_t pos = 0;

	sort_array(e->v, e->nr, sizeof(*e->v), compare_edits);
	for (unsigned int i = 0; i < e->nr; i++) {
		const struct edit *ed = &e->v[i];

		if (ed->at > pos) {
			fwrite(l->text + pos, 1, ed->at - pos, fp);
			pos = ed->at;
		}
		fputs(ed->ins, fp);
		if (ed->at + ed->del > pos)
			pos = ed->at + ed->del;
	}
	fwrite(l->text + pos, 1, l->size - pos, fp);
}

/* Apply and read the outcome. */
static int edits_apply(struct edits *e, const struct lds *l, struct lds *out)
{
	char *text;
	size_t size;
	FILE *fp = text_open(&text, &size);

	edits_write(e, l, fp);
	text_close(fp, &text);
	int ret = lds_init(out, l->name, text, size);
	free(text);
	return ret;
}

static const struct lds_section *find_text(const struct lds *l)
{
	for (unsigned int i = 0; i < l->nr_sections; i++)
		if (!strcmp(l->sections[i].name, ".text"))
			return &l->sections[i];
	return NULL;
}

static bool has_pattern(const struct lds_stmt *s, const char *pattern)
{
	for (unsigned int i = 0; i < s->nr_patterns; i++)
		if (!strcmp(s->patterns[i], pattern))
			return true;
	return false;
}

static const struct lds_stmt *find_main(const struct lds_section *text)
{
	for (unsigned int i = 0; i < text->nr_stmts; i++)
		if (text->stmts[i].kind == LDS_INPUT && text->stmts[i].any_file && has_pattern(&text->stmts[i], ".text"))
			return &text->stmts[i];
	return NULL;
}

static bool is_align(const struct lds *l, const struct lds_stmt *s)
{
	return s->kind == LDS_ASSIGN && !strcmp(s->symbol, ".") &&
	       memmem(l->text + s->start, s->end - s->start, "ALIGN", 5);
}

/* Before the first statement of the main text, behind the alignment it begins with: layout_assign() knows. */
static size_t hot_place(const struct lds_section *text)
{
	for (unsigned int i = 0; i < text->nr_stmts; i++) {
		const struct lds_stmt *s = &text->stmts[i];

		for (unsigned int j = 0; s->kind == LDS_INPUT && s->any_file && j < s->nr_patterns; j++)
			if (lds_is_main_pattern(s->patterns[j]))
				return s->start;
	}
	return text->body_end;
}

/* The statement of a group and the stretch between its boundary symbols. */
struct span {
	const struct lds_stmt *input;
	size_t start, end;
};

/* __X_text_start at a, the index of its __X_text_end, or 0. */
static unsigned int find_end_symbol(const struct lds_section *text, unsigned int a)
{
	const char *start = text->stmts[a].kind == LDS_ASSIGN ? text->stmts[a].symbol : "";
	size_t len = strlen(start);

	if (len <= 6 || strcmp(start + len - 6, "_start"))
		return 0;
	for (unsigned int i = a + 1; i < text->nr_stmts; i++) {
		const struct lds_stmt *s = &text->stmts[i];

		if (s->kind == LDS_ASSIGN && strlen(s->symbol) == len - 2 && !strncmp(s->symbol, start, len - 5) &&
		    !strcmp(s->symbol + len - 5, "end"))
			return i;
	}
	return 0;
}

/* The outermost pair of boundary symbols around the statement that takes `section`. */
static int find_group(const struct lds *l, const struct lds_section *text, const char *section,
		      struct span *g)
{
	for (unsigned int a = 0; a < text->nr_stmts; a++) {
		unsigned int b = find_end_symbol(text, a);

		for (unsigned int i = a + 1; i < b; i++) {
			if (text->stmts[i].kind != LDS_INPUT || !has_pattern(&text->stmts[i], section))
				continue;
			unsigned int first = a && is_align(l, &text->stmts[a - 1]) ? a - 1 : a;

			g->input = &text->stmts[i];
			g->start = text->stmts[first].start;
			g->end = text->stmts[b].end;
			return 0;
		}
	}
	return error("no group '%s' between symbols in '%s'", section, l->name);
}

/* First pass, all in place: take .text.* in, put the listed members of groups first. */
static int add_in_place(const struct lds *l, const struct lds_changes *c, struct lds *out)
{
	const struct lds_section *text = find_text(l);
	const struct lds_stmt *m = text ? find_main(text) : NULL;
	struct edits e = { 0 };
	int ret = -1;

	if (!text)
		return error("no .text output section in '%s'", l->name);
	if (!m)
		return error("no *(.text) in the .text output section of '%s'", l->name);
	if (c->take_in) {
		char *patterns = lds_main_patterns(l, m);

		if (*patterns)
			edit_add(&e, m->patterns_end, 0, xasprintf(" %s", patterns));
		free(patterns);
	}
	for (unsigned int i = 0; i < c->nr_groups; i++) {
		struct span g;

		if (find_group(l, text, c->groups[i].section, &g))
			goto out;
		if (*c->groups[i].members)
			edit_add(&e, g.input->start, 0, xasprintf("\n%s ", c->groups[i].members));
	}
	ret = edits_apply(&e, l, out);
out:
	edits_release(&e);
	return ret;
}

static bool is_deleted(const struct edits *e, const struct span *g)
{
	for (unsigned int i = 0; i < e->nr; i++)
		if (e->v[i].del && e->v[i].at < g->end && g->start < e->v[i].at + e->v[i].del)
			return true;
	return false;
}

/* Second pass: the hot region, and behind it the groups that are to stand there. */
static int add_hot(const struct lds *l, const struct lds_changes *c, FILE *fp)
{
	const struct lds_section *text = find_text(l);
	struct edits e = { 0 };
	int ret = -1;

	BUG_ON(!text);	/* the first pass found it */
	size_t at = hot_place(text);
	if (c->hot && *c->hot)
		edit_add(&e, at, 0, xasprintf("\n%s%s", c->hot, c->hot[strlen(c->hot) - 1] == '\n' ? "" : "\n"));
	for (unsigned int i = 0; i < c->nr_groups; i++) {
		struct span g;

		if (!c->groups[i].after_hot)
			continue;
		if (find_group(l, text, c->groups[i].section, &g))
			goto out;
		/* From 6.2 on .cpuidle.text lies inside .noinstr.text: it has gone along. */
		if (is_deleted(&e, &g))
			continue;
		edit_add(&e, at, 0, xasprintf("%.*s\n", (int)(g.end - g.start), l->text + g.start));
		edit_add(&e, g.start, g.end - g.start, xstrdup(""));
	}
	edits_write(&e, l, fp);
	ret = 0;
out:
	edits_release(&e);
	return ret;
}

int lds_rewrite(const struct lds *l, const struct lds_changes *c, FILE *fp)
{
	struct lds mid;

	if (add_in_place(l, c, &mid))
		return -1;
	int ret = add_hot(&mid, c, fp);
	lds_release(&mid);
	return ret;
}
