// SPDX-License-Identifier: GPL-3.0-or-later
// Workloads of the kinds that LMbench measures; profiles are recorded while they run.
#include "work.h"
#include "sys.h"

#include <linux/eventpoll.h>

enum { BLOCK = 4096, NR_POLLED = 64 };

static char block[BLOCK];
static const char scratch[] = "/tmp/work.file";

/* Stop a workload with the first failure. */
#define TRY(expr) do { long try_ = (long)(expr); if (try_ < 0) return try_; } while (0)

static long run_null(unsigned long n)
{
	while (n--)
		TRY(sys(getppid));
	return 0;
}

static long run_io1(unsigned long n)
{
	long zero = sys_open("/dev/zero", O_RDONLY, 0), null = sys_open("/dev/null", O_WRONLY, 0);
	char c;

	TRY(zero);
	TRY(null);
	while (n--) {
		TRY(sys(read, zero, &c, 1));
		TRY(sys(write, null, &c, 1));
	}
	sys(close, zero);
	sys(close, null);
	return 0;
}

static long run_stat(unsigned long n)
{
	char st[256];

	while (n--)
		TRY(sysn(SYS_fstatat, AT_FDCWD, "/proc/../tmp/../init", st, 0));
	return 0;
}

static long run_openclose(unsigned long n)
{
	while (n--) {
		long fd = sys_open("/tmp/../init", O_RDONLY, 0);

		TRY(fd);
		TRY(sys(close, fd));
	}
	return 0;
}

