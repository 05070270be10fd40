/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pattern.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/image/image.h"
#include "lib/mem.h"

/* What GNU ld reads as part of a name and fnmatch() takes literally. */
static bool is_plain(const char *s)
{
	size_t n = strspn(s, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_.$/-+~@%");

	return *s && !s[n] && strncmp(s, "/*", 2);
}

void pattern_names_init(struct pattern_names *n, const struct image *img)
{
	uint32_t alloc = 0;

	memset(n, 0, sizeof(*n));
	for (uint32_t i = 0; i < img->nr_units; i++) {
		uint32_t id = index_add_str(&n->sections, img->units[i].section);

		if (id >= alloc) {
			uint32_t had = alloc;

			ALLOC_GROW(n->count, (size_t)id + 1, alloc);
			memset(n->count + had, 0, (alloc - had) * sizeof(*n->count));
		}
		n->count[id]++;
	}
}

void pattern_names_release(struct pattern_names *n)
{
	index_release(&n->sections);
	free(n->count);
}

/* [f]s/read_write.o, or [l]ib/lib.a:memcpy.o for a member of an ordinary archive. */
char *pattern_of_object(const char *object)
{
	size_t len = strlen(object);
	const char *paren = len && object[len - 1] == ')' ? strrchr(object, '(') : NULL;
	char *ret = NULL;

	if (paren) {
		char *archive = xstrndup(object, (size_t)(paren - object));
		char *member = xstrndup(paren + 1, len - (size_t)(paren - object) - 2);

		if (is_plain(archive) && is_plain(member))
			ret = xasprintf("[%c]%s:%s", archive[0], archive + 1, member);
		free(archive);
		free(member);
	} else if (is_plain(object)) {
		ret = xasprintf("[%c]%s", object[0], object + 1);
	}
	return ret;
}

/* Whether the section is one function's: its name is not shared by what other kernels or objects may hold. */
static bool is_own_section(const char *section)
{
	static const char *const shared[] = { "hot", "unlikely", "unknown", "fixup", "startup", "exit", "split" };

	if (strncmp(section, ".text.", 6))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(shared); i++)
		if (!strcmp(section + 6, shared[i]))
			return false;
	return true;
}

/* An inferred unit is called ".text.SYMBOL", but GCC puts f.cold into .text.unlikely.f. */
static char *inferred_section(const char *section)
{
	size_t len = strlen(section);

	if (len > 11 && !strcmp(section + len - 5, ".cold") && !strncmp(section, ".text.", 6))
		return xasprintf(".text.unlikely.%.*s", (int)(len - 11), section + 6);
	return xstrdup(section);
}

char *pattern_of_unit(const struct pattern_names *n, const struct image *img, uint32_t unit)
{
	const struct unit *u = &img->units[unit];
	char *section = img->exact_units ? xstrdup(u->section) : inferred_section(u->section);
	char *ret = NULL, *object = NULL;

	if (!is_plain(section))
		goto out;
	if (is_own_section(section) && (!u->object || n->count[index_find_str(&n->sections, u->section)] == 1)) {
		ret = xasprintf("*(%s)", section);
		goto out;
	}
	object = u->object ? pattern_of_object(u->object) : NULL;
	if (object)
		ret = xasprintf("%s(%s)", object, section);
out:
	free(object);
	free(section);
	return ret;
}
