/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ANALYZE_WORD_CODE_H
#define ANALYZE_WORD_CODE_H

#include <stdbool.h>

struct image;
struct profile;

/*
 * Whether the profile's call sites tell that it is of another architecture: of one whose instructions all have four
 * bytes (PowerPC, arm64, ARM but for Thumb), where the kernel's have not, or the other way round. Profiles name
 * functions, and most are called alike everywhere. False where too few sites are known.
 */
bool is_other_code(const struct image *img, const struct profile *p);

#endif
