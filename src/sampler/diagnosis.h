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
#include "core/metric.h"

#include <stddef.h>

/*
 * One line of `sonde doctor`: is something available, and if not, why and what helps.
 *
 * Texts are borrowed from tables, but reason and note, which are the finding's own.
 */

struct finding {
	const char *name; /* of a source, a metric or a mechanism */
	const char *what; /* in a few words */
	enum state state; /* PRESENT: available */
	char reason[256]; /* why not; "" when available */
	char note[256];   /* what to know of it when it is available; "" = nothing */
	const char *fix_user, *fix_admin; /* NULL: nothing to do */
};

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
