/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/tlb/measured.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/image/image.h"
#include "analyze/tlb/machine.h"
#include "analyze/tlb/replay.h"
#include "collect/profile.h"
#include "collect/reader.h"
#include "lib/error.h"
#include "lib/mem.h"

/* The pages of text, large ones cut down: a function is more telling than 2 MB. */
static void set_pages(struct measured *x, const struct image *img, const struct machine *m)
{
	uint32_t page = machine_entry_bytes(m);

	x->page_bytes = page < 4096 || page > 65536 ? 4096 : page;
	x->start = img->text_start & -x->page_bytes;
	x->nr_pages = (uint32_t)((img->text_end - x->start) / x->page_bytes) + 1;
	x->misses = xcalloc(x->nr_pages, sizeof(*x->misses));
	x->func = xmalloc(x->nr_pages * sizeof(*x->func));
	memset(x->func, 0xff, x->nr_pages * sizeof(*x->func));
}

static void sum_samples(struct measured *x, const struct image *img, const struct profile *p)
{
	uint64_t *most = xcalloc(x->nr_pages, sizeof(*most)), seen = 0;	/* samples */

	for (uint32_t i = 0; i < p->touches.nr_keys; i++) {
		uint32_t f, chunk;

		profile_get_touch(p, i, &f, &chunk);
		uint32_t func = image_match(img, profile_func_name(p, f), NULL);
		if (func == INDEX_NONE)
			continue;
		uint64_t addr = img->funcs[func].addr + (uint64_t)chunk * PROFILE_CHUNK;
		uint64_t page = (addr - x->start) / x->page_bytes;
		if (addr < x->start || page >= x->nr_pages)
			continue;
		seen += p->touch_weights[i];
		x->misses[page] += p->touch_weights[i];
		if (p->touch_weights[i] > most[page]) {
			most[page] = p->touch_weights[i];
			x->func[page] = func;
		}
	}
	x->total = seen;
	x->elsewhere = profile_totals(p).kernel - seen;
	free(most);
}

static int predict(struct measured *x, const struct image *img, const struct machine *m, const char *trace)
{
	x->predicted = xcalloc(x->nr_pages, sizeof(*x->predicted));
	struct replay_pages pages = { x->start, x->page_bytes, x->predicted, x->nr_pages, 0 };
	int ret = replay_page_misses(trace, img, m, &pages);

	x->predicted_total = pages.elsewhere;
	for (uint32_t i = 0; i < x->nr_pages; i++)
		x->predicted_total += pages.misses[i];
	return ret;
}

int measured_init(struct measured *x, const char *perfdata, const struct image *img, const char *vmlinux,
		  const struct machine *m, const char *trace)
{
	struct collect_options co = { .syms = &img->symtab, .vmlinux = vmlinux, .event = "itlb" };
	struct profile p = { 0 };
	int ret = -1;

	memset(x, 0, sizeof(*x));
	if (!collect_file(perfdata, &co, &p)) {
		set_pages(x, img, m);
		sum_samples(x, img, &p);
		ret = trace ? predict(x, img, m, trace) : 0;
		if (!ret && !x->total)
			ret = error("cannot use '%s': no ITLB miss of it lies in the kernel's text", perfdata);
	}
	profile_release(&p);
	if (ret)
		measured_release(x);
	return ret;
}

void measured_release(struct measured *x)
{
	free(x->misses);
	free(x->predicted);
	free(x->func);
	memset(x, 0, sizeof(*x));
}

static double share(uint64_t part, uint64_t all)
{
	return all ? (double)part / (double)all : 0;
}

double measured_overlap(const struct measured *x)
{
	double both = 0;

	for (uint32_t i = 0; x->predicted && i < x->nr_pages; i++) {
		double m = share(x->misses[i], x->total), p = share(x->predicted[i], x->predicted_total);

		both += m < p ? m : p;
	}
	return both;
}

static const struct measured *sorting;	/* qsort passes no context */
static int compare_pages(const void *va, const void *vb)
{
	uint32_t a = *(const uint32_t *)va, b = *(const uint32_t *)vb;

	if (sorting->misses[a] != sorting->misses[b])
		return sorting->misses[a] > sorting->misses[b] ? -1 : 1;
	if (sorting->predicted && sorting->predicted[a] != sorting->predicted[b])
		return sorting->predicted[a] > sorting->predicted[b] ? -1 : 1;
	return a < b ? -1 : a > b;
}

uint32_t measured_pages(const struct measured *x, uint32_t **pages)
{
	uint32_t nr = 0;

	*pages = xcalloc(x->nr_pages, sizeof(**pages));
	for (uint32_t i = 0; i < x->nr_pages; i++)
		if (x->misses[i] || (x->predicted && x->predicted[i]))
			(*pages)[nr++] = i;
	sorting = x;
	sort_array(*pages, nr, sizeof(**pages), compare_pages);
	return nr;
}
