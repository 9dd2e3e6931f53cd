/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place.h - where perfmon's files go: below -d, in -p, or for a benchmark test in
 * perfmetrics/{system}/{partition}/{env}/{name}; and the log among them.
 *
 * Of the log: "time | level | host | module:function | line | message", a line and a write each, so
 * that the nodes of a job may share the file. Hostile text is escaped. What cannot be written is
 * not there: logging never fails.
 */
#ifndef SONDE_PERFMON_PLACE_H
#define SONDE_PERFMON_PLACE_H

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

enum log_level { LEVEL_DEBUG, LEVEL_INFO, LEVEL_WARNING, LEVEL_ERROR };

struct logfile {
	int fd; /* 0: not open */
	const char *host;
	bool debug; /* else such lines are left out */
};

/* Appends to ska_sdp_monitoring_metrics.log in the directory; with debug to a file of this host's
 * own, ska_sdp_monitoring_metrics_HOST.log. host is borrowed. 0, or -errno with a sentence. */
int logfile_open(struct logfile *l, const char *directory, const char *host, bool debug,
		 struct err *e);
void logfile_close(struct logfile *l);
void logfile_write(const struct logfile *l, enum log_level level, const char *function, int line,
		   const char *format, ...) __attribute__((format(printf, 5, 6)));

#define log_debug(l, ...)   logfile_write(l, LEVEL_DEBUG, __func__, __LINE__, __VA_ARGS__)
#define log_info(l, ...)    logfile_write(l, LEVEL_INFO, __func__, __LINE__, __VA_ARGS__)
#define log_warning(l, ...) logfile_write(l, LEVEL_WARNING, __func__, __LINE__, __VA_ARGS__)
#define log_error(l, ...)   logfile_write(l, LEVEL_ERROR, __func__, __LINE__, __VA_ARGS__)

#endif
