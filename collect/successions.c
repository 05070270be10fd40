/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A merge sort of the ascending runs that are there. */
#include "successions.h"

#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"

struct span {
	size_t start, nr;
};

static size_t find_runs(const struct succession *s, size_t nr, struct span **runs)
{
	size_t nr_runs = 0, alloc = 0;

	*runs = NULL;
	for (size_t i = 0; i < nr; nr_runs++) {
		size_t start = i++;

		while (i < nr && s[i].time_ns >= s[i - 1].time_ns)
			i++;
		ALLOC_GROW(*runs, nr_runs + 1, alloc);
		(*runs)[nr_runs] = (struct span){ start, i - start };
	}
	return nr_runs;
}

/* How many of the first are not later than time. */
static size_t count_not_later(const struct succession *s, size_t nr, uint64_t time_ns)
{
	size_t low = 0;

	while (low < nr) {
		size_t mid = low + (nr - low) / 2;

		if (s[mid].time_ns <= time_ns)
			low = mid + 1;
		else
			nr = mid;
	}
	return low;
}

/* Of two that touch: what of the left one comes after the right one's first is put aside into tmp. */
static void merge(struct succession *s, const struct span *left, const struct span *right, struct succession *tmp)
{
	struct succession *out = s + left->start;
	const struct succession *a = tmp, *b = s + right->start, *b_end = b + right->nr;
	size_t first = count_not_later(out, left->nr, b->time_ns), nr = left->nr - first;

	out += first;
	memcpy(tmp, out, nr * sizeof(*tmp));
	const struct succession *a_end = a + nr;
	while (a < a_end && b < b_end)
		*out++ = b->time_ns < a->time_ns ? *b++ : *a++;
	memcpy(out, a, (size_t)(a_end - a) * sizeof(*a));
}

void successions_sort(struct succession *s, size_t nr)
{
	struct span *runs;
	size_t nr_runs = find_runs(s, nr, &runs);
	struct succession *tmp = nr_runs > 1 ? xmalloc(nr * sizeof(*tmp)) : NULL;

	while (nr_runs > 1) {
		size_t out = 0;

		for (size_t i = 0; i < nr_runs; i += 2) {
			struct span both = runs[i];

			if (i + 1 < nr_runs) {
				merge(s, &runs[i], &runs[i + 1], tmp);
				both.nr += runs[i + 1].nr;
			}
			runs[out++] = both;
		}
		nr_runs = out;
	}
	free(tmp);
	free(runs);
}
