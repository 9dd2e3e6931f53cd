/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spans.h - spans by the thousand as a SPANS block: those of one track, column by column.
 *
 * Their order is kept. A span there has a name out of the block's list, a begin and an end;
 * what has a detail, or no end, is an event (core/phase/event.h).
 */
#ifndef SONDE_RECORDING_SPANS_H
#define SONDE_RECORDING_SPANS_H

#include "core/frame/run.h"
#include "recording/block.h"

enum { SPANS_MAX = 16384, SPAN_NAMES_MAX = 1024 }; /* of a block */

struct spans {
	uint32_t track; /* an instance of the file, or 0: the node */
	uint32_t n, nnames;
	const char *const *names;
	const uint16_t *name; /* [n]: which of them */
	const int64_t *begin_ns, *end_ns;
};

/* Append the payload of a block. raw is room for what is compressed: SPANS_RAW_MAX bytes. */
enum { SPANS_RAW_MAX = SPANS_MAX * (2 + 2 * 10) + 16 };
void spans_put(struct bytes *out, struct compressor *c, uint8_t *raw, uint32_t node,
	       const struct spans *s);

struct spans_head {
	uint32_t node, track, n, nnames;
	int64_t first_ns, last_ns; /* the earliest begin and the latest end, as it says */
	struct scan names, body;
};
/* 0 or -EBADMSG. */
int spans_head_get(struct spans_head *h, const uint8_t *payload, size_t n);
/* A name of the list, not terminated; those before it must have been taken. */
const char *spans_name_get(struct spans_head *h, size_t *n);
/* Begin, end and name of each: name[] are the list's, as they are to be. 0, -EBADMSG, -ENOMEM. */
int spans_body_get(struct spans_head *h, struct expander *x, struct bytes *raw,
		   const char *const *name, struct run_span *out);

#endif
