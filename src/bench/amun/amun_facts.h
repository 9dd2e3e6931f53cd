/* SPDX-License-Identifier: Apache-2.0 */
/*
 * amun_facts.h - what Amun says of the machine and the software of a result, as facts.
 */
#ifndef SONDE_BENCH_AMUN_AMUN_FACTS_H
#define SONDE_BENCH_AMUN_AMUN_FACTS_H

#include "bench/facts.h"

struct amun_facts {
	struct bench_facts facts;
	struct err wrong; /* with the file hwinfo; "": nothing */
};

struct amun_facts_source {
	const struct jsontree *result, *specification; /* each may be NULL */
	const struct jsontree *hwinfo;                 /* that lies beside the result */
	const char *folder; /* of the inspection, where it is a file beside it; "": it is in none */
	int64_t number;     /* from 0 */
};

void amun_facts_of(struct amun_facts *f, const struct amun_facts_source *s);
void amun_facts_free(struct amun_facts *f);

#endif
