/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The hot-page picture. Places are in points, y downwards; put_box() turns them
 * into DOT's, y upwards.
 *
 *   title, figures, scale
 *   before: overview   | after: overview     a square a block, 64 a row
 *           page page  |        page page    16 rows of 256 bytes each
 *           page page  |        page page
 */
#include "dot.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "lib/mem.h"
#include "lib/utf8.h"
#include "pagemap.h"
#include "reorder/plan/plan.h"

enum {
	ROW_BYTES = 256,	/* of a page drawn in full */
	ROW_PT = 11, PAGE_PT = 206, PAGE_GAP = 12, PAGE_HEAD = 13,
	PAGES_A_ROW = 3,
	SQUARES_A_ROW = 64, SQUARE_PT = 10,
	PANEL_PT = PAGES_A_ROW * (PAGE_PT + PAGE_GAP) - PAGE_GAP,
	PANEL_GAP = 64,
	LETTER_PT = 4,		/* mean width of a letter at 7 points, rounded up */
};

#define INK "#22252b"
#define SOFT "#6b6f76"
#define FILLER "#eeece7"
#define IDLE "#ffffff"
#define EDGE "#2b4c7e"

struct canvas {
	FILE *fp;
	uint32_t nr;		/* nodes so far: their names */
};

/* Where a unit's label stands on one side; edges end there. */
struct spot {
	double x, y, w;
	double area;		/* 0: not drawn */
	int64_t page;
};

struct panel {
	const struct view *v;
	struct pagemap map;
	bool *keep;		/* [block]: drawn in full */
	struct spot *spots;	/* [unit] */
	uint32_t nr_kept;
	double x, bottom;
};

static void put_node(struct canvas *c, double x, double y, double w, double h)
{
	fprintf(c->fp, "n%" PRIu32 " [pos=\"%.1f,%.1f\", width=%.4f, height=%.4f", c->nr++, x + w / 2,
		-(y + h / 2), w / 72, h / 72);
}

static void put_box(struct canvas *c, double x, double y, double w, double h, const char *fill,
		    const char *line)
{
	put_node(c, x, y, w, h);
	fprintf(c->fp, ", fillcolor=\"%s\"", fill);
	if (line)
		fprintf(c->fp, ", color=\"%s\", penwidth=0.5", line);
}

static void end_box(struct canvas *c, const char *tip)
{
	if (tip) {
		fputs(", tooltip=", c->fp);
		put_dot(c->fp, tip);
	}
	fputs("];\n", c->fp);
}

/* Whether a page is too large to be drawn as one. */
static bool in_parts(const struct panel *pn)
{
	return pn->map.parts;
}

/* One line of text, left-aligned at x; y is its top. A letter is taken for 0.62 of the height: enough. */
static void put_line(struct canvas *c, double x, double y, double size, const char *colour, const char *text)
{
	put_node(c, x, y, (double)utf8_columns(text) * size * 0.62 + 8, size * 1.2);
	/* \l aligns to the left; put_dot() would take it literally. */
	fputs(", style=\"\", label=\"", c->fp);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', c->fp);
		fputc((unsigned char)*text < 0x20 ? ' ' : *text, c->fp);
	}
	fprintf(c->fp, "\\l\", fontsize=%.1f, fontcolor=\"%s\"];\n", size, colour);
}

static char *unit_tip(const struct panel *pn, const struct plan_unit *u, const char *name, double heat)
{
	char bytes[FORMAT_MAX], ran[FORMAT_MAX], share[FORMAT_MAX];

	return xasprintf("%s - unit of %s, %s of it run - by %s of paths - %s", name,
			 format_bytes(bytes, u->size), format_bytes(ran, u->touched),
			 format_percent(share, 100 * heat),
			 u->object ? u->object : pn->v->p->vmlinux.release);
}

static void put_label(struct canvas *c, const char *name, double w, bool dark)
{
	size_t room = (size_t)(w / LETTER_PT), len = utf8_columns(name);

	if (room < 3)
		return;
	fputs(", label=", c->fp);
	if (len <= room) {
		put_dot(c->fp, name);
	} else {
		size_t cut = 0;

		for (size_t n = 0; n < room - 1; n++)
			cut += utf8_step(name + cut);
		char *head = xstrndup(name, cut);
		put_dot(c->fp, head);
		free(head);
	}
	fprintf(c->fp, ", fontcolor=\"%s\"", dark ? "#ffffff" : INK);
}

struct rect {
	double x, y, w, h;
};

