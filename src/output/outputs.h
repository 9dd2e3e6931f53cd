/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outputs.h - what is reported of the files that a command wrote: as JSON on standard output when
 * --json asks for it, {"schema": "sonde/<verb>/1", "recording": ..., "files": [...], "damages": N},
 * and on stderr what the recording lost or left out.
 *
 * Without `json` nothing is printed of the files: the command reports them in its own words.
 */
#ifndef SONDE_OUTPUT_OUTPUTS_H
#define SONDE_OUTPUT_OUTPUTS_H

#include "base/bytes.h"
#include "core/frame/run.h"

struct outputs {
	const char *verb, *recording;
	const char *to; /* for outputs_in */
	uint32_t files;
	bool json, keep;
	struct bytes paths; /* each with its NUL; with json or keep */
};

void outputs_add(struct outputs *w, const char *path);
/* A file of that name in the directory `to`; w is the struct outputs. */
void outputs_in(void *w, const char *name);
/* Print it, free it. An exit code. */
int outputs_end(struct outputs *w, uint32_t damages);

/* One line; nothing when nothing was lost that changes what a reader believes. */
void outputs_report_losses(const char *verb, const struct run *r);

#endif
