/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "claims.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/image/image.h"
#include "analyze/image/units.h"
#include "ldscripts/fragment.h"
#include "ldscripts/lds/lds.h"
#include "lib/error.h"
#include "lib/file.h"
#include "lib/mem.h"

int claims_read_script(struct lds *l, const char *path)
{
	struct mapfile m;

	if (mapfile_init(&m, path))
		return -1;
	int ret = lds_init(l, path, m.data, m.size);
	mapfile_release(&m);
	return ret;
}

int claims_fix_units(struct image *img, const char *path)
{
	struct lds l;

	if (claims_read_script(&l, path))
		return -1;
	for (uint32_t i = 0; i < img->nr_units; i++) {
		struct unit *u = &img->units[i];

		if (!u->movable || !lds_claims(&l, u->object, u->section))
			continue;
		u->movable = false;
		u->group = GROUP_REF;
		u->why_fixed = group_why_fixed(GROUP_REF);
	}
	lds_release(&l);
	return 0;
}

/* The object of a statement as fragment_write() has it, [f]s/pipe.o(...); NULL: any. The caller frees. */
static char *object_of(const struct lds_stmt *s, const char *text)
{
	const char *file = s->file;

	if (memchr(text + s->start, ':', s->end - s->start) || file[0] != '[' || !file[1] || file[2] != ']')
		return NULL;
	return xasprintf("%c%s", file[1], file + 3);
}

static bool is_claimed(const struct lds *script, const struct lds_stmt *s, const char *text)
{
	char *object = object_of(s, text);
	bool ret = false;

	for (unsigned int i = 0; i < s->nr_patterns; i++)
		ret |= lds_claims(script, object, s->patterns[i]);
	free(object);
	return ret;
}

/* Whether it was one: for lld there are statements beside them, too. */
static bool drop_pattern(struct fragment *f, const char *pattern, size_t len)
{
	for (uint32_t i = 0; i < f->nr_patterns; i++) {
		if (strlen(f->patterns[i]) != len || strncmp(f->patterns[i], pattern, len))
			continue;
		free(f->patterns[i]);
		f->nr_patterns--;
		memmove(&f->patterns[i], &f->patterns[i + 1], (f->nr_patterns - i) * sizeof(*f->patterns));
		return true;
	}
	return false;
}

int claims_drop(struct fragment *f, const struct lds *script)
{
	char *wrapped = xasprintf("SECTIONS { .text : {\n%s\n} }", f->text), *first = NULL;
	uint32_t nr = 0;
	struct lds l;

	if (lds_init(&l, "hottext.ld", wrapped, strlen(wrapped))) {
		free(wrapped);
		return -1;
	}
	for (unsigned int i = 0; l.nr_sections && i < l.sections[0].nr_stmts; i++) {
		const struct lds_stmt *s = &l.sections[0].stmts[i];
		size_t len = s->end - s->start;

		if (s->kind != LDS_INPUT || !is_claimed(script, s, l.text))
			continue;
		if (!first)
			first = xstrndup(l.text + s->start, len);
		nr += drop_pattern(f, l.text + s->start, len);
		memset(wrapped + s->start, ' ', len);
	}
	if (first) {
		warn("'%s' has places of its own for %u of the plan's sections, which stay there: '%s'%s",
		     script->name, nr, first, nr > 1 ? " ..." : "");
		size_t head = strlen("SECTIONS { .text : {\n");
		memcpy(f->text, wrapped + head, strlen(f->text));
	}
	free(first);
	free(wrapped);
	lds_release(&l);
	return 0;
}
