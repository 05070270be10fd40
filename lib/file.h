/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files in and out. Output is all or nothing: it is written to an unguessable
 * temporary beside its final name, flushed, and renamed; a reader sees the old
 * file or the new one.
 */
#ifndef LIB_FILE_H
#define LIB_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A whole file in memory, read-only; data is NUL-terminated one past size. */
struct mapfile {
	const char *data;
	size_t size;
	void *map;	/* munmap'ed by the release when not NULL, else data is freed */
};

/* Read path whole. Errors are reported: "cannot read 'PATH': cause". */
int mapfile_init(struct mapfile *f, const char *path);
void mapfile_release(struct mapfile *f);

struct outfile {
	FILE *fp;	/* write here */
	char *path;	/* final name, links followed; NULL for stdout */
	char *tmp;	/* temporary name; NULL for stdout */
};

/*
 * Begin output to path ("-", NULL or a link to it as /dev/stdout: stdout). Where a link leads is replaced, not the
 * link; devices and pipes are written in place. Errors are reported.
 */
int outfile_init(struct outfile *f, const char *path);

/*
 * Flush, check every write, fsync, rename into place. On failure the temporary
 * is removed, the old file stays, the cause is reported, and -1 is returned.
 */
int outfile_commit(struct outfile *f);

/* Drop what was written; safe after commit and on a zeroed struct. */
void outfile_abort(struct outfile *f);

/*
 * Remove temporaries on SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGPIPE, then die of the signal. On SIGBUS, which is a mapped
 * file that was cut, report and exit.
 */
void outfile_catch_signals(void);

/*
 * Have a file or an empty folder removed should this process exit, or die of one of those signals, before it is
 * forgotten again. The path is borrowed until then. What cannot be remembered, since too many are, is left behind.
 */
void temp_remember(const char *path);
void temp_forget(const char *path);

/* Make and remember a file (returns its descriptor) or folder; "XXXXXX" at the end of path becomes its name. -1: errno. */
int temp_file(char *path);
int temp_folder(char *path);

/* Directory part + "/" + name; the caller frees. */
char *path_join(const char *dir, const char *name);

#endif
