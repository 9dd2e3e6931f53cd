/* SPDX-License-Identifier: Apache-2.0 */
/*
 * made_job_write.h - writes a job that was made up (made_job.h) as recordings, a node each, at 1
 * Hz.
 */
#ifndef TESTS_MADE_JOB_WRITE_H
#define TESTS_MADE_JOB_WRITE_H

#include "made_job.h"

enum { MADE_SERIES = 64, MADE_CPUS = 4, OOM_RAMP_S = 20 };

struct made_series {
	const struct metric *metric;
	uint32_t slot;
	double value; /* in base units: a counter's sum, a gauge's value */
};

struct made_node {
	struct made_job *job;
	unsigned number;
	struct sample sample;
	struct made_series series[MADE_SERIES];
	unsigned nseries;
	uint32_t victim; /* the process that is killed for want of memory */
	double cpu_s, peak_bytes;
};

static inline const struct metric *made_metric(const char *name)
{
	for (size_t s = 0; s < nsources; s++)
		for (size_t m = 0; m < sources[s]->nmetrics; m++)
			if (!strcmp(sources[s]->metrics[m].name, name))
				return &sources[s]->metrics[m];
	fprintf(stderr, "made_job: there is no metric %s\n", name);
	abort();
}

static inline void made_add(struct made_node *n, const char *name, uint32_t instance)
{
	const struct metric *m = made_metric(name);

	if (n->nseries == MADE_SERIES)
		abort();
	n->series[n->nseries++] =
		(struct made_series){ m, sample_series(&n->sample, m, 1, instance), 0 };
}

static inline struct made_series *made_find(struct made_node *n, const char *name)
{
	for (unsigned i = 0; i < n->nseries; i++)
		if (!strcmp(n->series[i].metric->name, name))
			return &n->series[i];
	fprintf(stderr, "made_job: no series of %s\n", name);
	abort();
}

static inline void grow(struct made_node *n, const char *name, double by)
{
	made_find(n, name)->value += fmax(by, 0);
}

static inline void set(struct made_node *n, const char *name, double value)
{
	made_find(n, name)->value = value;
}

static inline void made_put(struct made_node *n)
{
	for (unsigned i = 0; i < n->nseries; i++) {
		const struct metric *m = n->series[i].metric;
		double scale = (m->div ? m->div : 1) / (double)(m->mul ? m->mul : 1);

		sample_put(&n->sample, n->series[i].slot,
			   (int64_t)(n->series[i].value * scale + 0.5));
	}
}

static inline void made_open_series(struct made_node *n)
{
	static const char *const of_node[] = {
		"job.cpu_seconds",
		"job.resident_bytes",
		"job.swap_bytes",
		"job.threads_running_count",
		"job.threads_blocked_count",
		"job.run_queue_seconds",
		"job.affinity_cpus_count",
		"job.numa_local_bytes",
		"job.numa_remote_bytes",
		"job.read_calls",
		"job.write_calls",
		"job.read_bytes",
		"job.written_bytes",
		"job.storage_read_bytes",
		"job.storage_written_bytes",
		"node.cpu_user_seconds",
		"node.cpu_nice_seconds",
		"node.cpu_system_seconds",
		"node.cpu_irq_seconds",
		"node.cpu_softirq_seconds",
		"node.cpu_steal_seconds",
		"node.pressure_memory_some_seconds",
		"node.pressure_io_some_seconds",
	};
	static const char *const of_group[] = { "cgroup.periods",
						"cgroup.throttled_periods",
						"cgroup.cpu_limit_cores",
						"cgroup.memory_limit_bytes",
						"cgroup.memory_oom_kills",
						"cgroup.memory_bytes",
						"cgroup.memory_refaults_file" };
	static const char *const of_nfs[] = { "nfs.requests", "nfs.execute_seconds",
					      "nfs.metadata_requests" };
	static const char *const of_gpu[] = {
		"gpu.utilization_ratio",        "gpu.memory_used_bytes",
		"gpu.memory_total_bytes",       "gpu.job_memory_bytes",
		"gpu.other_processes_count",    "gpu.other_memory_bytes",
		"gpu.throttled_thermal_seconds"
	};
	struct sample *s = &n->sample;
	uint32_t id;

	for (size_t i = 0; i < sizeof of_node / sizeof of_node[0]; i++)
		made_add(n, of_node[i], 0);
	sample_catalogue(s, made_metric("node.cpu_used_cores"), 1);
	id = sample_instance(s, "cgroup", "job", 0, s->mono_ns, 0);
	for (size_t i = 0; i < sizeof of_group / sizeof of_group[0]; i++)
		made_add(n, of_group[i], id);
	id = sample_instance(s, "nfs", "/home", 0, s->mono_ns, 0);
	for (size_t i = 0; i < sizeof of_nfs / sizeof of_nfs[0]; i++)
		made_add(n, of_nfs[i], id);
	made_add(n, "cpu.frequency_hertz", sample_instance(s, "cpu", "0", 0, s->mono_ns, 0));
	for (unsigned g = 0; g < n->job->gpus; g++) {
		char name[16];

		snprintf(name, sizeof name, "%u", g);
		id = sample_instance(s, "gpu", name, 0, s->mono_ns, 0);
		for (size_t i = 0; i < sizeof of_gpu / sizeof of_gpu[0]; i++)
			made_add(n, of_gpu[i], id);
	}
}

