/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watched.h - processes that `top -p` watches: a recorder of their own writes a recording that is
 * removed when it ends, so that they are looked at as any job is.
 */
#ifndef SONDE_SESSION_WATCHED_H
#define SONDE_SESSION_WATCHED_H

#include "session/attached.h"

struct watched {
	char directory[PATH_MAX]; /* of the recording */
	pid_t recorder;
};

/* Record those of a list, as "1234,1235", until watched_end or the end of this process. 0; else an
 * exit code, and then it has said why. */
int watched_begin(struct watched *w, const char *pids, int64_t interval_ns);
void watched_end(struct watched *w);

#endif
