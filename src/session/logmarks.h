/* SPDX-License-Identifier: Apache-2.0 */
/*
 * logmarks.h - --mark-log and --mark-rule: a process that follows the job's logs (job/marklog.h).
 */
#ifndef SONDE_SESSION_LOGMARKS_H
#define SONDE_SESSION_LOGMARKS_H

#include "base/text/args.h"
#include "job/marklog.h"

/* False when the options make no sense, and then it has said why. */
bool logmarks_read(struct mark_log *l, const struct option_list *logs,
		   const struct option_list *rules);
/* The socket that ends it, once it is shut down; 0: there is nothing to follow, or it could not be
 * started, which is said. marks: the job's file of marks; it stays where it is. */
int logmarks_start(struct mark_log *l, const char *marks);

#endif
