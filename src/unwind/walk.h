/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk.h - from the innermost frame of a stack to the outermost, by whatever finds a frame's
 * caller.
 */
#ifndef SONDE_UNWIND_WALK_H
#define SONDE_UNWIND_WALK_H

#include "unwind/frame.h"
#include "unwind/profile.h"
#include "unwind/space.h"

struct walker {
	const void *of;
	/* What is at pc; false: nothing. */
	bool (*place)(const void *of, uint64_t pc, struct place *out);
	/* To the caller of a frame that is at `place`, which pc is. */
	enum step (*step)(const void *of, const struct place *place, uint64_t pc,
			  struct registers *r);
};

/* Into s, with flags FRAME_CUT, FRAME_LOST_WAY or 0. The caller's pc is behind its call, which may
 * be a function's last instruction: what it is in is found by the byte before. */
void walk(struct stack *s, struct registers *r, const struct walker *by);

/* What is at pc, in its file's own terms where it is of one; of JIT code it is pc. */
bool walk_place(const struct space *space, const struct modules *modules, uint64_t pc,
		struct place *out);

#endif
