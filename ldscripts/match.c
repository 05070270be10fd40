/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "match.h"

#include <stdlib.h>
#include <string.h>

#include "ldscripts/fragment.h"
#include "lib/file.h"
#include "lib/index.h"
#include "lib/mem.h"

bool is_function_section(const char *name, uint32_t len)
{
	static const char *const kept[] = { "hot", "unlikely", "unknown", "fixup", "startup", "exit", "split",
					    "asan.", "tsan.", "head" };

	if (len < 7 || strncmp(name, ".text.", 6) || name[6] == '.')
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
		size_t n = strlen(kept[i]);

		if (!strncmp(name + 6, kept[i], n) && (len == 6 + n || kept[i][n - 1] == '.'))
			return false;
	}
	return true;
}

/*
 * In a map a statement is a line of its own, with one blank before it, and the
 * sections it took follow, their names after one blank too:
 *
 *    *(.text.vfs_read)
 *    .text.vfs_read 0xffffffff81000270      0x1f0 fs/read_write.o
 */
int match_in_map(struct match_count *mc, const struct fragment *f, const char *map)
{
	struct index patterns = { 0 };
	uint32_t current = INDEX_NONE;
	struct mapfile m;
	bool *found;

	memset(mc, 0, sizeof(*mc));
	if (mapfile_init(&m, map))
		return -1;
	for (uint32_t i = 0; f && i < f->nr_patterns; i++)
		index_add_str(&patterns, f->patterns[i]);
	found = xcalloc(patterns.nr_keys + 1, sizeof(*found));
	for (const char *line = m.data, *end = m.data + m.size, *nl; line < end; line = nl + 1) {
		nl = memchr(line, '\n', (size_t)(end - line));
		if (!nl)
			nl = end;
		if (nl - line < 2 || line[0] != ' ' || line[1] == ' ')
			continue;
		if (line[1] == '.') {
			uint32_t len = (uint32_t)(strcspn(line + 1, " \n"));

			mc->function_sections |= is_function_section(line + 1, len);
			if (current != INDEX_NONE)
				found[current] = true;
		} else if (nl[-1] == ')') {
			current = index_find(&patterns, line + 1, (size_t)(nl - line - 1));
		}
	}
	mc->wanted = patterns.nr_keys;
	for (uint32_t i = 0; i < patterns.nr_keys; i++)
		mc->found += found[i];
	free(found);
	index_release(&patterns);
	mapfile_release(&m);
	return 0;
}