/* A piece covers up to three rectangles of the raster: the end of a row, whole rows, the start of one. */
static int piece_rects(const struct piece *pc, uint32_t row_bytes, double x, double y, struct rect *out)
{
	double scale = (double)PAGE_PT / row_bytes;
	uint32_t at = pc->start;
	int nr = 0;

	while (at < pc->end) {
		uint32_t row = at / row_bytes, in = at % row_bytes, left = pc->end - at, rows = 1,
			 n = row_bytes - in;

		if (!in && left >= row_bytes) {
			rows = left / row_bytes;
			n = rows * row_bytes;
		} else if (left < n) {
			n = left;
		}
		out[nr++] = (struct rect){ x + in * scale, y + row * ROW_PT, rows > 1 ? PAGE_PT : n * scale,
					   (double)rows * ROW_PT };
		at += n;
	}
	return nr;
}

/* Where the unit of pieces [first, end) gets its name: the largest rectangle; what ran counts double. */
static struct rect label_rect(const struct pagemap *m, uint32_t first, uint32_t end, uint32_t row_bytes,
			      double x, double y, bool ran_only)
{
	struct rect best = { 0 }, r[3];
	double most = 0;

	for (uint32_t i = first; i < end; i++) {
		int nr = piece_rects(&m->pieces[i], row_bytes, x, y, r);

		for (int k = 0; k < nr; k++) {
			double area = r[k].w * r[k].h * (m->pieces[i].ran ? 2 : ran_only ? 0 : 1);

			if (area <= most)
				continue;
			most = area;
			best = r[k];
		}
	}
	return best;
}

/* A unit's pieces on one page, or those of one of its functions. */
static void put_unit(struct canvas *c, struct panel *pn, uint32_t first, uint32_t end, double x, double y,
		     int64_t page)
{
	uint32_t row_bytes = pn->map.block_bytes < ROW_BYTES ? pn->map.block_bytes : ROW_BYTES;
	uint32_t unit = pn->map.pieces[first].unit;
	const struct plan_unit *u = &pn->v->p->units[unit];
	double heat = pn->map.pieces[first].heat;
	unsigned int bin = heat_bin(heat);
	struct spot *spot = &pn->spots[unit];
	struct rect label = label_rect(&pn->map, first, end, row_bytes, x, y, false), r[3];
	struct rect ran = label_rect(&pn->map, first, end, row_bytes, x, y, true);
	char *tip = unit_tip(pn, u, piece_name(pn->v->p, &pn->map.pieces[first]), heat);

	for (uint32_t i = first; i < end; i++) {
		const struct piece *pc = &pn->map.pieces[i];
		int nr = piece_rects(pc, row_bytes, x, y, r);

		for (int k = 0; k < nr; k++) {
			/* A thin gap of page colour parts a function from the one before. */
			double gap = k == 0 && pc->first && r[k].w > 3 ? 1 : 0;

			put_box(c, r[k].x + gap, r[k].y, r[k].w - gap, r[k].h - 0.6,
				pc->ran ? heat_colours[bin] : IDLE, pc->ran ? NULL : "#d4d0c6");
			if (r[k].x == label.x && r[k].y == label.y)
				put_label(c, piece_name(pn->v->p, pc), r[k].w - gap - 2,
					  pc->ran && heat_is_dark[bin]);
			end_box(c, tip);
		}
	}
	if (ran.w * ran.h > spot->area)
		*spot = (struct spot){ ran.x, ran.y + ran.h / 2, ran.w, ran.w * ran.h, page };
	free(tip);
}

static double page_height(const struct pagemap *m)
{
	uint32_t rows = m->block_bytes / ROW_BYTES;

	return (double)(rows ? rows : 1) * ROW_PT;
}

static bool same_name(const struct piece *a, const struct piece *b)
{
	return a->unit == b->unit && a->function == b->function;
}

static void put_page(struct canvas *c, struct panel *pn, const struct block *b, double x, double y)
{
	uint32_t last = b->first_piece + b->nr_pieces;
	char share[FORMAT_MAX];
	char *head = xasprintf("page %" PRId64 "%s  +0x%" PRIx64 "  in %s of %s", b->page,
			       in_parts(pn) ? ", part" : "", (uint64_t)b->number * pn->map.block_bytes,
			       format_percent(share, 100 * b->heat), pn->v->all ? "paths" : "runs");

	put_line(c, x, y, 7.5, SOFT, head);
	free(head);
	put_box(c, x - 1, y + PAGE_HEAD - 1, PAGE_PT + 2, page_height(&pn->map) + 1.4, FILLER, "#8b8f96");
	end_box(c, "cold filler: functions that no path runs");
	for (uint32_t i = b->first_piece, end; i < last; i = end) {
		for (end = i + 1; end < last && same_name(&pn->map.pieces[end], &pn->map.pieces[i]); end++)
			;
		put_unit(c, pn, i, end, x, y + PAGE_HEAD, b->page);
	}
}

