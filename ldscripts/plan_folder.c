/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ldscripts/plan_folder.h"

#include <errno.h>
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

/* In the order in which they are moved into place: the wrapper needs plan.json, so it comes last. */
static const char *const names[] = {
	"hottext.ld", "symbols.order", "sections.order", "profile.hot", "vmlinux.lds", "report.txt", "report.html",
	"hotpages.dot", "hotpages.svg", "plan.json",
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
	return report_write_all(plan, dir);
}

static void remove_files(const char *dir)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char *path = path_join(dir, names[i]);

		unlink(path);
		free(path);
	}
}

/* Files of the plan before that this one has not are removed: they would not belong to it. */
static int move_files(const char *from, const char *to)
{
	int ret = 0;

	for (size_t i = 0; i < ARRAY_SIZE(names) && !ret; i++) {
		char *src = path_join(from, names[i]), *dst = path_join(to, names[i]);

		if (access(src, F_OK))
			unlink(dst);
		else if (rename(src, dst))
			ret = error("cannot write '%s': %s", dst, strerror(errno));
		free(src);
		free(dst);
	}
	return ret;
}

static int make_folder(const char *dir)
{
	struct stat st;

	if (!mkdir(dir, 0777))
		return 0;
	if (errno == EEXIST && !stat(dir, &st))
		errno = S_ISDIR(st.st_mode) ? 0 : ENOTDIR;
	return errno ? error("cannot write '%s': %s", dir, strerror(errno)) : 0;
}

int plan_folder_write(const struct job *job, const struct plan *plan, const char *dir, const char *lds)
{
	char *tmp;
	size_t n = strlen(dir);
	int ret;

	while (n > 1 && dir[n - 1] == '/')
		n--;
	tmp = xasprintf("%.*s.XXXXXX", (int)n, dir);
	if (!mkdtemp(tmp)) {
		ret = error("cannot write '%s': %s", dir, strerror(errno));
		free(tmp);
		return ret;
	}
	mode_t mask = umask(0);
	umask(mask);
	chmod(tmp, 0777 & ~mask);
	ret = write_all(job, plan, tmp, lds);
	if (!ret)
		ret = make_folder(dir);
	if (!ret)
		ret = move_files(tmp, dir);
	remove_files(tmp);
	rmdir(tmp);
	free(tmp);
	return ret;
}
