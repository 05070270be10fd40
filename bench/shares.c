/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether a timer's samples fall where a fetch trace of the same run says they must:
 *
 *   shares VMLINUX TRACE SWITCHES SAMPLES SAMPLER
 *
 * SWITCHES: lines "ADDRESS NAME" of the instructions that turn interrupts on and off
 * (cli, sti, iretq, sysretq). SAMPLES: lines "SECTION ADDRESS"; sections of the trace
 * count from 1. Addresses are hexadecimal. SAMPLER: the function that takes a sample.
 *
 * A sample falls on the instruction that is next when the timer's interrupt is taken:
 * what runs with interrupts off counts for the place where they come back on. That is
 * followed through the trace block by block, so nothing need be known of functions.
 *
 *   f: ... spin_lock_irqsave [cli ............ sti] pop        -> all of it falls on f's pop
 *
 * What the interrupt runs that takes a sample is left out: the timer fires a period later.
 *
 * Samples of a timer are no independent draws: it fires in step with what the workload
 * repeats, and since taking a sample takes time, too, the steps may lock. How far
 * chi-square is from its degrees of freedom then, the trace tells: it is sampled as the
 * timer would, from PHASES phases, evenly spread over a period, each sample lasting as
 * long as those of its function did. The mean of their chi-square over its degrees is
 * the design effect; samples divided by it, the effective number.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/fetch/fetch.h"
#include "lib/error.h"
#include "lib/input.h"
#include "lib/mem.h"
#include "lib/number.h"
#include "lib/symtab.h"

enum { PHASES = 400, MAX_SECTIONS = 64, MAX_NEST = 64, MIN_EXPECTED = 5 };

enum change { CHANGE_NONE, CHANGE_OFF, CHANGE_ON, CHANGE_RETURN };

struct place {			/* an instruction that turns interrupts on or off */
	uint64_t addr;
	enum change change;
};

struct block {
	uint32_t func;		/* where it begins */
	enum change change;	/* the first within it */
	uint32_t before;	/* instructions up to that one, it included */
	bool entry, at_start;	/* in entry text; at a symbol */
	bool sampler;
};

struct segment {		/* so many instructions whose samples fall on a function */
	uint32_t func, insns;
};

struct list {
	struct segment *items;
	uint32_t nr, alloc;
};

struct section {
	struct list landed, ran;
	uint64_t insns;		/* with what the sampler ran */
	uint64_t samples;
};

/* How long samples took that fell on a function. */
struct cost {
	uint64_t insns, samples;
};

enum state { OFF, ARMED, ON };	/* ARMED: sti has run, the next instruction still goes before an interrupt */

static struct symtab st;
static uint32_t nr_funcs, user, nowhere;	/* ids: index in st.syms, then these two */
static struct place *places;
static uint32_t nr_places, alloc_places;
static struct section sections[MAX_SECTIONS];
static uint64_t entry_start, entry_end, sampler;
static struct cost *costs, all_costs;	/* [func] */

static uint32_t func_at(uint64_t addr)
{
	const struct sym *s = symtab_find(&st, addr);

	return s ? (uint32_t)(s - st.syms) : addr >> 63 ? nowhere : user;
}

static void add(struct list *l, uint32_t func, uint64_t insns)
{
	if (!insns)
		return;
	if (l->nr && l->items[l->nr - 1].func == func && l->items[l->nr - 1].insns + insns <= UINT32_MAX) {
		l->items[l->nr - 1].insns += (uint32_t)insns;
		return;
	}
	ALLOC_GROW(l->items, l->nr + 1, l->alloc);
	l->items[l->nr++] = (struct segment){ func, (uint32_t)insns };
}

/* How long a list was, to cut it there. */
struct length {
	uint32_t nr, insns;	/* insns: of the last */
};

static struct length length(const struct list *l)
{
	return (struct length){ l->nr, l->nr ? l->items[l->nr - 1].insns : 0 };
}

static void cut(struct list *l, struct length to)
{
	l->nr = to.nr;
	if (l->nr)
		l->items[l->nr - 1].insns = to.insns;
}

static uint64_t sum(const struct list *l)
{
	uint64_t all = 0;

	for (uint32_t i = 0; i < l->nr; i++)
		all += l->items[i].insns;
	return all;
}

