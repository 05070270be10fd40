/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Algorithms that turn a call graph into an order of hot units. All of them only
 * choose the hot region: layout_assign() gives the addresses.
 */
#ifndef REORDER_ORDER_H
#define REORDER_ORDER_H

#include <stdbool.h>
#include <stdint.h>

struct callgraph;
struct layout;
struct machine;

struct order_options {
	const struct machine *machine;
	unsigned int effort;		/* 1..9: counts moves, not seconds */
};

struct algorithm {
	const char *name;
	const char *about;
	/* Fill l->hot of an empty layout. Deterministic. */
	void (*run)(const struct callgraph *cg, const struct order_options *opts, struct layout *l);
};

/* NULL when there is no such algorithm. */
const struct algorithm *algorithm_find(const char *name);
extern const struct algorithm algorithms[];	/* closed by a NULL name */

/* The movable units that ran at all, ascending; the caller frees. */
uint32_t *hot_units(const struct callgraph *cg, uint32_t *nr);
/* The same, most samples a byte first, then ascending. */
uint32_t *dense_units(const struct callgraph *cg, uint32_t *nr);

struct dense {
	uint32_t unit;
	double density;		/* of whatever weight, a byte */
};

/* Densest first, then ascending units. */
void sort_dense(struct dense *d, uint32_t nr);

void order_link(const struct callgraph *cg, const struct order_options *opts, struct layout *l);
void order_density(const struct callgraph *cg, const struct order_options *opts, struct layout *l);
void order_ph(const struct callgraph *cg, const struct order_options *opts, struct layout *l);
void order_c3(const struct callgraph *cg, const struct order_options *opts, struct layout *l);
void order_cdsort(const struct callgraph *cg, const struct order_options *opts, struct layout *l);
void order_pack(const struct callgraph *cg, const struct order_options *opts, struct layout *l);

#endif