/* A row of the overview, or a stretch of rows without anything hot. */
static double put_overview_row(struct canvas *c, const struct panel *pn, uint32_t first, uint32_t end,
			       int64_t row, double y)
{
	char tip[160], share[FORMAT_MAX];

	for (int64_t i = 0; i < SQUARES_A_ROW; i++) {
		const struct block *b = first < end && pn->map.blocks[first].number == row * SQUARES_A_ROW + i
						? &pn->map.blocks[first++]
						: NULL;
		bool hot = b && b->heat > 0;

		put_box(c, pn->x + (double)i * SQUARE_PT, y, SQUARE_PT - 1, SQUARE_PT - 1,
			/* cppcheck-suppress nullPointerRedundantCheck; hot says that there is one */
			hot ? heat_colours[heat_bin(b->heat)]
			: b ? IDLE
			    : FILLER,
			hot ? NULL
			: b ? "#d4d0c6"
			    : NULL);
		if (b)
			snprintf(tip, sizeof(tip), "page %" PRId64 ": in %s of paths", b->page,
				 format_percent(share, 100 * b->heat));
		end_box(c, b ? tip : NULL);
	}
	return y + SQUARE_PT;
}

static int64_t row_of(int64_t block)
{
	return block < 0 ? (block - SQUARES_A_ROW + 1) / SQUARES_A_ROW : block / SQUARES_A_ROW;
}

static void put_overview(struct canvas *c, struct panel *pn, double y)
{
	const struct pagemap *m = &pn->map;
	int64_t next = 0;
	char text[160], bytes[FORMAT_MAX], row_bytes[FORMAT_MAX];

	snprintf(text, sizeof(text), "every square is %s of kernel text, %s a row, coloured by %s",
		 format_bytes(bytes, m->block_bytes),
		 format_bytes(row_bytes, (uint64_t)m->block_bytes * SQUARES_A_ROW),
		 in_parts(pn) ? "its hottest function" : "the share of paths that touch it");
	put_line(c, pn->x, y, 7.5, SOFT, text);
	y += 12;
	for (uint32_t i = 0, end; i < m->nr_blocks; i = end) {
		int64_t row = row_of(m->blocks[i].number);

		for (end = i + 1; end < m->nr_blocks && row_of(m->blocks[end].number) == row; end++)
			;
		if (row > next && i) {
			snprintf(
				text, sizeof(text), "%s without hot functions",
				format_bytes(bytes, (uint64_t)(row - next) * SQUARES_A_ROW * m->block_bytes));
			put_line(c, pn->x, y, 7, SOFT, text);
			y += 10;
		}
		y = put_overview_row(c, pn, i, end, row, y);
		next = row + 1;
	}
	pn->bottom = y;
}

static void put_full_pages(struct canvas *c, struct panel *pn, double y)
{
	double pitch = page_height(&pn->map) + PAGE_HEAD + PAGE_GAP;
	uint32_t n = 0, hot = 0;
	char *text;

	for (uint32_t i = 0; i < pn->map.nr_blocks; i++) {
		hot += pn->map.blocks[i].heat > 0;
		pn->nr_kept += pn->keep[i];
	}
	if (pn->nr_kept < hot)
		text = xasprintf("the hottest %" PRIu32 " in full, by address; %" PRIu32
				 " more are in the overview only",
				 pn->nr_kept, hot - pn->nr_kept);
	else
		text = xasprintf("all %" PRIu32 " in full, by address", hot);
	put_line(c, pn->x, y, 7.5, SOFT, text);
	free(text);
	y += 14;
	for (uint32_t i = 0; i < pn->map.nr_blocks; i++) {
		if (!pn->keep[i])
			continue;
		uint32_t row = n / PAGES_A_ROW;

		put_page(c, pn, &pn->map.blocks[i], pn->x + n % PAGES_A_ROW * (PAGE_PT + PAGE_GAP), y + row * pitch);
		n++;
	}
	uint32_t rows = (n + PAGES_A_ROW - 1) / PAGES_A_ROW;

	pn->bottom = y + rows * pitch;
}

struct drawn_edge {
	uint32_t edge;
	uint64_t weight;
};

static int heavier(const void *a, const void *b)
{
	const struct drawn_edge *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x->edge < y->edge ? -1 : x->edge > y->edge;
}

