/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lustre_statistics.h - what the statistics of Lustre's clients say: files named stats of the file
 * system (llite) and of the requests to each of its targets (osc, mdc).
 *
 * Pure. The text is hostile and NUL-terminated.
 */
#ifndef SONDE_SOURCE_STORAGE_LUSTRE_STATISTICS_H
#define SONDE_SOURCE_STORAGE_LUSTRE_STATISTICS_H

#include "core/metric.h"

enum {
	LUSTRE_KINDS = 3,
	LUSTRE_ROWS_MAX = 34, /* of one kind */
	LUSTRE_MEASURED = 38, /* of all; the derived rows are behind them */
	LUSTRE_METRICS = LUSTRE_MEASURED + 4,
};

struct lustre_line;

struct lustre_kind {
	const char *directory;
	const struct metric *metrics;
	uint32_t nmetrics;
	const struct lustre_line *lines;
	size_t nlines;
};

extern const struct metric lustre_metrics[LUSTRE_METRICS];
extern const struct lustre_kind lustre_kinds[LUSTRE_KINDS];

/* Why a row has no value. */
enum lustre_lack {
	LUSTRE_UNTOLD = -1,     /* it has no line in a text that is not whole */
	LUSTRE_UNTIMED = -2,    /* this version of Lustre does not time it */
	LUSTRE_UNREADABLE = -3, /* its line holds no such number */
	LUSTRE_NOT_YET = -4,    /* nothing has been timed yet */
};

/* The value of each row of the kind, or an enum lustre_lack. 0; -EBADMSG when these are no
 * statistics. */
int lustre_statistics(const struct lustre_kind *k, const char *text, bool whole,
		      int64_t value[LUSTRE_ROWS_MAX]);

#endif
