/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The text of `perf script`: a header line a sample, with the one address or
 * followed by the callchain's lines, innermost first; branch stacks stand at the
 * header's end or on a line of their own.
 *
 *   dd    21 [000]     1.816691:     250000 cpu-clock:
 *           ffffffffaa34917d slob_alloc.isra.0+0x24d ([kernel.kallsyms])
 *           ffffffffaa34922a slob_alloc_node+0x7a ([kernel.kallsyms])
 *
 * Addresses are those of the running kernel; its slide comes out of the symbols.
 */
#include <stdlib.h>
#include <string.h>

#include "collect/chain.h"
#include "collect/perf/perfdata_events.h"
#include "collect/perf/perfscript_line.h"
#include "collect/profile.h"
#include "collect/reader.h"
#include "lib/error.h"
#include "lib/input.h"
#include "lib/mem.h"
#include "lib/number.h"
#include "lib/symtab.h"

/* One event of the recording: a source of its own. */
struct lane {
	char *event;
	bool used;
	uint64_t samples;
	uint64_t named;		/* at code that has a name, but is no function of the image */
	struct chain chain;
};

/* A frame that lies where the symbols have its name. */
struct place_known {
	uint64_t addr, off, slide;
	const char *name;	/* of strings */
	bool has_off;
};

enum { NR_KNOWN = 1 << 12 };

struct script {
	struct input *in;
	const struct collect_options *opts;
	struct profile *p;
	struct lane **lanes;
	uint32_t nr_lanes, alloc_lanes;

	bool in_sample;
	struct lane *lane;		/* of the current sample */
	struct chain_sample sample;
	struct text_frame *frames;	/* its kernel frames */
	uint32_t nr_frames, alloc_frames;
	bool seen_user;			/* the chain has left the kernel */
	bool in_guest;			/* addresses are of another kernel */
	struct index strings;		/* names of the current sample, which outlive their lines */
	struct chain_branch *branches;
	uint32_t nr_branches, alloc_branches;
	struct chain_frame *places;
	uint32_t alloc_places;

	uint64_t slide;
	struct place_known *known;	/* small cache */
	uint64_t agreed, differed;	/* frames whose name the symbols have there, have not */
	uint64_t bad_lines;
	uint64_t lost;			/* as records say that were printed, too */
	bool times_differ;		/* they are but differences */
};

/* ---- places ---- */

static const char *keep(struct script *x, const char *s)
{
	return s ? index_str(&x->strings, index_add_str(&x->strings, s)) : NULL;
}

/*
 * The slide is the distance of a frame from where the symbols have its name: a
 * multiple of pages, whatever kernel it is. False when the frame teaches none.
 */
static bool learn_slide(struct script *x, const struct text_frame *f)
{
	enum { PAGE = 4096 };
	uint64_t value;

	if (!f->has_off)
		return false;
	const struct sym *s = symtab_find_id(x->opts->syms, f->name);
	if (s)
		value = s->addr;
	else if (!symtab_value(x->opts->syms, f->name, &value) || !(s = symtab_find(x->opts->syms, value)) ||
		 !strcmp(s->name, f->name))
		return false;
	/* Behind the function's end the two kernels differ. */
	s = symtab_find(x->opts->syms, value);
	if (!s || symtab_find(x->opts->syms, value + f->off) != s)
		return false;
	value = f->addr - f->off - value;
	if (value % PAGE || value == x->slide)
		return false;
	x->slide = value;
	return true;
}

static bool has_name_there(const struct script *x, const struct text_frame *f)
{
	const struct sym *s = symtab_find(x->opts->syms, f->addr - x->slide);
	uint64_t start, value;

	if (!s)
		return false;
	start = f->has_off ? f->addr - x->slide - f->off : s->addr;
	return symtab_goes_by(x->opts->syms, s, f->name, start) &&
	       (start == s->addr || (symtab_value(x->opts->syms, f->name, &value) && value == start));
}

/* Whether the symbols have the frame's name where it lies. */
static bool is_there(struct script *x, const struct text_frame *f)
{
	struct place_known *k = &x->known[(f->addr * 0x9e3779b97f4a7c15u >> 32) % NR_KNOWN];

	if (k->name == f->name && k->addr == f->addr && k->off == f->off && k->slide == x->slide &&
	    k->has_off == f->has_off)
		return true;
	if (!has_name_there(x, f))
		return false;
	*k = (struct place_known){ f->addr, f->off, x->slide, f->name, f->has_off };
	return true;
}

