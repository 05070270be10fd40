// SPDX-License-Identifier: GPL-3.0-or-later
// The held-out workload: many different calls in an order that changes from round to round. No profile sees it.
#include "work.h"
#include "sys.h"

enum { BLOCK = 4096 };

#define TRY(expr) do { long try_ = (long)(expr); if (try_ < 0) return try_; } while (0)

static char block[2 * BLOCK];
static uint32_t dice = 12345;

/* A linear congruential generator (Numerical Recipes' constants): the same order on every kernel. */
static uint32_t roll(uint32_t below)
{
	dice = dice * 1664525u + 1013904223u;
	return (dice >> 16) % below;
}

struct sys_iovec {
	void *base;
	unsigned long len;
};

static long do_vectors(void)
{
	struct sys_iovec v[2] = { { block, 100 }, { block + 1000, 3000 } };
	long fd = sys_open("/tmp/mix.v", O_RDWR | O_CREAT, 0600);

	TRY(fd);
	TRY(sys(writev, fd, v, 2));
	TRY(sys(lseek, fd, 0, 0));
	TRY(sys(readv, fd, v, 2));
	TRY(sys(ftruncate, fd, 0));
	return sys(close, fd);
}

static long do_names(void)
{
	char st[256];
	long fd = sys_open("/tmp/mix.a", O_WRONLY | O_CREAT, 0600);

	TRY(fd);
	TRY(sys(close, fd));
	TRY(sys(renameat2, AT_FDCWD, "/tmp/mix.a", AT_FDCWD, "/tmp/mix.b", 0));
	TRY(sys(symlinkat, "/tmp/mix.b", AT_FDCWD, "/tmp/mix.l"));
	TRY(sys(readlinkat, AT_FDCWD, "/tmp/mix.l", block, 64));
	TRY(sysn(SYS_fstatat, AT_FDCWD, "/tmp/mix.l", st, 0));
	TRY(sys(fchmodat, AT_FDCWD, "/tmp/mix.b", 0644));
	TRY(sys(linkat, AT_FDCWD, "/tmp/mix.b", AT_FDCWD, "/tmp/mix.c", 0));
	TRY(sys(unlinkat, AT_FDCWD, "/tmp/mix.l", 0));
	TRY(sys(unlinkat, AT_FDCWD, "/tmp/mix.c", 0));
	return sys(unlinkat, AT_FDCWD, "/tmp/mix.b", 0);
}

static long do_folder(void)
{
	long fd;

	TRY(sys(mkdirat, AT_FDCWD, "/tmp/mix.d", 0700));
	TRY(sys(chdir, "/tmp/mix.d"));
	TRY(sys(getcwd, block, 128));
	TRY(sys(chdir, "/"));
	fd = sys_open("/tmp", O_RDONLY | O_DIRECTORY, 0);
	TRY(fd);
	TRY(sys(getdents64, fd, block, BLOCK));
	TRY(sys(close, fd));
	return sys(unlinkat, AT_FDCWD, "/tmp/mix.d", AT_REMOVEDIR);
}

static long do_proc(void)
{
	static const char *const names[] = { "/proc/self/stat", "/proc/meminfo", "/proc/self/maps", "/proc/uptime" };
	long fd = sys_open(names[roll(4)], O_RDONLY, 0);

	TRY(fd);
	TRY(sys(read, fd, block, sizeof(block)));
	return sys(close, fd);
}

struct sys_message {
	void *name;
	int name_len;
	struct sys_iovec *iov;
	unsigned long nr_iov;
	void *control;
	unsigned long control_len;
	int flags;
};

static long do_messages(void)
{
	struct sys_iovec v = { block, 200 };
	struct sys_message m = { .iov = &v, .nr_iov = 1 };
	int fd[2];

	TRY(sys(socketpair, SYS_AF_UNIX, SYS_SOCK_DGRAM, 0, fd));
	for (uint32_t i = 0; i < 4; i++) {
		TRY(sys(sendmsg, fd[0], &m, 0));
		TRY(sys(recvmsg, fd[1], &m, 0));
	}
	TRY(sys(shutdown, fd[0], 2));
	TRY(sys(close, fd[0]));
	return sys(close, fd[1]);
}

