/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * inject CALLS FAULT N COMMAND...: runs hottext so that its N-th system call of a kind goes wrong.
 *
 *   CALLS   write, rename, close, fsync, open, read, make (temporary folders and the like), start (fork, threads),
 *           pipe, wait, stat, remove, link (reading one), perf (perf_event_open), user (geteuid), map or any
 *   FAULT   an errno's name: the call is not made and fails so. "short": a write or read of half the bytes.
 *           "nobody": the call is not made and gives 65534. A signal's name: it is sent before the call.
 *   N       "3+": that and all behind it go wrong; 0: none, their number is printed on descriptor 9
 *
 * Counting starts when hottext looks at its SIGINT, which is the first thing it does: what the loader did before is
 * left alone. So are programs that it starts. Exits as the command did, 128 + N when a signal ended it; 125: cannot
 * trace here.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/ptrace.h>

enum { CANNOT = 125, MAX_TASKS = 64 };

static const struct {
	const char *kind;
	long nr;
} calls[] = {
	{ "write", SYS_write }, { "write", SYS_pwrite64 }, { "write", SYS_writev },
	{ "rename", SYS_renameat }, { "rename", SYS_renameat2 },
	{ "close", SYS_close }, { "fsync", SYS_fsync }, { "open", SYS_openat },
	{ "read", SYS_read }, { "read", SYS_pread64 },
	{ "make", SYS_mkdirat }, { "make", SYS_ftruncate },
	{ "start", SYS_clone }, { "start", SYS_clone3 }, { "pipe", SYS_pipe2 }, { "wait", SYS_wait4 },
	{ "stat", SYS_newfstatat }, { "stat", SYS_fstat }, { "remove", SYS_unlinkat }, { "link", SYS_readlinkat },
	{ "perf", SYS_perf_event_open }, { "user", SYS_geteuid }, { "map", SYS_mmap },
#ifdef SYS_rename
	{ "rename", SYS_rename }, { "open", SYS_open }, { "make", SYS_mkdir },
	{ "remove", SYS_unlink }, { "link", SYS_readlink },
#endif
};

static const struct {
	const char *name;
	int err, sig;
} faults[] = {
	{ "ENOSPC", ENOSPC, 0 }, { "EIO", EIO, 0 }, { "EINTR", EINTR, 0 }, { "ENOMEM", ENOMEM, 0 },
	{ "EACCES", EACCES, 0 }, { "EMFILE", EMFILE, 0 }, { "EROFS", EROFS, 0 }, { "EAGAIN", EAGAIN, 0 },
	{ "ECHILD", ECHILD, 0 }, { "ENOENT", ENOENT, 0 }, { "short", 0, 0 }, { "nobody", -65534, 0 },
	{ "TERM", 0, SIGTERM }, { "INT", 0, SIGINT }, { "HUP", 0, SIGHUP },
	{ "QUIT", 0, SIGQUIT }, { "PIPE", 0, SIGPIPE }, { "KILL", 0, SIGKILL },
};

static const char *kind;
static int fault_err, fault_sig;
static unsigned long target, count;
static bool counting, onward;

struct task {
	pid_t pid;
	bool failing;	/* between entry and exit of the call that is to fail */
};
static struct task tasks[MAX_TASKS];

static struct task *find_task(pid_t pid)
{
	for (int i = 0; i < MAX_TASKS; i++)
		if (tasks[i].pid == pid)
			return &tasks[i];
	for (int i = 0; i < MAX_TASKS; i++)
		if (!tasks[i].pid) {
			tasks[i] = (struct task){ .pid = pid };
			return &tasks[i];
		}
	fprintf(stderr, "inject: too many processes\n");
	exit(CANNOT);
}

static bool is_kind(unsigned long nr)
{
	if (!strcmp(kind, "any"))
		return true;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if ((unsigned long)calls[i].nr == nr && !strcmp(calls[i].kind, kind))
			return true;
	return false;
}

