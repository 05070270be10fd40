// SPDX-License-Identifier: GPL-3.0-or-later
// System calls, process entry and a little text handling for the guest's program.
#include "sys.h"

#if defined(__x86_64__)
__asm__(".globl _start\n_start:\n"
	"	xor %ebp, %ebp\n"
	"	mov %rsp, %rdi\n"
	"	and $-16, %rsp\n"
	"	call start\n"
	".globl sys_restore\nsys_restore:\n"
	"	mov $15, %eax\n"
	"	syscall\n");

long sys_call(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall" : "=a"(ret) : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}
#elif defined(__powerpc__) && !defined(__powerpc64__)
__asm__(".globl _start\n_start:\n"
	"	mr 3, 1\n"
	"	clrrwi 1, 1, 4\n"
	"	li 0, 0\n"
	"	stwu 1, -16(1)\n"
	"	mtlr 0\n"
	"	stw 0, 0(1)\n"
	"	bl start\n");

long sys_call(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r0 __asm__("r0") = nr;
	register long r3 __asm__("r3") = a;
	register long r4 __asm__("r4") = b;
	register long r5 __asm__("r5") = c;
	register long r6 __asm__("r6") = d;
	register long r7 __asm__("r7") = e;
	register long r8 __asm__("r8") = f;

	/* Failure is the summary overflow bit, with a positive errno. */
	__asm__ volatile("sc\n\tbns+ 1f\n\tneg 3, 3\n1:"
			 : "+r"(r0), "+r"(r3), "+r"(r4), "+r"(r5), "+r"(r6), "+r"(r7), "+r"(r8)
			 : : "r9", "r10", "r11", "r12", "cr0", "ctr", "memory");
	return r3;
}
#elif defined(__aarch64__)
__asm__(".globl _start\n_start:\n"
	"	mov x29, 0\n"
	"	mov x0, sp\n"
	"	and sp, x0, -16\n"
	"	bl start\n");

long sys_call(long nr, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
	return x0;
}
#elif defined(__arm__)
__asm__(".globl _start\n_start:\n"
	"	mov r0, sp\n"
	"	bic sp, sp, #7\n"
	"	bl start\n");

long sys_call(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r7 __asm__("r7") = nr;
	register long r0 __asm__("r0") = a;
	register long r1 __asm__("r1") = b;
	register long r2 __asm__("r2") = c;
	register long r3 __asm__("r3") = d;
	register long r4 __asm__("r4") = e;
	register long r5 __asm__("r5") = f;

	__asm__ volatile("svc 0" : "+r"(r0) : "r"(r7), "r"(r1), "r"(r2), "r"(r3), "r"(r4), "r"(r5) : "memory");
	return r0;
}
#elif defined(__riscv)
__asm__(".globl _start\n_start:\n"
	".option push\n.option norelax\n"
	"	la gp, __global_pointer$\n"	/* ld's relaxation counts on it */
	".option pop\n"
	"	mv a0, sp\n"
	"	andi sp, sp, -16\n"
	"	call start\n");

long sys_call(long nr, long a, long b, long c, long d, long e, long f)
{
	register long a7 __asm__("a7") = nr;
	register long a0 __asm__("a0") = a;
	register long a1 __asm__("a1") = b;
	register long a2 __asm__("a2") = c;
	register long a3 __asm__("a3") = d;
	register long a4 __asm__("a4") = e;
	register long a5 __asm__("a5") = f;

	__asm__ volatile("ecall" : "+r"(a0) : "r"(a7), "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5) : "memory");
	return a0;
}
#else
#error "no system call for this architecture"
#endif

int main(int argc, char **argv, char **envp);
__attribute__((used)) _Noreturn void start(long *stack);

/* The kernel leaves argc, the arguments, NULL, the environment and NULL on the stack. */
void start(long *stack)
{
	char **argv = (char **)(stack + 1);

	sys_exit(main((int)stack[0], argv, argv + stack[0] + 1));
}

void sys_exit(int status)
{
	for (;;)
		sys(exit_group, status);
}

uint64_t sys_usec(void)
{
	struct sys_time t = { 0, 0 };

	sysn(SYS_clock_gettime, 1, &t);
	return (uint64_t)t.sec * 1000000u + (uint64_t)t.nsec / 1000u;
}

long sys_open(const char *path, int flags, int mode)
{
	return sys(openat, AT_FDCWD, path, flags, mode);
}

long sys_fork(void)
{
	return sys(clone, SYS_SIGCHLD);
}

long sys_wait(long pid)
{
	int status = 0;
	long ret;

	do
		ret = sys(wait4, pid, &status);
	while (ret == -EINTR);
	return ret < 0 ? ret : status;
}

void *sys_map(unsigned long len, int prot, int flags, int fd)
{
#ifdef __NR_mmap2
	return (void *)sys(mmap2, 0, len, prot, flags, fd, 0);
#else
	return (void *)sys(mmap, 0, len, prot, flags, fd, 0);
#endif
}

struct sys_sigaction {
	void (*handler)(int);
	unsigned long flags;
#if !defined(__riscv)
	void (*restorer)(void);
#endif
	uint64_t mask;
};

long sys_signal(int sig, void (*handler)(int))
{
	struct sys_sigaction act = { .handler = handler };

#if defined(__x86_64__)
	void sys_restore(void);

	act.flags = 0x04000000;		/* SA_RESTORER */
	act.restorer = sys_restore;
#endif
	return sys(rt_sigaction, sig, &act, 0, sizeof(act.mask));
}

struct sys_inet sys_loopback(uint16_t port)
{
	struct sys_inet to = { .family = SYS_AF_INET };
	unsigned char *p = (unsigned char *)&to.port, *a = (unsigned char *)&to.addr;

	p[0] = (unsigned char)(port >> 8);
	p[1] = (unsigned char)port;
	a[0] = 127;
	a[3] = 1;
	return to;
}

unsigned long str_len(const char *s)
{
	unsigned long n = 0;

	while (s[n])
		n++;
	return n;
}

int str_equal(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

char *str_option(const char *list, const char *key, char *buf, unsigned long size)
{
	unsigned long len = str_len(key), n;

	for (const char *s = list; *s; s++) {
		if (s != list && s[-1] != ' ')
			continue;
		for (n = 0; n < len && s[n] == key[n]; n++)
			;
		if (n < len || s[n] != '=')
			continue;
		s += len + 1;
		for (n = 0; n + 1 < size && s[n] && s[n] != ' ' && s[n] != '\n'; n++)
			buf[n] = s[n];
		buf[n] = '\0';
		return buf;
	}
	return NULL;
}

unsigned long str_number(const char *s)
{
	unsigned long n = 0;

	while (*s >= '0' && *s <= '9')
		n = n * 10 + (unsigned long)(*s++ - '0');
	return n;
}

static char *put_number(char *end, uint64_t n)
{
	*--end = '\0';
	do
		*--end = (char)('0' + n % 10);
	while (n /= 10);
	return end;
}

void say(const char *format, ...)
{
	char line[256], digits[24];
	unsigned long len = 0;
	va_list ap;

	va_start(ap, format);
	for (const char *f = format; *f; f++) {
		const char *s = digits;

		if (*f != '%') {
			if (len < sizeof(line))
				line[len++] = *f;
			continue;
		}
		f++;
		if (*f == 's') {
			s = va_arg(ap, const char *);
		} else if (*f == 'u') {
			s = put_number(digits + sizeof(digits), va_arg(ap, uint64_t));
		} else {
			long n = va_arg(ap, long);

			if (n < 0 && len < sizeof(line))
				line[len++] = '-';
			s = put_number(digits + sizeof(digits), (uint64_t)(n < 0 ? -n : n));
		}
		while (*s && len < sizeof(line))
			line[len++] = *s++;
	}
	va_end(ap);
	sys(write, 1, line, len);
}

#ifdef __arm__
/* libgcc's division by zero calls it. */
int raise(int sig);

int raise(int sig)
{
	sys_exit(128 + sig);
}
#endif

void *memset(void *p, int c, size_t n)
{
	char *to = p;

	while (n--)
		*to++ = (char)c;
	return p;
}

void *memcpy(void *to, const void *from, size_t n)
{
	char *t = to;
	const char *f = from;

	while (n--)
		*t++ = *f++;
	return to;
}
