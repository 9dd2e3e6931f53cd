/* SPDX-License-Identifier: Apache-2.0 */
/* spawn.c - how fast processes start: fork and wait; posix_spawn of a tiny program and wait. */
#include "base/clock.h"
#include "core/describe.h"
#include "indicator/indicator.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KINDS = 2, LATENCIES = 1 << 20, MIB = 1 << 20, CODES = 100 };
#define REFERENCE 1000.0
#define PROGRAM   "sonde-nothing"
#ifdef NOTHING_IS_STATIC
static const bool is_static = true;
#else
static const bool is_static = false;
#endif

static const struct option rows[] = {
	{ .name = "size",
	  .letter = 's',
	  .type = ARG_COUNT,
	  .value = "MIB",
	  .fallback = "0",
	  .max = 1 << 24,
	  .help = "MiB of memory in use by what forks, whose page tables a fork copies.",
	  OPTION_OFFSET(struct wish, size) },
	WISH_THREADS,
	WISH_REPEATS,
};

struct spawn {
	int (*one)(const struct spawn *s, int code, pid_t *pid);
	const char *program;
	int64_t times;     /* of each thread */
	double *latency;   /* us; [threads * times] */
	atomic_int failed; /* errno, or -1: a wrong exit status */
};

static int by_fork(const struct spawn *s, int code, pid_t *pid)
{
	(void)s;
	*pid = fork();
	if (!*pid)
		_exit(code);
	return *pid < 0 ? errno : 0;
}

static int by_exec(const struct spawn *s, int code, pid_t *pid)
{
	char name[] = PROGRAM, word[8];
	char *argv[] = { name, word, NULL }, *none[] = { NULL };

	snprintf(word, sizeof word, "%d", code);
	return posix_spawn(pid, s->program, NULL, NULL, argv, none);
}

static const struct {
	const char *rate, *median, *p99;
	int (*one)(const struct spawn *s, int code, pid_t *pid);
} kinds[KINDS] = {
	{ "fork_rate", "fork_latency_median", "fork_latency_p99", by_fork },
	{ "exec_rate", "exec_latency_median", "exec_latency_p99", by_exec },
};

/* Each child is to end with another exit code: that it did shows that it ran. */
static void work(void *ctx, int64_t thread)
{
	struct spawn *s = ctx;

	for (int64_t i = 0; i < s->times && !s->failed; i++) {
		int64_t begin = clock_mono_ns();
		int code = (int)(i % CODES) + 1, status = 0, rc;
		pid_t pid;

		rc = s->one(s, code, &pid);
		if (rc)
			s->failed = rc;
		else if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
			 WEXITSTATUS(status) != code)
			s->failed = -1;
		s->latency[thread * s->times + i] = (double)(clock_mono_ns() - begin) / 1e3;
	}
}

static int failure(const struct spawn *s, struct err *e)
{
	int code = s->failed;

	if (code < 0)
		return err_set(e, -EIO, "a process did not end with the exit code it was given");
	return err_set(e, -code, "a process cannot be started: %s", strerror(code));
}

struct told {
	struct figure rate, median, p99;
};

/* f: NULL for a warm-up. */
static int repeat(struct spawn *s, const struct wish *w, const struct team *team, struct told *f,
		  struct err *e)
{
	double seconds;
	int rc = team_measure(team, w->seconds_ns, LATENCIES / w->threads, &s->times, &seconds, e);
	uint32_t n = (uint32_t)(w->threads * s->times);

	if (!rc && s->failed)
		rc = failure(s, e);
	if (rc || !f)
		return rc;
	sort_values(s->latency, n);
	figure_add(&f->rate, n / seconds);
	figure_add(&f->median, quantile_of(s->latency, n, 0.5));
	figure_add(&f->p99, quantile_of(s->latency, n, 0.99));
	return 0;
}

