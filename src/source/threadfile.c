/* SPDX-License-Identifier: Apache-2.0 */
#include "source/threadfile.h"

#include "base/text/number.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* What no thread reaches: such numbers can be summed up. */
static const int64_t COUNT_LIMIT = INT64_C(1) << 48, NS_LIMIT = INT64_C(1) << 60;

static int count_behind(const char *text, const char *key, int64_t *out)
{
	const char *p = number_find_line(text, key);

	if (!p || !number_i64(&p, out) || *out < 0 || *out > COUNT_LIMIT)
		return -EBADMSG;
	return 0;
}

static const char *list_behind(const char *text, const char *key)
{
	const char *p = number_find_line(text, key);

	return p ? number_skip_blanks(p) : NULL;
}

bool thread_ignores_children(const char *status)
{
	const char *p = list_behind(status, "SigIgn:");

	return p && strtoull(p, NULL, 16) >> (SIGCHLD - 1) & 1;
}

int thread_status_parse(const char *status, struct thread_status *out)
{
	const char *state = list_behind(status, "State:");

	*out = (struct thread_status){ 0 };
	if (!state || !*state || *state == '\n' ||
	    count_behind(status, "voluntary_ctxt_switches:", &out->voluntary) ||
	    count_behind(status, "nonvoluntary_ctxt_switches:", &out->involuntary))
		return -EBADMSG;
	out->state = *state;
	out->cpus = list_behind(status, "Cpus_allowed_list:");
	out->nodes = list_behind(status, "Mems_allowed_list:");
	if (count_behind(status, "VmHWM:", &out->high_water_bytes))
		out->high_water_bytes = 0;
	out->high_water_bytes *= 1024;
	out->ignores_children = thread_ignores_children(status);
	return 0;
}

int thread_times_parse(const char *schedstat, struct thread_times *out)
{
	const char *p = schedstat;
	int64_t v[3];

	for (int i = 0; i < 3; i++)
		if (!number_i64(&p, &v[i]) || v[i] < 0 || v[i] > NS_LIMIT)
			return -EBADMSG;
	*out = (struct thread_times){ v[0], v[1], v[2] };
	return 0;
}

int thread_schedstat_parse(const char *schedstat, int64_t *wait_ns)
{
	struct thread_times t;
	int bad = thread_times_parse(schedstat, &t);

	if (bad)
		return bad;
	if (!t.run_ns && !t.ready_ns && !t.turns)
		return -EOPNOTSUPP;
	*wait_ns = t.ready_ns;
	return 0;
}

int thread_sched_parse(const char *sched, int64_t *migrations)
{
	const char *p = number_find_line(sched, "se.nr_migrations");

	if (!p)
		return -EBADMSG;
	p = number_skip_blanks(p);
	if (*p++ != ':' || !number_i64(&p, migrations) || *migrations < 0 ||
	    *migrations > COUNT_LIMIT)
		return -EBADMSG;
	return 0;
}
