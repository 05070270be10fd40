/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/error.h"
#include "lib/mem.h"

static const int passed_signals[] = { SIGINT, SIGTERM, SIGHUP };
static volatile pid_t child;
static volatile sig_atomic_t got_signal;

static void hand_on(int sig)
{
	got_signal = sig;
	if (child > 0)
		kill(child, sig);
}

static sigset_t passed_set(void)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(passed_signals); i++)
		sigaddset(&set, passed_signals[i]);
	return set;
}

void record_wait(void)
{
	sigset_t set = passed_set(), old;
	int sig;

	pthread_sigmask(SIG_BLOCK, &set, &old);
	if (!sigwait(&set, &sig))
		got_signal = sig;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

int record_signal(void)
{
	return got_signal;
}

/* In the child: exec, or tell the parent why not through the pipe, which exec closes. */
static void run_child(char *const argv[], int fd, const sigset_t *mask)
{
	/* Our own handlers would remove the parent's files. */
	for (size_t i = 0; i < ARRAY_SIZE(passed_signals); i++) {
		struct sigaction sa;

		if (!sigaction(passed_signals[i], NULL, &sa) && sa.sa_handler != SIG_IGN)
			signal(passed_signals[i], SIG_DFL);
	}
	pthread_sigmask(SIG_SETMASK, mask, NULL);
	execvp(argv[0], argv);
	int err = errno;
	ssize_t n = write(fd, &err, sizeof(err));

	(void)n;
	_exit(127);
}

static int wait_child(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return error("cannot wait for the command: %s", strerror(errno));
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Wait for pid, handing signals on to it. */
static int attend(pid_t pid, const sigset_t *mask)
{
	struct sigaction old[ARRAY_SIZE(passed_signals)], sa = { .sa_handler = hand_on };
	sigset_t blocked;

	got_signal = 0;
	child = pid;
	for (size_t i = 0; i < ARRAY_SIZE(passed_signals); i++)
		sigaction(passed_signals[i], &sa, &old[i]);
	/* What was held back until now is handed on here. */
	pthread_sigmask(SIG_SETMASK, mask, &blocked);
	int ret = wait_child(pid);
	pthread_sigmask(SIG_SETMASK, &blocked, NULL);
	child = 0;
	for (size_t i = 0; i < ARRAY_SIZE(passed_signals); i++)
		sigaction(passed_signals[i], &old[i], NULL);
	return ret;
}

/* 0 or an errno, as exec would say. */
static int try_file(const char *path)
{
	struct stat st;

	if (faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) || stat(path, &st))
		return errno;
	return S_ISREG(st.st_mode) ? 0 : EACCES;
}

/* As execvp looks: an empty folder is this one; what may not be run counts where nothing else is found. */
static int try_path(const char *command)
{
	const char *path = getenv("PATH");
	int err = ENOENT;

	for (const char *p = path ? path : "/bin:/usr/bin"; err; p++) {
		int n = (int)strcspn(p, ":");
		char *file = xasprintf("%.*s%s%s", n, p, n ? "/" : "", command);
		int got = try_file(file);

		free(file);
		if (!got || got == EACCES)
			err = got;
		p += n;
		if (!*p)
			break;
	}
	return err;
}

int record_check(const char *command)
{
	int err = !*command || strchr(command, '/') ? try_file(command) : try_path(command);

	return err ? error("cannot run '%s': %s", command, strerror(err)) : 0;
}

int record_run(char *const argv[], const char *remedy)
{
	sigset_t set = passed_set(), old, open_mask;
	int fds[2], err = 0;

	if (pipe2(fds, O_CLOEXEC))
		return error("cannot run '%s': %s", argv[0], strerror(errno));
	pthread_sigmask(SIG_BLOCK, &set, &old);
	open_mask = old;
	for (size_t i = 0; i < ARRAY_SIZE(passed_signals); i++)
		sigdelset(&open_mask, passed_signals[i]);
	pid_t pid = fork();
	if (!pid)
		run_child(argv, fds[1], &open_mask);
	close(fds[1]);
	int ret = pid < 0 ? error("cannot run '%s': %s", argv[0], strerror(errno)) : attend(pid, &open_mask);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	ssize_t n = pid < 0 ? 0 : read(fds[0], &err, sizeof(err));
	close(fds[0]);
	if (n > 0 && remedy)
		return error("cannot run '%s': %s (%s)", argv[0], strerror(err), remedy);
	if (n > 0)
		return error("cannot run '%s': %s", argv[0], strerror(err));
	return ret;
}
