/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Taken in before every file of the build that `make messages` tests: each call that reports something leaves a record in
 * the program, and says so in the file that HOTTEXT_MESSAGES names when it is made. See messages.sh.
 */
#ifndef TESTS_COVERAGE_MESSAGES_H
#define TESTS_COVERAGE_MESSAGES_H

#include "lib/error.h"
#include "lib/opt.h"

struct message {
	const char *file;	/* as the compiler was given it */
	const char *text;	/* the call's arguments, as written */
	int line;
};

/* Appends where and what is said. Neither allocates nor changes errno. */
void message_raised(const struct message *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The arguments are evaluated twice: no call may change anything in them. */
#define MESSAGE(args, ...) \
	({ \
		static const struct message message_ = { __FILE__, args, __LINE__ }; \
		static const struct message *const message_at_ __attribute__((section("messages"), used)) = &message_; \
		message_raised(&message_, __VA_ARGS__); \
	})

#define error(...) (MESSAGE(#__VA_ARGS__, __VA_ARGS__), (error)(__VA_ARGS__))
#define warn(...) (MESSAGE(#__VA_ARGS__, __VA_ARGS__), (warn)(__VA_ARGS__))
#define die(...) (MESSAGE(#__VA_ARGS__, __VA_ARGS__), (die)(__VA_ARGS__))
#define usage_error(command, ...) (MESSAGE(#__VA_ARGS__, __VA_ARGS__), (usage_error)(command, __VA_ARGS__))

#endif
