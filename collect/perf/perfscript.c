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
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "collect/chain.h"
#include "collect/perf/perfdata_events.h"
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
	struct chain chain;
};

struct text_frame {
	uint64_t addr, off;
	const char *name;	/* NULL: no symbol */
	const char *module;	/* NULL: the kernel proper */
	bool has_addr, has_off;
};

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
	struct index strings;		/* names of the current sample, which outlive their lines */
	struct chain_branch *branches;
	uint32_t nr_branches, alloc_branches;
	struct chain_frame *places;
	uint32_t alloc_places;

	uint64_t slide;
	bool has_slide;
	uint64_t bad_lines;
};

/* ---- lines ---- */

static const char *skip_blanks(const char *s)
{
	while (*s == ' ' || *s == '\t')
		s++;
	return s;
}

/*
 * The time is the one token of digits, a point, six or nine digits and a colon.
 * Returns where the colon stands; what precedes the token ends at *start.
 */
static const char *find_time(const char *line, const char **start, uint64_t *ns)
{
	for (const char *s = line; (s = strchr(s, '.')); s++) {
		const char *from = s, *p = s + 1;
		uint64_t sec, frac;

		while (from > line && isdigit((unsigned char)from[-1]))
			from--;
		if (from == s || (from > line && from[-1] != ' ') || !isdigit((unsigned char)*p))
			continue;
		const char *digits = p, *q = from;
		if (!scan_dec(&p, &frac) || *p != ':' || (p - digits != 6 && p - digits != 9) ||
		    !scan_dec(&q, &sec))
			continue;
		if (sec > UINT64_MAX / 2000000000u)
			continue;
		*ns = sec * 1000000000u + frac * (p - digits == 6 ? 1000u : 1u);
		*start = from;
		return p;
	}
	return NULL;
}

/* "comm  pid/tid [cpu]" or "comm  tid [cpu]" before the time: the tid, as the key of the task. */
static uint64_t parse_task(const char *line, const char *end)
{
	const char *s = end;

	while (s > line && s[-1] == ' ')
		s--;
	if (s > line && s[-1] == ']') {
		while (s > line && s[-1] != '[')
			s--;
		if (s > line)
			s--;
		while (s > line && s[-1] == ' ')
			s--;
	}
	const char *tid_end = s;
	while (s > line && isdigit((unsigned char)s[-1]))
		s--;
	uint64_t tid;
	return s < tid_end && scan_dec(&s, &tid) && tid ? tid : CHAIN_NO_TASK;
}

/*
 * Behind the time: an optional period, then the event, ending in a colon and a
 * blank. Returns what follows.
 */
static const char *parse_event(const char *s, char *event, size_t size)
{
	s = skip_blanks(s);
	if (isdigit((unsigned char)*s)) {
		const char *p = s;
		uint64_t period;
		if (scan_dec(&p, &period) && *p == ' ')
			s = skip_blanks(p);
	}
	size_t n = strcspn(s, " \t");
	if (!n) {	/* -F left the event out */
		strcpy(event, "-");
		return s;
	}
	if (n < 2 || s[n - 1] != ':' || n > size)
		return NULL;
	memcpy(event, s, n - 1);
	event[n - 1] = '\0';
	return s + n;
}

/* A high address whose dso is not known: perf had no kernel symbols, or a user's stack holds rubbish. */
static bool is_high(uint64_t addr)
{
	return addr >> 47 == 0x1ffff && addr != UINT64_MAX;
}

/* Whether "(dso)" is the kernel's or a module's; NULL in *module for the kernel proper. False: user space. */
static bool kernel_dso(char *dso, uint64_t addr, const char **module)
{
	char *base = strrchr(dso, '/');
	size_t n;

	*module = NULL;
	base = base ? base + 1 : dso;
	if (!strncmp(dso, "[kernel.", 8) || !strncmp(dso, "[guest.kernel.", 14) ||
	    !strncmp(base, "vmlinux", 7) ||
	    !strcmp(dso, "/proc/kcore") || !strcmp(dso, "[kcore]"))
		return true;
	if (!strcmp(dso, "[unknown]") || !strcmp(dso, "[vdso]") || !strcmp(dso, "[vsyscall]") ||
	    !strcmp(dso, "[stack]") || !strcmp(dso, "[heap]"))
		return dso[1] == 'u' && is_high(addr);
	n = strlen(dso);
	if (dso[0] == '[' && n > 2 && dso[n - 1] == ']') {
		dso[n - 1] = '\0';
		*module = dso + 1;
		return true;
	}
	/* ext4.ko, ext4.ko.xz */
	char *ko = strstr(base, ".ko");
	if (ko && (!ko[3] || ko[3] == '.')) {
		*ko = '\0';
		*module = base;
		return true;
	}
	return false;
}

