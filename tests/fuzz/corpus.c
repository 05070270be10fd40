/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs each target over its corpus, every file in a process of its own, and reports as TAP:
 * a crash, an exit from inside, over 20 s, and a file that is not of the target's kind are failures.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/file.h"
#include "lib/mem.h"
#include "tests/fuzz/targets.h"

enum { MAX_SECONDS = 20, NOT_TAKEN = 77 };

static bool run_file(const struct fuzz_target *t, const char *file)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct mapfile m;

	if (null < 0 || dup2(null, STDOUT_FILENO) < 0 || dup2(null, STDERR_FILENO) < 0 || mapfile_init(&m, file))
		abort();
	alarm(MAX_SECONDS);
	bool taken = fuzz_run(t, m.data, m.size);
	mapfile_release(&m);
	return taken;
}

/* Whether the target took it well. */
static bool try_file(const struct fuzz_target *t, const char *file)
{
	int status;

	fflush(NULL);
	pid_t pid = fork();
	if (!pid) {
		exit(run_file(t, file) ? 0 : NOT_TAKEN);	/* not _exit: the leak checker runs at exit */
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		abort();
	if (!status)
		return true;
	printf("# %s: %s %d\n", file, WIFSIGNALED(status) ? "signal" : "status",
	       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	return false;
}

static int visible(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

/* Static, so that the leak checker of a child finds what its parent holds. */
static bool try_target(const struct fuzz_target *t, unsigned int number)
{
	static char *dir, *file;
	static struct dirent **list;

	dir = path_join("tests/corpus", t->name);
	list = NULL;
	int nr = scandir(dir, &list, visible, alphasort), bad = 0;

	for (int i = 0; i < nr; i++) {
		file = path_join(dir, list[i]->d_name);
		bad += !try_file(t, file);
		free(file);
		free(list[i]);
	}
	free(list);
	free(dir);
	printf("%s %u %s: %d inputs\n", bad || nr < 1 ? "not ok" : "ok", number, t->name, nr > 0 ? nr : 0);
	return !bad && nr > 0;
}

int main(int argc, char **argv)
{
	unsigned int nr = 0, bad = 0;

	for (const struct fuzz_target *t = fuzz_targets; t->name; t++)
		if (argc < 2 || !strcmp(argv[1], t->name))
			bad += !try_target(t, ++nr);
	printf("1..%u\n", nr);
	return bad || !nr;
}
