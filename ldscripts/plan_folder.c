/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ldscripts/plan_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ldscripts/fragment.h"
#include "ldscripts/orders.h"
#include "lib/error.h"
#include "lib/file.h"
#include "lib/mem.h"
#include "reorder/job.h"
#include "reorder/report/report.h"

/*
 * In the order in which they are moved into place, and backwards out of it. Where that is cut short, plan.json still says
 * that the others are ours, and no link finds hottext.ld.
 */
static const char *const names[] = {
	"plan.json", "sections.order", "profile.hot", "vmlinux.lds", "report.txt", "report.html", "hotpages.dot",
	"hotpages.svg", "symbols.order", "hottext.ld",
};

static void write_fragment(const struct job *job, FILE *fp)
{
	struct fragment_totals totals;

	fragment_write(fp, &job->after, &totals);
	if (totals.dropped)
		warn("%u hot units have no name that a linker script could give, and stay", totals.dropped);
}

static void write_symbols(const struct job *job, FILE *fp)
{
	orders_write_symbols(fp, &job->after);
}

static void write_sections(const struct job *job, FILE *fp)
{
	orders_write_sections(fp, &job->after);
}

static void write_profile(const struct job *job, FILE *fp)
{
	profile_write(&job->profile, fp);
}

static const struct {
	const char *name;
	void (*write)(const struct job *job, FILE *fp);
} writers[] = {
	{ "hottext.ld", write_fragment },
	{ "symbols.order", write_symbols },
	{ "sections.order", write_sections },
	{ "profile.hot", write_profile },
};

static int write_one(const struct job *job, const char *dir, size_t i)
{
	char *path = path_join(dir, writers[i].name);
	struct outfile out;
	int ret = outfile_init(&out, path);

	if (!ret) {
		writers[i].write(job, out.fp);
		ret = outfile_commit(&out);
	}
	free(path);
	return ret;
}

/* The kernel's own script, with the fragment that has just been written. */
static int write_script(const char *dir, const char *lds)
{
	char *path = path_join(dir, "vmlinux.lds"), *fragment = path_join(dir, "hottext.ld");
	struct fragment f;
	struct outfile out;
	int ret = fragment_read(&f, fragment);

	if (!ret) {
		ret = outfile_init(&out, path);
		if (!ret && (ret = fragment_apply(&f, lds, out.fp)))
			outfile_abort(&out);
		else if (!ret)
			ret = outfile_commit(&out);
		fragment_release(&f);
	}
	free(path);
	free(fragment);
	return ret;
}

static int write_all(const struct job *job, const struct plan *plan, const char *dir, const char *lds)
{
	for (size_t i = 0; i < ARRAY_SIZE(writers); i++)
		if (write_one(job, dir, i))
			return -1;
	if (lds && write_script(dir, lds))
		return -1;
	return report_write_all(plan, dir, !job->opts->unattended);	/* a build does not wait for a picture */
}

/* Paths of all files in a folder. */
static void name_files(char *paths[ARRAY_SIZE(names)], const char *dir)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		paths[i] = path_join(dir, names[i]);
}

static void free_names(char *paths[ARRAY_SIZE(names)])
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		free(paths[i]);
}

static bool is_ours(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return !strcmp(name, ".") || !strcmp(name, "..");
}

/* Whether vmlinux.lds was written here: a kernel's own goes by that name, too. */
static bool is_our_script(const char *path)
{
	FILE *fp = fopen(path, "re");
	char line[256];
	bool found = false;

	while (fp && !found && fgets(line, sizeof(line), fp))
		found = strstr(line, FRAGMENT_TITLE);
	if (fp)
		fclose(fp);
	return found;
}

/* Whether a folder holds a plan: then what goes by our names there is ours. */
static bool is_plan(const char *dir)
{
	char *path = path_join(dir, "plan.json");
	json_t *top = json_load_file(path, 0, NULL);
	bool ret = json_is_integer(json_object_get(top, "schema")) && json_is_array(json_object_get(top, "units"));

	json_decref(top);
	free(path);
	return ret;
}

static bool is_same(const char *path, const struct stat *st)
{
	struct stat other;

	return path && !stat(path, &other) && other.st_dev == st->st_dev && other.st_ino == st->st_ino;
}

