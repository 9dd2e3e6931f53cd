/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.h - which instant of an ended recording `sonde top` shows, and the keys that move it. It
 * reads no recording and no clock.
 */
#ifndef SONDE_TOP_REPLAY_H
#define SONDE_TOP_REPLAY_H

#include "live/now.h"

struct replay {
	struct now_span span;
	int64_t at_ns;   /* wall time that is shown */
	int64_t tick_ns; /* monotonic time up to which was played */
	unsigned speed;
	bool plays;
};

enum { REPLAY_SPEED_MOST = 64 };

/* at_ns: since the recording's begin. */
void replay_init(struct replay *r, const struct now_span *span, int64_t at_ns);
/* Whether the key is one of a replay's: then it is done. */
bool replay_key(struct replay *r, int key, int64_t mono_ns);
/* Play on up to mono_ns; at the last sample it stays. */
void replay_tick(struct replay *r, int64_t mono_ns);
/* "replay 4.00 s of 10.0 s", and how it plays. */
void replay_text(const struct replay *r, char *out, size_t size);

#endif
