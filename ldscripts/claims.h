/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the kernel's own script has a place for stays there, whatever a profile or a plan says. */
#ifndef LDSCRIPTS_CLAIMS_H
#define LDSCRIPTS_CLAIMS_H

struct fragment;
struct image;
struct lds;

/* The script's file as read by lds_init(). Errors are reported. */
int claims_read_script(struct lds *l, const char *path);

/* Before a plan is made: the units that the script at `path` claims move no more. Errors are reported. */
int claims_fix_units(struct image *img, const char *path);

/* Before a link: take what the script claims out of a fragment, with one warning. Errors are reported. */
int claims_drop(struct fragment *f, const struct lds *script);

#endif
