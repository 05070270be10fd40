// SPDX-License-Identifier: GPL-3.0-or-later
/* Completing each path of a profile, and the totals that follow from it. */
#include "analyze/completion/complete.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/completion/complete-internal.h"
#include "analyze/image/image.h"
#include "collect/profile.h"
#include "collect/root.h"
#include "lib/mem.h"

enum {
	DEFAULT_VARIANTS = 4,
	MAX_VARIANTS = 16,
	LEARN_PASSES = 2,
	MAX_LESSONS = 4000,	/* paths looked at in each */
	MANY_PATHS = 10000,	/* from here on a path has half the variants, from twice as many a quarter */
	RUN_UNIT = 1 << 20,	/* bytes: a path that runs so many each time has one run a sample */
	MIN_COST = 64,		/* bytes: entry and exit of anything */
};
static const double DEFAULT_MIN_PROBABILITY = 0.3;
static const double FREQUENT = 0.002;		/* of all runs: functions expected in so many are taken in at REACH_MIN */

const char *const completion_reason_names[] = {
	[COMPLETION_UNSEEN] = "unseen",
	[COMPLETION_LIKELY] = "likely",
	[COMPLETION_PROVED] = "proved",
	[COMPLETION_SEEN] = "seen",
};

uint32_t out_func(struct completer *c, uint32_t image_func)
{
	uint32_t *f = &c->out_of[image_func];

	if (*f == INDEX_NONE)
		*f = profile_func(c->out, c->img->funcs[image_func].id);
	return *f;
}

/* Everything of in but its paths; func ids stay the same. */
static void copy_all_but_paths(const struct profile *in, struct profile *out)
{
	for (uint32_t i = 0; i < in->nr_sources; i++)
		profile_merge_source(out, &in->sources[i]);
	for (uint32_t i = 0; i < in->names.nr_keys; i++) {
		uint32_t f = profile_func(out, profile_func_name(in, i));
		out->funcs[f] = in->funcs[i];
	}
	for (uint32_t i = 0; i < in->touches.nr_keys; i++) {
		uint32_t func, chunk;
		profile_get_touch(in, i, &func, &chunk);
		profile_add_touch(out, func, chunk, in->touch_weights[i]);
	}
	for (uint32_t i = 0; i < in->calls.nr_keys; i++) {
		uint32_t caller, off, callee;
		profile_get_call(in, i, &caller, &off, &callee);
		profile_add_call(out, caller, off, callee, in->call_weights[i]);
	}
}

/* The chunks of a member that are likely enough for this variant, in words[]; returns how many words. */
static uint32_t pick_chunks(struct completer *c, const struct member *m, float at_least, uint32_t *nr_chunks)
{
	uint32_t nr = m->act ? m->act->nr_chunks : 0, words = (nr + 31) / 32;
	struct profile_foot foot = { 0 };

	if (m->foot != INDEX_NONE) {
		foot = profile_get_foot(c->in, m->foot);
		if (foot.nr_words > words)
			words = foot.nr_words;
	}
	ALLOC_GROW(c->words, words + 1, c->alloc_words);
	memset(c->words, 0, ((size_t)words + 1) * sizeof(*c->words));
	for (uint32_t k = 0; k < nr; k++)
		if (m->act->chunks[k] * m->reach.probability >= at_least)
			c->words[k / 32] |= 1u << (k % 32);
	*nr_chunks = 0;
	for (uint32_t k = 0; k < words; k++) {
		if (k < foot.nr_words)
			c->words[k] |= foot.chunks[k];
		*nr_chunks += (uint32_t)__builtin_popcount(c->words[k]);
	}
	return words;
}

/* How likely a chunk must be to be in variant v of n: the middle of the v-th of n equal shares. */
static float variant_threshold(const struct completer *c, uint32_t v)
{
	float t = ((float)v + 0.5f) / (float)c->variants;

	if (c->proved_only)
		return 1;
	return t;
}

