/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scanner.h - how a recording holds what Scanner profiled: a node for each worker and one for the
 * master, an instance for each thread, whose intervals are its spans.
 */
#ifndef SONDE_CORE_PHASE_SCANNER_H
#define SONDE_CORE_PHASE_SCANNER_H

#include "core/metric.h"

/* Of the instances: their domain, and keys of labels. */
#define SCANNER_DOMAIN  "scanner"
#define SCANNER_KIND    "kind"     /* process_job, load, eval, save, master */
#define SCANNER_TAG     "tag"      /* of eval: pre, eval, post */
#define SCANNER_NUMBER  "number"   /* which reader, pipeline, writer */
#define SCANNER_COUNTER "counter." /* and its name, of those that have no metric */
/* Keys of the nodes' metadata. */
#define SCANNER_NODE   "scanner.node" /* its number, SCANNER_MASTER_NODE */
#define SCANNER_BEGIN  "scanner.begin_ns"
#define SCANNER_END    "scanner.end_ns"
#define SCANNER_STAGES "scanner.stages" /* of a pipeline */
#define SCANNER_JOB    "job.id"         /* as text, as batch systems have it */
#define SCANNER_NAME   "job.name"
enum { SCANNER_MASTER_NODE = -1 };

/* The counters that are known; the label is what Scanner calls it. */
enum { SCANNER_METRICS = 7 };
extern const struct metric scanner_metrics[SCANNER_METRICS];

#endif
