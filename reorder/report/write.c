/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report's files in a plan folder. */
#include "report.h"

#include <stdlib.h>

#include "dot.h"
#include "lib/error.h"
#include "lib/file.h"
#include "pagemap.h"
#include "reorder/plan/plan.h"

static void write_text(const struct plan *p, FILE *fp)
{
	report_text(p, fp, (struct text_style){ false, false, false });
}

static void write_pages(const struct plan *p, FILE *fp)
{
	struct view v;

	if (view_init(&v, p, NULL))
		return;
	dot_pages(&v, DOT_PAGES, fp);
	view_release(&v);
}

static int write_one(const struct plan *p, const char *dir, const char *name,
		     void (*write)(const struct plan *, FILE *))
{
	char *path = path_join(dir, name);
	struct outfile out;
	int ret = outfile_init(&out, path);

	if (!ret) {
		write(p, out.fp);
		ret = outfile_commit(&out);
	}
	free(path);
	return ret;
}

static int draw_pages(const char *dir)
{
	char *dot = path_join(dir, "hotpages.dot"), *svg = path_join(dir, "hotpages.svg"), *cause;
	int ret = dot_draw(dot, svg, &cause);

	if (ret > 0) {	/* the folder's name is not known yet */
		note("no picture: %s; later, `dot -Tsvg hotpages.dot -o hotpages.svg` in the plan's folder draws it", cause);
		ret = 0;
	}
	free(cause);
	free(dot);
	free(svg);
	return ret;
}

int report_write_all(const struct plan *p, const char *dir, bool draw)
{
	if (write_one(p, dir, "plan.json", plan_write_json) || write_one(p, dir, "report.txt", write_text) ||
	    write_one(p, dir, "report.html", report_html) || write_one(p, dir, "hotpages.dot", write_pages))
		return -1;
	return draw ? draw_pages(dir) : 0;
}
