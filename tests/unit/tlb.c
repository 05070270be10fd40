/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The TLB simulator against a reference that does everything the slow, obvious way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/tlb/machine.h"
#include "analyze/tlb/tlb.h"
#include "collect/qemu/sim.h"

enum { KIND_USER, KIND_TEXT, KIND_DATA, KIND_MODULE, KIND_EDGE };

struct entry {
	bool valid;
	int kind;
	uint64_t page, space;
	uint64_t used, came;	/* clock ticks */
};

struct ref_level {
	struct entry e[256];
	uint32_t entries, ways;
	enum tlb_policy policy;
	uint32_t turn[256];		/* [set] */
	bool tree[256][64];		/* [set][node], plru */
	uint64_t random;
};

struct ref {
	const struct machine *m;
	struct ref_level level[MACHINE_MAX_LEVELS], large[MACHINE_MAX_LEVELS];
	uint64_t clock, space;
	struct tlb_counts counts;
	bool have_last, in_kernel;
	int last_kind;
	uint64_t last_page;
	uint64_t bytes;
	uint64_t text_start, text_end;
};

static struct ref *ref_new(const struct machine *m)
{
	struct ref *r = calloc(1, sizeof(*r));

	r->m = m;
	r->text_end = UINT64_MAX;
	for (uint32_t i = 0; i < m->nr_levels; i++) {
		const struct tlb_level *l = &m->levels[i];
		struct ref_level *v = &r->level[i];

		v->entries = l->entries - l->locked;
		v->ways = l->ways == l->entries ? v->entries : l->ways;
		v->policy = l->policy;
		v->random = 0x9e3779b97f4a7c15u + i;
		r->large[i] = (struct ref_level){ .entries = l->large_entries, .ways = l->large_ways, .policy = l->policy,
						  .random = v->random };
	}
	return r;
}

static struct entry *ref_find(struct ref_level *v, uint32_t set, const struct entry *want)
{
	for (uint32_t w = 0; w < v->ways; w++) {
		struct entry *e = &v->e[set * v->ways + w];

		if (e->valid && e->kind == want->kind && e->page == want->page &&
		    (e->kind != KIND_USER || e->space == want->space))
			return e;
	}
	return NULL;
}

/* The path from the root to a leaf, as bits of the way from the top; each node then points the other way. */
static void ref_tree_touch(struct ref_level *v, uint32_t set, uint32_t way)
{
	uint32_t lo = 0, hi = v->policy == TLB_PLRU ? v->ways : 0, node = 1;

	while (hi - lo > 1 && hi) {
		uint32_t mid = (lo + hi) / 2;
		bool right = way >= mid;

		v->tree[set][node] = !right;
		node = 2 * node + right;
		if (right)
			lo = mid;
		else
			hi = mid;
	}
}

static uint32_t ref_tree_victim(const struct ref_level *v, uint32_t set)
{
	uint32_t lo = 0, hi = v->ways, node = 1;

	while (hi - lo > 1) {
		bool right = v->tree[set][node];

		node = 2 * node + right;
		if (right)
			lo = (lo + hi) / 2;
		else
			hi = (lo + hi) / 2;
	}
	return lo;
}

static uint32_t ref_victim(struct ref_level *v, uint32_t set)
{
	uint32_t best = 0;

	if (v->policy == TLB_ROUND_ROBIN) {
		best = v->turn[set];
		v->turn[set] = (best + 1) % v->ways;
		return best;
	}
	for (uint32_t w = 0; w < v->ways; w++)
		if (!v->e[set * v->ways + w].valid)
			return w;
	if (v->policy == TLB_PLRU)
		return ref_tree_victim(v, set);
	if (v->policy == TLB_RANDOM) {
		v->random ^= v->random << 13;
		v->random ^= v->random >> 7;
		v->random ^= v->random << 17;
		return (uint32_t)(v->random % v->ways);
	}
	for (uint32_t w = 1; w < v->ways; w++) {
		const struct entry *a = &v->e[set * v->ways + w], *b = &v->e[set * v->ways + best];

		if (v->policy == TLB_LRU ? a->used < b->used : a->came < b->came)
			best = w;
	}
	return best;
}

static void ref_fill(struct ref *r, struct ref_level *v, uint32_t set, struct entry e)
{
	uint32_t way = ref_victim(v, set);

	e.valid = true;
	e.used = e.came = ++r->clock;
	v->e[set * v->ways + way] = e;
	ref_tree_touch(v, set, way);
}

