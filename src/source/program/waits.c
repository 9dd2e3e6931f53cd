/* SPDX-License-Identifier: Apache-2.0 */
/* waits.c - wall time of the job's threads by what they wait for. The helper sonde-unwind looks at
 * them (src/unwind/watch.h); what it answers becomes events of the recording as it comes. */
#include "base/clock.h"
#include "base/text/number.h"
#include "source/program/stacks_helper.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
	FIRST_ID = 1 << 30, /* ids below are those of samples (source/program/stacks.c) */
	HZ = 10,
	SHARE = 5000, /* of a core, in millionths */
	CRASHES_MAX = 8,
	SILENT_S = 10,
	WORK_US = 5000, /* less of CPU time is not that of its looks, but of its watchdog */
};
static const int64_t ASK_NS = NS_PER_S;

enum { LOOKS, MOVED, REFUSED, TORN, CPU, RESIDENT, MONITORED };

static const struct metric metrics[] = {
	[LOOKS] = { "job.wait_looks", .unit = UNIT_COUNT, .kind = KIND_COUNTER,
		    .over_nodes = COMBINE_SUM, .label = "Looks at waiting threads",
		    .help = "Looks at threads of the job that had run since the last look, to find "
			    "what they wait for." },
	[MOVED] = { "job.wait_looks_moved", .unit = UNIT_COUNT, .kind = KIND_COUNTER,
		    .over_nodes = COMBINE_SUM, .label = "Looks that were too late",
		    .help = "Looks at threads that ran during the look: of those nothing "
			    "is taken." },
	[REFUSED] = { "job.wait_looks_refused", .unit = UNIT_COUNT, .kind = KIND_COUNTER,
		      .over_nodes = COMBINE_SUM, .label = "Looks that were refused",
		      .help = "Looks at threads that this user may not look at, or at which a look "
			      "once did not come back." },
	[TORN] = { "job.wait_looks_torn", .unit = UNIT_COUNT, .kind = KIND_COUNTER,
		   .over_nodes = COMBINE_SUM, .label = "Looks without Python's lines",
		   .help = "Looks at threads of Python whose functions could not be read: the wait "
			   "is in a function of the interpreter instead." },
	[CPU] = { "monitor.waits_cpu_seconds", .unit = UNIT_SECONDS, .div = 1000000000,
		  .kind = KIND_COUNTER, .over_nodes = COMBINE_SUM,
		  .label = "CPU of Sonde's helper for waits",
		  .help = "CPU time of the helper that looks at waiting threads; it is not part of "
			  "the recorder's." },
	[RESIDENT] = { "monitor.waits_resident_bytes", .unit = UNIT_BYTES, .kind = KIND_GAUGE,
		       .over_nodes = COMBINE_MAX, .label = "RSS of Sonde's helper for waits",
		       .help = "Resident set size of the helper that looks at waiting threads; it is "
			       "not part of the recorder's." },
};
_Static_assert(sizeof metrics / sizeof metrics[0] == MONITORED, "a row for every index");

struct waits {
	const struct source_env *env;
	struct stacks_helper helper;
	struct stacks_watch watch; /* for helpers to come */
	uint32_t slot;
	int64_t asked_ns;
	int64_t cpu_ns, busy_ns; /* of the helper when it did something last, and when that was */
	bool over;
};

/* ---- the helper ---- */

static void figures(const struct stacks_page *p, int64_t *own)
{
	own[LOOKS] = p->watch.looks;
	own[MOVED] = p->watch.moved;
	own[REFUSED] = p->watch.refused;
	own[TORN] = p->watch.torn;
	own[CPU] = p->cpu_ns;
}

static const struct stacks_use use = {
	.key = { "waits.note", "waits.helper_restarts", "waits.files_left_out", "waits.left_out",
		 "source.waits" },
	.verb = "watched",
	.missing = "waits",
	.crashes_max = CRASHES_MAX,
	.nfigures = RESIDENT,
	.figures = figures,
};

