/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hottext report: shows a plan as text, pictures or HTML. */
#include "commands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/error.h"
#include "lib/file.h"
#include "lib/mem.h"
#include "lib/opt.h"
#include "reorder/plan/plan.h"
#include "reorder/report/dot.h"
#include "reorder/report/pagemap.h"
#include "reorder/report/report.h"

static bool opt_csv, opt_diff, opt_callgraph, opt_pages;
static const char *opt_output, *opt_syscall, *opt_annotate, *opt_vmlinux;
static unsigned int opt_nr_pages;
static struct callgraph_options graph = { .node_percent = -1, .edge_percent = -1 };	/* not given */
static unsigned int opt_nr_nodes;

static const struct opt options[] = {
	{ 'o', "output", "FILE", "write FILE: .html, .svg, .pdf, .png, .dot, .csv, .json or .txt", OPT_STRING,
	  &opt_output, 0, 0 },
	{ 0, "csv", NULL, "all paths as CSV", OPT_FLAG, &opt_csv, 0, 0 },
	{ 0, "pages", NULL, "the hot-page picture, as DOT unless -o names another format", OPT_FLAG,
	  &opt_pages, 0, 0 },
	{ 0, "syscall", "NAME,...", "that picture for these paths alone", OPT_STRING, &opt_syscall, 0, 0 },
	{ 0, "page-count", "N", "pages drawn in full on each side (24)", OPT_UINT, &opt_nr_pages, 1, 4096 },
	{ 0, "callgraph", NULL, "the weighted call graph, likewise", OPT_FLAG, &opt_callgraph, 0, 0 },
	{ 0, "focus", "NAME", "in it: only what leads to or from functions with NAME in theirs", OPT_STRING,
	  &graph.focus, 0, 0 },
	{ 0, "ignore", "NAME", "in it: leave out functions with NAME in theirs", OPT_STRING, &graph.ignore, 0,
	  0 },
	{ 0, "node-percent", "P", "in it: leave out functions with less of the weight (0.5)", OPT_DOUBLE,
	  &graph.node_percent, 0, 0 },
	{ 0, "edge-percent", "P", "in it: leave out calls with less of all calls (0.1)", OPT_DOUBLE,
	  &graph.edge_percent, 0, 0 },
	{ 0, "nodes", "N", "in it: at most so many functions (80)", OPT_UINT, &opt_nr_nodes, 1, 100000 },
	{ 0, "diff", NULL, "compare two plans: A B", OPT_FLAG, &opt_diff, 0, 0 },
	{ 0, "annotate", "FUNCTION", "source lines by heat; wants --vmlinux with debug information",
	  OPT_STRING, &opt_annotate, 0, 0 },
	{ 0, "vmlinux", "FILE", "the kernel that the plan was made from", OPT_STRING, &opt_vmlinux, 0, 0 },
	OPT_JSON,
	OPT_COMMON
};

enum kind { KIND_TEXT, KIND_JSON, KIND_CSV, KIND_HTML, KIND_DOT, KIND_DRAWN };
static const char *const kind_names[] = { "text", "JSON", "CSV", "HTML", "DOT", "a drawing" };

enum what { WHAT_PLAN, WHAT_PICTURE, WHAT_DIFF, WHAT_SOURCE };
static const struct {
	const char *name;
	enum kind kind;		/* where nothing is said */
	unsigned int kinds;	/* bit k: can be had as kind k */
} whats[] = {
	{ "a plan", KIND_TEXT, ~0u },
	{ "a picture", KIND_DOT, 1u << KIND_DOT | 1u << KIND_DRAWN },
	{ "a difference", KIND_TEXT, 1u << KIND_TEXT | 1u << KIND_JSON },
	{ "annotated source", KIND_TEXT, 1u << KIND_TEXT },
};

