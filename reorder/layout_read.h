/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Orders from files: ours, a linker's, or somebody's by hand. */
#ifndef REORDER_LAYOUT_READ_H
#define REORDER_LAYOUT_READ_H

struct layout;

/*
 * Append the units that a file names, one a line, to the layout's hot region:
 *
 *   vfs_read                      a function, by its identity
 *   .text.vfs_read                a section, where one unit only has that name
 *   .text.helper fs/file.o ...    a section of an object, as `hottext reorder` prints it
 *   [f]s/read_write.o(.text.foo)  a statement of hottext.ld; [l]ib/lib.a:memcpy.o(.text) of an archive's member
 *   . = ALIGN(4096);              aligns the next unit
 *
 * and members of groups that move, which stand in comments there.
 *
 * Other comments (# and C ones that end in their line) are passed over; so are lines that
 * name no unit that moves, with a warning that counts them; when no line names any unit, that
 * is an error, and so is a file that is no text. Errors are reported.
 */
int layout_read(struct layout *l, const char *path);

#endif
