/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The version of plan.json (doc/hottext-plan.5): written by reorder/, read by rooms on both sides of it. */
#ifndef LIB_SCHEMA_H
#define LIB_SCHEMA_H

enum { PLAN_SCHEMA = 1 };

#endif
