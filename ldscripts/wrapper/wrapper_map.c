/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Link maps. The wrapper reads that of each link it changes, which may not be the one that was asked for: GNU ld
 * writes to stdout for -Map=-, into a folder, and takes a % for its output's name, here a temporary's.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ldscripts/wrapper/wrapper_parts.h"
#include "lib/error.h"
#include "lib/file.h"
#include "lib/mem.h"

char *wrapper_own_map(const struct wrapper *w, const char *suffix)
{
	const char *tmpdir = getenv("TMPDIR"), *dir = tmpdir && *tmpdir ? tmpdir : "/tmp";
	char *map;

	if (!strchr(w->line.output, '%')) {
		map = xasprintf("%s%s", w->line.output, suffix);
		temp_remember(map);
		return map;
	}
	map = xasprintf("%s/hottext-map.XXXXXX", dir);
	int fd = temp_file(map);
	if (fd < 0) {
		error("cannot write in '%s': %s", dir, strerror(errno));
		free(map);
		return NULL;
	}
	close(fd);
	return map;
}

void wrapper_drop_map(char *map)
{
	if (map)
		unlink(map);
	temp_forget(map);
	free(map);
}

bool wrapper_map_is_plain(const struct wrapper *w)
{
	const char *map = w->line.map;
	struct stat st;

	return strcmp(map, "-") && !strchr(map, '%') && (stat(map, &st) || S_ISREG(st.st_mode));
}

/* What GNU ld makes of the name of a map: ld's lexsup.c, at the end of parse_args(). The caller frees. */
static char *map_name(const char *map, const char *output)
{
	const char *percent = strchr(map, '%'), *slash = strrchr(output, '/');
	struct stat st;

	if (!strcmp(map, "-"))
		return xstrdup(map);
	if (percent)
		return xasprintf("%.*s%s%s", (int)(percent - map), map, output, percent[1] ? percent + 1 : ".map");
	if (!stat(map, &st) && S_ISDIR(st.st_mode))
		return xasprintf("%s/%s.map", map, slash ? slash + 1 : output);
	return xstrdup(map);
}

int wrapper_give_map(const struct wrapper *w, const char *map, const char *name)
{
	char *path = name ? xstrdup(name) : map_name(w->line.map, w->line.output);
	struct outfile out;
	struct mapfile m;
	int ret = mapfile_init(&m, map);

	if (!ret && !(ret = outfile_init(&out, path))) {
		fwrite(m.data, 1, m.size, out.fp);
		ret = outfile_commit(&out);
	}
	mapfile_release(&m);
	free(path);
	return ret ? EXIT_FAILED : 0;
}
