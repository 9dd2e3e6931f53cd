/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.h - what the handles of include/sonde.h hold. Private to src/lib.
 */
#ifndef SONDE_LIB_RUN_H
#define SONDE_LIB_RUN_H

#include <sonde.h>

struct run;

struct sonde_run {
	struct run *run;
	bool being_read; /* by a sonde_rows: the run has one place where it is read */
};

/* error may be NULL; code is an errno of either sign; an empty text gets the errno's own. */
void sonde_error_set(struct sonde_error *error, int code, const char *text);

#endif
