/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tasks.c - the tasks of the job side by side, those of each step by themselves.
 *
 * A step may start the same ranks several times, as a script with two mpiruns does: the second task
 * of a rank belongs to the second launch.
 */
#include "base/text/decimal.h"
#include "report/summary/parts.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double summary_label_number(const struct run *r, uint32_t instance, const char *key)
{
	const char *text = run_label(r, instance, key);

	return text && *text ? decimal_parse(text, NULL) : NAN;
}

static double final_of(const struct run *r, uint32_t instance, const char *metric)
{
	double v;

	return run_final_value(r, instance, metric, &v) ? v : NAN;
}

static bool is_task(const struct run_instance *in)
{
	return in->domain && strcmp(in->domain, "task") == 0;
}

/* mpirun's ranks are of one launch, whoever started them: those of its own node are in its step, as
 * the batch script's, those of others in the one that it started its daemons by. */
static const char *step_of(const struct run *r, uint32_t i)
{
	const char *step = run_label(r, i, "step");

	if (run_find_text(r, r->instances[i].node, "job.launcher"))
		return NULL;
	return step && *step ? step : NULL;
}

static struct summary_task task_of(const struct run *r, uint32_t i)
{
	const struct run_instance *in = &r->instances[i];
	const char *step = step_of(r, i);
	double exit_code = summary_label_number(r, i, "exit_code"),
	       signal = summary_label_number(r, i, "signal");

	return (struct summary_task){
		.instance = i,
		.step = step,
		.host = r->nodes[in->node].host,
		.rank = summary_label_number(r, i, "rank"),
		.start_s = run_seconds(r, in->node, in->birth_ns),
		.wall_s = in->end_ns == INT64_MAX ? NAN
						  : run_seconds(r, in->node, in->end_ns) -
							    run_seconds(r, in->node, in->birth_ns),
		.cpu_s = final_of(r, i, "task.cpu_seconds"),
		.peak_rss_bytes = final_of(r, i, "task.peak_resident_bytes"),
		.exit_code = exit_code,
		.signal = signal,
		.cpu_is_bound = isnan(exit_code) && isnan(signal),
	};
}

static int compare_real(double a, double b)
{
	return (a > b) - (a < b);
}

static int by_step(const struct summary_task *x, const struct summary_task *y)
{
	return strcmp(x->step ? x->step : "", y->step ? y->step : "");
}

/* What is not told is less than every rank. */
static int by_rank(const struct summary_task *x, const struct summary_task *y)
{
	return compare_real(isnan(x->rank) ? -1 : x->rank, isnan(y->rank) ? -1 : y->rank);
}

static int by_rank_and_time(const void *a, const void *b)
{
	const struct summary_task *x = a, *y = b;
	int step = by_step(x, y), rank = by_rank(x, y);

	return step ? step : rank ? rank : compare_real(x->start_s, y->start_s);
}

static int by_launch(const void *a, const void *b)
{
	const struct summary_task *x = a, *y = b;
	int step = by_step(x, y), launch = (x->launch > y->launch) - (x->launch < y->launch);

	return step ? step : launch ? launch : by_rank(x, y);
}

/* One that a lost recorder began is told once, by who went on. */
static uint32_t leave_out_begun(struct summary_task *t, uint32_t n, const struct run *r)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n; i++) {
		const char *goes_on = run_label(r, t[i].instance, "goes_on");
		struct summary_task *before = kept ? &t[kept - 1] : NULL;

		if (goes_on && before && before->cpu_is_bound && !by_step(&t[i], before) &&
		    !by_rank(&t[i], before)) {
			t[i].wall_s += t[i].start_s - before->start_s;
			t[i].start_s = before->start_s;
			kept--;
		}
		t[kept++] = t[i];
	}
	return kept;
}

static void find_launches(struct summary_task *t, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++)
		if (!by_step(&t[i], &t[i - 1]) && !by_rank(&t[i], &t[i - 1]))
			t[i].launch = t[i - 1].launch + 1;
	qsort(t, n, sizeof *t, by_launch);
}

static void take_most_unequal(struct summary *s, const struct summary_step *x)
{
	if (isnan(x->cpu.imbalance) || x->cpu.imbalance <= s->unequal_ratio)
		return;
	s->unequal_tasks = x->cpu.n;
	s->unequal_ratio = x->cpu.imbalance;
	s->unequal_mean_s = x->cpu.mean;
	s->unequal_most_s = x->cpu.max;
	s->unequal_rank = s->tasks[x->first + x->cpu.most].rank;
}

static void compare_step(struct summary *s, uint32_t first, uint32_t n, double *value)
{
	struct summary_step *x = &s->steps[s->nsteps++];

	*x = (struct summary_step){ .first = first, .n = n };
	for (uint32_t i = 0; i < n; i++)
		value[i] = s->tasks[first + i].cpu_s;
	x->cpu = spread_of(value, n);
	for (uint32_t i = 0; i < n; i++)
		value[i] = s->tasks[first + i].peak_rss_bytes;
	x->memory = spread_of(value, n);
	take_most_unequal(s, x);
}

