/* SPDX-License-Identifier: Apache-2.0 */
/* stacks.c - CPU time by code: samples of the job's stacks, which the helper sonde-unwind
 * (src/unwind/) turns into frames. What it answers becomes events of the recording as it comes. */
#include "base/clock.h"
#include "base/helper.h"
#include "base/text/number.h"
#include "source/perf/perf_count.h"
#include "source/program/stacks_helper.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { CRASHES_MAX = 4, LOCK_KB = 516, LONG_HZ = 49 };
static const int64_t ASK_NS = NS_PER_S, ASK_IN_ROUNDS_NS = NS_PER_S / 4;
static const double budget_of_a_core = 0.005;

enum { SAMPLES, LOST, CUT, LOST_WAY, UNSAMPLED, UNSAMPLED_CPU, CPU, RESIDENT, MONITORED };

static const struct metric metrics[] = {
	[SAMPLES] = { "job.stack_samples", .unit = UNIT_COUNT, .kind = KIND_COUNTER,
		      .over_nodes = COMBINE_SUM, .label = "Stack samples",
		      .help = "Samples of the stacks of the job's threads while they ran in user "
			      "mode." },
	[LOST] = { "job.stack_samples_lost", .unit = UNIT_COUNT, .kind = KIND_COUNTER,
		   .over_nodes = COMBINE_SUM, .label = "Stack samples lost",
		   .help = "Samples and other records that the kernel or Sonde had no room for." },
	[CUT] = { "job.stack_samples_cut", .unit = UNIT_COUNT, .kind = KIND_COUNTER,
		  .over_nodes = COMBINE_SUM, .label = "Stack samples cut",
		  .help = "Stack samples of which the outer part is missing: more than is copied "
			  "of a stack, or than 127 frames." },
	[LOST_WAY] = { "job.stack_samples_lost_way", .unit = UNIT_COUNT, .kind = KIND_COUNTER,
		       .over_nodes = COMBINE_SUM, .label = "Stack samples without all callers",
		       .help = "Stack samples in which the caller of a frame could not be found." },
	[UNSAMPLED] = { "job.stack_threads_unsampled", .unit = UNIT_COUNT, .kind = KIND_COUNTER,
			.over_nodes = COMBINE_SUM, .label = "Threads without stack samples",
			.help = "Threads that ended before they were sampled, where threads are "
				"sampled in rounds." },
	[UNSAMPLED_CPU] = { "job.stack_threads_unsampled_seconds", .unit = UNIT_SECONDS,
			    .div = 1000000000, .kind = KIND_COUNTER, .over_nodes = COMBINE_SUM,
			    .label = "CPU of threads without stack samples",
			    .help = "User CPU time of threads that ended before they were sampled, "
				    "where threads are sampled in rounds." },
	[CPU] = { "monitor.unwind_cpu_seconds", .unit = UNIT_SECONDS, .div = 1000000000,
		  .kind = KIND_COUNTER, .over_nodes = COMBINE_SUM,
		  .label = "CPU of Sonde's unwinding helper",
		  .help = "CPU time of the helper that turns stacks into frames; it is not part of "
			  "the recorder's." },
	[RESIDENT] = { "monitor.unwind_resident_bytes", .unit = UNIT_BYTES, .kind = KIND_GAUGE,
		       .over_nodes = COMBINE_MAX, .label = "RSS of Sonde's unwinding helper",
		       .help = "Resident set size of the helper that turns stacks into frames; it is "
			       "not part of the recorder's." },
};
_Static_assert(sizeof metrics / sizeof metrics[0] == MONITORED, "a row for every index");

struct stacks {
	const struct source_env *env;
	struct stacks_rings rings;
	struct stacks_helper helper;
	struct stacks_turns turns;
	uint32_t slot;
	int64_t asked_ns, missed; /* missed: tasks that are not sampled, */
	int64_t barred;           /* those of them that the helper was refused */
	int64_t restless;         /* threads that get a CPU too often */
	bool waiting;             /* until a process has used CPU time enough to be sampled */
	bool over;
};

