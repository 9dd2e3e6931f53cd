/* SPDX-License-Identifier: Apache-2.0 */
/* touches.c - memory by the code that touched it first: samples of the job's page faults, which the
 * helper sonde-unwind (src/unwind/touched.h) turns into frames and follows. What it answers becomes
 * events of the recording as it comes. */
#include "base/clock.h"
#include "base/text/number.h"
#include "source/perf/perf_count.h"
#include "source/program/stacks_helper.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

enum {
	CRASHES_MAX = 4,
	ASK_MS = 1000,
	TUNE_MS = 200,
	ROOTS_MAX = 256,
	PIDS_MAX = 4096,
	UNSEEN_LEAST = 32 << 20, /* bytes of memory without samples that are worth more of them */
	UNSEEN_PART = 8,         /* and of all */
	EVENTS_MOST = 2048,      /* beyond, all events are not opened again */
};
/* Ids below are those of samples of CPU time and of waits (source/program/waits.c). */
static const uint32_t first_id = UINT32_C(1) << 31;

enum { SAMPLES, LOST, CUT, LOST_WAY, LOOKS, REFUSED, CPU, RESIDENT, MONITORED };

static const struct metric metrics[] = {
	[SAMPLES] = { "job.fault_samples", .unit = UNIT_COUNT, .kind = KIND_COUNTER,
		      .over_nodes = COMBINE_SUM, .label = "Samples of page faults",
		      .help = "Samples of the stacks of the job's threads at page faults." },
	[LOST] = { "job.fault_samples_lost", .unit = UNIT_COUNT, .kind = KIND_COUNTER,
		   .over_nodes = COMBINE_SUM, .label = "Samples of page faults lost",
		   .help = "Samples of page faults, and other records beside them, that the kernel "
			   "or Sonde had no room for." },
	[CUT] = { "job.fault_samples_cut", .unit = UNIT_COUNT, .kind = KIND_COUNTER,
		  .over_nodes = COMBINE_SUM, .label = "Samples of page faults cut",
		  .help = "Samples of page faults of whose stack the outer part is missing: more "
			  "than is copied of a stack, or than 127 frames." },
	[LOST_WAY] = { "job.fault_samples_lost_way", .unit = UNIT_COUNT, .kind = KIND_COUNTER,
		       .over_nodes = COMBINE_SUM,
		       .label = "Samples of page faults without all callers",
		       .help = "Samples of page faults in which the caller of a frame could not be "
			       "found." },
	[LOOKS] = { "job.fault_looks", .unit = UNIT_COUNT, .kind = KIND_COUNTER,
		    .over_nodes = COMBINE_SUM, .label = "Looks at sampled pages",
		    .help = "How often the pages of sampled faults were checked for whether they "
			    "are still resident." },
	[REFUSED] = { "job.fault_looks_refused", .unit = UNIT_COUNT, .kind = KIND_COUNTER,
		      .over_nodes = COMBINE_SUM, .label = "Processes whose pages are hidden",
		      .help = "Processes of the job whose resident pages are hidden from this "
			      "user: of these only page faults are known." },
	[CPU] = { "monitor.faults_cpu_seconds", .unit = UNIT_SECONDS, .div = 1000000000,
		  .kind = KIND_COUNTER, .over_nodes = COMBINE_SUM,
		  .label = "CPU of Sonde's helper for page faults",
		  .help = "CPU time of the helper that turns samples of page faults into frames "
			  "and looks at their pages; it is not part of the recorder's." },
	[RESIDENT] = { "monitor.faults_resident_bytes", .unit = UNIT_BYTES, .kind = KIND_GAUGE,
		       .over_nodes = COMBINE_MAX, .label = "RSS of Sonde's helper for page faults",
		       .help = "Resident set size of the helper that turns samples of page faults "
			       "into frames; it is not part of the recorder's." },
};
_Static_assert(sizeof metrics / sizeof metrics[0] == MONITORED, "a row for every index");

struct touches {
	const struct source_env *env;
	struct stacks_rings rings;
	struct stacks_helper helper;
	uint32_t slot;
	int64_t asked_ns, missed; /* missed: tasks that are not sampled */
	pid_t root[ROOTS_MAX];    /* launchers */
	pid_t pid[PIDS_MAX];      /* scratch */
	size_t nroots;
	uint32_t first_step;
	int64_t tuned_ns, samples,
		unseen; /* when the rate was looked at last, and what there was */
	bool kept;      /* events are not opened again: a process would have none */
	bool over;
};

/* ---- the helper ---- */

