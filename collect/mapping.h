/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the kernel calls mappings that are of no file. */
#ifndef COLLECT_MAPPING_H
#define COLLECT_MAPPING_H

#include <stdbool.h>

/* Whether a name that begins with a bracket, "[vdso]", is that of a mapping in programs; modules and the kernel have such names, too. */
bool mapping_is_programs(const char *name);

#endif