/* How many cores worked in that second. What a hypervisor takes from one thread did not run. */
static inline double made_cores(struct made_node *n, double at)
{
	struct made_job *j = n->job;
	double share = at / j->wall_s, half = (1 - j->head - j->serial - j->hole - j->tail) / 2;
	double work = (n->number ? j->others_share : 1) * j->cores;

	if (share < j->head || share >= 1 - j->tail)
		return between(j, 0, 0.01);
	if (share < j->head + j->serial)
		return fmin(noise(j, 0.02), 1.05) / (double)j->nodes / (1 + j->steal);
	if (share >= j->head + j->serial + half && share < j->head + j->serial + half + j->hole)
		return between(j, 0, 0.01);
	return fmax(work * fmin(noise(j, 0.03), 1.03), 2 / (double)j->nodes);
}

static inline double made_memory(struct made_node *n, double at)
{
	struct made_job *j = n->job;
	double share = at / j->wall_s, full = j->memory_peak, left = j->wall_s - at, v = full;

	switch (j->memory) {
	case MEMORY_FLAT:
		break;
	case MEMORY_RAMP:
		v = full * fmin(1, 0.1 + share / 0.15);
		break;
	case MEMORY_SAW:
		v = full * (0.6 + 0.4 * fmod(at, 23) / 23);
		break;
	case MEMORY_STEP:
		v = full * (share < 0.5 ? 0.6 : 1);
		break;
	case MEMORY_LEVELS:
		v = full * (1 - 0.9 * exp(-share / 0.06));
		break;
	case MEMORY_LEAK:
		v = full * (1 + j->leak * share) / (1 + j->leak);
		break;
	}
	if (j->has[FAULT_OOM] && left < OOM_RAMP_S)
		v += (j->memory_asked - v) * (1 - left / OOM_RAMP_S);
	return fmin(v * noise(j, j->has[FAULT_MEMORY_TIGHT] ? 0.001 : 0.005),
		    j->memory_asked * 0.999);
}

/* GPUs rest when cores do. */
static inline void made_gpu_row(struct made_node *n, bool rests)
{
	static const char *const first = "gpu.utilization_ratio";
	struct made_job *j = n->job;
	unsigned gpu = 0;

	for (unsigned i = 0; i < n->nseries; i++) {
		struct made_series *s = &n->series[i];

		if (strcmp(s->metric->name, first) != 0)
			continue;
		s[0].value =
			gpu < j->gpus_used && !rests ? fmin(j->gpu_use * noise(j, 0.02), 1) : 0;
		s[1].value = 30e9 + j->gpu_other_bytes;
		s[2].value = 80e9;
		s[3].value = gpu < j->gpus_used ? 30e9 : 0;
		s[4].value = j->gpu_other_bytes > 0;
		s[5].value = j->gpu_other_bytes;
		s[6].value += j->gpu_hot * fmin(noise(j, 0.1), 1.5);
		gpu++;
	}
}

