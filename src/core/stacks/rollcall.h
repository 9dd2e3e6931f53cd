/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rollcall.h - where each rank of a parallel job is, equal ones together: "63 of 64 ranks (0-16,
 * 18-63) in MPI_Allreduce < norm (solve.c:412); rank 17 in read < load (io.c:88): waits for ..."
 *
 * Each node tells of its own ranks; those of several nodes are added, and then folded. {0} is empty
 * and safe to free. Texts and numbers are hostile: whoever shows them escapes them.
 */
#ifndef SONDE_CORE_STACKS_ROLLCALL_H
#define SONDE_CORE_STACKS_ROLLCALL_H

#include "base/bytes.h"
#include "base/pool.h"
#include "base/text/json.h"

#include <stdbool.h>
#include <stdint.h>

enum { ROLLCALL_RANKS = 1 << 20 };

/* What is said of ranks that are at one place. */
enum rollcall_text {
	ROLLCALL_PROCESS,
	ROLLCALL_FUNCTIONS, /* without lines: those of one group may differ */
	ROLLCALL_IN,        /* with them */
	ROLLCALL_KIND,      /* "waits for data from a pipe"; "": it is in MPI, which says enough */
	ROLLCALL_WAIT,      /* "waits for data from a pipe: /tmp/x"; likewise */
	ROLLCALL_TEXTS
};

struct rollcall_group {
	const char *text[ROLLCALL_TEXTS];
	uint32_t *rank; /* rising, each once */
	uint32_t n, cap;
};

struct rollcall {
	struct pool pool;
	struct rollcall_group *group; /* folded: the largest first */
	uint32_t n, cap;
	uint32_t ranks; /* that there are, as the launcher told; 0: not told */
};

static inline bool rollcall_is_mpi(const struct rollcall_group *g)
{
	return g->text[ROLLCALL_IN][0] && !g->text[ROLLCALL_KIND][0];
}

void rollcall_free(struct rollcall *r);
/* One rank more; texts are copied. False: no memory, or no such rank. */
bool rollcall_add(struct rollcall *r, uint32_t rank, const char *const text[ROLLCALL_TEXTS]);
/* Equal ones together. False: no memory. */
bool rollcall_fold(struct rollcall *r);
/* Ranks that answered, of a folded one; how many there are with those that did not. */
uint32_t rollcall_answered(const struct rollcall *r);
uint32_t rollcall_ranks(const struct rollcall *r);
/* Where a rank is, of a folded one; NULL: it did not answer. */
const struct rollcall_group *rollcall_find(const struct rollcall *r, uint32_t rank);

/* As one JSON object, and what such a text adds. False: it makes no sense, or no memory. */
void rollcall_put(struct json *j, const struct rollcall *r);
bool rollcall_take(struct rollcall *r, const char *text);

/* The groups of a folded one as a sentence without a full stop, of many the first and the last;
 * nothing when there are less than two ranks. */
void rollcall_say(struct bytes *out, const struct rollcall *r);
/* Each group, and who did not answer, as a line. */
void rollcall_list(struct bytes *out, const struct rollcall *r);

#endif
