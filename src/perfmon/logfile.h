/* SPDX-License-Identifier: Apache-2.0 */
/*
 * logfile.h - perfmon's log: "time | level | host | module:function | line | message", a line and a
 * write each, so that the nodes of a job may share the file.
 *
 * Hostile text is escaped. What cannot be written is not there: logging never fails.
 */
#ifndef SONDE_PERFMON_LOGFILE_H
#define SONDE_PERFMON_LOGFILE_H

#include "base/err.h"

#include <stdbool.h>

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
