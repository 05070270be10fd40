/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "match.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/image/linkmap.h"
#include "analyze/image/linkmap_lld.h"
#include "ldscripts/fragment.h"
#include "ldscripts/pattern.h"
#include "lib/file.h"
#include "lib/index.h"
#include "lib/mem.h"

bool is_function_section(const char *name, uint32_t len)
{
	static const char *const kept[] = { "hot", "unlikely", "unknown", "fixup", "startup", "exit", "split",
					    "asan.", "tsan.", "head", "__x86." };

	if (len < 7 || strncmp(name, ".text.", 6) || name[6] == '.')
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
		size_t n = strlen(kept[i]);

		if (!strncmp(name + 6, kept[i], n) && (len == 6 + n || kept[i][n - 1] == '.'))
			return false;
	}
	return true;
}

/* lld's map has no statements: a pattern is found where the map has its section. */
static int match_in_lld_map(struct match_count *mc, const struct fragment *f, const char *path)
{
	struct index there = { 0 };
	struct linkmap m;

	if (linkmap_read(&m, path))
		return -1;
	for (uint32_t i = 0; i < m.nr_sections; i++) {
		const struct linkmap_section *s = &m.sections[i];
		char *object = pattern_of_object(s->object);
		char *by_name = xasprintf("*(%s)", s->name), *by_object = xasprintf("%s(%s)", object ? object : "", s->name);

		mc->function_sections |= is_function_section(s->name, (uint32_t)strlen(s->name));
		index_add_str(&there, by_name);
		index_add_str(&there, by_object);
		free(object);
		free(by_name);
		free(by_object);
	}
	mc->wanted = f ? f->nr_patterns : 0;
	for (uint32_t i = 0; i < mc->wanted; i++)
		mc->found += index_find_str(&there, f->patterns[i]) != INDEX_NONE;
	index_release(&there);
	linkmap_release(&m);
	return 0;
}

static bool is_lld_map(const struct mapfile *m)
{
	const char *nl = memchr(m->data, '\n', m->size);
	char *line = xstrndup(m->data, nl ? (size_t)(nl - m->data) : 0);
	bool ret = linkmap_lld_title(line);

	free(line);
	return ret;
}

bool map_is_lld(const char *map)
{
	struct mapfile m;
	bool ret = false;

	if (!access(map, R_OK) && !mapfile_init(&m, map)) {
		ret = is_lld_map(&m);
		mapfile_release(&m);
	}
	return ret;
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
	if (is_lld_map(&m)) {
		mapfile_release(&m);
		mc->lld = true;
		return match_in_lld_map(mc, f, map);
	}
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
