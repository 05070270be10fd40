/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
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
static void run_child(char *const argv[], int fd)
{
	sigset_t set = passed_set();

	sigprocmask(SIG_UNBLOCK, &set, NULL);
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

int record_run(char *const argv[], const char *remedy)
{
	struct sigaction old[ARRAY_SIZE(passed_signals)], sa = { .sa_handler = hand_on };
	sigset_t set = passed_set(), old_set;
	int fds[2], err = 0;

	if (pipe2(fds, O_CLOEXEC))
		return error("cannot run '%s': %s", argv[0], strerror(errno));
	got_signal = 0;
	pid_t pid = fork();
	if (pid < 0) {
		close(fds[0]);
		close(fds[1]);
		return error("cannot run '%s': %s", argv[0], strerror(errno));
	}
	if (!pid)
		run_child(argv, fds[1]);
	child = pid;
	for (size_t i = 0; i < ARRAY_SIZE(passed_signals); i++)
		sigaction(passed_signals[i], &sa, &old[i]);
	pthread_sigmask(SIG_UNBLOCK, &set, &old_set);	/* what a caller held back is handed on now */
	close(fds[1]);
	ssize_t n;
	while ((n = read(fds[0], &err, sizeof(err))) < 0 && errno == EINTR)
		;
	close(fds[0]);
	int ret = wait_child(pid);
	child = 0;
	pthread_sigmask(SIG_SETMASK, &old_set, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(passed_signals); i++)
		sigaction(passed_signals[i], &old[i], NULL);
	if (n > 0 && remedy)
		return error("cannot run '%s': %s (%s)", argv[0], strerror(err), remedy);
	if (n > 0)
		return error("cannot run '%s': %s", argv[0], strerror(err));
	return ret;
}