static void figures(const struct stacks_page *p, int64_t *own)
{
	own[SAMPLES] = p->samples;
	own[LOST] = p->lost;
	own[CUT] = p->cut;
	own[LOST_WAY] = p->lost_way;
	own[LOOKS] = p->touches.looks;
	own[REFUSED] = p->touches.refused;
	own[CPU] = p->cpu_ns;
}

static const struct stacks_use use = {
	.key = { "touches.note", "touches.helper_restarts", "touches.files_left_out",
		 "touches.left_out", "source.touches" },
	.verb = "sampled",
	.missing = "samples",
	.crashes_max = CRASHES_MAX,
	.nfigures = RESIDENT,
	.lost = LOST,
	.figures = figures,
};

static void give_up(struct touches *k, struct sample *s, const char *why)
{
	stacks_helper_give_up(&k->helper, s, why);
	k->over = true;
}

static void say_missed(const struct touches *k, struct sample *s)
{
	if (k->missed)
		sample_meta_int(s, "touches.tasks_not_sampled", k->missed);
}

/* ---- the job's tasks ---- */

static int add(struct touches *k, const pid_t *pids, size_t n, struct err *e)
{
	for (size_t i = 0; i < n && k->nroots < ROOTS_MAX; i++)
		k->root[k->nroots++] = pids[i];
	return stacks_tasks_add(&k->rings, k->env, (struct stacks_new){ .pids = pids, .n = n },
				&k->missed, e);
}

static int touches_joined(void *state, pid_t launcher, bool runs, struct sample *s)
{
	struct touches *k = state;
	struct err e = { "" };
	int bad = 0;

	if (k->over)
		return 0;
	if (launcher != k->env->roots[0]) {
		stacks_helper_leave_out(&k->helper, launcher);
		bad = add(k, &launcher, 1, &e);
	}
	number_add(&k->missed, bad || runs);
	say_missed(k, s);
	return bad;
}

static int touches_adopted(void *state, const pid_t *pids, size_t n, struct sample *s)
{
	struct touches *k = state;
	struct err e = { "" };
	int bad = k->over || !n ? 0 : add(k, pids, n, &e);

	if (bad)
		number_add(&k->missed, (int64_t)n);
	say_missed(k, s);
	return bad;
}

/* ---- how often ---- */

/* The launchers, for what they will start, and what they have started. False: not all of it. */
static bool add_again(void *of)
{
	struct touches *k = of;
	const struct source_job *job = &k->env->job;
	struct stacks_new launchers = { .pids = k->root, .n = k->env->launched ? k->nroots : 0 };
	struct stacks_new others = { .pids = k->pid, .running = true };
	int64_t missed = 0;
	struct err e;

	others.n = job->pids ? job->pids(job->tree, k->pid, PIDS_MAX) : 0;
	for (; launchers.n; launchers.pids++, launchers.n--)
		(void)stacks_tasks_add(&k->rings, k->env,
				       (struct stacks_new){ .pids = launchers.pids, .n = 1 },
				       &missed, &e);
	if (others.n)
		(void)stacks_tasks_add(&k->rings, k->env, others, &missed, &e);
	return !missed;
}

/* Fewer samples than are permitted; more, down to the first period, when there are few; and still
 * more where memory has none, as of huge pages. */
static uint32_t step_for(const struct touches *k, double hz, int64_t unseen, int64_t all)
{
	uint32_t step = k->rings.step;
	double most = k->rings.faults_hz;

	if (k->rings.what == RINGS_TASKS) /* in windows many come at once */
		most /= 2;
	for (; hz > most && step + 1 < FAULTS_STEPS; hz /= 2)
		step++;
	if (step > k->rings.step)
		return step;
	if (unseen - k->unseen > UNSEEN_LEAST && unseen > all / UNSEEN_PART && hz < most / 4)
		return step > 3 ? step - 3 : 0;
	return hz < most / 8 && step > k->first_step ? step - 1 : step;
}

static void tune(struct touches *k, int64_t now_ns)
{
	const struct stacks_page *p = k->helper.page;
	int64_t span_ns = now_ns - k->tuned_ns, samples = p ? p->samples : 0, unseen;
	uint32_t step;
	double hz;

	if (!p || span_ns < TUNE_MS * NS_PER_MS)
		return;
	number_add(&samples, p->lost);
	hz = (double)(samples - k->samples) * 1e9 / (double)span_ns;
	unseen = p->touches.unseen_bytes;
	step = step_for(k, hz, unseen, p->touches.resident_bytes);
	k->tuned_ns = now_ns;
	k->samples = samples;
	if (step != k->rings.step || unseen < k->unseen)
		k->unseen = unseen;
	if (step == k->rings.step || k->rings.nevents > EVENTS_MOST || k->kept)
		return;
	if (k->rings.what == RINGS_TASKS)
		k->rings.step = step;
	else
		k->kept = !stacks_rings_again(&k->rings, step, add_again, k);
	atomic_store(&k->helper.page->touches.step, step);
}

