/* SPDX-License-Identifier: Apache-2.0 */
#include "source/gpu/gpu_holder.h"

#include "base/clock.h"

#include <stdio.h>
#include <string.h>

static void announce(struct gpu_holders *h, struct gpu_holder *v, uint32_t parent, bool is_jobs,
		     struct sample *s)
{
	const struct metric *metrics = &gpu_metrics[h->first];
	char path[32], comm[32] = "", name[64];
	ssize_t n;

	snprintf(path, sizeof path, "%d/comm", (int)v->pid);
	n = root_read(h->proc, path, comm, sizeof comm);
	comm[n > 0 ? strcspn(comm, "\n") : 0] = '\0';
	snprintf(name, sizeof name, "%s%s%d%s", comm, *comm ? " (" : "", (int)v->pid,
		 *comm ? ")" : "");
	v->instance = sample_instance(s, metrics->domain, name, parent, clock_mono_ns(), 0);
	if (!v->instance)
		return;
	v->slot = sample_series(s, metrics, GPU_HOLDER_SERIES, v->instance);
	sample_label(s, v->instance, "job", is_jobs ? "yes" : "no");
}

struct gpu_holder *gpu_holder_meet(struct gpu_holders *h, pid_t pid, uint32_t gpu, uint32_t parent,
				   bool is_jobs, struct sample *s)
{
	struct gpu_holder *spare = NULL;

	for (struct gpu_holder *v = h->row; v < h->row + GPU_HOLDERS_MAX; v++) {
		if (v->pid == pid && v->gpu == gpu) {
			v->seen = true;
			return v;
		}
		if (!v->pid && !spare)
			spare = v;
	}
	if (!spare)
		return NULL;
	*spare = (struct gpu_holder){ .pid = pid, .gpu = gpu, .seen = true, .memory_bytes = -1 };
	announce(h, spare, parent, is_jobs, s);
	return spare;
}

void gpu_holder_put(const struct gpu_holders *h, const struct gpu_holder *v, enum gpu_metric metric,
		    int64_t value, struct sample *s)
{
	if (v->slot)
		sample_put(s, v->slot + (uint32_t)metric - (uint32_t)h->first, value);
}

void gpu_holder_refuse(const struct gpu_holders *h, const struct gpu_holder *v,
		       enum gpu_metric metric, enum state state, const char *reason,
		       struct sample *s)
{
	if (v->slot)
		sample_refuse(s, v->slot + (uint32_t)metric - (uint32_t)h->first, state, reason);
}

void gpu_holders_sweep(struct gpu_holders *h, struct sample *s)
{
	for (struct gpu_holder *v = h->row; v < h->row + GPU_HOLDERS_MAX; v++) {
		if (v->pid && !v->seen) {
			if (v->slot)
				sample_series_end(s, v->slot, GPU_HOLDER_SERIES);
			if (v->instance)
				sample_end(s, v->instance, clock_mono_ns());
			*v = (struct gpu_holder){ 0 };
		}
		v->seen = false;
	}
}