static int cmp_places(const void *va, const void *vb)
{
	const struct place *a = va, *b = vb;

	return a->addr < b->addr ? -1 : a->addr > b->addr;
}

static void read_places(const char *path)
{
	static const char *const names[] = { [CHANGE_OFF] = "cli", [CHANGE_ON] = "sti", [CHANGE_RETURN] = "iretq" };
	struct input *in = input_open(path);
	char *line;

	if (!in)
		exit(1);
	while ((line = input_line(in, NULL))) {
		struct place p = { 0, CHANGE_RETURN };
		const char *s = line;

		if (!scan_hex(&s, &p.addr) || *s++ != ' ')
			die("'%s' holds '%s'", path, line);
		for (int c = CHANGE_OFF; c <= CHANGE_RETURN; c++)
			if (!strcmp(s, names[c]))
				p.change = (enum change)c;
		ALLOC_GROW(places, nr_places + 1, alloc_places);
		places[nr_places++] = p;
	}
	if (input_failed(in))
		exit(1);
	input_close(in);
	sort_array(places, nr_places, sizeof(*places), cmp_places);
}

static struct block know_block(const struct fetch_block *f)
{
	struct block b = { .func = func_at(f->addr), .before = f->insns };
	uint32_t lo = 0, hi = nr_places;

	b.entry = f->addr >= entry_start && f->addr < entry_end;
	b.sampler = f->addr == sampler;
	b.at_start = b.func < nr_funcs && st.syms[b.func].addr == f->addr;
	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (places[mid].addr < f->addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < nr_places && places[lo].addr < f->addr + f->bytes) {
		b.change = places[lo].change;
		/* sti, iretq and sysretq end a block; cli need not: instructions are taken to be of one size. */
		if (b.change == CHANGE_OFF)
			b.before = 1 + (uint32_t)((places[lo].addr - f->addr) * f->insns / f->bytes);
	}
	return b;
}

/* What an interrupt, exception or system call returns to. */
struct nest {
	enum state state;
	struct length landed, ran;
	uint64_t owed, began;	/* began: instructions of the section before it */
	bool sampled;		/* a sample was taken in it */
};

struct walk {
	struct section *section;
	enum state state;
	struct nest nest[MAX_NEST];
	unsigned int depth;
	uint64_t owed;		/* instructions whose samples fall where the next one begins that may be interrupted */
	bool was_entry;
	uint64_t cost;		/* of the sample just taken, whose function is not known yet */
};

static void add_cost(struct walk *w, uint32_t func)
{
	if (!w->cost)
		return;
	costs[func].insns += w->cost;
	costs[func].samples++;
	all_costs.insns += w->cost;
	all_costs.samples++;
	w->cost = 0;
}

static void enter(struct walk *w, const struct block *b)
{
	if (b->func == user)
		w->state = ON;
	/* From elsewhere, or nested in what runs with interrupts off: an interrupt, exception or system call. */
	bool entered = b->entry && (w->state == ON || (b->at_start && !w->was_entry));
	w->was_entry = b->entry;
	if (entered) {	/* what is owed falls where it returns to, as what runs in it does */
		const struct section *s = w->section;

		if (w->depth < MAX_NEST)
			w->nest[w->depth++] = (struct nest){ w->state == OFF ? OFF : ON, length(&s->landed), length(&s->ran),
							     w->owed, s->insns, false };
		w->state = OFF;
	}
	if (w->state == ON) {
		add(&w->section->landed, b->func, w->owed);
		w->owed = 0;
		add_cost(w, b->func);
	}
	if (b->sampler && w->depth)
		w->nest[w->depth - 1].sampled = true;
}

static void leave(struct walk *w)
{
	const struct nest *n = &w->nest[w->depth ? w->depth - 1 : 0];

	w->state = ON;
	if (!w->depth)
		return;
	w->depth--;
	w->state = n->state;
	if (!n->sampled)
		return;
	cut(&w->section->landed, n->landed);
	cut(&w->section->ran, n->ran);
	w->owed = n->owed;
	w->cost = w->section->insns - n->began;
}