/* "name+0x12" in place. */
static void parse_symbol(struct text_frame *f, char *s)
{
	char *plus = strrchr(s, '+');

	f->name = NULL;
	f->has_off = false;
	f->off = 0;
	if (!*s || !strcmp(s, "[unknown]"))
		return;
	if (plus && plus != s && plus[1] == '0' && plus[2] == 'x') {
		const char *p = plus + 3;
		if (scan_hex(&p, &f->off) && !*p) {
			f->has_off = true;
			*plus = '\0';
		}
	}
	f->name = s;
}

/* "  ffffffffaa34917d name+0x24d (dso)" in place. False when the line is no frame. */
static bool parse_frame(char *line, struct text_frame *f, bool *kernel)
{
	const char *p = skip_blanks(line);
	char *dso = NULL, *sym;

	memset(f, 0, sizeof(*f));
	if (p == line || !scan_hex(&p, &f->addr) || (*p && *p != ' '))
		return false;
	f->has_addr = true;
	sym = line + (skip_blanks(p) - line);
	size_t n = strlen(sym);
	while (n && sym[n - 1] == ' ')
		sym[--n] = '\0';
	if (n && sym[n - 1] == ')') {
		dso = sym == strrchr(sym, '(') ? sym : strstr(sym, " (");
		for (char *next; dso && (next = strstr(dso + 1, " ("));)
			dso = next;
		if (dso) {
			sym[n - 1] = '\0';
			*dso = '\0';
			dso += dso == sym ? 1 : 2;
		}
	}
	parse_symbol(f, sym);
	/* Without dsos only the address tells; 32-bit kernels begin at 2 GB or above, but so may programs. */
	*kernel = dso ? kernel_dso(dso, f->addr, &f->module) : is_high(f->addr);
	if (dso && !strcmp(dso, "inlined"))
		*kernel = false;
	return true;
}

/* ---- places ---- */

static const char *keep(struct script *x, const char *s)
{
	return s ? index_str(&x->strings, index_add_str(&x->strings, s)) : NULL;
}

/* The slide is the distance of a frame from where the symbols have its name. */
static void learn_slide(struct script *x, const struct text_frame *f)
{
	uint64_t value;

	if (x->has_slide || !x->opts->syms || !f->has_addr || !f->name || !f->has_off || f->module)
		return;
	const struct sym *s = symtab_find_id(x->opts->syms, f->name);
	if (s)
		value = s->addr;
	else if (!symtab_value(x->opts->syms, f->name, &value) || !(s = symtab_find(x->opts->syms, value)) ||
		 !strcmp(s->name, f->name))
		return;
	x->slide = f->addr - f->off - value;
	x->has_slide = true;
}

static struct chain_frame place_of(struct script *x, const struct text_frame *f, bool is_return)
{
	struct chain *c = &x->lane->chain;
	struct chain_frame none = { INDEX_NONE, PROFILE_OFF_UNKNOWN };

	if (!f->module && f->has_addr && x->opts->syms) {
		struct chain_frame place = chain_resolve(c, f->addr - x->slide, is_return);
		if (place.func != INDEX_NONE)
			return place;
	}
	if (!f->name)
		return none;
	struct chain_frame place = chain_resolve_name(c, f->name, f->module, f->off, is_return && f->has_off);
	if (!f->has_off)
		place.off = PROFILE_OFF_UNKNOWN;
	return place;
}

static void resolve_frames(struct script *x)
{
	ALLOC_GROW(x->places, x->nr_frames, x->alloc_places);
	for (uint32_t i = 0; i < x->nr_frames; i++)
		learn_slide(x, &x->frames[i]);
	for (uint32_t i = 0; i < x->nr_frames; i++) {
		x->places[i] = place_of(x, &x->frames[i], i > 0);
		if (i && chain_cuts(&x->lane->chain, x->places[i - 1].func, x->places[i].func))
			x->places[i] = place_of(x, &x->frames[i], false);
	}
}

