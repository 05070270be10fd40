/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The link of a module (-r -T scripts/module.lds -o NAME.ko). Modules built with
 * -ffunction-sections would carry a thousand sections into sysfs; they get one .text
 * again, the functions that the profile saw in this module first, hottest first:
 * module text is mapped by small pages, where every page saved counts.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/profile.h"
#include "collect/reader.h"
#include "ldscripts/fragment.h"
#include "ldscripts/lds/lds.h"
#include "ldscripts/match.h"
#include "ldscripts/run.h"
#include "ldscripts/wrapper/wrapper_parts.h"
#include "lib/error.h"
#include "lib/file.h"
#include "lib/input.h"
#include "lib/mem.h"

/* ARM's loader finds the text of a table of unwinding by the table's name; ld keeps its entries in the order of the text. */
#define UNWIND(to, from) \
	" .ARM.exidx" to " 0 : { *(" from(".ARM.exidx") ") }\n" \
	" .ARM.extab" to " 0 : { *(" from(".ARM.extab") ") }\n"
#define KEPT(name, from) " " name " 0 : { *(" from("") ") }\n" UNWIND(name, from)
#define HOT(s) s ".text.hot " s ".text.hot.*"
#define UNLIKELY(s) s ".text.unlikely " s ".text.unlikely.*"
#define STARTUP(s) s ".text.startup " s ".text.startup.*"
#define EXIT(s) s ".text.exit"
#define SANITIZER(s) s ".text.asan.* " s ".text.tsan.*"
#define REST(s) s " " s ".text " s ".text.[0-9a-zA-Z_]*"

/* What a module keeps apart; lds_rewrite() puts the rest into .text. */
static const char module_script[] =
	"SECTIONS {\n"
	" .text 0 : { *(.text) }\n"
	KEPT(".text.hot", HOT)
	KEPT(".text.unlikely", UNLIKELY)
	KEPT(".text.startup", STARTUP)
	KEPT(".text.exit", EXIT)
	KEPT(".text.asan", SANITIZER)
	UNWIND("", REST)
	"}\n";

struct hot_func {
	char *name;
	uint64_t weight;
};

