/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The pages whose ITLB misses a CPU sampled, beside what the replayed trace predicts for them: text and HTML. */
#include "report.h"

#include <inttypes.h>

#include "format.h"
#include "page.h"
#include "reorder/plan/plan.h"

enum { MAX_PAGES = 40 };

static double percent(uint64_t part, uint64_t all)
{
	return all && part != PLAN_UNKNOWN ? 100 * (double)part / (double)all : 0;
}

static bool is_predicted(const struct plan_measured *m)
{
	return m->predicted != PLAN_UNKNOWN && m->same_pages >= 0;
}

static uint32_t nr_shown(const struct plan_measured *m)
{
	return m->nr_pages < MAX_PAGES ? m->nr_pages : MAX_PAGES;
}

void report_measured(const struct plan *p, FILE *fp)
{
	const struct plan_measured *m = &p->measured;

	if (!m->page_bytes)
		return;
	fprintf(fp, "\nITLB misses sampled: %" PRIu64 " in text, %" PRIu64 " in other kernel code\n", m->in_text,
		m->elsewhere);
	if (is_predicted(m))
		fprintf(fp, "predicted by the trace: %" PRIu64 ", of which %.1f %% fall on the same pages of %" PRIu64
			" KB\n", m->predicted, 100 * m->same_pages, m->page_bytes >> 10);
	fprintf(fp, "%-18s %9s %9s  %s\n", "page", "measured", "predicted", "missed most in");
	for (uint32_t i = 0; i < nr_shown(m); i++) {
		const struct plan_missed *page = &m->pages[i];
		char predicted[32] = "-";

		if (is_predicted(m))
			snprintf(predicted, sizeof(predicted), "%.2f %%", percent(page->predicted, m->predicted));
		fprintf(fp, "%#18" PRIx64 " %7.2f %% %9s  ", page->addr, percent(page->sampled, m->in_text), predicted);
		put_text(fp, page->function ? page->function : "-", 0);
		fputc('\n', fp);
	}
}

static void put_row(const struct plan_measured *m, const struct plan_missed *page, FILE *fp)
{
	char text[FORMAT_MAX];

	fprintf(fp, "<tr><th scope=\"row\" class=\"mono\">%#" PRIx64 "</th><td class=\"n\">%s</td>", page->addr,
		format_percent(text, percent(page->sampled, m->in_text)));
	if (is_predicted(m))
		fprintf(fp, "<td class=\"n\">%s</td>", format_percent(text, percent(page->predicted, m->predicted)));
	fputs("<td class=\"mono\">", fp);
	put_html(fp, page->function ? page->function : "-");
	fputs("</td></tr>\n", fp);
}

void html_measured(const struct plan *p, FILE *fp)
{
	const struct plan_measured *m = &p->measured;
	char n[FORMAT_MAX], all[FORMAT_MAX], bytes[FORMAT_MAX];

	if (!m->page_bytes)
		return;
	fputs("<section id=\"sampled\" aria-labelledby=\"sampled-title\"><h2 id=\"sampled-title\">Sampled ITLB "
	      "misses</h2>\n", fp);
	fprintf(fp, "<p>The CPU's own event sampled %s misses in this kernel's text and %s in other kernel code. ",
		format_count(n, m->in_text), format_count(all, m->elsewhere));
	if (is_predicted(m))
		fprintf(fp, "The replayed trace predicts %s; %.1f %% of both fall on the same pages of %s. ",
			format_count(n, m->predicted), 100 * m->same_pages, format_bytes(bytes, m->page_bytes));
	if (m->nr_pages > nr_shown(m))
		fprintf(fp, "The %" PRIu32 " of %s pages that missed most:", nr_shown(m), format_count(n, m->nr_pages));
	fputs("</p>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"pages by sampled misses\"><table>"
	      "<thead><tr><th scope=\"col\">page</th><th scope=\"col\" class=\"n\">sampled</th>", fp);
	if (is_predicted(m))
		fputs("<th scope=\"col\" class=\"n\">predicted</th>", fp);
	fputs("<th scope=\"col\">missed most in</th></tr></thead><tbody>\n", fp);
	for (uint32_t i = 0; i < nr_shown(m); i++)
		put_row(m, &m->pages[i], fp);
	fputs("</tbody></table></div>\n</section>\n", fp);
}
