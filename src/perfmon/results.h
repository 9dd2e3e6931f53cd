/* SPDX-License-Identifier: Apache-2.0 */
/*
 * results.h - a run in perfmon's words, as files: its JSON documents, and tables in any format; and
 * what perfmon's first node does when its part of the job is over: waits for the recordings of the
 * others, then writes everything that was asked for of all of them.
 */
#ifndef SONDE_PERFMON_RESULTS_H
#define SONDE_PERFMON_RESULTS_H

#include "core/frame/frame.h"
#include "job/scheduler/scheduler.h"
#include "output/tablefile.h"
#include "perfmon/aside.h"

#include <stdint.h>

/* The map that travels in the program, maps/perfmon.map. 0 or -errno; map_free in either case. */
int perfmonfile_map(struct map *m, struct err *e);

/* directory/metrics/{meta_data,cpu_metrics,perf_metrics,nv_gpu_metrics}.json, each whole or not at
 * all; the last only where there are GPUs. Both directories are made when they are not there. 0 or
 * -errno. */
int perfmonfile_documents(struct run *r, const char *directory, struct outputs *w, struct err *e);

/* Its tables, in formats (bit i: sinks[i]). What collects is, in the directory, one file a table to
 * which the job's is added: cpu_metrics_JOB in cpu_metrics.h5. */
struct perfmonfile {
	struct tablefile to;
	uint64_t formats;
	const char *only; /* this table; NULL: all, but to standard output the first */
	double from_s, to_s;
	int64_t wait_ns; /* for another export into the same file; tell() says so */
	void (*tell)(const char *path, int64_t wait_ns);
};
int perfmonfile_tables(struct run *r, const struct perfmonfile *x, struct err *e);
/* Whether there is a table of that name. */
bool perfmonfile_has(const char *table);

struct perfmon_results {
	const struct logfile *log;
	const struct perfmon_place *place;
	const char *recording; /* the directory */
	const struct batch_job *job;
	const char *host;                  /* this one, as its recording has it */
	int64_t began_utc_ns, ends_utc_ns; /* of this recording; of the job, 0: not known */
	const char *id;      /* of the job, as files and tables are named after it; "" */
	int64_t interval_ns; /* of the samples */
	uint64_t formats;    /* of tables to export; bit i: sinks[i] */
	bool report;
};

/* Until every node's recording is closed, or nothing comes of those that are not, or the job's time
 * is up, or a signal comes. The log says which. */
void perfmon_results_wait(const struct perfmon_results *p);
/* Where nothing tells which node is the job's first, or that one has no copy: is it this one's
 * turn, since it began before the others? */
bool perfmon_results_are_ours(const struct perfmon_results *p);
/* Whether all could be written; the log says what, and why not. */
bool perfmon_results_write(const struct perfmon_results *p);

#endif