/*
 * How likely a function must be in a path to be taken in: what is seldom needed
 * dilutes the pages of what is often needed, but a fair chance of running all the
 * time is worth its place.
 */
static float floor_of(const struct completer *c, uint32_t func)
{
	if (c->proved_only)
		return 1;
	return c->func_runs[func] >= FREQUENT * c->all_runs ? REACH_MIN : (float)c->min_probability;
}

uint32_t emit_path(struct completer *c, enum path_kind kind, uint32_t root, uint64_t weight, float at_least)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < c->nr_outside; i++) {
		struct profile_foot foot = profile_get_foot(c->in, c->outside[i]);

		ALLOC_GROW(c->feet, nr + 1, c->alloc_feet);
		c->feet[nr++] = profile_foot(c->out, foot.func, foot.chunks, foot.nr_words);
	}
	for (uint32_t i = 0; i < c->nr_members; i++) {
		const struct member *m = &c->members[i];
		uint32_t chunks, words;
		float floor = floor_of(c, m->reach.func);
		if (at_least > floor)
			floor = at_least;
		if (m->reach.probability < floor && m->foot == INDEX_NONE)
			continue;
		words = pick_chunks(c, m, floor, &chunks);
		if (!chunks && m->act && m->foot == INDEX_NONE)
			continue;
		ALLOC_GROW(c->feet, nr + 1, c->alloc_feet);
		c->emitted[m->reach.func] = true;
		c->feet[nr++] = profile_foot(c->out, out_func(c, m->reach.func), c->words, words);
	}
	return profile_add_distinct_path(c->out, kind, root, c->feet, nr, weight);
}

static struct completion_func *report_func(struct completer *c, uint32_t func)
{
	struct completion *r = c->report;

	while (r->nr_funcs <= func) {
		ALLOC_GROW(r->funcs, r->nr_funcs + 1, c->alloc_funcs);
		r->funcs[r->nr_funcs++] = (struct completion_func){ .via = INDEX_NONE };
	}
	return &r->funcs[func];
}

static void note_members(struct completer *c, uint64_t weight)
{
	for (uint32_t i = 0; i < c->nr_members; i++) {
		const struct member *m = &c->members[i];
		if (m->reach.probability < floor_of(c, m->reach.func))
			continue;
		struct completion_func *f = report_func(c, out_func(c, m->reach.func));
		f->weight += (double)weight * (double)m->reach.probability;
		if (m->reach.probability > f->probability) {
			f->probability = m->reach.probability;
			f->via = m->reach.via == INDEX_NONE ? INDEX_NONE : out_func(c, m->reach.via);
			f->via_off = m->reach.via_off;
		}
		if (m->act)
			m->act->weight += (double)weight * (double)m->reach.probability;
	}
}

static bool has_source(const struct profile *p, const char *reader)
{
	for (uint32_t i = 0; i < p->nr_sources; i++)
		if (!strcmp(p->sources[i].reader, reader))
			return true;
	return false;
}

/*
 * Whether a path comes from a fetch trace, in a profile that holds both: most of its
 * functions were seen at their first bytes, where a sampled chain has return addresses.
 */
static bool is_whole(const struct completer *c, const struct profile_path *path)
{
	uint32_t entered = 0;

	if (!c->has_fetch || path->kind == PATH_CHAIN)
		return false;
	for (uint32_t i = 0; i < path->nr_feet; i++) {
		struct profile_foot foot = profile_get_foot(c->in, path->feet[i]);
		entered += foot.nr_words && (foot.chunks[0] & 1);
	}
	return entered * 4 >= path->nr_feet * 3;
}

/* Bytes that the path at hand is expected to run, loops counted. */
static double path_cost(const struct completer *c)
{
	double cost = 0;

	for (uint32_t i = 0; i < c->nr_members; i++)
		if (c->members[i].act)
			cost += (double)c->members[i].reach.probability * c->members[i].act->cost;
	return cost;
}

