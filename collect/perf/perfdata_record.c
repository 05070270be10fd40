/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records and samples of perf.data. Sample fields come in the order of the kernel's perf_output_sample(). */
#include "perfdata.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include <zstd.h>

#include "lib/input.h"
#include "lib/mem.h"

enum {
	HEADER_SIZE = 8,		/* type u32, misc u16, size u16 */
	WINDOW = 1 << 17,		/* of the file: stays in the cache; a record is at most 64 KiB */
	PLAIN_WINDOW = 1 << 18,
	MAX_RECORD = 1 << 16,
	FIXED_MAX = 9 * 8,		/* of the fields that parse_fixed() knows */
};

/* attr.sample_type */
enum {
	SAMPLE_IP = 1 << 0, SAMPLE_TID = 1 << 1, SAMPLE_TIME = 1 << 2, SAMPLE_ADDR = 1 << 3, SAMPLE_READ = 1 << 4,
	SAMPLE_CALLCHAIN = 1 << 5, SAMPLE_ID = 1 << 6, SAMPLE_CPU = 1 << 7, SAMPLE_PERIOD = 1 << 8,
	SAMPLE_STREAM_ID = 1 << 9, SAMPLE_RAW = 1 << 10, SAMPLE_BRANCH_STACK = 1 << 11, SAMPLE_REGS_USER = 1 << 12,
	SAMPLE_STACK_USER = 1 << 13, SAMPLE_WEIGHT = 1 << 14, SAMPLE_DATA_SRC = 1 << 15,
	SAMPLE_IDENTIFIER = 1 << 16, SAMPLE_TRANSACTION = 1 << 17, SAMPLE_REGS_INTR = 1 << 18,
	SAMPLE_PHYS_ADDR = 1 << 19, SAMPLE_AUX = 1 << 20, SAMPLE_CGROUP = 1 << 21, SAMPLE_DATA_PAGE_SIZE = 1 << 22,
	SAMPLE_CODE_PAGE_SIZE = 1 << 23, SAMPLE_WEIGHT_STRUCT = 1 << 24,
};

/* Those of 8 bytes that come first. */
enum {
	FIXED_FIELDS = SAMPLE_IDENTIFIER | SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_ADDR | SAMPLE_ID |
		       SAMPLE_STREAM_ID | SAMPLE_CPU | SAMPLE_PERIOD,
};

/* attr.read_format */
enum { FORMAT_TIME_ENABLED = 1, FORMAT_TIME_RUNNING = 2, FORMAT_ID = 4, FORMAT_GROUP = 8, FORMAT_LOST = 16 };

/* attr.branch_sample_type */
enum {
	BRANCH_ANY = 1 << 3,
	BRANCH_TYPES = 0x3ff << 4,	/* ANY_CALL to CALL: without ANY, branches of these alone */
	BRANCH_HW_INDEX = 1 << 17,
	BRANCH_COUNTERS = 1 << 19,
};

enum { BRANCH_ENTRY = 24 };	/* from, to, flags */

enum { MISC_MMAP_BUILD_ID = 1 << 14 };

void perfdata_stream_init(struct perfdata_stream *s, int fd, struct input *in, uint64_t off, uint64_t end,
			  bool swap)
{
	memset(s, 0, sizeof(*s));
	s->fd = fd;
	s->in = in;
	s->off = off;
	s->end = end;
	s->swap = swap;
	s->buf = xmalloc(WINDOW);
}

void perfdata_stream_release(struct perfdata_stream *s)
{
	free(s->buf);
	free(s->plain);
	ZSTD_freeDCtx(s->dctx);
	memset(s, 0, sizeof(*s));
}