static long do_datagrams(void)
{
	struct sys_inet at = sys_loopback(5001);
	long one = sys(socket, SYS_AF_INET, SYS_SOCK_DGRAM, 0), two = sys(socket, SYS_AF_INET, SYS_SOCK_DGRAM, 0);

	TRY(one);
	TRY(two);
	TRY(sys(bind, two, &at, sizeof(at)));
	for (uint32_t i = 0; i < 3; i++) {
		TRY(sys(sendto, one, block, 1 + roll(1400), 0, &at, sizeof(at)));
		TRY(sys(recvfrom, two, block, 1500, 0, 0, 0));
	}
	TRY(sys(close, one));
	return sys(close, two);
}

/* A child sends 32 KB through a stream; the parent reads it to the end. */
static long do_stream(void)
{
	struct sys_inet at = sys_loopback(5002);
	long server = sys(socket, SYS_AF_INET, SYS_SOCK_STREAM, 0), fd, pid, got;
	int on = 1;

	TRY(server);
	TRY(sys(setsockopt, server, 1, 2, &on, sizeof(on)));
	TRY(sys(bind, server, &at, sizeof(at)));
	TRY(sys(listen, server, 1));
	pid = sys_fork();
	TRY(pid);
	if (!pid) {
		fd = sys(socket, SYS_AF_INET, SYS_SOCK_STREAM, 0);
		if (sys(connect, fd, &at, sizeof(at)))
			sys_exit(1);
		for (int i = 0; i < 8; i++)
			sys(sendto, fd, block, BLOCK, 0, 0, 0);
		sys_exit(0);
	}
	TRY(fd = sys(accept4, server, 0, 0, 0));
	while ((got = sys(recvfrom, fd, block, sizeof(block), 0, 0, 0)) > 0)
		;
	TRY(got);
	TRY(sys(close, fd));
	TRY(sys(close, server));
	return sys_wait(pid) ? -EIO : 0;
}

struct sys_poll {
	int fd;
	short events, revents;
};

static long do_poll(void)
{
	struct sys_time none = { 0, 0 };
	struct sys_poll p[3];
	int fd[2];

	TRY(sys(pipe2, fd, O_NONBLOCK));
	for (int i = 0; i < 3; i++)
		p[i] = (struct sys_poll){ fd[i & 1], (short)(1 + 3 * (i & 1)), 0 };
	TRY(sysn(SYS_ppoll, p, 3, &none, 0, 8));
	TRY(sys(fcntl, fd[0], F_GETFL));
	TRY(sys(write, fd[1], block, 10));
	TRY(sysn(SYS_ppoll, p, 3, &none, 0, 8));
	if (sys(read, fd[0], block, 100) != 10 || sys(read, fd[0], block, 100) != -EAGAIN)
		return -EIO;
	TRY(sys(close, fd[0]));
	return sys(close, fd[1]);
}

static long do_timers(void)
{
	struct sys_time nap = { 0, 20000 }, when[2] = { { 0, 0 }, { 0, 30000 } };
	long fd = sys(timerfd_create, 1, 0);

	TRY(fd);
	TRY(sysn(SYS_clock_nanosleep, 1, 0, &nap, 0));
	TRY(sysn(SYS_timerfd_settime, fd, 0, when, 0));
	TRY(sys(read, fd, block, 8));
	return sys(close, fd);
}

/* Two processes hand a word of shared memory to and fro. */
static long do_futex(void)
{
	volatile int *word = sys_map(BLOCK, SYS_PROT_READ | SYS_PROT_WRITE, SYS_MAP_SHARED | SYS_MAP_ANONYMOUS, -1);
	long pid;

	if (sys_bad((int *)word))
		return (long)word;
	pid = sys_fork();
	TRY(pid);
	for (int i = 0; i < 8; i++) {
		int mine = pid ? 2 * i : 2 * i + 1;

		while (*word != mine)
			sysn(SYS_futex, word, 0, *word == mine ? -1 : *word, 0);	/* FUTEX_WAIT */
		*word = mine + 1;
		sysn(SYS_futex, word, 1, 1);						/* FUTEX_WAKE */
	}
	if (!pid)
		sys_exit(0);
	TRY(sys_wait(pid));
	return sys(munmap, word, BLOCK);
}

/* System V semaphores and shared memory, where the kernel has them. */
static long do_sysv(void)
{
	struct { unsigned short num; short op, flags; } up = { 0, 1, 0 }, down = { 0, -1, 0 };
	long sem = sys(semget, 0, 1, 0600), shm;

	if (sem == -ENOSYS)
		return 0;
	TRY(sem);
	TRY(sysn(SYS_semtimedop, sem, &up, 1, 0));
	TRY(sysn(SYS_semtimedop, sem, &down, 1, 0));
	TRY(sys(semctl, sem, 0, 0, 0));
	TRY(shm = sys(shmget, 0, BLOCK, 0600));
	return sys(shmctl, shm, 0, 0);
}

