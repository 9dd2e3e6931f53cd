/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine.h - the machines of a run in a line each: processors, memory, GPUs, system, what they run
 * in. From metadata host.* and node.*; what is not known is left out.
 */
#ifndef SONDE_REPORT_MACHINE_H
#define SONDE_REPORT_MACHINE_H

#include "base/bytes.h"
#include "report/metadata.h"

#include <stdio.h>

/* "2 x AMD EPYC 7763 (128 cores, 256 threads), 503.4 GiB, 4 x NVIDIA A100; Linux 5.14 ..."; nothing
 * when nothing is known. Not escaped. */
void machine_words(struct bytes *out, const struct metadata *m, uint32_t node);
/* The different machines of a run and how many nodes each, for a terminal. */
void machine_print(const struct run *r, FILE *out);

enum { MACHINES_MAX = 32 }; /* different ones; further ones are left out */

/* Machines that are alike, in the order of their first nodes. */
struct machines {
	struct machine {
		char *words;
		uint32_t nodes; /* hosts that are such a one */
	} * row;
	uint32_t n;
};

int machines_make(struct machines *x, const struct run *r); /* 0 or -ENOMEM */
void machines_free(struct machines *x);

#endif
