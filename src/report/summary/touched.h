/* SPDX-License-Identifier: Apache-2.0 */
/*
 * touched.h - which code touched the job's memory first: of what was resident at the peak of each
 * node, and in all; and which of it grows.
 *
 * Resident memory is exact, as far as it was looked at; by code it is an estimate from samples of
 * page faults (unwind/touched.h). What no sample is of is a part of its own.
 */
#ifndef SONDE_REPORT_SUMMARY_TOUCHED_H
#define SONDE_REPORT_SUMMARY_TOUCHED_H

#include "base/bytes.h"
#include "core/stacks/owners.h"

#include <stdio.h>

struct json;
struct summary;

struct touched_memory {
	struct classes classes;
	struct stacks *peak; /* at the peak of each node; NULL: not recorded */
	struct stacks *flow; /* all that was touched, over time; likewise */
	struct owners owners;
	/* What is missing; all texts are hostile. */
	const char *refused, *fix_user, *fix_admin, *note; /* or NULL */
	bool no_system_calls; /* what these touched has no samples, on one node at least */
	double samples;       /* of page faults */
	double lost, hidden;  /* records; processes whose pages may not be looked at */
};

/* *out NULL: nobody asked for it. 0 or -errno with a sentence. */
int touched_make(struct touched_memory **out, struct run *r, const struct summary *s,
		 struct err *e);
/* Rows of the flow by phase, which take another pass. 0 or -errno with a sentence. */
int touched_phases(struct touched_memory *t, struct run *r, struct err *e);
void touched_free(struct touched_memory *t);

/* The function of which memory grows with that of the job; NULL: there is none. */
const struct owner *touched_leak(const struct touched_memory *t);

/* "load (load.c:41)", not escaped. */
void touched_name(const struct owner *o, char *out, size_t size);
/* "4.2 GiB of 5.0 GiB was first touched in load_index (index.c:88), ...", escaped for a terminal.
 */
void touched_words(const struct touched_memory *t, unsigned most, struct bytes *out);
/* The i-th sentence about what is missing, not escaped; false: there is none. */
bool touched_say(const struct touched_memory *t, unsigned i, struct bytes *out);
void touched_print(const struct touched_memory *t, FILE *out, unsigned most);
/* One table. Of phases it is all that was touched, else what was resident at the peak. */
void touched_print_by(const struct touched_memory *t, enum stacks_by by, FILE *out, unsigned most);
/* Schema sonde/memory/1. */
void touched_json(const struct touched_memory *t, const struct run *r, unsigned most,
		  struct bytes *out);

#endif