/* ---- branch stacks ---- */

/* One end of "0xffffffff81000010/0x.../P/-/-/0" or "name+0x10/name+0x20/...", each maybe with "(dso)". */
static bool parse_branch_end(struct script *x, char *s, struct chain_frame *place)
{
	struct text_frame f = { 0 };
	char *open = strchr(s, '('), *close = open ? strchr(open, ')') : NULL;
	const char *p = s + 2;
	bool kernel = true;

	if (open && !close)
		return false;
	if (open) {
		*open = *close = '\0';
		kernel = kernel_dso(open + 1, 0, &f.module);
	}
	if (s[0] == '0' && s[1] == 'x') {
		if (!scan_hex(&p, &f.addr) || *p)
			return false;
		f.has_addr = true;
		if (!open)
			kernel = f.addr >> 63 || (x->opts->syms && !x->opts->syms->is_64 &&
						  f.addr >= x->opts->syms->text_addr);
	} else {
		parse_symbol(&f, s);
		/* Programs have functions too: only names that the kernel has, where that is known. */
		uint64_t value;
		if (!open)
			kernel = f.name && (!x->opts->syms || symtab_value(x->opts->syms, f.name, &value));
	}
	*place = kernel ? place_of(x, &f, false) : (struct chain_frame){ INDEX_NONE, PROFILE_OFF_UNKNOWN };
	return true;
}

/* The slash that ends an end: one within "(dso)" does not. */
static char *end_slash(char *s)
{
	int depth = 0;

	for (; *s; s++) {
		if (*s == '(')
			depth++;
		else if (*s == ')')
			depth--;
		else if (*s == '/' && !depth)
			return s;
	}
	return NULL;
}

static bool parse_branch(struct script *x, char *s, struct chain_branch *b)
{
	char *to = end_slash(s), *rest;

	if (!to)
		return false;
	*to++ = '\0';
	rest = end_slash(to);
	if (!rest)
		return false;
	*rest = '\0';
	return parse_branch_end(x, s, &b->from) && parse_branch_end(x, to, &b->to);
}

/* A line or rest of a line of branches, newest first. Names in it may not hold blanks. */
static void parse_branches(struct script *x, char *s)
{
	char *save = NULL;

	for (s = strtok_r(s, " \t", &save); s; s = strtok_r(NULL, " \t", &save)) {
		struct chain_branch b;

		if (!parse_branch(x, s, &b))
			return;
		ALLOC_GROW(x->branches, x->nr_branches + 1, x->alloc_branches);
		x->branches[x->nr_branches++] = b;
	}
}

/* Whether the text begins with a branch: "from/to/" and a mark. */
static bool is_branch(const char *s)
{
	size_t n = strcspn(s, " \t");
	int slashes = 0;

	for (size_t i = 0; i < n; i++)
		slashes += s[i] == '/';
	return slashes >= 4 && strcspn(s, "+") < n + (s[0] == '0' && s[1] == 'x' ? strlen(s) : 0);
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
		if (x->nr_branches)
			chain_add_branches(&x->lane->chain, x->branches, x->nr_branches, &x->sample);
	}
	x->in_sample = x->seen_user = false;
	x->nr_frames = x->nr_branches = 0;
	if (x->strings.nr_keys > 4096)
		index_release(&x->strings);
}

static struct lane *lane_of(struct script *x, const char *event)
{
	const char *asked = x->opts->event;

	for (uint32_t i = 0; i < x->nr_lanes; i++)
		if (!strcmp(x->lanes[i]->event, event))
			return x->lanes[i];
	struct lane *l = xcalloc(1, sizeof(*l));
	l->event = xstrdup(event);
	l->used = asked ? perfdata_event_is(event, asked) : !strcmp(event, "-") ||
		perfdata_event_is_cycles(event);
	if (l->used)
		chain_init(&l->chain, x->p, x->opts->syms);
	ALLOC_GROW(x->lanes, x->nr_lanes + 1, x->alloc_lanes);
	x->lanes[x->nr_lanes++] = l;
	return l;
}

static void add_frame(struct script *x, const struct text_frame *f)
{
	ALLOC_GROW(x->frames, x->nr_frames + 1, x->alloc_frames);
	x->frames[x->nr_frames] = *f;
	x->frames[x->nr_frames].name = keep(x, f->name);
	x->frames[x->nr_frames++].module = keep(x, f->module);
}

