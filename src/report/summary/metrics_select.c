/* SPDX-License-Identifier: Apache-2.0 */
/* metrics_select.c - of which metrics a summary has statistics. */
#include "core/glob.h"
#include "report/summary/parts.h"

#include <stdio.h>
#include <string.h>

const char summary_cores_metric[] = "job.cpu_cores";
const char summary_power_metric[] = "node.power_watts";
const char summary_job_power_metric[] = "job.power_apportioned_watts";
const char summary_memory_metric[] = "job.resident_bytes";
const char summary_shared_metric[] = "job.shared_bytes";
const char summary_memory_files_metric[] = "job.memory_files_bytes";
const char summary_waited_metric[] = "job.run_queue_cores";
const char summary_threads_metric[] = "job.threads_running_count";
const char summary_blocked_metric[] = "job.threads_blocked_count";
const char summary_count_metric[] = "job.threads_count";
const char summary_ready_metric[] = "node.procs_running";
const char summary_node_cores_metric[] = "node.cpu_used_cores";
const char summary_steal_metric[] = "node.cpu_steal_cores";
const char summary_gpus_metric[] = "gpu.utilization_ratio";
const char summary_kills_metric[] = "cgroup.memory_oom_kills_per_second";

enum { GLOBS_MAX = 4096, NAME_SIZE = 256 };

static bool is_of_processes(const struct metric *m)
{
	return m->domain && (!strcmp(m->domain, "process") || !strcmp(m->domain, "command") ||
			     !strcmp(m->domain, "task"));
}

static bool is_always_wanted(const char *name)
{
	return !strcmp(name, summary_cores_metric) || !strcmp(name, summary_power_metric) ||
	       !strcmp(name, summary_job_power_metric) || !strcmp(name, summary_memory_metric) ||
	       !strcmp(name, summary_waited_metric) || !strcmp(name, summary_threads_metric) ||
	       !strcmp(name, summary_blocked_metric) || !strcmp(name, summary_gpus_metric);
}

static void public_name(const struct metric *m, char name[NAME_SIZE])
{
	if (m->kind == KIND_COUNTER && !m->formula)
		metric_rate_name(m, name, NAME_SIZE);
	else
		snprintf(name, NAME_SIZE, "%s", m->name);
}

/* Not those of processes, of which there may be very many; of all others scopes keep the list
 * short: "node.*,disk.*". "" when m is not selected. */
static void glob_of(const struct metric *m, const char *names, char glob[NAME_SIZE])
{
	*glob = 0;
	if (is_of_processes(m))
		return;
	if (!names) {
		snprintf(glob, NAME_SIZE, "%.*s.*", (int)strcspn(m->name, "."), m->name);
		return;
	}
	public_name(m, glob);
	if (!glob_match(names, glob) && !is_always_wanted(glob))
		*glob = 0;
}

void summary_select(struct bytes *globs, const struct run *r, const char *names)
{
	bytes_u8(globs, 0);
	for (uint32_t i = 1; i < r->nmetrics && globs->len < GLOBS_MAX; i++) {
		char glob[NAME_SIZE];

		glob_of(&r->metrics[i].row, names, glob);
		if (!*glob || glob_match((const char *)globs->data, glob))
			continue;
		globs->len--; /* over the NUL */
		bytes_printf(globs, "%s%s", globs->len ? "," : "", glob);
		bytes_u8(globs, 0);
	}
	if (globs->len >= GLOBS_MAX && !names) { /* strangely many scopes */
		bytes_reset(globs);
		bytes_puts(globs, "*");
		bytes_u8(globs, 0);
	}
}

bool summary_is_short(const struct run *r)
{
	enum { ROWS = 200000 };
	uint64_t rows = 0;

	for (uint32_t i = 1; i < r->nnodes; i++)
		rows += r->nodes[i].rows;
	return rows <= ROWS;
}
