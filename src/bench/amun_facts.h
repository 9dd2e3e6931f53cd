/* SPDX-License-Identifier: Apache-2.0 */
/*
 * amun_facts.h - what Amun says of the machine and the software of a result, as facts.
 */
#ifndef SONDE_BENCH_AMUN_FACTS_H
#define SONDE_BENCH_AMUN_FACTS_H

#include "bench/trial.h"

struct amun_facts {
	struct bench_fact *fact;
	uint32_t n, cap;
	struct pool pool;
	bool failed;       /* out of memory */
	uint32_t left_out; /* there was no room for so many */
	struct err wrong;  /* with the file hwinfo; "": nothing */
};

/* Of the result, of the file hwinfo beside it, and of the specification, which may be NULL. */
void amun_facts_of(struct amun_facts *f, const struct jsontree *result,
		   const struct jsontree *specification, const char *folder, int64_t number);
void amun_facts_free(struct amun_facts *f);

#endif
