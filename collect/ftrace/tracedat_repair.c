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
#include "tracedat_damage.h"
#include "tracedat_repair7.h"

/* trace-cmd.dat.v6(5) */
enum {
	MAX_HEAD = 64 << 20,	/* bytes before the pages: event formats, kallsyms */
	ENDIAN_OFF = 12,	/* behind magic and "6\0": 0 little, 1 big */
	PAGE_SIZE_OFF = 14,	/* u32 */
	MAX_CPUS = 4096,
};
static const char version_6[] = "\027\010\104tracing6", mark[] = "flyrecord";

struct head {
	unsigned char *bytes;
	size_t size;		/* of bytes */
	uint64_t file_size;
	bool big;
	uint64_t page, first, end;	/* where pages begin and are to end */
};

static uint64_t number(const struct head *h, size_t at, unsigned int size)
{
	uint64_t v = 0;

	for (unsigned int i = 0; i < size; i++)
		v = v << 8 | h->bytes[at + (h->big ? i : size - 1 - i)];
	return v;
}

static bool read_head(struct head *h, int fd)
{
	struct stat st;
	size_t got = 0;
	ssize_t n = 1;

	if (fstat(fd, &st) || st.st_size < PAGE_SIZE_OFF + 4)
		return false;
	h->file_size = (uint64_t)st.st_size;
	h->size = h->file_size < MAX_HEAD ? (size_t)h->file_size : (size_t)MAX_HEAD;
	h->bytes = xmalloc(h->size);
	while (got < h->size &&
	       (n = TEMP_FAILURE_RETRY(pread(fd, h->bytes + got, h->size - got, (off_t)got))) > 0)
		got += (size_t)n;
	if (got < h->size || memcmp(h->bytes, version_6, sizeof(version_6)) != 0)
		return false;
	h->big = h->bytes[ENDIAN_OFF];
	h->page = number(h, PAGE_SIZE_OFF, 4);
	return h->page >= 1024 && h->page <= 1 << 20 && !(h->page & (h->page - 1));
}

/* {u64 offset, u64 size} a CPU, in whole pages one behind the other, as long as they look like it. */
static bool read_table(struct head *h)
{
	unsigned char *at = memmem(h->bytes, h->size, mark, sizeof(mark));

	if (!at)
		return false;
	size_t pos = (size_t)(at - h->bytes) + sizeof(mark);
	for (uint32_t cpu = 0; cpu < MAX_CPUS && h->size - pos >= 16; cpu++, pos += 16) {
		uint64_t off = number(h, pos, 8), size = number(h, pos + 8, 8);

		if (off % h->page || size % h->page || off < pos || size > INT64_MAX / 2 || off > INT64_MAX / 2 ||
		    (cpu && off != h->end))
			break;
		if (!cpu)
			h->first = off;
		h->end = off + size;
	}
	return h->end && h->file_size < h->end && h->file_size > h->first;
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
	struct head h = { 0 };
	int ret = 0;

	if (read_head(&h, fd) && read_table(&h)) {
		uint64_t pages = (h.file_size - h.first) / h.page, all = (h.end - h.first) / h.page;
		FILE *fp = copy_head(fd, h.first + pages * h.page);

		*whole = finish_copy(fp, fp && !ftruncate(fileno(fp), (off_t)h.end), name);
		if (*whole < 0)
			ret = -1;
		else
			warn("'%s' is truncated: of its %llu pages of events the last %llu are lost", name,
			     (unsigned long long)all, (unsigned long long)(all - pages));
	}
	free(h.bytes);
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