/* Append to the window; false at the end or on an error, which sets bad. */
static bool load_more(struct perfdata_stream *s)
{
	size_t room = WINDOW - s->fill;
	ssize_t n;

	if (s->in) {
		size_t avail;
		const void *p = input_peek(s->in, 1, &avail);

		if (avail > room)
			avail = room;
		memcpy(s->buf + s->fill, p, avail);
		input_skip(s->in, avail);
		if (input_failed(s->in))
			s->bad = "the stream is damaged";
		n = (ssize_t)avail;
	} else {
		if (room > s->end - s->off)
			room = (size_t)(s->end - s->off);
		do
			n = pread(s->fd, s->buf + s->fill, room, (off_t)s->off);
		while (n < 0 && errno == EINTR);
		if (n < 0)
			s->bad = strerror(errno);
	}
	if (n <= 0)
		return false;
	s->off += (uint64_t)n;
	s->fill += (size_t)n;
	return true;
}

/* Have want bytes at buf + pos; false when the data ends before. */
static bool need(struct perfdata_stream *s, size_t want)
{
	if (s->fill - s->pos >= want)
		return true;
	memmove(s->buf, s->buf + s->pos, s->fill - s->pos);
	s->fill -= s->pos;
	s->pos = 0;
	while (s->fill < want)
		if (!load_more(s))
			return false;
	return true;
}

/* Pass n bytes that need not fit the window. */
static bool pass(struct perfdata_stream *s, uint64_t n)
{
	while (n) {
		if (s->pos == s->fill && !need(s, 1))
			return false;
		size_t have = s->fill - s->pos;
		if (have > n)
			have = (size_t)n;
		s->pos += have;
		s->taken += have;
		n -= have;
	}
	return true;
}

static int fail(struct perfdata_stream *s, const char *why)
{
	if (!s->bad)
		s->bad = why;
	return -1;
}

/* Split header and body; 1, 0 when avail does not hold it whole, -1 on a size that cannot be. */
static int cut(struct perfdata_stream *s, const unsigned char *p, size_t avail, struct perfdata_record *rec)
{
	if (avail < HEADER_SIZE)
		return 0;
	uint16_t size = perfdata_u16(p + 6, s->swap);
	if (size < HEADER_SIZE)
		return fail(s, "a record is smaller than its header");
	if (avail < size)
		return 0;
	rec->type = perfdata_u32(p, s->swap);
	rec->misc = perfdata_u16(p + 4, s->swap);
	rec->body = p + HEADER_SIZE;
	rec->size = size - (size_t)HEADER_SIZE;
	return 1;
}

/* The next record as it stands in the file. */
static int next_raw(struct perfdata_stream *s, struct perfdata_record *rec)
{
	s->pos += s->skip;
	s->taken += s->skip;
	s->skip = 0;
	if (!need(s, HEADER_SIZE))
		return s->bad || s->fill != s->pos ? fail(s, "the last record is truncated") : 0;
	if (s->pipe && s->taken && perfdata_probe((const char *)s->buf + s->pos, HEADER_SIZE)) {
		s->followed = true;
		return 0;
	}
	int ret = cut(s, s->buf + s->pos, s->fill - s->pos, rec);
	if (!ret) {
		if (!need(s, perfdata_u16(s->buf + s->pos + 6, s->swap)))
			return fail(s, "the last record is truncated");
		ret = cut(s, s->buf + s->pos, s->fill - s->pos, rec);
	}
	if (ret > 0)
		s->skip = (uint32_t)(rec->size + HEADER_SIZE);
	return ret;
}

/* AUXTRACE and, in streams, TRACING_DATA records are followed by data that their size does not count. */
static int pass_payload(struct perfdata_stream *s, const struct perfdata_record *rec)
{
	uint64_t n = 0;

	if (rec->type == PERFDATA_AUXTRACE) {
		if (rec->size < 8)
			return fail(s, "an AUXTRACE record is too short");
		n = perfdata_u64(rec->body, s->swap);
	} else if (rec->type == PERFDATA_TRACING_DATA && s->pipe) {
		if (rec->size < 4)
			return fail(s, "a TRACING_DATA record is too short");
		n = ((uint64_t)perfdata_u32(rec->body, s->swap) + 7) & ~(uint64_t)7;
	}
	if (!n)
		return 0;
	uint64_t total = n + s->skip;
	s->skip = 0;
	return total >= n && pass(s, total) ? 0 : fail(s, "auxiliary data is truncated");
}

