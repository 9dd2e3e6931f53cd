/* SPDX-License-Identifier: Apache-2.0 */
/*
 * made_job.h - jobs that are made up, written as real recordings through the writer, with what is
 * wrong with each of them known beforehand.
 *
 * What a job did is drawn from a seed: each fault is either clearly there (from 1.3 times of what
 * its rule asks for) or not (up to 0.7 times of it), with noise on every value. The labels come
 * from what was drawn, never from the rules.
 */
#ifndef TESTS_MADE_JOB_H
#define TESTS_MADE_JOB_H

#include "base/clock.h"
#include "recording/writer.h"
#include "source/process.h"
#include "source/source.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum fault {
	FAULT_CORES_ASKED,
	FAULT_MEMORY_ASKED,
	FAULT_MEMORY_TIGHT,
	FAULT_SERIAL,
	FAULT_IDLE_HEAD,
	FAULT_IDLE_TAIL,
	FAULT_IDLE_HOLE,
	FAULT_LEAK,
	FAULT_OOM,
	FAULT_OVERSUBSCRIBED,
	FAULT_PINNED,
	FAULT_CROWDED,
	FAULT_NUMA,
	FAULT_THROTTLED,
	FAULT_STOLEN,
	FAULT_SWAP,
	FAULT_PRESSURE,
	FAULT_THRASH,
	FAULT_DISK,
	FAULT_NFS,
	FAULT_METADATA,
	FAULT_SMALL_IO,
	FAULT_GPUS_ASKED,
	FAULT_GPU_LOW,
	FAULT_GPU_SHARED,
	FAULT_GPU_HOT,
	FAULT_STRAGGLER,
	FAULT_UNEQUAL,
	FAULTS
};

/* The rule that is to tell of each. */
static const char *const fault_rules[] = {
	[FAULT_CORES_ASKED] = "cores-asked",
	[FAULT_MEMORY_ASKED] = "memory-asked",
	[FAULT_MEMORY_TIGHT] = "memory-tight",
	[FAULT_SERIAL] = "serial-phase",
	[FAULT_IDLE_HEAD] = "idle-head",
	[FAULT_IDLE_TAIL] = "idle-tail",
	[FAULT_IDLE_HOLE] = "idle-hole",
	[FAULT_LEAK] = "leak",
	[FAULT_OOM] = "out-of-memory",
	[FAULT_OVERSUBSCRIBED] = "oversubscribed",
	[FAULT_PINNED] = "pinned-together",
	[FAULT_CROWDED] = "crowded",
	[FAULT_NUMA] = "numa-remote",
	[FAULT_THROTTLED] = "throttled-cgroup",
	[FAULT_STOLEN] = "stolen",
	[FAULT_SWAP] = "swap",
	[FAULT_PRESSURE] = "memory-pressure",
	[FAULT_THRASH] = "thrash",
	[FAULT_DISK] = "waiting-on-disk",
	[FAULT_NFS] = "nfs-latency",
	[FAULT_METADATA] = "metadata-storm-nfs",
	[FAULT_SMALL_IO] = "small-io",
	[FAULT_GPUS_ASKED] = "gpus-asked",
	[FAULT_GPU_LOW] = "gpu-low",
	[FAULT_GPU_SHARED] = "gpu-shared",
	[FAULT_GPU_HOT] = "gpu-throttled-heat",
	[FAULT_STRAGGLER] = "straggler",
	[FAULT_UNEQUAL] = "unequal-nodes",
};
_Static_assert(sizeof fault_rules / sizeof fault_rules[0] == FAULTS, "a rule for each");

enum made_memory { MEMORY_FLAT, MEMORY_RAMP, MEMORY_SAW, MEMORY_STEP, MEMORY_LEVELS, MEMORY_LEAK };

