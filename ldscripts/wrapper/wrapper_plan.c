/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A kernel ordered in one build. Its final links (two or three for kallsyms, one
 * for BTF) must all see the same order, so the plan of the first is kept:
 *
 *   .hottext/plan/        the plan folder
 *   .hottext/plan/inputs  what it was made from, written last: without it there is no plan
 */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ldscripts/fragment.h"
#include "ldscripts/match.h"
#include "ldscripts/optimize.h"
#include "ldscripts/run.h"
#include "ldscripts/wrapper/wrapper_parts.h"
#include "lib/error.h"
#include "lib/file.h"
#include "lib/fnv.h"
#include "lib/index.h"
#include "lib/mem.h"
#include "lib/progress.h"

static int print_content(FILE *fp, const char *what, const char *path)
{
	struct mapfile m;

	if (mapfile_init(&m, path))
		return -1;
	fprintf(fp, "%s %zu %016llx\n", what, m.size,
		(unsigned long long)fnv_bytes(FNV_START, m.data, m.size));
	mapfile_release(&m);
	return 0;
}

/* Files that Kbuild makes anew between the links of one kernel; they hold no text. */
static bool is_step_file(const char *path)
{
	const char *base = strrchr(path, '/');

	base = base ? base + 1 : path;
	return !strncmp(base, ".tmp_vmlinux", 12) || !strncmp(base, ".tmp_kallsyms", 13) ||
	       !strncmp(base, ".btf", 4);
}

static void print_file(FILE *fp, const char *path)
{
	struct stat st;

	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return;
	fprintf(fp, "file %lld %lld.%09ld %s\n", (long long)st.st_size, (long long)st.st_mtim.tv_sec,
		st.st_mtim.tv_nsec, path);
}

/*
 * Members of a thin archive are files of their own. Their names stand in its table
 * "//", each closed by "/" and a newline; only the symbol table comes before it.
 * A header has 60 bytes: the name first, the size in decimal at byte 48.
 */
static void print_members(FILE *fp, const char *path)
{
	struct mapfile m;
	size_t pos = 8, size = 0;

	if (access(path, R_OK) || mapfile_init(&m, path))
		return;
	if (m.size < 8 || memcmp(m.data, "!<thin>\n", 8))
		pos = m.size;
	for (; pos + 60 <= m.size; pos += size + size % 2) {
		const char *header = m.data + pos, *end, *nl;
		char digits[11] = "";

		memcpy(digits, header + 48, 10);
		size = strtoul(digits, NULL, 10);
		pos += 60;
		if (header[0] != '/' || size > m.size - pos)
			break;
		if (header[1] != '/')
			continue;
		end = m.data + pos + size;
		for (const char *s = m.data + pos; s < end && (nl = memchr(s, '\n', (size_t)(end - s))); s = nl + 1) {
			char *name = xstrndup(s, (size_t)(nl - s) - (nl > s && nl[-1] == '/'));

			print_file(fp, name);
			free(name);
		}
		break;
	}
	mapfile_release(&m);
}

/* Everything the plan depends on, as text. The caller frees; NULL after reporting. */
static char *describe_inputs(const struct wrapper *w, const char *profile)
{
	char *text;
	size_t size;
	FILE *fp = text_open(&text, &size);

	fprintf(fp, "hottext %s\nlinker %s\n", HOTTEXT_VERSION, w->ld);
	int ret = print_content(fp, "profile", profile) || print_content(fp, "script", w->line.script->path);
	for (int i = 0; !ret && i < w->line.argc; i++) {
		const char *arg = w->line.argv[i];

		if (arg == w->line.output || arg == w->line.map || is_step_file(arg) || !strncmp(arg, "-Map", 4) ||
		    !strcmp(arg, "--strip-debug"))
			continue;
		fprintf(fp, "arg %s\n", arg);
		print_file(fp, arg);
		print_members(fp, arg);
	}
	text_close(fp, &text);
	if (!ret)
		return text;
	free(text);
	return NULL;
}

