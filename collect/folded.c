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
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "collect/chain.h"
#include "collect/profile.h"
#include "collect/profile_text.h"
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
	/*
	 * What lines without a mark hold of the kernel if no line has one: kept apart
	 * until all are read, since one mark makes user frames of it.
	 */
	struct profile unmarked;
	struct chain unmarked_chain;
	struct profile_source unmarked_more;
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
	f->kernel = strip_end(s, "_[k]") || strip_end(s, " [k]") || strip_end(s, "[k]");
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

/* Whether the line is marked; *first is the index of the first kernel frame, nr_frames when there is none. */
static bool find_mark(struct folded *x, uint32_t *first)
{
	for (*first = 0; *first < x->nr_frames; ++*first) {
		const struct folded_frame *f = &x->frames[*first];

		if (f->kernel)
			return x->any_mark = true;
		if (*first && (!strcmp(f->name, "-") || !strcmp(f->name, "--"))) {
			++*first;
			return true;
		}
	}
	return false;
}

/* Index of the first kernel frame of a line without a mark. */
static uint32_t find_entry(const struct folded *x)
{
	for (uint32_t i = 0; i < x->nr_frames; i++)
		if (begins_kernel(x->frames[i].name))
			return i;
	/* The first frame is the command's name, where the writer gives one. */
	for (uint32_t from = 0; x->chain.syms && from < 2; from++)
		if (all_known(x, from))
			return from;
	return x->nr_frames;
}

