/* SPDX-License-Identifier: Apache-2.0 */
#include "report/summary/past.h"

#include "base/hash.h"
#include "report/judging/condition.h"
#include "report/summary/parts.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char past_metrics[] = "gpu.utilization_ratio";

enum { NAME_BYTES = 256 };

static const struct past_text {
	enum history_text which;
	const char *key;
} texts[] = {
	{ HISTORY_COMMAND, "job.command" },     { HISTORY_CLUSTER, "job.cluster" },
	{ HISTORY_SCHEDULER, "job.scheduler" }, { HISTORY_JOB_ID, "job.id" },
	{ HISTORY_ARRAY_ID, "job.array_id" },   { HISTORY_ARRAY_INDEX, "job.array_index" },
	{ HISTORY_ACCOUNT, "job.account" },     { HISTORY_QUEUE, "job.queue" },
	{ HISTORY_VERSION, "sonde.version" },
};

/* The node that began first: that of others, which come later, changes nothing. */
static uint32_t first_node(const struct run *r)
{
	uint32_t first = 0;

	for (uint32_t i = 1; i < r->nnodes; i++)
		if (r->nodes[i].rows &&
		    (!first || run_utc_ns(r, i, r->nodes[i].first_ns) <
				       run_utc_ns(r, first, r->nodes[first].first_ns)))
			first = i;
	return first;
}

/* What was imported has no run.id: its beginning, host and command stand for it. */
static void add_uid(struct history *h, const struct run *r)
{
	uint32_t node = first_node(r), sum = 0;
	const char *id = run_find_text(r, node, "run.id"),
		   *command = run_find_text(r, node, "job.command");
	const char *host = r->nnodes > 1 ? r->nodes[node].host : NULL;
	char made[64];

	sum = host ? crc32c(sum, host, strlen(host)) : sum;
	sum = command ? crc32c(sum, command, strlen(command)) : sum;
	snprintf(made, sizeof made, "%016" PRIx64 "-%08" PRIx32, (uint64_t)r->t0_utc_ns, sum);
	history_add_text(h, HISTORY_UID, id ? id : made);
}

/* The program's name, when nobody named the job: "./app --size 10" is app. */
static void add_name(struct history *h, const struct run *r)
{
	const char *name = run_find_text(r, 0, "job.name"),
		   *command = run_find_text(r, 0, "job.command");
	char program[NAME_BYTES];
	size_t n = command ? strcspn(command, " \t\n") : 0;

	while (command && memchr(command, '/', n)) {
		const char *slash = memchr(command, '/', n);

		n -= (size_t)(slash + 1 - command);
		command = slash + 1;
	}
	snprintf(program, sizeof program, "%.*s", (int)(n < NAME_BYTES ? n : NAME_BYTES),
		 command ? command : "");
	history_add_text(h, HISTORY_NAME, name ? name : *program ? program : NULL);
}

/* Of all devices and nodes, each over its own time. */
static double mean_of(const struct summary *s, const char *metric)
{
	struct stats all = { 0 };
	size_t n = strlen(metric);

	for (uint32_t i = 0; i < s->nmetrics; i++)
		if (!strncmp(s->metrics[i].name, metric, n) &&
		    (!s->metrics[i].name[n] || s->metrics[i].name[n] == '['))
			stats_join(&all, &s->metrics[i].stats);
	return stats_mean(&all);
}

static void add_figure(struct history *h, const char *name, int where, double v)
{
	if (where & KEPT)
		history_add_figure(h, name, isinf(v) ? (double)NAN : v, NULL);
}

static void add_figures(struct history *h, const struct run *r, const struct summary *s)
{
#define NODES(id, member, name, unit, where, ...) add_figure(h, name, where, s->member);
#define MADE(member, name, unit, where, ...)      add_figure(h, name, where, s->member);
#include "report/summary/figures.def"
	history_add_figure(h, "peak_memory_kind", NAN, s->peak_memory_kind);
	history_add_figure(h, "gpu_utilization_ratio", mean_of(s, past_metrics), NULL);
	history_add_figure(h, "time_limit_seconds", condition_number(r, "job.time_limit_seconds"),
			   NULL);
	history_add_figure(h, "gpus_asked", condition_number(r, "job.gpus_asked"), NULL);
}

static void add_hosts(struct history *h, const struct run *r)
{
	uint32_t *first = calloc(r->nnodes + 1u, sizeof *first);

	h->failed |= !first || run_hosts(r, first);
	for (uint32_t i = 1; i < r->nnodes && !h->failed; i++)
		if (first[i] == i)
			history_add_host(h, r->nodes[i].host);
	free(first);
}

int past_add(struct history *h, const struct run *r, const struct summary *s, const char *path,
	     int64_t now_utc_ns)
{
	struct history_run *last;

	history_add(h);
	if (h->failed)
		return -ENOMEM;
	last = &h->run[h->n - 1];
	last->start_ns = r->t0_utc_ns;
	last->number[HISTORY_WALL_SECONDS] = s->wall_s;
	last->number[HISTORY_EXIT_CODE] = s->exit_code;
	last->number[HISTORY_SIGNAL] = s->signal;
	last->number[HISTORY_NODES] = s->nhosts;
	add_uid(h, r);
	add_name(h, r);
	history_add_text(h, HISTORY_USER, run_find_user(r));
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		history_add_text(h, texts[i].which, run_find_text(r, 0, texts[i].key));
	history_add_text(h, HISTORY_PATH, path);
	history_add_text(h, HISTORY_STATE, condition_name(condition_of(r, now_utc_ns)));
	add_figures(h, r, s);
	add_hosts(h, r);
	return h->failed ? -ENOMEM : 0;
}
