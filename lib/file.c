/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "mem.h"

static int read_stream(struct mapfile *f, int fd, const char *path)
{
	size_t alloc = 1 << 16, size = 0;
	char *buf = xmalloc(alloc + 1);

	for (;;) {
		if (size == alloc) {
			alloc *= 2;
			buf = xreallocarray(buf, alloc + 1, 1);
		}
		ssize_t n = read(fd, buf + size, alloc - size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			free(buf);
			return error("cannot read '%s': %s", path, strerror(errno));
		}
		if (!n)
			break;
		size += (size_t)n;
	}
	buf[size] = '\0';
	f->data = buf;
	f->size = size;
	f->map = NULL;
	return 0;
}

int mapfile_init(struct mapfile *f, const char *path)
{
	int fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
	struct stat st;
	int ret = -1;

	memset(f, 0, sizeof(*f));
	if (fd < 0 || fstat(fd, &st) < 0) {
		error("cannot read '%s': %s", path, strerror(errno));
		goto out;
	}
	if (S_ISDIR(st.st_mode)) {
		error("cannot read '%s': %s", path, strerror(EISDIR));
		goto out;
	}
	/* A mapping ends in a zero byte only when the file does not fill its last page. */
	if (S_ISREG(st.st_mode) && st.st_size > 0 && st.st_size % sysconf(_SC_PAGESIZE)) {
		void *map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

		if (map != MAP_FAILED) {
			f->map = map;
			f->data = map;
			f->size = (size_t)st.st_size;
			ret = 0;
			goto out;
		}
	}
	ret = read_stream(f, fd, path);
out:
	if (fd > STDIN_FILENO)
		close(fd);
	return ret;
}

void mapfile_release(struct mapfile *f)
{
	if (f->map)
		munmap(f->map, f->size);
	else
		free((void *)f->data);
	memset(f, 0, sizeof(*f));
}

/* Temporaries alive now: an end that nobody planned removes them. */
static const char *volatile temps[32];
static pid_t temps_owner;	/* a child before its exec has them in memory, too */

static void remove_temps(void)
{
	if (getpid() != temps_owner)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(temps); i++)
		if (temps[i])
			unlink(temps[i]);
	for (size_t i = 0; i < ARRAY_SIZE(temps); i++)
		if (temps[i])
			rmdir(temps[i]);
}

void temp_remember(const char *path)
{
	if (temps_owner != getpid()) {	/* the first; or a child's first, whose parent's are not its own */
		if (!temps_owner)
			atexit(remove_temps);
		for (size_t i = 0; i < ARRAY_SIZE(temps); i++)
			temps[i] = NULL;
		temps_owner = getpid();
	}
	for (size_t i = 0; i < ARRAY_SIZE(temps); i++) {
		if (!temps[i]) {
			temps[i] = path;
			return;
		}
	}
}

void temp_forget(const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(temps); i++)
		if (temps[i] == path)
			temps[i] = NULL;
}

static const int end_signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE };

static void on_signal(int sig)
{
	remove_temps();
	signal(sig, SIG_DFL);
	raise(sig);
}

/* A page of a mapped file that is not there: somebody cut the file, or its disk fails. */
static void on_bus(int sig)
{
	static const char why[] = "hottext: a file was cut short, or could not be read, while it was in use\n";

	(void)sig;
	remove_temps();
	ssize_t n = write(STDERR_FILENO, why, sizeof(why) - 1);
	(void)n;
	_exit(EXIT_FAILED);
}

void outfile_catch_signals(void)
{
	struct sigaction sa = { .sa_handler = on_signal }, bus = { .sa_handler = on_bus };

	sigaction(SIGBUS, &bus, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(end_signals); i++) {
		struct sigaction old;

		/* A shell's `nohup` or `&` may have had the signal ignored: leave that. */
		if (!sigaction(end_signals[i], NULL, &old) && old.sa_handler == SIG_IGN)
			continue;
		sigaction(end_signals[i], &sa, NULL);
	}
}

