/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Makes a large trace.dat of a small one of version 6 and one CPU, as `trace-cmd
 * convert --file-version 6` writes it: its pages again and again, later each time.
 * Behind "flyrecord" stand the offset and size of the CPU's pages, which end the file.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, GAP_NS = 100000000 };

static uint64_t word(const char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static void put_word(char *p, uint64_t v)
{
	memcpy(p, &v, sizeof(v));
}

static char *load(const char *path, size_t *size)
{
	FILE *fp = fopen(path, "rb");
	char *buf;

	if (!fp || fseek(fp, 0, SEEK_END))
		return NULL;
	*size = (size_t)ftell(fp);
	rewind(fp);
	buf = malloc(*size);
	if (!buf || fread(buf, 1, *size, fp) != *size)
		return NULL;
	fclose(fp);
	return buf;
}

int main(int argc, char **argv)
{
	static const char mark[] = "flyrecord";
	size_t size = 0;
	char *in = argc == 4 ? load(argv[1], &size) : NULL, *at = NULL;
	FILE *out = in ? fopen(argv[2], "wb") : NULL;

	for (char *p = in; p && (p = memmem(p, (size_t)(in + size - p), mark, sizeof(mark))); p++)
		at = p + sizeof(mark);
	if (!out || !at || word(at) + word(at + 8) != size) {
		fprintf(stderr, "usage: growtrace TRACE.DAT OUT MEGABYTES (version 6, one CPU)\n");
		return 2;
	}
	uint64_t off = word(at), bytes = size - off, times = (strtoull(argv[3], NULL, 10) << 20) / bytes + 1;
	uint64_t span = word(in + size - PAGE) - word(in + off) + GAP_NS;
	put_word(at + 8, bytes * times);
	fwrite(in, 1, size, out);
	while (--times) {
		for (uint64_t p = off; p + PAGE <= size; p += PAGE)
			put_word(in + p, word(in + p) + span);
		fwrite(in + off, 1, bytes, out);
	}
	return fclose(out) != 0;
}
