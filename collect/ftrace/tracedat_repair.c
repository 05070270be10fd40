/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tracedat_repair.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/error.h"
#include "lib/mem.h"
#include "tracedat7.h"
#include "tracedat_damage.h"
#include "tracedat_repair7.h"

/* trace-cmd.dat.v6(5) */
enum {
	MAX_HEAD = 64 << 20,	/* bytes before the pages: event formats, kallsyms */
	ENDIAN_OFF = 12,	/* behind magic and "6\0": 0 little, 1 big */
	PAGE_SIZE_OFF = 14,	/* u32 */
	MAX_CPUS = 4096,
	TRACEDAT_MAGIC = 10,	/* bytes, with "tracing", but without the version */
};
static const char version_6[] = "\027\010\104tracing6", mark[] = "flyrecord";

/* A file of version 6. */
struct pages {
	struct tracedat7 t;	/* but for options and sections, which that version has not */
	uint64_t first, end;	/* where the pages of a table begin and are to end */
};

static bool open6(struct pages *h, int fd)
{
	unsigned char head[PAGE_SIZE_OFF + 4];
	struct stat st;

	if (fstat(fd, &st))
		return false;
	*h = (struct pages){ .t = { .fd = fd, .size = (uint64_t)st.st_size } };
	if (!tracedat7_get(&h->t, 0, head, sizeof(head)) || memcmp(head, version_6, sizeof(version_6)) != 0)
		return false;
	h->t.big = head[ENDIAN_OFF];
	h->t.page = tracedat7_decode(&h->t, head + PAGE_SIZE_OFF, 4);
	return h->t.page >= 1024 && h->t.page <= 1 << 20 && !(h->t.page & (h->t.page - 1));
}

/* What is behind the next mark of a table; 0: none. */
static uint64_t find_table(const struct pages *h, uint64_t from)
{
	char buf[1 << 16];

	while (from < MAX_HEAD) {
		ssize_t n = TEMP_FAILURE_RETRY(pread(h->t.fd, buf, sizeof(buf), (off_t)from));
		char *at = n > 0 ? memmem(buf, (size_t)n, mark, sizeof(mark)) : NULL;

		if (at)
			return from + (uint64_t)(at - buf) + sizeof(mark);
		if (n < (ssize_t)sizeof(mark))
			break;
		from += (uint64_t)n - sizeof(mark) + 1;
	}
	return 0;
}

/* {u64 offset, u64 size} a CPU, in whole pages one behind the other, as long as they look like it. */
static bool read_table(struct pages *h, uint64_t pos)
{
	uint64_t off, size;

	h->first = h->end = 0;
	for (uint32_t cpu = 0; cpu < MAX_CPUS; cpu++, pos += 16) {
		if (!tracedat7_number(&h->t, pos, 8, &off) || !tracedat7_number(&h->t, pos + 8, 8, &size) ||
		    off % h->t.page || size % h->t.page || off < pos || size > INT64_MAX / 2 || off > INT64_MAX / 2 ||
		    (cpu && off != h->end))
			break;
		if (!cpu)
			h->first = off;
		h->end = off + size;
	}
	return h->end;
}

static bool copy(int from, FILE *to, uint64_t bytes)
{
	char buf[1 << 16];

	for (uint64_t at = 0; at < bytes;) {
		size_t want = bytes - at < sizeof(buf) ? (size_t)(bytes - at) : sizeof(buf);
		ssize_t n = TEMP_FAILURE_RETRY(pread(from, buf, want, (off_t)at));

		if (n <= 0 || fwrite(buf, 1, (size_t)n, to) != (size_t)n)
			return false;
		at += (uint64_t)n;
	}
	return !fflush(to);
}

/* The first bytes of the file in an unnamed one; NULL with errno. */
static FILE *copy_head(int fd, uint64_t bytes)
{
	FILE *fp = tmpfile();

	if (!fp || copy(fd, fp, bytes))
		return fp;
	int cause = errno;
	fclose(fp);
	errno = cause;
	return NULL;
}

/* The descriptor of a copy that is as it should be, at its begin; fp is closed. -1 after reporting why it is not. */
static int finish_copy(FILE *fp, bool good, const char *name)
{
	int fd = fp && good && !lseek(fileno(fp), 0, SEEK_SET) ? fcntl(fileno(fp), F_DUPFD_CLOEXEC, 3) : -1;

	if (fd < 0)
		error("cannot copy '%s' to a temporary file: %s", name, strerror(errno));
	if (fp)
		fclose(fp);
	return fd;
}

static int repair6(int fd, const char *name, int *whole)
{
	struct pages h;
	int ret = 0;

	if (open6(&h, fd) && read_table(&h, find_table(&h, 0)) && h.t.size < h.end && h.t.size > h.first) {
		uint64_t pages = (h.t.size - h.first) / h.t.page, all = (h.end - h.first) / h.t.page;
		FILE *fp = copy_head(fd, h.first + pages * h.t.page);

		*whole = finish_copy(fp, fp && !ftruncate(fileno(fp), (off_t)h.end), name);
		if (*whole < 0)
			ret = -1;
		else
			warn("'%s' is truncated: of its %llu pages of events the last %llu are lost", name,
			     (unsigned long long)all, (unsigned long long)(all - pages));
	}
	return ret;
}