static inline void made_row(struct made_node *n, double at)
{
	struct made_job *j = n->job;
	double cores = made_cores(n, at), memory = made_memory(n, at);
	double others = j->has[FAULT_CROWDED] ? j->cores_asked : 0;
	bool works = cores > 1.5 / j->nodes, killed = at >= j->wall_s - 1;

	n->cpu_s += cores;
	n->peak_bytes = fmax(n->peak_bytes, memory);
	grow(n, "job.cpu_seconds", cores);
	set(n, "job.resident_bytes", memory);
	set(n, "job.swap_bytes", j->swap_bytes * at / j->wall_s);
	set(n, "job.threads_running_count",
	    works ? floor(j->threads * j->cores_asked + 0.5) : cores > 0.1);
	grow(n, "job.run_queue_seconds", works ? j->queue * cores * noise(j, 0.1) : 0);
	set(n, "job.affinity_cpus_count", j->affinity);
	set(n, "job.numa_local_bytes", memory * (1 - j->remote));
	set(n, "job.numa_remote_bytes", memory * j->remote);
	grow(n, "job.read_calls", j->calls / 2 * noise(j, 0.2));
	grow(n, "job.write_calls", j->calls / 2 * noise(j, 0.2));
	grow(n, "job.read_bytes", j->calls / 2 * j->call_bytes * noise(j, 0.2));
	grow(n, "job.written_bytes", j->calls / 2 * j->call_bytes * noise(j, 0.2));
	set(n, "job.threads_blocked_count", floor(j->blocked + between(j, 0, 1)));
	grow(n, "job.storage_read_bytes",
	     (j->storage_rate / 2 + j->read_again * 4096 * j->refaults) * noise(j, 0.2));
	grow(n, "job.storage_written_bytes", j->storage_rate / 2 * noise(j, 0.2));
	grow(n, "node.cpu_user_seconds", cores + others);
	grow(n, "node.cpu_system_seconds", 0.02 * cores);
	grow(n, "node.cpu_steal_seconds", j->steal * (cores + others) * noise(j, 0.2));
	grow(n, "node.pressure_memory_some_seconds", j->pressure_memory * noise(j, 0.2));
	grow(n, "node.pressure_io_some_seconds", j->pressure_io * noise(j, 0.2));
	grow(n, "cgroup.periods", 10);
	grow(n, "cgroup.throttled_periods", 10 * j->throttled * noise(j, 0.2));
	set(n, "cgroup.cpu_limit_cores", j->cores_asked);
	set(n, "cgroup.memory_limit_bytes", j->memory_asked);
	set(n, "cgroup.memory_bytes", j->cgroup_full * j->memory_asked);
	set(n, "cgroup.memory_oom_kills", killed && n->victim && j->has[FAULT_OOM]);
	grow(n, "cgroup.memory_refaults_file", j->refaults * noise(j, 0.2));
	grow(n, "nfs.requests", j->nfs_rate * noise(j, 0.2));
	grow(n, "nfs.execute_seconds", j->nfs_rate * j->nfs_latency_s * noise(j, 0.2));
	grow(n, "nfs.metadata_requests", j->nfs_rate * j->nfs_metadata);
	set(n, "cpu.frequency_hertz",
	    2.6e9 * (n->number + 1 == j->nodes ? j->slow_clock : 1) * noise(j, 0.01));
	made_gpu_row(n, cores < 0.1);
	made_put(n);
}

