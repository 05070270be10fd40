/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Folded stacks, as FlameGraph's stackcollapse scripts, inferno and bcc write them:
 *
 *   dd;__libc_write;entry_SYSCALL_64_after_hwframe_[k];do_syscall_64_[k];vfs_write_[k] 12
 *
 * outermost first, a count last. Names may hold blanks. Kernel frames carry _[k] or
 * [k]; bcc may put a frame "-" or "--" before them. Where nothing is marked, the
 * kernel begins at the first frame that only a kernel has: an entry.
 *
 * And bpftrace's own maps, innermost first, offsets in decimal:
 *
 *   @[
 *       vfs_write+1
 *       ksys_write+95
 *       do_syscall_64+59
 *       entry_SYSCALL_64_after_hwframe+68
 *   , dd]: 12
 */
#include <stdlib.h>
#include <string.h>

#include "collect/chain.h"
#include "collect/profile.h"
#include "collect/reader.h"
#include "collect/root.h"
#include "lib/error.h"
#include "lib/input.h"
#include "lib/mem.h"
#include "lib/number.h"
#include "lib/symtab.h"

struct folded_frame {
	char *name;
	uint64_t off;
	bool has_off, kernel;
};

struct folded {
	struct chain chain;
	struct folded_frame *frames;	/* of the current line, outermost first */
	uint32_t nr_frames, alloc_frames;
	struct chain_frame *places;
	uint32_t alloc_places;
	struct profile_source more;	/* counts of lines beyond the one sample of each that the chain counts */
	bool any_mark;			/* some line so far had marks */
	bool guessed;			/* some line had none, and held kernel frames */
};

/* Split "STACK COUNT" in place; NULL when the line is none. */
static char *split_count(char *line, size_t len, uint64_t *count)
{
	char *blank = memrchr(line, ' ', len);

	if (!blank || blank == line || !parse_u64(blank + 1, 10, count))
		return NULL;
	*blank = '\0';
	return line;
}

static bool probe(const char *head, size_t len)
{
	bool stack = false;
	const char *end;

	for (const char *s = head; s < head + len; s = end + 1) {
		end = memchr(s, '\n', (size_t)(head + len - s));
		if (!end)	/* the last line may be cut, unless it is the only one */
			end = stack ? s : head + len;
		if (end == s)
			continue;
		char *line = xstrndup(s, (size_t)(end - s));
		uint64_t count;
		bool good = strlen(line) == (size_t)(end - s) && split_count(line, strlen(line), &count);
		stack |= good && strchr(line, ';');
		free(line);
		if (!good)
			return false;
	}
	return stack;
}

static bool strip_end(char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	if (n <= m || strcmp(s + n - m, end) != 0)
		return false;
	s[n - m] = '\0';
	return true;
}

/* "vfs_read+0x1d_[k]": bpftrace writes the offset in decimal, others in hex. */
static void parse_frame(struct folded_frame *f, char *s)
{
	memset(f, 0, sizeof(*f));
	f->kernel = strip_end(s, "_[k]") || strip_end(s, " [k]");
	if (!strncmp(s, "[k] ", 4)) {
		f->kernel = true;
		s += 4;
	}
	f->name = s;
	char *plus = strrchr(s, '+');
	if (!plus || plus == s)
		return;
	const char *p = plus + 1;
	bool hex = p[0] == '0' && p[1] == 'x';
	if (hex)
		p += 2;
	if ((hex ? scan_hex(&p, &f->off) : scan_dec(&p, &f->off)) && !*p) {
		f->has_off = true;
		*plus = '\0';
	}
}

static void parse_stack(struct folded *x, char *stack)
{
	char *save = NULL;

	x->nr_frames = 0;
	for (char *s = strtok_r(stack, ";", &save); s; s = strtok_r(NULL, ";", &save)) {
		ALLOC_GROW(x->frames, x->nr_frames + 1, x->alloc_frames);
		parse_frame(&x->frames[x->nr_frames++], s);
	}
}

/* Entries have names that no user program uses; sys_read and the like do not. */
static bool begins_kernel(const char *name)
{
	static const char *const starts[] = {
		"start_kernel", "secondary_startup_64", "cpu_startup_entry", "start_secondary", "rest_init",
		"secondary_start_kernel", "smp_callin",
	};
	enum root_kind kind = root_kind(name);

	for (size_t i = 0; i < ARRAY_SIZE(starts); i++)
		if (!strcmp(name, starts[i]))
			return true;
	return root_is_syscall_entry(name) || kind == ROOT_INTERRUPT || kind == ROOT_EXCEPTION ||
	       kind == ROOT_TASK ||
	       (kind == ROOT_SYSCALL && name[0] == '_');
}