/* Find out which frames lie where the symbols have their names. One may show that the kernel lies elsewhere now. */
static void locate_frames(struct script *x)
{
	bool moved = false;

	if (!x->opts->syms)
		return;
	for (int turn = 0; turn < 1 + moved; turn++) {
		for (uint32_t i = 0; i < x->nr_frames; i++) {
			struct text_frame *f = &x->frames[i];

			if (f->located || f->kind != FRAME_KERNEL || f->module || !f->has_addr || !f->name)
				continue;
			f->located = is_there(x, f);
			if (!f->located && learn_slide(x, f))
				moved = f->located = true;
			if (f->located)
				f->addr -= x->slide;
		}
	}
}

static struct chain_frame generated_place(struct script *x, const struct text_frame *f)
{
	/* As the reader of perf.data calls them. */
	char *id = xasprintf("%.200s@[%s]", f->module, strncmp(f->module, "bpf_", 4) != 0 ? "generated" : "bpf");
	uint32_t func = profile_func(x->p, id);

	free(id);
	return (struct chain_frame){ func, PROFILE_OFF_UNKNOWN };
}

/* By its address where the symbols agree with the text or the text has no name, else by that name. */
static struct chain_frame place_of(struct script *x, const struct text_frame *f, bool is_return)
{
	struct chain *c = &x->lane->chain;
	struct chain_frame none = { INDEX_NONE, PROFILE_OFF_UNKNOWN };

	if (f->kind == FRAME_GENERATED)
		return generated_place(x, f);
	if (!f->module && f->has_addr && x->opts->syms && (f->located || !f->name)) {
		struct chain_frame place = chain_resolve(c, f->located ? f->addr : f->addr - x->slide, is_return);
		if (place.func != INDEX_NONE)
			return place;
	}
	if (!f->name)
		return none;
	struct chain_frame place = chain_resolve_name(c, f->name, f->module, f->off, is_return && f->has_off);
	/* Where the symbols' function is shorter, what follows it is another. */
	struct chain_frame start = f->off ? chain_resolve_name(c, f->name, f->module, 0, false) : place;
	if (!f->has_off || place.func != start.func)
		return (struct chain_frame){ start.func, PROFILE_OFF_UNKNOWN };
	return place;
}

static void resolve_frames(struct script *x)
{
	ALLOC_GROW(x->places, x->nr_frames, x->alloc_places);
	locate_frames(x);
	for (uint32_t i = 0; i < x->nr_frames; i++) {
		const struct text_frame *f = &x->frames[i];

		if (f->name && f->has_off && !f->module) {
			x->agreed += f->located;
			x->differed += !f->located;
		}
		x->places[i] = place_of(x, f, i > 0);
		if (i && chain_cuts(&x->lane->chain, x->places[i - 1].func, x->places[i].func))
			x->places[i] = place_of(x, f, false);
	}
	x->lane->named += x->frames[0].kind == FRAME_GENERATED;
}

/* ---- branch stacks ---- */

/* *user: it is an address of a program. */
static bool parse_branch_end(struct script *x, char *s, struct chain_frame *place, bool *user)
{
	struct text_frame f;

	if (!perfscript_branch_end(s, x->opts->syms, &f))
		return false;
	*user = f.kind == FRAME_USER && f.has_addr && f.addr && !perfscript_is_kernels(x->opts->syms, f.addr);
	*place = f.kind == FRAME_KERNEL || f.kind == FRAME_GENERATED ? place_of(x, &f, false)
		: (struct chain_frame){ INDEX_NONE, PROFILE_OFF_UNKNOWN };
	return true;
}

/* A line or rest of a line of branches, newest first; marks and end are those of the first. */
static void parse_branches(struct script *x, char *s, char *marks, char *end)
{
	const struct chain_frame none = { INDEX_NONE, PROFILE_OFF_UNKNOWN };

	locate_frames(x);
	do {
		struct chain_branch b = { none, none, false };
		bool leaves;
		char *mid = perfscript_middle(s, marks);

		if (mid) {
			*mid = *marks = '\0';
			if (!parse_branch_end(x, s + (skip_blanks(s) - s), &b.from, &b.enters))
				b.from = none;
			if (!parse_branch_end(x, mid + 1, &b.to, &leaves))
				b.to = none;
		}
		/* One that cannot be understood keeps its neighbours apart. */
		ALLOC_GROW(x->branches, x->nr_branches + 1, x->alloc_branches);
		x->branches[x->nr_branches++] = b;
		s = end;
	} while ((marks = perfscript_marks(s, &end)));
}

/* ---- samples ---- */

static void end_sample(struct script *x)
{
	if (!x->in_sample)
		return;
	if (x->lane->used) {
		if (x->nr_frames) {
			resolve_frames(x);
			chain_add(&x->lane->chain, x->places, x->nr_frames, &x->sample);
		} else {
			chain_add_other(&x->lane->chain);
		}
		if (x->nr_branches && !x->in_guest)
			chain_add_branches(&x->lane->chain, x->branches, x->nr_branches, true, &x->sample);
	}
	x->in_sample = x->seen_user = x->in_guest = false;
	x->nr_frames = x->nr_branches = 0;
	if (x->strings.nr_keys > 4096) {
		index_release(&x->strings);
		memset(x->known, 0, NR_KNOWN * sizeof(*x->known));
	}
}