struct made_job {
	uint64_t seed;
	bool has[FAULTS];
	unsigned nodes, gpus, gpus_used;
	double wall_s, cores_asked, cores, memory_asked, memory_peak;
	double head, serial, hole, tail; /* shares of the run */
	enum made_memory memory;
	double leak;     /* by how much memory grows, of its beginning */
	double threads;  /* at work, of the cores that are allowed */
	double queue;    /* time in run queues, of CPU time */
	double affinity; /* CPUs that threads may run on */
	double remote;   /* share of memory on other NUMA nodes */
	double throttled, steal, swap_bytes, pressure_memory, pressure_io, refaults;
	double nfs_rate, nfs_latency_s, nfs_metadata;
	double cgroup_full, read_again; /* share of its limit; of what was dropped from its cache */
	double calls, call_bytes;
	double blocked, storage_rate; /* threads that wait for storage; bytes a second */
	double gpu_use, gpu_hot, gpu_other_bytes;
	double slow_clock;   /* of the last node, as a share of the others' */
	double others_share; /* work of the other nodes, of the first one's */
};

static inline uint64_t made_random(struct made_job *j)
{
	j->seed ^= j->seed << 13;
	j->seed ^= j->seed >> 7;
	j->seed ^= j->seed << 17;
	return j->seed;
}

static inline double between(struct made_job *j, double least, double most)
{
	return least + (most - least) * (double)(made_random(j) >> 11) / 9007199254740992.0;
}

static inline bool chance(struct made_job *j, double p)
{
	return between(j, 0, 1) < p;
}

/* Around 1, mostly within three times the part. */
static inline double noise(struct made_job *j, double part)
{
	double sum = 0;

	for (int i = 0; i < 4; i++)
		sum += between(j, -1, 1);
	return 1 + part * sum * 0.866;
}

/* Clearly there, or not: a share of what a rule asks for. */
static inline double draw(struct made_job *j, enum fault f, double p, double threshold, double most)
{
	j->has[f] = chance(j, p);
	return j->has[f] ? between(j, 1.3 * threshold, most) : between(j, 0, 0.7 * threshold);
}

static inline void draw_phases(struct made_job *j)
{
	bool idle = chance(j, 0.5);
	unsigned which = (unsigned)(made_random(j) % 3);

	j->has[FAULT_SERIAL] = chance(j, 0.3);
	j->has[FAULT_IDLE_HEAD] = idle && which == 0;
	j->has[FAULT_IDLE_HOLE] = idle && which == 1;
	j->has[FAULT_IDLE_TAIL] = idle && which == 2;
	j->serial = j->has[FAULT_SERIAL] ? between(j, 0.28, 0.5) : between(j, 0, 0.13);
	j->head = j->has[FAULT_IDLE_HEAD] ? between(j, 0.15, 0.25) : between(j, 0, 0.06);
	j->hole = j->has[FAULT_IDLE_HOLE] ? between(j, 0.15, 0.25) : between(j, 0, 0.06);
	j->tail = j->has[FAULT_IDLE_TAIL] ? between(j, 0.15, 0.25) : between(j, 0, 0.06);
}

static inline void draw_cores(struct made_job *j)
{
	static const double sizes[] = { 8, 16, 32, 64 };

	j->nodes = chance(j, 0.3) ? 4 : 1;
	j->cores_asked = sizes[made_random(j) % 4];
	j->has[FAULT_CORES_ASKED] = chance(j, 0.3);
	j->cores = j->cores_asked *
		   (j->has[FAULT_CORES_ASKED] ? between(j, 0.3, 0.6) : between(j, 0.85, 0.97));
	j->others_share = 1;
	if (j->nodes > 1 && chance(j, 0.3)) {
		j->has[FAULT_UNEQUAL] = true;
		j->others_share = between(j, 0.2, 0.6);
	}
	j->slow_clock = between(j, 0.96, 1);
	if (j->nodes > 1 && chance(j, 0.4)) {
		j->has[FAULT_STRAGGLER] = true;
		j->slow_clock = between(j, 0.4, 0.85);
	}
}

