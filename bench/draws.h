/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a sampling profiler would have recorded, drawn from a fetch trace, as the text that perf script prints. */
#ifndef BENCH_DRAWS_H
#define BENCH_DRAWS_H

#include <stdint.h>

struct image;

/*
 * So many samples of the kernel, evenly spread over its instructions, into the file `path`: with the latest 32
 * branches, or with the calls that have not returned. Errors are reported.
 */
int draw_branches(const char *trace, const struct image *img, uint32_t samples, const char *path);
int draw_chains(const char *trace, const struct image *img, uint32_t samples, const char *path);

#endif