/* ---- the helper ---- */

static void figures(const struct stacks_page *p, int64_t *own)
{
	own[SAMPLES] = p->samples;
	own[LOST] = p->lost;
	own[CUT] = p->cut;
	own[LOST_WAY] = p->lost_way;
	own[UNSAMPLED] = p->rounds.unsampled;
	own[UNSAMPLED_CPU] = p->rounds.unsampled_ns;
	own[CPU] = p->cpu_ns;
}

static const struct stacks_use use = {
	.key = { "stacks.note", "stacks.helper_restarts", "stacks.files_left_out",
		 "stacks.left_out", "source.stacks" },
	.verb = "sampled",
	.missing = "samples",
	.crashes_max = CRASHES_MAX,
	.nfigures = RESIDENT,
	.lost = LOST,
	.figures = figures,
};

static void give_up(struct stacks *k, struct sample *s, const char *why)
{
	stacks_helper_give_up(&k->helper, s, why);
	k->over = true;
}

static void say_missed(const struct stacks *k, struct sample *s)
{
	if (k->missed)
		sample_meta_int(s, "stacks.tasks_not_sampled", k->missed);
}

/* What the helper could not sample, as far as it is new. */
static void take_refusals(struct stacks *k, struct sample *s)
{
	const struct stacks_rounds *rounds = &k->helper.page->rounds;
	int64_t refused = atomic_load(&rounds->refused), restless = atomic_load(&rounds->restless);

	if (refused > k->barred) {
		number_add(&k->missed, refused - k->barred);
		k->barred = refused;
		say_missed(k, s);
	}
	if (restless > k->restless) {
		k->restless = restless;
		sample_meta_int(s, "stacks.threads_too_restless", restless);
	}
}

/* Until the first process is worth it, which a short job is to gain from, it costs next to nothing.
 */
static bool is_due(const struct stacks *k, const struct sample *s)
{
	bool often = k->turns.threads && (!k->turns.after_ns || k->waiting);
	int64_t due_ns = often ? ASK_IN_ROUNDS_NS : ASK_NS;

	return s->mono_ns - k->asked_ns >= due_ns - due_ns / 20;
}

/* In rounds the helper must know the job's processes. */
static void ask(struct stacks *k, struct sample *s)
{
	const struct source_job *job = &k->env->job;
	struct stacks_page *p = k->helper.page;

	if (!is_due(k, s))
		return;
	if (k->turns.threads && p) {
		if (!stacks_helper_answered(&k->helper))
			return;
		p->npids =
			(uint32_t)job->busy(job->tree, k->turns.after_ns, p->pid, STACKS_PIDS_MAX);
		take_refusals(k, s);
	}
	stacks_helper_ask(&k->helper, false);
	k->asked_ns = s->mono_ns;
}

static void say_how(const struct stacks *k, struct sample *s)
{
	if (k->turns.threads) {
		sample_meta_int(s, "stacks.period_ns", NS_PER_S / k->turns.hz);
		sample_meta_int(s, "stacks.threads_at_a_time", k->turns.threads);
	} else {
		sample_meta_int(s, "stacks.period_ns", k->rings.period_ns);
	}
	if (k->turns.after_ns)
		sample_meta_int(s, "stacks.after_ns", k->turns.after_ns);
	say_missed(k, s);
}

static void declare(struct stacks *k, struct sample *s)
{
	sample_catalogue(s, metrics, MONITORED);
	k->slot = sample_series(s, metrics, MONITORED, 0);
	say_how(k, s);
}

/* So that short jobs, and storms of short processes, cost nothing. */
static void begin_if_worth_it(struct stacks *k, struct sample *s)
{
	const struct source_job *job = &k->env->job;
	struct err e = { "" };
	pid_t one;

	if ((!s->last && !is_due(k, s)) || job->cpu_ns(job->tree) < k->turns.after_ns)
		return;
	k->asked_ns = s->mono_ns;
	if (!k->slot)
		declare(k, s);
	if (s->last || !job->busy(job->tree, k->turns.after_ns, &one, 1))
		return;
	k->waiting = false;
	if (stacks_helper_start(&k->helper, &e))
		give_up(k, s, e.text);
	else
		k->asked_ns = INT64_MIN / 2;
}