static inline void made_begin(struct made_node *n)
{
	struct made_job *j = n->job;
	struct sample *s = &n->sample;

	sample_clock(s, s->mono_ns, s->utc_ns, 1000, true);
	sample_meta_text(s, "run.id", "0123456789abcdef0123456789abcdef");
	sample_meta_int(s, "run.interval_ns", NS_PER_S);
	sample_meta_text(s, "job.command", "./solver input.dat");
	sample_meta_text(s, "job.scheduler", "slurm");
	sample_meta_text(s, "job.id", "4711");
	sample_meta_int(s, "job.nodes_count", j->nodes);
	sample_meta_int(s, "job.cores_asked", (int64_t)j->cores_asked);
	sample_meta_int(s, "job.memory_asked_bytes", (int64_t)j->memory_asked);
	sample_meta_int(s, "node.cores_present", 2 * (int64_t)j->cores_asked);
	sample_meta_int(s, "node.cores_allowed", (int64_t)j->cores_asked);
	sample_meta_int(s, "cgroup.memory_oom_kills_before", 0);
	sample_meta_int(s, "node.memory_bytes", 2 * (int64_t)j->memory_asked);
	if (j->gpus)
		sample_meta_int(s, "job.gpus_asked", j->gpus);
	made_open_series(n);
	if (!j->has[FAULT_OOM] || n->number)
		return;
	n->victim = sample_instance(s, "process", "solver", 0, s->mono_ns, 0);
	sample_label(s, n->victim, "pid", "4712");
}

static inline void made_end(struct made_node *n)
{
	struct sample *s = &n->sample;
	int64_t final[PROCESS_FINALS] = { [PROCESS_PEAK_RESIDENT] = (int64_t)n->peak_bytes };
	bool failed = n->job->has[FAULT_OOM];

	if (n->victim) {
		sample_final(s, n->victim, process_metrics, PROCESS_FINALS, final,
			     UINT64_C(1) << PROCESS_PEAK_RESIDENT);
		sample_end(s, n->victim, s->mono_ns);
	}
	sample_meta_int(s, "job.exit_code", failed ? 137 : 0);
	sample_meta_int(s, "job.wall_ns", (int64_t)n->job->wall_s * NS_PER_S);
	sample_meta_int(s, "job.cpu_ns", (int64_t)(n->cpu_s * 1e9));
	sample_meta_int(s, "job.cpu_attributed_ns", (int64_t)(n->cpu_s * 1e9));
	sample_meta_int(s, "job.peak_memory_bytes", (int64_t)n->peak_bytes);
	sample_meta_text(s, "job.peak_memory_kind", "pss");
}

/* A node of the job below dirfd. Aborts when it cannot. */
static inline void made_node_write(struct made_job *j, unsigned number, int dirfd)
{
	static const struct writer_options options = { 0 };
	struct made_node n = { .job = j, .number = number };
	int64_t utc = INT64_C(1700000000) * NS_PER_S, mono = (1000 + number) * NS_PER_S;
	struct writer *w;
	char host[16];

	snprintf(host, sizeof host, "n%u", number + 1);
	if (sample_init(&n.sample, 2 * MADE_SERIES, 1024) ||
	    writer_open(&w, dirfd, host, &options, NULL))
		abort();
	for (double at = 0; at <= j->wall_s; at++) {
		int64_t ns = (int64_t)(at * 1e9);

		sample_begin(&n.sample, utc + ns, mono + ns);
		if (at == 0)
			made_begin(&n);
		else
			made_row(&n, at);
		if (at == 0)
			made_put(&n);
		if (at + 1 > j->wall_s)
			made_end(&n);
		if (writer_sample(w, &n.sample, NULL))
			abort();
	}
	if (writer_close(w, NULL))
		abort();
	sample_free(&n.sample);
}

/* The whole job, into a directory that is there and empty. */
static inline void made_job_write(struct made_job *j, const char *directory)
{
	int dirfd = open(directory, O_RDONLY | O_DIRECTORY);

	if (dirfd < 0)
		abort();
	for (unsigned i = 0; i < j->nodes; i++)
		made_node_write(j, i, dirfd);
	close(dirfd);
}

#endif