/* dd if=/dev/zero of=/tmp/work.file bs=4096 count=n */
static long run_dd(unsigned long n)
{
	long from = sys_open("/dev/zero", O_RDONLY, 0), to = sys_open(scratch, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	TRY(from);
	TRY(to);
	while (n--) {
		TRY(sys(read, from, block, BLOCK));
		TRY(sys(write, to, block, BLOCK));
	}
	sys(close, from);
	sys(close, to);
	return sys(unlinkat, AT_FDCWD, scratch, 0);
}

/*
 * A token of size bytes to a child and back, n times; ends are {parent's in,
 * parent's out, child's in, child's out}.
 */
static long pass_token(const long ends[4], unsigned long size, unsigned long n)
{
	unsigned long i;
	long pid = sys_fork();

	TRY(pid);
	if (!pid) {
		for (i = 0; i < n; i++)
			if (sys(read, ends[2], block, size) <= 0 || sys(write, ends[3], block, size) <= 0)
				sys_exit(1);
		sys_exit(0);
	}
	for (i = 0; i < n; i++) {
		TRY(sys(write, ends[1], block, size));
		TRY(sys(read, ends[0], block, size));
	}
	return sys_wait(pid) ? -EIO : 0;
}

static long run_pipe(unsigned long n)
{
	int there[2], back[2];
	long ret;

	TRY(sys(pipe2, there, 0));
	TRY(sys(pipe2, back, 0));
	ret = pass_token((long[]){ back[0], there[1], there[0], back[1] }, 1, n);
	for (int i = 0; i < 2; i++) {
		sys(close, there[i]);
		sys(close, back[i]);
	}
	return ret;
}

static long run_unix(unsigned long n)
{
	int fd[2];
	long ret;

	TRY(sys(socketpair, SYS_AF_UNIX, SYS_SOCK_STREAM, 0, fd));
	ret = pass_token((long[]){ fd[0], fd[0], fd[1], fd[1] }, 1, n);
	sys(close, fd[0]);
	sys(close, fd[1]);
	return ret;
}

static long run_udp(unsigned long n)
{
	struct sys_inet a = sys_loopback(4001), b = sys_loopback(4002);
	long one = sys(socket, SYS_AF_INET, SYS_SOCK_DGRAM, 0), two = sys(socket, SYS_AF_INET, SYS_SOCK_DGRAM, 0);
	long ret;

	TRY(one);
	TRY(two);
	TRY(sys(bind, one, &a, sizeof(a)));
	TRY(sys(bind, two, &b, sizeof(b)));
	TRY(sys(connect, one, &b, sizeof(b)));
	TRY(sys(connect, two, &a, sizeof(a)));
	ret = pass_token((long[]){ one, one, two, two }, 4, n);
	sys(close, one);
	sys(close, two);
	return ret;
}

static long listen_on(uint16_t port)
{
	struct sys_inet at = sys_loopback(port);
	long fd = sys(socket, SYS_AF_INET, SYS_SOCK_STREAM, 0);
	int on = 1;

	TRY(fd);
	TRY(sys(setsockopt, fd, 1, 2, &on, sizeof(on)));	/* SOL_SOCKET, SO_REUSEADDR */
	TRY(sys(bind, fd, &at, sizeof(at)));
	TRY(sys(listen, fd, 8));
	return fd;
}

static long tcp_pair(uint16_t port, long *one, long *two)
{
	struct sys_inet to = sys_loopback(port);
	long server = listen_on(port);

	TRY(server);
	TRY(*one = sys(socket, SYS_AF_INET, SYS_SOCK_STREAM, 0));
	TRY(sys(connect, *one, &to, sizeof(to)));
	TRY(*two = sys(accept4, server, 0, 0, 0));
	return sys(close, server);
}

static long run_tcp(unsigned long n)
{
	long one, two, ret;

	TRY(tcp_pair(4003, &one, &two));
	ret = pass_token((long[]){ one, one, two, two }, 1, n);
	sys(close, one);
	sys(close, two);
	return ret;
}

/* One connection made and closed each time. */
static long run_connect(unsigned long n)
{
	while (n--) {
		long one, two;

		TRY(tcp_pair(4004, &one, &two));
		TRY(sys(close, one));
		TRY(sys(close, two));
	}
	return 0;
}

static volatile unsigned long signals;

static void on_signal(int sig)
{
	signals += (unsigned long)sig;
}

static long run_siginstall(unsigned long n)
{
	while (n--)
		TRY(sys_signal(SYS_SIGUSR1, n & 1 ? on_signal : NULL));
	return sys_signal(SYS_SIGUSR1, NULL);
}

static long run_sighandle(unsigned long n)
{
	long self = sys(getpid);

	TRY(sys_signal(SYS_SIGUSR2, on_signal));
	signals = 0;
	for (unsigned long i = 0; i < n; i++)
		TRY(sys(kill, self, SYS_SIGUSR2));
	TRY(sys_signal(SYS_SIGUSR2, NULL));
	return signals == n * SYS_SIGUSR2 ? 0 : -EIO;
}

static long run_fork(unsigned long n)
{
	while (n--) {
		long pid = sys_fork();

		TRY(pid);
		if (!pid)
			sys_exit(0);
		if (sys_wait(pid))
			return -ECHILD;
	}
	return 0;
}

static long run_exec(unsigned long n)
{
	const char *argv[] = { WORK_SELF, "exit", NULL }, *envp[] = { NULL };

	while (n--) {
		long pid = sys_fork();

		TRY(pid);
		if (!pid) {
			sys(execve, WORK_SELF, argv, envp);
			sys_exit(1);
		}
		if (sys_wait(pid))
			return -ENOEXEC;
	}
	return 0;
}

static const char *numbered(const char *prefix, unsigned long i)
{
	static char name[64];
	unsigned long len = str_len(prefix);

	memcpy(name, prefix, len);
	name[len++] = (char)('a' + i / 100 % 26);
	name[len++] = (char)('0' + i / 10 % 10);
	name[len++] = (char)('0' + i % 10);
	name[len] = '\0';
	return name;
}

/* n files made, every second with 10 KB in it, and all deleted. */
static long run_files(unsigned long n)
{
	unsigned long i;

	for (i = 0; i < n; i++) {
		long fd = sys_open(numbered("/tmp/f", i), O_WRONLY | O_CREAT | O_EXCL, 0644);

		TRY(fd);
		if (i & 1)
			TRY(sys(write, fd, block, BLOCK) | sys(write, fd, block, BLOCK) | sys(write, fd, block, 2048));
		TRY(sys(close, fd));
	}
	for (i = 0; i < n; i++)
		TRY(sys(unlinkat, AT_FDCWD, numbered("/tmp/f", i), 0));
	return 0;
}

/* 256 KB of a file mapped, every fourth page read, unmapped. */
static long run_mmap(unsigned long n)
{
	const unsigned long len = 64 * BLOCK;
	long fd = sys_open(scratch, O_RDWR | O_CREAT | O_TRUNC, 0600);

	TRY(fd);
	for (unsigned long i = 0; i < len; i += BLOCK)
		TRY(sys(write, fd, block, BLOCK));
	while (n--) {
		volatile char *p = sys_map(len, SYS_PROT_READ | SYS_PROT_WRITE, SYS_MAP_SHARED, (int)fd);

		if (sys_bad((char *)p))
			return (long)p;
		for (unsigned long i = 0; i < len; i += 4 * BLOCK)
			(void)p[i];
		TRY(sys(munmap, p, len));
	}
	sys(close, fd);
	return sys(unlinkat, AT_FDCWD, scratch, 0);
}

/* Anonymous pages written for the first time, protected, unprotected and written again. */
static long run_protect(unsigned long n)
{
	const unsigned long len = 8 * BLOCK;

	while (n--) {
		volatile char *p = sys_map(len, SYS_PROT_READ | SYS_PROT_WRITE, SYS_MAP_PRIVATE | SYS_MAP_ANONYMOUS, -1);

		if (sys_bad((char *)p))
			return (long)p;
		for (unsigned long i = 0; i < len; i += BLOCK)
			p[i] = 1;
		TRY(sys(mprotect, p, len, SYS_PROT_READ));
		TRY(sys(mprotect, p, len, SYS_PROT_READ | SYS_PROT_WRITE));
		for (unsigned long i = 0; i < len; i += 2 * BLOCK)
			p[i] = 2;
		TRY(sys(munmap, p, len));
	}
	return 0;
}

static long many_pipes(int fds[NR_POLLED][2])
{
	for (int i = 0; i < NR_POLLED; i++)
		TRY(sys(pipe2, fds[i], 0));
	return sys(write, fds[NR_POLLED - 1][1], block, 1);
}

static void close_pipes(int fds[NR_POLLED][2])
{
	for (int i = 0; i < NR_POLLED; i++) {
		sys(close, fds[i][0]);
		sys(close, fds[i][1]);
	}
}

static long run_select(unsigned long n)
{
	enum { LONG_BITS = 8 * sizeof(long) };
	int fds[NR_POLLED][2];
	unsigned long want[1024 / LONG_BITS] = { 0 }, set[1024 / LONG_BITS];
	int top = 0;

	TRY(many_pipes(fds));
	for (int i = 0; i < NR_POLLED; i++) {
		want[fds[i][0] / LONG_BITS] |= 1UL << fds[i][0] % LONG_BITS;
		top = fds[i][0] >= top ? fds[i][0] + 1 : top;
	}
	while (n--) {
		struct sys_time none = { 0, 0 };

		memcpy(set, want, sizeof(set));
		TRY(sysn(SYS_pselect6, top, set, 0, 0, &none, 0));
	}
	close_pipes(fds);
	return 0;
}

static long run_epoll(unsigned long n)
{
	struct epoll_event ev = { .events = EPOLLIN }, got[8];
	int fds[NR_POLLED][2];
	long ep = sys(epoll_create1, 0);

	TRY(ep);
	TRY(many_pipes(fds));
	for (int i = 0; i < NR_POLLED; i++)
		TRY(sys(epoll_ctl, ep, EPOLL_CTL_ADD, fds[i][0], &ev));
	while (n--) {
		if (sys(epoll_pwait, ep, got, 8, 0, 0, 8) != 1)
			return -EIO;
		TRY(sys(epoll_ctl, ep, EPOLL_CTL_MOD, fds[n % NR_POLLED][0], &ev));
	}
	close_pipes(fds);
	return sys(close, ep);
}

const struct work works[] = {
	{ "null", run_null, 20000, 0 },
	{ "io1", run_io1, 10000, 0 },
	{ "stat", run_stat, 4000, 0 },
	{ "openclose", run_openclose, 4000, 0 },
	{ "dd", run_dd, 4096, 0 },
	{ "pipe", run_pipe, 2000, 0 },
	{ "unix", run_unix, 2000, 0 },
	{ "udp", run_udp, 1000, 0 },
	{ "tcp", run_tcp, 1000, 0 },
	{ "connect", run_connect, 100, 0 },
	{ "siginstall", run_siginstall, 8000, 0 },
	{ "sighandle", run_sighandle, 3000, 0 },
	{ "fork", run_fork, 150, 0 },
	{ "exec", run_exec, 60, 0 },
	{ "files", run_files, 600, 0 },
	{ "mmap", run_mmap, 400, 0 },
	{ "protect", run_protect, 300, 0 },
	{ "select", run_select, 500, 0 },
	{ "epoll", run_epoll, 2000, 0 },
	{ "mix", work_mix, 80, 1 },
	{ NULL, NULL, 0, 0 },
};
