/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The weighted call graph, for `dot` to place. */
#include "dot.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "lib/mem.h"
#include "pagemap.h"
#include "reorder/plan/plan.h"

struct graph {
	const struct view *v;
	const struct callgraph_options *o;
	bool *keep;		/* [unit] */
	uint64_t *in, *out;	/* [unit]: calls to and from it, of the whole graph */
	uint64_t own, calls;	/* sums over the view */
	uint64_t heaviest_own, heaviest_call;	/* of what is kept */
	uint32_t nr_candidates, nr_kept;
};

static bool in_view(const struct graph *g, uint32_t unit)
{
	return g->v->heat[unit] >= 0;
}

/* Time where the profile has it, else entries. */
static uint64_t own_weight(const struct plan_unit *u)
{
	return u->weight;
}

static void add_up(struct graph *g)
{
	const struct plan *p = g->v->p;

	for (uint32_t i = 0; i < p->nr_units; i++)
		if (in_view(g, i))
			g->own += own_weight(&p->units[i]);
	for (uint32_t i = 0; i < p->nr_edges; i++) {
		const struct plan_edge *e = &p->edges[i];

		if (!in_view(g, e->from) || !in_view(g, e->to))
			continue;
		g->out[e->from] += e->weight;
		g->in[e->to] += e->weight;
		g->calls += e->weight;
	}
}

/* Mark what is reached from the marked units along the edges' direction, or against it. */
static void reach(const struct graph *g, bool *mark, bool forward)
{
	const struct plan *p = g->v->p;
	uint32_t *first = xcalloc((size_t)p->nr_units + 1, sizeof(*first));	/* [unit]: of its neighbours in next[] */
	uint32_t *next = xcalloc(p->nr_edges, sizeof(*next)), *queue = xcalloc(p->nr_units, sizeof(*queue)), nr = 0;

	for (uint32_t i = 0; i < p->nr_edges; i++)
		first[forward ? p->edges[i].from : p->edges[i].to]++;
	for (uint32_t i = 0; i < p->nr_units; i++)
		first[i + 1] += first[i];	/* where its neighbours end, until they are filled in from there */
	for (uint32_t i = 0; i < p->nr_edges; i++)
		next[--first[forward ? p->edges[i].from : p->edges[i].to]] = forward ? p->edges[i].to : p->edges[i].from;
	for (uint32_t i = 0; i < p->nr_units; i++)
		if (mark[i])
			queue[nr++] = i;
	for (uint32_t done = 0; done < nr; done++)
		for (uint32_t k = first[queue[done]]; k < first[queue[done] + 1]; k++) {
			if (mark[next[k]] || !in_view(g, next[k]))
				continue;
			mark[next[k]] = true;
			queue[nr++] = next[k];
		}
	free(first);
	free(next);
	free(queue);
}

static void apply_focus(struct graph *g)
{
	const struct plan *p = g->v->p;
	bool *down = xcalloc(p->nr_units, sizeof(*down)), *up = xcalloc(p->nr_units, sizeof(*up));

	for (uint32_t i = 0; i < p->nr_units; i++)
		down[i] = up[i] = in_view(g, i) && strstr(p->units[i].name, g->o->focus);
	reach(g, down, true);
	reach(g, up, false);
	for (uint32_t i = 0; i < p->nr_units; i++)
		g->keep[i] = g->keep[i] && (down[i] || up[i]);
	free(down);
	free(up);
}

struct ranked {
	uint32_t unit;
	double rank;
};

static int by_rank(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank > y->rank ? -1 : 1;
	return x->unit < y->unit ? -1 : x->unit > y->unit;
}

/* Share of own weight or of calls through it, whichever is larger: 0..1. */
static double rank_of(const struct graph *g, uint32_t unit)
{
	double own = g->own ? (double)own_weight(&g->v->p->units[unit]) / (double)g->own : 0;
	uint64_t through = g->in[unit] > g->out[unit] ? g->in[unit] : g->out[unit];
	double calls = g->calls ? (double)through / (double)g->calls : 0;

	return own > calls ? own : calls;
}

static void choose(struct graph *g)
{
	const struct plan *p = g->v->p;
	struct ranked *r = xcalloc(p->nr_units, sizeof(*r));

	for (uint32_t i = 0; i < p->nr_units; i++)
		g->keep[i] = in_view(g, i) && !(g->o->ignore && strstr(p->units[i].name, g->o->ignore));
	if (g->o->focus)
		apply_focus(g);
	for (uint32_t i = 0; i < p->nr_units; i++) {
		if (!g->keep[i])
			continue;
		r[g->nr_candidates++] = (struct ranked){ i, rank_of(g, i) };
		g->keep[i] = false;
	}
	sort_array(r, g->nr_candidates, sizeof(*r), by_rank);
	while (g->nr_kept < g->nr_candidates && g->nr_kept < g->o->nr_nodes &&
	       100 * r[g->nr_kept].rank >= g->o->node_percent) {
		uint32_t unit = r[g->nr_kept++].unit;
		uint64_t own = own_weight(&p->units[unit]);

		g->keep[unit] = true;
		g->heaviest_own = own > g->heaviest_own ? own : g->heaviest_own;
	}
	free(r);
}