static void on_alarm(int sig)
{
	(void)sig;
}

static long do_signals(void)
{
	struct sys_time none = { 0, 0 };
	uint64_t set = 1u << (SYS_SIGUSR1 - 1);
	long pid = sys_fork(), self;

	TRY(pid);
	if (!pid) {
		self = sys(getpid);
		sys_signal(SYS_SIGUSR1, on_alarm);
		for (int i = 0; i < 4; i++)
			sys(tgkill, self, self, SYS_SIGUSR1);
		sys(rt_sigprocmask, 0, &set, 0, 8);
		sys(kill, self, SYS_SIGUSR1);
		sysn(SYS_rt_sigtimedwait, &set, 0, &none, 8);
		sys(kill, self, SYS_SIGKILL);
	}
	return sys_wait(pid) == SYS_SIGKILL ? 0 : -EIO;
}

static long do_memory(void)
{
	const unsigned long len = 16 * BLOCK;
	char *p = sys_map(len, SYS_PROT_READ | SYS_PROT_WRITE, SYS_MAP_PRIVATE | SYS_MAP_ANONYMOUS, -1);

	if (sys_bad(p))
		return (long)p;
	for (unsigned long i = 0; i < len; i += BLOCK)
		p[i] = 1;
	TRY(sys(madvise, p, len / 2, 4));	/* MADV_DONTNEED */
	for (unsigned long i = 0; i < len; i += 2 * BLOCK)
		p[i] = 1;
	p = (char *)sys(mremap, p, len, 2 * len, 1);
	if (sys_bad(p))
		return (long)p;
	p[len + 1] = 1;
	TRY(sys(brk, 0));
	return sys(munmap, p, 2 * len);
}

static long do_copies(void)
{
	long from = sys_open(WORK_SELF, O_RDONLY, 0), to = sys_open("/tmp/mix.copy", O_RDWR | O_CREAT | O_TRUNC, 0600);

	TRY(from);
	TRY(to);
	TRY(sys(pread64, from, block, 1000, 0, 0, 0));
	TRY(sys(sendfile, to, from, 0, 2 * BLOCK));
	TRY(sys(fsync, to));
	TRY(sysn(SYS_utimensat, AT_FDCWD, "/tmp/mix.copy", 0, 0));
	TRY(sys(close, from));
	TRY(sys(close, to));
	return sys(unlinkat, AT_FDCWD, "/tmp/mix.copy", 0);
}

static long do_small(void)
{
	int limits[32], copy;

	for (int i = 0; i < 8; i++)
		TRY(sysn(SYS_getuid));
	TRY(sys(uname, block));
	TRY(sys(sched_yield));
	TRY(sys(umask, 022));
	TRY(sys(prlimit64, 0, 7, 0, limits));
	TRY(copy = (int)sys(dup, 1));
	TRY(sys(close, copy));
	TRY(sys(faccessat, AT_FDCWD, "/dev/null", 4));
	return sys(eventfd2, 0, 0) < 0 ? -EIO : sys(close_range, 3, 1000, 0);
}

/* Calls that the other workloads make as well. */
static long do_known(void)
{
	const char *argv[] = { WORK_SELF, "exit", NULL }, *envp[] = { NULL };
	char st[256];
	long pid;

	for (uint32_t i = roll(20); i; i--)
		TRY(sysn(SYS_fstatat, AT_FDCWD, "/dev/console", st, 0));
	pid = sys_fork();
	TRY(pid);
	if (!pid) {
		if (roll(2))
			sys(execve, WORK_SELF, argv, envp);
		sys_exit(0);
	}
	return sys_wait(pid) ? -EIO : 0;
}

static long (*const deeds[])(void) = {
	do_vectors, do_names, do_folder, do_proc, do_messages, do_datagrams, do_stream, do_poll, do_timers,
	do_futex, do_sysv, do_signals, do_memory, do_copies, do_small, do_known,
};

enum { NR_DEEDS = sizeof(deeds) / sizeof(deeds[0]) };

long work_mix(unsigned long n)
{
	while (n--) {
		for (int i = 0; i < NR_DEEDS; i++)
			TRY(deeds[roll(NR_DEEDS)]());
	}
	return 0;
}