static const struct {
	const char *suffix;
	enum kind kind;
} suffixes[] = {
	{ ".txt", KIND_TEXT }, { ".json", KIND_JSON }, { ".csv", KIND_CSV },   { ".html", KIND_HTML },
	{ ".dot", KIND_DOT },  { ".svg", KIND_DRAWN }, { ".pdf", KIND_DRAWN }, { ".png", KIND_DRAWN },
};

/* What is to be shown; -1 after reporting what cannot be at once. */
static int find_what(void)
{
	const char *const names[] = { opt_diff ? "--diff" : NULL, opt_annotate ? "--annotate" : NULL,
				      opt_callgraph ? "--callgraph" : NULL, opt_pages ? "--pages" : NULL };
	const char *first = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (first && names[i])
			return usage_error("report", "%s and %s cannot be had at once", first, names[i]), -1;
		first = first ? first : names[i];
	}
	if (opt_syscall && (opt_diff || opt_annotate))
		return usage_error("report", "--syscall chooses among a picture's paths, %s has none", first), -1;
	return opt_diff ? WHAT_DIFF : opt_annotate ? WHAT_SOURCE : first || opt_syscall ? WHAT_PICTURE : WHAT_PLAN;
}

/* By flag, else by the suffix of -o, else what suits best. -1 after reporting. */
static int output_kind(enum what what)
{
	const char *dot = opt_output ? strrchr(opt_output, '.') : NULL;
	int kind = opt_json ? KIND_JSON : opt_csv ? KIND_CSV : -1, named = -1;

	if (dot && strchr(dot, '/'))
		dot = NULL;
	for (size_t i = 0; dot && i < ARRAY_SIZE(suffixes); i++)
		if (!strcmp(dot, suffixes[i].suffix))
			named = (int)suffixes[i].kind;
	if (opt_json && opt_csv)
		return usage_error("report", "--json and --csv cannot be had at once"), -1;
	/* Whatever is text may be called .txt. */
	if (kind >= 0 && named > KIND_TEXT && named != kind)
		return usage_error("report", "'%s' is a name for %s, not for %s", opt_output, kind_names[named],
				   kind_names[kind]), -1;
	if (kind < 0 && named < 0 && dot)
		return usage_error("report", "no format goes by the suffix '%s'", dot), -1;
	if (kind < 0)
		kind = named < 0 ? (int)whats[what].kind : named;
	if (!(whats[what].kinds >> kind & 1))
		return usage_error("report", "%s cannot be had as %s", whats[what].name, kind_names[kind]), -1;
	return kind;
}

/* Options that would be passed over. */
static int check_options(enum kind kind)
{
	const char *of_graph = graph.focus ? "--focus" : graph.ignore ? "--ignore" :
			       graph.node_percent >= 0 ? "--node-percent" : graph.edge_percent >= 0 ? "--edge-percent" :
			       opt_nr_nodes ? "--nodes" : NULL;

	if (of_graph && !opt_callgraph)
		return usage_error("report", "%s wants --callgraph", of_graph);
	if (opt_nr_pages && (opt_callgraph || kind < KIND_DOT))
		return usage_error("report", "--page-count wants a picture of pages");
	if (opt_annotate && !opt_vmlinux)
		return usage_error("report", "--annotate wants --vmlinux FILE");
	if (opt_vmlinux && !opt_annotate)
		return usage_error("report", "--vmlinux wants --annotate FUNCTION");
	if (!opt_nr_pages)
		opt_nr_pages = DOT_PAGES;
	graph.nr_nodes = opt_nr_nodes ? opt_nr_nodes : 80;
	graph.node_percent = graph.node_percent >= 0 ? graph.node_percent : 0.5;
	graph.edge_percent = graph.edge_percent >= 0 ? graph.edge_percent : 0.1;
	return 0;
}

static void put_picture(const struct view *v, FILE *fp)
{
	if (opt_callgraph)
		dot_callgraph(v, &graph, fp);
	else
		dot_pages(v, opt_nr_pages, fp);
}

