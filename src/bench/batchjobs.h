/* SPDX-License-Identifier: Apache-2.0 */
/* batchjobs.h - which trials of a batch ran beside others, as their facts say. */
#ifndef SONDE_BENCH_BATCHJOBS_H
#define SONDE_BENCH_BATCHJOBS_H

#include "base/text/json.h"
#include "bench/trial.h"

/* "4 of 6 trials ran 2 at a time, each on cores of its own"; nothing, if none did. of: trials of
 * the batch. 0 or -errno with a sentence, as below. */
int batch_jobs_text(struct database *s, int64_t batch, uint32_t of, struct bytes *out,
		    struct err *e);
/* [{"jobs": 2, "cpus": "0-3", "trials": 3}, ...] */
int batch_jobs_json(struct database *s, int64_t batch, struct json *j, struct err *e);

#endif
