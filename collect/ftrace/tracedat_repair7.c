/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tracedat_repair7.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/mem.h"

/* trace-cmd.dat.v7(5) */
enum {
	ENDIAN_OFF = 12,	/* behind magic and "7\0" */
	PAGE_SIZE_OFF = 14,
	NAMES_OFF = 18,		/* name and version of the compression, each ended by 0; then u64: first options */
	MAX_NAMES = 256,
	SECTION_HEAD = 16,	/* u16 id, u16 flags, u32 string, u64 size */
	SECTION_OPTIONS = 0, SECTION_BUFFER = 3,
	SECTION_COMPRESSED = 1,	/* flag */
	OPTION_HEAD = 6,	/* u16 id, u32 size */
	OPTION_DONE = 0, OPTION_BUFFER = 3,
	MAX_CPUS = 4096,
};
static const char version_7[] = "\027\010\104tracing7";

struct section {
	uint64_t off, size;	/* of its head; without the head */
	uint32_t id, flags;
};

struct cpu {
	uint64_t off, size;
};

struct cut {
	int fd;
	uint64_t size;		/* of the file */
	bool big;
	uint64_t page, first_options, first_section;
	uint64_t done_off;	/* of the number in DONE that leads past the cut, or to nothing */
	struct section buffer;	/* the last */
	bool has_buffer;
	uint32_t nr_told;	/* buffers that whole options tell of */
	bool told;		/* the last one is among them */
	struct cpu *cpus;	/* of the last */
	uint32_t nr_cpus, alloc_cpus;
};

static uint64_t decode(const struct cut *c, const unsigned char *p, unsigned int size)
{
	uint64_t v = 0;

	for (unsigned int i = 0; i < size; i++)
		v = v << 8 | p[c->big ? i : size - 1 - i];
	return v;
}

static bool get(const struct cut *c, uint64_t off, void *buf, size_t n)
{
	return off <= c->size && n <= c->size - off &&
	       TEMP_FAILURE_RETRY(pread(c->fd, buf, n, (off_t)off)) == (ssize_t)n;
}

static bool number(const struct cut *c, uint64_t off, unsigned int size, uint64_t *v)
{
	unsigned char buf[8];

	if (!get(c, off, buf, size))
		return false;
	*v = decode(c, buf, size);
	return true;
}

static bool read_head(struct cut *c)
{
	unsigned char head[NAMES_OFF + MAX_NAMES] = { 0 };
	size_t have = c->size < sizeof(head) ? (size_t)c->size : sizeof(head), at = NAMES_OFF;

	if (have <= NAMES_OFF || !get(c, 0, head, have) || memcmp(head, version_7, sizeof(version_7)) != 0)
		return false;
	c->big = head[ENDIAN_OFF];
	c->page = decode(c, head + PAGE_SIZE_OFF, 4);
	for (int i = 0; i < 2 && at < have; i++)
		at += strnlen((char *)head + at, have - at) + 1;
	c->first_section = at + 8;
	return c->page >= 1024 && c->page <= 1 << 20 && !(c->page & (c->page - 1)) &&
	       number(c, at, 8, &c->first_options);
}

static bool read_section(const struct cut *c, uint64_t off, struct section *s)
{
	unsigned char head[SECTION_HEAD];

	if (!get(c, off, head, sizeof(head)))
		return false;
	s->off = off;
	s->id = (uint32_t)decode(c, head, 2);
	s->flags = (uint32_t)decode(c, head + 2, 2);
	s->size = decode(c, head + 8, 8);
	return true;
}

static bool is_whole(const struct cut *c, const struct section *s)
{
	return s->size <= c->size - s->off - SECTION_HEAD;
}

/* Sections stand one behind the other; the last buffer is the one that may be cut. */
static void find_buffer(struct cut *c)
{
	struct section s;

	for (uint64_t at = c->first_section; read_section(c, at, &s); at += SECTION_HEAD + s.size) {
		if (s.id == SECTION_OPTIONS && s.size < OPTION_HEAD + 8)
			break;
		if (s.id == SECTION_BUFFER) {
			c->buffer = s;
			c->has_buffer = true;
		}
		if (!is_whole(c, &s))
			break;
	}
}

/* The options that stand at off: where they tell to go on, 0: nowhere. False when they are not whole. */
static bool read_options(struct cut *c, uint64_t off, uint64_t *next)
{
	struct section s;
	uint64_t id, size, value;

	if (!read_section(c, off, &s) || s.id != SECTION_OPTIONS || s.flags & SECTION_COMPRESSED || !is_whole(c, &s))
		return false;
	uint64_t at = off + SECTION_HEAD, end = at + s.size;
	for (; end - at >= OPTION_HEAD; at += size) {
		if (!number(c, at, 2, &id) || !number(c, at + 2, 4, &size) || size > end - at - OPTION_HEAD)
			return false;
		at += OPTION_HEAD;
		if ((id != OPTION_DONE && id != OPTION_BUFFER) || size < 8 || !number(c, at, 8, &value))
			continue;
		if (id == OPTION_DONE) {
			*next = value;
			c->done_off = at;
			return true;
		}
		c->nr_told++;
		c->told |= value == c->buffer.off;
	}
	return false;
}

/* Follow the options to where they are cut; false when they are whole, or none is. */
static bool find_break(struct cut *c)
{
	uint64_t at = c->first_options, next = 0;

	for (uint64_t last = 0; at > last; at = next) {
		if (!read_options(c, at, &next))
			return last;
		last = at;
	}
	return false;
}

