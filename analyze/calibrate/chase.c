/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/calibrate/chase.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

#include "analyze/calibrate/knee.h"
#include "lib/mem.h"

enum { LINE = 64, RUNS = 9, TOUCHES = 100000 };

struct chain {
	unsigned char *map;	/* as mapped */
	size_t map_size;
	unsigned char *base;	/* aligned to the page size */
	uint32_t page_bytes, pages;
	uint32_t *order;	/* pages, shuffled */
};

bool chase_has_code(void)
{
#if defined(__x86_64__) || defined(__aarch64__)
	return true;
#else
	return false;
#endif
}

/* The line of a page: another cache set each, over the whole first 4 KB, then on the next. */
static unsigned char *line_of(const struct chain *c, uint32_t page)
{
	size_t off = (size_t)(page % 63) * LINE;

	if (c->page_bytes > 4096)
		off += (size_t)(page / 63 % 64) * 4096;
	return c->base + (size_t)page * c->page_bytes + off;
}

static void shuffle(struct chain *c)
{
	uint64_t r = 0x9e3779b97f4a7c15u;

	for (uint32_t i = 0; i < c->pages; i++)
		c->order[i] = i;
	for (uint32_t i = c->pages; i-- > 1;) {
		r ^= r << 13;
		r ^= r >> 7;
		r ^= r << 17;
		uint32_t k = (uint32_t)(r % (i + 1)), t = c->order[i];
		c->order[i] = c->order[k];
		c->order[k] = t;
	}
}

/* Whether the kernel backs the range with huge pages, at least in its better half. */
static bool is_huge(const struct chain *c)
{
	FILE *fp = fopen("/proc/self/smaps", "re");
	char line[512];
	unsigned long start, end, kb = 0, sum = 0;
	bool inside = false;

	while (fp && fgets(line, sizeof(line), fp)) {
		if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
			inside = start < (unsigned long)(c->map + c->map_size) && end > (unsigned long)c->map;
		else if (inside && sscanf(line, "AnonHugePages: %lu", &kb) == 1)
			sum += kb;
	}
	if (fp)
		fclose(fp);
	return (size_t)sum * 1024 >= (size_t)c->pages * c->page_bytes / 2;
}

static bool chain_init(struct chain *c, uint32_t page_bytes, uint32_t pages)
{
	size_t size = (size_t)page_bytes * (pages + 1);
	void *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED)
		return false;
	c->map = map;
	c->map_size = size;
	c->page_bytes = page_bytes;
	c->pages = pages;
	c->base = map;
	c->base += -(uintptr_t)map & (page_bytes - 1);
	c->order = xcalloc(pages, sizeof(*c->order));
	madvise(map, size, page_bytes > 4096 ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	for (uint32_t i = 0; i < pages; i++)
		*line_of(c, i) = 0;
	shuffle(c);
	return page_bytes == 4096 || is_huge(c);
}

static void chain_release(struct chain *c)
{
	if (c->map)
		munmap(c->map, c->map_size);
	free(c->order);
}

#if defined(__x86_64__)
static void put_jump(unsigned char *at, const unsigned char *to)
{
	int32_t rel = (int32_t)(to - (at + 5));

	at[0] = 0xe9;
	memcpy(at + 1, &rel, 4);
}

/* dec edi; jz +5; jmp first; ret */
static void put_end(unsigned char *at, const unsigned char *first)
{
	static const unsigned char count[] = { 0xff, 0xcf, 0x74, 0x05 };

	memcpy(at, count, sizeof(count));
	put_jump(at + 4, first);
	at[9] = 0xc3;
}
#elif defined(__aarch64__)
static void put_jump(unsigned char *at, const unsigned char *to)
{
	uint32_t insn = 0x14000000u | ((uint32_t)((to - at) / 4) & 0x3ffffff);

	memcpy(at, &insn, 4);
}

/* subs w0, w0, #1; b.eq +8; b first; ret */
static void put_end(unsigned char *at, const unsigned char *first)
{
	static const uint32_t count[] = { 0x71000400, 0x54000040 }, ret = 0xd65f03c0;

	memcpy(at, count, 8);
	put_jump(at + 8, first);
	memcpy(at + 12, &ret, 4);
}
#else
static void put_jump(unsigned char *at, const unsigned char *to) { (void)at, (void)to; }
static void put_end(unsigned char *at, const unsigned char *first) { (void)at, (void)first; }
#endif