static uint32_t page_of(const struct ref *r, uint32_t level, int kind)
{
	uint32_t page = kind == KIND_USER ? r->m->user_page : kind == KIND_TEXT ? r->m->text_page :
			kind == KIND_MODULE ? r->m->module_page : kind == KIND_EDGE ? r->m->edge_page : 4096;
	uint32_t cap = r->m->levels[level].max_page;

	return cap && cap < page ? cap : page;
}

/* Where pages of that kind live: an array of their own for large ones, if the level has it. */
static struct ref_level *ref_array(struct ref *r, uint32_t n, int kind)
{
	return page_of(r, n, kind) > 4096 && r->large[n].entries ? &r->large[n] : &r->level[n];
}

static bool ref_touch(struct ref *r, uint64_t addr, int kind)
{
	uint32_t n;
	bool hit = false;

	for (n = 0; n < r->m->nr_levels; n++) {
		struct ref_level *v = ref_array(r, n, kind);
		struct entry want = { .kind = kind, .page = addr / page_of(r, n, kind), .space = r->space };
		uint32_t set = (uint32_t)(want.page % (v->entries / v->ways));
		struct entry *e = ref_find(v, set, &want);

		if (e) {
			e->used = ++r->clock;
			ref_tree_touch(v, set, (uint32_t)(e - &v->e[set * v->ways]));
			hit = true;
			break;
		}
	}
	while (n--) {
		struct ref_level *v = ref_array(r, n, kind);
		struct entry want = { .kind = kind, .page = addr / page_of(r, n, kind), .space = r->space };

		ref_fill(r, v, (uint32_t)(want.page % (v->entries / v->ways)), want);
	}
	return hit;
}

static void ref_data(struct ref *r, uint64_t page)
{
	bool missed = false;

	for (uint32_t n = 0; n < r->m->nr_levels; n++) {
		struct ref_level *v = &r->level[n];
		struct entry want = { .kind = KIND_DATA, .page = page };
		uint32_t set = (uint32_t)(page % (v->entries / v->ways));

		if (!r->m->levels[n].unified)
			continue;
		struct entry *e = ref_find(v, set, &want);
		missed = !e;
		if (e) {
			e->used = ++r->clock;
			ref_tree_touch(v, set, (uint32_t)(e - &v->e[set * v->ways]));
		} else {
			ref_fill(r, v, set, want);
		}
	}
	r->counts.data_misses += missed;
}

/* Recurring pages before new ones where both are due in one fetch. */
static void ref_advance(struct ref *r, uint32_t len)
{
	uint64_t before = r->bytes;

	r->bytes += len;
	if (r->m->data_every && r->m->data_set)
		for (uint64_t k = before / r->m->data_every; k < r->bytes / r->m->data_every; k++)
			ref_data(r, k % r->m->data_set);
	if (r->m->data_new)
		for (uint64_t k = before / r->m->data_new; k < r->bytes / r->m->data_new; k++)
			ref_data(r, (1 << 20) + k);
}

static void ref_flush(struct ref *r, bool user, bool kernel)
{
	r->have_last = false;
	for (uint32_t n = 0; n < 2 * r->m->nr_levels; n++) {
		struct ref_level *v = n % 2 ? &r->large[n / 2] : &r->level[n / 2];

		for (uint32_t i = 0; i < v->entries; i++)
			if (v->e[i].kind == KIND_USER ? user : kernel)
				v->e[i].valid = false;
	}
}

static void ref_fetch(struct ref *r, uint64_t addr, uint32_t len, bool kernel)
{
	bool text = addr >= r->text_start && addr < r->text_end;
	bool edge = r->m->edge_page && (addr < r->m->blocks_start || addr >= r->m->blocks_end);
	int kind = !kernel ? KIND_USER : !text ? KIND_MODULE : edge ? KIND_EDGE : KIND_TEXT;

	if (r->m->flush_on_mode && kernel != r->in_kernel) {
		r->in_kernel = kernel;
		ref_flush(r, true, true);
	}
	uint32_t size = page_of(r, 0, kind);

	ref_advance(r, len);
	if ((kind == KIND_TEXT || kind == KIND_EDGE) && r->m->pinned_text)
		return;
	for (uint64_t p = addr / size; p <= (addr + len - 1) / size; p++) {
		if (r->have_last && r->last_kind == kind && r->last_page == p)
			continue;
		r->have_last = true;
		r->last_kind = kind;
		r->last_page = p;
		bool hit = ref_touch(r, p * size < addr ? addr : p * size, kind);
		if (kernel) {
			r->counts.kernel_fetches++;
			r->counts.kernel_misses += !hit;
		} else {
			r->counts.user_fetches++;
			r->counts.user_misses += !hit;
		}
	}
}

