/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Profile completion: what must have run, and what probably did, beyond what a
 * sampled profile saw.
 *
 *   sampled chain      completed path
 *
 *   sys_read           sys_read [all blocks that lead to the call, and from it to the return]
 *     vfs_read           __fdget_pos, __put_user ...       called on that way
 *       shmem_read       vfs_read [...]
 *                          rw_verify_area ...
 *                          shmem_read [...]
 *
 * A sample proves that what dominates it in its function ran, and what post-dominates
 * it; a return address proves its call; a call that is proved proves the callee's
 * entry, and so on. Where a branch leaves both ways open, a model of branches
 * (analyze/code/branch.h), refined by this very profile, says how likely each is.
 */
#ifndef ANALYZE_COMPLETION_COMPLETE_H
#define ANALYZE_COMPLETION_COMPLETE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/index.h"

struct image;
struct profile;

/* The reader of a source that a completed profile has besides those it was made of, without samples. */
#define COMPLETION_SOURCE "complete"

struct complete_options {
	const double *min_probability;	/* functions less likely than this in a path stay out, unless often expected; NULL: 0.3 */
	uint32_t variants;	/* paths a path becomes, each with the chunks that are likely enough for it; 0: 4 */
	bool proved_only;	/* add nothing that is not proved */
};

enum completion_reason {
	COMPLETION_UNSEEN,	/* not in the result */
	COMPLETION_LIKELY,
	COMPLETION_PROVED,	/* ran in some path, by proof */
	COMPLETION_SEEN,	/* in the profile as it came */
};
extern const char *const completion_reason_names[];	/* "unseen", "likely", "proved", "seen" */

/* Why a function is in the result. */
struct completion_func {
	enum completion_reason reason;
	float probability;	/* that it ran in the path where it most likely did */
	double weight;		/* expected weight of the paths it runs in */
	uint32_t via;		/* func that calls it there, INDEX_NONE when seen */
	uint32_t via_off;	/* offset of that call */
};

struct completion {
	struct completion_func *funcs;	/* [func of the completed profile] */
	uint32_t nr_funcs;
	uint32_t nr_seen, nr_proved, nr_likely;	/* functions of each reason */
	uint64_t bytes_seen, bytes_added;	/* touched, in chunks of PROFILE_CHUNK */
	bool whole;		/* the profile was a whole trace or completed: nothing was added */
};

/*
 * out = in, completed against the kernel it is about to be used for. Paths grow;
 * functions, touches and calls that only completion knows are added with their
 * expected weights. Weights of sampled paths become estimates of how often each ran,
 * in a unit of their own, instead of time; those of paths that followed another with
 * them. Paths of fetch traces stay as they are. report may be NULL.
 * The caller releases out (empty before) and report. Errors are reported; out is
 * then unusable but releasable.
 */
int complete_profile(const struct image *img, const char *vmlinux, const struct profile *in, struct profile *out,
		     const struct complete_options *opts, struct completion *report);
void completion_release(struct completion *c);

/* Why func of the completed profile is there, as a phrase: "proved: called from vfs_read+0xee". */
void completion_explain(const struct completion *c, const struct profile *p, uint32_t func, FILE *fp);

#endif