static int compare_hot(const void *a, const void *b)
{
	const struct hot_func *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* "NAME@MODULE.ko" of this module, in which Kbuild writes `-` as `_`: NAME, else NULL. The caller frees. */
static char *name_in_module(const char *identity, const char *module)
{
	static const char plain[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_.$";
	const char *at = strrchr(identity, '@');

	if (!at || at == identity || strspn(identity, plain) < (size_t)(at - identity))
		return NULL;
	for (const char *a = at + 1, *b = module;; a++, b++) {
		if ((*a == '-' ? '_' : *a) != (*b == '-' ? '_' : *b))
			return NULL;
		if (!*a)
			return xstrndup(identity, (size_t)(at - identity));
	}
}

/* Input statements of the module's hot functions, "" when the profile has none of them. */
static char *hot_statements(const struct profile *p, const char *module)
{
	struct hot_func *funcs = NULL;
	uint32_t nr = 0, alloc = 0;
	char *text;
	size_t size;
	FILE *fp = text_open(&text, &size);

	for (uint32_t i = 0; i < p->names.nr_keys; i++) {
		char *name = name_in_module(profile_func_name(p, i), module);

		if (!name)
			continue;
		ALLOC_GROW(funcs, nr + 1, alloc);
		funcs[nr++] = (struct hot_func){ name, p->funcs[i].samples + p->funcs[i].calls };
	}
	sort_array(funcs, nr, sizeof(*funcs), compare_hot);
	for (uint32_t i = 0; i < nr; i++) {
		fprintf(fp, "*(.text.%s)\n", funcs[i].name);
		free(funcs[i].name);
	}
	free(funcs);
	text_close(fp, &text);
	return text;
}

/* Whether the profile is of our own kind, which alone tells functions without their kernel; -1 after reporting. */
static int is_own_kind(const char *path)
{
	char head[256 + 1];
	struct stat st;
	size_t len;

	if (!stat(path, &st) && S_ISDIR(st.st_mode))	/* perf.data in a folder */
		return 0;
	struct input *in = input_open(path);
	if (!in)
		return -1;
	const char *data = input_peek(in, sizeof(head) - 1, &len);
	int ret = input_failed(in) ? -1 : 0;

	len = len < sizeof(head) ? len : sizeof(head) - 1;
	if (!ret) {
		memcpy(head, data, len);
		head[len] = '\0';
		ret = hot_reader.probe(head, len);
	}
	input_close(in);
	return ret;
}

/* What a profile saw. Of another kind than ours, the link of the kernel has read it, and left it in its plan. */
static int read_profile(struct profile *p, const char *path, const char *output)
{
	static const char planned[] = ".hottext/plan/profile.hot";
	int own = is_own_kind(path);

	if (own < 0)
		return -1;
	if (!own && access(planned, R_OK)) {
		warn("cannot order '%s': '%s' is read by the kernel's link, which left no '%s' here", output, path, planned);
		return 0;
	}
	struct input *in = input_open(own ? path : planned);
	int ret = in ? profile_read(p, in) : -1;

	input_close(in);
	return ret;
}

/* The script, with the hot functions of a profile (NULL: none), to fp. */
static int write_script(const char *profile, const char *output, const char *module, FILE *fp)
{
	struct profile p = { 0 };
	struct lds l;
	int ret = 0;

	if (profile)
		ret = read_profile(&p, profile, output);
	char *hot = ret ? NULL : hot_statements(&p, module);
	if (!ret && !(ret = lds_init(&l, "module", module_script, strlen(module_script)))) {
		ret = lds_rewrite(&l, &(struct lds_changes){ .hot = hot, .take_in = true }, fp);
		lds_release(&l);
	}
	free(hot);
	profile_release(&p);
	return ret;
}

static int relink(const struct wrapper *w, const char *profile, const char *module, const char *tmp, const char *map)
{
	struct outfile script;
	int ret = EXIT_FAILED;

	if (wrapper_temp(w, ".hottext-module.lds", &script))
		return EXIT_FAILED;
	if (!write_script(profile, w->line.output, module, script.fp)) {
		if (fflush(script.fp) || ferror(script.fp)) {
			error("cannot write '%s': %s", script.tmp, strerror(errno));
		} else {
			char *opt = xasprintf("--script=%s", script.tmp);
			char **argv = linkline_with(&w->line, w->ld, tmp, NULL, w->line.map ? map : NULL, opt);

			ret = run_linker(argv);
			linkline_free(argv);
			free(opt);
		}
	}
	outfile_abort(&script);
	return ret;
}

int wrapper_module(const struct wrapper *w, const char *profile)
{
	const char *slash = strrchr(w->line.output, '/'), *module = slash ? slash + 1 : w->line.output;
	char *tmp = xasprintf("%s.hottext-tmp", w->line.output), *map = wrapper_own_map(w, ".hottext-map");
	char **argv = linkline_with(&w->line, w->ld, tmp, NULL, map, NULL);
	struct match_count mc;

	temp_remember(tmp);
	wrapper_remove_output(w);
	int ret = map ? run_linker(argv) : EXIT_FAILED;
	if (!ret && match_in_map(&mc, NULL, map))
		ret = EXIT_FAILED;
	if (!ret && mc.function_sections)
		ret = relink(w, profile, module, tmp, map);
	if (!ret && w->line.map)
		ret = wrapper_give_map(w, map, NULL);
	if (!ret && rename(tmp, w->line.output))
		ret = error("cannot write '%s': %s", w->line.output, strerror(errno)) ? EXIT_FAILED : 0;
	if (ret)
		unlink(tmp);
	temp_forget(tmp);
	wrapper_drop_map(map);
	linkline_free(argv);
	free(tmp);
	return ret;
}