static void ref_switch(struct ref *r)
{
	r->space++;
	ref_flush(r, r->m->flush_global || r->m->flush_on_switch, r->m->flush_global);
}

static uint64_t seed;
static uint32_t rnd(uint32_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % below;
}

static struct machine random_machine(enum tlb_policy policy)
{
	static const uint32_t entries[] = { 1, 2, 4, 8, 16, 32, 64 };
	struct machine m = { .text_page = 4096, .user_page = 4096, .module_page = 4096 };

	m.nr_levels = 1 + rnd(MACHINE_MAX_LEVELS);
	for (uint32_t i = 0; i < m.nr_levels; i++) {
		struct tlb_level *l = &m.levels[i];

		l->entries = entries[rnd(policy == TLB_PLRU ? 6 : 7)] << i;
		l->ways = l->entries >> rnd(4);
		l->ways = l->ways ? l->ways : 1;
		if (policy == TLB_PLRU && l->ways > 32)
			l->ways = 32;
		l->policy = policy;
		l->unified = rnd(2);
		if (l->ways == l->entries && l->ways > 4 && policy != TLB_PLRU)
			l->locked = rnd(4);
		if (!rnd(3))
			l->max_page = 4096 << 2 * rnd(2);
		if (!rnd(3)) {
			l->large_entries = 1u << rnd(4);
			l->large_ways = l->large_entries >> rnd(2);
			l->large_ways = l->large_ways ? l->large_ways : 1;
		}
	}
	if (!rnd(3))
		m.text_page = 65536;
	if (m.text_page > 4096 && rnd(2)) {
		m.edge_page = 4096 << 2 * rnd(2);
		machine_map_text(&m, 0xc0000000 + 4096 * rnd(40), 0xc0000000 + 4096 * rnd(200));
	}
	if (!rnd(4))
		m.user_page = 16384;
	m.flush_on_switch = rnd(2);
	m.flush_global = !rnd(4);
	m.flush_on_mode = !rnd(5);
	m.data_every = rnd(2) ? 0 : 64 + rnd(4000);
	m.data_set = rnd(40);
	m.data_new = rnd(2) ? 0 : 100 + rnd(9000);
	return m;
}

/* Walks that stay on a page, jump within a working set, and sometimes leave it. */
static void run_trace(const struct machine *m, uint32_t events)
{
	struct tlb *t = tlb_new(m);
	struct ref *r = ref_new(m);
	uint32_t set = 2 + rnd(3 * m->levels[m->nr_levels - 1].entries);
	uint64_t addr = 0xc0000000;

	if (rnd(2)) {
		r->text_start = 0xc0000000;
		r->text_end = 0xc0000000 + 4096 * (uint64_t)(set / 2);
		tlb_set_text(t, r->text_start, r->text_end);
	}
	for (uint32_t i = 0; i < events; i++) {
		bool kernel = rnd(4);
		uint32_t len = 1 + rnd(300);

		if (rnd(3))
			addr = 4096 * (uint64_t)rnd(rnd(20) ? set : 20 * set) + rnd(4096) + (kernel ? 0xc0000000 : 0);
		else
			kernel = addr >= 0xc0000000;
		if (!rnd(60)) {
			tlb_switch(t);
			ref_switch(r);
		}
		tlb_fetch(t, addr, len, kernel);
		/* What begins before a border of the whole pages and ends behind it counts on both sides. */
		uint64_t border = addr < m->blocks_start ? m->blocks_start : m->blocks_end;
		uint32_t before = kernel && m->edge_page && addr < border && border - addr < len ? (uint32_t)(border - addr) : 0;
		if (before)
			ref_fetch(r, addr, before, kernel);
		ref_fetch(r, addr + before, len - before, kernel);
	}
	struct tlb_counts a = tlb_get_counts(t);
	assert_memory_equal(&a, &r->counts, sizeof(a));
	tlb_free(t);
	free(r);
}

