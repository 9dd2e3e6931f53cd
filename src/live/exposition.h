/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exposition.h - the newest samples of running jobs as text that Prometheus takes.
 *
 * Counters as they were read, gauges; of nodes and devices, not of processes. Only what is current
 * is told: nothing of a recording that ended, or of which nothing came for EXPOSITION_STALE_S; for
 * each there is sonde_recording_open and the time of its newest sample. Labels tell any two series
 * apart.
 */
#ifndef SONDE_LIVE_EXPOSITION_H
#define SONDE_LIVE_EXPOSITION_H

#include "base/bytes.h"
#include "base/err.h"
#include "recording/follow.h"

#include <stdint.h>
#include <sys/types.h>

enum { EXPOSITION_STALE_S = 300 };

/* The text format of version 0.0.4, which also the textfile collector reads, or OpenMetrics 1.0. */
enum exposition_format { EXPOSITION_TEXT = 0, EXPOSITION_OPENMETRICS };

struct exposition_run {
	const struct follow *follow;
	const char *
		path; /* absolute, of its directory: what it is called when it is not a batch job */
	const char *only; /* this .sonde file of it; NULL: all */
};

/* Replace what is in out. 0 or -ENOMEM. */
int exposition_put(struct bytes *out, const struct exposition_run *run, size_t n,
		   int64_t now_utc_ns, enum exposition_format format);

/*
 * Keeps a file of a textfile collector up to date while one recording grows.
 *
 * The file is always whole: written beside its place, then renamed. An existing file's mode is
 * kept, so that whoever wants others to read it makes it before; a new one is private (0600). It is
 * removed at the end, unless another has taken its place: what stays behind would be told for ever.
 */
struct openmetrics_file {
	const char *file;      /* what is written */
	const char *directory; /* of the recording; absolute, since it is a label */
	const char *only;      /* the recording's .sonde file */
	pid_t recorder;        /* when it is gone, that is the end, too */
	int ended;             /* a descriptor that ends when the recorder does; -1: none */
	int64_t every_ns;
	/* The file could not be written, told once: it is tried again, a full disk may have room
	 * later. */
	void (*say)(const char *sentence);
};

/* Can file be written now? Nothing is left of the trial. 0, or -errno with a sentence. */
int openmetrics_file_try(const char *file, struct err *e);
/* Until the recording ends. 0, or -errno with a sentence when that cannot be read. */
int openmetrics_file_follow(const struct openmetrics_file *t, struct err *e);

#endif
