/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes a large perf.data of a small one: its samples again and again, later each time. Same byte order only. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/perf/perfdata.h"

enum { TIME_OFF = 16, FEATURES = 256 };	/* of the time in a sample of IP, TID, TIME */

static char *load(const char *path, long *size)
{
	FILE *fp = fopen(path, "rb");
	char *buf;

	if (!fp || fseek(fp, 0, SEEK_END) || (*size = ftell(fp)) < 104)
		return NULL;
	rewind(fp);
	buf = malloc((size_t)*size);
	if (!buf || fread(buf, 1, (size_t)*size, fp) != (size_t)*size)
		return NULL;
	fclose(fp);
	return buf;
}

static uint64_t word(const char *p)
{
	return perfdata_u64(p, false);
}

static void put_word(char *p, uint64_t v)
{
	memcpy(p, &v, sizeof(v));
}

/* Write the samples once more, delta ns later; returns their bytes. */
static uint64_t repeat(FILE *out, char *data, uint64_t size, uint64_t delta)
{
	uint64_t bytes = 0;

	for (uint64_t at = 0, n; at + 8 <= size; at += n) {
		n = perfdata_u16(data + at + 6, false);
		if (n < 8 || at + n > size)
			break;
		if (perfdata_u32(data + at, false) != PERFDATA_SAMPLE)
			continue;
		put_word(data + at + 8 + TIME_OFF, word(data + at + 8 + TIME_OFF) + delta);
		fwrite(data + at, 1, n, out);
		bytes += n;
	}
	return bytes;
}

/* The table of features and the features behind the records, all moved by as much. */
static void put_features(FILE *out, const char *head, char *tail, uint64_t size, uint64_t moved)
{
	uint64_t at = 0;

	for (int i = 0; i < FEATURES; i++) {
		if (!(head[72 + i / 8] >> i % 8 & 1) || at + 16 > size)
			continue;
		put_word(tail + at, word(tail + at) + moved);
		at += 16;
	}
	fwrite(tail, 1, size, out);
}

int main(int argc, char **argv)
{
	long size;
	char *in = argc == 4 ? load(argv[1], &size) : NULL;
	FILE *out = in ? fopen(argv[2], "w+b") : NULL;

	if (!out) {
		fprintf(stderr, "usage: growperf PERF.DATA OUT MEGABYTES\n");
		return 2;
	}
	uint64_t want = strtoull(argv[3], NULL, 10) << 20, off = word(in + 40), have = word(in + 48), moved = 0;
	fwrite(in, 1, off + have, out);
	while (have + moved < want) {
		uint64_t n = repeat(out, in + off, have, 1000000000);

		if (!n)
			break;
		moved += n;
	}
	put_features(out, in, in + off + have, (uint64_t)size - off - have, moved);
	put_word(in + 48, have + moved);
	rewind(out);
	fwrite(in, 1, 104, out);
	return fclose(out) != 0;
}
