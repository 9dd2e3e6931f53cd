/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chrome_names.h - the processes, threads and counters of a trace: what each is called and which
 * track it became, by its kind and up to two texts. {0} is empty; how many there are is bounded.
 */
#ifndef SONDE_IMPORT_CHROME_NAMES_H
#define SONDE_IMPORT_CHROME_NAMES_H

#include "base/pool.h"

#include <stdint.h>

enum chrome_kind { CHROME_PROCESS = 1, CHROME_THREAD, CHROME_LANE, CHROME_COUNTER };
enum { CHROME_NAMES_MAX = 65536, CHROME_LANES = 256 };

struct chrome_name {
	uint64_t key;
	const char *text;                  /* NULL: it has no name */
	uint32_t id;                       /* of its track or counter, plus 1; 0: none yet */
	uint32_t lanes[CHROME_LANES / 32]; /* of a process: those in use */
};

struct chrome_names {
	struct chrome_name *at;
	uint32_t n, cap, nprocesses;
	struct pool text;
};

/* Made when it is new; NULL: too many, or no memory. Valid until the next call. */
struct chrome_name *chrome_name_of(struct chrome_names *c, enum chrome_kind kind, const char *a,
				   const char *b);
void chrome_name_set(struct chrome_names *c, struct chrome_name *n, const char *text);
/* A free one of a process, from 1; the last one is never taken, so that many may share it. */
uint32_t chrome_lane_take(struct chrome_name *process);
void chrome_lane_free(struct chrome_name *process, uint32_t lane);
void chrome_names_free(struct chrome_names *c);

#endif