static bool is_input(const char *path, const struct job_options *o, const char *lds)
{
	const char *const files[] = { o->vmlinux, o->map, o->trial, o->modules, o->machine, lds };
	struct stat st;
	bool ret = false;

	if (stat(path, &st))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		ret |= is_same(files[i], &st);
	for (unsigned int i = 0; i < o->nr_profiles; i++)
		ret |= is_same(o->profiles[i], &st);
	return ret;
}

/* What writing would find out after the whole search. */
static int check_place(const char *dir)
{
	char *path = xstrdup(dir), *slash;
	struct stat st;
	int err = 0;

	if (!stat(dir, &st)) {
		err = !S_ISDIR(st.st_mode) ? ENOTDIR : access(dir, W_OK | X_OK) ? errno : 0;
	} else {
		while ((slash = strrchr(path, '/')) && slash > path && !slash[1])
			*slash = '\0';
		if (slash)
			slash[slash == path] = '\0';
		const char *above = slash ? path : ".";
		err = stat(above, &st) ? errno : !S_ISDIR(st.st_mode) ? ENOTDIR : access(above, W_OK | X_OK) ? errno : 0;
	}
	free(path);
	return err ? error("cannot write '%s': %s", dir, strerror(err)) : 0;
}

int plan_folder_check(const char *dir, const struct job_options *o, const char *lds)
{
	struct stat st;

	if (check_place(dir))
		return -1;
	if (lds && (stat(lds, &st) || access(lds, R_OK)))
		return error("cannot read '%s': %s", lds, strerror(errno));
	if (lds && !S_ISREG(st.st_mode))
		return error("cannot use '%s' as --lds: it is read twice, and is no regular file", lds);

	bool ours = o->unattended || is_plan(dir);
	char *paths[ARRAY_SIZE(names)];
	int ret = 0;

	name_files(paths, dir);
	for (size_t i = 0; i < ARRAY_SIZE(names) && !ret; i++) {
		bool script = !strcmp(names[i], "vmlinux.lds");

		if (lstat(paths[i], &st))
			continue;
		if (S_ISDIR(st.st_mode))
			ret = error("cannot write '%s': %s", paths[i], strerror(EISDIR));
		else if (is_input(paths[i], o, lds))
			ret = error("cannot write '%s': it is read as well", paths[i]);
		else if (script ? lds && !is_our_script(paths[i]) : !ours)
			ret = error("cannot write '%s': it is of no plan of ours; give another folder, or remove it",
				    paths[i]);
	}
	free_names(paths);
	return ret;
}

static bool is_mount(const char *dir)
{
	char *above = path_join(dir, "..");
	struct stat st, parent;
	struct statx sx;
	bool ret = !stat(dir, &st) && !stat(above, &parent) && st.st_dev != parent.st_dev;

	/* Also a folder bound to another place of its own file system; Linux before 5.8 does not tell. */
	ret |= !statx(AT_FDCWD, dir, 0, 0, &sx) && sx.stx_attributes & STATX_ATTR_MOUNT_ROOT;
	free(above);
	return ret;
}

/* Whether another folder can take its place: nothing in it is anybody else's, and we do not stand in it. */
static bool is_replaceable(const char *dir)
{
	char *script = path_join(dir, "vmlinux.lds");
	struct stat here;
	bool ours = !stat(".", &here) && !is_same(dir, &here) && !is_mount(dir) &&
		    (access(script, F_OK) || is_our_script(script));
	DIR *d = opendir(dir);

	free(script);
	if (!d)
		return false;
	for (struct dirent *e; ours && (e = readdir(d));)
		ours = is_ours(e->d_name) && (e->d_type != DT_DIR || e->d_name[0] == '.');
	closedir(d);
	return ours;
}

/*
 * File by file, where the folder has to stay: those of the plan before are set aside, all of them since they would not
 * belong to this one, and come back should anything fail.
 */
