/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Builds small perf.data files in memory, in either byte order, file and pipe mode. */
#ifndef TESTS_UNIT_PERFDATA_BUILD_H
#define TESTS_UNIT_PERFDATA_BUILD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"

struct bytes {
	unsigned char *p;
	size_t n, alloc;
	bool big;
};

static inline void put(struct bytes *b, const void *p, size_t n)
{
	ALLOC_GROW(b->p, b->n + n, b->alloc);
	if (n)
		memcpy(b->p + b->n, p, n);
	b->n += n;
}

static inline void put_int(struct bytes *b, uint64_t v, unsigned int size)
{
	for (unsigned int i = 0; i < size; i++) {
		unsigned char c = (unsigned char)(v >> 8 * (b->big ? size - 1 - i : i));

		put(b, &c, 1);
	}
}

#define put16(b, v) put_int(b, v, 2)
#define put32(b, v) put_int(b, v, 4)
#define put64(b, v) put_int(b, v, 8)

/* NUL-padded to a multiple of 8. */
static inline void put_str(struct bytes *b, const char *s)
{
	size_t len = strlen(s) + 1;

	put(b, s, len);
	for (; len % 8; len++)
		put(b, "", 1);
}

/* u32 length and the string, as features have it. */
static inline void put_feat_str(struct bytes *b, const char *s)
{
	put32(b, (strlen(s) + 8) & ~7u);
	put_str(b, s);
}

static inline void put_record(struct bytes *b, uint32_t type, uint16_t misc, const struct bytes *body)
{
	put32(b, type);
	put16(b, misc);
	put16(b, body->n + 8);
	put(b, body->p, body->n);
}

/* One event of the file to be built. */
struct build_event {
	uint32_t type;
	uint64_t config, sample_type, read_format, branch_type;
	uint64_t id;		/* 0: none */
	const char *name;
};

struct build {
	bool big, pipe;
	bool long32;		/* the recorder's unsigned long has 32 bits */
	const char *host;	/* NULL: not told */
	uint32_t attr_size;	/* bytes that the recorder's attr has; 0: 112 */
	struct build_event events[4];
	unsigned int nr_events;
	struct bytes records;
	const char *arch;	/* NULL: no features */
	const unsigned char *build_id;	/* of the kernel, in the features; NULL: none */
};

static inline void put_attr(struct bytes *b, const struct build *f, const struct build_event *e)
{
	uint32_t size = f->attr_size ? f->attr_size : 112;
	struct bytes a = { .big = f->big };

	put32(&a, e->type);
	put32(&a, size);
	put64(&a, e->config);
	put64(&a, 1);
	put64(&a, e->sample_type);
	put64(&a, e->read_format);
	put64(&a, 0);
	put64(&a, 0);
	put64(&a, 0);
	put64(&a, 0);
	put64(&a, e->branch_type);
	put64(&a, 0x7);		/* user registers */
	put64(&a, 0);
	put64(&a, 0x3);		/* registers at the interrupt */
	while (a.n < size)
		put(&a, "\377", 1);
	put(b, a.p, size);
	free(a.p);
}

static inline void put_build_id(struct bytes *b, const struct build *f)
{
	put32(b, (uint32_t)-1);
	put(b, f->build_id, 20);
	put32(b, 0);
	put_str(b, "[kernel.kallsyms]");
}

static inline void put_event_desc(struct bytes *b, const struct build *f)
{
	put32(b, f->nr_events);
	put32(b, f->attr_size ? f->attr_size : 112);
	for (unsigned int i = 0; i < f->nr_events; i++) {
		put_attr(b, f, &f->events[i]);
		put32(b, f->events[i].id ? 1 : 0);
		put_feat_str(b, f->events[i].name);
		if (f->events[i].id)
			put64(b, f->events[i].id);
	}
}

/* Features: build-id (2), host name (3), arch (6), event descriptions (12). */
static inline void put_features(struct bytes *out, const struct build *f, uint64_t *bits)
{
	struct bytes sec[4] = { { .big = f->big }, { .big = f->big }, { .big = f->big }, { .big = f->big } };
	uint64_t off;
	int nr = 0;

	if (f->build_id) {
		struct bytes id = { .big = f->big };

		put_build_id(&id, f);
		put_record(&sec[nr++], 67, 1, &id);
		free(id.p);
		*bits |= 1 << 2;
	}
	if (f->host) {
		put_feat_str(&sec[nr++], f->host);
		*bits |= 1 << 3;
	}
	if (f->arch) {
		put_feat_str(&sec[nr++], f->arch);
		*bits |= 1 << 6;
		put_event_desc(&sec[nr++], f);
		*bits |= 1 << 12;
	}
	off = out->n + 16 * (uint64_t)nr;
	for (int i = 0; i < nr; i++) {
		put64(out, off);
		put64(out, sec[i].n);
		off += sec[i].n;
	}
	for (int i = 0; i < nr; i++) {
		put(out, sec[i].p, sec[i].n);
		free(sec[i].p);
	}
}

