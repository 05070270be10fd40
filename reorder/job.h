/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One run of the whole job up to the plan:
 *
 *   vmlinux --> image --+                              +-> before --+
 *                       +--> call graph --> layout ----+            +--> plan
 *   profiles -> profile +    (completed)               +-> after ---+
 *
 * `analyze`, `reorder` and `optimize` are its first steps, and print or write
 * what each has.
 */
#ifndef REORDER_JOB_H
#define REORDER_JOB_H

#include <stdbool.h>

#include "analyze/callgraph.h"
#include "analyze/completion/complete.h"
#include "analyze/image/image.h"
#include "analyze/tlb/machine.h"
#include "collect/profile.h"
#include "lib/modules.h"
#include "reorder/guard.h"
#include "reorder/layout.h"
#include "reorder/plan/plan.h"

struct job_options {
	const char *vmlinux;
	const char *vmlinux_name;	/* what messages call it; NULL: by its own name */
	const char *map, *objects;	/* see struct image_options; NULL: found by themselves */
	const char *trial;		/* link map of a link by an earlier plan, see reorder/trial.h; NULL: none */
	const char *const *profiles;
	unsigned int nr_profiles;
	const char *event;		/* see struct collect_options */
	const char *modules;		/* see modules_init(); NULL: none */
	const char *machine;		/* NULL: by the kernel's architecture and configuration */
	const char *algorithm;
	unsigned int effort;		/* 1..9 */
	bool as_seen;			/* do not complete the profile */
	bool allow_regress;		/* roots may need more ITLB entries than in link order */
	bool force;			/* go on with damaged input and with profiles that hardly match */
	bool unattended;		/* inside a build: nobody can answer with --force, and a signal ends it */
};

struct job {
	const struct job_options *opts;
	struct image image;
	struct modules modules;
	bool has_modules;
	struct machine machine;
	struct profile profile;		/* completed, where it was sampled */
	struct completion completion;	/* what that added and why; empty with as_seen */
	const char *trace;		/* the fetch trace among the profiles, NULL: none */
	struct callgraph cg;
	struct layout before, after;
	struct callgraph unseen;	/* the paths of roots never profiled; empty when not guarded */
	struct guard guard;		/* by job_order(), for pack only; else empty */
	uint32_t *trial_sizes;		/* what after goes by; NULL: the image's sizes */
};

/*
 * Read everything and build the graph; before is link order. The profile's
 * totals go to stderr. Errors are reported, -1 returned: among them a profile
 * without kernel samples, and one of which less than half matches the kernel.
 */
int job_init(struct job *job, const struct job_options *opts);
void job_release(struct job *job);

/* after = the hot units ordered by the chosen algorithm. */
int job_order(struct job *job);

/* after = the order in a file, see reorder/layout_read.h. */
int job_read_order(struct job *job, const char *path);

/* The plan for before and after; misses of both where there is a trace. The caller releases it. */
int job_plan(const struct job *job, struct plan *plan);

#endif
