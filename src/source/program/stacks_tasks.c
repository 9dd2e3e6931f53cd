/* SPDX-License-Identifier: Apache-2.0 */
#include "source/program/stacks_tasks.h"

#include "base/text/number.h"
#include "source/perf/perf_count.h"
#include "source/perf/perf_where.h"

#include <errno.h>
#include <string.h>

int stacks_tasks_add(struct stacks_rings *r, const struct source_env *env, struct stacks_new these,
		     int64_t *missed, struct err *e)
{
	const struct perf_options of_job = { .groups = NULL };
	struct source_env of_these = *env;
	struct perf_places places;
	size_t added = 0;
	int bad, first = 0;

	of_these.perf = &of_job;
	of_these.roots = these.pids;
	of_these.nroots = these.n;
	of_these.launched = env->launched && !these.running;
	bad = perf_places_open(&places, &of_these, e);
	for (size_t i = 0; i < places.job.n && !bad; i++) {
		int refused = stacks_rings_add(r, places.job.seat[i].pid);

		added += !refused;
		number_add(missed, refused && refused != -ESRCH);
		first = first || refused == -ESRCH ? first : refused;
	}
	perf_places_close(&places);
	if (!bad && !added && first)
		bad = err_set(e, first, "perf events are not available: %s", strerror(-first));
	return bad;
}

int stacks_explain(const struct source_env *env, int bad, struct err *e)
{
	const struct perf_refusal r = { .proc = &env->proc,
					.sys = &env->sys,
					.itself_permitted = perf_may_count_itself() };

	return bad == -EACCES || bad == -EPERM || bad == -ENOSYS ? perf_explain(&r, bad, e) : bad;
}
