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

void message_raised(const struct message *m, const char *fmt, ...)
{
	const char *log = getenv("HOTTEXT_MESSAGES");
	int cause = errno, fd, len;
	char line[2048];
	va_list ap;

	fd = log ? open(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666) : -1;
	if (fd >= 0) {
		len = snprintf(line, sizeof(line), "%s:%d\t", m->file, m->line);
		va_start(ap, fmt);
		errno = cause;
		vsnprintf(line + len, sizeof(line) - 1 - (size_t)len, fmt, ap);
		va_end(ap);
		for (char *p = line; *p; p++)
			if (*p == '\n')
				*p = ' ';
		strcat(line, "\n");
		while (write(fd, line, strlen(line)) < 0 && errno == EINTR)
			;
		close(fd);
	}
	errno = cause;
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