static bool all_known(const struct folded *x, uint32_t from)
{
	uint64_t value;

	for (uint32_t i = from; i < x->nr_frames; i++)
		if (!symtab_value(x->chain.syms, x->frames[i].name, &value))
			return false;
	return x->nr_frames - from >= 2;
}

/* Index of the first kernel frame; nr_frames when there is none. */
static uint32_t find_kernel(struct folded *x)
{
	for (uint32_t i = 0; i < x->nr_frames; i++) {
		if (x->frames[i].kernel) {
			x->any_mark = true;
			return i;
		}
		if (i && (!strcmp(x->frames[i].name, "-") || !strcmp(x->frames[i].name, "--")))
			return i + 1;
	}
	if (x->any_mark)
		return x->nr_frames;
	for (uint32_t i = 0; i < x->nr_frames; i++) {
		if (begins_kernel(x->frames[i].name)) {
			x->guessed = true;
			return i;
		}
	}
	/* The first frame is the command's name, where the writer gives one. */
	for (uint32_t from = 0; x->chain.syms && from < 2; from++) {
		if (all_known(x, from)) {
			x->guessed = true;
			return from;
		}
	}
	return x->nr_frames;
}

static void add_stack(struct folded *x, uint64_t count)
{
	struct chain *c = &x->chain;
	uint32_t first = find_kernel(x), nr = 0;

	if (first >= x->nr_frames) {
		add_count(&x->more.samples, count);
		return;
	}
	ALLOC_GROW(x->places, x->nr_frames, x->alloc_places);
	for (uint32_t i = x->nr_frames; i-- > first;) {
		const struct folded_frame *f = &x->frames[i];
		struct chain_frame place = { INDEX_NONE, PROFILE_OFF_UNKNOWN };

		if (strcmp(f->name, "[unknown]") != 0 && *f->name) {
			bool is_return = f->has_off && nr &&
					 !chain_is_interruption(c, x->places[nr - 1].func);
			place = chain_resolve_name(c, f->name, NULL, f->has_off ? f->off : 0, is_return);
			if (!f->has_off)
				place.off = PROFILE_OFF_UNKNOWN;
		}
		x->places[nr++] = place;
	}
	struct chain_sample s = { count, CHAIN_NO_TASK, 0 };
	chain_add(c, x->places, nr, &s);
	add_count(&x->more.samples, count - 1);
	add_count(&x->more.kernel, count - 1);
	add_count(x->places[0].func != INDEX_NONE ? &x->more.resolved : &x->more.unresolved, count - 1);
}

static int read_lines(struct folded *x, struct input *in, bool force)
{
	uint64_t count, bad = 0;
	size_t len;
	char *line;

	while ((line = input_line(in, &len))) {
		if (!len)
			continue;
		if (strlen(line) == len && split_count(line, len, &count)) {
			parse_stack(x, line);
			if (count)
				add_stack(x, count);
			continue;
		}
		if (!force)
			return error("cannot read '%s': line %lu is not 'frame;frame;... count'",
				     input_name(in), input_lineno(in));
		bad++;
	}
	if (bad)
		warn("'%s': %llu lines left out, they are not 'frame;frame;... count'", input_name(in),
		     (unsigned long long)bad);
	return input_failed(in) ? -1 : 0;
}

static int finish(struct folded *x, struct input *in, const char *reader)
{
	const struct symtab *syms = x->chain.syms;
	struct profile_source *s = profile_add_source(x->chain.profile, reader);

	if (syms)
		source_set_kernel(s, syms);
	chain_finish(&x->chain, s);
	profile_add_totals(s, &x->more);
	if (x->guessed)
		note("'%s': no frame is marked _[k]; the kernel is taken to begin at its entries%s", input_name(in),
		     syms ? ", or to be all frames of a stack that it knows" : "");
	return 0;
}

static void release(struct folded *x)
{
	chain_release(&x->chain);
	free(x->frames);
	free(x->places);
}

static int read_folded(struct input *in, const char *path, const struct collect_options *opts,
		       struct profile *p)
{
	struct folded x = { 0 };

	(void)path;
	chain_init(&x.chain, p, opts->syms);
	int ret = read_lines(&x, in, opts->force);
	if (!ret)
		ret = finish(&x, in, "folded");
	release(&x);
	return ret;
}

