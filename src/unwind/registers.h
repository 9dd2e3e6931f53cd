/* SPDX-License-Identifier: Apache-2.0 */
/*
 * registers.h - what differs between processors: registers by their DWARF numbers.
 */
#ifndef SONDE_UNWIND_REGISTERS_H
#define SONDE_UNWIND_REGISTERS_H

#include "source/program/stacks_page.h"

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

#endif
