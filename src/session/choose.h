/* SPDX-License-Identifier: Apache-2.0 */
/*
 * choose.h - the recording a command works on: the one that is named, or the newest here.
 */
#ifndef SONDE_SESSION_CHOOSE_H
#define SONDE_SESSION_CHOOSE_H

#include "console/progress.h"
#include "core/frame/run.h"

#include <limits.h>

struct choice {
	const char *path;
	struct run *run; /* the caller closes it */
	char newest[PATH_MAX];
	struct progress progress;
};

/* Open the only operand, or the newest recording here, and then say which ("showing DIR").
 * Returns EXIT_OK, or EXIT_USAGE or EXIT_FAILED, and then it has said why. */
int choose_recording(struct choice *c, const char *verb, const char *doing, int noperands,
		     char **operands);

#endif
