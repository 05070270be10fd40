/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orders.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/image/image.h"
#include "ldscripts/pattern.h"
#include "lib/index.h"
#include "reorder/layout.h"

void orders_write_symbols(FILE *fp, const struct layout *l)
{
	const struct image *img = l->image;
	struct index seen = { 0 };

	for (uint32_t i = 0; i < l->nr_hot; i++) {
		const struct unit *u = &img->units[l->hot[i].unit];

		for (uint32_t j = 0; j < u->nr_funcs; j++) {
			const char *id = img->funcs[u->first_func + j].id;
			size_t len = strcspn(id, "@#");

			if (!len || memchr(id, '\n', len) || index_find(&seen, id, len) != INDEX_NONE)
				continue;
			index_add(&seen, id, len);
			fprintf(fp, "%.*s\n", (int)len, id);
		}
	}
	index_release(&seen);
}

/* Only the section part: both linkers' formats know no object here that gold would take too. */
static void print_section(FILE *fp, const char *pattern, struct index *seen)
{
	const char *open = strrchr(pattern, '(');
	size_t len = open ? strlen(open + 1) - 1 : 0;

	/* An assembler object's .text would stand for every object's. */
	if (len <= 6 || strncmp(open + 1, ".text.", 6) || index_find(seen, open + 1, len) != INDEX_NONE)
		return;
	index_add(seen, open + 1, len);
	fprintf(fp, "*(\n%.*s\n)\n", (int)len, open + 1);
}

void orders_write_sections(FILE *fp, const struct layout *l)
{
	struct pattern_names names;
	struct index seen = { 0 };

	pattern_names_init(&names, l->image);
	fputs(".text : {\n*(\n.head.text\n)\n", fp);
	for (uint32_t i = 0; i < l->nr_hot; i++) {
		char *pattern = pattern_of_unit(&names, l->image, l->hot[i].unit);

		if (pattern && l->image->units[l->hot[i].unit].group == GROUP_MAIN)
			print_section(fp, pattern, &seen);
		free(pattern);
	}
	fputs("}\n", fp);
	pattern_names_release(&names);
	index_release(&seen);
}
