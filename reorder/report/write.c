/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report's files in a plan folder. */
#include "report.h"

#include <stdlib.h>

#include "lib/file.h"
#include "reorder/plan.h"

static void write_text(const struct plan *p, FILE *fp)
{
	report_text(p, fp, (struct text_style){ false, false });
}

static int write_one(const struct plan *p, const char *dir, const char *name, void (*write)(const struct plan *, FILE *))
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

int report_write_all(const struct plan *p, const char *dir)
{
	if (write_one(p, dir, "plan.json", plan_write_json) || write_one(p, dir, "report.txt", write_text))
		return -1;
	return 0;
}
