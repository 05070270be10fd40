/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The link of vmlinux.o (X86_KERNEL_IBT, LTO, KLP_BUILD). `ld -r` fuses sections of
 * one name: two static helpers, and the .text of all assembler objects. A script
 * gives each an output section of its own:
 *
 *   SECTIONS {
 *     .text.helper..a_f 0 : { [a]/f.o(.text.helper) }
 *     .text.asm..arch_x86_lib_memcpy_64 0 : { [a]rch/x86/lib/memcpy_64.o(.text) }
 *   } INSERT AFTER .text;
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/image/linkmap.h"
#include "ldscripts/match.h"
#include "ldscripts/pattern.h"
#include "ldscripts/run.h"
#include "ldscripts/wrapper/wrapper_parts.h"
#include "lib/error.h"
#include "lib/file.h"
#include "lib/mem.h"

/* Sections that a plan may want to place on their own. */
static bool wants_own(const struct linkmap_section *s)
{
	if (!strcmp(s->name, ".text"))
		return s->size;
	return is_function_section(s->name, (uint32_t)strlen(s->name)) || !strncmp(s->name, ".text.unlikely.", 15);
}

/* .text.helper of a/f.o: .text.helper..a_f; a number behind it where that is taken. */
static char *new_name(const struct linkmap_section *s, struct index *names)
{
	size_t len = strlen(s->object);
	char *object = xstrdup(s->object), *name;

	if (len > 2 && !strcmp(object + len - 2, ".o"))
		object[len - 2] = '\0';
	for (char *c = object; *c; c++)
		if (!isalnum((unsigned char)*c))
			*c = '_';
	name = xasprintf("%s..%s", strcmp(s->name, ".text") ? s->name : ".text.asm", object);
	for (unsigned int n = 2; index_find_str(names, name) != INDEX_NONE; n++) {
		free(name);
		name = xasprintf("%s..%s.%u", strcmp(s->name, ".text") ? s->name : ".text.asm", object, n);
	}
	index_add_str(names, name);
	free(object);
	return name;
}

/* Write the script; returns how many sections it renames. */
static uint32_t write_renames(const struct linkmap *m, bool lld, FILE *fp)
{
	struct index names = { 0 }, seen = { 0 };
	uint32_t *count = xcalloc(m->nr_sections + 1, sizeof(*count)), nr = 0;

	for (uint32_t i = 0; i < m->nr_sections; i++)
		if (wants_own(&m->sections[i]))
			count[index_add_str(&names, m->sections[i].name)]++;
	fputs("SECTIONS {\n", fp);
	for (uint32_t i = 0; i < m->nr_sections; i++) {
		const struct linkmap_section *s = &m->sections[i];

		if (!wants_own(s) || count[index_find_str(&names, s->name)] < 2)
			continue;
		char *object = pattern_of_object(s->object);
		char *key = object ? xasprintf("%s(%s)", object, s->name) : NULL;
		if (key && index_find_str(&seen, key) == INDEX_NONE) {
			char *name = new_name(s, &names);

			index_add_str(&seen, key);
			/* As fragment_for_lld(): in lld a member of a thin archive is called ARCHIVE:MEMBER. */
			fprintf(fp, " %s 0 : { %s%s%s }\n", name, key, lld ? " *:" : "", lld ? key : "");
			free(name);
			nr++;
		}
		free(key);
		free(object);
	}
	fputs("} INSERT AFTER .text;\n", fp);
	index_release(&names);
	index_release(&seen);
	free(count);
	return nr;
}

static bool has_function_sections(const struct linkmap *m)
{
	for (uint32_t i = 0; i < m->nr_sections; i++)
		if (is_function_section(m->sections[i].name, (uint32_t)strlen(m->sections[i].name)))
			return true;
	return false;
}

/* The second link, by the map of the first. */
static int relink(const struct wrapper *w, const struct linkmap *m, const char *output, const char *map)
{
	struct outfile script;
	int ret = EXIT_FAILED;

	if (wrapper_temp(w, ".hottext-rename.lds", &script))
		return EXIT_FAILED;
	uint32_t nr = write_renames(m, w->lld, script.fp);
	if (fflush(script.fp) || ferror(script.fp)) {
		error("cannot write '%s': %s", script.tmp, strerror(errno));
	} else if (!nr) {
		ret = 0;
	} else {
		char *opt = xasprintf("--script=%s", script.tmp);
		char **argv = linkline_with(&w->line, w->ld, output, NULL, map, opt);

		detail("%u sections of '%s' renamed that would have fused", nr, w->line.output);
		ret = run_linker(argv);
		linkline_free(argv);
		free(opt);
	}
	outfile_abort(&script);
	return ret;
}

int wrapper_relocatable(struct wrapper *w)
{
	char *tmp = xasprintf("%s.hottext-tmp", w->line.output), *map = wrapper_own_map(w, ".hottext-map");
	char **argv = linkline_with(&w->line, w->ld, tmp, NULL, map, NULL);
	struct linkmap m = { 0 };

	temp_remember(tmp);
	wrapper_remove_output(w);
	int ret = map ? run_linker(argv) : EXIT_FAILED;
	linkline_free(argv);
	w->lld |= !ret && map_is_lld(map);
	if (!ret && linkmap_read(&m, map))
		ret = EXIT_FAILED;
	if (!ret && has_function_sections(&m))
		ret = relink(w, &m, tmp, map);
	if (!ret && w->line.map)
		ret = wrapper_give_map(w, map, NULL);
	if (!ret && rename(tmp, w->line.output))
		ret = error("cannot write '%s': %s", w->line.output, strerror(errno)) ? EXIT_FAILED : 0;
	linkmap_release(&m);
	if (ret)
		unlink(tmp);
	temp_forget(tmp);
	wrapper_drop_map(map);
	free(tmp);
	return ret;
}
