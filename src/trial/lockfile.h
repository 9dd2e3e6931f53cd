/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lockfile.h - files that make something again: the software of a trial, and what advice is about.
 */
#ifndef SONDE_TRIAL_LOCKFILE_H
#define SONDE_TRIAL_LOCKFILE_H

#include "base/bytes.h"
#include "bench/advice.h"
#include "push/push.h"

/*
 * The software of a trial as a file that makes it again: the lock of its stack or of
 * its specification, else the packages that were seen.
 *
 * Options for pip are left out, and users and passwords of addresses: they are nobody else's.
 */

/* facts: of its environment; specification: of its batch, as JSON; NULL: none. The file's name, and
 * its text in out; NULL: there is none. */
const char *lockfile_make(struct bytes *out, const struct push_list *facts,
			  const char *specification);

/*
 * Advice as files: the packages of what leads, and what to try next as the
 * specification of a sweep.
 */

/* Requirements for pip, each package with its version. 0, or -errno with a sentence: nothing leads,
 * or its packages are not known. */
int advicefile_lock(const char *path, const struct campaign *c, const struct advice *a,
		    struct err *e);
/* What of the next steps a sweep can run; it says why it cannot run the others. store: as
 * history_options has it. 0, or -errno with a sentence: it can run none. */
int advicefile_spec(const char *path, const char *store, const struct campaign *c,
		    const struct advice *a, struct err *e);

#endif