static void put_function(const struct graph *g, uint32_t unit, FILE *fp)
{
	const struct plan_unit *u = &g->v->p->units[unit];
	double own = g->heaviest_own ? (double)own_weight(u) / (double)g->heaviest_own : 0;
	unsigned int bin = heat_bin(g->v->heat[unit]);
	char share[FORMAT_MAX], calls[FORMAT_MAX], text[3 * FORMAT_MAX];

	/* Side by the root of the weight, so that area goes by weight. */
	fprintf(fp, "u%" PRIu32 " [fontsize=%.1f, fillcolor=\"%s\", fontcolor=\"%s\", label=<", unit,
		8 + 22 * sqrt(own), heat_colours[bin], heat_is_dark[bin] ? "#ffffff" : "#22252b");
	put_html(fp, u->name);
	snprintf(text, sizeof(text), "%s own, %s calls",
		 format_percent(share, g->own ? 100 * (double)own_weight(u) / (double)g->own : 0),
		 format_count(calls, g->in[unit]));
	fprintf(fp, "<BR/><FONT POINT-SIZE=\"%.1f\">", 7 + 8 * sqrt(own));
	put_html(fp, text);
	fputs("</FONT>>, tooltip=", fp);
	put_dot(fp, u->object ? u->object : u->section);
	fputs("];\n", fp);
}

static uint32_t put_calls(struct graph *g, FILE *fp)
{
	const struct plan *p = g->v->p;
	uint32_t left_out = 0;
	char count[FORMAT_MAX];

	for (uint32_t i = 0; i < p->nr_edges; i++)
		if (g->keep[p->edges[i].from] && g->keep[p->edges[i].to] &&
		    p->edges[i].weight > g->heaviest_call)
			g->heaviest_call = p->edges[i].weight;
	for (uint32_t i = 0; i < p->nr_edges; i++) {
		const struct plan_edge *e = &p->edges[i];
		double share = g->heaviest_call ? (double)e->weight / (double)g->heaviest_call : 0;

		if (!g->keep[e->from] || !g->keep[e->to])
			continue;
		if (g->calls && 100 * (double)e->weight / (double)g->calls < g->o->edge_percent) {
			left_out++;
			continue;
		}
		bool cross = p->units[e->from].page != p->units[e->to].page;
		fprintf(fp,
			"u%" PRIu32 " -> u%" PRIu32
			" [label=\" %s\", penwidth=%.2f, weight=%d, arrowsize=%.2f, "
			"style=%s];\n",
			e->from, e->to, format_count(count, e->weight), 0.6 + 6 * share,
			1 + (int)(50 * share), 0.5 + share / 2, cross ? "dashed" : "solid");
	}
	return left_out;
}

static void put_title(const struct graph *g, FILE *fp)
{
	fputs("label=<<FONT POINT-SIZE=\"18\">Call graph - Linux ", fp);
	put_html(fp, g->v->p->vmlinux.release);
	fputc(' ', fp);
	put_html(fp, g->v->p->vmlinux.arch);
	fprintf(fp,
		"</FONT><BR ALIGN=\"LEFT\"/>%" PRIu32 " of %" PRIu32
		" functions (from %.3g %% of the weight up). "
		"Size: own weight. Colour: share of paths that run it, light under 0.1 %%, dark from 50 "
		"%%.<BR "
		"ALIGN=\"LEFT\"/>Width: calls; those under %.3g %% of all are left out. Dashed: crosses "
		"pages in the plan."
		"<BR ALIGN=\"LEFT\"/>>;\n",
		g->nr_kept, g->nr_candidates, g->o->node_percent, g->o->edge_percent);
}

void dot_callgraph(const struct view *v, const struct callgraph_options *o, FILE *fp)
{
	struct graph g = { .v = v, .o = o };
	uint32_t nr = v->p->nr_units;

	g.keep = xcalloc(nr, sizeof(*g.keep));
	g.in = xcalloc(nr, sizeof(*g.in));
	g.out = xcalloc(nr, sizeof(*g.out));
	add_up(&g);
	choose(&g);
	fputs("// ", fp);
	put_text(fp, v->p->tool, 0);
	fputs(": draw with `dot -Tsvg -O FILE`\ndigraph callgraph {\n"
		"graph [labelloc=t, labeljust=l, fontname=\"Helvetica\", fontsize=10, fontcolor=\"#22252b\", "
		"bgcolor=\"#fbfaf8\", pad=0.4, nodesep=0.2, ranksep=0.5, tooltip=\" \"];\n"
		"node [shape=box, style=\"filled,rounded\", penwidth=0, fontname=\"Helvetica\", "
		"margin=\"0.12,0.06\"];\n"
		"edge [color=\"#2b4c7e99\", fontname=\"Helvetica\", fontsize=7, fontcolor=\"#6b6f76\"];\n", fp);
	put_title(&g, fp);
	for (uint32_t i = 0; i < nr; i++)
		if (g.keep[i])
			put_function(&g, i, fp);
	put_calls(&g, fp);
	fputs("}\n", fp);
	free(g.keep);
	free(g.in);
	free(g.out);
}