static struct lane *lane_of(struct script *x, const char *event)
{
	const char *asked = x->opts->event;

	for (uint32_t i = 0; i < x->nr_lanes; i++)
		if (!strcmp(x->lanes[i]->event, event))
			return x->lanes[i];
	struct lane *l = xcalloc(1, sizeof(*l));
	l->event = xstrdup(event);
	l->used = asked ? perfdata_event_is_asked(event, asked) : !strcmp(event, "-") ||
		perfdata_event_is_cycles(event);
	if (l->used)
		chain_init(&l->chain, x->p, x->opts->syms);
	ALLOC_GROW(x->lanes, x->nr_lanes + 1, x->alloc_lanes);
	x->lanes[x->nr_lanes++] = l;
	return l;
}

/* Kernel frames come first; what looks like one later is rubbish of a user's stack. */
static void add_frame(struct script *x, const struct text_frame *f)
{
	x->in_guest |= f->kind == FRAME_GUEST;
	if (f->kind == FRAME_USER || f->kind == FRAME_GUEST)
		x->seen_user = true;
	else if (f->kind != FRAME_INLINED && (!x->seen_user || f->name)) {
		ALLOC_GROW(x->frames, x->nr_frames + 1, x->alloc_frames);
		x->frames[x->nr_frames] = *f;
		x->frames[x->nr_frames].name = keep(x, f->name);
		x->frames[x->nr_frames++].module = keep(x, f->module);
	}
}

/* What follows the event on the header line: nothing, the one address, branches, or a tracepoint's fields. */
static void parse_rest(struct script *x, char *rest)
{
	struct text_frame f;
	char *s = rest + (skip_blanks(rest) - rest), *marks, *end, *branches = NULL, *head_end, was;

	if (!*s)
		return;
	marks = perfscript_marks(rest, &end);
	if (marks) {
		char *mid = perfscript_middle(s, marks);
		branches = perfscript_branches(rest, mid ? mid : marks, x->opts->syms, &head_end);
		was = *head_end;
		*head_end = '\0';
	}
	if (rest < s && perfscript_frame(s - 1, x->opts->syms, &f) && (f.name || f.addr > UINT32_MAX))
		add_frame(x, &f);
	if (branches) {
		*head_end = was;
		parse_branches(x, branches, marks, end);
	}
}

static bool begin_sample(struct script *x, char *line)
{
	struct text_sample t;
	const char *rest = perfscript_sample(line, &t);

	if (!rest)
		return false;
	end_sample(x);
	x->lane = lane_of(x, t.event);
	x->lane->samples++;
	x->sample = (struct chain_sample){ 1, x->times_differ ? CHAIN_NO_TASK : t.task, t.time_ns };
	x->in_sample = true;
	if (x->lane->used)
		parse_rest(x, line + (rest - line));
	return true;
}

static int read_line(struct script *x, char *line)
{
	struct text_frame f;
	char *marks, *end;
	uint64_t lost;

	if (!*skip_blanks(line)) {
		end_sample(x);
		return 0;
	}
	if (perfscript_record(line, &lost)) {
		end_sample(x);
		add_count(&x->lost, lost);
		return 0;
	}
	/* A task's name may begin like a comment. */
	if (begin_sample(x, line) || *line == '#')
		return 0;
	if (x->in_sample && !x->lane->used)
		return 0;
	if (x->in_sample && (marks = perfscript_marks(line, &end))) {
		parse_branches(x, line, marks, end);
		return 0;
	}
	if (x->in_sample && perfscript_frame(line, x->opts->syms, &f)) {
		add_frame(x, &f);
		return 0;
	}
	if (x->in_sample && perfscript_aside(line))
		return 0;
	if (!x->nr_lanes)
		return error("cannot read '%s': line %lu has no time (perf script -F comm,tid,time,event,ip,sym,symoff,dso prints it)",
			     input_name(x->in), input_lineno(x->in));
	if (x->opts->force) {
		x->bad_lines++;
		return 0;
	}
	return error("cannot read '%s': line %lu is neither a sample nor a frame", input_name(x->in),
		     input_lineno(x->in));
}

