/* SPDX-License-Identifier: Apache-2.0 */
#include "report/page_lanes.h"

#include "base/escape.h"
#include "report/page_charts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of a node as many as a screen can show; of many nodes fewer. */
enum {
	LANE_PROCESSES_MAX = 500,
	LANE_PROCESSES_MIN = 10,
	LANE_PROCESSES_OF_ALL_NODES = 20000,
	LANE_NAME_MAX = 64
};

struct lane_process {
	uint32_t instance;
	double cpu_s; /* NAN: not known */
};

/* CPU of a process: as it ended, else what the summary knows of it. */
static double cpu_of(const struct run *r, const struct summary *s, uint32_t instance)
{
	double v;

	if (run_final_value(r, instance, page_process_cpu, &v))
		return v;
	for (uint32_t i = 0; i < s->nby_cpu; i++)
		if (s->by_cpu[i].instance == instance)
			return s->by_cpu[i].cpu_s;
	return NAN;
}

/* Most CPU first, unknown last, then as they came. */
static int by_cpu(const void *a, const void *b)
{
	const struct lane_process *x = a, *y = b;
	double cx = isnan(x->cpu_s) ? -1 : x->cpu_s, cy = isnan(y->cpu_s) ? -1 : y->cpu_s;

	if (cx != cy)
		return cx < cy ? 1 : -1;
	return x->instance < y->instance ? -1 : 1;
}

static uint32_t list_processes(struct lane_process *out, const struct run *r,
			       const struct run_index *x, const struct summary *s, uint32_t node)
{
	uint32_t n = 0;

	for (uint32_t i = x->first[node]; i < x->first[node + 1]; i++) {
		const struct run_instance *p = &r->instances[x->id[i]];

		if (p->domain && strcmp(p->domain, "process") == 0)
			out[n++] = (struct lane_process){ x->id[i], cpu_of(r, s, x->id[i]) };
	}
	qsort(out, n, sizeof *out, by_cpu);
	return n;
}

static double rounded(double v, double steps)
{
	return round(v * steps) / steps;
}

static void process_json(struct json *j, const struct run *r, const struct lane_process *p)
{
	const struct run_instance *at = &r->instances[p->instance];
	char name[LANE_NAME_MAX];

	json_object(j);
	json_key(j, "name");
	json_text(j, escape_terminal_into(name, sizeof name, at->name ? at->name : ""));
	json_key(j, "pid");
	json_text(j, run_label(r, p->instance, "pid"));
	json_key(j, "start");
	json_real(j, rounded(run_seconds(r, at->node, at->birth_ns), 1e3));
	if (at->end_ns != INT64_MAX) {
		json_key(j, "end");
		json_real(j, rounded(run_seconds(r, at->node, at->end_ns), 1e3));
	}
	if (!isnan(p->cpu_s)) {
		json_key(j, "cpu");
		json_real(j, rounded(p->cpu_s, 1e4));
	}
	json_object_end(j);
}

static uint32_t shown(const struct run *r)
{
	uint32_t each = LANE_PROCESSES_OF_ALL_NODES / r->nnodes;

	return each > LANE_PROCESSES_MAX   ? LANE_PROCESSES_MAX
	       : each < LANE_PROCESSES_MIN ? LANE_PROCESSES_MIN
					   : each;
}

int page_lanes_json(struct json *j, const struct run *r, const struct run_index *x,
		    const struct summary *s, uint32_t node)
{
	struct lane_process *list = calloc(x->first[node + 1] - x->first[node] + 1u, sizeof *list);
	uint32_t n;

	if (!list)
		return -ENOMEM;
	n = list_processes(list, r, x, s, node);
	json_key(j, "processes_total");
	json_int(j, n);
	json_key(j, "processes");
	json_array(j);
	for (uint32_t i = 0; i < n && i < shown(r); i++)
		process_json(j, r, &list[i]);
	json_array_end(j);
	free(list);
	return 0;
}
