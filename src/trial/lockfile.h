/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lockfile.h - the software of a trial as a file that makes it again: the lock of its stack or of
 * its specification, else the packages that were seen.
 *
 * Options for pip are left out, and users and passwords of addresses: they are nobody else's.
 */
#ifndef SONDE_TRIAL_LOCKFILE_H
#define SONDE_TRIAL_LOCKFILE_H

#include "base/bytes.h"
#include "push/push.h"

/* facts: of its environment; specification: of its batch, as JSON; NULL: none. The file's name, and
 * its text in out; NULL: there is none. */
const char *lockfile_make(struct bytes *out, const struct push_list *facts,
			  const char *specification);

#endif
