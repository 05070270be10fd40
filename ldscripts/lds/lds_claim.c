/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whose a section is: ld gives it to the first statement that matches. A hot region in front of such a statement would
 * take away from it what the kernel looks for there:
 *
 *   __indirect_thunk_start = .; *(.text.__x86.indirect_thunk) __indirect_thunk_end = .;
 */
#include <fnmatch.h>
#include <string.h>

#include "lds.h"
#include "lib/mem.h"

bool lds_is_main_pattern(const char *pattern)
{
	static const char *const kinds[] = { "hot", "unlikely", "unknown", "split", "fixup" };
	const char *s = pattern + 6;

	if (!strcmp(pattern, ".text"))
		return true;
	if (strncmp(pattern, ".text.", 6))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		size_t n = strlen(kinds[i]);

		if (!strncmp(s, kinds[i], n) && (!s[n] || strchr(".*[", s[n])))
			return true;
	}
	return *s == '[' || *s == '*';	/* of all functions: LTO, or dead code left out */
}

/* An archive's members are not told apart: taking too little is safe. */
static bool may_be_file(const struct lds *l, const struct lds_stmt *s, const char *object)
{
	return !object || s->any_file || strchr(object, ':') || strchr(object, '(') ||
	       memchr(l->text + s->start, ':', s->patterns_end - s->start) || !fnmatch(s->file, object, 0);
}

static bool takes(const struct lds_stmt *s, const char *section)
{
	for (unsigned int i = 0; i < s->nr_patterns; i++)
		if (!strncmp(s->patterns[i], section, strcspn(s->patterns[i], "*?[\\")) &&	/* most end here, and fast */
		    !fnmatch(s->patterns[i], section, 0))
			return true;
	return false;
}

/* A statement of main text may name more than that: what it takes stays main text. */
static bool is_main(const struct lds_stmt *s)
{
	for (unsigned int i = 0; s->any_file && i < s->nr_patterns; i++)
		if (lds_is_main_pattern(s->patterns[i]))
			return true;
	return false;
}

bool lds_claims(const struct lds *l, const char *object, const char *section)
{
	for (unsigned int i = 0; i < l->nr_sections; i++)
		for (unsigned int j = 0; j < l->sections[i].nr_stmts; j++) {
			const struct lds_stmt *s = &l->sections[i].stmts[j];

			if (s->kind == LDS_INPUT && takes(s, section) && may_be_file(l, s, object))
				return strcmp(l->sections[i].name, ".text") || !is_main(s);
		}
	return false;
}
