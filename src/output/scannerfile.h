/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scannerfile.h - a run as a database of Scanner's with one job: directory/jobs/ID/profile_*.bin
 * and the descriptors.
 */
#ifndef SONDE_OUTPUT_SCANNERFILE_H
#define SONDE_OUTPUT_SCANNERFILE_H

#include "console/written.h"
#include "core/frame/run.h"

/* Each file whole or not at all; directories are made when they are not there. 0 or -errno. */
int scannerfile_write(struct run *r, const char *directory, struct written *w, struct err *e);

#endif