static int replace_files(char *const src[], char *const dst[], char *const old[])
{
	bool aside[ARRAY_SIZE(names)] = { false }, placed[ARRAY_SIZE(names)] = { false };
	int ret = 0;

	for (size_t i = ARRAY_SIZE(names); i-- > 0 && !ret;) {
		if (!strcmp(names[i], "vmlinux.lds") && !is_our_script(dst[i]))
			continue;
		aside[i] = !rename(dst[i], old[i]);
		if (!aside[i] && errno != ENOENT)
			ret = error("cannot write '%s': %s", dst[i], strerror(errno));
	}
	for (size_t i = 0; i < ARRAY_SIZE(names) && !ret; i++) {
		placed[i] = !rename(src[i], dst[i]);
		if (!placed[i] && (errno != ENOENT || !access(src[i], F_OK)))
			ret = error("cannot write '%s': %s", dst[i], strerror(errno));
	}
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (ret && placed[i])
			unlink(dst[i]);
		if (aside[i] && ret)
			rename(old[i], dst[i]);
		else if (aside[i])
			unlink(old[i]);
	}
	return ret;
}

static int move_files(const char *from, const char *to)
{
	char *src[ARRAY_SIZE(names)], *dst[ARRAY_SIZE(names)], *old[ARRAY_SIZE(names)];
	sigset_t all, before;

	name_files(src, from);
	name_files(dst, to);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		old[i] = xasprintf("%s.old", src[i]);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	int ret = replace_files(src, dst, old);
	sigprocmask(SIG_SETMASK, &before, NULL);
	free_names(src);
	free_names(dst);
	free_names(old);
	return ret;
}

/* The new plan stands where the old one did, or nothing did, in one step where that can be had. */
static int move_folder(const char *tmp, const char *dir, bool inside)
{
	struct stat st;

	if (inside)
		return move_files(tmp, dir);
	if (stat(dir, &st))
		return rename(tmp, dir) ? error("cannot write '%s': %s", dir, strerror(errno)) : 0;
	chmod(tmp, st.st_mode & 07777);
	return renameat2(AT_FDCWD, tmp, AT_FDCWD, dir, RENAME_EXCHANGE) ? move_files(tmp, dir) : 0;
}

/* A folder's own name, symbolic links followed, no slash at its end; it need not be there. The caller frees. */
static char *real_name(const char *dir)
{
	char *real = realpath(dir, NULL);
	size_t n = strlen(dir);

	while (n > 1 && dir[n - 1] == '/')
		n--;
	return real ? real : xstrndup(dir, n);
}

/* Make, fill and put in place; tmp is not there, or holds nothing but files of ours, when this returns. */
static int write_folder(const struct job *job, const struct plan *plan, const char *tmp, const char *dir,
			const char *lds, bool inside)
{
	char *paths[ARRAY_SIZE(names)];
	mode_t mask = umask(0);
	int ret;

	umask(mask);
	chmod(tmp, 0777 & ~mask);
	name_files(paths, tmp);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		temp_remember(paths[i]);
	ret = write_all(job, plan, tmp, lds);
	if (!ret)
		ret = move_folder(tmp, dir, inside);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		unlink(paths[i]);
		temp_forget(paths[i]);
	}
	free_names(paths);
	return ret;
}

/*
 * A folder for the files until all are there: beside dir, to change places with it; inside where dir has to stay, or
 * nothing can be made beside it. The caller frees; NULL: errno.
 */
static char *make_folder(const char *dir, bool *inside)
{
	struct stat st;
	bool there = !stat(dir, &st);
	char *tmp;

	if (there && !S_ISDIR(st.st_mode)) {
		errno = ENOTDIR;
		return NULL;
	}
	if (there && access(dir, W_OK | X_OK))
		return NULL;
	*inside = there && !is_replaceable(dir);
	for (;; *inside = true) {
		tmp = xasprintf(*inside ? "%s/.hottext.XXXXXX" : "%s.XXXXXX", dir);
		if (!temp_folder(tmp))
			return tmp;
		int err = errno;
		free(tmp);
		errno = err;
		if (*inside || !there)
			return NULL;
	}
}

int plan_folder_write(const struct job *job, const struct plan *plan, const char *dir, const char *lds)
{
	char *real = real_name(dir);
	bool inside = false;
	char *tmp = make_folder(real, &inside);
	int ret;

	if (!tmp) {
		ret = error("cannot write '%s': %s", dir, strerror(errno));
	} else {
		ret = write_folder(job, plan, tmp, real, lds, inside);
		rmdir(tmp);
		temp_forget(tmp);
	}
	free(tmp);
	free(real);
	return ret;
}