static void compare_steps(struct summary *s, double *value)
{
	for (uint32_t i = 0, same; i < s->ntasks; i += same) {
		same = 1;
		while (i + same < s->ntasks && !by_step(&s->tasks[i], &s->tasks[i + same]) &&
		       s->tasks[i].launch == s->tasks[i + same].launch)
			same++;
		compare_step(s, i, same, value);
	}
}

int summary_tasks_make(struct summary *s, const struct run *r, struct err *e)
{
	double *value;
	uint32_t n = 0;

	s->unequal_tasks = s->unequal_ratio = s->unequal_mean_s = NAN;
	s->unequal_most_s = s->unequal_rank = NAN;
	for (uint32_t i = 1; i < r->ninstances; i++)
		n += is_task(&r->instances[i]);
	if (!n)
		return 0;
	s->tasks = calloc(n, sizeof *s->tasks);
	s->steps = calloc(n, sizeof *s->steps);
	value = calloc(n, sizeof *value);
	if (!s->tasks || !s->steps || !value) {
		free(value);
		return err_set(e, -ENOMEM, "out of memory for the tasks of %.300s", r->path);
	}
	for (uint32_t i = 1; i < r->ninstances; i++)
		if (is_task(&r->instances[i]))
			s->tasks[s->ntasks++] = task_of(r, i);
	qsort(s->tasks, n, sizeof *s->tasks, by_rank_and_time);
	s->ntasks = leave_out_begun(s->tasks, n, r);
	find_launches(s->tasks, s->ntasks);
	compare_steps(s, value);
	free(value);
	return 0;
}

enum { NAMED = 8 };

/* Ranks of one node that follow each other, from i on: the next one that is not of them. */
static uint32_t put_ranks(const struct summary *s, uint32_t i, struct bytes *out)
{
	const struct summary_task *t = s->tasks;
	uint32_t n = 1;

	while (i + n < s->ntasks && strcmp(t[i + n].host, t[i].host) == 0 &&
	       t[i + n].rank - t[i].rank == n)
		n++;
	bytes_printf(out, n > 1 ? "%.0f-%.0f on " : "%.0f on ", t[i].rank, t[i + n - 1].rank);
	bytes_puts(out, t[i].host);
	return i + n;
}

static void put_places(const struct summary *s, struct bytes *out)
{
	uint32_t named = 0, i = 0;

	while (i < s->ntasks && named < NAMED) {
		bytes_puts(out, named++ ? ", " : "ranks ");
		i = put_ranks(s, i, out);
	}
	if (i < s->ntasks)
		bytes_printf(out, " and %u more", s->ntasks - i);
}

static void put_failed(const struct summary_task *t, struct bytes *out)
{
	const char *name = t->signal > 0 ? sigabbrev_np((int)t->signal) : NULL;

	if (!isnan(t->rank))
		bytes_printf(out, "rank %.0f on ", t->rank);
	bytes_puts(out, t->host);
	if (name)
		bytes_printf(out, " (SIG%s)", name);
	else if (t->signal > 0)
		bytes_printf(out, " (signal %.0f)", t->signal);
	else
		bytes_printf(out, " (exit code %.0f)", t->exit_code);
}

void summary_tasks_words(const struct summary *s, struct bytes *out)
{
	uint32_t failed = 0;

	if (s->ntasks < 2)
		return;
	bytes_printf(out, "%u", s->ntasks);
	if (s->nsteps > 1)
		bytes_printf(out, " in %u launches", s->nsteps);
	else if (!isnan(s->tasks[0].rank)) {
		bytes_puts(out, ": ");
		put_places(s, out);
	}
	for (uint32_t i = 0; i < s->ntasks; i++) {
		if (!(s->tasks[i].signal > 0) && !(s->tasks[i].exit_code > 0))
			continue;
		if (failed < NAMED) {
			bytes_puts(out, failed ? ", " : "; failed: ");
			put_failed(&s->tasks[i], out);
		}
		failed++;
	}
	if (failed > NAMED)
		bytes_printf(out, " and %u more", failed - NAMED);
}

/* ---- ranks out of reach ---- */

/*
 * Was a launcher of ranks recorded, and not the ranks?
 *
 * A daemon of the batch system starts them: they are no descendants of srun. mpirun forks those of
 * its own node and reaches the others by a batch system's launcher, a remote shell, or a call of
 * the batch system's library that leaves no trace: then nodes of the job are without a recording.
 * Where the job is recorded in another way, too (attach --job, sonde behind the launcher), they are
 * not elsewhere.
 */

enum { STARTS_ELSEWHERE = 1, STARTS_HERE_TOO = 2, REACHES_OTHERS = 4 };

/* What processes are called, or what the script is that an interpreter runs ("python3
 * flux-run.py"); behind it may come '.' or '-'. */