static int stacks_read(void *state, struct sample *s)
{
	struct stacks *k = state;
	const struct source_job *job = &k->env->job;

	if (k->waiting)
		begin_if_worth_it(k, s);
	if (k->waiting)
		return 0;
	if (!k->over)
		k->over = !stacks_helper_serve(&k->helper, stacks_helper_died(&k->helper), job, s);
	if (s->last && k->turns.threads && k->helper.page)
		take_refusals(k, s);
	stacks_helper_put(&k->helper, k->slot,
			  k->turns.threads ? 0 : 1 << UNSAMPLED | 1 << UNSAMPLED_CPU, s);
	if (k->over || s->last)
		return 0;
	if (!k->turns.threads && job->switches_often && job->switches_often(job->tree))
		give_up(k, s, "the job switched tasks too often for it");
	else
		ask(k, s);
	return 0;
}

/* ---- the job's tasks ---- */

static int stacks_joined(void *state, pid_t launcher, bool runs, struct sample *s)
{
	struct stacks *k = state;
	struct err e = { "" };
	int bad = 0;

	if (k->over || k->turns.threads)
		return 0;
	if (launcher != k->env->roots[0]) {
		stacks_helper_leave_out(&k->helper, launcher);
		bad = stacks_tasks_add(&k->rings, k->env,
				       (struct stacks_new){ .pids = &launcher, .n = 1 }, &k->missed,
				       &e);
	}
	number_add(&k->missed, bad || runs);
	say_missed(k, s);
	return bad;
}

static int stacks_adopted(void *state, const pid_t *pids, size_t n, struct sample *s)
{
	struct stacks *k = state;
	struct err e = { "" };
	int bad = k->over || k->turns.threads || !n
			  ? 0
			  : stacks_tasks_add(&k->rings, k->env,
					     (struct stacks_new){ .pids = pids, .n = n },
					     &k->missed, &e);

	if (bad)
		number_add(&k->missed, (int64_t)n);
	say_missed(k, s);
	return bad;
}

/* ---- opening ---- */

static int64_t lock_kb(const struct root *proc)
{
	char text[32];
	const char *at = text;
	int64_t kb;

	return root_read(proc, "sys/kernel/perf_event_mlock_kb", text, sizeof text) > 0 &&
			       number_i64(&at, &kb) && kb >= 0
		       ? kb
		       : LOCK_KB;
}

/* Nobody asked: whether it could be done. */
static int try_it(struct stacks *k, struct sample *s, struct err *e)
{
	int bad = k->turns.threads ? 0 : stacks_rings_add(&k->rings, 0);
	char text[200];

	if (bad)
		return err_set(e, bad, "perf events are not available: %s", strerror(-bad));
	bad = stacks_helper_try(&k->helper, e);
	if (bad || !k->turns.threads)
		return bad;
	snprintf(text, sizeof text,
		 "sampled in rounds, at most %u threads at a time, as on more than %d CPUs",
		 k->turns.threads, STACKS_CPUS_MAX);
	sample_meta_text(s, "stacks.note", text);
	return 0;
}

/* By default a sample costs some 25 us, which is half of what Sonde may take at this rate. */
static uint32_t long_hz(double max_overhead)
{
	double part = max_overhead > 0 ? max_overhead / budget_of_a_core : 1;

	return part >= 1 ? LONG_HZ : part * LONG_HZ > 1 ? (uint32_t)(part * LONG_HZ) : 1;
}

static int plan_rounds(struct stacks_turns *t, const struct source_env *env, struct err *e)
{
	int bad = stacks_rounds_plan(t, lock_kb(&env->proc), e);

	t->after_ns = env->stacks_after_ns;
	if (t->after_ns)
		t->hz = t->hz_of_node = long_hz(env->max_overhead);
	else
		stacks_rounds_rate(t, env->stacks_hz);
	return bad;
}