/* Rounded; the largest count stands for what none can hold. */
static uint64_t rounded(double runs)
{
	return runs + 0.5 < 18446744073709551616.0 ? (uint64_t)(runs + 0.5) : UINT64_MAX;	/* 2^64 */
}

/* Of what is there at all, one at least. */
static uint64_t some(double runs)
{
	return runs >= 1 ? rounded(runs) : 1;
}

/*
 * Samples count time; what matters for an order is how often a path ran. So many
 * samples of a path that runs so many bytes each time stand for so many runs, in
 * units that let the longest paths keep some digits.
 */
static uint64_t runs_of(const struct completer *c, uint64_t samples)
{
	double cost = path_cost(c);

	if (c->is_graph)
		return some((double)samples * c->graph_scale);
	return some((double)samples * RUN_UNIT / (cost > MIN_COST ? cost : MIN_COST));
}

/* Share the path's samples out over the bytes it is expected to run. */
static void expect_samples(struct completer *c, uint64_t weight)
{
	double cost = path_cost(c), runs = (double)runs_of(c, weight);

	c->all_runs += runs;
	*(c->is_graph ? &c->graph_bytes : &c->sampled_bytes) += (double)weight * (c->is_graph ? cost : RUN_UNIT);
	for (uint32_t i = 0; i < c->nr_members; i++)
		c->func_runs[c->members[i].reach.func] += runs * (double)c->members[i].reach.probability;

	for (uint32_t i = 0; cost > 0 && !c->is_graph && i < c->nr_members; i++)
		if (c->members[i].act)
			c->members[i].act->samples_per_byte +=
				(double)weight * (double)c->members[i].reach.probability / cost;
}

/* Bytes that a whole path fetched, chunk by chunk. */
static double whole_bytes(const struct completer *c, const struct profile_path *path)
{
	double bytes = 0;

	for (uint32_t i = 0; i < path->nr_feet; i++) {
		struct profile_foot foot = profile_get_foot(c->in, path->feet[i]);
		for (uint32_t k = 0; k < foot.nr_words; k++)
			bytes += PROFILE_CHUNK * __builtin_popcount(foot.chunks[k]);
	}
	return bytes;
}

/* Go over the sampled paths once to learn from what they should have seen and did not. */
static void learn(struct completer *c)
{
	c->all_runs = c->graph_bytes = c->sampled_bytes = c->whole_bytes = 0;
	memset(c->func_runs, 0, c->img->nr_funcs * sizeof(*c->func_runs));
	/* Of very many paths an even choice teaches as much, each standing for its neighbours. */
	uint32_t stride = 1 + c->in->paths.nr_keys / MAX_LESSONS;
	for (uint32_t i = 0; i < c->in->paths.nr_keys; i += stride) {
		struct profile_path path = profile_get_path(c->in, i);
		if (is_whole(c, &path)) {
			c->whole_bytes += (double)c->in->path_weights[i] * stride * whole_bytes(c, &path);
			continue;
		}
		expand(c, i);
		expect_samples(c, c->in->path_weights[i] * stride);
	}
	/* All kinds of recording count for the same time in all. */
	if (c->graph_bytes > 0 && c->sampled_bytes > 0)
		c->graph_scale = c->sampled_bytes / c->graph_bytes;
	if (c->whole_bytes > 0 && c->sampled_bytes + c->graph_bytes > 0)
		c->whole_scale = (c->sampled_bytes > 0 ? c->sampled_bytes : c->graph_bytes) / c->whole_bytes;
	activations_learn(&c->acts);
}

static void complete_path(struct completer *c, uint32_t id, uint32_t *out)
{
	struct profile_path path = profile_get_path(c->in, id);
	uint64_t weight = c->in->path_weights[id];

	expand(c, id);
	note_members(c, weight);
	weight = runs_of(c, weight);
	c->runs[(out - c->out_path) / c->variants] = (double)weight;
	for (uint32_t v = 0; v < c->variants; v++)
		out[v] = emit_path(c, path.kind, path.root, weight, variant_threshold(c, v));
}

