/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pagemap.h"

#include <stdlib.h>
#include <string.h>

#include "lib/error.h"
#include "lib/mem.h"
#include "reorder/plan/plan.h"

enum { BLOCK_BYTES = 4096 };

/* CIE lightness about 89, 79, 63, 46, 27; the order also holds for red-, green- and blue-blind eyes. */
const char *const heat_colours[HEAT_BINS] = { "#f8dfa9", "#f3bd66", "#e58a3a", "#bd4d20", "#741f20" };
const char *const heat_labels[HEAT_BINS] = { "under 0.1 %", "0.1 - 1 %", "1 - 10 %", "10 - 50 %",
					     "50 % and more" };
const bool heat_is_dark[HEAT_BINS] = { false, false, false, true, true };
const double heat_limits[HEAT_BINS] = { 0, 0.001, 0.01, 0.1, 0.5 };

unsigned int heat_bin(double share)
{
	unsigned int bin = HEAT_BINS - 1;

	while (bin && share < heat_limits[bin])
		bin--;
	return bin;
}

/* Choose the paths of one root, by short name or symbol. */
static bool choose(struct view *v, const char *root, size_t len)
{
	bool found = false;

	for (uint32_t i = 0; i < v->p->nr_paths; i++) {
		const struct plan_path *path = &v->p->paths[i];

		if ((strlen(path->root) == len && !memcmp(path->root, root, len)) ||
		    (strlen(path->symbol) == len && !memcmp(path->symbol, root, len)))
			found = v->chosen[i] = true;
	}
	return found;
}

static int choose_roots(struct view *v, const char *roots)
{
	for (const char *s = roots;; s++) {
		size_t len = strcspn(s, ",");

		if (!choose(v, s, len))
			return error("no path begins with '%.*s': `hottext report --csv` lists those that "
				     "are known",
				     (int)len, s);
		s += len;
		if (!*s)
			return 0;
	}
}

static void add_heat(struct view *v)
{
	double *sum = v->heat;

	for (uint32_t i = 0; i < v->p->nr_paths; i++) {
		const struct plan_path *path = &v->p->paths[i];

		if (!v->chosen[i])
			continue;
		v->weight += path->weight;
		v->before += (double)path->weight * path->entries_before;
		v->after += (double)path->weight * path->entries_after;
		for (uint32_t j = path->first_use; j < path->first_use + path->nr_uses; j++) {
			const struct plan_use *use = &v->p->uses[j];

			sum[use->unit] = (sum[use->unit] < 0 ? 0 : sum[use->unit]) + (double)use->weight;
		}
	}
	for (uint32_t i = 0; i < v->p->nr_units; i++)
		if (sum[i] > 0)
			sum[i] = v->weight ? sum[i] / (double)v->weight : 0;
	if (v->weight) {
		v->before /= (double)v->weight;
		v->after /= (double)v->weight;
	}
}

int view_init(struct view *v, const struct plan *p, const char *roots)
{
	memset(v, 0, sizeof(*v));
	v->p = p;
	v->all = !roots;
	v->heat = xcalloc(p->nr_units, sizeof(*v->heat));
	v->chosen = xcalloc(p->nr_paths, sizeof(*v->chosen));
	for (uint32_t i = 0; i < p->nr_units; i++)
		v->heat[i] = roots ? -1 : 0;
	for (uint32_t i = 0; i < p->nr_paths; i++)
		v->chosen[i] = v->all;
	if (roots && choose_roots(v, roots)) {
		view_release(v);
		return -1;
	}
	add_heat(v);
	return 0;
}

void view_release(struct view *v)
{
	free(v->heat);
	free(v->chosen);
	memset(v, 0, sizeof(*v));
}

