/* SPDX-License-Identifier: Apache-2.0 */
/* summary_gpus.c - how many GPUs there were, how many did anything, and the fullest: by footers. */
#include "report/summary_part.h"

#include <math.h>
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

void summary_gpus_make(struct summary *s, const struct run *r, const struct series_index *x)
{
	struct gpu_metrics m = {
		run_find_metric(r, "gpu.utilization_ratio"),
		run_find_metric(r, "gpu.memory_used_bytes"),
		run_find_metric(r, "gpu.memory_total_bytes"),
		run_find_metric(r, "gpu.job_memory_bytes"),
	};

	s->gpu_memory_peak_bytes = s->gpu_memory_total_bytes = s->gpu_memory_peak_ratio = NAN;
	for (uint32_t i = 1; i < r->ninstances; i++) {
		const struct run_instance *in = &r->instances[i];
		double most = series_index_max(x, r, i, m.utilization);

		if (!in->domain || strcmp(in->domain, "gpu") != 0 || isnan(most))
			continue;
		s->gpus++;
		s->gpus_used += most > idle_ratio;
		take_memory(s, r, x, &m, i);
	}
	if (s->gpus == 0)
		s->gpus = s->gpus_used = NAN;
}
