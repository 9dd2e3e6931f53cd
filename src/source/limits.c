/* SPDX-License-Identifier: Apache-2.0 */
#include "source/limits.h"

#include "base/text/number.h"

#include <stdio.h>
#include <string.h>

const struct limit_row limit_rows[LIMIT_ROWS] = {
	{ "job.limit.cpu_seconds", "Max cpu time", RLIMIT_CPU },
	{ "job.limit.file_bytes", "Max file size", RLIMIT_FSIZE },
	{ "job.limit.data_bytes", "Max data size", RLIMIT_DATA },
	{ "job.limit.stack_bytes", "Max stack size", RLIMIT_STACK },
	{ "job.limit.core_bytes", "Max core file size", RLIMIT_CORE },
	{ "job.limit.address_space_bytes", "Max address space", RLIMIT_AS },
	{ "job.limit.locked_bytes", "Max locked memory", RLIMIT_MEMLOCK },
	{ "job.limit.processes_count", "Max processes", RLIMIT_NPROC },
	{ "job.limit.open_files_count", "Max open files", RLIMIT_NOFILE },
};

const char *limit_label(const struct limit_row *row)
{
	return row->key + sizeof "job." - 1;
}

void limits_take(const struct rlimit *rlimits, struct limits *out)
{
	for (size_t i = 0; i < LIMIT_ROWS; i++) {
		rlim_t soft = rlimits[limit_rows[i].resource].rlim_cur;

		out->value[i] =
			soft == RLIM_INFINITY || soft > INT64_MAX ? LIMIT_NONE : (int64_t)soft;
	}
}

static int64_t value_of(const char *text, const char *line)
{
	const char *p = number_find_line(text, line);
	int64_t value;

	if (!p)
		return LIMIT_UNKNOWN;
	p = number_skip_blanks(p);
	if (strncmp(p, "unlimited", 9) == 0)
		return LIMIT_NONE;
	return number_i64(&p, &value) && value >= 0 ? value : LIMIT_UNKNOWN;
}

void limits_parse(const char *text, struct limits *out)
{
	for (size_t i = 0; i < LIMIT_ROWS; i++)
		out->value[i] = value_of(text, limit_rows[i].line);
}

int limits_read(const struct root *proc, pid_t pid, struct limits *out)
{
	char path[32], text[2048];
	ssize_t n;

	snprintf(path, sizeof path, "%d/limits", (int)pid);
	n = root_read(proc, path, text, sizeof text);
	if (n < 0)
		return (int)n;
	limits_parse(text, out);
	return 0;
}