static void copy_path(struct completer *c, const struct profile_path *path, uint64_t weight, uint32_t *out)
{
	uint32_t *feet = xcalloc((size_t)path->nr_feet + 1, sizeof(*feet));

	for (uint32_t i = 0; i < path->nr_feet; i++) {
		struct profile_foot foot = profile_get_foot(c->in, path->feet[i]);
		feet[i] = profile_foot(c->out, foot.func, foot.chunks, foot.nr_words);
	}
	double runs = (double)weight * c->whole_scale * c->variants;
	c->runs[(out - c->out_path) / c->variants] = runs / c->variants;
	out[0] = profile_add_path(c->out, path->kind, path->root, feet, path->nr_feet, some(runs));
	for (uint32_t v = 1; v < c->variants; v++)
		out[v] = out[0];
	free(feet);
}

/* What followed what, in the runs of the path that followed. */
static uint64_t next_weight(const struct completer *c, uint32_t to, uint64_t weight)
{
	return some(c->runs[to] / (double)c->in->path_weights[to] * (double)weight);
}

static void complete_paths(struct completer *c)
{
	const struct profile *in = c->in;

	for (uint32_t i = 0; i < in->paths.nr_keys; i++) {
		struct profile_path path = profile_get_path(in, i);
		uint32_t *out = c->out_path + (size_t)i * c->variants;
		for (uint32_t k = 0; k < path.nr_feet; k++)
			c->has_path[profile_get_foot(in, path.feet[k]).func] = true;
		if (is_whole(c, &path))
			copy_path(c, &path, in->path_weights[i], out);
		else
			complete_path(c, i, out);
	}
	for (uint32_t i = 0; i < in->nexts.nr_keys; i++) {
		uint32_t from, to;
		profile_get_next(in, i, &from, &to);
		for (uint32_t v = 0; v < c->variants; v++)
			profile_add_next(c->out, c->out_path[(size_t)from * c->variants + v],
					 c->out_path[(size_t)to * c->variants + v],
					 next_weight(c, to, in->next_weights[i]));
	}
}

/* The i-th activation, when it stands in paths of a function that was taken into the output; else NULL. */
static const struct activation *emitted_activation(const struct completer *c, uint32_t i)
{
	const struct activation *act = c->acts.items[i];

	return act && act->weight > 0 && c->emitted[act->func] ? act : NULL;
}

/* Calls that follow from the activations' expected weights, beyond those seen. */
static void add_calls(struct completer *c)
{
	for (uint32_t i = 0; i < c->acts.keys.nr_keys; i++) {
		const struct activation *act = emitted_activation(c, i);
		if (!act)
			continue;
		uint32_t caller = out_func(c, act->func);
		for (uint32_t k = 0; k < act->nr_calls; k++) {
			uint64_t w = rounded(act->weight * (double)act->calls[k].probability);
			if (w && c->emitted[act->calls[k].func] && (!c->proved_only || act->calls[k].probability >= 1))
				profile_add_call(c->out, caller, act->calls[k].via_off,
						 out_func(c, act->calls[k].func), w);
		}
	}
}

/* Touched chunks of functions and the functions' entries, where only completion knows of them. */
static void add_touches(struct completer *c)
{
	for (uint32_t i = 0; i < c->acts.keys.nr_keys; i++) {
		const struct activation *act = emitted_activation(c, i);
		if (!act)
			continue;
		uint32_t func = out_func(c, act->func);
		for (uint32_t k = 0; k < act->nr_chunks; k++)
			if (c->proved_only ? act->chunks[k] >= 1 : act->weight * (double)act->chunks[k] >= 0.5)
				profile_add_touch(c->out, func, k, 0);
	}
	for (uint32_t f = 0; f < c->report->nr_funcs; f++) {
		const struct completion_func *r = &c->report->funcs[f];
		bool seen = f < c->in->names.nr_keys && (c->in->funcs[f].samples || c->in->funcs[f].calls);
		if (!seen && r->weight >= 0.5)
			profile_add_entries(c->out, f, rounded(r->weight));
	}
}

