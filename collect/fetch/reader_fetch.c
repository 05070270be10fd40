/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The reader "fetch": a fetch trace made into a profile. */
#include <inttypes.h>
#include <string.h>

#include "fetch.h"
#include "fetchpaths.h"
#include "collect/profile.h"
#include "collect/reader.h"
#include "lib/error.h"
#include "lib/input.h"
#include "lib/symtab.h"

static bool probe(const char *head, size_t len)
{
	return fetch_probe(head, len);
}

static int read_events(struct fetch *f, const struct symtab *syms, const struct collect_options *opts,
		       struct profile *p)
{
	struct profile_source *s;
	struct fetch_paths w;
	struct fetch_event ev;
	char hex[2 * BUILD_ID_MAX + 1];
	int ret;

	fetch_paths_init(&w, f, syms, p);
	while ((ret = fetch_next(f, &ev)) > 0)
		fetch_paths_event(&w, &ev);
	if (ret < 0 && opts->force && f->nr_events) {
		warn("'%s': the readable part is used, %" PRIu64 " blocks run; what follows is lost",
		     input_name(f->in), f->nr_events);
		ret = 0;
	}
	if (!ret) {
		s = profile_add_source(p, "fetch");
		profile_set(&s->event, "instructions");
		profile_set(&s->release, syms->release);
		profile_set(&s->build_id, build_id_hex(syms->build_id, syms->build_id_size, hex));
		fetch_paths_finish(&w, s);
	}
	fetch_paths_release(&w);
	return ret;
}

static int read_fetch(struct input *in, const char *path, const struct collect_options *opts,
		      struct profile *p)
{
	struct fetch f;
	int ret;

	(void)path;
	if (!opts->syms)
		return error("cannot read '%s': a fetch trace holds addresses, and needs its kernel: "
			     "give --vmlinux", input_name(in));
	ret = fetch_init(&f, in);
	const char *vmlinux = opts->vmlinux ? opts->vmlinux : "the symbols";
	if (!ret && fetch_map_check(&f, opts->syms, input_name(in), vmlinux)) {
		ret = -1;
		if (opts->force) {
			warn("'%s' is used in spite of that", input_name(in));
			ret = 0;
		}
	}
	if (!ret)
		ret = read_events(&f, opts->syms, opts, p);
	fetch_release(&f);
	return ret;
}

const struct reader fetch_reader = {
	.name = "fetch",
	.tells = "every block of code that ran, in order: times, calls, whole paths; not what time it took",
	.probe = probe,
	.read = read_fetch,
};
