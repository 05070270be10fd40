/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between flow.c, which finds blocks and edges, and flow_dom.c, which orders them. */
#ifndef ANALYZE_CODE_FLOW_INTERNAL_H
#define ANALYZE_CODE_FLOW_INTERNAL_H

struct flow;

/* Fill preds, rpo, idom, ipdom, depth, FLOW_REACHED and FLOW_LOOP_HEAD from blocks and edges. */
void flow_find_dominators(struct flow *f);

#endif
