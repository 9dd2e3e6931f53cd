/* SPDX-License-Identifier: Apache-2.0 */
#include "source/gpu/gpu_process.h"

#include "base/clock.h"
#include "base/text/number.h"
#include "source/fdlist.h"

#include <stdio.h>
#include <string.h>

/* ---- CUDA_VISIBLE_DEVICES ---- */

static struct cuda_device *by_number(uint64_t number, struct cuda_device *devices, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!devices[i].is_mig && devices[i].gpu == number)
			return &devices[i];
	return NULL;
}

/* The one whose UUID begins so; NULL when there is none, or more than one. */
static struct cuda_device *by_uuid(const char *uuid, size_t len, struct cuda_device *devices,
				   size_t n)
{
	struct cuda_device *found = NULL;

	if (len <= 4 || (memcmp(uuid, "GPU-", 4) != 0 && memcmp(uuid, "MIG-", 4) != 0))
		return NULL;
	for (size_t i = 0; i < n; i++) {
		if (strncmp(devices[i].uuid, uuid, len) != 0)
			continue;
		if (found)
			return NULL;
		found = &devices[i];
	}
	return found;
}

static struct cuda_device *find(const char *word, size_t len, struct cuda_device *devices, size_t n)
{
	const char *end = word;
	uint64_t number;

	if (len && *word >= '0' && *word <= '9')
		return number_u64(&end, &number) && end == word + len
			       ? by_number(number, devices, n)
			       : NULL;
	return by_uuid(word, len, devices, n);
}

size_t cuda_visible(const char *value, struct cuda_device *devices, size_t n)
{
	size_t named = 0;

	for (size_t i = 0; i < n; i++)
		devices[i].named = false;
	for (const char *p = value;; p++) {
		struct cuda_device *d;
		size_t len;

		p = number_skip_blanks(p);
		len = strcspn(p, ", \t");
		d = find(p, len, devices, n);
		if (!d)
			break;
		named += !d->named;
		d->named = true;
		p = number_skip_blanks(p + len);
		if (*p != ',')
			break;
	}
	return named;
}

const char *environ_find(const char *text, size_t len, const char *name)
{
	size_t n = strlen(name);

	while (len) {
		const char *end = memchr(text, '\0', len);
		size_t size = end ? (size_t)(end - text) : len;

		if (!end)
			return NULL; /* cut: half a value is none */
		if (size > n && text[n] == '=' && memcmp(text, name, n) == 0)
			return text + n + 1;
		text += size + 1;
		len -= size + 1;
	}
	return NULL;
}

/* ---- Processes of the job ---- */

static void look_at_environment(struct gpu_job *j, const struct root *proc, pid_t pid)
{
	char path[32];
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "%d/environ", (int)pid);
	fd = root_file(proc, path);
	if (fd < 0)
		return;
	n = file_reread(fd, j->environ, sizeof j->environ);
	file_close(&fd);
	if (n > 0)
		j->visible = environ_find(j->environ, (size_t)n, "CUDA_VISIBLE_DEVICES");
}

static void look_at_files(struct gpu_job *j, const struct root *proc, pid_t pid)
{
	enum { RENDER_FIRST = 128 };
	struct fdlist files = { 0 };
	char target[FDLIST_TARGET];
	uint64_t number;
	int looked = 0, fd;

	if (fdlist_open(&files, proc, pid) < 0)
		return;
	while (looked++ < GPU_JOB_FILES && fdlist_next(&files, &fd, target)) {
		if (fdlist_device(target, "/dev/nvidia", 0, &number) && number < 64)
			j->minors |= UINT64_C(1) << number;
		if (fdlist_device(target, "/dev/dri/renderD", RENDER_FIRST, &number) &&
		    number < RENDER_FIRST + 64)
			j->renders |= UINT64_C(1) << (number - RENDER_FIRST);
	}
	fdlist_close(&files);
}

bool gpu_job_look(struct gpu_job *j, const struct source_env *env)
{
	size_t n = env->job.tree ? env->job.pids(env->job.tree, j->pids, GPU_JOB_PIDS) : 0;
	pid_t pid;

	j->visible = NULL;
	j->minors = j->renders = 0;
	if (!n)
		return false;
	pid = j->pids[j->turn++ % n];
	look_at_environment(j, &env->proc, pid);
	look_at_files(j, &env->proc, pid);
	return true;
}

/* ---- Processes on GPUs ---- */

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
