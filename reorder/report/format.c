/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "lib/utf8.h"
#include "reorder/plan/plan.h"

const char *format_count(char *buf, uint64_t n)
{
	char digits[24];
	char *out = buf;

	if (n == PLAN_UNKNOWN)
		return strcpy(buf, "-");
	int len = snprintf(digits, sizeof(digits), "%" PRIu64, n);
	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			*out++ = ',';
		*out++ = digits[i];
	}
	*out = '\0';
	return buf;
}

const char *format_bytes(char *buf, uint64_t n)
{
	static const char *const units[] = { "bytes", "KB", "MB", "GB", "TB" };
	double v = (double)n;
	unsigned int i = 0;

	for (; v >= 1024 && i < 4; i++)
		v /= 1024;
	snprintf(buf, FORMAT_MAX, v == floor(v) || v >= 100 ? "%.0f %s" : "%.1f %s", v, units[i]);
	return buf;
}

const char *format_page_size(char *buf, const struct plan_machine *m)
{
	char block[FORMAT_MAX], page[FORMAT_MAX];

	if (!m->block_bytes)
		return format_bytes(buf, m->page_bytes);
	snprintf(buf, FORMAT_MAX, "%.15s and %.15s", format_bytes(block, m->block_bytes), format_bytes(page, m->page_bytes));
	return buf;
}

const char *format_mapping(char *buf, const struct plan_machine *m)
{
	char block[FORMAT_MAX], page[FORMAT_MAX];

	format_bytes(page, m->page_bytes);
	if (m->block_bytes)
		snprintf(buf, FORMAT_MAX, "%.12s pages, %.12s at the edges", format_bytes(block, m->block_bytes), page);
	else
		snprintf(buf, FORMAT_MAX, "%.12s pages", page);
	return buf;
}

const char *format_entries(char *buf, double n)
{
	snprintf(buf, FORMAT_MAX, "%.1f", n);
	return buf;
}

const char *format_percent(char *buf, double percent)
{
	if (percent > 0 && percent < 0.1)
		return strcpy(buf, "<0.1 %");
	if (percent > 99.9 && percent < 100)
		return strcpy(buf, ">99.9 %");
	snprintf(buf, FORMAT_MAX, "%.1f %%", percent);
	return buf;
}

const char *format_saving(char *buf, double before, double after)
{
	if (before <= 0)
		return strcpy(buf, "-");
	double saving = plan_saving(before, after);

	/* 99.96 is not yet everything. */
	if (saving >= 99.5 && after > 0)
		snprintf(buf, FORMAT_MAX, saving >= 99.95 ? ">99.9 %%" : "%.1f %%", saving);
	else
		snprintf(buf, FORMAT_MAX, "%.0f %%", saving < 0 && saving > -0.5 ? 0 : saving);
	return buf;
}

const char *format_cycles(char *buf, double seconds)
{
	static const char *const units[] = { "s", "ms", "us", "ns" };
	unsigned int i = 0;

	for (; seconds < 1 && seconds > 0 && i < 3; i++)
		seconds *= 1000;
	snprintf(buf, FORMAT_MAX, "%.3g %s", seconds, units[i]);
	return buf;
}

static int is_control(unsigned char c)
{
	return c < 0x20 || c == 0x7f;
}

void put_text(FILE *fp, const char *s, size_t width)
{
	size_t want = utf8_columns(s), show = width && want > width ? width - 2 : want;

	for (size_t done = 0; done < show; done++, s += utf8_step(s))
		if (utf8_shows(s))
			fwrite(s, 1, utf8_length(s), fp);
		else
			fputc('?', fp);
	if (show < want)
		fputs("..", fp);
	else if (width > want)
		fprintf(fp, "%*s", (int)(width - want), "");
}

void put_html(FILE *fp, const char *s)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		switch (c) {
		case '&':
			fputs("&amp;", fp);
			break;
		case '<':
			fputs("&lt;", fp);
			break;
		case '>':
			fputs("&gt;", fp);
			break;
		case '"':
			fputs("&quot;", fp);
			break;
		case '\'':
			fputs("&#39;", fp);
			break;
		default:
			fputc(is_control(c) ? ' ' : c, fp);
		}
	}
}

void put_dot(FILE *fp, const char *s)
{
	fputc('"', fp);
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == '"' || c == '\\')
			fputc('\\', fp);
		fputc(is_control(c) ? ' ' : c, fp);
		if (c == '&')	/* graphviz knows HTML's entities */
			fputs("amp;", fp);
	}
	fputc('"', fp);
}

void put_script(FILE *fp, const char *s)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == '"' || c == '\\')
			fprintf(fp, "\\%c", c);
		else if (is_control(c) || c == '<' || c == '>' || c == '&' || c == '\'')
			fprintf(fp, "\\u%04x", c);
		else
			fputc(c, fp);
	}
}

void put_csv(FILE *fp, const char *s)
{
	if (!strpbrk(s, ",\"\r\n")) {
		fputs(s, fp);
		return;
	}
	fputc('"', fp);
	for (; *s; s++) {
		if (*s == '"')
			fputc('"', fp);
		fputc(*s, fp);
	}
	fputc('"', fp);
}
