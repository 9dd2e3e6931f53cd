/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reportfile.h - a recording's page as a file, as `report` and `perfmon -r` write it.
 */
#ifndef SONDE_CMD_REPORTFILE_H
#define SONDE_CMD_REPORTFILE_H

#include "cmd/outfile.h"
#include "core/run.h"

/* report.html in the directory, which is made when it is not there; out->path says where. 0, or
 * -errno with a sentence. */
int reportfile_write(struct outfile *out, struct run *r, const char *directory, struct err *e);

#endif
