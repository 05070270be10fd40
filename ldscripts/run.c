/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/error.h"
#include "lib/mem.h"

static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
static volatile sig_atomic_t child, caught;

char *run_linker_name(const char *cross)
{
	const char *ld = getenv("HOTTEXT_LD");

	if (!cross)
		cross = getenv("CROSS_COMPILE");
	if (ld && *ld)
		return xstrdup(ld);
	return xasprintf("%sld", cross ? cross : "");
}

char **run_linker_words(const char *ld)
{
	char **words = xcalloc(strlen(ld) / 2 + 3, sizeof(*words));
	bool whole = strchr(ld, '/') && !access(ld, X_OK);
	unsigned int nr = 0;

	for (const char *s = ld; *s; ) {
		size_t len = whole ? strlen(s) : strcspn(s, " \t\n");

		if (len)
			words[nr++] = xstrndup(s, len);
		s += len + (s[len] != '\0');
	}
	if (!nr)
		words[nr] = xstrdup(ld);
	return words;
}

int run_replace(char **argv)
{
	execvp(argv[0], argv);
	error("cannot run '%s': %s", argv[0], strerror(errno));
	return EXIT_FAILED;
}

static void forward(int sig)
{
	caught = sig;
	if (child > 0)
		kill(child, sig);
}

/* In the new process: the signals as they were, and no life longer than the wrapper's. */
static void become(char **argv, const struct sigaction *old)
{
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &old[i], NULL);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	_exit(run_replace(argv));
}

int run_linker(char **argv)
{
	struct sigaction act = { .sa_handler = forward }, old[ARRAY_SIZE(signals)];
	int status = 0;
	pid_t ended = 0;

	if (caught)
		return EXIT_FAILED;
	fflush(NULL);
	child = 0;
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		sigaction(signals[i], &act, &old[i]);
		if (old[i].sa_handler == SIG_IGN)
			sigaction(signals[i], &old[i], NULL);
	}
	pid_t pid = fork();
	if (!pid)
		become(argv, old);
	child = pid;
	if (pid < 0)
		error("cannot run '%s': %s", argv[0], strerror(errno));
	while (pid > 0 && (ended = waitpid(pid, &status, 0)) < 0 && errno == EINTR)
		;
	if (ended < 0)
		error("cannot wait for '%s': %s", argv[0], strerror(errno));
	child = 0;
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &old[i], NULL);
	if (pid < 0 || ended < 0 || caught)
		return EXIT_FAILED;
	if (WIFSIGNALED(status)) {
		error("'%s' was killed by signal %d", argv[0], WTERMSIG(status));
		return EXIT_FAILED;
	}
	return WEXITSTATUS(status);
}

void run_finish(void)
{
	if (!caught)
		return;
	signal(caught, SIG_DFL);
	raise(caught);
}
