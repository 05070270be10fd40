/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/compare/label.h"

#include <string.h>

/* Where the last part begins of what lies before end; path where there is no other. */
static const char *part_before(const char *path, const char *end)
{
	while (end > path && end[-1] == '/')
		end--;
	while (end > path && end[-1] != '/')
		end--;
	return end;
}

static int ends_in(const char *path, const char *tail)
{
	size_t n = strlen(path), k = strlen(tail);

	return n >= k && !strcmp(path + n - k, tail) && (n == k || path[n - k - 1] == '/' || tail[0] == '/');
}

const char *short_path(const char *const *paths, uint32_t nr, uint32_t i)
{
	const char *path = paths[i], *tail = part_before(path, path + strlen(path));

	for (uint32_t k = 0; k < nr; k++)
		while (tail > path && strcmp(paths[k], path) && ends_in(paths[k], tail))
			tail = part_before(path, tail);
	return tail;
}