static bool build_code(struct chain *c)
{
	unsigned char *first = line_of(c, c->order[0]);

	for (uint32_t i = 0; i + 1 < c->pages; i++)
		put_jump(line_of(c, c->order[i]), line_of(c, c->order[i + 1]));
	put_end(line_of(c, c->order[c->pages - 1]), first);
	__builtin___clear_cache((char *)c->map, (char *)c->map + c->map_size);
	return !mprotect(c->map, c->map_size, PROT_READ | PROT_EXEC);
}

static void build_data(struct chain *c)
{
	for (uint32_t i = 0; i < c->pages; i++) {
		void *next = line_of(c, c->order[i + 1 < c->pages ? i + 1 : 0]);

		memcpy(line_of(c, c->order[i]), &next, sizeof(next));
	}
}

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static double time_chain(const struct chain *c, enum chase_kind kind, int loops)
{
	double start = now_ns();

	if (kind == CHASE_CODE) {
		void (*run)(int);
		void *at = line_of(c, c->order[0]);

		memcpy(&run, &at, sizeof(run));
		run(loops);
	} else {
		void *volatile *p = (void *volatile *)line_of(c, c->order[0]);

		for (uint64_t n = (uint64_t)loops * c->pages; n; n--)
			p = *p;
		__asm__ volatile("" : : "r"(p));
	}
	return (now_ns() - start) / ((double)loops * c->pages);
}

bool chase_measure(enum chase_kind kind, uint32_t page_bytes, uint32_t pages, struct chase_point *out)
{
	struct chain c = { 0 };
	double ns[RUNS];
	bool ok = (kind != CHASE_CODE || chase_has_code()) && chain_init(&c, page_bytes, pages);

	if (ok && kind == CHASE_CODE)
		ok = build_code(&c);
	else if (ok)
		build_data(&c);
	if (ok) {
		int loops = (int)(TOUCHES / pages) + 1;

		time_chain(&c, kind, loops);
		for (uint32_t i = 0; i < RUNS; i++)
			ns[i] = time_chain(&c, kind, loops);
		double least = ns[0];
		for (uint32_t i = 1; i < RUNS; i++)
			least = ns[i] < least ? ns[i] : least;
		*out = (struct chase_point){ pages, least, least > 0 ? median_of(ns, RUNS) / least - 1 : 0 };
	}
	chain_release(&c);
	return ok;
}

#ifdef __x86_64__
/* AMD: leaves 80000005h (first level) and 80000006h (second); AMD64 architecture manual, volume 3. */
static uint32_t amd_entries(uint32_t page_bytes, uint32_t level)
{
	unsigned int a, b, c, d;

	if (!__get_cpuid(level ? 0x80000006 : 0x80000005, &a, &b, &c, &d))
		return 0;
	uint32_t word = page_bytes > 4096 ? a : b;
	return level ? word & 0xfff : word & 0xff;
}

/* Intel: leaf 18h, one TLB a subleaf; type 2 instructions, 3 both; SDM volume 2A. */
static uint32_t intel_entries(uint32_t page_bytes, uint32_t level)
{
	unsigned int a, b, c, d, last;

	if (!__get_cpuid_count(0x18, 0, &last, &b, &c, &d))
		return 0;
	for (unsigned int i = 0; i <= last && i < 64; i++) {
		__cpuid_count(0x18, i, a, b, c, d);
		uint32_t type = d & 31, of = (d >> 5 & 7) - 1;
		bool size = page_bytes > 4096 ? b & 2 : b & 1;

		if (size && of == level && (type == 2 || type == 3))
			return (b >> 16) * c;
	}
	return 0;
}
#endif

uint32_t chase_cpuid_entries(uint32_t page_bytes, uint32_t level)
{
#ifdef __x86_64__
	unsigned int a, b, c, d;

	if (!__get_cpuid(0, &a, &b, &c, &d))
		return 0;
	if (b == signature_AMD_ebx)
		return amd_entries(page_bytes, level);
	if (b == signature_INTEL_ebx)
		return intel_entries(page_bytes, level);
#else
	(void)page_bytes, (void)level;
#endif
	return 0;
}

double chase_clock_mhz(void)
{
	FILE *fp = fopen("/proc/cpuinfo", "re");
	char line[256];
	double mhz = 0;

	while (fp && !mhz && fgets(line, sizeof(line), fp))
		if (sscanf(line, "cpu MHz : %lf", &mhz) != 1)
			mhz = 0;
	if (fp)
		fclose(fp);
	return mhz;
}