static int64_t unit_page(const struct panel *pn, uint32_t unit, bool after)
{
	return after ? pn->v->p->units[unit].page : pn->v->p->units[unit].page_before;
}

/* Edges of the view that cross pages, heaviest first; returns how many. */
static uint32_t crossing_edges(const struct panel *pn, bool after, struct drawn_edge *out, uint64_t *total)
{
	const struct plan *p = pn->v->p;
	uint32_t nr = 0;

	*total = 0;
	for (uint32_t i = 0; i < p->nr_edges; i++) {
		const struct plan_edge *e = &p->edges[i];

		if (pn->v->heat[e->from] < 0 || pn->v->heat[e->to] < 0 ||
		    unit_page(pn, e->from, after) == unit_page(pn, e->to, after))
			continue;
		out[nr++] = (struct drawn_edge){ i, e->weight };
		*total += e->weight;
	}
	sort_array(out, nr, sizeof(*out), heavier);
	return nr;
}

static void put_edge(struct canvas *c, const struct panel *pn, const struct plan_edge *e, uint64_t heaviest)
{
	const struct spot *a = &pn->spots[e->from], *b = &pn->spots[e->to];
	double width = 0.4 + 3.6 * sqrt((double)e->weight / (double)heaviest);
	bool right = b->x > a->x + a->w, left = b->x + b->w < a->x;
	double x0 = left ? a->x : a->x + a->w, x1 = right ? b->x : b->x + b->w;
	double bow = right || left ? fabs(x1 - x0) / 2 : 26, dir = left ? -1 : 1, end = right ? -1 : 1;
	double tip = 3 + width, xe = x1 + end * tip;
	char *text = xasprintf("%s calls %s %" PRIu64 " times", pn->v->p->units[e->from].name,
			       pn->v->p->units[e->to].name, e->weight);

	fprintf(c->fp,
		"u%c%" PRIu32 " -> u%c%" PRIu32
		" [pos=\"e,%.1f,%.1f %.1f,%.1f %.1f,%.1f %.1f,%.1f %.1f,%.1f\", "
		"penwidth=%.2f, arrowsize=%.2f, tooltip=",
		pn->x > 0 ? 'a' : 'b', e->from, pn->x > 0 ? 'a' : 'b', e->to, x1, -b->y, x0, -a->y,
		x0 + dir * bow, -a->y, xe + end * bow, -b->y, xe, -b->y, width, 0.25 + width / 10);
	put_dot(c->fp, text);
	fputs("];\n", c->fp);
	free(text);
}

/* Edges want nodes: invisible ones at the labels. */
static void put_anchor(struct canvas *c, const struct panel *pn, uint32_t unit, bool *done)
{
	const struct spot *s = &pn->spots[unit];

	if (done[unit])
		return;
	done[unit] = true;
	fprintf(c->fp, "u%c%" PRIu32 " [style=invis, width=0.01, height=0.01, pos=\"%.1f,%.1f\"];\n",
		pn->x > 0 ? 'a' : 'b', unit, s->x + s->w / 2, -s->y);
}

static void put_edges(struct canvas *c, struct panel *pn, bool after, double y)
{
	const struct plan *p = pn->v->p;
	struct drawn_edge *edges = xcalloc(p->nr_edges, sizeof(*edges));
	bool *done = xcalloc(p->nr_units, sizeof(*done));
	uint64_t total, shown = 0;
	uint32_t nr = crossing_edges(pn, after, edges, &total), n = 0;
	char count[FORMAT_MAX], share[FORMAT_MAX];

	for (uint32_t i = 0; i < nr && n < DOT_EDGES; i++) {
		const struct plan_edge *e = &p->edges[edges[i].edge];

		if (pn->spots[e->from].area <= 0 || pn->spots[e->to].area <= 0)
			continue;
		put_anchor(c, pn, e->from, done);
		put_anchor(c, pn, e->to, done);
		put_edge(c, pn, e, edges[0].weight);
		shown += e->weight;
		n++;
	}
	char *text = nr ? xasprintf("%" PRIu32 " of %s calls between functions of different pages drawn; "
					       "they carry %s of "
				    "such calls",
				    n, format_count(count, nr),
				    format_percent(share, 100 * (double)shown / (double)total))
			: xasprintf("no call crosses pages");
	put_line(c, pn->x, y, 7.5, SOFT, text);
	free(text);
	free(edges);
	free(done);
}

