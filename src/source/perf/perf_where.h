/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_where.h - the tasks and CPUs that perf events are opened on.
 *
 * A job under a launcher is one seat: everything it starts inherits the events. What runs already
 * has a seat for each thread; of what is still to come (no roots), this process shows which events
 * there are; a cgroup and the node have one for each CPU, and so have the devices
 * beside the cores for each CPU that their cpumask names. Devices without one (tracepoint, msr)
 * count tasks as the cores do.
 */
#ifndef SONDE_SOURCE_PERF_PERF_WHERE_H
#define SONDE_SOURCE_PERF_PERF_WHERE_H

#include "source/perf/perf.h"
#include "source/perf/perf_count.h"
#include "source/source.h"

enum { PERF_SEATS_MAX = 4096, PERF_KINDS_MAX = 4 };

struct perf_kind {
	uint32_t type;
	char name[PERF_NAME_MAX]; /* "cpu_atom" */
};

struct perf_pmus {
	struct perf_kind kind[PERF_KINDS_MAX]; /* of cores, by ascending type */
	size_t nkinds;                         /* 0: all cores are of one kind */
	bool core;                             /* the cores have counters at all */
};

struct perf_pmus perf_pmus_find(const struct root *sys);
/* Whether a device of this name counts what the cores do, or some of them. */
bool perf_counts_cores(const char *name);

struct perf_places {
	const struct root *proc, *sys;
	struct perf_pmus pmus;
	struct perf_where job; /* seats of what is asked for, without its PMUs */
	int cgroup;            /* descriptor; 0: none */
	const char *whose;     /* "Counted for the job's processes." */
};

/* For what env->perf asks for. 0 or -errno with a sentence; close in either case. */
int perf_places_open(struct perf_places *p, const struct source_env *env, struct err *e);
void perf_places_close(struct perf_places *p);
/* The seats of a set. 0 or -errno with a sentence; free its seats. */
int perf_places_of(const struct perf_places *p, const struct perf_set *s, struct perf_where *w,
		   struct err *e);

/* "0-3,8" as numbers; how many there are, of which at most max are written. 0 when malformed. */
size_t perf_cpu_list(const char *text, int *cpus, size_t max);

#endif