/* The thread at which it stayed is not looked at again. What had not been put is lost. */
static void skip_thread(struct waits *k)
{
	int32_t at = k->helper.page ? atomic_load(&k->helper.page->watch.at) : 0;

	if (at > 0 && k->watch.nskip < WATCH_SKIPPED_MAX)
		k->watch.skip[k->watch.nskip++] = at;
	k->busy_ns = clock_mono_ns();
	k->cpu_ns = 0;
}

/* It neither answers nor works, as where a file system does not answer. */
static bool is_silent(struct waits *k)
{
	int64_t now_ns = clock_mono_ns(), cpu_ns = clock_cpu_ns_of(k->helper.pid);

	if (cpu_ns - k->cpu_ns < WORK_US * 1000 && !stacks_helper_answered(&k->helper))
		return now_ns - k->busy_ns > SILENT_S * NS_PER_S;
	k->busy_ns = now_ns;
	k->cpu_ns = cpu_ns;
	return false;
}

static void ask(struct waits *k)
{
	const struct source_job *job = &k->env->job;
	struct stacks_page *p = k->helper.page;

	if (!p || !stacks_helper_answered(&k->helper))
		return;
	p->npids = (uint32_t)job->pids(job->tree, p->pid, STACKS_PIDS_MAX);
	stacks_helper_ask(&k->helper, false);
}

static int waits_read(void *state, struct sample *s)
{
	struct waits *k = state;
	bool dead = !k->over && (stacks_helper_died(&k->helper) || is_silent(k));

	if (dead)
		skip_thread(k);
	if (!k->over)
		k->over = !stacks_helper_serve(&k->helper, dead, &k->env->job, s);
	stacks_helper_put(&k->helper, k->slot, 0, s);
	if (k->over || s->last || s->mono_ns - k->asked_ns < ASK_NS - ASK_NS / 20)
		return 0;
	ask(k);
	k->asked_ns = s->mono_ns;
	return 0;
}

/* ---- opening ---- */

static int check(const struct source_env *env, struct err *e)
{
	char text[96];
	const char *at = text;
	int64_t ns;

	if (strcmp(env->proc.path, "/proc") != 0)
		return err_set(e, -EOPNOTSUPP, SOURCE_NOT_THIS_KERNEL);
	if (root_read(&env->proc, "self/schedstat", text, sizeof text) <= 0 ||
	    !number_i64(&at, &ns) || ns <= 0)
		return err_set(e, -EOPNOTSUPP,
			       "this kernel does not account the run time of threads in "
			       "/proc/PID/schedstat");
	return 0;
}

static void waits_close(void *state)
{
	struct waits *k = state;

	stacks_helper_stop(&k->helper);
}

static int waits_open(void *state, const struct source_env *env, struct sample *s, struct err *e)
{
	struct waits *k = state;
	int bad = check(env, e);

	if (bad)
		return bad;
	k->env = env;
	k->asked_ns = INT64_MIN / 2;
	k->helper = (struct stacks_helper){ .use = &use,
					    .watch = &k->watch,
					    .taken = { .next = { FIRST_ID, FIRST_ID, FIRST_ID },
						       .no_paths = env->no_paths,
						       .mask = env->mask } };
	k->watch.hz = (uint32_t)(env->waits_hz ? env->waits_hz : HZ);
	k->watch.share = SHARE;
	k->busy_ns = clock_mono_ns();
	if (!env->nroots && !env->followed) {
		bad = stacks_helper_try(&k->helper, e);
		stacks_helper_stop(&k->helper);
		k->over = true; /* nothing is watched: it was only tried */
		return bad;
	}
	bad = stacks_helper_start(&k->helper, e);
	if (bad)
		return bad;
	k->slot = sample_series(s, metrics, MONITORED, 0);
	sample_meta_int(s, "waits.looks_per_second", k->watch.hz);
	return 0;
}

static bool waits_wanted(const struct source_env *env)
{
	return env->waits_hz >= 0;
}

const struct source source_waits = {
	.name = "waits",
	.what = "wall time of threads by what they wait for",
	.fix_admin = STACKS_FIX_HELPER,
	SOURCE_METRICS(metrics),
	.size = sizeof(struct waits),
	.wanted = waits_wanted,
	.open = waits_open,
	.read = waits_read,
	.close = waits_close,
};
