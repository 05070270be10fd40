/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What -v says of a whole plan: what was decided, how much of it, and why. */
#ifndef REORDER_EXPLAIN_DECISIONS_H
#define REORDER_EXPLAIN_DECISIONS_H

struct job;
struct plan;

/* Under -v totals by reason, under -vv every function that was lost and every unit that stays. */
void decisions_say(const struct job *job, const struct plan *plan);

#endif
