/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Linked into the build that `make messages` tests: notes which messages were raised, and lists all there are. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/coverage/messages.h"

extern const struct message *const __start_messages[], *const __stop_messages[];

enum { HIGH = 200 };	/* descriptors below are the program's */
static int noted = -1;

void message_raised(const struct message *m, const char *fmt, ...)
{
	int cause = errno, len;
	char line[2048];
	va_list ap;

	if (noted >= 0) {
		len = snprintf(line, sizeof(line), "%s:%d\t", m->file, m->line);
		va_start(ap, fmt);
		errno = cause;
		vsnprintf(line + len, sizeof(line) - 1 - (size_t)len, fmt, ap);
		va_end(ap);
		for (char *p = line; *p; p++)
			if (*p == '\n')
				*p = ' ';
		strcat(line, "\n");
		while (write(noted, line, strlen(line)) < 0 && errno == EINTR)
			;
	}
	errno = cause;
}

/* Opened before a test makes calls fail. */
__attribute__((constructor)) static void open_log(void)
{
	const char *log = getenv("HOTTEXT_MESSAGES");
	int fd = log ? open(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666) : -1;

	if (fd < 0)
		return;
	noted = fcntl(fd, F_DUPFD_CLOEXEC, HIGH);
	close(fd);
}

/* With HOTTEXT_MESSAGES_LIST the program says which it could raise, and no more. */
__attribute__((constructor)) static void list(void)
{
	if (!getenv("HOTTEXT_MESSAGES_LIST"))
		return;
	for (const struct message *const *m = __start_messages; m < __stop_messages; m++)
		printf("%s:%d\t%s\n", (*m)->file, (*m)->line, (*m)->text);
	fflush(stdout);
	_exit(0);
}
