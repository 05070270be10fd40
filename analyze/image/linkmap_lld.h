/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The lines of lld's link map, for linkmap_read():
 *
 *                VMA              LMA     Size Align Out     In      Symbol
 *   ffffffff81000000          1000000   60c010  4096 .text                               -> output
 *   ffffffff81000000          1000000        0     1         _stext = .                  -> mark (symbol)
 *   ffffffff81000000          1000000      254    16         vmlinux.a(head_64.o):(.head.text)   -> section
 *   ffffffff81000000          1000000       28     1                 startup_64          -> symbol
 *   ffffffff81000669          1000669        7     1         . = ALIGN ( 8 )             -> mark (align 8)
 *
 * The name's indentation, 0, 8 or 16 blanks, tells what a line is. A member of a thin archive is
 * called as GNU ld does, by its path alone: it is one when it has a folder in its name.
 */
#ifndef ANALYZE_IMAGE_LINKMAP_LLD_H
#define ANALYZE_IMAGE_LINKMAP_LLD_H

#include <stdbool.h>

struct input;
struct linkmap;

struct linkmap_lld {
	struct linkmap *map;
	struct input *in;	/* for messages */
	bool in_output;		/* within an output section of code */
};

bool linkmap_lld_title(const char *line);

/* One line behind the title. -1 after reporting a broken one. */
int linkmap_lld_line(struct linkmap_lld *l, const char *line);

/* Behind the last line: lld lists local symbols too, and of those that share a name none says which it is. */
void linkmap_lld_end(struct linkmap_lld *l);

#endif
