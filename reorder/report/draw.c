/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs graphviz, as a program: its licence does not mix with ours in one process. */
#include "dot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/error.h"
#include "lib/file.h"
#include "lib/mem.h"

enum { NOT_INSTALLED = 127 };

static const char *format_of(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot && dot[1] && !strchr(dot, '/') ? dot + 1 : "svg";
}

/* In the child: dot from in to out. It knows no "--", so the file's name is kept away from it. */
static void run_dot(char *option, int in, int out)
{
	char *argv[] = { (char *)"dot", (char *)"-q", option, NULL };	/* quiet: a label may be cut */

	if (dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0)
		_exit(1);
	execvp("dot", argv);
	_exit(errno == ENOENT ? NOT_INSTALLED : 126);
}

/* 0, or 1 and why dot did not draw. -1 after reporting. */
static int wait_for(pid_t pid, const char *dot_file, char **cause)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return error("cannot draw '%s': %s", dot_file, strerror(errno));
	if (WIFSIGNALED(status))
		*cause = xasprintf("dot was killed by signal %d", WTERMSIG(status));
	else if (WEXITSTATUS(status) == NOT_INSTALLED)
		*cause = xstrdup("graphviz is not installed");
	else if (WEXITSTATUS(status))
		*cause = xasprintf("dot exited with %d", WEXITSTATUS(status));
	return *cause != NULL;
}

int dot_draw(const char *dot_file, const char *path, char **cause)
{
	struct outfile out;
	int in = open(dot_file, O_RDONLY | O_CLOEXEC), ret;

	*cause = NULL;
	if (in < 0)
		return error("cannot read '%s': %s", dot_file, strerror(errno));
	if (outfile_init(&out, path)) {
		close(in);
		return -1;
	}
	char *option = xasprintf("-T%s", format_of(path));
	pid_t pid = fork();
	if (!pid)
		run_dot(option, in, fileno(out.fp));
	ret = pid < 0 ? error("cannot draw '%s': %s", dot_file, strerror(errno)) : wait_for(pid, dot_file, cause);
	free(option);
	close(in);
	if (ret) {
		outfile_abort(&out);
		return ret;
	}
	return outfile_commit(&out);
}
