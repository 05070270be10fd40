/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * For LD_PRELOAD: the NOMEM_AT-th allocation of hottext, and every one of that size or more after it, fails. Allocations
 * are counted from hottext's first look at its signals on. With NOMEM_AT=0 none fails, and the count is printed on
 * descriptor 9 at exit.
 */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t nmemb, size_t size);
void *__libc_realloc(void *p, size_t size);

static unsigned long at, count;
static int counting;
static size_t limit;

int sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	static int (*real)(int, const struct sigaction *, struct sigaction *);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "sigaction");
	if (!counting) {
		const char *env = getenv("NOMEM_AT");

		at = env ? strtoul(env, NULL, 10) : 0;
		counting = 1;
		unsetenv("LD_PRELOAD");	/* what it starts has memory */
	}
	return real(sig, act, old);
}

static int fails(size_t size)
{
	if (!counting)
		return 0;
	if (++count == at)
		limit = size ? size : 1;
	if (!limit || size < limit)
		return 0;
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t size)
{
	return fails(size) ? NULL : __libc_malloc(size);
}

void *calloc(size_t nmemb, size_t size)
{
	return fails(nmemb * size) ? NULL : __libc_calloc(nmemb, size);
}

void *realloc(void *p, size_t size)
{
	return fails(size) ? NULL : __libc_realloc(p, size);
}

__attribute__((destructor)) static void tell(void)
{
	if (counting && !at)
		dprintf(9, "%lu\n", count);
}
