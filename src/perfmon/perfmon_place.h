/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfmon_place.h - where perfmon's files go: below -d, in -p, or for a benchmark test in
 * perfmetrics/{system}/{partition}/{env}/{name}.
 */
#ifndef SONDE_PERFMON_PERFMON_PLACE_H
#define SONDE_PERFMON_PERFMON_PLACE_H

#include "base/err.h"

#include <limits.h>
#include <stdbool.h>

struct perfmon_names {
	const char *save_dir, *prefix;               /* NULL or "": here; none */
	const char *system, *partition, *env, *name; /* all or none of them */
};

struct perfmon_place {
	char save_dir[PATH_MAX];  /* of the log */
	char directory[PATH_MAX]; /* of all else */
	bool benchmark;           /* whose tables of all jobs are in one file */
};

/* Absolute, with ~, $NAME and ${NAME} in -d replaced. 0; -EINVAL when names are missing or are no
 * names, -errno. Nothing is made. */
int perfmon_place_find(struct perfmon_place *p, const struct perfmon_names *n, struct err *e);
/* Make the directories that are not there, for their owner only. 0 or -errno. */
int perfmon_place_make(const struct perfmon_place *p, struct err *e);

#endif