/* What follows the event on the header line: nothing, the one address, branches, or a tracepoint's fields. */
static void parse_rest(struct script *x, char *rest)
{
	struct text_frame f;
	bool kernel;
	char *s = rest + (skip_blanks(rest) - rest);

	if (!*s)
		return;
	if (is_branch(s)) {
		parse_branches(x, s);
		return;
	}
	/* The branches behind the address: "addr name+0x1 (dso)   0x1/0x2/P/-/-/0  ..." */
	char *branches = NULL;
	for (char *b = s; (b = strstr(b, "  ")) && !branches; b++)
		if (is_branch(skip_blanks(b)))
			branches = b;
	if (branches)
		*branches++ = '\0';
	if (rest < s && parse_frame(s - 1, &f, &kernel) && kernel && (f.name || f.addr > UINT32_MAX))
		add_frame(x, &f);
	if (branches)
		parse_branches(x, branches);
}

static bool begin_sample(struct script *x, char *line)
{
	const char *task_end, *colon, *rest;
	uint64_t ns;
	char event[256];

	colon = find_time(line, &task_end, &ns);
	if (!colon || !(rest = parse_event(colon + 1, event, sizeof(event))))
		return false;
	end_sample(x);
	x->lane = lane_of(x, event);
	x->sample = (struct chain_sample){ 1, parse_task(line, task_end), ns };
	x->in_sample = true;
	if (x->lane->used)
		parse_rest(x, line + (rest - line));
	return true;
}

static int read_line(struct script *x, char *line)
{
	struct text_frame f;
	bool kernel;
	const char *s = skip_blanks(line);

	if (!*s) {
		end_sample(x);
		return 0;
	}
	if (*line == '#')
		return 0;
	if (begin_sample(x, line))
		return 0;
	if (x->in_sample && !x->lane->used)
		return 0;
	if (x->in_sample && is_branch(s)) {
		parse_branches(x, line);
		return 0;
	}
	if (x->in_sample && parse_frame(line, &f, &kernel)) {
		/* Kernel frames come first; what looks like one later is rubbish of a user's stack. */
		if (kernel && (!x->seen_user || f.name))
			add_frame(x, &f);
		x->seen_user |= !kernel;
		return 0;
	}
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
		chain_finish(&l->chain, s);
	}
	if (any)
		return 0;
	const char *other = x->nr_lanes ? x->lanes[0]->event : NULL;
	return error("cannot read '%s': no event '%s' in it%s%s%s", input_name(x->in),
		     x->opts->event ? x->opts->event : "cycles", other ? ", but '" : "", other ? other : "",
		     other ? "'" : "");
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
	index_release(&x->strings);
}

static int read_perfscript(struct input *in, const char *path, const struct collect_options *opts,
			   struct profile *p)
{
	struct script x = { .in = in, .opts = opts, .p = p };
	size_t len;
	char *line;
	int ret = 0;

	(void)path;
	while (!ret && (line = input_line(in, &len)))
		ret = strlen(line) == len ? read_line(&x, line)
					  : error("cannot read '%s': line %lu holds a zero byte",
						  input_name(in), input_lineno(in));
	if (input_failed(in))
		ret = -1;
	if (!ret)
		ret = finish(&x);
	if (!ret && x.bad_lines)
		warn("'%s': %llu lines left out, they are neither samples nor frames", input_name(in),
		     (unsigned long long)x.bad_lines);
	release(&x);
	return ret;
}

static bool probe(const char *head, size_t len)
{
	const char *end;
	uint64_t ns;

	for (const char *s = head; s < head + len; s = end + 1) {
		const char *start;
		char event[256];

		end = memchr(s, '\n', (size_t)(head + len - s));
		if (!end)
			end = head + len;
		if (end == s || *s == '#')
			continue;
		char *line = xstrndup(s, (size_t)(end - s));
		const char *colon = find_time(line, &start, &ns);
		bool good = colon && parse_event(colon + 1, event, sizeof(event));
		free(line);
		return good;
	}
	return false;
}

const struct reader perfscript_reader = {
	.name = "perf-script",
	.tells = "samples, call sites from callchains, proved ranges and calls from branch stacks; "
		 "slow to read",
	.probe = probe,
	.read = read_perfscript,
};
