/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "page.h"

/* The assembler takes the files in as they are, relative to the root of the tree. */
#define EMBED(name, file) \
	__asm__(".section .rodata\n" \
		".global " #name "\n" #name ":\n\t.incbin \"" file "\"\n" \
		".global " #name "_end\n" #name "_end:\n\t.byte 0\n" \
		".previous\n")

EMBED(page_css, "reorder/report/page.css");
EMBED(page_js, "reorder/report/page.js");
