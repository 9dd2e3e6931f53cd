/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracefile.h - a trace as a file: its name's ending says how it is written.
 */
#ifndef SONDE_OUTPUT_TRACEFILE_H
#define SONDE_OUTPUT_TRACEFILE_H

#include "output/outfile.h"
#include "sink/trace/trace.h"

/* All of them, for people. */
#define TRACEFILE_ENDINGS ".trace, .json, .json.gz, .tar.gz or .pftrace"

struct tracefile_kind;

/* NULL: no ending says how a file of that name is to be written. */
const struct tracefile_kind *tracefile_kind(const char *path);
/* Whether viewers open so much of it. */
bool tracefile_suits(const struct tracefile_kind *k, uint64_t events);
/* Write it; out->path says where. 0, or -errno with a sentence. */
int tracefile_write(struct outfile *out, struct trace *t, const struct tracefile_kind *k,
		    const char *path, struct trace_count *n, struct err *e);

#endif
