/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ldscripts/kbuild.h"

#include <ctype.h>
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ldscripts/fragment.h"
#include "ldscripts/run.h"
#include "lib/error.h"
#include "lib/file.h"
#include "lib/fnv.h"
#include "lib/mem.h"
#include "lib/opt.h"
#include "lib/shell.h"
#include "lib/str.h"

#define FUNCTION_SECTIONS "-ffunction-sections"
#define STATE_FILE ".hottext-kbuild"

const char *const kbuild_linked[KBUILD_NR_LINKED] = { "vmlinux", "vmlinux.unstripped" };

/* What the user's words for make say. */
struct words {
	const char *output, *llvm, *ld, *cross;	/* O=, LLVM=, LD=, CROSS_COMPILE=; NULL */
	const char *flags, *module_flags;	/* CFLAGS_KERNEL=, CFLAGS_MODULE=; NULL */
	bool configures;	/* a *config target */
	bool links;		/* a target that links the kernel, or none; and make runs, for no module of elsewhere */
};

static bool is_there(const char *dir, const char *name)
{
	char *path = path_join(dir, name);
	bool ret = !access(path, R_OK);

	free(path);
	return ret;
}

/* The value of NAME=VALUE or NAME:=VALUE; NULL when the word is another. */
static const char *value_of(const char *word, const char *name)
{
	size_t n = strlen(name);

	if (strncmp(word, name, n))
		return NULL;
	word += n;
	word += *word == ':';
	return *word == '=' ? word + 1 : NULL;
}

/* Whether make links a kernel for this target; single files it builds by their names (kernel: Makefile, single-targets). */
static bool is_linking(const char *target)
{
	static const char *const others[] = {
		"config", "install", "clean", "mrproper", "help", "prepare", "headers", "kernelrelease", "kernelversion",
		"image_name", "tags", "TAGS", "cscope", "dtbs", "docs", "check", "checkstack", "scripts", "_sign",
		"compile_commands.json", ".a", ".dtb", ".i", ".ko", ".lds", ".ll", ".lst", ".mod", ".o", ".rsi", ".s",
		".symtypes",
	};
	const char *slash = strrchr(target, '/');

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (str_ends(target, others[i]))
			return false;
	return !slash || !strncmp(slash + 1, "vmlinux", 7) || str_ends(target, "Image");
}

static bool is_among(const char *arg, const char *const *names, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(arg, names[i]))
			return true;
	return false;
}

/* An option of make: false when make only says what it would do. *next: its value is the word after it. */
static bool is_building(const char *arg, bool *next)
{
	static const char *const idle[] = { "--dry-run", "--just-print", "--recon", "--question", "--touch", "--help",
					    "--version" };
	static const char *const valued[] = { "--file", "--makefile", "--include-dir", "--old-file", "--assume-old",
					      "--what-if", "--new-file", "--assume-new", "--eval" };

	if (arg[1] == '-') {
		*next = is_among(arg, valued, ARRAY_SIZE(valued));
		return !is_among(arg, idle, ARRAY_SIZE(idle));
	}
	for (const char *c = arg + 1; *c; c++) {
		if (strchr("nqthv", *c))
			return false;
		if (strchr("EfIoWjlO", *c)) {	/* the last three take none, or what is written to them */
			*next = !c[1] && strchr("EfIoW", *c);
			break;
		}
	}
	return true;
}

/* The wrapper would run itself; kbuild sets it by itself. */
static bool is_wrapper(const char *ld)
{
	const char *slash = strrchr(ld, '/');

	return !strcmp(slash ? slash + 1 : ld, "hottext-ld");
}

static int read_words(struct words *w, int argc, char **argv)
{
	const char *elsewhere = getenv("KBUILD_EXTMOD");
	unsigned int targets = 0;
	bool builds = true, next = false;

	memset(w, 0, sizeof(*w));
	for (int i = 0; i < argc; i++) {
		const char *arg = argv[i], *v;

		if (next)
			next = false;
		else if (!strncmp(arg, "-C", 2) || !strncmp(arg, "--directory", 11))
			return usage_error("kbuild", "give the kernel tree before '--', with -C");
		else if ((v = value_of(arg, "O")) || (v = value_of(arg, "KBUILD_OUTPUT")))
			w->output = v;
		else if ((v = value_of(arg, "M")) || (v = value_of(arg, "KBUILD_EXTMOD")))
			elsewhere = v;
		else if ((v = value_of(arg, "LLVM")))
			w->llvm = v;
		else if ((v = value_of(arg, "LD")))
			w->ld = is_wrapper(v) ? NULL : v;
		else if ((v = value_of(arg, "CROSS_COMPILE")))
			w->cross = v;
		else if ((v = value_of(arg, "CFLAGS_KERNEL")))
			w->flags = v;
		else if ((v = value_of(arg, "CFLAGS_MODULE")))
			w->module_flags = v;
		else if (arg[0] == '-')
			builds &= is_building(arg, &next);
		else if (strchr(arg, '=') || isdigit((unsigned char)arg[0]))
			continue;	/* another variable, an option's number */
		else
			targets++, w->configures |= str_ends(arg, "config"), w->links |= is_linking(arg);
	}
	w->links = (w->links || !targets) && builds && !(elsewhere && *elsewhere);
	return 0;
}