/* Functions that were sampled, but in no path: of flat profiles. Each is a path of its own. */
static void complete_flat(struct completer *c)
{
	const struct evidence *e = &c->evidence;

	for (uint32_t f = 0; f < c->in->names.nr_keys; f++) {
		uint32_t img_func = e->image_of[f];
		if (c->has_path[f] || img_func == INDEX_NONE || !c->in->funcs[f].samples)
			continue;
		begin_path(c);
		c->in_path[img_func] = c->stamp;
		struct stop stops[MAX_STOPS];
		uint32_t nr = 0;
		for (uint32_t i = e->first_touch[img_func]; i < e->first_touch[img_func + 1] && nr < MAX_STOPS; i++)
			if (program_flow(&c->prog, img_func))
				nr += chunk_stop(c, img_func, e->touches[i].chunk, &stops[nr]);
		struct activation *act = activation_get(&c->acts, img_func, stops, nr);
		add_member(c, img_func, 1)->act = act;
		spread(c);
		note_members(c, c->in->funcs[f].samples);
		for (uint32_t v = 0; v < c->variants; v++)
			emit_path(c, PATH_CHAIN, f, c->in->funcs[f].samples, variant_threshold(c, v));
	}
}

static void finish_report(struct completer *c)
{
	struct completion *r = c->report;

	report_func(c, c->out->names.nr_keys ? c->out->names.nr_keys - 1 : 0);
	for (uint32_t f = 0; f < r->nr_funcs; f++) {
		struct completion_func *cf = &r->funcs[f];
		if (f < c->in->names.nr_keys) {
			cf->reason = COMPLETION_SEEN;
			cf->probability = 1;
			cf->via = INDEX_NONE;
			r->nr_seen++;
		} else if (cf->probability >= 1) {
			cf->reason = COMPLETION_PROVED;
			r->nr_proved++;
		} else if (cf->probability > 0) {
			cf->reason = COMPLETION_LIKELY;
			r->nr_likely++;
		}
	}
	r->bytes_seen = (uint64_t)c->in->touches.nr_keys * PROFILE_CHUNK;
	r->bytes_added = (uint64_t)(c->out->touches.nr_keys - c->in->touches.nr_keys) * PROFILE_CHUNK;
}

static bool is_whole_trace(const struct profile *p)
{
	for (uint32_t i = 0; i < p->nr_sources; i++)
		if (strcmp(p->sources[i].reader, "fetch"))
			return false;
	return p->nr_sources > 0;
}

static void settle_options(struct completer *c, const struct complete_options *opts)
{
	c->variants = opts && opts->variants ? opts->variants : DEFAULT_VARIANTS;
	if (!(opts && opts->variants) && c->in->paths.nr_keys > MANY_PATHS)
		c->variants = c->in->paths.nr_keys > 2 * MANY_PATHS ? 1 : 2;
	if (c->variants > MAX_VARIANTS)
		c->variants = MAX_VARIANTS;
	c->min_probability = opts && opts->min_probability ? *opts->min_probability : DEFAULT_MIN_PROBABILITY;
	c->proved_only = opts && opts->proved_only;
	if (c->proved_only)
		c->variants = 1;
}

