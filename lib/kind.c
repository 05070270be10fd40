/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kind.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "error.h"
#include "input.h"
#include "mem.h"

enum { HEAD_SIZE = 0x206 };	/* bytes: to the end of the last magic below */

struct magic {
	const char *name, *bytes;
	size_t at, len;
};

static const struct magic elf = { "ELF", "\177ELF", 0, 4 };

static const struct magic packed[] = {
	{ "gzip", "\037\213", 0, 2 },
	{ "xz", "\3757zXZ", 0, 6 },
	{ "bzip2", "1AY&SY", 4, 6 },
	{ "lz4", "\004\042\115\030", 0, 4 },
	{ "zstd", "\050\265\057\375", 0, 4 },	/* last: kind_check_head() goes without */
};

static const struct magic bootable[] = {
	{ "bzImage", "HdrS", 0x202, 4 },
	{ "bootable Image", "ARM\x64", 56, 4 },
	{ "bootable Image", "RSC\005", 56, 4 },
	{ "uImage", "\047\005\031\126", 0, 4 },
};

static bool has_magic(const struct magic *m, const char *head, size_t len)
{
	return len >= m->at + m->len && !memcmp(head + m->at, m->bytes, m->len);
}

static const char *find_magic(const struct magic *m, size_t nr, const char *head, size_t len)
{
	for (size_t i = 0; i < nr; i++)
		if (has_magic(&m[i], head, len))
			return m[i].name;
	return NULL;
}

/* How many bytes were read: none of what is no regular file, which may be readable once only. */
static size_t read_head(const char *path, char head[HEAD_SIZE])
{
	struct stat st;
	size_t n = 0;
	FILE *fp;

	if (stat(path, &st) || !S_ISREG(st.st_mode) || !(fp = fopen(path, "re")))
		return 0;
	n = fread(head, 1, HEAD_SIZE, fp);
	fclose(fp);
	return n;
}

bool kind_is_elf(const char *path)
{
	char head[HEAD_SIZE];
	size_t len = read_head(path, head);

	return has_magic(&elf, head, len);
}

int kind_check_kernel(const char *path)
{
	char head[HEAD_SIZE];
	struct stat st;
	size_t len = read_head(path, head);
	const char *name = find_magic(packed, ARRAY_SIZE(packed), head, len);

	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		return error("cannot read '%s': %s", path, strerror(EISDIR));
	if (name)
		return error("cannot read '%s': compressed by %s: unpack it first", path, name);
	name = find_magic(bootable, ARRAY_SIZE(bootable), head, len);
	if (name)
		return error("cannot read '%s': a %s has no symbols: give the vmlinux that it was made from", path, name);
	return 0;
}

int kind_check_head(const char *name, const void *head, size_t len, const char *wanted)
{
	const char *packer = find_magic(packed, ARRAY_SIZE(packed) - 1, head, len);

	if (has_magic(&elf, head, len))
		return error("'%s' is an ELF file, not %s", name, wanted);
	if (packer)
		return error("cannot read '%s': compressed by %s: unpack it first (zstd is read as it is)", name, packer);
	return 0;
}

int kind_check_input(struct input *in, const char *wanted)
{
	size_t len;
	const void *head = input_peek(in, 16, &len);

	return kind_check_head(input_name(in), head, len, wanted);
}
