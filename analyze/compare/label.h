/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Short names for files: "link/vmlinux" and "pack/vmlinux", not their whole paths. */
#ifndef ANALYZE_COMPARE_LABEL_H
#define ANALYZE_COMPARE_LABEL_H

#include <stdint.h>

/* So many last parts of paths[i] as tell it from all different paths; points into it. */
const char *short_path(const char *const *paths, uint32_t nr, uint32_t i);

#endif
