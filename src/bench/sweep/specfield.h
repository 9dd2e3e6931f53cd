/* SPDX-License-Identifier: Apache-2.0 */
/*
 * specfield.h - the values of a specification's document, each checked, with its line and column in
 * what is said of it.
 *
 * The functions of a row read a value to *out; of the others each returns 0, -EBADMSG with a
 * sentence, or -ENOMEM.
 */
#ifndef SONDE_BENCH_SWEEP_SPECFIELD_H
#define SONDE_BENCH_SWEEP_SPECFIELD_H

#include "bench/sweep/sweepspec.h"

struct spec_reading {
	struct pool *pool;
	const char *name;
	struct err *e;
	struct sweep_faults *faults; /* where all of them are kept; NULL: e has the last */
};

/* "sweep.yaml:3:7: ..."; where all are kept, e has the first. */
int spec_fault(const struct spec_reading *r, const struct jsontree *at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* After a fault reading goes on, so that all are told. True: it cannot, memory is out. */
bool spec_stops(int *rc, int one);
/* Zeroed, in the pool. */
void *spec_room(const struct spec_reading *r, size_t n, size_t size, int *rc);
uint32_t spec_length(const struct jsontree *list);
int spec_want(const struct spec_reading *r, const struct jsontree *v, enum jsondoc_token type,
	      const char *what);
/* Numbers and truth values stand for texts, and become such, as they were written. */
int spec_read_text(const struct spec_reading *r, struct jsontree *v, const char **out);
/* A list of texts, or one alone. */
int spec_read_words(const struct spec_reading *r, struct jsontree *v, struct sweep_words *out);
int spec_read_count(const struct spec_reading *r, const struct jsontree *v, int64_t least,
		    int64_t most, int64_t *out);
bool spec_is_variable(const char *name);

/* A key and what reads its value to *out. */
struct spec_field {
	const char *key;
	int (*read)(const struct spec_reading *r, struct jsontree *v, void *out);
	void *out;
};

/* An object with these keys and no others, of which all are read whatever is wrong with one; the
 * last row has no key. A key with null is as one that is not there. */
int spec_read_object(const struct spec_reading *r, struct jsontree *v,
		     const struct spec_field *fields);

int spec_text(const struct spec_reading *r, struct jsontree *v, void *out);
int spec_words(const struct spec_reading *r, struct jsontree *v, void *out);
/* As Amun: [{name: N, value: V}], or {N: V}. */
int spec_variables(const struct spec_reading *r, struct jsontree *v, void *out);
int spec_quantity(const struct spec_reading *r, struct jsontree *v, void *out);

#endif
