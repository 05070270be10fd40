/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tracedat_repair7.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/mem.h"
#include "tracedat7.h"

enum { MAX_CPUS = 4096 };

struct cpu {
	uint64_t off, size;
};

struct cut {
	struct tracedat7 t;
	uint64_t done_off;	/* of the number in DONE that leads past the cut, or to nothing */
	struct tracedat_section buffer;	/* the last */
	bool has_buffer;
	uint32_t nr_told;	/* buffers that whole options tell of */
	bool told;		/* the last one is among them */
	struct cpu *cpus;	/* of the last */
	uint32_t nr_cpus, alloc_cpus;
};

/* Sections stand one behind the other; the last buffer is the one that may be cut. */
static void find_buffer(struct cut *c)
{
	struct tracedat_section s;

	for (uint64_t at = c->t.first_section; tracedat7_section(&c->t, at, &s); at += TRACEDAT_SECTION_HEAD + s.size) {
		if (s.id == TRACEDAT_OPTIONS && s.size < TRACEDAT_OPTION_HEAD + 8)
			break;
		if (s.id == TRACEDAT_BUFFER) {
			c->buffer = s;
			c->has_buffer = true;
		}
		if (!tracedat7_is_whole(&c->t, &s))
			break;
	}
}

/* The options that stand at off: where they tell to go on, 0: nowhere. False when they are not whole. */
static bool read_options(struct cut *c, uint64_t off, uint64_t *next)
{
	struct tracedat_option o = { .off = off + TRACEDAT_SECTION_HEAD };
	struct tracedat_section s;
	uint64_t value;

	if (!tracedat7_options(&c->t, off, &s))
		return false;
	while (tracedat7_option(&c->t, off + TRACEDAT_SECTION_HEAD + s.size, &o)) {
		if ((o.id != TRACEDAT_OPTION_DONE && o.id != TRACEDAT_OPTION_BUFFER) || o.size < 8 ||
		    !tracedat7_number(&c->t, o.off, 8, &value))
			continue;
		if (o.id == TRACEDAT_OPTION_DONE) {
			*next = value;
			c->done_off = o.off;
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
	uint64_t at = c->t.first_options, next = 0;

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

static void patch(struct tracedat_mend *m, uint64_t off, uint64_t value, uint32_t size)
{
	m->patches[m->nr_patches++] = (struct tracedat_patch){ off, value, size };
}

/* CPUs that have no records are not there: numbers go to those that are, in order. */
static void find_packed(struct cut *c, uint64_t at, uint64_t end, struct tracedat_mend *m)
{
	while (c->nr_cpus < MAX_CPUS && at < end) {
		struct tracedat_chunks chunks;

		tracedat7_chunks(&c->t, at, end, NULL, &chunks);
		if (!chunks.whole)
			break;
		add_cpu(c, at, chunks.end - at - 4);
		m->keep = chunks.end;
		if (chunks.whole < chunks.nr) {
			patch(m, at, chunks.whole, 4);
			break;
		}
		at = (chunks.end + c->t.page - 1) / c->t.page * c->t.page;
	}
}

/* Pages begin with the time of their first record: a CPU's go up. */
static void find_plain(struct cut *c, uint64_t at, uint64_t end, struct tracedat_mend *m)
{
	uint64_t first = at, last = 0, time;

	for (; at < end && end - at >= c->t.page && tracedat7_number(&c->t, at, 8, &time); at += c->t.page, last = time) {
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
		(*p)[c->t.big ? size - 1 - i : i] = (unsigned char)(v >> 8 * i);
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
	size_t size = TRACEDAT_OPTION_HEAD + option + TRACEDAT_OPTION_HEAD + 8;
	unsigned char *p = m->tail = xcalloc(1, TRACEDAT_SECTION_HEAD + size);

	m->tail_size = TRACEDAT_SECTION_HEAD + size;
	put(c, &p, TRACEDAT_OPTIONS, 2);
	p += 2 + 4;
	put(c, &p, size, 8);
	put(c, &p, TRACEDAT_OPTION_BUFFER, 2);
	put(c, &p, option, 4);
	put(c, &p, c->buffer.off, 8);
	memcpy(p, name, strlen(name));
	p += strlen(name) + 1 + 1;	/* and no clock */
	put(c, &p, c->t.page, 4);
	put(c, &p, c->nr_cpus, 4);
	for (uint32_t i = 0; i < c->nr_cpus; i++) {
		put(c, &p, i, 4);
		put(c, &p, c->cpus[i].off, 8);
		put(c, &p, c->cpus[i].size, 8);
	}
	put(c, &p, TRACEDAT_OPTION_DONE, 2);
	put(c, &p, 8, 4);
}

/* What is whole of the last buffer, of which no options tell. */
static bool mend_buffer(struct cut *c, struct tracedat_mend *m)
{
	uint64_t head = c->buffer.off + TRACEDAT_SECTION_HEAD, end = c->t.size;
	uint64_t start = (head + c->t.page - 1) / c->t.page * c->t.page;

	if (tracedat7_is_whole(&c->t, &c->buffer))
		end = head + c->buffer.size;
	if (c->buffer.flags & TRACEDAT_COMPRESSED)
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
	struct cut c = { 0 };
	bool good = false;

	memset(m, 0, sizeof(*m));
	if (!tracedat7_init(&c.t, fd, size))
		return false;
	find_buffer(&c);
	if (!find_break(&c))
		return false;
	m->big = c.t.big;
	if (c.has_buffer && !c.told)
		good = mend_buffer(&c, m);
	if (!good && c.nr_told) {
		/* Those told of are all there is. */
		*m = (struct tracedat_mend){ .keep = size, .big = c.t.big };
		patch(m, c.done_off, 0, 8);
		good = true;
	}
	free(c.cpus);
	return good;
}
