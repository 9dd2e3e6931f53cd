/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diagnosis.h - what can be measured here: the batch job, each source, each metric, each way to
 * follow processes, tried once; what `sonde doctor` prints.
 *
 * Available, absent (nothing of the kind is here now), unsupported, forbidden or failed; with the
 * reason and what would help. Nothing is recorded.
 */
#ifndef SONDE_SAMPLER_DIAGNOSIS_H
#define SONDE_SAMPLER_DIAGNOSIS_H

#include "base/err.h"
#include "core/finding.h"

#include <stddef.h>

/* In the order they are shown. */
enum diagnosis_section {
	DIAGNOSIS_BATCH,
	DIAGNOSIS_SOURCES,
	DIAGNOSIS_MECHANISMS,
	DIAGNOSIS_METRICS,
	DIAGNOSIS_SECTIONS
};
enum { DIAGNOSIS_ROWS = 2048 };

struct diagnosis {
	struct diagnosis_list {
		size_t n;
		struct finding row[DIAGNOSIS_ROWS];
	} section[DIAGNOSIS_SECTIONS];
};

/* d is zeroed. 0, or -errno with a sentence when the roots cannot be opened. */
int diagnosis_make(struct diagnosis *d, const char *procfs, const char *sysfs, struct err *e);

#endif
