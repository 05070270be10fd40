/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Folded stacks, as FlameGraph's stackcollapse scripts, inferno and bcc write them:
 *
 *   dd;__libc_write;entry_SYSCALL_64_after_hwframe_[k];do_syscall_64_[k];vfs_write_[k] 12
 *
 * outermost first, a count last. Names may hold blanks. Kernel frames carry _[k] or
 * [k]; bcc may put a frame "-" or "--" before them. Where nothing is marked, the
 * kernel begins at the first frame that only a kernel has: an entry, or an address.
 *
 * Frames may be bare addresses, of kstack(raw) or where the recorder had no symbols.
 * Whether the kernel lay where the symbols have it is known when all are read.
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
#include "collect/mapping.h"
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
	bool raw;		/* has no name: off is its address */
};

/* What may be found not to be so when all is read is kept apart. */
struct part {
	struct profile own;
	struct chain chain;
	struct profile_source more;	/* counts of lines beyond the one sample of each that the chain counts */
	uint64_t in, out, behind;	/* addresses in functions, in none, of these close behind the text */
	uint64_t named;			/* frames that are no addresses */
};

/* Stacks with addresses: taken for where the symbols have them, and for nowhere. */
enum how { NAMED, PLACED, UNPLACED, NR_HOWS };

struct folded {
	const struct symtab *syms;
	struct profile *profile;
	struct part parts[2][NR_HOWS];	/* [1]: of lines without a mark, user's if another has one */
	struct index names;
	unsigned char *begins;		/* [names]: the kernel does there */
	uint32_t alloc_begins;
	struct folded_frame *frames;	/* of the current line, outermost first */
	uint32_t nr_frames, alloc_frames;
	struct chain_frame *places;
	uint32_t alloc_places;
	bool any_mark;			/* some line so far had marks */
};

static struct part *get_part(struct folded *x, bool unmarked, enum how how)
{
	struct part *t = &x->parts[unmarked][how];

	if (!t->chain.profile)
		chain_init(&t->chain, unmarked || how ? &t->own : x->profile, x->syms);
	return t;
}

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

/* Whether s, of *n bytes, ended so; then it does no more. */
static bool strip_end(char *s, size_t *n, const char *end)
{
	size_t m = strlen(end);

	if (*n <= m || memcmp(s + *n - m, end, m) != 0)
		return false;
	*n -= m;
	s[*n] = '\0';
	return true;
}

/* Not those of programs, nor the errors that look like the highest. */
static bool is_kernel_addr(const struct folded *x, uint64_t addr)
{
	enum { MAX_ERRNO = 4095 };
	uint64_t text = x->syms ? x->syms->text_addr : 0;

	if (x->syms && text <= UINT32_MAX)	/* of 32 bits, or one that shares its addresses with programs */
		return text >> 31 && addr >= text && addr <= UINT32_MAX - MAX_ERRNO;
	return addr < UINT64_MAX - MAX_ERRNO &&
	       (text ? addr >> 60 == text >> 60 : addr >> 47 == 0x1ffff || addr >> 60 == 0xc);
}

/* "0xffffffff81234567", "ffffffff81234567": functions may have names like "add". */
static bool parse_address(const struct folded *x, struct folded_frame *f, const char *s, size_t n)
{
	bool hex = s[0] == '0' && s[1] == 'x';
	const char *p = s + (hex ? 2 : 0);

	return (hex || n >= 8) && scan_hex(&p, &f->off) && !*p && (hex || f->kernel || is_kernel_addr(x, f->off));
}

/*
 * inferno and stackcollapse-perf.pl --kernel mark all that is in a mapping with brackets: of "[[vdso]]" the function is not
 * known, but it is a program's; "[[kernel.kallsyms]]" is somewhere in the kernel.
 */
static bool is_mapping(const char *name, size_t n)
{
	return n > 4 && !strncmp(name, "[[", 2) && name[n - 1] == ']';
}

static bool is_programs(const char *name, size_t n)
{
	return !strncmp(name, "__vdso_", 7) || (is_mapping(name, n) && mapping_is_programs(name + 1));
}