static int begin_compressed(struct perfdata_stream *s, const struct perfdata_record *rec)
{
	s->packed = rec->body;
	s->nr_packed = rec->size;
	if (rec->type == PERFDATA_COMPRESSED2) {
		if (rec->size < 8 || perfdata_u64(rec->body, s->swap) > rec->size - 8)
			return fail(s, "a compressed record claims more than it holds");
		s->packed += 8;
		s->nr_packed = (size_t)perfdata_u64(rec->body, s->swap);
	}
	if (!s->dctx) {
		s->dctx = input_decoder();
		s->plain = xmalloc(PLAIN_WINDOW);
	}
	return 0;
}

/* Decompress some more behind what is left in plain; all compressed records are one zstd stream. */
static int unpack(struct perfdata_stream *s)
{
	memmove(s->plain, s->plain + s->plain_pos, s->plain_fill - s->plain_pos);
	s->plain_fill -= s->plain_pos;
	s->plain_pos = 0;
	ZSTD_inBuffer ib = { s->packed, s->nr_packed, 0 };
	ZSTD_outBuffer ob = { s->plain, PLAIN_WINDOW, s->plain_fill };
	size_t ret = ZSTD_decompressStream(s->dctx, &ob, &ib);

	if (ZSTD_isError(ret))
		return fail(s, "a compressed record is damaged");
	/* Output that just filled the buffer may go on without further input. */
	bool more = ob.pos == ob.size && ob.pos > s->plain_fill;
	s->plain_fill = ob.pos;
	s->packed += ib.pos;
	s->nr_packed -= ib.pos;
	if (!s->nr_packed && !more)
		s->packed = NULL;
	return 0;
}

/* A sample that the window holds whole, as nearly all are: no more questions. */
static bool next_sample(struct perfdata_stream *s, struct perfdata_record *rec)
{
	size_t pos = s->pos + s->skip, left = s->fill - pos;
	const unsigned char *p = s->buf + pos;

	if (s->plain || s->swap || s->fill < pos || left < HEADER_SIZE || perfdata_u32(p, false) != PERFDATA_SAMPLE)
		return false;
	uint16_t size = perfdata_u16(p + 6, false);
	if (size < HEADER_SIZE || size > left)
		return false;
	*rec = (struct perfdata_record){ PERFDATA_SAMPLE, perfdata_u16(p + 4, false), p + HEADER_SIZE,
					 size - (size_t)HEADER_SIZE };
	s->pos = pos;
	s->taken += s->skip;
	s->skip = size;
	return true;
}

int perfdata_next(struct perfdata_stream *s, struct perfdata_record *rec)
{
	while (!next_sample(s, rec)) {
		int ret = 0;

		if (s->plain)
			ret = cut(s, s->plain + s->plain_pos, s->plain_fill - s->plain_pos, rec);
		if (ret < 0)
			return ret;
		if (ret > 0) {
			s->plain_pos += rec->size + HEADER_SIZE;
			if (rec->type == PERFDATA_COMPRESSED || rec->type == PERFDATA_COMPRESSED2)
				return fail(s, "a compressed record lies within another");
			return 1;
		}
		if (s->packed) {
			if (unpack(s) < 0)
				return -1;
			continue;
		}
		ret = next_raw(s, rec);
		if (!ret && s->plain_fill > s->plain_pos)
			return fail(s, "the last compressed record is truncated");
		if (ret <= 0)
			return ret;
		if (rec->type == PERFDATA_COMPRESSED || rec->type == PERFDATA_COMPRESSED2) {
			if (begin_compressed(s, rec) < 0)
				return -1;
			continue;
		}
		if (rec->type == PERFDATA_AUXTRACE || rec->type == PERFDATA_TRACING_DATA) {
			if (pass_payload(s, rec) < 0)
				return -1;
			continue;
		}
		return 1;
	}
	return 1;
}