static inline void draw_threads(struct made_job *j)
{
	double many = between(j, 2, 4), wanted;

	j->threads = j->cores / j->cores_asked;
	j->affinity = j->cores_asked;
	j->queue = between(j, 0, 0.15);
	switch (made_random(j) % 8) {
	case 0:
		j->has[FAULT_OVERSUBSCRIBED] = true;
		j->has[FAULT_CORES_ASKED] = false;
		j->cores = between(j, 0.9, 1) * j->cores_asked;
		j->threads = many;
		j->queue = many - 1;
		break;
	case 1:
		j->has[FAULT_PINNED] = true;
		j->affinity = fmax(3, floor(j->cores_asked * between(j, 0.1, 0.5)));
		j->cores = fmin(j->cores, 0.97 * j->affinity);
		j->threads = many * j->affinity / j->cores_asked;
		if (j->threads > 0.6 && j->threads < 0.9)
			j->threads = between(j, 0.9, 1.4);
		j->has[FAULT_CORES_ASKED] = j->threads < 0.7;
		j->queue = j->threads * j->cores_asked / j->affinity - 1;
		break;
	case 2: /* it would use all that it asked for, or more */
		j->has[FAULT_CROWDED] = true;
		j->has[FAULT_CORES_ASKED] = false;
		wanted = chance(j, 0.3) ? many : between(j, 0.9, 1.3);
		j->queue = wanted > 1.5 ? wanted / between(j, 0.2, 0.6) - 1 : between(j, 0.6, 2);
		j->cores = wanted * j->cores_asked / (1 + j->queue);
		j->threads = wanted;
		j->has[FAULT_OVERSUBSCRIBED] = wanted > 1.5;
		break;
	default:
		break;
	}
}

static inline void draw_memory(struct made_job *j)
{
	static const enum made_memory shapes[] = { MEMORY_FLAT, MEMORY_RAMP, MEMORY_SAW,
						   MEMORY_STEP, MEMORY_LEVELS };
	double used = between(j, 0.55, 0.82);

	j->memory_asked = ldexp(1, 30) * floor(between(j, 8, 200));
	j->has[FAULT_OOM] = chance(j, 0.12);
	j->memory = shapes[made_random(j) % 5];
	if (!j->has[FAULT_OOM] && chance(j, 0.3)) {
		j->has[FAULT_MEMORY_ASKED] = true;
		used = between(j, 0.05, 0.4);
	} else if (!j->has[FAULT_OOM] && chance(j, 0.15)) {
		j->has[FAULT_MEMORY_TIGHT] = true;
		used = between(j, 0.94, 0.99);
	}
	if (!j->has[FAULT_OOM] && chance(j, 0.25)) {
		j->has[FAULT_LEAK] = true;
		j->memory = MEMORY_LEAK;
	}
	j->leak = between(j, 0.8, 4);
	j->memory_peak = used * j->memory_asked;
	j->remote = draw(j, FAULT_NUMA, 0.15, 0.2, 0.8);
	j->has[FAULT_SWAP] = chance(j, 0.1);
	j->swap_bytes = j->has[FAULT_SWAP] ? between(j, 64e6, 4e9) : between(j, 0, 8e6);
	j->pressure_memory = draw(j, FAULT_PRESSURE, 0.1, 0.1, 0.6);
	j->refaults = draw(j, FAULT_THRASH, 0.15, 2000, 20000);
	j->cgroup_full = between(j, 0.95, 1);
	j->read_again = between(j, 0.8, 1.2);
	if (j->has[FAULT_THRASH] && chance(j, 0.3)) { /* no limit was reached, or others read */
		j->has[FAULT_THRASH] = false;
		if (chance(j, 0.5))
			j->cgroup_full = between(j, 0.2, 0.6);
		else
			j->read_again = between(j, 0, 0.2);
	}
}