static void against_reference(void **state)
{
	enum tlb_policy policy = (enum tlb_policy)(uintptr_t)*state;

	seed = 1 + (uint64_t)policy;
	for (uint32_t i = 0; i < 1000; i++) {
		struct machine m = random_machine(policy);

		run_trace(&m, 300 + rnd(300));
	}
}

/* The machine that the plugin's simulator is, where it can be one. */
static struct machine machine_like(const struct sim_spec *spec)
{
	static const enum tlb_policy policies[] = { [SIM_LRU] = TLB_LRU, [SIM_FIFO] = TLB_FIFO, [SIM_RR] = TLB_ROUND_ROBIN };
	struct machine m = {
		.nr_levels = 1, .text_page = 1u << spec->kernel_shift, .module_page = 1u << spec->kernel_shift,
		.user_page = spec->user_apart ? 4096 : 1u << spec->user_shift,
		.flush_on_switch = spec->flush == SIM_FLUSH_USER, .flush_global = spec->flush == SIM_FLUSH_ALL,
		.levels = { { .entries = spec->entries, .ways = spec->ways, .policy = policies[spec->policy] } },
	};

	if (spec->user_apart) {
		m.levels[0].large_entries = spec->entries;
		m.levels[0].large_ways = spec->ways;
	}
	return m;
}

/* What is predicted by replay and what the plugin counts in the guest are one and the same machine. */
static void plugin_counts_alike(void **state)
{
	static const char *const specs[] = { "16", "32", "64x8", "128x8", "64:rr", "8:2M:user=apart", "32:16K", "8x2:fifo",
					     "32:4K:flush=user", "4:64K/4K:rr:flush=all", "2:1K" };

	(void)state;
	seed = 42;
	for (uint32_t round = 0; round < 20 * sizeof(specs) / sizeof(*specs); round++) {
		struct sim_spec spec;
		struct sim sim;

		assert_true(sim_parse(&spec, specs[round % (sizeof(specs) / sizeof(*specs))]));
		assert_true(sim_init(&sim, &spec));
		struct machine m = machine_like(&spec);
		struct tlb *t = tlb_new(&m);
		uint32_t set = 2 + rnd(3 * spec.entries) * (1u << spec.kernel_shift) / 4096;
		for (uint32_t i = 0; i < 2000; i++) {
			bool kernel = rnd(4);
			uint32_t len = 1 + rnd(64);
			uint64_t addr = 4096 * (uint64_t)rnd(set) + rnd(4096) + (kernel ? 0xc0000000 : 0);

			if (!rnd(60)) {
				tlb_switch(t);
				sim_switch(&sim);
			}
			tlb_fetch(t, addr, len, kernel);
			sim_touch(&sim, addr, addr + len - 1, kernel);
		}
		assert_int_equal(tlb_get_counts(t).kernel_misses, sim.counts.misses[1]);
		if (!spec.user_apart)
			assert_int_equal(tlb_get_counts(t).user_misses, sim.counts.misses[0]);
		sim_release(&sim);
		tlb_free(t);
	}
}

static struct tlb_counts run_pages(const struct machine *m, const char *pages)
{
	struct tlb *t = tlb_new(m);

	for (; *pages; pages++)
		tlb_fetch(t, (uint64_t)(*pages - 'a') << 12, 4, true);
	struct tlb_counts c = tlb_get_counts(t);
	tlb_free(t);
	return c;
}

static void small_cases(void **state)
{
	(void)state;
	struct machine m = { .text_page = 4096, .user_page = 4096, .nr_levels = 1,
			     .levels = { { .entries = 2, .ways = 2 } } };

	/* The textbook case: three pages in turn never hit two LRU entries; b stays when a comes back first. */
	assert_int_equal(run_pages(&m, "abcabc").kernel_misses, 6);
	assert_int_equal(run_pages(&m, "abacab").kernel_misses, 4);
	assert_int_equal(run_pages(&m, "aaab").kernel_fetches, 2);
	m.levels[0].policy = TLB_FIFO;
	assert_int_equal(run_pages(&m, "abacab").kernel_misses, 5);
	m.pinned_text = true;
	assert_int_equal(run_pages(&m, "abcabc").kernel_misses, 0);
}