static inline void build_pipe(struct bytes *out, const struct build *f)
{
	struct bytes body = { .big = f->big };

	put(out, f->big ? "2ELIFREP" : "PERFILE2", 8);
	put64(out, 16);
	for (unsigned int i = 0; i < f->nr_events; i++) {
		body.n = 0;
		put_attr(&body, f, &f->events[i]);
		if (f->events[i].id)
			put64(&body, f->events[i].id);
		put_record(out, 64, 0, &body);
	}
	if (f->arch) {
		body.n = 0;
		put64(&body, 6);
		put_feat_str(&body, f->arch);
		put_record(out, 80, 0, &body);
		body.n = 0;
		put64(&body, 12);
		put_event_desc(&body, f);
		put_record(out, 80, 0, &body);
	}
	if (f->build_id) {
		body.n = 0;
		put_build_id(&body, f);
		put_record(out, 67, 1, &body);
	}
	free(body.p);
	put(out, f->records.p, f->records.n);
}

static inline void build_file(struct bytes *out, const struct build *f)
{
	uint32_t attr = (f->attr_size ? f->attr_size : 112) + 16;
	uint64_t ids = 104, attrs = ids + 8 * f->nr_events, data = attrs + (uint64_t)attr * f->nr_events, bits = 0;

	put(out, f->big ? "2ELIFREP" : "PERFILE2", 8);
	put64(out, 104);
	put64(out, attr);
	put64(out, attrs);
	put64(out, (uint64_t)attr * f->nr_events);
	put64(out, data);
	put64(out, f->records.n);
	for (int i = 0; i < 6; i++)	/* event types, feature bits */
		put64(out, 0);
	for (unsigned int i = 0; i < f->nr_events; i++)
		put64(out, f->events[i].id);
	for (unsigned int i = 0; i < f->nr_events; i++) {
		put_attr(out, f, &f->events[i]);
		put64(out, ids + 8 * i);
		put64(out, f->events[i].id ? 8 : 0);
	}
	put(out, f->records.p, f->records.n);
	put_features(out, f, &bits);
	struct bytes word = { .big = f->big };
	put_int(&word, bits, f->long32 ? 4 : 8);
	put32(&word, 0);
	memcpy(out->p + 72, word.p, 8);
	free(word.p);
}

/* The whole recording; the caller frees out->p. */
static inline void build(struct bytes *out, const struct build *f)
{
	*out = (struct bytes){ .big = f->big };
	if (f->pipe)
		build_pipe(out, f);
	else
		build_file(out, f);
}

/* Records of the kernel. */

static inline void put_mmap(struct bytes *b, uint16_t misc, uint64_t addr, uint64_t len, uint64_t pgoff,
			    const char *name)
{
	struct bytes body = { .big = b->big };

	put32(&body, (uint32_t)-1);
	put32(&body, 0);
	put64(&body, addr);
	put64(&body, len);
	put64(&body, pgoff);
	put_str(&body, name);
	put_record(b, 1, misc, &body);
	free(body.p);
}

static inline void put_mmap2(struct bytes *b, uint64_t addr, uint64_t len, const unsigned char *build_id,
			     const char *name)
{
	struct bytes body = { .big = b->big };

	put32(&body, (uint32_t)-1);
	put32(&body, 0);
	put64(&body, addr);
	put64(&body, len);
	put64(&body, addr);
	put(&body, "\024\0\0", 4);
	put(&body, build_id, 20);
	put64(&body, 0);
	put_str(&body, name);
	put_record(b, 10, 1 | 1 << 14, &body);
	free(body.p);
}

static inline void put_ksymbol(struct bytes *b, uint64_t addr, uint32_t len, uint16_t type, const char *name)
{
	struct bytes body = { .big = b->big };

	put64(&body, addr);
	put32(&body, len);
	put16(&body, type);
	put16(&body, 0);
	put_str(&body, name);
	put_record(b, 17, 0, &body);
	free(body.p);
}

static inline void put_words(struct bytes *b, uint32_t type, uint16_t misc, const uint64_t *words, size_t nr)
{
	struct bytes body = { .big = b->big };

	for (size_t i = 0; i < nr; i++)
		put64(&body, words[i]);
	put_record(b, type, misc, &body);
	free(body.p);
}

#endif