static bool write_patches(int fd, const struct tracedat_patch *p, uint32_t nr, bool big)
{
	for (; nr; nr--, p++) {
		unsigned char bytes[8];

		for (uint32_t k = 0; k < p->size; k++)
			bytes[big ? p->size - 1 - k : k] = (unsigned char)(p->value >> 8 * k);
		if (pwrite(fd, bytes, p->size, (off_t)p->off) != (ssize_t)p->size)
			return false;
	}
	return true;
}

static bool write_mend(FILE *whole, const struct tracedat_mend *m)
{
	return write_patches(fileno(whole), m->patches, m->nr_patches, m->big) &&
	       (!m->tail ||
		pwrite(fileno(whole), m->tail, m->tail_size, (off_t)m->keep) == (ssize_t)m->tail_size);
}

static void tell_loss(const struct tracedat_mend *m, const char *name)
{
	if (!m->tail)
		warn("'%s' is truncated: what stood behind its first buffers is lost", name);
	else if (m->all > m->used)
		warn("'%s' is truncated: of the %llu bytes of its last buffer the last %llu are lost", name,
		     (unsigned long long)m->all, (unsigned long long)(m->all - m->used));
	else
		warn("'%s' is truncated: what stood behind the first %llu bytes of its last buffer is lost", name,
		     (unsigned long long)m->used);
}

static int repair7(int fd, const char *name, int *whole)
{
	struct tracedat_mend m;
	struct stat st;

	if (fstat(fd, &st) || !tracedat_mend7(fd, (uint64_t)st.st_size, &m))
		return 0;
	FILE *fp = copy_head(fd, m.keep);
	*whole = finish_copy(fp, fp && write_mend(fp, &m), name);
	if (*whole >= 0)
		tell_loss(&m, name);
	free(m.tail);
	return *whole < 0 ? -1 : 0;
}

/* Of a file, or of a copy that was made already, take out what does not decode. */
static int repair_chunks(int fd, const char *name, int *whole)
{
	int from = *whole < 0 ? fd : *whole, ret = 0;
	struct tracedat_damage d;
	struct stat st;

	if (tracedat_damage_find(&d, from, true) && d.nr_patches) {
		FILE *fp = fstat(from, &st) ? NULL : copy_head(from, (uint64_t)st.st_size);
		int mended = finish_copy(fp, fp && write_patches(fileno(fp), d.patches, d.nr_patches, d.big), name);

		if (*whole >= 0)
			close(*whole);
		*whole = mended;
		ret = mended < 0 ? -1 : 0;
		if (!ret)
			warn("'%s' is damaged: of the %llu bytes of its events %llu are lost", name, (unsigned long long)d.all,
			     (unsigned long long)d.lost);
	}
	tracedat_damage_release(&d);
	return ret;
}

int tracedat_repair(int fd, const char *name, int *whole)
{
	*whole = -1;
	if (repair6(fd, name, whole) || (*whole < 0 && repair7(fd, name, whole)))
		return -1;
	return repair_chunks(fd, name, whole);
}

static bool begins_with(const struct tracedat7 *t, uint64_t off, const char *what, size_t n)
{
	char buf[16];

	return tracedat7_get(t, off, buf, n) && !memcmp(buf, what, n);
}

/* Each further buffer has a table behind the pages of the one before; without pages they stand together. */
static uint64_t find_end6(struct pages *h)
{
	enum { MAX_STRAYS = 64 };	/* marks that no table follows: each costs a read */
	uint64_t end = 0, pos = find_table(h, 0);

	for (int strays = 0; pos;)
		if (!read_table(h, pos)) {
			pos = end || ++strays > MAX_STRAYS ? 0 : find_table(h, pos);
		} else {
			end = h->end;
			pos = begins_with(&h->t, end, mark, sizeof(mark)) ? end + sizeof(mark) : 0;
		}
	return end;
}

/* Sections stand one behind the other, to the end. */
static uint64_t find_end7(const struct tracedat7 *t)
{
	enum { MAX_SECTIONS = 1 << 16 };
	uint64_t at = t->first_section;
	struct tracedat_section s;

	for (int i = 0; i < MAX_SECTIONS && !begins_with(t, at, version_6, TRACEDAT_MAGIC); i++) {
		if (!tracedat7_section(t, at, &s) || !tracedat7_is_whole(t, &s))
			return 0;
		at += TRACEDAT_SECTION_HEAD + s.size;
	}
	return at;
}

bool tracedat_is_followed(int fd)
{
	struct pages h;
	struct stat st;
	uint64_t end = 0;

	if (open6(&h, fd))
		end = find_end6(&h);
	else if (!fstat(fd, &st) && tracedat7_init(&h.t, fd, (uint64_t)st.st_size))
		end = find_end7(&h.t);
	return end && begins_with(&h.t, end, version_6, TRACEDAT_MAGIC);
}
