/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cascadefile.h - the start-up of pools, printed or as files, as `phases --cascade` wants it.
 */
#ifndef SONDE_OUTPUT_CASCADEFILE_H
#define SONDE_OUTPUT_CASCADEFILE_H

#include "core/frame/run.h"

#include <stdbool.h>

struct cascade_wish {
	const char *directory; /* of ACCOUNT-POOL.dat, .plot and .png; NULL: no files */
	bool local, as_graph_py, json;
};

/* The exit code. */
int cascadefile_print(const struct run *r, const struct cascade_wish *w);

#endif
