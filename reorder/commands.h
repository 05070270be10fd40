/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The commands of this room. */
#ifndef REORDER_COMMANDS_H
#define REORDER_COMMANDS_H

#include "lib/opt.h"

extern const struct command analyze_command;
extern const struct command explain_command;
extern const struct command reorder_command;
extern const struct command report_command;

#endif
