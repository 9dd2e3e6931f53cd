/* SPDX-License-Identifier: Apache-2.0 */
/*
 * head.h - who made a recording and when: the first block of a .sonde and of a .tail file.
 *
 * Both files of a recording carry the same id, so that a tail is never read with a stranger's
 * blocks.
 */
#ifndef SONDE_RECORDING_HEAD_H
#define SONDE_RECORDING_HEAD_H

#include "base/bytes.h"

/* HEAD_MAX: of a payload; a later Sonde may append up to there. */
enum { HEAD_ID = 16, HEAD_HOST = 256, HEAD_PROGRAM = 32, HEAD_MAX = 1000 };

struct head {
	uint8_t id[HEAD_ID];        /* random */
	int64_t utc_ns, mono_ns;    /* when it was made */
	uint32_t slot;              /* bytes of a .tail's slot; 0 in a .sonde */
	char host[HEAD_HOST];       /* node 1 */
	char program[HEAD_PROGRAM]; /* version of Sonde that wrote it; "": it did not say */
	uint32_t draft;             /* of version 0; 0: it did not say */
};

/* Append the payload. */
void head_put(struct bytes *out, const struct head *h);
bool head_get(struct scan in, struct head *h); /* false when it is malformed */

#endif
