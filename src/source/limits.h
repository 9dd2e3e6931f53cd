/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limits.h - the resource limits of a process (ulimit): which are recorded, and by what names.
 *
 * Soft limits, which are those that bind. LIMIT_NONE stands for unlimited, LIMIT_UNKNOWN for what
 * could not be read.
 */
#ifndef SONDE_SOURCE_LIMITS_H
#define SONDE_SOURCE_LIMITS_H

#include "base/root.h"

#include <stdint.h>
#include <sys/resource.h>

enum { LIMIT_ROWS = 9 };
#define LIMIT_NONE    INT64_C(-1)
#define LIMIT_UNKNOWN INT64_C(-2)

struct limit_row {
	const char *key, *line; /* of the job; as /proc/PID/limits calls it */
	__rlimit_resource_t resource;
};
extern const struct limit_row limit_rows[LIMIT_ROWS];

/* Of a process: "limit.open_files_count". */
const char *limit_label(const struct limit_row *row);

struct limits {
	int64_t value[LIMIT_ROWS];
};

/* Those of rlimits[RLIM_NLIMITS]. */
void limits_take(const struct rlimit *rlimits, struct limits *out);
/* Of a process; its file is for everybody to read. 0 or -errno. */
int limits_read(const struct root *proc, pid_t pid, struct limits *out);
/* Pure: text in, numbers out. The text is hostile. */
void limits_parse(const char *text, struct limits *out);

#endif