int completer_init(struct completer *c, const char *vmlinux)
{
	size_t nr_funcs = (size_t)c->img->nr_funcs + 1;

	if (program_init(&c->prog, c->img, vmlinux))
		return -1;
	evidence_init(&c->evidence, &c->prog, c->in);
	c->graph_scale = c->whole_scale = 1;
	c->has_fetch = has_source(c->in, "fetch");
	c->has_graph = has_source(c->in, "ftrace") || has_source(c->in, "trace.dat");
	activations_init(&c->acts, &c->prog, &c->evidence, REACH_MIN);
	c->out_of = xmemdup(c->evidence.profile_of, nr_funcs * sizeof(*c->out_of));
	c->func_runs = xcalloc(nr_funcs, sizeof(*c->func_runs));
	c->emitted = xcalloc(nr_funcs, sizeof(*c->emitted));
	c->is_loop = xcalloc(nr_funcs, sizeof(*c->is_loop));
	for (uint32_t i = 0; i < c->img->nr_funcs; i++)
		c->is_loop[i] = root_kind(c->img->funcs[i].id) == ROOT_TASK;
	c->in_path = xcalloc(nr_funcs, sizeof(*c->in_path));
	c->member_stamp = xcalloc(nr_funcs, sizeof(*c->member_stamp));
	c->member_of = xcalloc(nr_funcs, sizeof(*c->member_of));
	return 0;
}

void completer_release(struct completer *c)
{
	activations_release(&c->acts);
	evidence_release(&c->evidence);
	if (c->prog.flows)
		program_release(&c->prog);
	free(c->members);
	free(c->heap);
	free(c->out_of);
	free(c->outside);
	free(c->is_loop);
	free(c->in_path);
	free(c->member_stamp);
	free(c->member_of);
	free(c->out_path);
	free(c->runs);
	free(c->func_runs);
	free(c->emitted);
	free(c->has_path);
	free(c->words);
	free(c->feet);
}

static int run(struct completer *c, const char *vmlinux)
{
	if (completer_init(c, vmlinux))
		return -1;
	c->out_path = xcalloc((size_t)c->in->paths.nr_keys * c->variants + 1, sizeof(*c->out_path));
	c->runs = xcalloc((size_t)c->in->paths.nr_keys + 1, sizeof(*c->runs));
	c->has_path = xcalloc((size_t)c->in->names.nr_keys + 1, sizeof(*c->has_path));
	for (int pass = 0; pass < LEARN_PASSES && !c->proved_only; pass++)
		learn(c);
	copy_all_but_paths(c->in, c->out);
	complete_paths(c);
	complete_flat(c);
	add_calls(c);
	add_touches(c);
	profile_add_source(c->out, COMPLETION_SOURCE);
	finish_report(c);
	return 0;
}

int complete_profile(const struct image *img, const char *vmlinux, const struct profile *in, struct profile *out,
		     const struct complete_options *opts, struct completion *report)
{
	struct completion own = { 0 };
	struct completer c = { .img = img, .in = in, .out = out, .report = report ? report : &own };
	int ret = 0;

	memset(c.report, 0, sizeof(*c.report));
	settle_options(&c, opts);
	/* Completed again, what was likely once would be taken for seen. */
	if (is_whole_trace(in) || has_source(in, COMPLETION_SOURCE)) {
		profile_merge(out, in);
		c.report->whole = true;
		finish_report(&c);
	} else {
		ret = run(&c, vmlinux);
	}
	completer_release(&c);
	if (!report)
		completion_release(&own);
	return ret;
}

void completion_release(struct completion *c)
{
	free(c->funcs);
	memset(c, 0, sizeof(*c));
}

void completion_explain(const struct completion *c, const struct profile *p, uint32_t func, FILE *fp)
{
	static const struct completion_func unseen = { .via = INDEX_NONE };
	const struct completion_func *f = func < c->nr_funcs ? &c->funcs[func] : &unseen;

	fputs(completion_reason_names[f->reason], fp);
	if (f->reason == COMPLETION_LIKELY)
		fprintf(fp, " %.2f", f->probability < 0.99f ? (double)f->probability : 0.99);	/* 1 would be a proof */
	if (f->via != INDEX_NONE && f->reason != COMPLETION_SEEN)
		fprintf(fp, ": called from %s+0x%x", profile_func_name(p, f->via), f->via_off);
}
