/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine.h - the machines of a run in a line each: processors, memory, GPUs, system, what they run
 * in. From metadata host.* and node.*; what is not known is left out.
 */
#ifndef SONDE_REPORT_MACHINE_H
#define SONDE_REPORT_MACHINE_H

#include "base/bytes.h"
#include "base/text/json.h"
#include "core/frame/run.h"

#include <stdio.h>

/*
 * What a run's recorders said of each node, every key once: its last value.
 *
 * Borrows the run. Keys and texts are hostile. {0} is empty and safe to free.
 */
struct metadata {
	const struct run *run;
	uint32_t *id; /* [n] into run->metas, by node, then by key */
	uint32_t n;
};

int metadata_make(struct metadata *m, const struct run *r); /* 0 or -ENOMEM */
void metadata_free(struct metadata *m);

/* NULL unless it is a text that is not empty. */
const char *metadata_text(const struct metadata *m, uint32_t node, const char *key);
/* NAN unless it is a number. */
double metadata_number(const struct metadata *m, uint32_t node, const char *key);
/* An object of all that was said of the node. */
void metadata_json(struct json *j, const struct metadata *m, uint32_t node);

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
