/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Merging inputs so that each machine counts alike, however busy it was. */
#ifndef COLLECT_NORMALIZE_H
#define COLLECT_NORMALIZE_H

struct collect_options;
struct profile;

/*
 * As collect_files(), but with the weights of every host scaled up to the total
 * kernel samples of the busiest one. Reads each input twice, so "-" is refused. The
 * sources keep their true counts. An input of several hosts, merged before, is
 * scaled to as many shares; hosts without a name are taken for different ones.
 */
int collect_normalized(const char *const *paths, unsigned int nr, const struct collect_options *opts,
		       struct profile *p);

#endif
