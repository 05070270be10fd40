/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/tlb/replay.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/image/image.h"
#include "analyze/tlb/machine.h"
#include "collect/fetch/fetch.h"
#include "lib/error.h"
#include "lib/input.h"
#include "lib/mem.h"

/* PowerPC 40x and 8xx run exception handlers below this with translation off (collect/fetch/fetch.h). */
#define REAL_MODE_END 0x8000u

enum where { USER, KERNEL, REAL };

struct block {
	uint64_t addr;		/* as traced */
	uint32_t bytes;
	uint32_t unit;		/* INDEX_NONE: stays put */
	enum where where;
};

struct replay {
	const char *path;
	const struct image *img;
	const uint64_t *const *unit_addrs;
	uint32_t nr_layouts;
	const struct machine *const *machines;
	uint32_t nr_machines;

	struct fetch fetch;
	struct block *blocks;
	uint32_t nr_blocks, alloc_blocks;
	uint64_t *addrs;		/* [block * nr_layouts + layout] */
	uint32_t alloc_addrs;
	struct tlb **tlbs;		/* [(cpu * nr_layouts + layout) * nr_machines + machine], NULL: cpu not seen */
	struct replay_pages *pages;	/* NULL: misses are not told apart */
	uint64_t text_start, text_end;	/* kernel addresses outside are modules */
	uint32_t cpu;
	uint64_t kernel, placed;	/* blocks run: in the kernel, and in its units */
};

static uint32_t tlbs_a_cpu(const struct replay *r)
{
	return r->nr_layouts * r->nr_machines;
}

/* Text, and what lies between or beyond it in the image: everything from _text to the last unit's end. */
static void find_text(struct replay *r)
{
	const struct image *img = r->img;

	r->text_start = img->symtab.text_addr;
	r->text_end = img->text_end;
	for (uint32_t i = 0; i < img->nr_units; i++) {
		if (img->units[i].addr < r->text_start)
			r->text_start = img->units[i].addr;
		if (img->units[i].addr + img->units[i].size > r->text_end)
			r->text_end = img->units[i].addr + img->units[i].size;
	}
	/* A layout may make the text grow by alignment; nothing else is mapped so close. */
	for (uint32_t l = 0; l < r->nr_layouts; l++)
		for (uint32_t i = 0; r->unit_addrs[l] && i < img->nr_units; i++)
			if (r->unit_addrs[l][i] + img->units[i].size > r->text_end)
				r->text_end = r->unit_addrs[l][i] + img->units[i].size;
}

static void use_cpu(struct replay *r, uint32_t cpu)
{
	uint32_t nr = tlbs_a_cpu(r);

	r->cpu = cpu;
	for (uint32_t i = 0; i < nr; i++) {
		struct tlb **t = &r->tlbs[cpu * nr + i];

		if (*t)
			continue;
		*t = tlb_new(r->machines[i % r->nr_machines]);
		tlb_set_text(*t, r->text_start, r->text_end);
	}
}

/* Blocks are defined as the trace goes; map those that are new. */
static void map_blocks(struct replay *r)
{
	const struct fetch *f = &r->fetch;

	ALLOC_GROW(r->blocks, f->nr_blocks, r->alloc_blocks);
	ALLOC_GROW(r->addrs, (size_t)f->nr_blocks * r->nr_layouts, r->alloc_addrs);
	for (; r->nr_blocks < f->nr_blocks; r->nr_blocks++) {
		const struct fetch_block *fb = &f->blocks[r->nr_blocks];
		struct block *b = &r->blocks[r->nr_blocks];
		bool real = f->e_machine == EM_PPC && fb->addr < REAL_MODE_END;

		*b = (struct block){
			.addr = fb->addr, .bytes = fb->bytes, .unit = INDEX_NONE,
			.where = real ? REAL : fetch_is_kernel(f, fb->addr) ? KERNEL : USER,
		};
		if (b->where == KERNEL)
			b->unit = image_find_unit(r->img, b->addr);
		for (uint32_t l = 0; l < r->nr_layouts; l++) {
			const uint64_t *to = r->unit_addrs[l];
			uint64_t moved = to && b->unit != INDEX_NONE ? to[b->unit] - r->img->units[b->unit].addr : 0;

			r->addrs[(size_t)r->nr_blocks * r->nr_layouts + l] = b->addr + moved;
		}
	}
}

/* One page at a time, so that each miss has its page. */
static void fetch_pages(struct replay_pages *p, struct tlb *t, uint64_t addr, uint64_t bytes)
{
	for (uint64_t n; bytes; addr += n, bytes -= n) {
		uint64_t before = tlb_get_counts(t).kernel_misses, page = (addr - p->start) / p->page_bytes;

		n = p->page_bytes - (addr & (p->page_bytes - 1));
		n = n < bytes ? n : bytes;
		tlb_fetch(t, addr, (uint32_t)n, true);
		uint64_t missed = tlb_get_counts(t).kernel_misses - before;
		if (addr >= p->start && page < p->nr_pages)
			p->misses[page] += missed;
		else
			p->elsewhere += missed;
	}
}

