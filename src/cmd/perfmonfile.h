/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfmonfile.h - a run in perfmon's words, as files: its JSON documents, and tables in any format.
 */
#ifndef SONDE_CMD_PERFMONFILE_H
#define SONDE_CMD_PERFMONFILE_H

#include "cmd/written.h"
#include "core/frame.h"

/* The map that travels in the program, maps/perfmon.map. 0 or -errno; map_free in either case. */
int perfmonfile_map(struct map *m, struct err *e);

/* directory/metrics/{meta_data,cpu_metrics,perf_metrics,nv_gpu_metrics}.json, each whole or not at
 * all; the last only where there are GPUs. Both directories are made when they are not there. 0 or
 * -errno. */
int perfmonfile_documents(struct run *r, const char *directory, struct written *w, struct err *e);

#endif
