/* SPDX-License-Identifier: Apache-2.0 */
/*
 * writer.h - appends samples to a node's recording so that nothing written is ever lost again.
 *
 * Two files, both made at open: <stem>.sonde (sealed blocks, append-only) and <stem>.tail (two
 * preallocated slots overwritten in turn). One write a sample, one append a block, a sync per
 * sync_ns; no rename, no lock, no metadata operation after the start. Nothing is allocated after
 * open.
 */
#ifndef SONDE_RECORDING_WRITER_H
#define SONDE_RECORDING_WRITER_H

#include "base/err.h"
#include "core/sample.h"
#include "recording/spans.h"

struct writer;

struct writer_options {
	int64_t sync_ns;     /* fdatasync at least this often; 0 = never; default 10 s */
	uint32_t chunk_rows; /* seal after this many rows; 0 = 300 */
};

/* Make node-<host>.sonde, or node-<host>.2.sonde ... when taken, in the directory dirfd (mode
 * 0600); characters of host that have no place in a file name become '_'. 0 or -errno. */
int writer_open(struct writer **w, int dirfd, const char *host, const struct writer_options *o,
		struct err *e);

/* Record the sample's events and values, then clear its events. On -ENOSPC and other I/O errors the
 * writer stays usable: what cannot be written is dropped and counted, what is on disk stays whole,
 * and each later call tries again. */
int writer_sample(struct writer *w, struct sample *s, struct err *e);

/* Record the sample's events alone, between samples; as writer_sample otherwise. */
int writer_events(struct writer *w, struct sample *s, struct err *e);

/* Append spans of one track at once; they are in no sample, and on the disk when the next block is
 * synchronised. Spans keep to the limits of recording/spans.h. Memory for it is taken by the first
 * call. */
int writer_spans(struct writer *w, const struct spans *s, struct err *e);

/* Seal what is open; more may follow. */
int writer_seal(struct writer *w, struct err *e);

/* Seal what is open and mark the recording complete: whoever opens it from now on reads all of it,
 * and killing the writer takes nothing from it. Only writer_close may follow. */
int writer_end(struct writer *w, struct err *e);

/* The same where it has not been done, then sync and close: a power cut takes nothing from it
 * either. Frees w whatever happens. */
int writer_close(struct writer *w, struct err *e);
/* Let go without sealing, as a kill would (tests). */
void writer_abandon(struct writer *w);

struct writer_figures {
	uint64_t bytes; /* written, overwrites included */
	uint64_t samples, dropped, blocks, syncs;
	const char *name; /* file name of the .sonde file in its directory; borrowed */
};
void writer_figures(const struct writer *w, struct writer_figures *out);

#endif
