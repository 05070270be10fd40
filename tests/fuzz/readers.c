/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * All readers under libFuzzer:
 *   clang -std=gnu11 -D_GNU_SOURCE -DHOTTEXT_VERSION='"fuzz"' -I. -O1 -g -fsanitize=fuzzer,address,undefined \
 *     -o fuzz tests/fuzz/readers.c lib/[a-z]*.c collect/[a-z]*.c ... $(pkg-config --cflags --libs libelf libzstd libtracecmd)
 *   ./fuzz -close_fd_mask=3 CORPUS
 * READER=NAME in the environment leaves out inputs that another reader takes.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collect/profile.h"
#include "collect/reader.h"
#include "lib/error.h"
#include "lib/input.h"
#include "lib/symtab.h"

static struct symtab syms;
static char path[64];
static int fd;

static const char kallsyms[] =
	"ffffffff81000000 T _text\nffffffff81000000 T _stext\nffffffff81001000 T do_syscall_64\n"
	"ffffffff81002000 T __x64_sys_read\nffffffff81003000 t copy\nffffffff81003800 t copy\n"
	"ffffffff81004000 t vfs_read\nffffffff81005000 T _etext\n";

static void fill(const void *data, size_t size)
{
	if (ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
}

static void set_up(void)
{
	fd = memfd_create("input", 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	fill(kallsyms, sizeof(kallsyms) - 1);
	if (symtab_read_kallsyms(&syms, path))
		abort();
	verbosity = -1;
}

static bool wanted(void)
{
	const char *name = getenv("READER");
	char head[4097];
	struct input *in = input_open(path);
	size_t len;
	bool is = !name;

	const void *data = input_peek(in, 4096, &len);
	len = len < 4096 ? len : 4096;
	memcpy(head, data, len);
	head[len] = '\0';
	for (const struct reader *const *r = readers; name && *r; r++)
		if ((*r)->probe(head, len)) {
			is = !strcmp((*r)->name, name);
			break;
		}
	input_close(in);
	return is;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!fd)
		set_up();
	fill(data, size);
	if (!wanted())
		return -1;
	for (int force = 0; force < 2; force++) {
		struct collect_options opts = { .syms = &syms, .vmlinux = "vmlinux", .force = force };
		struct profile p = { 0 };

		collect_file(path, &opts, &p);
		profile_release(&p);
	}
	return 0;
}
