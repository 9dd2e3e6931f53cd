/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame.h - from one frame to its caller, by the rules of the module's .eh_frame or .debug_frame.
 *
 * Rules are remembered per address in a compact form; those that need an expression (PLT entries,
 * the frame of a signal) are evaluated each time. Memory is what was copied of the stack, nothing
 * else.
 */
#ifndef SONDE_UNWIND_FRAME_H
#define SONDE_UNWIND_FRAME_H

#include "unwind/module.h"
#include "unwind/registers.h"

struct stack_copy {
	uint64_t at; /* the address of the first byte */
	const uint8_t *data;
	uint64_t size;
};

enum step {
	STEP_CALLER, /* the registers are the caller's */
	STEP_SIGNAL, /* likewise, and its pc is where it was interrupted */
	STEP_END,    /* it has none: the outermost frame */
	STEP_CUT,    /* what is needed lies behind what was copied */
	STEP_LOST,   /* the rules are missing, or make no sense */
};

struct rows; /* what is remembered */

struct rows *rows_make(void); /* NULL: no memory */

/* r: the registers in a frame whose pc has this address in the module; first: of the innermost
 * frame. number is the module's. */
enum step frame_step(struct rows *rows, struct module *m, uint32_t number, uint64_t address,
		     struct registers *r, const struct stack_copy *stack);
/* Without rules, by the chain of frame pointers. */
enum step frame_step_by_pointer(struct registers *r, const struct stack_copy *stack);

#endif
