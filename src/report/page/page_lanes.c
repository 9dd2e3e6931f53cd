/* SPDX-License-Identifier: Apache-2.0 */
#include "report/page/page_lanes.h"

#include "base/text/escape.h"

#include <math.h>
#include <stdlib.h>

/* Of a node as many as a screen can show; of many nodes fewer. */
enum {
	LANE_PROCESSES_MAX = 500,
	LANE_PROCESSES_MIN = 10,
	LANE_PROCESSES_OF_ALL_NODES = 6000,
	LANE_NAME_MAX = 64,
	LANE_LINE_MAX = 200
};

/* Most CPU first, unknown last, then as they came. */
static int by_cpu(const void *a, const void *b)
{
	const struct summary_process *const *x = a, *const *y = b;
	double cx = isnan((*x)->cpu_s) ? -1 : (*x)->cpu_s;
	double cy = isnan((*y)->cpu_s) ? -1 : (*y)->cpu_s;

	if (cx != cy)
		return cx < cy ? 1 : -1;
	return (*x)->instance < (*y)->instance ? -1 : 1;
}

static int by_instance(const void *key, const void *member)
{
	uint32_t x = *(const uint32_t *)key;
	uint32_t y = ((const struct summary_process *)member)->instance;

	return (x > y) - (x < y);
}

/* Those of the node. The summary's are in order of instance. */
static uint32_t list_processes(const struct summary_process **out, const struct run_index *x,
			       const struct summary *s, uint32_t node)
{
	uint32_t n = 0;

	for (uint32_t i = x->first[node]; i < x->first[node + 1]; i++) {
		const struct summary_process *p =
			s->nprocesses ? bsearch(&x->id[i], s->processes, s->nprocesses, sizeof *p,
						by_instance)
				      : NULL;

		if (p)
			out[n++] = p;
	}
	qsort(out, n, sizeof(struct summary_process *), by_cpu);
	return n;
}

static void number_json(struct json *j, const char *key, double v, double steps)
{
	if (!isfinite(v))
		return;
	json_key(j, key);
	json_real(j, round(v * steps) / steps);
}

static void process_json(struct json *j, const struct summary_process *p)
{
	char name[LANE_NAME_MAX], line[LANE_LINE_MAX];

	json_object(j);
	json_key(j, "name");
	json_text(j, escape_terminal_into(name, sizeof name, p->name ? p->name : ""));
	if (p->command_line)
		json_put_text(j, "args",
			      escape_terminal_into(line, sizeof line,
						   run_command_shown(p->command_line)));
	number_json(j, "pid", p->pid, 1);
	number_json(j, "start", p->start_s, 1e3);
	number_json(j, "end", p->end_s, 1e3);
	number_json(j, "cpu", p->cpu_s, 1e4);
	number_json(j, "memory", p->peak_rss_bytes, 1);
	number_json(j, "read", p->read_bytes, 1);
	number_json(j, "written", p->written_bytes, 1);
	json_object_end(j);
}

static uint32_t shown(const struct run *r)
{
	uint32_t each = LANE_PROCESSES_OF_ALL_NODES / r->nnodes;

	return each > LANE_PROCESSES_MAX   ? LANE_PROCESSES_MAX
	       : each < LANE_PROCESSES_MIN ? LANE_PROCESSES_MIN
					   : each;
}

void page_lanes_json(struct json *j, const struct run *r, const struct run_index *x,
		     const struct summary *s, uint32_t node)
{
	const struct summary_process **list =
		calloc(x->first[node + 1] - x->first[node] + 1u, sizeof(struct summary_process *));
	uint32_t n;

	if (!list) {
		j->out->failed = true;
		return;
	}
	n = list_processes(list, x, s, node);
	json_key(j, "processes_total");
	json_int(j, n);
	json_key(j, "processes");
	json_array(j);
	for (uint32_t i = 0; i < n && i < shown(r); i++)
		process_json(j, list[i]);
	json_array_end(j);
	free(list);
}
