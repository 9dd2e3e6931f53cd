/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interrupts.h - how many interrupts each CPU has taken, of all kinds: the sums of the columns of
 * /proc/interrupts, proc_interrupts(5).
 *
 * The file has a number for each kind and CPU, so it is fed in pieces of any size. The text is
 * hostile. Rows that do not have a number for every CPU count for none, nor do ERR and
 * MIS, which are counted for the machine and look like any other where it has one CPU.
 */
#ifndef SONDE_SOURCE_INTERRUPTS_H
#define SONDE_SOURCE_INTERRUPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum interrupts_part { INTERRUPTS_HEADER, INTERRUPTS_LABEL, INTERRUPTS_COUNTS, INTERRUPTS_REST };

struct interrupts {
	uint32_t ncolumns, nrows; /* rows that counted */
	uint32_t *cpu;            /* of each column */
	int64_t *sum;
	/* of the line that is being read */
	enum interrupts_part part;
	int64_t *row;
	uint32_t label; /* its last three characters */
	uint32_t column;
	int64_t number; /* -1: none has begun */
};

int interrupts_init(struct interrupts *x); /* 0 or -ENOMEM */
void interrupts_free(struct interrupts *x);

void interrupts_begin(struct interrupts *x);
void interrupts_feed(struct interrupts *x, const char *text, size_t n);
/* Was that a whole file? Then cpu[] and sum[] hold ncolumns figures. */
bool interrupts_end(const struct interrupts *x);

#endif
