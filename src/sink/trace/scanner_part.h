/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scanner_part.h - what the parts of the export to Scanner share. Private to sink/scanner*.c.
 */
#ifndef SONDE_SINK_TRACE_SCANNER_PART_H
#define SONDE_SINK_TRACE_SCANNER_PART_H

#include "base/bytes.h"
#include "sink/trace/scanner.h"

struct scanner_export {
	struct run *run;
	int64_t base_utc;     /* intervals count from there */
	uint32_t *first_pack; /* of each track, in pack; [tracks + 1] */
	uint32_t *placed;     /* of each track: packs, and spans that are events */
	uint32_t *pack;       /* of run.packs, by track */
	struct bytes out;
};

/* Tracks are numbered: instances, then the nodes themselves. */
static inline uint32_t scanner_track(const struct run *r, uint32_t node, uint32_t instance)
{
	return instance ? instance : r->ninstances + node;
}

struct scanner_thread_head {
	int64_t node;
	const char *kind, *tag;
	int64_t number;
};
/* One thread: the spans of the instance, or, 0, of the node itself. 0 or -errno. */
int scanner_put_thread(struct scanner_export *x, uint32_t node, uint32_t instance,
		       const struct scanner_thread_head *h, FILE *out, struct err *e);
bool scanner_is_master(const struct scanner_export *x, uint32_t node);

#endif
