/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "perfscript_line.h"

#include <ctype.h>
#include <string.h>

#include "collect/chain.h"
#include "collect/mapping.h"
#include "lib/modules.h"
#include "lib/number.h"
#include "lib/symtab.h"

/* ---- samples ---- */

/*
 * The time is a token of digits, a point, six or nine digits and a colon. Returns
 * where the colon stands; what precedes the token ends at *start.
 */
static const char *find_time(const char *line, const char *from_here, const char **start, uint64_t *ns)
{
	for (const char *s = from_here; (s = strchr(s, '.')); s++) {
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

/* What -F +misc puts before the time: "K", "U", "Sp"... Returns where it begins, end when there is none. */
static const char *before_misc(const char *line, const char *end)
{
	const char *s = end, *blank;

	while (s > line && isalpha((unsigned char)s[-1]))
		s--;
	for (blank = s; blank > line && blank[-1] == ' '; blank--)
		;
	bool behind_task = blank > line && (blank[-1] == ']' || isdigit((unsigned char)blank[-1]));
	return behind_task && blank < s && end - s <= 3 ? blank : end;
}

/* "comm  pid/tid [cpu]" or "comm  tid [cpu]" before the time; false when no tid is there. */
static bool parse_task(const char *line, const char *end, uint64_t *task)
{
	const char *s = end, *cpu = NULL;
	uint64_t tid, nr;

	*task = CHAIN_NO_TASK;
	while (s > line && s[-1] == ' ')
		s--;
	s = before_misc(line, s);
	if (s > line && s[-1] == ']') {
		while (s > line && s[-1] != '[')
			s--;
		cpu = s;
		if (s > line)
			s--;
		while (s > line && s[-1] == ' ')
			s--;
	}
	const char *tid_end = s;
	while (s > line && isdigit((unsigned char)s[-1]))
		s--;
	if (s == tid_end || (s > line && s[-1] == '-') || !scan_dec(&s, &tid))
		return false;
	if (tid)
		*task = tid;
	else if (cpu && scan_dec(&cpu, &nr))	/* all idle tasks are 0 */
		*task = 1ull << 63 | nr;
	return true;
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
	if (!strncmp(s, "raw 0x", 6))	/* one that has no name */
		n = 4 + strcspn(s + 4, " \t");
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

const char *perfscript_sample(const char *line, struct text_sample *s)
{
	const char *rest = NULL, *start;
	struct text_sample t;

	/* A task may be called like a time and an event; so the one that a task's number precedes is preferred. */
	for (const char *p = line; (p = find_time(line, p, &start, &t.time_ns));) {
		const char *behind = parse_event(p + 1, t.event, sizeof(t.event));
		bool has_task = behind && parse_task(line, start, &t.task);

		if (!behind || (rest && !has_task))
			continue;
		*s = t;
		rest = behind;
		if (has_task)
			break;
	}
	return rest;
}

bool perfscript_record(const char *line, uint64_t *lost)
{
	static const char prefix[] = "PERF_RECORD_", loss[] = "LOST";
	const char *start;
	uint64_t ns;

	*lost = 0;
	if (!strstr(line, prefix))
		return false;
	if (!strncmp(line, "PERF_RECORD_FINISHED_ROUND", 26))
		return true;
	for (const char *p = line; (p = find_time(line, p, &start, &ns));) {
		const char *type = skip_blanks(p + 1);

		if (strncmp(type, prefix, sizeof(prefix) - 1) != 0)
			continue;
		type += sizeof(prefix) - 1;
		const char *count = strncmp(type, loss, sizeof(loss) - 1) ? NULL : strstr(type, " lost ");
		if (count) {
			count += strlen(" lost ");
			if (!scan_dec(&count, lost))
				*lost = 0;
		}
		return true;
	}
	return false;
}

/* ---- frames ---- */

/* A high address whose dso is not known: perf had no kernel symbols, or a user's stack holds rubbish. */
static bool is_high(uint64_t addr)
{
	return addr >> 47 == 0x1ffff && addr != UINT64_MAX;
}

bool perfscript_is_kernels(const struct symtab *syms, uint64_t addr)
{
	uint64_t text = syms ? syms->text_addr : 0;

	if (text >> 63)	/* wherever it was moved to, its addresses begin alike */
		return addr >> 60 == text >> 60 && addr != UINT64_MAX;
	if (text >> 31 == 1)	/* of 32 bits */
		return addr >= text && addr < UINT32_MAX;
	return is_high(addr);
}

static bool begins_with_one_of(const char *s, const char *const *prefixes)
{
	for (; *prefixes; prefixes++)
		if (!strncmp(s, *prefixes, strlen(*prefixes)))
			return true;
	return false;
}

/* Where kernels lie in the upper half of 64 bits, programs do not. */
static bool may_be_kernel(const struct symtab *syms, const struct text_frame *f)
{
	if (!f->has_addr || f->addr >> 63)
		return true;
	return syms ? !(syms->text_addr >> 63) : f->addr <= UINT32_MAX;
}

static void set_module(struct text_frame *f, char *dso)
{
	char name[256];

	module_name_of(dso, name, sizeof(name));
	f->module = strcpy(dso, name);	/* never longer */
	f->kind = FRAME_KERNEL;
}

void perfscript_dso(char *dso, const struct symtab *syms, struct text_frame *f)
{
	static const char *const kernels[] = { "[kernel.", "[kernel]", "[kcore]", "/proc/kcore", NULL };
	/* Of the kernel's KSYMBOL records. */
	static const char *const generated[] = {
		"bpf_", "kprobe_insn_page", "kprobe_optinsn_page", "ftrace_trampoline", NULL
	};
	const char *slash = strrchr(dso, '/'), *base = slash ? slash + 1 : dso;

	f->module = NULL;
	f->kind = FRAME_KERNEL;
	if (begins_with_one_of(dso, kernels) || (!strncmp(base, "vmlinux", 7) && may_be_kernel(syms, f)))
		return;
	size_t n = strlen(dso);
	char *plus = n && isxdigit((unsigned char)dso[n - 1]) ? strrchr(dso, '+') : NULL;
	const char *ko = strstr(base, ".ko");
	if (plus && plus[1] == '0' && plus[2] == 'x') {	/* -F +dsoff */
		*plus = '\0';
		n = (size_t)(plus - dso);
	}
	f->kind = FRAME_USER;
	if (!strncmp(dso, "[guest.", 7)) {
		f->kind = FRAME_GUEST;
	} else if (!strcmp(dso, "inlined")) {
		f->kind = FRAME_INLINED;
	} else if (!strcmp(dso, "[unknown]")) {
		f->kind = f->has_addr && perfscript_is_kernels(syms, f->addr) ? FRAME_KERNEL : FRAME_USER;
	} else if (dso[0] == '[' && n > 2 && dso[n - 1] == ']') {
		if (!mapping_is_programs(dso) && may_be_kernel(syms, f))
			set_module(f, dso);
	} else if (ko && (!ko[3] || ko[3] == '.')) {	/* ext4.ko, ext4.ko.xz */
		set_module(f, dso);
	} else if (!slash && begins_with_one_of(dso, generated) && may_be_kernel(syms, f)) {
		f->module = dso;
		f->kind = FRAME_GENERATED;
	} else if (f->has_addr && syms && syms->text_addr >> 63 && perfscript_is_kernels(syms, f->addr)) {
		f->kind = FRAME_KERNEL;	/* of perf script -k, an image of any name */
	}
}

void perfscript_symbol(struct text_frame *f, char *s)
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

void perfscript_check_name(struct text_frame *f)
{
	if (f->kind != FRAME_KERNEL || !f->name)
		return;
	for (const char *s = f->name; *s; s++)
		if (*s <= ' ' ? *s > 0 : *s == '/' || *s == '(' || *s == '+')
			f->name = NULL;
}

bool perfscript_looks_framed(const char *line)
{
	const char *p = skip_blanks(line);
	size_t digits = strspn(p, "0123456789abcdef");

	return *line == '\t' && digits >= 8 && digits <= 16 && p[digits] == ' ';
}

bool perfscript_aside(const char *line)
{
	static const char *const instruction[] = {
		" insn:", " ilen:", "\t... not reaching sample", "\tmismatch of LBR data", NULL
	};
	const char *p = line + 1;

	if (line[0] == '|')		/* |12       code of line 12 */
		return isdigit((unsigned char)line[1]);
	/* Of brstackinsn: "vfs_read:" or "vfs_read+16:file.c:12", and "ffffffff81234567<TAB>insn: 48 89 ...", each behind a tab */
	if (line[0] == '\t' && strspn(p, "0123456789abcdef") == 16)
		return p[16] == '\t';
	if (line[0] == '\t' && *p > ' ' && strchr(p, ':'))
		return true;
	/* "  slub.c:123", "  vmlinux[ffffffff81234567]" */
	return begins_with_one_of(line, instruction) || (!strncmp(line, "  ", 2) && line[2] > ' ');
}

bool perfscript_frame(char *line, const struct symtab *syms, struct text_frame *f)
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
	perfscript_symbol(f, sym);
	/* Without dsos only the address tells; 32-bit kernels begin at 2 GB or above, but so may programs. */
	if (dso)
		perfscript_dso(dso, syms, f);
	else
		f->kind = perfscript_is_kernels(syms, f->addr) ? FRAME_KERNEL : FRAME_USER;
	perfscript_check_name(f);
	return true;
}
