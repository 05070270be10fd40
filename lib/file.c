/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
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

/* Temporaries alive now, for the signal handler. */
static char *volatile live_tmp[16];

static void forget_tmp(const char *tmp)
{
	for (size_t i = 0; i < ARRAY_SIZE(live_tmp); i++)
		if (live_tmp[i] == tmp)
			live_tmp[i] = NULL;
}

static void remember_tmp(char *tmp)
{
	for (size_t i = 0; i < ARRAY_SIZE(live_tmp); i++) {
		if (!live_tmp[i]) {
			live_tmp[i] = tmp;
			return;
		}
	}
}

static void on_signal(int sig)
{
	for (size_t i = 0; i < ARRAY_SIZE(live_tmp); i++)
		if (live_tmp[i])
			unlink(live_tmp[i]);
	signal(sig, SIG_DFL);
	raise(sig);
}

void outfile_catch_signals(void)
{
	static const int sigs[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction sa = { .sa_handler = on_signal };

	for (size_t i = 0; i < ARRAY_SIZE(sigs); i++) {
		struct sigaction old;

		/* A shell's `nohup` or `&` may have had the signal ignored: leave that. */
		if (!sigaction(sigs[i], NULL, &old) && old.sa_handler == SIG_IGN)
			continue;
		sigaction(sigs[i], &sa, NULL);
	}
}

int outfile_init(struct outfile *f, const char *path)
{
	memset(f, 0, sizeof(*f));
	if (!path || !strcmp(path, "-")) {
		f->fp = stdout;
		return 0;
	}
	struct stat st;
	if (!stat(path, &st) && !S_ISREG(st.st_mode)) {	/* /dev/full, a pipe: nothing to rename */
		f->fp = fopen(path, "we");
		if (!f->fp)
			return error("cannot write '%s': %s", path, strerror(errno));
		f->path = xstrdup(path);
		return 0;
	}
	f->path = xstrdup(path);
	f->tmp = xasprintf("%s.XXXXXX", path);
	int fd = mkostemp(f->tmp, O_CLOEXEC);
	if (fd < 0) {
		error("cannot write '%s': %s", path, strerror(errno));
		free(f->tmp);
		f->tmp = NULL;
		outfile_abort(f);
		return -1;
	}
	remember_tmp(f->tmp);
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
		forget_tmp(f->tmp);
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
		forget_tmp(f->tmp);
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
