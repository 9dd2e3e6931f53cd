/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfmonfile.h - a run in perfmon's words, as files: its JSON documents, and tables in any format.
 */
#ifndef SONDE_PERFMON_PERFMONFILE_H
#define SONDE_PERFMON_PERFMONFILE_H

#include "core/frame/frame.h"
#include "output/tablefile.h"

/* The map that travels in the program, maps/perfmon.map. 0 or -errno; map_free in either case. */
int perfmonfile_map(struct map *m, struct err *e);

/* directory/metrics/{meta_data,cpu_metrics,perf_metrics,nv_gpu_metrics}.json, each whole or not at
 * all; the last only where there are GPUs. Both directories are made when they are not there. 0 or
 * -errno. */
int perfmonfile_documents(struct run *r, const char *directory, struct written *w, struct err *e);

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

#endif