#if defined(__x86_64__)
/* Let the call be of another number, or another length, than was asked. */
static void alter(struct task *t, bool skip)
{
	struct user_regs_struct r;

	ptrace(PTRACE_GETREGS, t->pid, NULL, &r);
	if (skip)
		r.orig_rax = (unsigned long long)-1;
	else
		r.rdx = (r.rdx + 1) / 2;
	ptrace(PTRACE_SETREGS, t->pid, NULL, &r);
	t->failing = skip;
}

static void set_result(pid_t pid, int err)
{
	struct user_regs_struct r;

	ptrace(PTRACE_GETREGS, pid, NULL, &r);
	r.rax = (unsigned long long)-err;
	ptrace(PTRACE_SETREGS, pid, NULL, &r);
}
#else
static void alter(struct task *t, bool skip)
{
	(void)t;
	(void)skip;
	exit(CANNOT);
}

static void set_result(pid_t pid, int err)
{
	(void)pid;
	(void)err;
}
#endif

static void on_call(struct task *t)
{
	struct ptrace_syscall_info info = { 0 };

	ptrace(PTRACE_GET_SYSCALL_INFO, t->pid, sizeof(info), &info);
	if (info.op == PTRACE_SYSCALL_INFO_EXIT) {
		if (t->failing)
			set_result(t->pid, fault_err);
		t->failing = false;
		return;
	}
	if (info.op != PTRACE_SYSCALL_INFO_ENTRY)
		return;
	if (!counting) {
		counting = info.entry.nr == SYS_rt_sigaction && info.entry.args[0] == SIGINT;
		return;
	}
	/* What the tests read is not what they try. */
	if (!is_kind(info.entry.nr) || (info.entry.nr == SYS_write && info.entry.args[0] == STDERR_FILENO))
		return;
	if (++count != target && !(onward && count > target))
		return;
	if (fault_sig)
		kill(t->pid, fault_sig);
	else
		alter(t, fault_err != 0);
}

/* The signal to hand on to a stopped task; -1: let go of it, it is another program now. */
static int on_stop(struct task *t, int status, pid_t first)
{
	int sig = WSTOPSIG(status), event = status >> 16;

	if (sig == (SIGTRAP | 0x80)) {
		on_call(t);
		return 0;
	}
	if (event == PTRACE_EVENT_EXEC)
		return t->pid == first && !counting ? 0 : -1;
	if (event || sig == SIGSTOP || sig == SIGTRAP)
		return 0;
	return sig;
}

static int follow(pid_t first)
{
	int status, result = CANNOT;
	pid_t pid;

	while ((pid = waitpid(-1, &status, __WALL)) > 0) {
		struct task *t = find_task(pid);

		if (!WIFSTOPPED(status)) {
			if (pid == first)
				result = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
			t->pid = 0;
			continue;
		}
		int sig = on_stop(t, status, first);
		if (sig < 0 && pid != first) {
			t->pid = 0;
			ptrace(PTRACE_DETACH, pid, NULL, NULL);
		} else {
			/* The first, once it has become another program, is only waited for. */
			ptrace(sig < 0 ? PTRACE_CONT : PTRACE_SYSCALL, pid, NULL, (void *)(long)(sig < 0 ? 0 : sig));
		}
	}
	return result;
}

int main(int argc, char **argv)
{
	bool known = false;
	int status;
	char *end;

	for (size_t i = 0; argc > 4 && i < sizeof(faults) / sizeof(faults[0]); i++)
		if (!strcmp(faults[i].name, argv[2])) {
			fault_err = faults[i].err;
			fault_sig = faults[i].sig;
			known = true;
		}
	if (!known) {
		fprintf(stderr, "usage: inject CALLS FAULT N COMMAND...\n");
		return CANNOT;
	}
	kind = argv[1];
	target = strtoul(argv[3], &end, 10);
	onward = *end == '+';
	pid_t pid = fork();
	if (!pid) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			_exit(CANNOT);
		raise(SIGSTOP);
		close(9);
		execvp(argv[4], argv + 4);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
							  PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL)))
		return CANNOT;
	tasks[0].pid = pid;
	ptrace(PTRACE_SYSCALL, pid, NULL, NULL);
	status = follow(pid);
	if (!target)
		dprintf(9, "%lu\n", count);
	return status;
}