/* ---- bpftrace's maps ---- */

/* "@[" or "@name[" and no more: a stack follows. */
static bool opens_map(const char *line)
{
	size_t n = strlen(line);

	return line[0] == '@' && n >= 2 && line[n - 1] == '[' && !strchr(line, ']');
}

/* "]: 12", or ", dd]: 12", or the same behind other keys. */
static bool closes_map(const char *line, uint64_t *count)
{
	const char *end = strrchr(line, ']');

	return end && end[1] == ':' && end[2] == ' ' && parse_u64(end + 3, 10, count);
}

/* The frames of one stack stand in text as lines, innermost first: turn them around. */
static void add_block(struct folded *x, char *text, uint64_t count)
{
	char *end = text + strlen(text), *from;

	x->nr_frames = 0;
	while (end > text) {
		*--end = '\0';		/* the newline behind the frame */
		from = memrchr(text, '\n', (size_t)(end - text));
		from = from ? from + 1 : text;
		ALLOC_GROW(x->frames, x->nr_frames + 1, x->alloc_frames);
		parse_frame(&x->frames[x->nr_frames++], from);
		end = from;
	}
	if (count)
		add_stack(x, count);
}

static bool has_kernel(struct folded *x, const char *text)
{
	char *copy = xstrdup(text), *last = copy, *save = NULL;

	for (char *s = strtok_r(copy, "\n", &save); s; s = strtok_r(NULL, "\n", &save))
		last = s;
	struct folded_frame f;
	parse_frame(&f, last);
	uint64_t value;
	bool known = begins_kernel(f.name) || (x->chain.syms && symtab_value(x->chain.syms, f.name, &value));
	free(copy);
	return known;
}

/* A block may hold a kernel stack and a user stack: the first that ends like a kernel's is taken. */
static int read_block(struct folded *x, struct input *in)
{
	char *text = NULL, *line;
	size_t len = 0, alloc = 0;
	uint64_t count;
	bool chosen = false;
	int ret = -1;

	while ((line = input_line(in, NULL))) {
		bool closed = closes_map(line, &count);
		size_t blanks = strspn(line, " \t"), n = strlen(line + blanks);

		if (!closed && blanks && n && !chosen) {
			ALLOC_GROW(text, len + n + 2, alloc);
			memcpy(text + len, line + blanks, n);
			len += n;
			memcpy(text + len, "\n", 2);
			len++;
		} else if (closed || *line == ',') {
			if (len && !chosen && !(chosen = has_kernel(x, text)))
				len = 0;
		}
		if (!closed)
			continue;
		if (chosen)
			add_block(x, text, count);
		else
			add_count(&x->more.samples, count);
		ret = 0;
		break;
	}
	free(text);
	return ret;
}

static int read_bpftrace(struct input *in, const char *path, const struct collect_options *opts,
			 struct profile *p)
{
	struct folded x = { 0 };
	char *line;
	int ret = 0;

	(void)path;
	chain_init(&x.chain, p, opts->syms);
	while (!ret && (line = input_line(in, NULL)))
		if (opens_map(line))
			ret = read_block(&x, in);
	if (input_failed(in))
		ret = -1;
	else if (ret && !opts->force)
		error("cannot read '%s': its last stack is cut", input_name(in));
	else if (ret)
		warn("'%s': its last stack is cut, and left out", input_name(in));
	x.guessed = false;
	if (!ret || (opts->force && !input_failed(in)))
		ret = finish(&x, in, "bpftrace");
	release(&x);
	return ret;
}

static bool probe_bpftrace(const char *head, size_t len)
{
	for (const char *s = head, *end; (end = memchr(s, '\n', (size_t)(head + len - s))); s = end + 1) {
		if (end > s + 1 && *s == '@' && end[-1] == '[' && !memchr(s, ']', (size_t)(end - s)))
			return true;
		/* What bpftrace says before, and empty lines. */
		if (end != s && strncmp(s, "Attaching ", 10) && strncmp(s, "Attached ", 9) && *s != '@')
			return false;
	}
	return false;
}

const struct reader bpftrace_reader = {
	.name = "bpftrace",
	.tells = "samples, or hits of a probe, and callers by name; no order in time",
	.probe = probe_bpftrace,
	.read = read_bpftrace,
};

const struct reader folded_reader = {
	.name = "folded",
	.tells = "samples and callers by name; no offsets, no order in time",
	.probe = probe,
	.read = read_folded,
};
