/* SPDX-License-Identifier: Apache-2.0 */
/*
 * used.h - what the job used, as lines of the summary on a terminal: cores, memory, CPU
 * time, processes, input and output.
 */
#ifndef SONDE_REPORT_TEXT_USED_H
#define SONDE_REPORT_TEXT_USED_H

#include "report/lines.h"
#include "report/summary/summary.h"

/* A line for each that is known. */
void terminal_used(struct lines *l, const struct summary *s);
/* All of them in one line: "1.85 of 2 cores, 1.2 of 8 GiB memory, read 120 MiB, wrote 300 MiB". */
void terminal_used_briefly(struct lines *l, const struct summary *s);

#endif