/* Draw through a DOT file that goes away again. */
static int draw(const struct view *v)
{
	char dot[] = "/tmp/hottext-XXXXXX", *cause = NULL;
	int fd = temp_file(dot), ret;
	FILE *fp = fd < 0 ? NULL : fdopen(fd, "w");

	if (!fp)
		return error("cannot write '%s': %s", dot, strerror(errno));
	put_picture(v, fp);
	errno = EIO;
	bool bad = ferror(fp);
	if (fclose(fp) || bad)
		ret = error("cannot write '%s': %s", dot, strerror(errno));
	else
		ret = dot_draw(dot, opt_output, &cause);
	unlink(dot);
	temp_forget(dot);
	if (ret > 0)
		ret = error("cannot draw '%s': %s; a .dot file can be written without it", opt_output, cause);
	free(cause);
	return ret;
}

static void put_plan(const struct plan *p, enum kind kind, FILE *fp)
{
	if (kind == KIND_JSON)
		plan_write_json(p, fp);
	else if (kind == KIND_CSV)
		report_csv(p, fp);
	else if (kind == KIND_HTML)
		report_html(p, fp);
	else
		report_text(p, fp, text_style_for(fp));
}

static int show(const struct plan *p, enum kind kind)
{
	struct outfile out;
	struct view v;

	if (view_init(&v, p, opt_syscall))
		return EXIT_FAILED;
	int ret = kind == KIND_DRAWN ? draw(&v) : outfile_init(&out, opt_output);
	if (!ret && kind != KIND_DRAWN) {
		if (kind == KIND_DOT)
			put_picture(&v, out.fp);
		else
			put_plan(p, kind, out.fp);
		ret = outfile_commit(&out);
	}
	view_release(&v);
	return ret ? EXIT_FAILED : EXIT_DONE;
}

static int diff(const struct plan *a, const char *path)
{
	struct outfile out;
	struct plan b;

	if (plan_read_json(&b, path))
		return EXIT_FAILED;
	int ret = outfile_init(&out, opt_output);
	if (!ret) {
		if (opt_json)
			report_diff_json(a, &b, out.fp);
		else
			report_diff(a, &b, out.fp, text_style_for(out.fp));
		ret = outfile_commit(&out);
	}
	plan_release(&b);
	return ret ? EXIT_FAILED : EXIT_DONE;
}

static int annotate(const struct plan *p)
{
	struct outfile out;

	if (outfile_init(&out, opt_output))
		return EXIT_FAILED;
	if (report_annotate(p, opt_vmlinux, opt_annotate, out.fp, text_style_for(out.fp))) {
		outfile_abort(&out);
		return EXIT_FAILED;
	}
	return outfile_commit(&out) ? EXIT_FAILED : EXIT_DONE;
}

static int run(int argc, char **argv)
{
	struct plan p;
	int ret, kind, what = find_what();

	if (what < 0)
		return EXIT_USAGE;
	if (argc != (opt_diff ? 2 : 1))
		return usage_error("report", opt_diff ? "--diff wants two plans" : "wants one PLAN");
	kind = output_kind((enum what)what);
	if (kind < 0 || check_options((enum kind)kind))
		return EXIT_USAGE;
	if (plan_read_json(&p, argv[0]))
		return EXIT_FAILED;
	if (opt_diff)
		ret = diff(&p, argv[1]);
	else if (opt_annotate)
		ret = annotate(&p);
	else
		ret = show(&p, (enum kind)kind);
	plan_release(&p);
	return ret;
}

const struct command report_command = {
	.name = "report",
	.args = "PLAN...",
	.summary = "show a plan as text, pictures or HTML",
	.details = "PLAN is a plan folder or its plan.json. Without options the table that optimize ended "
		   "with is\n"
		   "printed; --json prints the plan itself.",
	.example = "hottext report --syscall read,write -o read.svg plan",
	.opts = options,
	.run = run,
};