static int measure_kind(struct spawn *s, const struct wish *w, struct told *f, struct err *e)
{
	const struct team team = { w->threads, work, s };
	int rc;

	s->times = 1;
	rc = repeat(s, w, &team, NULL, e);
	for (int64_t i = 0; i < w->repeats && !rc; i++)
		rc = repeat(s, w, &team, f, e);
	return rc;
}

/* The program lies beside this one. */
static int find_program(char *path, size_t size, struct err *e)
{
	char own[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);
	char *slash;

	own[n > 0 ? n : 0] = '\0';
	slash = strrchr(own, '/');
	if (slash &&
	    (size_t)snprintf(path, size, "%.*s/" PROGRAM, (int)(slash - own), own) < size &&
	    !access(path, X_OK))
		return 0;
	return err_set(e, -ENOENT,
		       "the program " PROGRAM
		       " is missing beside sonde-indicator; install it again");
}

static void tell_all(struct measured *t, const struct wish *w)
{
	snprintf(t->component, sizeof t->component, "linux");
	json_put_int(&t->parameters, "size", w->size);
	json_put_int(&t->parameters, "threads", w->threads);
	json_put_int(&t->parameters, "repeats", w->repeats);
	json_put_real(&t->parameters, "seconds", (double)w->seconds_ns / 1e9);
	json_key(&t->parameters, "program_static");
	json_bool(&t->parameters, is_static);
	json_put_text(&t->info, "formula",
		      "rate = processes / seconds, of all threads together; a latency is from "
		      "before the start to the end of waiting, in us: the median and the 99th "
		      "percentile of each repeat. fork: fork, _exit, waitpid; exec: posix_spawn of "
		      "a program that only ends, waitpid");
	json_put_text(&t->info, "score", "log10(exec_rate / 1000), within -1 and 1");
	json_put_text(&t->info, "verified",
		      "each process ends with the exit code that it alone was given");
}

/* Memory in use, whose page tables a fork copies. */
static int take_room(const struct wish *w, struct spawn *s, void **memory, struct err *e)
{
	size_t bytes = (size_t)w->size * MIB;
	int rc = room_check((double)bytes + LATENCIES * sizeof(double),
			    "the memory of what forks and the latencies", e);

	if (rc)
		return rc;
	s->latency = calloc(LATENCIES, sizeof *s->latency);
	*memory = malloc(bytes + 1);
	if (!s->latency || !*memory)
		return err_set(e, -ENOMEM, "out of memory");
	explicit_bzero(*memory, bytes);
	return 0;
}

static int measure(const struct wish *w, struct measured *t, struct err *e)
{
	struct told *f = calloc(KINDS, sizeof *f);
	struct spawn s = { .failed = 0 };
	char program[PATH_MAX];
	void *memory = NULL;
	int rc =
		f ? find_program(program, sizeof program, e) : err_set(e, -ENOMEM, "out of memory");

	s.program = program;
	signal(SIGCHLD, SIG_DFL); /* who ignores it has no exit codes */
	if (!rc)
		rc = take_room(w, &s, &memory, e);
	for (size_t i = 0; i < KINDS && !rc; i++) {
		s.one = kinds[i].one;
		rc = measure_kind(&s, w, &f[i], e);
	}
	for (size_t i = 0; i < KINDS && !rc; i++) {
		measured_figure(t, kinds[i].rate, &f[i].rate);
		measured_figure(t, kinds[i].median, &f[i].median);
		measured_figure(t, kinds[i].p99, &f[i].p99);
	}
	if (!rc) {
		tell_all(t, w);
		measured_score(t, figure_mean(&f[1].rate), REFERENCE);
	}
	free(memory);
	free(s.latency);
	free(f);
	return rc;
}

const struct indicator indicator_spawn = {
	.name = "spawn",
	.indicator = "SondeSpawn",
	.options = rows,
	.noptions = sizeof rows / sizeof rows[0],
	.measure = measure,
};
