/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What this program is and what it was built from. */
#ifndef LIB_VERSION_H
#define LIB_VERSION_H

#include <stdio.h>

/*
 * "hottext 0.1", then the compiler, the libraries it was built with, those whose version
 * can be asked for at run time beside them, and where the QEMU plugin is looked for. No date,
 * no folder of the build: equal sources give equal bytes.
 */
void version_print(FILE *fp);

#endif
