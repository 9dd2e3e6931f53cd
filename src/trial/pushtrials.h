/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pushtrials.h - a batch or a sweep of the store as what a push sends of it.
 *
 * {0} is empty and safe to free.
 */
#ifndef SONDE_TRIAL_PUSHTRIALS_H
#define SONDE_TRIAL_PUSHTRIALS_H

#include "base/err.h"
#include "base/pool.h"
#include "push/push.h"

#include <limits.h>

struct pushtrials {
	struct push_trials all;
	char beside[PATH_MAX]; /* the directory of the store, for a journal */
	struct pool pool;
};

/* Does the word name trials, "bench:3" or "sweep:NAME", and no recording? */
bool pushtrials_is(const char *word);
/* store NULL: the user's. 0; -EINVAL or -ENOENT with a sentence: there are none of that name;
 * -errno. Free in either case. */
int pushtrials_read(struct pushtrials *x, const char *store, const char *word, struct err *e);
void pushtrials_free(struct pushtrials *x);

#endif