/* Bytes [start, end) of a unit, cut at block borders. */
static void add_piece(struct pagemap *m, const struct plan *p, struct piece piece, uint64_t addr,
		      uint32_t start, uint32_t end)
{
	while (start < end) {
		uint64_t at = addr + start;
		uint32_t in = (uint32_t)(at % m->block_bytes);
		uint32_t n = end - start < m->block_bytes - in ? end - start : m->block_bytes - in;

		ALLOC_GROW(m->pieces, m->nr_pieces + 1, m->alloc_pieces);
		piece.block = plan_page_of(at, p->text_start, m->block_bytes);
		piece.start = in;
		piece.end = in + n;
		m->pieces[m->nr_pieces++] = piece;
		piece.first = false;
		start += n;
	}
}

double function_heat(const struct plan *p, const struct plan_unit *u, uint32_t function)
{
	const struct plan_function *f = &p->functions[function];
	uint64_t weight = 0;

	for (uint32_t i = u->first_range; i < u->first_range + u->nr_ranges; i++) {
		const struct plan_range *r = &p->ranges[i];

		if (r->end > f->off && r->start < (uint64_t)f->off + f->size && r->weight > weight)
			weight = r->weight;
	}
	return p->path_weight ? (double)weight / (double)p->path_weight : 0;
}

/* The same, cut where functions of the unit begin and end. */
static void add_stretch(struct pagemap *m, const struct view *v, uint32_t unit, uint64_t addr, uint32_t start,
			uint32_t end, bool ran)
{
	const struct plan *p = v->p;
	const struct plan_unit *u = &p->units[unit];
	struct piece piece = { .unit = unit, .function = INDEX_NONE, .ran = ran, .heat = v->heat[unit] };

	for (uint32_t i = u->first_function; u->nr_functions > 1 && i < u->first_function + u->nr_functions;
	     i++) {
		const struct plan_function *f = &p->functions[i];
		uint32_t lo = f->off > start ? f->off : start;
		uint32_t hi = f->size < end && f->off < end - f->size ? f->off + f->size : end;

		if (lo >= hi)
			continue;
		piece.function = INDEX_NONE;
		piece.first = start == 0;
		piece.heat = v->heat[unit];
		add_piece(m, p, piece, addr, start, lo);
		piece.function = i;
		/* Of some roots' paths only the units are known. */
		piece.heat = v->all ? function_heat(p, u, i) : v->heat[unit];
		piece.first = lo == f->off;
		add_piece(m, p, piece, addr, lo, hi);
		start = hi;
	}
	piece.function = INDEX_NONE;
	piece.first = start == 0;
	piece.heat = v->heat[unit];
	add_piece(m, p, piece, addr, start, end);
}

const char *piece_name(const struct plan *p, const struct piece *pc)
{
	return pc->function == INDEX_NONE ? p->units[pc->unit].name : p->functions[pc->function].name;
}

/* Of a big unit, as an assembler file or a whole group, only what runs and its surroundings is shown. */
enum { BIG_UNIT = 16384 };

static void add_unit(struct pagemap *m, const struct view *v, uint32_t unit, uint64_t addr)
{
	const struct plan_unit *u = &v->p->units[unit];
	bool big = u->size > BIG_UNIT;
	uint32_t at = 0;

	for (uint32_t i = u->first_range, last = i + u->nr_ranges; i < last; i++) {
		uint32_t start = v->p->ranges[i].start;

		while (i + 1 < last && v->p->ranges[i + 1].start == v->p->ranges[i].end)
			i++;
		if (!big)
			add_stretch(m, v, unit, addr, at, start, false);
		at = v->p->ranges[i].end;
		add_stretch(m, v, unit, addr, start, at, true);
	}
	if (!big)
		add_stretch(m, v, unit, addr, at, u->size, false);
}

static int by_address(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	if (x->block != y->block)
		return x->block < y->block ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->unit != y->unit)
		return x->unit < y->unit ? -1 : 1;
	return (int)x->ran - (int)y->ran;
}

