/* SPDX-License-Identifier: Apache-2.0 */
/*
 * losses.h - what the recorders of a run lost or left out, as far as they counted it, in words that
 * all views share.
 *
 * From the metadata of all nodes together. Damage of files is none of it: run.damages has that.
 */
#ifndef SONDE_CORE_FRAME_LOSSES_H
#define SONDE_CORE_FRAME_LOSSES_H

#include "base/bytes.h"
#include "core/frame/run.h"

enum { LOSSES_MAX = 14, LOSS_WORDS = 128 };

struct loss {
	const char *key;        /* of the metadata: "spans.left_out" */
	const char *what;       /* "spans" */
	double lost;            /* more than 0 */
	double of;              /* with what is there; NAN: not known */
	bool at_least;          /* there may be more */
	bool matters;           /* it changes what a reader believes */
	char words[LOSS_WORDS]; /* "2.0 M of 3.0 M spans left out (67 %)" */
	const char *why;
};

struct losses {
	struct loss row[LOSSES_MAX]; /* what matters to most readers first */
	uint32_t n;
};

struct json;

/* 0 or -ENOMEM. Nothing is to be freed. */
int losses_make(struct losses *x, const struct run *r);
/* In one line, those that matter or all; nothing when there are none. */
void losses_words(const struct losses *x, bool all, struct bytes *out);
/* The member "losses": a list, empty when there are none. */
void losses_json(const struct losses *x, struct json *j);

#endif