static void add_cpu(struct cut *c, uint64_t off, uint64_t size)
{
	if (!size)
		return;
	ALLOC_GROW(c->cpus, c->nr_cpus + 1, c->alloc_cpus);
	c->cpus[c->nr_cpus++] = (struct cpu){ off, size };
}

/*
 * One CPU's chunks from off: a count, then for each {u32 packed, u32 plain, bytes}.
 * Returns how many are whole, and where they end.
 */
static uint64_t walk_chunks(const struct cut *c, uint64_t off, uint64_t end, uint64_t *nr, uint64_t *to)
{
	uint64_t whole = 0, packed, plain;

	*to = off + 4;
	if (end - off < 4 || !number(c, off, 4, nr))
		return 0;
	for (; whole < *nr; whole++, *to += 8 + packed)
		if (!number(c, *to, 4, &packed) || !number(c, *to + 4, 4, &plain) || !packed || !plain ||
		    plain % c->page || packed + 8 > end - *to)
			break;
	return whole;
}

static void patch(struct tracedat_mend *m, uint64_t off, uint64_t value, uint32_t size)
{
	m->patches[m->nr_patches++] = (struct tracedat_patch){ off, value, size };
}

/* CPUs that have no records are not there: numbers go to those that are, in order. */
static void find_packed(struct cut *c, uint64_t at, uint64_t end, struct tracedat_mend *m)
{
	while (c->nr_cpus < MAX_CPUS && at < end) {
		uint64_t nr, to, whole = walk_chunks(c, at, end, &nr, &to);

		if (!whole)
			break;
		add_cpu(c, at, to - at);
		m->keep = to;
		if (whole < nr) {
			patch(m, at, whole, 4);
			break;
		}
		at = (to + c->page - 1) / c->page * c->page;
	}
}

/* Pages begin with the time of their first record: a CPU's go up. */
static void find_plain(struct cut *c, uint64_t at, uint64_t end, struct tracedat_mend *m)
{
	uint64_t first = at, last = 0, time;

	for (; at < end && end - at >= c->page && number(c, at, 8, &time); at += c->page, last = time) {
		if (time >= last)
			continue;
		if (c->nr_cpus + 1 >= MAX_CPUS)
			break;
		add_cpu(c, first, at - first);
		first = at;
	}
	add_cpu(c, first, at - first);
	m->keep = at;
}

static void put(const struct cut *c, unsigned char **p, uint64_t v, unsigned int size)
{
	for (unsigned int i = 0; i < size; i++)
		(*p)[c->big ? size - 1 - i : i] = (unsigned char)(v >> 8 * i);
	*p += size;
}

/* Options that tell of the buffer, and that nothing follows. */
static void write_tail(const struct cut *c, struct tracedat_mend *m)
{
	char name[32] = "";

	/* The first buffer is the top one, which has no name; that of another is lost. */
	if (c->nr_told)
		snprintf(name, sizeof(name), "buffer %u", c->nr_told);
	size_t option = 8 + strlen(name) + 1 + 1 + 4 + 4 + (size_t)c->nr_cpus * (4 + 8 + 8);
	size_t size = OPTION_HEAD + option + OPTION_HEAD + 8;
	unsigned char *p = m->tail = xcalloc(1, SECTION_HEAD + size);

	m->tail_size = SECTION_HEAD + size;
	put(c, &p, SECTION_OPTIONS, 2);
	p += 2 + 4;
	put(c, &p, size, 8);
	put(c, &p, OPTION_BUFFER, 2);
	put(c, &p, option, 4);
	put(c, &p, c->buffer.off, 8);
	memcpy(p, name, strlen(name));
	p += strlen(name) + 1 + 1;	/* and no clock */
	put(c, &p, c->page, 4);
	put(c, &p, c->nr_cpus, 4);
	for (uint32_t i = 0; i < c->nr_cpus; i++) {
		put(c, &p, i, 4);
		put(c, &p, c->cpus[i].off, 8);
		put(c, &p, c->cpus[i].size, 8);
	}
	put(c, &p, OPTION_DONE, 2);
	put(c, &p, 8, 4);
}

/* What is whole of the last buffer, of which no options tell. */
static bool mend_buffer(struct cut *c, struct tracedat_mend *m)
{
	uint64_t head = c->buffer.off + SECTION_HEAD, start = (head + c->page - 1) / c->page * c->page, end = c->size;

	if (is_whole(c, &c->buffer))
		end = head + c->buffer.size;
	if (c->buffer.flags & SECTION_COMPRESSED)
		find_packed(c, start, end, m);
	else
		find_plain(c, start, end, m);
	if (!c->nr_cpus)
		return false;
	m->used = m->keep - head;
	m->all = c->buffer.size;
	patch(m, c->buffer.off + 8, m->used, 8);
	patch(m, c->done_off, m->keep, 8);
	write_tail(c, m);
	return true;
}

bool tracedat_mend7(int fd, uint64_t size, struct tracedat_mend *m)
{
	struct cut c = { .fd = fd, .size = size };
	bool good = false;

	memset(m, 0, sizeof(*m));
	if (!read_head(&c))
		return false;
	find_buffer(&c);
	if (!find_break(&c))
		return false;
	m->big = c.big;
	if (c.has_buffer && !c.told)
		good = mend_buffer(&c, m);
	if (!good && c.nr_told) {
		/* Those told of are all there is. */
		*m = (struct tracedat_mend){ .keep = size, .big = c.big };
		patch(m, c.done_off, 0, 8);
		good = true;
	}
	free(c.cpus);
	return good;
}
