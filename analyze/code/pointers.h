/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pointers to functions in a kernel's data: tables of operations, by the object
 * that holds them.
 *
 *   shmem_file_operations   +16 shmem_file_llseek?  +32 shmem_file_read_iter ...
 *   fair_sched_class         +0 enqueue_task_fair   +8 dequeue_task_fair ...
 */
#ifndef ANALYZE_CODE_POINTERS_H
#define ANALYZE_CODE_POINTERS_H

#include <stdint.h>

struct image;
struct text;

struct pointer {
	uint32_t object;	/* in objects */
	uint32_t slot;		/* bytes from the object's start */
	uint32_t func;		/* image func */
};

struct pointer_object {
	uint64_t addr;
	uint64_t size;		/* bytes */
	uint32_t first, nr;	/* its pointers, by slot */
};

struct pointers {
	struct pointer_object *objects;	/* that hold any, by address */
	uint32_t nr_objects, alloc_objects;
	struct pointer *items;		/* by (object, slot) */
	uint32_t nr_items, alloc_items;
	uint32_t *by_slot;		/* items by (slot, object) */
};

/* Find them all; none where data is not linked to final addresses or has no symbols. */
void pointers_init(struct pointers *p, const struct text *text, const struct image *img);
void pointers_release(struct pointers *p);

/* The pointers at one slot: by_slot[return .. *end). */
uint32_t pointers_at(const struct pointers *p, uint32_t slot, uint32_t *end);

#endif
