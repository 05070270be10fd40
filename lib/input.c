/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "error.h"
#include "mem.h"

enum { RAW_SIZE = 1 << 17, MAX_LINE = 64 << 20 };

static const unsigned char zstd_magic[4] = { 0x28, 0xb5, 0x2f, 0xfd };

struct input {
	char *name;
	int fd;
	bool eof, failed, raw, in_frame;
	bool compressed;	/* a frame was opened */
	ZSTD_DCtx *dctx;

	char *raw_buf;		/* bytes as they are in the file: [raw_pos, raw_end) */
	size_t raw_pos, raw_end;

	char *buf;		/* decoded bytes: [pos, end) */
	size_t pos, end, alloc;
	uint64_t offset;	/* of buf[pos] in the decoded stream */
	unsigned long lineno;
	bool line_ended;
};

struct input *input_open(const char *path)
{
	int fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0) {
		error("cannot read '%s': %s", path, strerror(errno));
		return NULL;
	}
	if (S_ISDIR(st.st_mode)) {
		error("cannot read '%s': %s", path, strerror(EISDIR));
		close(fd);
		return NULL;
	}
	struct input *in = xcalloc(1, sizeof(*in));
	in->name = xstrdup(strcmp(path, "-") ? path : "standard input");
	in->fd = fd;
	in->raw_buf = xmalloc(RAW_SIZE);
	in->alloc = 2 * RAW_SIZE;
	in->buf = xmalloc(in->alloc + 1);
	return in;
}

void input_close(struct input *in)
{
	if (!in)
		return;
	if (in->fd > STDIN_FILENO)
		close(in->fd);
	ZSTD_freeDCtx(in->dctx);
	free(in->raw_buf);
	free(in->buf);
	free(in->name);
	free(in);
}

const char *input_name(const struct input *in)
{
	return in->name;
}

uint64_t input_offset(const struct input *in)
{
	return in->offset;
}

bool input_failed(const struct input *in)
{
	return in->failed;
}

unsigned long input_lineno(const struct input *in)
{
	return in->lineno;
}

void input_raw(struct input *in)
{
	in->raw = !in->compressed;
}

bool input_line_ended(const struct input *in)
{
	return in->line_ended;
}

static void fail(struct input *in, const char *what)
{
	if (!in->failed)
		error("cannot read '%s': %s", in->name, what);
	in->failed = in->eof = true;
}

/* Have at least want bytes in raw_buf if the file holds them. */
static void fill_raw(struct input *in, size_t want)
{
	if (in->raw_end - in->raw_pos >= want)
		return;
	memmove(in->raw_buf, in->raw_buf + in->raw_pos, in->raw_end - in->raw_pos);
	in->raw_end -= in->raw_pos;
	in->raw_pos = 0;
	while (in->raw_end < want) {
		ssize_t n = read(in->fd, in->raw_buf + in->raw_end, RAW_SIZE - in->raw_end);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			fail(in, strerror(errno));
		if (n <= 0)
			return;
		in->raw_end += (size_t)n;
	}
}

static void make_room(struct input *in, size_t want)
{
	if (in->pos) {
		memmove(in->buf, in->buf + in->pos, in->end - in->pos);
		in->end -= in->pos;
		in->pos = 0;
	}
	if (in->alloc - in->end < want) {
		in->alloc = in->end + want;
		in->buf = xreallocarray(in->buf, in->alloc + 1, 1);
	}
}

ZSTD_DCtx *input_decoder(void)
{
	ZSTD_DCtx *dctx = ZSTD_createDCtx();

	if (!dctx)
		die("out of memory");
	/* Long windows are what makes traces small; 2^27 is zstd's own limit for streams without --ultra. */
	ZSTD_DCtx_setParameter(dctx, ZSTD_d_windowLogMax, 27);
	return dctx;
}

static void decode_frame(struct input *in)
{
	if (!in->dctx)
		in->dctx = input_decoder();
	make_room(in, RAW_SIZE);
	ZSTD_inBuffer ib = { in->raw_buf, in->raw_end, in->raw_pos };
	ZSTD_outBuffer ob = { in->buf, in->alloc, in->end };
	size_t left = ZSTD_decompressStream(in->dctx, &ob, &ib);

	if (ZSTD_isError(left)) {
		fail(in, ZSTD_getErrorName(left));
		return;
	}
	in->raw_pos = ib.pos;
	in->end = ob.pos;
	if (!left)
		in->in_frame = false;
}

/* Decode some more; false when there is no more. */
static bool fill(struct input *in)
{
	if (in->eof)
		return false;
	fill_raw(in, sizeof(zstd_magic));
	if (in->failed)
		return false;
	size_t have = in->raw_end - in->raw_pos;
	if (!have && in->in_frame) {
		/* The decoder may still hold output. */
		size_t end = in->end;

		decode_frame(in);
		if (in->end > end || in->failed || !in->in_frame)
			return !in->failed;
		fail(in, "zstd frame is truncated");
		return false;
	}
	if (!have) {
		in->eof = true;
		return false;
	}
	if (!in->in_frame && !in->raw && have >= sizeof(zstd_magic) &&
	    !memcmp(in->raw_buf + in->raw_pos, zstd_magic, sizeof(zstd_magic)))
		in->in_frame = in->compressed = true;
	if (in->in_frame) {
		decode_frame(in);
		return !in->failed;
	}
	/* Plain bytes up to the next frame, which for text formats begins a line. */
	size_t n = have;
	const char *p = in->raw_buf + in->raw_pos;
	if (!in->raw) {
		const char *hit = memmem(p + 1, have - 1, zstd_magic, sizeof(zstd_magic));

		if (hit)
			n = (size_t)(hit - p);
		else if (have > 3)
			n = have - 3;	/* the magic may straddle the buffer's end */
	}
	make_room(in, n);
	memcpy(in->buf + in->end, p, n);
	in->end += n;
	in->raw_pos += n;
	return true;
}

const void *input_peek(struct input *in, size_t want, size_t *avail)
{
	while (in->end - in->pos < want && fill(in))
		;
	*avail = in->end - in->pos;
	return in->buf + in->pos;
}

void input_skip(struct input *in, size_t n)
{
	BUG_ON(n > in->end - in->pos);
	in->pos += n;
	in->offset += n;
}

bool input_read(struct input *in, void *buf, size_t n)
{
	char *out = buf;

	while (n) {
		size_t avail;
		const void *p = input_peek(in, 1, &avail);

		if (!avail)
			return false;
		if (avail > n)
			avail = n;
		memcpy(out, p, avail);
		input_skip(in, avail);
		out += avail;
		n -= avail;
	}
	return true;
}

char *input_line(struct input *in, size_t *len)
{
	size_t scanned = 0;

	for (;;) {
		size_t have = in->end - in->pos;
		char *p = in->buf + in->pos;
		char *nl = memchr(p + scanned, '\n', have - scanned);

		if (nl || (in->eof && have && !in->failed)) {
			size_t n = nl ? (size_t)(nl - p) : have;

			in->pos += n + (nl ? 1 : 0);
			in->offset += n + (nl ? 1 : 0);
			in->lineno++;
			in->line_ended = nl;
			if (n && p[n - 1] == '\r')
				n--;
			p[n] = '\0';
			if (len)
				*len = n;
			return p;
		}
		if (have > MAX_LINE) {
			fail(in, "line is longer than 64 MiB");
			return NULL;
		}
		scanned = have;
		if (!fill(in) && (in->failed || in->end == in->pos))
			return NULL;
	}
}