static const struct {
	const char *name;
	unsigned does;
	const char *typed; /* NULL: its name */
} launchers[] = {
	{ "srun", STARTS_ELSEWHERE, NULL },
	{ "aprun", STARTS_ELSEWHERE, NULL },
	{ "jsrun", STARTS_ELSEWHERE, NULL },
	{ "lrun", STARTS_ELSEWHERE, NULL },
	{ "palsrun", STARTS_ELSEWHERE, NULL },
	{ "prun", STARTS_ELSEWHERE, NULL },
	{ "poe", STARTS_ELSEWHERE, NULL },
	{ "pbsdsh", STARTS_ELSEWHERE, NULL },
	{ "mpiexec_mpt", STARTS_ELSEWHERE, NULL },
	{ "flux-run", STARTS_ELSEWHERE, "flux run" },
	{ "flux-submit", STARTS_ELSEWHERE, "flux submit" },
	{ "flux-bulksubmit", STARTS_ELSEWHERE, "flux bulksubmit" },
	{ "mpirun_rsh", STARTS_HERE_TOO, NULL },
	{ "charmrun", STARTS_HERE_TOO, NULL },
	{ "horovodrun", STARTS_HERE_TOO, NULL },
	{ "deepspeed", STARTS_HERE_TOO, NULL },
	{ "mpirun", STARTS_HERE_TOO, NULL },
	{ "mpiexec", STARTS_HERE_TOO, NULL },
	{ "orterun", STARTS_HERE_TOO, NULL },
	{ "prterun", STARTS_HERE_TOO, NULL },
	{ "ssh", REACHES_OTHERS, NULL },
	{ "rsh", REACHES_OTHERS, NULL },
	{ "pdsh", REACHES_OTHERS, NULL },
	{ "oarsh", REACHES_OTHERS, NULL },
	{ "pbs_tmrsh", REACHES_OTHERS, NULL },
	{ "blaunch", REACHES_OTHERS, NULL },
	{ "qrsh", REACHES_OTHERS, NULL },
};

/* What a recording saw: what such processes do, and the name of the one that a user typed. */
struct seen {
	unsigned does;
	const char *name;
	bool attached;
};

static bool is(const char *name, const char *launcher)
{
	const char *script = strrchr(name, ' ');
	size_t n = strlen(launcher);

	name = script ? script + 1 : name;
	return strncmp(name, launcher, n) == 0 && (!name[n] || name[n] == '.' || name[n] == '-');
}

static void see(struct seen *x, const char *name)
{
	for (size_t i = 0; i < sizeof launchers / sizeof launchers[0]; i++) {
		if (!is(name, launchers[i].name))
			continue;
		if (!x->name || launchers[i].does == STARTS_HERE_TOO)
			x->name = launchers[i].typed ? launchers[i].typed : launchers[i].name;
		x->does |= launchers[i].does;
		return;
	}
}

static bool is_elsewhere(const struct seen *x)
{
	return !x->attached && (x->does & STARTS_ELSEWHERE ||
				(x->does & STARTS_HERE_TOO && x->does & REACHES_OTHERS));
}

/* Does mpirun ask this batch system by a library to start ranks on nodes that were not recorded? */
static bool reaches_silently(const struct summary *s)
{
	static const char *const systems[] = { "pbs", "torque", "lsf" };

	for (size_t i = 0; s->missing.n && s->scheduler && i < sizeof systems / sizeof systems[0];
	     i++)
		if (!strcmp(s->scheduler, systems[i]))
			return true;
	return false;
}

int summary_elsewhere_make(struct summary *s, const struct run *r)
{
	struct seen *seen = calloc(r->nnodes + 1, sizeof *seen);
	const char *name = NULL;
	bool all = r->nnodes > 1;
	unsigned does = 0, silent = reaches_silently(s) ? REACHES_OTHERS : 0;

	if (!seen)
		return -ENOMEM;
	for (uint32_t i = 1; i < r->ninstances; i++) {
		const struct run_instance *in = &r->instances[i];

		if (in->name && in->domain && in->node < r->nnodes &&
		    (!strcmp(in->domain, "process") || !strcmp(in->domain, "command")))
			see(&seen[in->node], in->name);
	}
	for (uint32_t i = 1; i < r->nmetas; i++)
		if (r->metas[i].node < r->nnodes && !strcmp(r->metas[i].key, "job.members"))
			seen[r->metas[i].node].attached = true;
	for (uint32_t i = 1; i < r->nnodes; i++) {
		seen[i].does |= silent;
		all = all && is_elsewhere(&seen[i]);
		does |= seen[i].does;
		name = name ? name : seen[i].name;
	}
	s->story.ranks_elsewhere = all;
	s->story.launched_here = (does & STARTS_HERE_TOO) != 0;
	if (all)
		snprintf(s->story.launcher, sizeof s->story.launcher, "%s", name);
	free(seen);
	return 0;
}
