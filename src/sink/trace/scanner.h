/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scanner.h - the spans of a run as Scanner's profiles: a file for each node, in its binary format.
 *
 * What was imported from Scanner comes out as it was. Of other recordings the node's own spans are
 * those of its event loop, and each other track is a reader. The format has room for 255 threads of
 * a kind and 256 names a thread; more is an error.
 */
#ifndef SONDE_SINK_TRACE_SCANNER_H
#define SONDE_SINK_TRACE_SCANNER_H

#include "core/frame/run.h"

#include <stdio.h>

struct scanner_export;

/* Once a run; it is borrowed. 0 or -errno, with a sentence. */
int scanner_export_open(struct scanner_export **x, struct run *r, struct err *e);
void scanner_export_close(struct scanner_export *x);
/* The job's id in the run, else 0. */
uint64_t scanner_export_job(const struct scanner_export *x);
/* Name of the profile of a node of the run: "profile_3.bin". */
void scanner_export_name(const struct scanner_export *x, uint32_t node, char *out, size_t size);
int scanner_export_profile(struct scanner_export *x, uint32_t node, FILE *out, struct err *e);
/* descriptor.bin of the job, and db_metadata.bin of a database with no other. */
int scanner_export_descriptor(struct scanner_export *x, FILE *out, struct err *e);
int scanner_export_database(struct scanner_export *x, FILE *out, struct err *e);

#endif