/* Where in a sample the event id is, in u64 from the body's start; -1 when it has none. */
static int id_position(uint64_t sample_type)
{
	int pos = 0;

	if (sample_type & SAMPLE_IDENTIFIER)
		return 0;
	if (!(sample_type & SAMPLE_ID))
		return -1;
	for (uint64_t bit = SAMPLE_IP; bit <= SAMPLE_ADDR; bit <<= 1)
		pos += !!(sample_type & bit);
	return pos;
}

struct perfdata_attr *perfdata_sample_attr(struct perfdata *d, const struct perfdata_record *rec)
{
	if (d->nr_attrs == 1)
		return &d->attrs[0];
	if (!d->nr_attrs)
		return NULL;
	/* perf makes all events of a session agree on this position. */
	if (!d->last_attr)
		d->id_pos = id_position(d->attrs[0].sample_type);
	if (d->id_pos < 0)
		return &d->attrs[0];
	if (rec->size < ((size_t)d->id_pos + 1) * 8)
		return NULL;
	uint64_t id = perfdata_u64(rec->body + 8 * d->id_pos, d->swap);
	if (id != d->last_id || !d->last_attr) {
		struct perfdata_attr *a = perfdata_find_id(d, id);

		d->last_id = id;
		d->last_attr = a ? (uint32_t)(a - d->attrs) + 1 : 0;
	}
	return d->last_attr ? &d->attrs[d->last_attr - 1] : NULL;
}

struct perfdata_attr *perfdata_trailing_attr(struct perfdata *d, const struct perfdata_record *rec, size_t size)
{
	/* Of a sample's fields those that are there, in this order: TID, TIME, ID, STREAM_ID, CPU, IDENTIFIER. */
	const uint64_t behind = SAMPLE_STREAM_ID | SAMPLE_CPU | SAMPLE_IDENTIFIER,
		       all = SAMPLE_TID | SAMPLE_TIME | SAMPLE_ID | behind;
	uint64_t type = d->nr_attrs ? d->attrs[0].sample_type & all : 0;
	int back = type & SAMPLE_IDENTIFIER ? 1 : 1 + __builtin_popcountll(type & behind);

	if (!(type & (SAMPLE_IDENTIFIER | SAMPLE_ID)) || rec->size != size + 8 * (size_t)__builtin_popcountll(type))
		return NULL;
	return perfdata_find_id(d, perfdata_u64(rec->body + rec->size - 8 * back, d->swap));
}

/* A cursor over a record's body; short reads give 0 and set over. */
struct cursor {
	const unsigned char *p;
	size_t left;
	bool swap, over;
};

static const unsigned char *take(struct cursor *c, uint64_t n)
{
	const unsigned char *p = c->p;

	if (n > c->left) {
		c->over = true;
		c->left = 0;
		return p;
	}
	c->p += n;
	c->left -= (size_t)n;
	return p;
}

static uint64_t take_u64(struct cursor *c)
{
	const unsigned char *p = take(c, 8);

	return c->over ? 0 : perfdata_u64(p, c->swap);
}

static const unsigned char *take_array(struct cursor *c, uint64_t nr, uint64_t each)
{
	return take(c, nr > MAX_RECORD ? UINT64_MAX : nr * each);
}

static void take_read(struct cursor *c, uint64_t format)
{
	const uint64_t time_bits = FORMAT_TIME_ENABLED | FORMAT_TIME_RUNNING, tail_bits = FORMAT_ID | FORMAT_LOST;
	unsigned int times = (unsigned int)__builtin_popcountll(format & time_bits);
	unsigned int tail = (unsigned int)__builtin_popcountll(format & tail_bits);

	if (format & FORMAT_GROUP) {
		uint64_t nr = take_u64(c);

		take(c, 8ull * times);
		take_array(c, nr, 8ull * (1 + tail));
	} else {
		take(c, 8ull * (1 + times + tail));
	}
}