/* VERSION = 6, PATCHLEVEL = 1, SUBLEVEL = 192 open every kernel's Makefile. The caller frees; NULL: it is none. */
static char *read_release(const char *source)
{
	static const char *const keys[] = { "VERSION = ", "PATCHLEVEL = ", "SUBLEVEL = " };
	char *path = path_join(source, "Makefile"), *release = NULL;
	unsigned int part[3], found = 0;
	struct mapfile m;

	if (!access(path, R_OK) && !mapfile_init(&m, path)) {
		for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
			const char *at = strstr(m.data, keys[i]);

			found += at && sscanf(at + strlen(keys[i]), "%u", &part[i]) == 1;
		}
		mapfile_release(&m);
	}
	free(path);
	if (found == ARRAY_SIZE(keys))
		release = xasprintf("%u.%u.%u", part[0], part[1], part[2]);
	return release;
}

/* A build folder has a link to the source, and a Makefile of its own that goes there. */
static int find_tree(struct kbuild *k, const struct words *w)
{
	const char *env = getenv("KBUILD_OUTPUT"), *output = w->output ? w->output : env && *env ? env : NULL;
	char *link = path_join(k->dir, "source");

	k->source = xstrdup(is_there(link, "Kbuild") ? link : k->dir);
	free(link);
	if (!is_there(k->source, "Kbuild") || !is_there(k->source, "scripts/link-vmlinux.sh"))
		return error("'%s' is no kernel tree: no Kbuild, or no scripts/link-vmlinux.sh", k->dir);
	k->release = read_release(k->source);
	if (!k->release)
		return error("'%s' is no kernel tree: no version in its Makefile", k->dir);
	/* A relative O= counts from where make runs. */
	k->output = output && output[0] != '/' ? path_join(k->dir, output) : xstrdup(output ? output : k->dir);
	if (!w->configures && !is_there(k->output, ".config"))
		return error("'%s' is not configured: no .config", k->output);
	return 0;
}

/* The wrapper stands beside this program. The caller frees; NULL after reporting. */
static char *find_wrapper(void)
{
	char self[PATH_MAX], *path;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n <= 0) {
		error("cannot read '/proc/self/exe': %s", strerror(errno));
		return NULL;
	}
	self[n] = '\0';
	*strrchr(self, '/') = '\0';
	path = path_join(self, "hottext-ld");
	const char *bad = strpbrk(path, " \t\n$'\"`()\\;&|<>*?[]");
	if (!access(path, X_OK) && !bad)
		return path;
	if (access(path, X_OK))
		error("cannot run '%s': not there", path);
	else
		error("cannot use '%s': make and its shell take no '%c' in LD", path, *bad);
	free(path);
	return NULL;
}

/* Real name of a plan or profile: make runs elsewhere. The caller frees; NULL after reporting. */
static char *real_name(const char *path)
{
	char *real = realpath(path, NULL);

	if (!real)
		error("cannot read '%s': %s", path, strerror(errno));
	return real;
}

/* Add a file to a hash. -1 after reporting. */
static int hash_file(uint64_t *hash, const char *path)
{
	struct mapfile m;

	if (mapfile_init(&m, path))
		return -1;
	*hash = fnv_bytes(*hash, m.data, m.size);
	mapfile_release(&m);
	return 0;
}

/* All that links read of a plan: symbols.order is for lld, profile.hot for modules. -1 after reporting. */
static int hash_plan(uint64_t *hash, const char *plan, bool modules)
{
	static const char *const names[] = { "hottext.ld", "symbols.order", "profile.hot" };
	struct fragment f;
	int ret = 0;

	for (size_t i = 0; i < ARRAY_SIZE(names) - !modules && !ret; i++) {
		char *path = path_join(plan, names[i]);

		if (!i && !(ret = fragment_read(&f, path)))
			fragment_release(&f);
		if (!ret && (!i || !access(path, F_OK)))
			ret = hash_file(hash, path);
		free(path);
	}
	return ret;
}

