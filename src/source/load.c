/* SPDX-License-Identifier: Apache-2.0 */
/* load.c - load averages and tasks of the node: /proc/loadavg, proc_loadavg(5). */
#include "base/clock.h"
#include "base/text/number.h"
#include "source/kept.h"
#include "source/period.h"
#include "source/source.h"

#include <errno.h>

enum { LOAD_1, LOAD_5, LOAD_15, RUNNABLE, TASKS, METRICS_NUMBER_OF };

#define LOAD(name_, minutes)                                                                       \
	{                                                                                          \
		name_, .unit = UNIT_ONE, .div = 100, .kind = KIND_GAUGE,                           \
		       .over_nodes = COMBINE_SUM, .label = "Load, " minutes " min",                \
		       .help = "Threads that ran, waited for a core or for a disk, averaged "      \
			       "over " minutes " min."                                             \
	}
#define TASK_COUNT .unit = UNIT_COUNT, .kind = KIND_GAUGE, .over_nodes = COMBINE_SUM

static const struct metric metrics[] = {
	[LOAD_1] = LOAD("node.load_1min", "1"),
	[LOAD_5] = LOAD("node.load_5min", "5"),
	[LOAD_15] = LOAD("node.load_15min", "15"),
	[RUNNABLE] = { "node.tasks_runnable_count", TASK_COUNT, .label = "Runnable threads",
		       .help = "Threads that run or wait for a core, this program's included." },
	[TASKS] = { "node.tasks_count", TASK_COUNT, .label = "Threads",
		    .help = "Threads that exist on the node." },
};
_Static_assert(sizeof metrics / sizeof metrics[0] == METRICS_NUMBER_OF, "a row for every index");

/* The kernel makes the averages anew every 5 s. */
static const int64_t period_ns = NS_PER_S;

struct load {
	struct kept loadavg;
	struct period period;
	uint32_t slot;
};

/* "0.52 0.58 0.59 1/123 4567": all of it, or nothing. -EOPNOTSUPP: a kernel that counts nothing, as
 * it says that there is no thread. */
static int scan(const struct load *l, struct sample *s)
{
	const char *p = l->loadavg.text;
	int64_t v[METRICS_NUMBER_OF];

	for (int i = LOAD_1; i <= LOAD_15; i++)
		if (!number_fixed(&p, 2, &v[i]))
			return -EBADMSG;
	if (!number_i64(&p, &v[RUNNABLE]) || *p++ != '/' || !number_i64(&p, &v[TASKS]) ||
	    v[RUNNABLE] < 0 || v[TASKS] < 0)
		return -EBADMSG;
	if (!v[TASKS])
		return -EOPNOTSUPP;
	for (uint32_t i = 0; l->slot && i < METRICS_NUMBER_OF; i++)
		sample_put(s, l->slot + i, v[i]);
	return 0;
}

static void load_close(void *state)
{
	struct load *l = state;

	kept_close(&l->loadavg);
}

static int load_open(void *state, const struct source_env *env, struct sample *s, struct err *e)
{
	struct load *l = state;
	int r = kept_open(&l->loadavg, &env->proc, "loadavg", 0, e);

	if (r < 0)
		return r;
	r = scan(l, s);
	if (r < 0)
		load_close(l);
	if (r == -EOPNOTSUPP)
		return err_set(e, r, "%s/loadavg: this kernel does not count it", env->proc.path);
	if (r < 0)
		return err_set(e, r,
			       "%s/loadavg: it does not look like \"0.52 0.58 0.59 1/123 4567\"",
			       env->proc.path);
	l->slot = sample_series(s, metrics, METRICS_NUMBER_OF, 0);
	return 0;
}

static int load_read(void *state, struct sample *s)
{
	struct load *l = state;
	int r;

	if (!period_is_due(&l->period, s, period_ns))
		return 0;
	r = kept_read_same(&l->loadavg);
	if (r == 1 && sample_stood(s, l->slot)) {
		sample_hold(s, l->slot, METRICS_NUMBER_OF);
		return 0;
	}
	return r < 0 ? r : scan(l, s);
}

const struct source source_load = {
	.name = "load",
	.what = "load averages and threads of the node",
	.fix_admin = SOURCE_FIX_PROC,
	SOURCE_METRICS(metrics),
	.size = sizeof(struct load),
	.open = load_open,
	.read = load_read,
	.close = load_close,
};
