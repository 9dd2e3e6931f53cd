/* SPDX-License-Identifier: Apache-2.0 */
/*
 * findings.h - what a run's recorders could not measure, why, and what would help: what `sonde
 * doctor` would have said there and then.
 *
 * Sources that were off (metadata source.NAME), then metrics that were refused (states of series),
 * each once a node and reason. Texts are borrowed from the run and hostile. {0} is safe to free.
 */
#ifndef SONDE_REPORT_JUDGING_FINDINGS_H
#define SONDE_REPORT_JUDGING_FINDINGS_H

#include "report/machine.h"

struct run_finding {
	uint32_t node;
	bool is_source;                            /* else a metric */
	const char *name;                          /* of the source or the metric */
	char state[16];                            /* "unsupported", "forbidden", "failed" */
	const char *reason, *fix_user, *fix_admin; /* NULL: not known */
};

struct findings {
	struct run_finding *row;
	uint32_t n;
};

int findings_make(struct findings *f, const struct run *r, const struct metadata *m);
void findings_free(struct findings *f);
/* "You can: ... An administrator can: ..."; NULL: nothing is known. */
void findings_say_fixes(const char *fix_user, const char *fix_admin, struct bytes *out);
/* An array of them. */
void findings_json(struct json *j, const struct findings *f, const struct run *r);

#endif
