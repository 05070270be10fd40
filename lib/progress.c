/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "progress.h"

#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "error.h"

static double began, said;	/* seconds; 0: nothing is going on */
static bool shown;

static volatile sig_atomic_t caught;
static struct sigaction before;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void progress(const char *what, double share)
{
	double t = now();

	if (began <= 0)
		began = said = t;
	if (t - began < 2 || t - said < 1 || verbosity < 0 || !isatty(STDERR_FILENO))
		return;
	said = t;
	shown = true;
	fprintf(stderr, "\r\033[Khottext: %s, %.0f %%", what, 100 * share);
	fflush(stderr);
}

void progress_end(void)
{
	if (shown)
		fputs("\r\033[K", stderr);
	shown = false;
	began = 0;
}

static void on_interrupt(int sig)
{
	caught = 1;
	sigaction(sig, &before, NULL);
}

void interrupt_catch(void)
{
	struct sigaction sa = { .sa_handler = on_interrupt, .sa_flags = SA_RESTART };

	caught = 0;
	sigaction(SIGINT, &sa, &before);
	/* Who was started with the signal ignored goes on ignoring it. */
	if (before.sa_handler == SIG_IGN)
		sigaction(SIGINT, &before, NULL);
}

void interrupt_release(void)
{
	sigaction(SIGINT, &before, NULL);
}

bool interrupted(void)
{
	return caught;
}