/* The kernel's frames, from first on; more is where the counts go that c does not see. */
static void add_frames(struct folded *x, struct chain *c, struct profile_source *more, uint32_t first, uint64_t count)
{
	uint32_t nr = 0;

	if (first >= x->nr_frames) {
		add_count(&more->samples, count);
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
	add_count(&more->samples, count - 1);
	add_count(&more->kernel, count - 1);
	add_count(x->places[0].func != INDEX_NONE ? &more->resolved : &more->unresolved, count - 1);
}

static void add_stack(struct folded *x, uint64_t count)
{
	uint32_t first, entry = x->nr_frames;

	if (!find_mark(x, &first) && !x->any_mark)
		entry = find_entry(x);
	if (entry < x->nr_frames)
		add_frames(x, &x->unmarked_chain, &x->unmarked_more, entry, count);
	else
		add_frames(x, &x->chain, &x->more, first, count);
}

/* Behind text of another kind, as cat(1) puts it, its lines would be taken for that. */
static int profile_within(const struct input *in)
{
	return error("cannot read '%s': line %lu begins a profile; give that as an input of its own", input_name(in),
		     input_lineno(in));
}

static int read_lines(struct folded *x, struct input *in, const struct collect_options *opts)
{
	uint64_t count, bad = 0;
	size_t len;
	char *line;

	while ((line = input_line(in, &len))) {
		if (!len)
			continue;
		if (!strncmp(line, PROFILE_MAGIC, strlen(PROFILE_MAGIC)))
			return profile_within(in);
		if (strlen(line) == len && split_count(line, len, &count)) {
			parse_stack(x, line);
			if (count)
				add_stack(x, count);
			continue;
		}
		if (!opts->force)
			return error("cannot read '%s': line %lu is not 'frame;frame;... count'",
				     input_name(in), input_lineno(in));
		bad++;
	}
	if (bad)
		warn("'%s': %llu lines left out, they are not 'frame;frame;... count'", input_name(in),
		     (unsigned long long)bad);
	return collect_rest(in, opts, input_lineno(in) > bad);
}

static void begin(struct folded *x, const struct collect_options *opts, struct profile *p)
{
	chain_init(&x->chain, p, opts->syms);
	chain_init(&x->unmarked_chain, &x->unmarked, opts->syms);
}

/* What lines without a mark hold; whether it is the kernel's. */
static bool add_unmarked(struct folded *x, struct profile_source *s)
{
	struct profile_source t = x->unmarked_more;

	chain_finish(&x->unmarked_chain, &t);
	if (x->any_mark) {
		add_count(&s->samples, t.samples);
		return false;
	}
	profile_add_totals(s, &t);
	profile_merge(x->chain.profile, &x->unmarked);
	return t.samples;
}

static int finish(struct folded *x, struct input *in, const char *reader, bool say_unmarked)
{
	const struct symtab *syms = x->chain.syms;
	struct profile_source *s = profile_add_source(x->chain.profile, reader);

	if (syms)
		source_set_kernel(s, syms);
	chain_finish(&x->chain, s);
	profile_add_totals(s, &x->more);
	if (add_unmarked(x, s) && say_unmarked)
		note("'%s': no frame is marked _[k]; the kernel is taken to begin at its entries%s", input_name(in),
		     syms ? ", or to be all frames of a stack that it knows" : "");
	return 0;
}

static void release(struct folded *x)
{
	chain_release(&x->chain);
	chain_release(&x->unmarked_chain);
	profile_release(&x->unmarked);
	free(x->frames);
	free(x->places);
}

static int read_folded(struct input *in, const char *path, const struct collect_options *opts,
		       struct profile *p)
{
	struct folded x = { 0 };

	(void)path;
	begin(&x, opts, p);
	int ret = read_lines(&x, in, opts);
	if (!ret)
		ret = finish(&x, in, "folded", true);
	release(&x);
	return ret;
}

/* ---- bpftrace's maps ---- */

/* "@[" or "@name[", keys before the stack, and no more: a stack follows. */
static bool opens_map(const char *line, size_t n)
{
	size_t name = n ? 1 : 0;

	while (name < n && (isalnum((unsigned char)line[name]) || line[name] == '_'))
		name++;
	if (!n || line[0] != '@' || name == n || line[name] != '[')
		return false;
	while (line[n - 1] == ' ')
		n--;
	return (n == name + 1 || line[n - 1] == ',') && !memmem(line, n, "]: ", 3);
}

/* "]: 12", or ", dd]: 12", or the same behind other keys; *value is what stands behind the colon. */
static bool closes_map(const char *line, const char **value)
{
	const char *end = *line == ']' || *line == ',' ? line : NULL, *next;

	while (end && (next = strstr(end + 1, "]:")))
		end = next;
	if (!end || strncmp(end, "]:", 2) != 0)
		return false;
	*value = end + 2 + (end[2] == ' ');
	return true;
}

/* A frame without its indent and, as kstack(perf) has them, its address and file: "ffffffffb4019501 do_mmap+1 (...)". */
static char *bare_frame(char *line)
{
	char *s = line + strspn(line, " \t"), *paren;
	size_t hex = strspn(s, "0123456789abcdef");

	if (hex < 8 || s[hex] != ' ')
		return s;
	s += hex + 1;
	if ((paren = strstr(s, " (")))
		*paren = '\0';
	return s;
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

struct block {
	char *text;		/* the stack's frames so far, a line each */
	size_t len, alloc;
	bool chosen;		/* it is the kernel's, and whole */
};

static void add_line(struct block *b, char *line)
{
	const char *frame = bare_frame(line);
	size_t n = strlen(frame);

	ALLOC_GROW(b->text, b->len + n + 2, b->alloc);
	memcpy(b->text + b->len, frame, n);
	memcpy(b->text + b->len + n, "\n", 2);
	b->len += n + 1;
}

/*
 * A block may hold a kernel stack and a user stack: the first that ends like a
 * kernel's is taken. Returns 1, 0 where it has no count to add and *line is what
 * stands there, NULL at the input's end.
 */
static int read_block(struct folded *x, struct input *in, char **line)
{
	struct block b = { 0 };
	const char *value;
	uint64_t count;
	int ret = 0;

	while ((*line = input_line(in, NULL)) && **line != '@') {
		bool closed = closes_map(*line, &value);

		if (closed || **line == ',' || **line == ']') {
			if (b.len && !b.chosen && !(b.chosen = has_kernel(x, b.text)))
				b.len = 0;
		} else if (strchr(" \t", **line) && (*line)[strspn(*line, " \t")] && !b.chosen) {
			add_line(&b, *line);
		}
		if (!closed && **line != ']')
			continue;
		ret = closed && parse_u64(value, 10, &count);
		if (ret && b.chosen)
			add_block(x, b.text, count);
		else if (ret)
			add_count(&x->more.samples, count);
		break;
	}
	free(b.text);
	return ret;
}

static int bad_block(const struct input *in, const char *line)
{
	if (!line)
		return error("cannot read '%s': its last stack is cut", input_name(in));
	return error("cannot read '%s': line %lu: %s", input_name(in), input_lineno(in),
		     *line == '@' ? "the stack before it is cut" : "a stack's value is not a count");
}

static int read_blocks(struct folded *x, struct input *in, const struct collect_options *opts)
{
	uint64_t good = 0, bad = 0;
	char *line = input_line(in, NULL);

	while (line) {
		if (!strncmp(line, PROFILE_MAGIC, strlen(PROFILE_MAGIC)))
			return profile_within(in);
		if (!opens_map(line, strlen(line))) {
			line = input_line(in, NULL);
			continue;
		}
		if (read_block(x, in, &line)) {
			line = input_line(in, NULL);
			good++;
			continue;
		}
		if (input_failed(in))
			break;
		if (!opts->force)
			return bad_block(in, line);
		bad++;
		/* Behind a stack that is cut the next one begins; else this line is done with. */
		if (line && *line != '@')
			line = input_line(in, NULL);
	}
	if (bad)
		warn("'%s': %llu stacks left out, they are cut or have no count", input_name(in),
		     (unsigned long long)bad);
	return collect_rest(in, opts, good);
}

static int read_bpftrace(struct input *in, const char *path, const struct collect_options *opts,
			 struct profile *p)
{
	struct folded x = { 0 };

	(void)path;
	begin(&x, opts, p);
	int ret = read_blocks(&x, in, opts);
	if (!ret)
		ret = finish(&x, in, "bpftrace", false);
	release(&x);
	return ret;
}

static bool probe_bpftrace(const char *head, size_t len)
{
	for (const char *s = head, *end; (end = memchr(s, '\n', (size_t)(head + len - s))); s = end + 1) {
		if (opens_map(s, (size_t)(end - s)))
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
