/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The bytes of a kernel by link-time address: its loaded sections, text and constant data. */
#ifndef ANALYZE_IMAGE_TEXT_H
#define ANALYZE_IMAGE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/file.h"

struct text_section {
	uint64_t addr, size;	/* bytes; no two overlap */
	const unsigned char *bytes;
	bool is_exec;
};

struct text {
	struct mapfile file;
	struct text_section *sections;	/* sorted by address; those that have bytes in the file */
	uint32_t nr_sections, alloc_sections;
	uint16_t e_machine;
	bool is_64, big_endian;
};

/* Map a vmlinux. Errors are reported. */
int text_init(struct text *t, const char *vmlinux);
void text_release(struct text *t);

/* The byte at addr and how many follow it in its section, itself included; NULL and 0 when none. */
const unsigned char *text_bytes(const struct text *t, uint64_t addr, size_t *avail);

/* The target's word at addr (4 or 8 bytes) in host order; false when there is none. */
bool text_word(const struct text *t, uint64_t addr, uint64_t *value);

#endif
