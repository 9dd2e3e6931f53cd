/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.h - what to ask the batch system for next time, as the line of a job script.
 *
 * Slurm takes a line a resource. PBS and OAR take several resources in one, so that there each
 * verdict's line holds what all of them advise, and what was asked for of the rest.
 */
#ifndef SONDE_REPORT_SUMMARY_REQUEST_H
#define SONDE_REPORT_SUMMARY_REQUEST_H

#include "report/summary/summary.h"

/* Fills `next` of all verdicts that have a resource; "" where the system has no such line. */
void requests_write(struct summary *s);

#endif
