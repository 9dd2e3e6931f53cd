/* SPDX-License-Identifier: Apache-2.0 */
/*
 * facts.h - facts of a machine and its software, as Sonde saw them or as a document of another
 * program states them.
 *
 * Names and texts are copied. {0} is empty and safe to free. Every byte is hostile: their number
 * and depth are bounded.
 */
#ifndef SONDE_BENCH_FACTS_H
#define SONDE_BENCH_FACTS_H

#include "base/text/jsontree.h"
#include "bench/trial.h"

enum { BENCH_FACT_NAME = 512 };

struct bench_facts {
	struct bench_fact *fact;
	uint32_t n, cap;
	struct pool pool;
	bool failed;       /* out of memory */
	uint32_t left_out; /* there was no room for so many */
};

/* Of Sonde's own. */
void bench_facts_put(struct bench_facts *f, const char *name, const char *text);
/* Of others' documents: as many as there is room for. */
void bench_facts_add(struct bench_facts *f, const char *name, const char *text);
/* prefix.cpu_info.brand_raw, ...: objects are gone through, lists are one fact. v may be NULL. */
void bench_facts_flatten(struct bench_facts *f, const char *prefix, const struct jsontree *v);
/* "numpy==1.26.4" as a line behind indent, of the fact package.numpy. False: it is none that pip
 * would take as one. */
bool bench_requirement(struct bytes *out, const char *name, const char *text, const char *indent);
void bench_facts_free(struct bench_facts *f);

#endif
