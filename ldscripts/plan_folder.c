/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ldscripts/plan_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
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

/* In the order in which they are moved into place: those that links and verify need come last. */
static const char *const names[] = {
	"sections.order", "profile.hot", "vmlinux.lds", "report.txt", "report.html", "hotpages.dot", "hotpages.svg",
	"plan.json", "symbols.order", "hottext.ld",
};
enum { NEEDED = 3 };	/* at the end of names */

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
	return report_write_all(plan, dir);
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

/* Whether a folder can be taken away: nothing in it is anybody else's, and we do not stand in it. */
static bool is_plan_only(const char *dir)
{
	struct stat st, here;
	bool ours = !stat(dir, &st) && !stat(".", &here) && (st.st_dev != here.st_dev || st.st_ino != here.st_ino);
	DIR *d = opendir(dir);

	if (!d)
		return false;
	for (struct dirent *e; ours && (e = readdir(d));)
		ours = is_ours(e->d_name) && (e->d_type != DT_DIR || e->d_name[0] == '.');
	closedir(d);
	return ours;
}

/*
 * File by file, where the folder has to stay. Until the last is in place no link takes what is there for a plan. Files
 * of the plan before that this one has not are removed: they would not belong to it.
 */
static int move_files(const char *from, const char *to)
{
	char *src[ARRAY_SIZE(names)], *dst[ARRAY_SIZE(names)];
	int ret = 0;

	name_files(src, from);
	name_files(dst, to);
	for (size_t i = ARRAY_SIZE(names); i-- > ARRAY_SIZE(names) - NEEDED && !ret;)
		if (unlink(dst[i]) && errno != ENOENT)
			ret = error("cannot write '%s': %s", dst[i], strerror(errno));
	for (size_t i = 0; i < ARRAY_SIZE(names) && !ret; i++) {
		if (access(src[i], F_OK))
			unlink(dst[i]);
		else if (rename(src[i], dst[i]))
			ret = error("cannot write '%s': %s", dst[i], strerror(errno));
	}
	free_names(src);
	free_names(dst);
	return ret;
}

/* The new plan stands where the old one did, or nothing did, in one step where that can be had. */
static int move_folder(const char *tmp, const char *dir)
{
	struct stat st;

	if (stat(dir, &st)) {
		if (!rename(tmp, dir))
			return 0;
	} else if (!S_ISDIR(st.st_mode)) {
		errno = ENOTDIR;
	} else {
		chmod(tmp, st.st_mode & 07777);
		if (is_plan_only(dir) && !renameat2(AT_FDCWD, tmp, AT_FDCWD, dir, RENAME_EXCHANGE))
			return 0;
		return move_files(tmp, dir);
	}
	return error("cannot write '%s': %s", dir, strerror(errno));
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
			const char *lds)
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
		ret = move_folder(tmp, dir);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		unlink(paths[i]);
		temp_forget(paths[i]);
	}
	free_names(paths);
	return ret;
}

int plan_folder_write(const struct job *job, const struct plan *plan, const char *dir, const char *lds)
{
	char *real = real_name(dir), *tmp = xasprintf("%s.XXXXXX", real);
	int ret;

	if (temp_folder(tmp)) {
		ret = error("cannot write '%s': %s", dir, strerror(errno));
	} else {
		ret = write_folder(job, plan, tmp, real, lds);
		rmdir(tmp);
		temp_forget(tmp);
	}
	free(tmp);
	free(real);
	return ret;
}
