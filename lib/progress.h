/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Long work: how far it is, and whether its user has had enough. */
#ifndef LIB_PROGRESS_H
#define LIB_PROGRESS_H

#include <stdbool.h>

/*
 * Say on stderr how far the work is (share: 0 to 1), once a second, and only when
 * it has taken more than two seconds and a terminal reads it. Cheap to call often.
 */
void progress(const char *what, double share);

/* The work is done: wipe the line. */
void progress_end(void);

/*
 * From here to interrupt_release() a first SIGINT only makes interrupted() true, so
 * that a search can end with the best it has; a second one acts as before.
 */
void interrupt_catch(void);
void interrupt_release(void);
bool interrupted(void);

#endif
