/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * System calls without a C library, for the guest's static program: the same
 * source runs on every architecture whose kernel is to be measured, also where
 * the C library wants a floating-point unit that the CPU has not.
 *
 * Every wrapper returns what the kernel returns: a negative errno on failure.
 */
#ifndef TESTS_KERNEL_SYS_H
#define TESTS_KERNEL_SYS_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <asm/unistd.h>
#include <linux/types.h>
#include <linux/errno.h>
#include <linux/fcntl.h>

/* The kernel ABI's own numbers, which its user headers leave to the C library. */
enum { SYS_SIGHUP = 1, SYS_SIGKILL = 9, SYS_SIGUSR1 = 10, SYS_SIGSEGV = 11, SYS_SIGUSR2 = 12, SYS_SIGCHLD = 17 };
enum { SYS_PROT_NONE = 0, SYS_PROT_READ = 1, SYS_PROT_WRITE = 2 };
enum { SYS_MAP_SHARED = 1, SYS_MAP_PRIVATE = 2, SYS_MAP_ANONYMOUS = 0x20 };
enum { SYS_AF_UNIX = 1, SYS_AF_INET = 2, SYS_SOCK_STREAM = 1, SYS_SOCK_DGRAM = 2 };

long sys_call(long nr, long a, long b, long c, long d, long e, long f);

#define SYS_7(nr, a, b, c, d, e, f, ...) \
	sys_call(nr, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
/* sys(getppid), sys(read, fd, buf, len): the call by its name, unused arguments zero. */
#define sys(name, ...) SYS_7(__NR_##name, ##__VA_ARGS__, 0, 0, 0, 0, 0, 0)

/* 32-bit ABIs number their calls on 64-bit times and offsets apart. */
#ifdef __NR_clock_gettime64
#define SYS_clock_gettime __NR_clock_gettime64
#define SYS_clock_nanosleep __NR_clock_nanosleep_time64
#define SYS_futex __NR_futex_time64
#define SYS_ppoll __NR_ppoll_time64
#define SYS_pselect6 __NR_pselect6_time64
#define SYS_timerfd_settime __NR_timerfd_settime64
#define SYS_utimensat __NR_utimensat_time64
#define SYS_rt_sigtimedwait __NR_rt_sigtimedwait_time64
#define SYS_semtimedop __NR_semtimedop_time64
#else
#define SYS_clock_gettime __NR_clock_gettime
#define SYS_clock_nanosleep __NR_clock_nanosleep
#define SYS_futex __NR_futex
#define SYS_ppoll __NR_ppoll
#define SYS_pselect6 __NR_pselect6
#define SYS_timerfd_settime __NR_timerfd_settime
#define SYS_utimensat __NR_utimensat
#define SYS_rt_sigtimedwait __NR_rt_sigtimedwait
#define SYS_semtimedop __NR_semtimedop
#endif
#ifdef __NR_newfstatat
#define SYS_fstatat __NR_newfstatat
#else
#define SYS_fstatat __NR_fstatat64
#endif
/* getuid of 16 bits is there with UID16 alone. */
#ifdef __NR_getuid32
#define SYS_getuid __NR_getuid32
#else
#define SYS_getuid __NR_getuid
#endif
/* As sys(), by the number. */
#define sysn(nr, ...) SYS_7(nr, ##__VA_ARGS__, 0, 0, 0, 0, 0, 0)

struct sys_time {
	int64_t sec;
	int64_t nsec;	/* 32-bit kernels read its low half, wherever their byte order has it */
};

struct sys_inet {	/* struct sockaddr_in */
	uint16_t family;
	uint16_t port;	/* network order */
	uint32_t addr;	/* network order */
	char zero[8];
};

/* Microseconds of the monotonic clock. */
uint64_t sys_usec(void);
long sys_open(const char *path, int flags, int mode);
long sys_fork(void);
/* Wait for pid to end; its wait status, or a negative errno. */
long sys_wait(long pid);
_Noreturn void sys_exit(int status);
/* Page-granular anonymous memory; negative errno as a pointer on failure, see sys_bad(). */
void *sys_map(unsigned long len, int prot, int flags, int fd);
static inline int sys_bad(const void *p)
{
	return (unsigned long)p > -4096UL;
}
/* Have handler called on sig; NULL restores the default. */
long sys_signal(int sig, void (*handler)(int));
struct sys_inet sys_loopback(uint16_t port);

/* Text. say() prints to file descriptor 1: %s, %d (long) and %u (uint64_t) only. */
void say(const char *format, ...);
unsigned long str_len(const char *s);
int str_equal(const char *a, const char *b);
/* The value of key in a list "key=value key=value", copied to buf; NULL when absent. */
char *str_option(const char *list, const char *key, char *buf, unsigned long size);
unsigned long str_number(const char *s);

void *memset(void *p, int c, size_t n);
void *memcpy(void *to, const void *from, size_t n);

#endif