/* A block that runs over a page's end costs both pages. */
static void straddling(void **state)
{
	(void)state;
	struct machine m = { .text_page = 4096, .user_page = 4096, .nr_levels = 1,
			     .levels = { { .entries = 4, .ways = 4 } } };
	struct tlb *t = tlb_new(&m);

	tlb_fetch(t, 0xffe, 4, true);
	assert_int_equal(tlb_get_counts(t).kernel_misses, 2);
	tlb_fetch(t, 0xffe, 4, true);
	tlb_fetch(t, UINT64_MAX - 1, 8, true);
	assert_int_equal(tlb_get_counts(t).kernel_misses, 3);
	tlb_free(t);
}

/* Large pages have their own array: user pages do not push them out. */
static void large_array(void **state)
{
	(void)state;
	struct machine m = {
		.text_page = 2 << 20, .user_page = 4096, .nr_levels = 1,
		.levels = { { .entries = 4, .ways = 4, .large_entries = 2, .large_ways = 2 } },
	};
	struct tlb *t = tlb_new(&m);

	for (uint32_t i = 0; i < 100; i++) {
		tlb_fetch(t, 0xffffffff81000000, 4, true);
		tlb_fetch(t, 0xffffffff81200000, 4, true);
		tlb_fetch(t, 0x400000 + 4096 * (uint64_t)i, 4, false);
	}
	assert_int_equal(tlb_get_counts(t).kernel_misses, 2);
	assert_int_equal(tlb_get_counts(t).user_misses, 100);
	tlb_free(t);
}

/* Behind a level of whole pages one of small pieces: it is asked for the piece that is run, not for the page's first. */
static void pieces_behind(void **state)
{
	(void)state;
	struct machine m = {
		.text_page = 2 << 20, .user_page = 4096, .nr_levels = 2,
		.levels = { { .entries = 1, .ways = 1 }, { .entries = 1024, .ways = 1024, .max_page = 4096 } },
	};
	struct tlb *t = tlb_new(&m);

	for (uint32_t round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 500; i++) {
			tlb_fetch(t, 0xffffffff81000000 + 4096 * (uint64_t)i + 8, 4, true);
			tlb_fetch(t, 0xffffffff81200000 + 4096 * (uint64_t)i + 8, 4, true);
		}
		assert_int_equal(tlb_get_counts(t).kernel_misses, 1000);
	}
	/* What the nearest level holds is not asked for behind it; what a fetch runs over into is, by its first piece. */
	tlb_fetch(t, 0xffffffff813ffffe, 4, true);
	assert_int_equal(tlb_get_counts(t).kernel_misses, 1001);
	tlb_fetch(t, 0xffffffff813ff008, 4, true);
	tlb_fetch(t, 0xffffffff81400ff8, 4, true);
	assert_int_equal(tlb_get_counts(t).kernel_misses, 1002);
	tlb_free(t);
}

/* Four lines of one set of a two-way cache: LRU misses on each, two lines stay. */
static void l1i(void **state)
{
	(void)state;
	struct machine m = {
		.text_page = 4096, .user_page = 4096, .nr_levels = 1, .levels = { { .entries = 4, .ways = 4 } },
		.l1i_bytes = 1024, .l1i_ways = 2, .l1i_line = 32,
	};
	struct tlb *t = tlb_new(&m);

	for (uint32_t i = 0; i < 40; i++)
		tlb_fetch(t, 512 * (uint64_t)(i % 4), 4, true);
	assert_int_equal(tlb_get_counts(t).l1i_kernel_misses, 40);
	for (uint32_t i = 0; i < 40; i++)
		tlb_fetch(t, 512 * (uint64_t)(i % 2), 4, true);
	assert_int_equal(tlb_get_counts(t).l1i_kernel_misses, 42);
	tlb_fetch(t, 16, 64, true);
	assert_int_equal(tlb_get_counts(t).l1i_kernel_misses, 44);
	tlb_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(against_reference, (void *)TLB_LRU),
		cmocka_unit_test_prestate(against_reference, (void *)TLB_FIFO),
		cmocka_unit_test_prestate(against_reference, (void *)TLB_RANDOM),
		cmocka_unit_test_prestate(against_reference, (void *)TLB_ROUND_ROBIN),
		cmocka_unit_test_prestate(against_reference, (void *)TLB_PLRU),
		cmocka_unit_test(plugin_counts_alike),
		cmocka_unit_test(small_cases),
		cmocka_unit_test(straddling),
		cmocka_unit_test(large_array),
		cmocka_unit_test(pieces_behind),
		cmocka_unit_test(l1i),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