/* Sources, one an event. When no event counts time and none was asked for, that is an error. */
static int finish(struct script *x)
{
	bool any = false;

	end_sample(x);
	for (uint32_t i = 0; i < x->nr_lanes; i++) {
		struct lane *l = x->lanes[i];

		if (!l->used)
			continue;
		any = true;
		struct profile_source *s = profile_add_source(x->p, "perf-script");
		profile_set(&s->event, l->event);
		if (x->opts->syms)
			source_set_kernel(s, x->opts->syms);
		s->lost = x->lost;
		x->lost = 0;
		chain_finish(&l->chain, s);
		s->resolved -= l->named;
		s->unresolved += l->named;
	}
	for (uint32_t i = 0; any && i < x->nr_lanes; i++)
		if (!x->lanes[i]->used)
			perfdata_tell_left_out(input_name(x->in), x->lanes[i]->samples, x->lanes[i]->event);
	if (any)
		return 0;
	const char *other = x->nr_lanes ? x->lanes[0]->event : NULL;
	return error("cannot read '%s': no event '%s' in it%s%s%s", input_name(x->in),
		     x->opts->event ? x->opts->event : "cycles", other ? ", but '" : "", other ? other : "",
		     !other ? "" : x->opts->event ? "'" : "' (--event takes it)");
}

static void release(struct script *x)
{
	for (uint32_t i = 0; i < x->nr_lanes; i++) {
		if (x->lanes[i]->used)
			chain_release(&x->lanes[i]->chain);
		free(x->lanes[i]->event);
		free(x->lanes[i]);
	}
	free(x->lanes);
	free(x->frames);
	free(x->branches);
	free(x->places);
	free(x->known);
	index_release(&x->strings);
}

/* Whether the times are those of --deltatime: others do not fall again and again, for perf sorts its samples. */
static bool has_differences(struct input *in)
{
	enum { LOOK_AT = 1 << 17, ENOUGH = 8 };
	uint64_t last = 0, nr = 0, falls = 0;
	size_t len;
	const char *s = input_peek(in, LOOK_AT, &len), *stop = s ? s + (len < LOOK_AT ? len : LOOK_AT) : NULL, *end;

	for (; s < stop && (end = memchr(s, '\n', (size_t)(stop - s))); s = end + 1) {
		struct text_sample t;
		char *line = *s == '\t' ? NULL : xstrndup(s, (size_t)(end - s));

		if (line && perfscript_sample(line, &t)) {
			falls += t.time_ns < last;
			last = t.time_ns;
			nr++;
		}
		free(line);
	}
	return nr >= ENOUGH && falls > nr / 8;
}

static int read_perfscript(struct input *in, const char *path, const struct collect_options *opts,
			   struct profile *p)
{
	struct script x = { .in = in, .opts = opts, .p = p };
	size_t len;
	char *line;
	int ret = 0;

	(void)path;
	x.times_differ = has_differences(in);
	x.known = xcalloc(NR_KNOWN, sizeof(*x.known));
	while (!ret && (line = input_line(in, &len)))
		ret = strlen(line) == len ? read_line(&x, line)
					  : error("cannot read '%s': line %lu holds a zero byte",
						  input_name(in), input_lineno(in));
	if (input_failed(in))
		x.in_sample = false;	/* it may lack frames */
	if (!ret)
		ret = collect_rest(in, opts, x.nr_lanes);
	if (!ret && opts->syms && x.differed > x.agreed / 10)
		warn("'%s': %llu of %llu frames are not where the symbols have them: matched by name", input_name(in),
		     (unsigned long long)x.differed, (unsigned long long)(x.agreed + x.differed));
	if (!ret)
		ret = finish(&x);
	if (!ret && x.times_differ)
		warn("'%s': its times fall again and again: successions left out (perf script without --deltatime "
		     "tells them)", input_name(in));
	if (!ret && x.bad_lines)
		warn("'%s': %llu lines left out, they are neither samples nor frames", input_name(in),
		     (unsigned long long)x.bad_lines);
	release(&x);
	return ret;
}

/*
 * The first line that is no comment and no other record is a sample. Where it is none, since perf was not told to print
 * times, the frame behind it tells; bpftrace prints such frames, too.
 */
static bool probe(const char *head, size_t len)
{
	bool records = false, unknown = false;
	const char *end;

	for (const char *s = head; s < head + len; s = end + 1) {
		struct text_sample t;
		uint64_t lost;

		end = memchr(s, '\n', (size_t)(head + len - s));
		if (!end)
			end = head + len;
		if (end == s || *s == '#')
			continue;
		char *line = xstrndup(s, (size_t)(end - s));
		bool record = perfscript_record(line, &lost), sample = !record && perfscript_sample(line, &t);
		bool framed = perfscript_looks_framed(line);
		free(line);
		if (framed || (sample && !unknown))
			return true;
		if (unknown || (!record && *s == '@'))
			return false;
		records |= record;
		unknown = !record;
	}
	return records && !unknown;
}

const struct reader perfscript_reader = {
	.name = "perf-script",
	.tells = "samples, call sites from callchains, proved ranges and calls from branch stacks; "
		 "slow to read",
	.probe = probe,
	.read = read_perfscript,
};
