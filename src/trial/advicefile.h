/* SPDX-License-Identifier: Apache-2.0 */
/*
 * advicefile.h - advice as files: the packages of what leads, and what to try next as the
 * specification of a sweep.
 */
#ifndef SONDE_TRIAL_ADVICEFILE_H
#define SONDE_TRIAL_ADVICEFILE_H

#include "bench/advice.h"

/* Requirements for pip, each package with its version. 0, or -errno with a sentence: nothing leads,
 * or its packages are not known. */
int advicefile_lock(const char *path, const struct campaign *c, const struct advice *a,
		    struct err *e);
/* What of the next steps a sweep can run; it says why it cannot run the others. store: as
 * history_options has it. 0, or -errno with a sentence: it can run none. */
int advicefile_spec(const char *path, const char *store, const struct campaign *c,
		    const struct advice *a, struct err *e);

#endif