/* mkstemp, or mkdtemp where dir is true, and no signal between the making and the remembering. 0 or -1. */
static int make_temp(char *path, bool dir)
{
	sigset_t ends, old;

	sigemptyset(&ends);
	for (size_t i = 0; i < ARRAY_SIZE(end_signals); i++)
		sigaddset(&ends, end_signals[i]);
	sigprocmask(SIG_BLOCK, &ends, &old);
	int fd = dir ? -!mkdtemp(path) : mkostemp(path, O_CLOEXEC), err = errno;
	if (fd >= 0)
		temp_remember(path);
	sigprocmask(SIG_SETMASK, &old, NULL);
	errno = err;
	return fd;
}

int temp_file(char *path)
{
	return make_temp(path, false);
}

int temp_folder(char *path)
{
	return make_temp(path, true);
}

static bool is_stdout(const struct stat *st)
{
	struct stat out;

	return !fstat(STDOUT_FILENO, &out) && st->st_dev == out.st_dev && st->st_ino == out.st_ino;
}

/*
 * Where to rename to: a link stays, and what it leads to is replaced. NULL: write there in place, since a device,
 * a pipe or what /proc/PID/fd has of a file without a name cannot be renamed over.
 */
static char *final_name(const char *path, const struct stat *st)
{
	struct stat link;

	if (st && !S_ISREG(st->st_mode))
		return NULL;
	return st && !lstat(path, &link) && S_ISLNK(link.st_mode) ? realpath(path, NULL) : xstrdup(path);
}

int outfile_init(struct outfile *f, const char *path)
{
	struct stat st, link;

	memset(f, 0, sizeof(*f));
	bool there = path && !stat(path, &st);
	if (!path || !strcmp(path, "-") ||
	    (there && is_stdout(&st) && !lstat(path, &link) && S_ISLNK(link.st_mode))) {	/* /dev/stdout */
		f->fp = stdout;
		return 0;
	}
	f->path = final_name(path, there ? &st : NULL);
	if (!f->path) {
		f->fp = fopen(path, "we");
		if (!f->fp)
			return error("cannot write '%s': %s", path, strerror(errno));
		f->path = xstrdup(path);
		return 0;
	}
	f->tmp = xasprintf("%s.XXXXXX", f->path);
	int fd = temp_file(f->tmp);
	if (fd < 0) {
		error("cannot write '%s': %s", path, strerror(errno));
		free(f->tmp);
		f->tmp = NULL;
		outfile_abort(f);
		return -1;
	}
	mode_t mask = umask(0);
	umask(mask);
	fchmod(fd, 0666 & ~mask);
	f->fp = fdopen(fd, "w");
	if (!f->fp)
		die("out of memory");
	return 0;
}

int outfile_commit(struct outfile *f)
{
	const char *name = f->path ? f->path : "standard output";
	int err = 0;

	errno = 0;
	if (fflush(f->fp) || ferror(f->fp))
		err = errno ? errno : EIO;
	if (!err && f->tmp && fsync(fileno(f->fp)) && errno != EINVAL)
		err = errno;
	if (f->path) {
		if (fclose(f->fp) && !err)
			err = errno;
		f->fp = NULL;
	}
	if (!err && f->tmp && rename(f->tmp, f->path))
		err = errno;
	if (err) {
		error("cannot write '%s': %s", name, strerror(err));
		outfile_abort(f);
		return -1;
	}
	if (f->tmp) {
		temp_forget(f->tmp);
		free(f->tmp);
		f->tmp = NULL;
	}
	outfile_abort(f);
	return 0;
}

void outfile_abort(struct outfile *f)
{
	if (f->fp && f->fp != stdout)
		fclose(f->fp);
	if (f->tmp) {
		unlink(f->tmp);
		temp_forget(f->tmp);
	}
	free(f->tmp);
	free(f->path);
	memset(f, 0, sizeof(*f));
}

char *path_join(const char *dir, const char *name)
{
	size_t n = strlen(dir);

	return xasprintf("%s%s%s", dir, n && dir[n - 1] == '/' ? "" : "/", name);
}