/* While memory does not grow the helper opens events in windows. */
static void hand_over(struct touches *k)
{
	struct stacks_page *p = k->helper.page;
	bool windows = p && atomic_load(&p->touches.windows);
	enum rings_what had = k->rings.what;

	if (!p || windows == (had == RINGS_TASKS) || k->rings.nevents > EVENTS_MOST ||
	    (windows && k->kept))
		return;
	k->rings.what = windows ? RINGS_TASKS : RINGS_BOTH;
	if (!stacks_rings_again(&k->rings, k->rings.step, add_again, k)) {
		k->rings.what = had;
		k->kept = true;
		return;
	}
	atomic_store(&p->touches.handed, windows);
	(void)send(k->helper.socket, "!", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static int touches_read(void *state, struct sample *s)
{
	struct touches *k = state;
	const struct source_job *job = &k->env->job;

	if (!k->over)
		k->over = !stacks_helper_serve(&k->helper, stacks_helper_died(&k->helper), job, s);
	stacks_helper_put(&k->helper, k->slot, 0, s);
	if (k->over || s->last)
		return 0;
	tune(k, s->mono_ns);
	hand_over(k);
	if (job->switches_often && job->switches_often(job->tree)) {
		give_up(k, s, "the job switched tasks too often for it");
	} else if (s->mono_ns - k->asked_ns >= ASK_MS * NS_PER_MS * 19 / 20) {
		stacks_helper_ask(&k->helper, false);
		k->asked_ns = s->mono_ns;
	}
	return 0;
}

/* ---- opening ---- */

static void touches_close(void *state)
{
	struct touches *k = state;

	stacks_helper_stop(&k->helper);
	stacks_rings_close(&k->rings);
}

static int begin(struct touches *k, struct err *e)
{
	const struct source_env *env = k->env;
	int bad = 0;

	if (env->launched)
		stacks_helper_leave_out(&k->helper, env->roots[0]);
	if (!env->nroots && !env->followed) {
		bad = stacks_rings_add(&k->rings, 0); /* nothing is sampled: it is only tried */
		return bad ? bad : stacks_helper_try(&k->helper, e);
	}
	if (!env->followed)
		bad = add(k, env->roots, env->nroots, e);
	return bad ? bad : stacks_helper_start(&k->helper, e);
}

static void declare(struct touches *k, struct sample *s)
{
	sample_catalogue(s, metrics, MONITORED);
	k->slot = sample_series(s, metrics, MONITORED, 0);
	sample_meta_int(s, "touches.samples_per_second", k->rings.faults_hz);
	sample_meta_bool(s, "touches.in_system_calls", k->rings.in_kernel);
	say_missed(k, s);
}

static int touches_open(void *state, const struct source_env *env, struct sample *s, struct err *e)
{
	struct touches *k = state;
	int bad;

	if (strcmp(env->proc.path, "/proc") != 0)
		return err_set(e, -EOPNOTSUPP, SOURCE_NOT_THIS_KERNEL);
	k->env = env;
	k->asked_ns = INT64_MIN / 2;
	k->helper = (struct stacks_helper){ .use = &use,
					    .rings = &k->rings,
					    .taken = { .next = { first_id, first_id, first_id },
						       .no_paths = env->no_paths,
						       .mask = env->mask } };
	bad = stacks_rings_open_faults(&k->rings, env->memory_hz ? env->memory_hz : FAULTS_HZ, e);
	k->first_step = k->rings.step;
	if (!bad)
		bad = begin(k, e);
	if (bad) {
		touches_close(k);
		return stacks_explain(env, bad, e);
	}
	if (!env->nroots && !env->followed) {
		touches_close(k);
		k->over = true;
		return 0;
	}
	declare(k, s);
	return 0;
}

static bool touches_wanted(const struct source_env *env)
{
	return env->memory_hz >= 0;
}

const struct source source_touches = {
	.name = "touches",
	.what = "memory by function and line, by samples of page faults",
	.fixes = perf_fixes,
	.fix_admin = STACKS_FIX_HELPER,
	SOURCE_METRICS(metrics),
	.declares_itself = true,
	.size = sizeof(struct touches),
	.wanted = touches_wanted,
	.open = touches_open,
	.read = touches_read,
	.joined = touches_joined,
	.adopted = touches_adopted,
	.close = touches_close,
};