static bool is_current(const char *path, const char *inputs)
{
	struct mapfile m;

	if (access(path, R_OK) || mapfile_init(&m, path))
		return false;
	bool same = m.size == strlen(inputs) && !memcmp(m.data, inputs, m.size);
	mapfile_release(&m);
	return same;
}

static int write_file(const char *path, const char *text)
{
	struct outfile out;

	if (outfile_init(&out, path))
		return -1;
	fputs(text, out.fp);
	return outfile_commit(&out);
}

/* RISC-V's linker shortens calls by how far they reach: sizes follow from the order. */
static bool linker_resizes(const char *kernel)
{
	struct mapfile m;
	bool ret;

	if (mapfile_init(&m, kernel))
		return false;
	const unsigned char *e = (const unsigned char *)m.data;
	ret = m.size >= sizeof(Elf32_Ehdr) && e[EI_DATA] == ELFDATA2LSB && (e[18] | e[19] << 8) == EM_RISCV;
	mapfile_release(&m);
	return ret;
}

/* Link by the plan, and plan again with the sizes that came of it. */
static int settle_plan(struct wrapper *w, const char *trial, const char *map, const char *profile, const char *dir)
{
	char *second = xasprintf("%s.hottext-second", w->line.output);
	char *second_map = wrapper_own_map(w, ".hottext-second.map");
	char *path = path_join(dir, "hottext.ld");
	struct fragment f;
	int ret = EXIT_FAILED;

	temp_remember(second);
	if (second_map && !fragment_read(&f, path)) {
		if (w->lld)
			fragment_for_lld(&f);
		ret = wrapper_link(w, &f, second, second_map, NULL);
		fragment_release(&f);
	}
	if (!ret)
		ret = optimize_for_wrapper(trial, w->line.output, w->line.script->path, map, second_map, profile, dir);
	unlink(second);
	temp_forget(second);
	wrapper_drop_map(second_map);
	free(second);
	free(path);
	return ret;
}

/* Trial link, plan by it, and last the note of what it was made from. */
static int make_plan(struct wrapper *w, const char *profile, const char *dir, const char *inputs)
{
	char *trial = xasprintf("%s.hottext-trial", w->line.output), *map = wrapper_own_map(w, ".hottext-trial.map");
	char *note_path = path_join(dir, "inputs");

	temp_remember(trial);
	int ret = map ? wrapper_link(w, NULL, trial, map, NULL) : EXIT_FAILED;

	w->lld |= !ret && map_is_lld(map);
	if (!ret)
		ret = optimize_for_wrapper(trial, w->line.output, w->line.script->path, map, NULL, profile, dir);
	if (!ret && linker_resizes(trial))
		ret = settle_plan(w, trial, map, profile, dir);
	if (!ret && (interrupted() || write_file(note_path, inputs)))
		ret = EXIT_FAILED;
	unlink(trial);
	temp_forget(trial);
	wrapper_drop_map(map);
	free(trial);
	free(note_path);
	return ret;
}

char *wrapper_plan(struct wrapper *w, const char *profile)
{
	const char *slash = strrchr(w->line.output, '/');
	char *top = xasprintf("%.*s.hottext", slash ? (int)(slash - w->line.output) + 1 : 0, w->line.output);
	char *dir = path_join(top, "plan"), *note_path = path_join(dir, "inputs"), *fragment = path_join(dir, "hottext.ld");
	char *inputs = describe_inputs(w, profile);
	int ret = inputs ? 0 : -1;

	if (!ret && (!is_current(note_path, inputs) || access(fragment, R_OK))) {
		unlink(note_path);
		if ((mkdir(top, 0777) && errno != EEXIST) || (mkdir(dir, 0777) && errno != EEXIST))
			ret = error("cannot create '%s': %s", dir, strerror(errno));
		else
			ret = make_plan(w, profile, dir, inputs);
	}
	free(inputs);
	free(note_path);
	free(fragment);
	free(top);
	if (!ret)
		return dir;
	free(dir);
	return NULL;
}
