/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "wrapper.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ldscripts/fragment.h"
#include "ldscripts/match.h"
#include "ldscripts/run.h"
#include "ldscripts/wrapper/linkline.h"
#include "ldscripts/wrapper/wrapper_parts.h"
#include "lib/error.h"
#include "lib/file.h"
#include "lib/mem.h"
#include "lib/str.h"

enum {
	MATCH_STOP_PERCENT = 50,	/* less of the plan found: not the kernel it was made for */
	MATCH_WARN_PERCENT = 90,
};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* A variable's value; NULL when unset or empty. */
static const char *env(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

/* An empty output file for `name` beside the link's output, registered for removal. */
int wrapper_temp(const struct wrapper *w, const char *name, struct outfile *out)
{
	const char *slash = strrchr(w->line.output, '/');
	char *path = xasprintf("%.*s%s", slash ? (int)(slash - w->line.output) + 1 : 0, w->line.output, name);
	int ret = outfile_init(out, path);

	free(path);
	return ret;
}

int wrapper_link(const struct wrapper *w, struct fragment *f, const char *output, const char *map,
		 const char *extra)
{
	struct outfile script;
	int ret = EXIT_FAILED;

	if (wrapper_temp(w, ".hottext.lds", &script))
		return EXIT_FAILED;
	if (fragment_apply(f, w->line.script->path, script.fp))
		goto out;
	if (fflush(script.fp) || ferror(script.fp)) {
		error("cannot write '%s': %s", script.tmp, strerror(errno));
		goto out;
	}
	char **argv = linkline_with(&w->line, w->ld, output, script.tmp, map, extra);
	ret = run_linker(argv);
	linkline_free(argv);
out:
	outfile_abort(&script);
	return ret;
}

/* How much of the plan the link obeyed decides whether it stands. */
static int judge(const struct wrapper *w, const struct match_count *mc, const struct fragment *f, const char *plan)
{
	uint64_t found = 100 * (uint64_t)mc->found;

	if (f && !f->nr_patterns && !f->nr_groups)
		warn("plan '%s' places no sections: '%s' is in link order", plan, w->line.output);
	if (!mc->wanted)
		return 0;
	if (found < (uint64_t)MATCH_STOP_PERCENT * mc->wanted)
		return error("only %u of the %u sections of plan '%s' are in '%s'%s", mc->found, mc->wanted, plan,
			     w->line.output, mc->function_sections ? "" : " (built without -ffunction-sections?)");
	if (found < (uint64_t)MATCH_WARN_PERCENT * mc->wanted)
		warn("only %u of the %u sections of plan '%s' are in '%s'", mc->found, mc->wanted, plan, w->line.output);
	else
		detail("%u of the %u sections of plan '%s' are in '%s'", mc->found, mc->wanted, plan, w->line.output);
	return 0;
}

/* Maps of links that are only steps to vmlinux are of no use to anybody. */
static bool keeps_map(const char *output)
{
	const char *base = base_name(output);

	return strncmp(base, ".tmp_vmlinux", 12) && strncmp(base, ".btf", 4);
}

/* vmlinux.unstripped (6.15 and later) is what vmlinux is copied from: one map for both. */
static char *map_beside(const char *output)
{
	size_t len = strlen(output) - (str_ends(output, ".unstripped") ? strlen(".unstripped") : 0);

	return xasprintf("%.*s.map", (int)len, output);
}

/* The link to tmp and what its map says of it; `beside` is where a map goes that nobody asked for. */
static int link_and_judge(struct wrapper *w, struct fragment *f, const char *plan, const char *tmp,
			  const char *beside)
{
	const char *asked = w->line.map && wrapper_map_is_plain(w) ? w->line.map : NULL;
	char *own = asked ? NULL : wrapper_own_map(w, ".hottext-map");
	struct match_count mc = { 0 };
	int ret = asked || own ? wrapper_link(w, f, tmp, own, NULL) : EXIT_FAILED;

	if (!ret && match_in_map(&mc, f, own ? own : asked))
		ret = EXIT_FAILED;
	if (!ret && f && mc.lld && !w->lld) {	/* under another name: what was written for GNU ld it did not obey */
		w->lld = true;
		ret = EXIT_FAILED;
	}
	if (!ret && judge(w, &mc, f, plan))
		ret = EXIT_FAILED;
	if (!ret && own && w->line.map)
		ret = wrapper_give_map(w, own, NULL);
	else if (!ret && own && mc.function_sections && keeps_map(w->line.output) && rename(own, beside))
		ret = wrapper_give_map(w, own, beside);
	wrapper_drop_map(own);
	return ret;
}

/*
 * The link goes to a name of its own and is renamed when it is known to be good. A map of an earlier link is
 * removed: it would be of another kernel. Fails in silence where the linker is found to be lld.
 */
static int link_checked(struct wrapper *w, struct fragment *f, const char *plan)
{
	char *tmp = xasprintf("%s.hottext-tmp", w->line.output), *beside = map_beside(w->line.output);

	temp_remember(tmp);
	if (!w->line.map) {
		unlink(beside);
		temp_remember(beside);
	}
	int ret = link_and_judge(w, f, plan, tmp, beside);

	temp_forget(beside);	/* else a signal that comes during the renaming leaves the kernel without it */
	if (!ret && rename(tmp, w->line.output)) {
		error("cannot write '%s': %s", w->line.output, strerror(errno));
		ret = EXIT_FAILED;
	}
	if (ret)
		unlink(tmp);
	if (ret && !w->line.map)
		unlink(beside);
	temp_forget(tmp);
	free(beside);
	free(tmp);
	return ret;
}

/* A plan without sections, as of a kernel whose objects are not known before the link (LTO). */
static int link_by_symbols(const struct wrapper *w, const char *plan)
{
	char *path = path_join(plan, "symbols.order"), *opt = xasprintf("--symbol-ordering-file=%s", path);
	struct mapfile m;
	int ret = EXIT_FAILED;

	if (!mapfile_init(&m, path)) {
		mapfile_release(&m);
		ret = wrapper_link(w, NULL, NULL, NULL, opt);
	}
	free(opt);
	free(path);
	return ret;
}

static int link_with_plan(struct wrapper *w, const char *plan)
{
	char *path = path_join(plan, "hottext.ld");
	struct fragment f;
	int ret = EXIT_FAILED;
	bool lld;

	do {
		lld = w->lld;
		if (fragment_read(&f, path))
			break;
		if (lld)
			fragment_for_lld(&f);
		if (lld && !f.nr_patterns)
			ret = link_by_symbols(w, plan);
		else
			ret = link_checked(w, &f, plan);
		fragment_release(&f);
	} while (lld != w->lld);
	free(path);
	return ret;
}

/*
 * As ld does when it fails, but from the start, so that neither an error nor an
 * interrupted make leaves anything that a later make takes for finished.
 */
void wrapper_remove_output(const struct wrapper *w)
{
	struct stat st;

	if (!lstat(w->line.output, &st) && (S_ISREG(st.st_mode) || S_ISLNK(st.st_mode)))
		unlink(w->line.output);
}

static int link_kernel(struct wrapper *w)
{
	const char *plan = env("HOTTEXT_PLAN"), *profile = env("HOTTEXT_PROFILE");

	wrapper_remove_output(w);
	if (plan && profile) {
		error("both HOTTEXT_PLAN and HOTTEXT_PROFILE are set");
		return EXIT_FAILED;
	}
	if (plan)
		return link_with_plan(w, plan);
	if (profile) {
		char *made = wrapper_plan(w, profile);
		int ret = made ? link_with_plan(w, made) : EXIT_FAILED;

		free(made);
		return ret;
	}
	return link_checked(w, NULL, NULL);
}

/* Modules have no fragment, since a plan is of the kernel; the plan's profile knows of them. */
static int link_module(const struct wrapper *w)
{
	const char *plan = env("HOTTEXT_PLAN"), *profile = env("HOTTEXT_PROFILE");
	char *path = plan ? path_join(plan, "profile.hot") : NULL;
	int ret = wrapper_module(w, path ? path : profile);

	free(path);
	return ret;
}

/* A device, a pipe: nothing to rename over, nor to read again. */
static bool is_no_file(const char *path)
{
	struct stat st;

	return !stat(path, &st) && !S_ISREG(st.st_mode);
}

/* Where an order is asked for, a link that does not get it is worth a word, and one is enough. */
static void warn_of_disorder(const struct linkline *line, const char *why)
{
	static bool said;

	if (!said && (env("HOTTEXT_PLAN") || env("HOTTEXT_PROFILE")))
		warn("cannot order '%s': %s", line->output, why);
	said = true;
}

/*
 * A script of the link. A missing one is ld's to complain about, and a pipe can be read once only: 0. One that is there
 * and cannot be read is an error, -1: taken for another link's, a kernel would come out without its order.
 */
static int read_script(struct mapfile *m, const struct linkline *line, const struct linkline_script *script)
{
	if (access(script->path, R_OK))
		return 0;
	if (is_no_file(script->path)) {
		warn_of_disorder(line, "its linker script is no regular file");
		return 0;
	}
	return mapfile_init(m, script->path) ? -1 : 1;
}

static bool has_text(const struct mapfile *m, const char *name)
{
	struct lds l;
	bool ret = true;

	if (!lds_init(&l, name, m->data, m->size)) {
		ret = false;
		for (unsigned int i = 0; i < l.nr_sections; i++)
			ret |= !strcmp(l.sections[i].name, ".text");
		lds_release(&l);
	}
	return ret;
}

/* scripts/module.lds; that of LTO kernels merges .text.* itself. -1 after reporting. */
static int is_module_link(const struct linkline *line)
{
	size_t len = strlen(line->output);
	struct mapfile m;
	int ret = line->nr_scripts > 0;

	if (!line->relocatable || len < 4 || strcmp(line->output + len - 3, ".ko"))
		return 0;
	for (unsigned int i = 0; ret > 0 && i < line->nr_scripts; i++) {
		ret = read_script(&m, line, &line->scripts[i]);
		if (ret > 0) {
			ret = !has_text(&m, line->scripts[i].path);
			mapfile_release(&m);
		}
	}
	return ret;
}

/* Whether the link is of a kernel, whose script is chosen then; -1 after reporting. */
static int is_kernel_link(struct linkline *line)
{
	struct mapfile m;
	int ret = 0;

	for (unsigned int i = 0; !line->relocatable && !ret && i < line->nr_scripts; i++) {
		ret = read_script(&m, line, &line->scripts[i]);
		if (ret > 0) {
			ret = lds_is_kernel(m.data, m.size);
			mapfile_release(&m);
			line->script = &line->scripts[i];
		}
	}
	return ret;
}

/* The names that Kbuild gives to what it links of a kernel; boot loaders have a vmlinux, too, in folders of theirs. */
static bool is_kernel_name(const char *output)
{
	return !strcmp(output, "vmlinux") || !strcmp(output, "vmlinux.unstripped") || !strncmp(output, ".tmp_vmlinux", 12);
}

/* vmlinux.o, whose sections must not fuse. */
static bool is_object_link(const struct linkline *line)
{
	return line->relocatable && !line->nr_scripts && !strcmp(base_name(line->output), "vmlinux.o");
}

enum link_kind { LINK_OTHER, LINK_KERNEL, LINK_OBJECT, LINK_MODULE, LINK_BROKEN };

static enum link_kind kind_of(struct linkline *line)
{
	int kernel, module;

	if (line->asks)
		return LINK_OTHER;
	kernel = is_kernel_link(line);
	module = kernel ? 0 : is_module_link(line);
	if (kernel < 0 || module < 0)
		return LINK_BROKEN;
	if (is_no_file(line->output)) {
		if (kernel)
			warn_of_disorder(line, "it is no regular file");
		return LINK_OTHER;
	}
	if (!kernel && !line->relocatable && is_kernel_name(line->output))
		warn_of_disorder(line, "it is linked by no kernel's script");
	return kernel ? LINK_KERNEL : is_object_link(line) ? LINK_OBJECT : module ? LINK_MODULE : LINK_OTHER;
}

/* The line as it came. */
static int pass_through(const struct wrapper *w, int argc, char **argv)
{
	const struct linkline line = { .argc = argc, .argv = argv };
	char **all = linkline_with(&line, w->ld, NULL, NULL, NULL, NULL);
	int ret = run_replace(all);

	linkline_free(all);
	return ret;
}

/* lld, or a program that is told to run it. */
static bool is_lld_name(const char *ld)
{
	char **words = run_linker_words(ld);
	bool ret = false;

	for (char **word = words; *word; word++)
		ret |= **word != '-' && strstr(base_name(*word), "lld");
	linkline_free(words);
	return ret;
}

/* Whether the wrapper is run as the real linker: all that it runs finds a mark in its environment. */
static bool is_run_by_itself(void)
{
	bool ret = getenv("HOTTEXT_LD_RUNS");

	setenv("HOTTEXT_LD_RUNS", "1", 1);
	return ret;
}

int wrapper_run(int argc, char **argv)
{
	struct wrapper w = { .ld = run_linker_name(NULL) };
	int ret = EXIT_FAILED;

	if (is_run_by_itself()) {
		error("'%s' is this wrapper again: HOTTEXT_LD must name the real linker", w.ld);
		free(w.ld);
		return EXIT_FAILED;
	}
	linkline_init(&w.line, argc, argv);
	w.lld = is_lld_name(w.ld);
	switch (kind_of(&w.line)) {
	case LINK_BROKEN:
		wrapper_remove_output(&w);
		break;
	case LINK_KERNEL:
		ret = link_kernel(&w);
		break;
	case LINK_OBJECT:
		ret = wrapper_relocatable(&w);
		break;
	case LINK_MODULE:
		ret = link_module(&w);
		break;
	case LINK_OTHER:
		ret = pass_through(&w, argc, argv);
	}
	linkline_release(&w.line);
	free(w.ld);
	run_finish();
	return ret;
}