/*
 * LD= and LLVM= choose the linker that the wrapper runs (kernel: Makefile, LLVM_PREFIX and LLVM_SUFFIX). The caller frees;
 * NULL: neither is given.
 */
static char *chosen_linker(const struct words *w)
{
	const char *env = getenv("LLVM"), *llvm = w->llvm ? w->llvm : env;

	if (w->ld)
		return xstrdup(w->ld);
	if (!llvm || !*llvm)
		return NULL;
	if (llvm[strlen(llvm) - 1] == '/')
		return xasprintf("%sld.lld", llvm);
	return xasprintf("ld.lld%s", llvm[0] == '-' ? llvm : "");
}

/* What the wrapper will run, as it finds out by itself where nothing is chosen here. The caller frees. */
static char *linker_name(const struct words *w)
{
	char *chosen = chosen_linker(w);

	return chosen ? chosen : run_linker_name(w->cross);
}

/* Check the input of the link, and describe it; its variable for the environment. -1 after reporting. */
static int find_input(struct kbuild *k, const struct kbuild_options *o, const struct words *w, char **plan,
		      char **profile)
{
	const char *given = o->plan ? o->plan : o->profile;
	char *real = given ? real_name(given) : NULL;
	uint64_t hash = FNV_START;
	int ret = given && !real ? -1 : 0;

	*(o->plan ? plan : profile) = real;
	if (real && !ret)
		ret = o->plan ? hash_plan(&hash, real, o->modules) : hash_file(&hash, real);
	if (real && !ret)
		ret = o->plan ? kbuild_check_arch(k, real) : kbuild_check_profile(real);
	if (ret)
		return -1;
	char *ld = linker_name(w), *order = xstrdup("link order");
	if (real) {
		free(order);
		order = xasprintf("%s %016llx", o->plan ? "plan" : "profile", (unsigned long long)hash);
	}
	k->state = xasprintf("%s%s by %s", order, o->modules ? ", modules too," : "", ld);
	free(order);
	free(ld);
	return 0;
}

/* NAME=FLAGS with -ffunction-sections among them. */
static char *flags_variable(const char *name, const char *flags)
{
	if (!flags || !*flags)
		return xasprintf("%s=" FUNCTION_SECTIONS, name);
	if (strstr(flags, FUNCTION_SECTIONS))
		return xasprintf("%s=%s", name, flags);
	return xasprintf("%s=%s " FUNCTION_SECTIONS, name, flags);
}

static void make_environment(struct kbuild *k, const struct words *w, const char *plan, const char *profile)
{
	int n = 0;

	k->env = xcalloc(4, sizeof(*k->env));
	k->env[n++] = xasprintf("HOTTEXT_PLAN=%s", plan ? plan : "");
	k->env[n++] = xasprintf("HOTTEXT_PROFILE=%s", profile ? profile : "");
	char *ld = chosen_linker(w);
	if (ld)
		k->env[n] = xasprintf("HOTTEXT_LD=%s", ld);
	free(ld);
}

static void make_arguments(struct kbuild *k, const struct words *w, const char *wrapper, int argc, char **argv)
{
	int n = 0;

	k->argv = xcalloc((size_t)argc + 7, sizeof(*k->argv));
	k->argv[n++] = xstrdup("make");
	k->argv[n++] = xstrdup("-C");
	k->argv[n++] = xstrdup(k->dir);
	k->argv[n++] = xasprintf("LD=%s", wrapper);
	k->argv[n++] = flags_variable("CFLAGS_KERNEL", w->flags);
	if (k->modules || w->module_flags)
		k->argv[n++] = k->modules ? flags_variable("CFLAGS_MODULE", w->module_flags)
					  : xasprintf("CFLAGS_MODULE=%s", w->module_flags);
	for (int i = 0; i < argc; i++)
		if (!value_of(argv[i], "LD") && !value_of(argv[i], "CFLAGS_KERNEL") && !value_of(argv[i], "CFLAGS_MODULE"))
			k->argv[n++] = xstrdup(argv[i]);
}