static void find_blocks(struct pagemap *m, const struct view *v)
{
	uint64_t text_start = v->p->text_start, first = text_start / m->block_bytes;
	bool any = false;
	int64_t last_page = 0;

	for (uint32_t i = 0; i < m->nr_pieces; i++) {
		const struct piece *pc = &m->pieces[i];
		double heat = pc->heat;

		if (!m->nr_blocks || m->blocks[m->nr_blocks - 1].number != pc->block) {
			uint64_t addr = (first + (uint64_t)pc->block) * m->block_bytes;

			ALLOC_GROW(m->blocks, m->nr_blocks + 1, m->alloc_blocks);
			m->blocks[m->nr_blocks++] =
				(struct block){ .number = pc->block, .page = plan_entry_of(v->p, addr, text_start), .first_piece = i };
		}
		struct block *b = &m->blocks[m->nr_blocks - 1];
		b->nr_pieces++;
		if (!pc->ran)
			continue;
		b->heat = heat > b->heat ? heat : b->heat;
		b->sum += heat * (pc->end - pc->start);
		if (!any || b->page != last_page)
			m->nr_pages++;
		any = true;
		last_page = b->page;
	}
}

static int by_page(const void *a, const void *b)
{
	const struct plan_page *x = a, *y = b;

	return x->page < y->page ? -1 : x->page > y->page;
}

/* Where blocks are pages, the plan knows which paths touch them. */
static void count_shares(struct pagemap *m, const struct view *v, bool after)
{
	const struct plan *p = v->p;
	struct plan_page *pages = xcalloc(p->nr_pages, sizeof(*pages));
	uint32_t nr = 0, at = 0;

	for (uint32_t i = 0; i < p->nr_paths; i++) {
		const struct plan_path *path = &p->paths[i];
		uint32_t first = after ? path->first_after : path->first_before;
		uint32_t n = after ? path->nr_after : path->nr_before;

		if (v->chosen[i] && n) {
			memcpy(pages + nr, p->pages + first, n * sizeof(*pages));
			nr += n;
		}
	}
	sort_array(pages, nr, sizeof(*pages), by_page);
	m->nr_pages = 0;
	for (uint32_t i = 0; i < m->nr_blocks; i++) {
		double sum = 0;

		while (at < nr && pages[at].page < m->blocks[i].page)
			at++;
		for (; at < nr && pages[at].page == m->blocks[i].page; at++)
			sum += (double)pages[at].weight;
		if (v->weight)
			m->blocks[i].heat = sum / (double)v->weight;
		m->nr_pages += sum > 0;
	}
	free(pages);
}

void pagemap_init(struct pagemap *m, const struct view *v, bool after)
{
	const struct plan *p = v->p;

	memset(m, 0, sizeof(*m));
	m->block_bytes = p->machine.page_bytes < BLOCK_BYTES ? (uint32_t)p->machine.page_bytes : BLOCK_BYTES;
	for (uint32_t i = 0; i < p->nr_units; i++)
		if (v->heat[i] >= 0)
			add_unit(m, v, i, after ? p->units[i].addr : p->units[i].addr_before);
	m->parts = p->machine.page_bytes > m->block_bytes || p->machine.block_bytes;
	sort_array(m->pieces, m->nr_pieces, sizeof(*m->pieces), by_address);
	find_blocks(m, v);
	if (!m->parts)
		count_shares(m, v, after);
}

void pagemap_release(struct pagemap *m)
{
	free(m->pieces);
	free(m->blocks);
	memset(m, 0, sizeof(*m));
}

static int by_heat(const void *a, const void *b, void *arg)
{
	const struct block *blocks = arg;
	const struct block *x = &blocks[*(const uint32_t *)a], *y = &blocks[*(const uint32_t *)b];

	if (x->heat != y->heat)
		return x->heat > y->heat ? -1 : 1;
	if (x->sum != y->sum)
		return x->sum > y->sum ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

void pagemap_hottest(const struct pagemap *m, uint32_t n, bool *keep)
{
	uint32_t *order = xcalloc(m->nr_blocks, sizeof(*order));

	for (uint32_t i = 0; i < m->nr_blocks; i++)
		order[i] = i;
	qsort_r(order, m->nr_blocks, sizeof(*order), by_heat, m->blocks);
	memset(keep, 0, m->nr_blocks * sizeof(*keep));
	for (uint32_t i = 0; i < m->nr_blocks && i < n; i++)
		keep[order[i]] = m->blocks[order[i]].heat > 0;
	free(order);
}