static void take_branches(struct cursor *c, const struct perfdata_attr *a, struct perfdata_sample *s)
{
	s->nr_branches = take_u64(c);
	s->some_branches = !(a->branch_sample_type & BRANCH_ANY) && a->branch_sample_type & BRANCH_TYPES;
	if (a->branch_sample_type & BRANCH_HW_INDEX)
		take_u64(c);
	s->branches = take_array(c, s->nr_branches, BRANCH_ENTRY);
	if (a->branch_sample_type & BRANCH_COUNTERS)
		take_array(c, s->nr_branches, 8);
}

static void take_regs(struct cursor *c, uint64_t mask)
{
	if (take_u64(c))	/* ABI: none when the other side was not sampled */
		take(c, 8 * (uint64_t)__builtin_popcountll(mask));
}

static void take_stack(struct cursor *c)
{
	uint64_t size = take_u64(c);

	if (size) {
		take(c, size);
		take_u64(c);
	}
}

static void take_tail(struct cursor *c, const struct perfdata_attr *a, struct perfdata_sample *s)
{
	uint64_t type = a->sample_type;

	if (!(type & ~(uint64_t)((SAMPLE_REGS_USER - 1) | SAMPLE_IDENTIFIER)))
		return;
	if (type & SAMPLE_REGS_USER)
		take_regs(c, a->regs_user);
	if (type & SAMPLE_STACK_USER)
		take_stack(c);
	if (type & (SAMPLE_WEIGHT | SAMPLE_WEIGHT_STRUCT))
		s->weight = take_u64(c);
	if (type & SAMPLE_DATA_SRC)
		s->data_src = take_u64(c);
	if (type & SAMPLE_TRANSACTION)
		s->transaction = take_u64(c);
	if (type & SAMPLE_REGS_INTR)
		take_regs(c, a->regs_intr);
	if (type & SAMPLE_PHYS_ADDR)
		s->phys_addr = take_u64(c);
	if (type & SAMPLE_CGROUP)
		s->cgroup = take_u64(c);
	if (type & SAMPLE_DATA_PAGE_SIZE)
		s->data_page_size = take_u64(c);
	if (type & SAMPLE_CODE_PAGE_SIZE)
		s->code_page_size = take_u64(c);
	if (type & SAMPLE_AUX)
		take(c, take_u64(c));
}

/*
 * The fields of 8 bytes that come first, in their order, and nothing of the others; p
 * holds all there can be. Returns what they take. Every member is set by itself: what
 * zeroes the whole at once takes as long as all the rest.
 */
static size_t parse_fixed(uint64_t type, const unsigned char *p, bool swap, struct perfdata_sample *s)
{
	const unsigned char *start = p;

	s->id = s->ip = s->time = s->addr = s->stream_id = s->period = 0;
	s->pid = s->tid = s->cpu = 0;
	s->chain = s->branches = NULL;
	s->nr_chain = s->nr_branches = 0;
	s->data_src = s->transaction = s->weight = s->phys_addr = s->cgroup = 0;
	s->data_page_size = s->code_page_size = 0;
	if (type & SAMPLE_IDENTIFIER)
		s->id = perfdata_u64(p, swap), p += 8;
	if (type & SAMPLE_IP)
		s->ip = perfdata_u64(p, swap), p += 8;
	if (type & SAMPLE_TID) {
		s->pid = perfdata_u32(p, swap);
		s->tid = perfdata_u32(p + 4, swap);
		p += 8;
	}
	if (type & SAMPLE_TIME)
		s->time = perfdata_u64(p, swap), p += 8;
	if (type & SAMPLE_ADDR)
		s->addr = perfdata_u64(p, swap), p += 8;
	if (type & SAMPLE_ID)
		s->id = perfdata_u64(p, swap), p += 8;
	if (type & SAMPLE_STREAM_ID)
		s->stream_id = perfdata_u64(p, swap), p += 8;
	if (type & SAMPLE_CPU)
		s->cpu = perfdata_u32(p, swap), p += 8;
	if (type & SAMPLE_PERIOD)
		s->period = perfdata_u64(p, swap), p += 8;
	return (size_t)(p - start);
}

