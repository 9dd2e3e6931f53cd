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

#include "source/program/stacks_page.h"
#include "unwind/module.h"
#include "unwind/profile.h"
#include "unwind/space.h"

/*
 * What differs between processors: registers by their DWARF numbers.
 */

#if defined(__aarch64__)
enum { REG_FP = 29, REG_RA = 30, REG_SP = 31, REG_PC = 32, REG_NUMBER_OF = 33 };
/* Those that a function gives back as it got them: what rows of unwinding tell of. */
#define REGS_SAVED                                                                                 \
	{                                                                                          \
		19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30                                     \
	}
enum { REGS_NSAVED = 12, REGS_RA_AT = 11 };
#else
enum { REG_FP = 6, REG_SP = 7, REG_RA = 16, REG_PC = 16, REG_NUMBER_OF = 17 };
#define REGS_SAVED                                                                                 \
	{                                                                                          \
		3, 6, 12, 13, 14, 15, 16                                                           \
	}
enum { REGS_NSAVED = 7, REGS_RA_AT = 6 };
#endif

struct registers {
	uint64_t v[REG_NUMBER_OF];
	uint64_t known; /* bit i: v[i] */
};

static inline bool register_known(const struct registers *r, uint64_t i)
{
	return i < REG_NUMBER_OF && r->known >> i & 1;
}

/* A return address may carry a signature in its upper bits (pointer authentication). */
static inline uint64_t address_strip(uint64_t address)
{
#if defined(__aarch64__)
	return address & ((UINT64_C(1) << 48) - 1);
#else
	return address;
#endif
}

/* From the kernel's order, as STACKS_REGISTERS asks for them. */
static inline void registers_of_sample(struct registers *r, const uint64_t *sampled)
{
#if defined(__aarch64__)
	for (unsigned i = 0; i < REG_NUMBER_OF; i++)
		r->v[i] = sampled[i];
#else
	static const uint8_t at[REG_NUMBER_OF] = { 0,  3,  2,  1,  4,  5,  6,  7, 9,
						   10, 11, 12, 13, 14, 15, 16, 8 };

	for (unsigned i = 0; i < REG_NUMBER_OF; i++)
		r->v[i] = sampled[at[i]];
#endif
	r->known = (UINT64_C(1) << REG_NUMBER_OF) - 1;
}

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
/* Where the function begins whose frame was stepped from there: of one that was interrupted by a
 * signal, and where it is not known, the address itself. */
uint64_t frame_function(struct rows *rows, struct module *m, uint32_t number, uint64_t address);
/* Without rules, by the chain of frame pointers. */
enum step frame_step_by_pointer(struct registers *r, const struct stack_copy *stack);

/*
 * From the innermost frame of a stack to the outermost, by whatever finds a frame's caller.
 */

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
