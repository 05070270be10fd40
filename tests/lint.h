/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Included before every file under GCC's analyzer, which looks at one file at a time: what the others promise. Nothing
 * of this is compiled into the program.
 */
#include <stddef.h>
#include "lib/error.h"
#include "lib/mem.h"

/* It returns -1, always (lib/error.c). */
#define error(...) ({ (void)error(__VA_ARGS__); -1; })

/* Sizes do not wrap (xreallocarray() dies before), so there is an array behind it. */
#undef ALLOC_GROW
#define ALLOC_GROW(x, nr, alloc) \
	do { \
		if ((size_t)(nr) > (size_t)(alloc)) { \
			(alloc) = (__typeof__(alloc))((nr) + 16); \
			(x) = xreallocarray((x), (size_t)(alloc), sizeof(*(x))); \
		} \
		if (!(x)) \
			__builtin_unreachable(); \
	} while (0)
