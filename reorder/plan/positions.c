/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/plan/positions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/image/image.h"
#include "lib/error.h"
#include "lib/mem.h"
#include "reorder/layout.h"
#include "reorder/plan/plan.h"

enum { SHOWN_NAMES = 5 };

struct namesake {
	const struct sym *sym;
	uint64_t before, after;	/* addresses */
	uint32_t position;	/* before, from 1 */
};

static int compare_before(const void *a, const void *b)
{
	const struct namesake *x = a, *y = b;
	int order = strcmp(x->sym->name, y->sym->name);

	if (order)
		return order;
	if (x->before != y->before)
		return x->before < y->before ? -1 : 1;
	return strcmp(x->sym->id, y->sym->id);
}

static int compare_after(const void *a, const void *b)
{
	const struct namesake *x = a, *y = b;

	if (x->after != y->after)
		return x->after < y->after ? -1 : 1;
	return x->position < y->position ? -1 : x->position > y->position;
}

static int compare_position(const void *a, const void *b)
{
	const struct plan_position *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	if (order)
		return order;
	return x->before < y->before ? -1 : x->before > y->before;
}

/* What is in no unit stands behind all text, and stays there in its order. */
static uint64_t address_in(const struct layout *l, const struct image *img, uint32_t unit, uint64_t addr)
{
	return unit == INDEX_NONE ? addr : l->addr[unit] + (addr - img->units[unit].addr);
}

static struct namesake *list_functions(const struct image *img, const struct layout *before,
				       const struct layout *after, uint32_t *nr)
{
	struct namesake *all = xcalloc((size_t)img->symtab.nr_syms + 1, sizeof(*all));

	*nr = 0;
	for (uint32_t i = 0; i < img->symtab.nr_syms; i++) {
		const struct sym *s = &img->symtab.syms[i];
		uint32_t unit = image_find_unit(img, s->addr);

		if (s->flags & SYM_FUNC)
			all[(*nr)++] = (struct namesake){ .sym = s, .before = address_in(before, img, unit, s->addr),
							  .after = address_in(after, img, unit, s->addr) };
	}
	if (*nr)
		qsort(all, *nr, sizeof(*all), compare_before);
	return all;
}

/* One name's functions, nr of them in link order. */
static void add_changed(struct plan *p, struct namesake *same, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		same[i].position = i + 1;
	qsort(same, nr, sizeof(*same), compare_after);
	for (uint32_t i = 0; i < nr; i++) {
		if (same[i].position == i + 1)
			continue;
		ALLOC_GROW(p->positions, p->nr_positions + 1, p->alloc_positions);
		p->positions[p->nr_positions++] = (struct plan_position){
			.name = plan_string(p, same[i].sym->name), .function = plan_string(p, same[i].sym->id),
			.before = same[i].position, .after = i + 1,
		};
	}
}

void positions_fill(struct plan *p, const struct image *img, const struct layout *before, const struct layout *after)
{
	uint64_t klp;
	uint32_t nr;

	if (!symtab_value(&img->symtab, "klp_enable_patch", &klp))
		return;
	struct namesake *all = list_functions(img, before, after, &nr);
	for (uint32_t i = 0, end; i < nr; i = end) {
		for (end = i + 1; end < nr && !strcmp(all[i].sym->name, all[end].sym->name); end++)
			;
		if (end - i > 1)
			add_changed(p, all + i, end - i);
	}
	free(all);
	sort_array(p->positions, p->nr_positions, sizeof(*p->positions), compare_position);
}

void positions_warn(const struct plan *p)
{
	uint32_t names = 0;
	char *list = xstrdup("");

	for (uint32_t i = 0; i < p->nr_positions; i++) {
		const struct plan_position *pos = &p->positions[i];

		detail("%s was number %u of the functions called %s, and becomes number %u", pos->function, pos->before,
		       pos->name, pos->after);
		if (i && !strcmp(pos->name, pos[-1].name))
			continue;
		if (++names > SHOWN_NAMES)
			continue;
		char *longer = xasprintf("%s%s%s", list, *list ? ", " : "", pos->name);
		free(list);
		list = longer;
	}
	if (names)
		warn("livepatches must count anew: functions of the same name change their order (%s%s)", list,
		     names > SHOWN_NAMES ? ", ..." : "");
	free(list);
}
