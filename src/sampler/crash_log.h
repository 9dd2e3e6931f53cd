/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crash_log.h - what the kernel's log (/dev/kmsg) says of the job's processes that crashed.
 *
 * It is opened at its end when recording begins, and read once, when the job has ended, if a
 * process may have crashed. A record counts if its pid is that of a process or thread of the job
 * which ended by that signal. Others write there, too, and names are theirs: all of it is hostile.
 * The kernel leaves out records that come too fast, so that one that is missing says nothing.
 */
#ifndef SONDE_SAMPLER_CRASH_LOG_H
#define SONDE_SAMPLER_CRASH_LOG_H

#include "base/err.h"
#include "core/crash.h"
#include "core/sample.h"
#include "sampler/tree/tree.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { CRASH_LOG_COMM = 64, CRASH_LOG_FILE = 256 };

/* What a record says. */
struct crash_line {
	pid_t tid;
	char comm[CRASH_LOG_COMM]; /* of that thread */
	int signal;
	enum crash_kind kind;
	/* Of the code: the file's name alone, or ""; the place in its mapping, that mapping's size,
	 * and its offset in the file, -1: not told. */
	char file[CRASH_LOG_FILE];
	uint64_t at, size;
	int64_t offset;
};

/* One record, as a read of /dev/kmsg gives it. False: it is none of a crash, or not the kernel's.
 */
bool crash_line_parse(struct crash_line *out, const char *record);

/* *fd is 0 when it cannot be read: -errno with a sentence. */
int crash_log_open(int *fd, struct err *e);
/* Labels of the processes that crashed (core/crash.h). failed: the job did, or it is not known;
 * then a process counts, too, of which nobody knows how it ended. words: of the job's command, or
 * NULL.
 */
void crash_log_say(int fd, struct tree *t, bool failed, char *const *words, struct sample *s);

#endif