static void run_block(struct walk *w, const struct block *b, uint32_t insns)
{
	struct section *s = w->section;

	enter(w, b);
	s->insns += insns;
	add(&s->ran, b->func, insns);
	if (w->state == ON && b->change == CHANGE_OFF) {
		add(&s->landed, b->func, b->before - 1);
		w->owed += insns - b->before + 1;
		w->state = OFF;
		return;
	}
	if (w->state == ON) {
		add(&s->landed, b->func, insns - 1);
		w->owed += 1;	/* the timer fires in the last: the next block is interrupted */
	} else {
		w->owed += insns;
	}
	if (w->state == ARMED)
		w->state = ON;
	if (b->change == CHANGE_ON && w->state == OFF)
		w->state = ARMED;
	if (b->change == CHANGE_RETURN)
		leave(w);
}

static void read_trace(const char *path)
{
	struct input *in = input_open(path);
	struct walk w = { .state = ON };
	struct block *blocks = NULL;
	uint32_t nr_blocks = 0, alloc_blocks = 0, nr = 0;
	struct fetch_event ev;
	struct fetch f;

	if (!in || fetch_init(&f, in))
		exit(1);
	int ret;
	while ((ret = fetch_next(&f, &ev)) > 0) {
		if (ev.kind == FETCH_EV_MARK && ev.block) {
			if (++nr >= MAX_SECTIONS)
				die("'%s' has more than %d sections", path, MAX_SECTIONS);
			w = (struct walk){ .section = &sections[nr], .state = ON };
		}
		if (ev.kind != FETCH_EV_RUN || !w.section)
			continue;
		for (; nr_blocks < f.nr_blocks; nr_blocks++) {
			ALLOC_GROW(blocks, nr_blocks + 1, alloc_blocks);
			blocks[nr_blocks] = know_block(&f.blocks[nr_blocks]);
		}
		for (uint32_t i = 0; i < ev.count; i++)
			run_block(&w, &blocks[ev.block], f.blocks[ev.block].insns);
	}
	if (ret)
		exit(1);
	free(blocks);
	fetch_release(&f);
	input_close(in);
}

/* Observed samples by function. */
static uint64_t *read_samples(const char *path)
{
	uint64_t *seen = xcalloc((size_t)nr_funcs + 2, sizeof(*seen)), section, addr;
	struct input *in = input_open(path);
	char *line;

	if (!in)
		exit(1);
	while ((line = input_line(in, NULL))) {
		const char *s = line;

		if (!scan_dec(&s, &section) || *s++ != ' ' || !scan_hex(&s, &addr) || section >= MAX_SECTIONS)
			die("'%s' holds '%s'", path, line);
		seen[func_at(addr)]++;
		sections[section].samples++;
	}
	if (input_failed(in))
		exit(1);
	input_close(in);
	return seen;
}

/* Samples expected by function when each section has so many. */
static void expect(double *e, bool landed, const uint64_t *samples)
{
	memset(e, 0, ((size_t)nr_funcs + 2) * sizeof(*e));

	for (int i = 0; i < MAX_SECTIONS; i++) {
		const struct list *l = landed ? &sections[i].landed : &sections[i].ran;
		double all = (double)sum(l);

		for (uint32_t k = 0; k < l->nr; k++)
			e[l->items[k].func] += (double)samples[i] * l->items[k].insns / all;
	}
}

struct result {
	double chi;
	unsigned int classes;
	uint32_t worst;		/* func; nowhere: the pooled rest */
	double worst_part, worst_seen, worst_expected;
};

static void add_class(struct result *r, uint32_t func, double seen, double expected)
{
	double part = (seen - expected) * (seen - expected) / expected;

	r->chi += part;
	r->classes++;
	if (part > r->worst_part) {
		r->worst_part = part;
		r->worst = func;
		r->worst_seen = seen;
		r->worst_expected = expected;
	}
}

/* Functions that expect too few samples are one class. */
static struct result chi_square(const double *e, const uint64_t *seen)
{
	struct result r = { .worst = nowhere };
	double rest = 0, rest_seen = 0;

	for (uint32_t f = 0; f < nr_funcs + 2; f++) {
		if (e[f] >= MIN_EXPECTED) {
			add_class(&r, f, (double)seen[f], e[f]);
		} else {
			rest += e[f];
			rest_seen += (double)seen[f];
		}
	}
	if (rest > 0)
		add_class(&r, nowhere, rest_seen, rest);
	return r;
}