static void run_block(struct replay *r, uint32_t number, uint32_t count)
{
	if (number >= r->nr_blocks)
		map_blocks(r);
	const struct block *b = &r->blocks[number];
	bool kernel = b->where == KERNEL;
	struct tlb **t = &r->tlbs[r->cpu * tlbs_a_cpu(r)];

	if (kernel) {
		r->kernel += count;
		r->placed += b->unit == INDEX_NONE ? 0 : count;
	}
	if (b->where == REAL)
		return;
	if (r->pages && kernel) {
		fetch_pages(r->pages, *t, b->addr, b->bytes);
		return;
	}
	/* A block's repeats find its pages in place: one fetch stands for them. */
	for (uint32_t l = 0; l < r->nr_layouts; l++) {
		uint64_t addr = r->addrs[(size_t)number * r->nr_layouts + l];

		for (uint32_t m = 0; m < r->nr_machines; m++)
			tlb_fetch(*t++, addr, b->bytes, kernel);
	}
}

static void switch_space(struct replay *r)
{
	for (uint32_t i = 0; i < tlbs_a_cpu(r); i++)
		tlb_switch(r->tlbs[r->cpu * tlbs_a_cpu(r) + i]);
}

static int read_events(struct replay *r)
{
	struct fetch_event ev;
	int ret;

	while ((ret = fetch_next(&r->fetch, &ev)) > 0) {
		if (ev.kind == FETCH_EV_RUN)
			run_block(r, ev.block, ev.count);
		else if (ev.kind == FETCH_EV_SWITCH)
			switch_space(r);
		else if (ev.kind == FETCH_EV_CPU && ev.block < r->fetch.nr_cpus)
			use_cpu(r, ev.block);
	}
	return ret;
}

static int check_kernel(const struct replay *r)
{
	const struct symtab *st = &r->img->symtab;
	const struct fetch *f = &r->fetch;
	char a[2 * BUILD_ID_MAX + 1], b[2 * BUILD_ID_MAX + 1];

	if (f->e_machine && st->e_machine && f->e_machine != st->e_machine)
		return error("trace '%s' is of another architecture than the kernel", r->path);
	if (!f->has_build_id || !st->build_id_size ||
	    !memcmp(f->build_id, st->build_id, st->build_id_size < sizeof(f->build_id) ? st->build_id_size : 20))
		return 0;
	return error("trace '%s' is of another kernel: build-id %s, not %s", r->path,
		     build_id_hex(f->build_id, st->build_id_size, a), build_id_hex(st->build_id, st->build_id_size, b));
}

static void sum_counts(const struct replay *r, struct tlb_counts *out)
{
	uint32_t nr = tlbs_a_cpu(r);

	memset(out, 0, nr * sizeof(*out));
	for (uint32_t i = 0; i < nr * r->fetch.nr_cpus; i++) {
		struct tlb_counts c, *o = &out[i % nr];

		if (!r->tlbs[i])
			continue;
		c = tlb_get_counts(r->tlbs[i]);
		o->kernel_fetches += c.kernel_fetches;
		o->user_fetches += c.user_fetches;
		o->kernel_misses += c.kernel_misses;
		o->user_misses += c.user_misses;
		o->l1i_kernel_misses += c.l1i_kernel_misses;
		o->l1i_user_misses += c.l1i_user_misses;
		o->data_misses += c.data_misses;
	}
}

static int replay(const char *path, const struct image *img, const uint64_t *const *unit_addrs,
		  uint32_t nr_layouts, const struct machine *const *m, uint32_t nr_m, struct replay_pages *pages, struct tlb_counts *out)
{
	struct replay r = {
		.path = path, .img = img, .unit_addrs = unit_addrs, .nr_layouts = nr_layouts,
		.machines = m, .nr_machines = nr_m, .pages = pages,
	};
	struct input *in = input_open(path);
	int ret = -1;

	if (!in)
		return -1;
	if (fetch_init(&r.fetch, in) < 0)
		goto out_input;
	if (check_kernel(&r) < 0)
		goto out;
	find_text(&r);
	r.tlbs = xcalloc((size_t)tlbs_a_cpu(&r) * (r.fetch.nr_cpus ? r.fetch.nr_cpus : 1), sizeof(struct tlb *));
	use_cpu(&r, 0);
	if (read_events(&r) < 0)
		goto out;
	if (2 * r.placed < r.kernel) {
		error("trace '%s' is of another kernel: %llu of %llu kernel blocks lie outside its text", path,
		      (unsigned long long)(r.kernel - r.placed), (unsigned long long)r.kernel);
		goto out;
	}
	sum_counts(&r, out);
	ret = 0;
out:
	for (uint32_t i = 0; r.tlbs && i < tlbs_a_cpu(&r) * r.fetch.nr_cpus; i++)
		tlb_free(r.tlbs[i]);
	free(r.tlbs);
	free(r.blocks);
	free(r.addrs);
	fetch_release(&r.fetch);
out_input:
	input_close(in);
	return ret;
}

int replay_layouts(const char *path, const struct image *img, const uint64_t *const *unit_addrs,
		   uint32_t nr_layouts, const struct machine *const *m, uint32_t nr_m, struct tlb_counts *out)
{
	return replay(path, img, unit_addrs, nr_layouts, m, nr_m, NULL, out);
}

int replay_page_misses(const char *path, const struct image *img, const struct machine *m,
		       struct replay_pages *pages)
{
	const uint64_t *as_linked = NULL;
	struct tlb_counts counts;

	return replay(path, img, &as_linked, 1, &m, 1, pages, &counts);
}

int replay_trace(const char *path, const struct image *img, const uint64_t *unit_addr,
		 const struct machine *const *m, uint32_t nr_m, struct tlb_counts *out)
{
	return replay_layouts(path, img, &unit_addr, 1, m, nr_m, out);
}
