/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openmetrics.h - what metrics and devices are called in OpenMetrics.
 */
#ifndef SONDE_SINK_OPENMETRICS_H
#define SONDE_SINK_OPENMETRICS_H

#include "base/bytes.h"

/* Append the family's name: sonde_disk_read_bytes. */
void openmetrics_name(struct bytes *b, const char *metric);
/* As strcmp, of the names that two metrics have there. */
int openmetrics_compare(const char *a, const char *b);
/* Append what a device of this metric is labelled by: disk. Words that label other things are
 * taken. */
void openmetrics_label(struct bytes *b, const char *metric);
/* Append the lines that begin a family. unit and help may be NULL or empty; the unit is written
 * where the name ends with it, as OpenMetrics has it. */
void openmetrics_family(struct bytes *b, const char *name, bool counter, const char *unit,
			const char *help);

#endif