/* A linked file as make left it, one line; NULL: it is not there. The caller frees. */
static char *describe_linked(const struct kbuild *k, size_t i)
{
	char *path = path_join(k->output, kbuild_linked[i]);
	struct stat st;
	bool there = !stat(path, &st);

	free(path);
	return there ? xasprintf("%s %lld %lld.%09ld\n", kbuild_linked[i], (long long)st.st_size,
				 (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec) : NULL;
}

/* Whether what OUTPUT has was, as far as is known, linked as it will be now, and by nobody else since. */
static bool is_current(const struct kbuild *k)
{
	char *path = path_join(k->output, STATE_FILE), *head = xasprintf("%s\n", k->state);
	size_t n = strlen(head);
	struct mapfile m;
	bool same = false;

	if (!access(path, R_OK) && !mapfile_init(&m, path)) {
		same = m.size >= n && !strncmp(m.data, head, n);
		for (size_t i = 0; i < KBUILD_NR_LINKED && same && m.size > n; i++) {
			char *line = describe_linked(k, i);

			same = !line || strstr(m.data + n, line);
			free(line);
		}
		mapfile_release(&m);
	}
	free(path);
	free(head);
	return same;
}

static bool has_linked(const struct kbuild *k)
{
	bool ret = false;

	for (size_t i = 0; i < KBUILD_NR_LINKED; i++)
		ret |= is_there(k->output, kbuild_linked[i]);
	return ret;
}

static int find_module(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)at;
	return type == FTW_F && str_ends(path, ".ko");
}

int kbuild_init(struct kbuild *k, const struct kbuild_options *o, int argc, char **argv)
{
	char *plan = NULL, *profile = NULL, *wrapper = NULL;
	struct words w;
	int ret = read_words(&w, argc, argv);

	memset(k, 0, sizeof(*k));
	if (ret)
		return ret;
	k->dir = xstrdup(o->dir);
	k->links = w.links;
	k->modules = o->modules;
	if (find_tree(k, &w) || find_input(k, o, &w, &plan, &profile) || !(wrapper = find_wrapper())) {
		ret = -1;
	} else {
		make_environment(k, &w, plan, profile);
		make_arguments(k, &w, wrapper, argc, argv);
		bool current = !k->links || is_current(k);

		k->stale = !current && has_linked(k);
		k->stale_modules = !current && k->modules && nftw(k->output, find_module, 32, FTW_PHYS) == 1;
	}
	free(plan);
	free(profile);
	free(wrapper);
	if (ret)
		kbuild_release(k);
	return ret;
}

static void free_words(char **words)
{
	for (char **w = words; w && *w; w++)
		free(*w);
	free(words);
}

void kbuild_release(struct kbuild *k)
{
	free(k->dir);
	free(k->source);
	free(k->output);
	free(k->release);
	free(k->state);
	free_words(k->env);
	free_words(k->argv);
	memset(k, 0, sizeof(*k));
}

/* In NAME=VALUE the value alone is quoted. */
static void print_word(FILE *fp, const char *word)
{
	const char *equal = strchr(word, '=');
	size_t head = equal ? (size_t)(equal - word) + 1 : 0;

	fprintf(fp, "%.*s", (int)head, word);
	shell_put_word(fp, word + head);
}

char *kbuild_command_line(const struct kbuild *k)
{
	char *text;
	size_t size;
	FILE *fp = text_open(&text, &size);

	for (char **e = k->env; *e; e++) {
		if (str_ends(*e, "="))
			continue;	/* unset */
		print_word(fp, *e);
		fputc(' ', fp);
	}
	for (char **a = k->argv; *a; a++) {
		print_word(fp, *a);
		if (a[1])
			fputc(' ', fp);
	}
	text_close(fp, &text);
	return text;
}

static int remove_file(const char *path)
{
	if (unlink(path) && errno != ENOENT)
		return error("cannot remove '%s': %s", path, strerror(errno));
	return 0;
}

static int remove_module(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)at;
	return type == FTW_F && str_ends(path, ".ko") ? remove_file(path) : 0;
}

static int write_state(const struct kbuild *k, bool ended)
{
	char *path = path_join(k->output, STATE_FILE);
	struct outfile out;
	int ret = outfile_init(&out, path);

	if (!ret) {
		fprintf(out.fp, "%s\n", k->state);
		for (size_t i = 0; ended && i < KBUILD_NR_LINKED; i++) {
			char *line = describe_linked(k, i);

			fputs(line ? line : "", out.fp);
			free(line);
		}
		ret = outfile_commit(&out);
	}
	free(path);
	return ret;
}

/* The note is written before make runs: a build that stops has no vmlinux, and links it when it goes on. */
int kbuild_prepare(const struct kbuild *k)
{
	int ret = 0;

	if (!k->links || access(k->output, F_OK))
		return 0;
	for (size_t i = 0; k->stale && i < ARRAY_SIZE(kbuild_linked) && !ret; i++) {
		char *path = path_join(k->output, kbuild_linked[i]);

		ret = remove_file(path);
		free(path);
	}
	if (!ret && k->stale_modules && nftw(k->output, remove_module, 32, FTW_PHYS))
		ret = -1;
	return ret ? -1 : write_state(k, false);
}

int kbuild_finish(const struct kbuild *k)
{
	return k->links && !access(k->output, F_OK) ? write_state(k, true) : 0;
}