static inline void draw_files(struct made_job *j)
{
	j->pressure_io = draw(j, FAULT_DISK, 0.15, 0.1, 0.6);
	j->blocked = j->has[FAULT_DISK] ? between(j, 0.3, 4) : between(j, 0, 0.05);
	j->storage_rate = j->has[FAULT_DISK] ? between(j, 1e5, 1e9) : between(j, 0, 2e6);
	if (!j->has[FAULT_DISK] && j->refaults * j->read_again < 200 && chance(j, 0.5)) /* others */
		j->pressure_io = between(j, 0.13, 0.6);
	j->nfs_metadata = between(j, 0.1, 0.5);
	switch (made_random(j) % 6) {
	case 0: /* slow and much of it */
		j->has[FAULT_NFS] = true;
		j->nfs_latency_s = between(j, 0.02, 0.2);
		j->nfs_rate = between(j, 0.4, 3) / j->nfs_latency_s;
		break;
	case 1: /* slow, but hardly any */
		j->nfs_latency_s = between(j, 0.02, 0.2);
		j->nfs_rate = between(j, 0, 0.12) / j->nfs_latency_s;
		break;
	case 2:
		j->has[FAULT_METADATA] = true;
		j->nfs_metadata = between(j, 0.9, 1);
		j->nfs_rate = between(j, 900, 5000);
		j->nfs_latency_s = between(j, 1e-4, 2e-3);
		break;
	default: /* much and fast */
		j->nfs_rate = between(j, 0, 2000);
		j->nfs_latency_s = between(j, 1e-4, 2e-3);
	}
	j->has[FAULT_SMALL_IO] = chance(j, 0.15);
	j->calls = j->cores * (j->has[FAULT_SMALL_IO] ? between(j, 4e4, 3e5) : between(j, 0, 5e4));
	j->call_bytes = j->has[FAULT_SMALL_IO] ? between(j, 50, 2500) : between(j, 8e3, 1e6);
	if (!j->has[FAULT_SMALL_IO] && chance(j, 0.3)) { /* small, but few for what is computed */
		j->calls = j->cores * between(j, 0, 3e3);
		j->call_bytes = between(j, 50, 2500);
	}
}

static inline void draw_gpus(struct made_job *j)
{
	j->gpus = chance(j, 0.4) ? 1 + (unsigned)(made_random(j) % 4) : 0;
	j->gpus_used = j->gpus;
	if (!j->gpus)
		return;
	if (chance(j, 0.4)) {
		j->has[FAULT_GPUS_ASKED] = true;
		j->gpus_used = (unsigned)(made_random(j) % j->gpus);
	}
	j->has[FAULT_GPU_LOW] = j->gpus_used == j->gpus && chance(j, 0.4);
	j->gpu_use = j->has[FAULT_GPU_LOW] ? between(j, 0.04, 0.1) : between(j, 0.9, 1);
	j->gpu_hot = draw(j, FAULT_GPU_HOT, 0.2, 0.05, 0.5);
	j->has[FAULT_GPU_SHARED] = chance(j, 0.2);
	j->gpu_other_bytes = j->has[FAULT_GPU_SHARED] ? between(j, 1e9, 9e9) : 0;
}

static inline struct made_job made_job_draw(uint64_t number)
{
	struct made_job j = { .seed = (number + 1) * UINT64_C(0x9e3779b97f4a7c15) };

	for (int i = 0; i < 8; i++)
		made_random(&j);
	j.wall_s = floor(between(&j, 120, 400));
	draw_phases(&j);
	draw_cores(&j);
	draw_threads(&j);
	j.throttled = draw(&j, FAULT_THROTTLED, 0.12, 0.1, 0.8);
	j.steal = draw(&j, FAULT_STOLEN, 0.12, 0.1, 0.5);
	draw_memory(&j);
	draw_files(&j);
	draw_gpus(&j);
	/* The rule asks for cores that are not busy, too: a job at its limit is starved instead. */
	if (j.has[FAULT_GPU_LOW] && !j.has[FAULT_CORES_ASKED])
		j.has[FAULT_GPU_LOW] = false, j.gpu_use = between(&j, 0.9, 1);
	return j;
}

#endif
