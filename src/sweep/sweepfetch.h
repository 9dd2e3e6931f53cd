/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweepfetch.h - a script that a specification names by its address.
 *
 * Nothing is run that nobody vouched for: its SHA-256 stands in the specification, or is told once,
 * with where the script was put, and nothing runs. What was fetched is kept beside the stacks by
 * its digest, and not fetched again.
 */
#ifndef SONDE_SWEEP_SWEEPFETCH_H
#define SONDE_SWEEP_SWEEPFETCH_H

#include "sweep/sweeping.h"

/* sha256: as the specification says, or NULL. 0 and path; or -errno with a sentence. */
int sweepfetch(struct sweeping *x, const char *url, const char *sha256, char path[PATH_MAX],
	       struct err *e);

#endif
