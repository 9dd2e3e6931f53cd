/* SPDX-License-Identifier: Apache-2.0 */
/*
 * contract.h - what a benchmark script says: one JSON object on standard output, with its name,
 * @parameters and @result (docs/bench.md has all of it).
 *
 * Every byte is hostile. What is wrong is found all at once, each with the line it is in. The
 * layouts that Amun stores results in are read, too: the object is then a field of theirs. It does
 * not know which columns an indicator has: bench/model.h does.
 */
#ifndef SONDE_BENCH_CONTRACT_H
#define SONDE_BENCH_CONTRACT_H

#include "base/err.h"
#include "base/pool.h"
#include "base/text/jsontree.h"

enum {
	CONTRACT_FAULTS = 32,
	CONTRACT_DOCUMENT = 16 << 20, /* bytes of an output; what has more is none */
	CONTRACT_VALUES = 1000,       /* parameters and results together: columns of a table */
	CONTRACT_NAME = 48,           /* bytes of an indicator's name */
	CONTRACT_KEY = 63,            /* of a key: what a column may be called everywhere */
};

struct contract_fault {
	bool warning;  /* it is taken all the same */
	uint64_t line; /* of the output, from 1; 0: of no line */
	char text[200];
};

/* A parameter or a result. */
struct contract_value {
	const struct jsontree *v;
	bool is_result;
};

struct contract {
	const char *name;
	const char *component;          /* "framework", or in its place "component" */
	const char *version;            /* NULL: none was said */
	double overall_score;           /* NAN: none */
	const struct jsontree *said;    /* the whole object */
	const struct jsontree *wrapped; /* what it lay in, as Amun stores it; NULL: in nothing */
	struct contract_value *value;   /* in the order they came */
	uint32_t nvalues;
	struct contract_fault fault[CONTRACT_FAULTS];
	uint32_t nfaults, nleft_out; /* faults there was no room for */
	struct pool pool;
};

/* Of bytes that need not be kept. 0, or -EBADMSG: it breaks the contract, and the first fault that
 * is no warning says how; -ENOMEM. Free it in either case. */
int contract_read(struct contract *c, const void *text, size_t n, struct err *e);
/* The same of a document that was read before, which must outlive it. */
int contract_take(struct contract *c, const struct jsontree *document, struct err *e);
void contract_free(struct contract *c);

/* May an indicator be called so? */
bool contract_is_name(const char *name);
/* "line 3: @result.rate: ..." */
void contract_fault_text(const struct contract_fault *f, char *out, size_t size);

#endif
