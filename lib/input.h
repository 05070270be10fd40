/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A byte stream read forward once, zstd frames opened in passing wherever they
 * begin, so that every reader takes plain, compressed and concatenated input,
 * files and pipes alike, in bounded memory.
 */
#ifndef LIB_INPUT_H
#define LIB_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct input;

/* Open path ("-": stdin). NULL after reporting. */
struct input *input_open(const char *path);
void input_close(struct input *in);	/* accepts NULL */

const char *input_name(const struct input *in);	/* for messages */

/* At least want bytes ahead, unless the stream ends first: *avail says how many. Valid until the next call. */
const void *input_peek(struct input *in, size_t want, size_t *avail);

/* Take n bytes that peek has shown. */
void input_skip(struct input *in, size_t n);

/* Copy exactly n bytes; false at end of stream or error. */
bool input_read(struct input *in, void *buf, size_t n);

/*
 * The next line without its newline, or CR and newline, NUL-terminated, valid until
 * the next call; NULL at the end, and where the stream fails: a line that is cut
 * there is not handed out. A line over 64 MiB is an error.
 */
char *input_line(struct input *in, size_t *len);
/* Whether the last line had its newline: without, it may be cut. */
bool input_line_ended(const struct input *in);
unsigned long input_lineno(const struct input *in);

/* Decompressed bytes taken so far. */
uint64_t input_offset(const struct input *in);

/* True when the stream ended in an error (I/O, broken zstd frame), which has been reported. */
bool input_failed(const struct input *in);

/*
 * Stop opening zstd frames from here on: the format embeds its own (perf.data).
 * Where the stream itself turned out to be compressed, its further frames still are.
 */
void input_raw(struct input *in);

/* A decoder of zstd that takes the long windows of small traces. Never NULL; the caller frees it by ZSTD_freeDCtx(). */
struct ZSTD_DCtx_s *input_decoder(void);

#endif