static void put_panel_head(struct canvas *c, const struct panel *pn, bool after, double y)
{
	const struct plan *p = pn->v->p;
	const struct plan_side *s = after ? &p->after : &p->before;
	char pages[FORMAT_MAX], bytes[FORMAT_MAX];
	char *text;

	put_line(c, pn->x, y, 15, INK, after ? "After: the plan" : "Before: link order");
	if (pn->v->all)
		text = xasprintf("%s hot pages of %s; ITLB entries per path: %.1f mean, %.0f 95th "
				 "percentile, %.0f worst",
				 format_count(pages, s->pages), format_page_size(bytes, &p->machine),
				 s->mean, s->p95, s->max);
	else
		text = xasprintf("%.1f ITLB entries, mean; %s pages of %s over all variants",
				 after ? pn->v->after : pn->v->before, format_count(pages, pn->map.nr_pages),
				 format_page_size(bytes, &p->machine));
	put_line(c, pn->x, y + 20, 10, INK, text);
	free(text);
}

static double put_scale(struct canvas *c, double y)
{
	double x = 0;

	put_line(c, x, y, 8, SOFT, "colour: share of paths that run it");
	x += 150;
	for (unsigned int i = 0; i < HEAT_BINS; i++, x += 92) {
		put_box(c, x, y, 18, 10, heat_colours[i], NULL);
		end_box(c, NULL);
		put_line(c, x + 22, y, 8, INK, heat_labels[i]);
	}
	put_box(c, x, y, 18, 10, IDLE, "#a8a49a");
	end_box(c, NULL);
	put_line(c, x + 22, y, 8, INK, "part that does not run");
	x += 130;
	put_box(c, x, y, 18, 10, FILLER, "#8b8f96");
	end_box(c, NULL);
	put_line(c, x + 22, y, 8, INK, "cold filler");
	x += 90;
	put_line(c, x, y, 8, INK, "lines: calls that cross pages, wide where frequent");
	return y + 26;
}

static char *view_title(const struct view *v)
{
	char *text;
	size_t size;
	FILE *fp = text_open(&text, &size);
	uint32_t n = 0;

	if (v->all)
		fputs("Hot pages", fp);
	for (uint32_t i = 0; !v->all && i < v->p->nr_paths; i++)
		if (v->chosen[i])
			fprintf(fp, "%s%s", n++ ? ", " : "Pages of ", v->p->paths[i].root);
	fprintf(fp, " - Linux %s %s, %s, %s", v->p->vmlinux.release, v->p->vmlinux.arch, v->p->machine.name,
		v->p->algorithm);
	text_close(fp, &text);
	return text;
}

static void panel_init(struct panel *pn, const struct view *v, bool after, uint32_t nr_pages)
{
	memset(pn, 0, sizeof(*pn));
	pn->v = v;
	pn->x = after ? PANEL_PT + PANEL_GAP : 0;
	pagemap_init(&pn->map, v, after);
	pn->keep = xcalloc(pn->map.nr_blocks, sizeof(*pn->keep));
	pn->spots = xcalloc(v->p->nr_units, sizeof(*pn->spots));
	pagemap_hottest(&pn->map, nr_pages, pn->keep);
}

static void panel_release(struct panel *pn)
{
	pagemap_release(&pn->map);
	free(pn->keep);
	free(pn->spots);
}

void dot_pages(const struct view *v, uint32_t nr_pages, FILE *fp)
{
	struct canvas c = { .fp = fp };
	struct panel pn[2];
	char *title = view_title(v);
	double y, full = 0;

	fputs("// ", fp);
	put_text(fp, v->p->tool, 0);
	fprintf(fp,
		": draw with `dot -Tsvg -O FILE`\ndigraph hotpages {\n"
		"graph [layout=nop2, bgcolor=\"#fbfaf8\", pad=0.4, fontname=\"Helvetica\", tooltip=\" \"];\n"
		"node [shape=box, style=filled, fixedsize=true, penwidth=0, label=\"\", margin=0, "
		"fontname=\"Helvetica\", "
		"fontsize=7, tooltip=\" \"];\nedge [color=\"%s59\"];\n",
		EDGE);
	put_line(&c, 0, 0, 22, INK, title);
	free(title);
	y = put_scale(&c, 38);
	for (int i = 0; i < 2; i++) {
		panel_init(&pn[i], v, i, nr_pages);
		put_panel_head(&c, &pn[i], i, y);
		put_overview(&c, &pn[i], y + 42);
		full = pn[i].bottom > full ? pn[i].bottom : full;
	}
	for (int i = 0; i < 2; i++) {
		put_full_pages(&c, &pn[i], full + 16);
		put_edges(&c, &pn[i], i, pn[i].bottom + 4);
		panel_release(&pn[i]);
	}
	fputs("}\n", fp);
}
