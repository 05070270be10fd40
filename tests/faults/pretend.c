/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * For LD_PRELOAD: a kernel of the test's own. tracefs is the folder PRETEND_TRACEFS (none: not mounted), and
 * /proc/sys/kernel/kptr_restrict is the file PRETEND_KPTR_RESTRICT. The PRETEND_NO_ELF-th file that libelf opens is none.
 * PRETEND_NO_DISASSEMBLER: see below. PRETEND_EVEN_CLOCK: whatever is timed takes a millisecond.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <libelf.h>
#include <tracefs.h>

int tracefs_tracing_dir_is_mounted(bool mount, const char **path)
{
	char *dir = getenv("PRETEND_TRACEFS");

	(void)mount;
	if (!dir)
		return 0;
	*path = dir;
	tracefs_set_tracing_dir(dir);
	return 1;
}

FILE *fopen(const char *path, const char *mode)
{
	static FILE *(*real)(const char *, const char *);
	const char *file = strcmp(path, "/proc/sys/kernel/kptr_restrict") ? NULL : getenv("PRETEND_KPTR_RESTRICT");

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "fopen");
	return real(file ? file : path, mode);
}

static int is_no_elf(void)
{
	const char *which = getenv("PRETEND_NO_ELF");
	static int nr;

	return which && ++nr == atoi(which);
}

Elf *elf_begin(int fd, Elf_Cmd cmd, Elf *ref)
{
	static Elf *(*real)(int, Elf_Cmd, Elf *);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "elf_begin");
	return is_no_elf() ? NULL : real(fd, cmd, ref);
}

Elf *elf_memory(char *image, size_t size)
{
	static Elf *(*real)(char *, size_t);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "elf_memory");
	return is_no_elf() ? NULL : real(image, size);
}

/* This is libopcodes, of no machine, where PRETEND_NO_DISASSEMBLER is empty; otherwise that is what it is called. */
void *dlopen(const char *name, int flags)
{
	static void *(*real)(const char *, int);
	const char *other = getenv("PRETEND_NO_DISASSEMBLER");

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "dlopen");
	if (!name || !strstr(name, "opcodes") || !other)
		return real(name, flags);
	return real(*other ? other : getenv("LD_PRELOAD"), flags);
}

void *disassembler(int arch, int big, unsigned long mach, void *abfd)
{
	(void)arch, (void)big, (void)mach, (void)abfd;
	return NULL;
}

void init_disassemble_info(void) { }
void disassemble_init_for_target(void) { }
void disassemble_free_target(void) { }

int clock_gettime(clockid_t id, struct timespec *ts)
{
	static int (*real)(clockid_t, struct timespec *);
	static long ms;

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
	if (!getenv("PRETEND_EVEN_CLOCK"))
		return real(id, ts);
	ts->tv_sec = ++ms / 1000;
	ts->tv_nsec = ms % 1000 * 1000000;
	return 0;
}