/* "vfs_read+0x1d_[k]": bpftrace writes the offset in decimal, others in hex. */
static void parse_frame(const struct folded *x, struct folded_frame *f, char *s)
{
	size_t n = strlen(s);

	memset(f, 0, sizeof(*f));
	f->kernel = n && s[n - 1] == ']' &&
		    (strip_end(s, &n, "_[k]") || strip_end(s, &n, " [k]") || strip_end(s, &n, "[k]"));
	if (!strncmp(s, "[k] ", 4)) {
		f->kernel = true;
		s += 4;
		n -= 4;
	}
	if (f->kernel && is_programs(s, n))
		f->kernel = false;
	f->name = s;
	f->raw = parse_address(x, f, s, n);
	char *plus = f->raw ? NULL : memrchr(s, '+', n);
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

/*
 * Two counts stand behind a stack of difffolded.pl's, before and after: "dd;vfs_read_[k] 4 6". Names may hold blanks and
 * numbers, too, so that only one behind a kernel's function is taken for a count.
 */
static bool is_difference(const struct folded *x, const char *stack)
{
	const char *leaf = strrchr(stack, ';'), *blank = strrchr(stack, ' ');
	struct folded_frame f;
	uint64_t before;

	if (!leaf || !blank || blank < leaf || !parse_u64(blank + 1, 10, &before))
		return false;
	char *name = xstrndup(leaf + 1, (size_t)(blank - leaf - 1));
	parse_frame(x, &f, name);
	bool is = f.kernel || !strcmp(f.name, "[unknown]") || (x->syms && symtab_find_id(x->syms, f.name));
	free(name);
	return is;
}

static void parse_stack(struct folded *x, char *stack)
{
	char *save = NULL;

	x->nr_frames = 0;
	for (char *s = strtok_r(stack, ";", &save); s; s = strtok_r(NULL, ";", &save)) {
		size_t n = strlen(s);

		if (strip_end(s, &n, "_[i]"))	/* inlined: it has no place of its own */
			continue;
		ALLOC_GROW(x->frames, x->nr_frames + 1, x->alloc_frames);
		parse_frame(x, &x->frames[x->nr_frames++], s);
	}
}

/* Entries have names that no user program uses; sys_read and the like do not. */
static bool is_entry(const char *name)
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

static bool begins_kernel(struct folded *x, const struct folded_frame *f)
{
	enum { MAX_NAMES = 1 << 16 };

	if (f->raw)
		return is_kernel_addr(x, f->off);
	if (x->names.nr_keys >= MAX_NAMES)
		index_release(&x->names);
	uint32_t had = x->names.nr_keys, id = index_add_str(&x->names, f->name);
	ALLOC_GROW(x->begins, id + 1, x->alloc_begins);
	if (id == had)
		x->begins[id] = is_entry(f->name);
	return x->begins[id];
}

static bool all_known(const struct folded *x, uint32_t from)
{
	uint64_t value;

	for (uint32_t i = from; i < x->nr_frames; i++) {
		const struct folded_frame *f = &x->frames[i];

		if (f->raw ? !is_kernel_addr(x, f->off) : !symtab_value(x->syms, f->name, &value))
			return false;
	}
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
static uint32_t find_entry(struct folded *x)
{
	uint32_t entry = 0;

	while (entry < x->nr_frames && !begins_kernel(x, &x->frames[entry]))
		entry++;
	if (entry < x->nr_frames && !x->frames[entry].raw)
		return entry;
	/* The first frame is the command's name, where the writer gives one. */
	for (uint32_t from = 0; x->syms && from < 2 && from < entry; from++)
		if (all_known(x, from))
			return from;
	return entry;
}

static struct chain_frame place_of(struct chain *c, const struct folded_frame *f, bool is_return)
{
	struct chain_frame place = { INDEX_NONE, PROFILE_OFF_UNKNOWN };

	if (f->raw)
		return chain_resolve(c, f->off, is_return);
	if (!strcmp(f->name, "[unknown]") || !*f->name || is_mapping(f->name, strlen(f->name)))
		return place;
	place = chain_resolve_name(c, f->name, NULL, f->has_off ? f->off : 0, f->has_off && is_return);
	if (!f->has_off)
		place.off = PROFILE_OFF_UNKNOWN;
	return place;
}

static void count_address(const struct folded *x, struct part *t, uint64_t addr, bool in)
{
	const struct symtab *st = x->syms;

	t->in += in;
	t->out += !in;
	t->behind += !in && st && addr >= st->etext_addr && addr - st->etext_addr < st->etext_addr - st->stext_addr;
}

/* The kernel's frames, from first on. */
static void add_frames(struct folded *x, bool unmarked, enum how how, uint32_t first, uint64_t count)
{
	struct part *t = get_part(x, unmarked, how);
	struct chain *c = &t->chain;
	uint32_t nr = 0;

	ALLOC_GROW(x->places, x->nr_frames, x->alloc_places);
	for (uint32_t i = x->nr_frames; i-- > first; nr++) {
		const struct folded_frame *f = &x->frames[i];

		x->places[nr] = (struct chain_frame){ INDEX_NONE, PROFILE_OFF_UNKNOWN };
		if (f->raw && how != PLACED)
			continue;
		x->places[nr] = place_of(c, f, nr > 0);
		if (nr && chain_cuts(c, x->places[nr - 1].func, x->places[nr].func))
			x->places[nr] = place_of(c, f, false);
		t->named += !f->raw;
		if (f->raw)
			count_address(x, t, f->off, x->places[nr].func != INDEX_NONE);
	}
	struct chain_sample s = { count, CHAIN_NO_TASK, 0 };
	chain_add(c, x->places, nr, &s);
	add_count(&t->more.samples, count - 1);
	add_count(&t->more.kernel, count - 1);
	add_count(chain_is_known(c, x->places[0].func) ? &t->more.resolved : &t->more.unresolved, count - 1);
}

static void add_kernel(struct folded *x, bool unmarked, uint32_t first, uint64_t count)
{
	bool raw = false;

	if (first >= x->nr_frames) {
		add_count(&get_part(x, unmarked, NAMED)->more.samples, count);
		return;
	}
	for (uint32_t i = first; i < x->nr_frames; i++)
		raw |= x->frames[i].raw;
	if (raw && x->syms)
		add_frames(x, unmarked, PLACED, first, count);
	add_frames(x, unmarked, raw && x->syms ? UNPLACED : NAMED, first, count);
}

static void add_stack(struct folded *x, uint64_t count)
{
	uint32_t first, entry = x->nr_frames;

	if (!find_mark(x, &first) && !x->any_mark)
		entry = find_entry(x);
	if (entry < x->nr_frames)
		add_kernel(x, true, entry, count);
	else
		add_kernel(x, false, first, count);
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
			if (is_difference(x, line))
				return error("cannot read '%s': line %lu has two counts, of a difference; give the folded "
					     "stacks that it was made of", input_name(in), input_lineno(in));
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

/* Of one kernel in one place, most addresses are in the text of the symbols, and none is behind it. */
static bool addresses_fit(const struct folded *x, const char *name, const char *vmlinux)
{
	uint64_t in = 0, out = 0, behind = 0, named = 0;

	for (int unmarked = 0; unmarked < 2 - x->any_mark; unmarked++) {
		const struct part *t = &x->parts[unmarked][PLACED];

		in += t->in;
		out += t->out;
		behind += t->behind;
		named += t->named + x->parts[unmarked][NAMED].named;
	}
	if (out <= in && behind <= in / 100)
		return true;
	/* Where most frames have names, those that have not are of modules, or of code made at run time. */
	void (*say)(const char *, ...) = in + out < named ? detail : warn;
	say("'%s': %llu of %llu addresses are not in the text of '%s', which lay elsewhere (KASLR) or is another: "
	     "none of them is resolved", name, (unsigned long long)out, (unsigned long long)(in + out),
	     vmlinux ? vmlinux : "the kernel");
	return false;
}

static void add_part(struct folded *x, bool unmarked, enum how how, struct profile_source *s)
{
	struct part *t = &x->parts[unmarked][how];
	struct profile_source sums = t->more;

	if (!t->chain.profile)
		return;
	chain_finish(&t->chain, &sums);
	if (unmarked && x->any_mark) {
		add_count(&s->samples, sums.samples);
		return;
	}
	profile_add_totals(s, &sums);
	if (t->chain.profile == &t->own)
		profile_merge(x->profile, &t->own);
}

static int finish(struct folded *x, struct input *in, const struct collect_options *opts, const char *reader)
{
	struct profile_source *s = profile_add_source(x->profile, reader);
	enum how how = addresses_fit(x, input_name(in), opts->vmlinux) ? PLACED : UNPLACED;

	if (x->syms)
		source_set_kernel(s, x->syms);
	for (int unmarked = 0; unmarked < 2; unmarked++) {
		add_part(x, unmarked, NAMED, s);
		add_part(x, unmarked, how, s);
	}
	if (!x->any_mark && (x->parts[1][NAMED].chain.profile || x->parts[1][how].chain.profile))
		note("'%s': no frame is marked _[k]; the kernel is taken to begin at its entries%s", input_name(in),
		     x->syms ? ", or to be all frames of a stack that it knows" : "");
	return 0;
}

static void release(struct folded *x)
{
	for (int i = 0; i < 2 * NR_HOWS; i++) {
		struct part *t = &x->parts[i / NR_HOWS][i % NR_HOWS];

		chain_release(&t->chain);
		profile_release(&t->own);
	}
	index_release(&x->names);
	free(x->begins);
	free(x->frames);
	free(x->places);
}

static int read_folded(struct input *in, const char *path, const struct collect_options *opts,
		       struct profile *p)
{
	struct folded x = { .syms = opts->syms, .profile = p };

	(void)path;
	int ret = read_lines(&x, in, opts);
	if (!ret)
		ret = finish(&x, in, opts, "folded");
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

/* The frames of one stack stand in text as lines, innermost first: turn them around. Marks there are none. */
static void add_block(struct folded *x, char *text, size_t len, uint64_t count)
{
	char *end = text + len, *from;

	x->nr_frames = 0;
	while (end > text) {
		*--end = '\0';		/* the newline behind the frame */
		from = memrchr(text, '\n', (size_t)(end - text));
		from = from ? from + 1 : text;
		ALLOC_GROW(x->frames, x->nr_frames + 1, x->alloc_frames);
		parse_frame(x, &x->frames[x->nr_frames++], from);
		end = from;
	}
	/* A user stack stands apart: what has a frame of the kernel is all its. */
	if (count)
		add_kernel(x, false, find_entry(x) < x->nr_frames ? 0 : x->nr_frames, count);
}

/* Whether the last line of text, of len bytes, is a frame of the kernel. */
static bool has_kernel(struct folded *x, const char *text, size_t len)
{
	const char *before = memrchr(text, '\n', len - 1), *last = before ? before + 1 : text;
	char *copy = xstrndup(last, (size_t)(text + len - 1 - last));
	struct folded_frame f;
	uint64_t value;

	parse_frame(x, &f, copy);
	bool known = begins_kernel(x, &f) || (x->syms && symtab_value(x->syms, f.name, &value));
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
			if (b.len && !b.chosen && !(b.chosen = has_kernel(x, b.text, b.len)))
				b.len = 0;
		} else if (strchr(" \t", **line) && (*line)[strspn(*line, " \t")] && !b.chosen) {
			add_line(&b, *line);
		}
		if (!closed && **line != ']')
			continue;
		ret = closed && parse_u64(value, 10, &count);
		if (ret && b.chosen)
			add_block(x, b.text, b.len, count);
		else if (ret)
			add_count(&get_part(x, false, NAMED)->more.samples, count);
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
	struct folded x = { .syms = opts->syms, .profile = p };

	(void)path;
	int ret = read_blocks(&x, in, opts);
	if (!ret)
		ret = finish(&x, in, opts, "bpftrace");
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
