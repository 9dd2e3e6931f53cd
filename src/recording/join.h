/* SPDX-License-Identifier: Apache-2.0 */
/*
 * join.h - opens a recording, or a directory of them, as one run (core/frame/run.h).
 *
 * Every byte is hostile. Damage is reported in run->damages and everything undamaged is read; an
 * error is returned only when there is nothing to read. A recording may be growing while it is
 * read.
 */
#ifndef SONDE_RECORDING_JOIN_H
#define SONDE_RECORDING_JOIN_H

#include "core/frame/run.h"

/* path: a .sonde file, a .tail file, or a directory with node-*.sonde. 0, or -errno with a
 * sentence: -ENOENT no such path; -ENODATA an empty directory or no recording; -EPROTO a future
 * format version. */
int run_open(struct run **r, const char *path, struct err *e);

/* Who wants to know how far it is: file() is told before each recording is read, by
 * run_open_showing and by every pass over the run's values; at == of says that a pass is over. */
struct run_progress {
	void (*file)(void *ctx, uint32_t at, uint32_t of);
	void *ctx;
};
int run_open_showing(struct run **r, const char *path, const struct run_progress *t, struct err *e);
void run_close(struct run *r);

/* A recording is a directory that holds node-*.sonde, whatever its name. */
bool run_is_recorded(const char *dir);
/* The newest recording right below dir, by the time in its newest head; else dir itself when it is
 * one. Writes its path to out. 0 or -ENOENT. */
int run_newest(const char *dir, char *out, size_t size, struct err *e);

#endif
