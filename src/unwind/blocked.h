/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blocked.h - the stack of a thread that is blocked, from where it stands and what its stack holds.
 *
 * The kernel tells only its stack pointer and where it is in the code, no other register. A frame
 * that needs the frame pointer is looked for where a return address lies whose call leads to it.
 */
#ifndef SONDE_UNWIND_BLOCKED_H
#define SONDE_UNWIND_BLOCKED_H

#include "unwind/frame.h"
#include "unwind/module.h"
#include "unwind/profile.h"
#include "unwind/space.h"

struct blocked {
	struct modules *modules;
	struct rows *rows;
	struct starts *starts; /* MODULES_MAX of them */
	struct space *space;
	struct stack stack; /* the result: flags FRAME_CUT, FRAME_LOST_WAY or 0 */
};

void blocked_unwind(struct blocked *b, uint64_t sp, uint64_t pc, const struct stack_copy *copy);

/* What kind of call ends right before an address. */
enum call {
	CALL_NONE,
	CALL_ELSEWHERE, /* to another function: right only if that one jumped */
	CALL_SOMEWHERE, /* by a pointer */
	CALL_TO,
};
/* code: n bytes that end there. CALL_TO: to *target, relative to the address. CALL_SOMEWHERE:
 * *slot, when it is not 0, is where the pointer lies, likewise. Never CALL_ELSEWHERE. */
enum call call_before(const uint8_t *code, size_t n, int64_t *target, int64_t *slot);
/* How far the frame pointer lies above the stack pointer in a function that begins with this code.
 * False: it does not tell. */
bool frame_of_prologue(const uint8_t *code, size_t n, uint64_t *size);

#endif
