/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.h - what the handles of include/sonde.h and include/sonde_sampler.h hold. Private to src/lib.
 */
#ifndef SONDE_LIB_RUN_H
#define SONDE_LIB_RUN_H

#include "core/tracker.h"

#include <sonde.h>
#include <sonde_sampler.h>

struct run;

struct sonde_run {
	struct run *run;
	bool being_read; /* by a sonde_rows: the run has one place where it is read */
};

/* error may be NULL; code is an errno of either sign; an empty text gets the errno's own. */
void sonde_error_set(struct sonde_error *error, int code, const char *text);

/* What of a sampler the report needs. */
struct tracker_sample sampler_private(const struct sonde_sample *s);
/* What all samples came to. */
struct tracker sampler_tracker(const struct sonde_sampler *sampler);

#endif
