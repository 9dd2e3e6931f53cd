/* SPDX-License-Identifier: Apache-2.0 */
/*
 * written.h - the files a command wrote, as JSON on standard output when --json asks for it:
 * {"schema": "sonde/<verb>/1", "recording": ..., "files": [...], "damages": N}.
 *
 * Without `json` nothing is printed: the command says it in its own words.
 */
#ifndef SONDE_CONSOLE_WRITTEN_H
#define SONDE_CONSOLE_WRITTEN_H

#include "base/bytes.h"

struct written {
	const char *verb, *recording;
	const char *to; /* for written_in */
	uint32_t files;
	bool json, keep;
	struct bytes paths; /* each with its NUL; with json or keep */
};

void written_add(struct written *w, const char *path);
/* A file of that name in the directory `to`; w is the struct written. */
void written_in(void *w, const char *name);
/* Print it, free it. An exit code. */
int written_end(struct written *w, uint32_t damages);

#endif