/* The events that tasks inherit; or what the helper needs to open others. */
static int open_events(struct stacks *k, struct err *e)
{
	const struct source_env *env = k->env;

	if (env->stacks_after_ns || stacks_rounds_needed())
		return plan_rounds(&k->turns, env, e);
	return stacks_rings_open(&k->rings, env->stacks_hz, lock_kb(&env->proc), e);
}

static int add_first(struct stacks *k, struct err *e)
{
	const struct source_env *env = k->env;

	if (k->turns.threads)
		return 0;
	if (env->launched)
		stacks_helper_leave_out(&k->helper, env->roots[0]);
	return env->followed ? 0
			     : stacks_tasks_add(
				       &k->rings, env,
				       (struct stacks_new){ .pids = env->roots, .n = env->nroots },
				       &k->missed, e);
}

static int open_all(struct stacks *k, struct sample *s, struct err *e)
{
	const struct source_env *env = k->env;
	char path[PATH_MAX];
	int bad = open_events(k, e);

	if (bad)
		return stacks_explain(env, bad, e);
	if (!env->nroots && !env->followed) {
		bad = try_it(k, s, e);
		stacks_helper_stop(&k->helper);
		stacks_rings_close(&k->rings);
		k->over = true; /* nothing is sampled: it was only tried */
		return stacks_explain(env, bad, e);
	}
	bad = add_first(k, e);
	if (bad)
		return stacks_explain(env, bad, e);
	k->waiting = k->turns.after_ns > 0;
	if (k->waiting)
		return helper_find("unwind", "libdw-dev", path, sizeof path, e);
	bad = stacks_helper_start(&k->helper, e);
	if (!bad)
		declare(k, s);
	return bad;
}

/* Files of another machine are read without it, unless it is asked for. */
static bool stacks_wanted(const struct source_env *env)
{
	return env->stacks_hz >= 0 && (!env->stacks_after_ns || !strcmp(env->proc.path, "/proc"));
}

/* The helper opens events, on the threads that compute then. */
static bool stacks_can_wait(const struct source_env *env)
{
	return env->stacks_after_ns > 0;
}

static void stacks_close(void *state)
{
	struct stacks *k = state;

	stacks_helper_stop(&k->helper);
	stacks_rings_close(&k->rings);
}

static int stacks_open(void *state, const struct source_env *env, struct sample *s, struct err *e)
{
	struct stacks *k = state;
	int bad;

	if (strcmp(env->proc.path, "/proc") != 0)
		return err_set(e, -EOPNOTSUPP, SOURCE_NOT_THIS_KERNEL);
	k->env = env;
	k->asked_ns = INT64_MIN / 2;
	/* One by one: most of it is tables, which stay untouched. */
	k->helper.use = &use;
	k->helper.rings = &k->rings;
	k->helper.turns = &k->turns;
	k->helper.taken.no_paths = env->no_paths;
	k->helper.taken.mask = env->mask;
	k->helper.taken.next = (struct stacks_ids){ 1, 1, 1 };
	bad = open_all(k, s, e);
	if (bad)
		stacks_close(k);
	if (bad && env->stacks_after_ns) /* so that readers know that nobody asked */
		sample_meta_int(s, "stacks.after_ns", env->stacks_after_ns);
	return bad;
}

const struct source source_stacks = {
	.name = "stacks",
	.what = "CPU time by function and line, by samples of stacks",
	.fixes = perf_fixes,
	.fix_admin = STACKS_FIX_HELPER,
	SOURCE_METRICS(metrics),
	.declares_itself = true,
	.size = sizeof(struct stacks),
	.wanted = stacks_wanted,
	.can_wait = stacks_can_wait,
	.open = stacks_open,
	.read = stacks_read,
	.joined = stacks_joined,
	.adopted = stacks_adopted,
	.close = stacks_close,
};
