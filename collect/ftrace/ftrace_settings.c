/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ftrace_settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tracefs.h>
#include <unistd.h>

#include "lib/error.h"
#include "lib/mem.h"

enum { MAX_SAVED = 32 };

static struct {
	struct tracefs_instance *instance;	/* NULL: the top one */
	bool own;				/* instance is to be destroyed */
	struct {
		char *file, *value;
	} saved[MAX_SAVED];
	unsigned int nr;
} state;

/* What to write to have a file as it was, from what it reads; made in place. */
static void as_written(char *s)
{
	char *open = strchr(s, '['), *close = open ? strchr(open, ']') : NULL;
	char *more = strstr(s, " (expanded");

	if (s[0] == '#' || !strcmp(s, "no pid\n")) {	/* "#### all functions enabled ####" */
		s[0] = '\0';
	} else if (open && close) {	/* "local [global] counter" */
		*close = '\0';
		memmove(s, open + 1, strlen(open + 1) + 1);
	} else if (more) {		/* "7 (expanded: 1408)" */
		*more = '\0';
	}
}

/* Lines go one by one: the kernel takes one name a write. */
static int write_file(const char *file, const char *value)
{
	const char *p = value;
	bool first = true;

	if (!*value)
		return tracefs_instance_file_clear(state.instance, file) < 0 ? -1 : 0;
	while (*p) {
		char *line = xstrndup(p, strcspn(p, "\n"));
		int n = first ? tracefs_instance_file_write(state.instance, file, line)
			      : tracefs_instance_file_append(state.instance, file, line);

		p += strlen(line);
		p += *p == '\n';
		free(line);
		first = false;
		if (n < 0)
			return -1;
	}
	return 0;
}

static bool save(const char *file)
{
	int size;
	char *value = tracefs_instance_file_read(state.instance, file, &size);

	if (!value)
		return false;
	as_written(value);
	BUG_ON(state.nr == MAX_SAVED);
	state.saved[state.nr].file = xstrdup(file);
	state.saved[state.nr++].value = value;
	return true;
}

int ftrace_set(const char *file, const char *value)
{
	if (save(file) && !write_file(file, value))
		return 0;
	return error("cannot set tracing's '%s' to '%s': %s", file, value, strerror(errno));
}

void ftrace_try(const char *file, const char *value)
{
	if (save(file) && write_file(file, value))
		detail("cannot set tracing's '%s' to '%s': %s", file, value, strerror(errno));
}

int ftrace_add(const char *file, const char *value)
{
	if (tracefs_instance_file_append(state.instance, file, value) >= 0)
		return 0;
	return error("cannot add '%s' to tracing's '%s': %s", value, file, strerror(errno));
}

void ftrace_restore(void)
{
	while (state.nr) {
		state.nr--;
		if (write_file(state.saved[state.nr].file, state.saved[state.nr].value))
			warn("cannot restore tracing's '%s' to '%s': %s", state.saved[state.nr].file,
			     state.saved[state.nr].value, strerror(errno));
		free(state.saved[state.nr].file);
		free(state.saved[state.nr].value);
	}
	if (state.own)
		tracefs_instance_destroy(state.instance);
	if (state.instance)
		tracefs_instance_free(state.instance);
	state.instance = NULL;
	state.own = false;
}

static int no_tracefs(void)
{
	if (geteuid())
		return error("cannot use tracefs: no right (run as root)");
	return error("cannot find tracefs: mount it (mount -t tracefs nodev /sys/kernel/tracing); "
		     "the kernel needs CONFIG_FTRACE");
}

/* An instance of our own, where the tracer may run in one. */
static void try_own_instance(const char *tracer)
{
	char name[32], *dir;

	snprintf(name, sizeof(name), "hottext-%d", (int)getpid());
	state.instance = tracefs_instance_create(name);
	if (!state.instance)
		return;
	state.own = true;
	dir = tracefs_instance_get_dir(state.instance);
	if (dir && tracefs_tracer_available(dir, tracer))
		detail("tracing in an instance of its own, '%s'", name);
	else
		ftrace_restore();
	tracefs_put_tracing_file(dir);
}

int ftrace_begin(struct tracefs_instance **inst, const char *tracer)
{
	const char *dir;

	*inst = NULL;
	if (tracefs_tracing_dir_is_mounted(false, &dir) <= 0)
		return no_tracefs();
	dir = tracefs_tracing_dir();
	if (!dir || access(dir, R_OK | X_OK))
		return no_tracefs();
	if (!tracefs_tracer_available(dir, tracer))
		return error("cannot use tracer '%s': this kernel has none (CONFIG_FUNCTION_GRAPH_TRACER)",
			     tracer);
	atexit(ftrace_restore);
	try_own_instance(tracer);
	*inst = state.instance;
	return 0;
}
