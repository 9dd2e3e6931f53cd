/* SPDX-License-Identifier: Apache-2.0 */
/* summary_gpus.c - how many GPUs there were, how many did anything, and the fullest: by footers. */
#include "report/summary/summary_part.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One that is in use shows more than this at least once. */
static const double idle_ratio = 0.02;

struct gpu_metrics {
	uint32_t utilization, used, total, job;
};

/* Memory that the job holds there, else all that is held. */
static void take_memory(struct summary *s, const struct run *r, const struct series_index *x,
			const struct gpu_metrics *m, uint32_t gpu)
{
	double total = series_index_max(x, r, gpu, m->total);
	double held = series_index_max(x, r, gpu, m->job);

	if (isnan(held))
		held = series_index_max(x, r, gpu, m->used);
	if (!(held >= 0) || !(total > 0) || s->gpu_memory_peak_ratio >= held / total)
		return;
	s->gpu_memory_peak_ratio = held / total;
	s->gpu_memory_peak_bytes = held;
	s->gpu_memory_total_bytes = total;
}

/* A GPU as one recording of its host saw it. */
struct seen {
	uint32_t host;
	const char *name; /* the one that is its own, where it has such a name */
	double most;      /* in use */
};

static int by_gpu(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	if (x->host != y->host)
		return x->host < y->host ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Each GPU counts once, however many recordings saw it. */
static void count(struct summary *s, struct seen *seen, uint32_t n)
{
	double here = 0;

	qsort(seen, n, sizeof *seen, by_gpu);
	for (uint32_t i = 0; i < n; i++) {
		bool another = i + 1 == n || by_gpu(&seen[i], &seen[i + 1]) != 0;

		if (!another) {
			seen[i + 1].most = fmax(seen[i].most, seen[i + 1].most);
			continue;
		}
		s->gpus++;
		here += seen[i].most > idle_ratio;
		if (i + 1 < n && seen[i + 1].host == seen[i].host)
			continue;
		s->gpus_used += here;
		s->host_gpus_used = fmax(s->host_gpus_used, here);
		here = 0;
	}
}

int summary_gpus_make(struct summary *s, const struct run *r, const struct series_index *x)
{
	struct gpu_metrics m = {
		run_find_metric(r, "gpu.utilization_ratio"),
		run_find_metric(r, "gpu.memory_used_bytes"),
		run_find_metric(r, "gpu.memory_total_bytes"),
		run_find_metric(r, "gpu.job_memory_bytes"),
	};
	struct seen *seen = malloc((r->ninstances + 1) * sizeof *seen);
	uint32_t *host = calloc(r->nnodes + 1, sizeof *host), n = 0;
	bool made = seen && host && !run_hosts(r, host);

	s->gpu_memory_peak_bytes = s->gpu_memory_total_bytes = s->gpu_memory_peak_ratio = NAN;
	for (uint32_t i = 1; made && i < r->ninstances; i++) {
		const struct run_instance *in = &r->instances[i];
		double most = series_index_max(x, r, i, m.utilization);
		const char *uuid = run_label(r, i, "uuid"), *name = uuid ? uuid : in->name;

		if (!in->domain || strcmp(in->domain, "gpu") != 0 || isnan(most) ||
		    in->node >= r->nnodes)
			continue;
		seen[n++] = (struct seen){ host[in->node], name ? name : "", most };
		take_memory(s, r, x, &m, i);
	}
	if (made)
		count(s, seen, n);
	if (s->gpus == 0)
		s->gpus = s->gpus_used = s->host_gpus_used = NAN;
	free(seen);
	free(host);
	return made ? 0 : -ENOMEM;
}
