/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sizes from a trial link. RISC-V's linker shortens a call that reaches its target
 * (8 bytes to 4), so that how long a unit is follows from the layout:
 *
 *   link order -> plan -> linked by it -> its map -> plan again, with the sizes of that link
 *
 * Two such steps change so little that the second plan's addresses hold.
 */
#ifndef REORDER_TRIAL_H
#define REORDER_TRIAL_H

#include <stdint.h>

struct image;

/*
 * [unit] bytes, as the link map at `path` has them; the image's own for units that it
 * does not tell apart. The caller frees; NULL after reporting.
 */
uint32_t *trial_sizes(const struct image *img, const char *path);

#endif
