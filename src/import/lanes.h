/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lanes.h - the tracks of spans that come in no order and may overlap: each goes to the first lane
 * of its owner on which it nests, so that no two spans of a track cross.
 *
 * Memory is bounded: a lane remembers the LANES_SPANS that end last, and a span that begins before
 * the end of what it forgot goes to the next one. The last lane takes everything.
 */
#ifndef SONDE_IMPORT_LANES_H
#define SONDE_IMPORT_LANES_H

#include "import/timeline.h"

enum { LANES_SPANS = 128, LANES_OF_ONE = 64, LANES_OWNERS_MAX = 4096 };

/* Whose spans they are; name is that of the first lane, others may be NULL. */
struct lane_owner {
	const char *name, *pid, *tid, *process, *rank;
};

struct lanes {
	struct lanes_of *of; /* by their keys' hash */
	uint32_t n, cap;
	uint64_t crossing; /* spans on a last lane that may cross others */
};

/* The track of a span: 0 when there are too many. */
uint32_t lanes_track(struct lanes *l, struct timeline *line, const struct lane_owner *owner,
		     int64_t begin_ns, int64_t end_ns);
/* Of what is no span: the first lane. */
uint32_t lanes_home(struct lanes *l, struct timeline *line, const struct lane_owner *owner);
void lanes_free(struct lanes *l);

#endif
