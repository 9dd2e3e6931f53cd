/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compared.h - reads the recordings that are wanted into a comparison, and judges it.
 *
 * Each is read once and closed again. What is damaged or incomplete is said.
 */
#ifndef SONDE_SESSION_COMPARED_H
#define SONDE_SESSION_COMPARED_H

#include "report/comparison/comparison.h"
#include "session/find.h"

struct compared_reading {
	const char *verb; /* who says so: "compare" */
	struct comparison *result;
	const struct wanted *wanted;
	/* Called with each run of A and B while it is open; or NULL. */
	int (*also)(void *ctx, enum comparison_group group, struct run *r, struct summary *s,
		    struct err *e);
	void *ctx;
};

/* The margin on the figures that everybody quotes, as conditions. 0, or -errno with a sentence. */
int compared_usual_conditions(struct comparison *x, struct err *e);
/* 0, or -errno with a sentence. */
int compared_read(const struct compared_reading *c, struct err *e);

#endif