/* Of perf record -g: a callchain behind the fixed fields, and nothing else. */
static bool take_only_chain(const unsigned char *p, size_t size, bool swap, struct perfdata_sample *s)
{
	if (size < 8)
		return false;
	s->nr_chain = perfdata_u64(p, swap);
	s->chain = p + 8;
	return s->nr_chain <= (size - 8) / 8;
}

/* The same of a record that may end within them. */
static size_t parse_fixed_short(uint64_t type, const struct perfdata_record *rec, bool swap, struct perfdata_sample *s)
{
	unsigned char padded[FIXED_MAX] = { 0 };

	memcpy(padded, rec->body, rec->size);
	return parse_fixed(type, padded, swap, s);
}

static bool take_others(struct cursor *c, const struct perfdata_attr *a, struct perfdata_sample *s)
{
	uint64_t type = a->sample_type;

	if (type & SAMPLE_READ)
		take_read(c, a->read_format);
	if (type & SAMPLE_CALLCHAIN) {
		s->nr_chain = take_u64(c);
		s->chain = take_array(c, s->nr_chain, 8);
	}
	if (type & SAMPLE_RAW) {
		const unsigned char *p = take(c, 4);

		take(c, c->over ? 0 : perfdata_u32(p, c->swap));
	}
	if (type & SAMPLE_BRANCH_STACK)
		take_branches(c, a, s);
	take_tail(c, a, s);
	return !c->over;
}

bool perfdata_sample_parse(const struct perfdata_attr *a, const struct perfdata_record *rec, bool swap,
			   struct perfdata_sample *s)
{
	uint64_t type = a->sample_type;

	size_t fixed = rec->size < FIXED_MAX ? parse_fixed_short(type, rec, swap, s)
					     : parse_fixed(type, rec->body, swap, s);
	if (fixed > rec->size)
		return false;
	if ((type & ~(uint64_t)FIXED_FIELDS) == SAMPLE_CALLCHAIN)
		return take_only_chain(rec->body + fixed, rec->size - fixed, swap, s);
	struct cursor c = { rec->body + fixed, rec->size - fixed, swap, false };
	return take_others(&c, a, s);
}

/* A string that must end within the record. */
static const char *take_name(struct cursor *c)
{
	return memchr(c->p, 0, c->left) ? (const char *)c->p : NULL;
}

bool perfdata_mmap_parse(const struct perfdata_record *rec, bool swap, struct perfdata_mmap *m)
{
	struct cursor c = { rec->body, rec->size, swap, false };
	const unsigned char *ids = take(&c, 8);

	memset(m, 0, sizeof(*m));
	m->addr = take_u64(&c);
	m->len = take_u64(&c);
	m->pgoff = take_u64(&c);
	if (rec->type == PERFDATA_MMAP2) {
		/* device and inode, or {u8 size, 3 bytes, 20 bytes of build-id}; then prot, flags */
		const unsigned char *id = take(&c, 24);

		take(&c, 8);
		if (!c.over && rec->misc & MISC_MMAP_BUILD_ID && id[0] <= 20) {
			m->build_id = id + 4;
			m->build_id_size = id[0];
		}
	}
	if (c.over)
		return false;
	m->pid = perfdata_u32(ids, swap);
	m->filename = take_name(&c);
	return m->filename;
}

bool perfdata_ksymbol_parse(const struct perfdata_record *rec, bool swap, struct perfdata_ksymbol *k)
{
	struct cursor c = { rec->body, rec->size, swap, false };

	k->addr = take_u64(&c);
	const unsigned char *p = take(&c, 8);
	if (c.over)
		return false;
	k->len = perfdata_u32(p, swap);
	k->ksym_type = perfdata_u16(p + 4, swap);
	k->flags = perfdata_u16(p + 6, swap);
	k->name = take_name(&c);
	return k->name;
}