static double cost_of(uint32_t func)
{
	const struct cost *c = costs[func].samples ? &costs[func] : &all_costs;

	return c->samples ? (double)c->insns / (double)c->samples : 0;
}

/* The samples that a timer of this phase, of [0, 1), takes; returns how many. */
static uint64_t sample_section(const struct section *s, double phase, uint64_t *seen)
{
	double period = s->samples ? (double)s->insns / (double)s->samples : 0, at = phase * period;
	uint64_t end = 0, nr = 0;

	for (uint32_t i = 0; i < s->landed.nr && period > 0; i++) {
		uint32_t func = s->landed.items[i].func;

		for (end += s->landed.items[i].insns; at < (double)end; nr++) {
			seen[func]++;
			/* What it takes to sample is no part of the list, but of the period. */
			at += fmax(period - cost_of(func), 1);
		}
	}
	return nr;
}

static const char *name_of(uint32_t func)
{
	return func < nr_funcs ? st.syms[func].id : func == user ? "user mode" : "all others together";
}

static void print(const char *what, const struct result *r)
{
	double df = r->classes - 1.0;
	/* Wilson and Hilferty: the cube root is about normal. */
	double z = df > 0 ? (cbrt(r->chi / df) - (1 - 2 / (9 * df))) / sqrt(2 / (9 * df)) : 0;

	printf("  %s: chi-square %.1f on %.0f degrees of freedom (z = %.1f)\n", what, r->chi, df, z);
	printf("    most of it from %s: %.1f expected, %.0f seen\n", name_of(r->worst), r->worst_expected,
	       r->worst_seen);
}

/* Sample the trace as the timer does; whether what was seen is as far off as one phase in a hundred is. */
static bool try_phases(const struct result *r, double *expected, uint64_t *seen, uint64_t nr)
{
	double mean = 0, df = r->classes - 1.0;
	uint64_t samples[MAX_SECTIONS];
	unsigned int worse = 0;

	for (int i = 0; i < PHASES; i++) {
		memset(seen, 0, ((size_t)nr_funcs + 2) * sizeof(*seen));
		for (int s = 0; s < MAX_SECTIONS; s++)
			samples[s] = sample_section(&sections[s], (i + 0.5) / PHASES, seen);
		expect(expected, true, samples);
		struct result phase = chi_square(expected, seen);
		mean += phase.chi / PHASES;
		worse += phase.chi >= r->chi;
	}
	double effect = mean / df;
	printf("  the same timer on the trace, %d phases: chi-square %.1f on average\n", PHASES, mean);
	printf("    design effect %.2f, %.0f effective samples\n", effect, (double)nr / effect);
	printf("  corrected chi-square %.1f on %.0f degrees of freedom; ", r->chi / effect, df);
	printf("%.1f %% of the phases are as far off\n", 100.0 * worse / PHASES);
	return 100 * worse >= PHASES;
}

int main(int argc, char **argv)
{
	uint64_t samples[MAX_SECTIONS], nr = 0;

	if (argc != 6) {
		fprintf(stderr, "usage: shares VMLINUX TRACE SWITCHES SAMPLES SAMPLER\n");
		return 2;
	}
	if (symtab_read_vmlinux(&st, argv[1]) || !symtab_value(&st, "__entry_text_start", &entry_start) ||
	    !symtab_value(&st, "__entry_text_end", &entry_end) || !symtab_value(&st, argv[5], &sampler))
		return 1;
	nr_funcs = user = st.nr_syms;
	nowhere = user + 1;
	costs = xcalloc((size_t)nr_funcs + 2, sizeof(*costs));
	read_places(argv[3]);
	read_trace(argv[2]);
	uint64_t *seen = read_samples(argv[4]);
	double *expected = xcalloc((size_t)nr_funcs + 2, sizeof(*expected));
	for (int i = 0; i < MAX_SECTIONS; i++)
		nr += samples[i] = sections[i].samples;
	printf("perf.data: %" PRIu64 " samples between the marks, each took %.0f instructions\n", nr, cost_of(nowhere));
	expect(expected, false, samples);
	struct result r = chi_square(expected, seen);
	print("against instructions where they ran", &r);
	expect(expected, true, samples);
	r = chi_square(expected, seen);
	print("against instructions where their samples fall", &r);
	return !try_phases(&r, expected, seen, nr);
}
