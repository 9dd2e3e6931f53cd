/* SPDX-License-Identifier: Apache-2.0 */
/*
 * suite.h - what the files of other benchmark suites state: benchmarks, the values of their
 * repeats, and the machine.
 *
 * Each suite has a file of its own, suite_NAME.c, and a row of suites.def. Values are in base
 * units, in the columns of models/suites.model. Texts are borrowed from the document or are in the
 * pool. Every byte is hostile.
 */
#ifndef SONDE_BENCH_SUITE_SUITE_H
#define SONDE_BENCH_SUITE_SUITE_H

#include "bench/trial.h"

enum { SUITE_BENCHMARKS = 10000, SUITE_REPEATS = 10000 };

struct suite_trial {
	const char *result;  /* a JSON object; NULL: it failed */
	const char *failed;  /* why; NULL: it did not, or its exit code tells */
	double exit_code;    /* NAN: not known */
	double memory_bytes; /* NAN: not known */
};

struct suite_benchmark {
	const char *name;
	const char *parameters; /* a JSON object */
	const char *version;    /* NULL: none is stated */
	const char *said;       /* what else is stated, as JSON */
	int64_t start_ns;       /* 0: not known */
	struct suite_trial *trial;
	uint32_t n, cap;
};

struct suite_results {
	struct suite_benchmark *benchmark;
	uint32_t n, cap;
	struct bench_facts facts;
	const char *host, *origin; /* NULL: not known */
	double load_1m;            /* NAN: not known */
	int64_t start_ns;          /* 0: not known */
	uint32_t medians;          /* benchmarks of which the file has no single values */
	uint32_t skipped;          /* by their own choice */
	uint32_t left_out;         /* values that are none, or for which there is no room */
	struct pool pool;
	bool failed; /* out of memory */
};

struct suite_source {
	const struct jsontree *document;
	const struct jsontree *benchmarks; /* asv: benchmarks.json; NULL: not found */
};

struct suite {
	const char *name, *indicator;
	/* False: the document is of another kind. */
	bool (*read)(struct suite_results *r, const struct suite_source *s);
};

extern const struct suite suites[];
extern const size_t nsuites;
const struct suite *suite_find(const char *name);

/* 0; -EBADMSG with a sentence: it is not of that suite; -ENOMEM. Free it in either case. */
int suite_read(struct suite_results *r, const struct suite *suite, const struct suite_source *s,
	       struct err *e);
void suite_results_free(struct suite_results *r);

/* ---- for the files of suites ---- */

/* NULL: there is no room. Parameters and what is said are set by the caller. */
struct suite_benchmark *suite_add_benchmark(struct suite_results *r, const char *name);
/* NULL: there is no room. */
struct suite_trial *suite_add_trial(struct suite_results *r, struct suite_benchmark *b);
/* One whose result is this value of that column; without a finite one it is left out. */
struct suite_trial *suite_add_value(struct suite_results *r, struct suite_benchmark *b,
				    const char *column, const struct jsontree *v);

/* A JSON object that is written step by step and kept. */
struct suite_object {
	struct bytes text;
	struct json j;
};
void suite_object_begin(struct suite_object *o);
/* A parameter of that name: lists and objects become texts, and one that is called like a column
 * of the results gets "parameter_" before its name. */
void suite_put_parameter(struct suite_object *o, const char *name, const struct jsontree *v);
const char *suite_object_end(struct suite_results *r, struct suite_object *o);
/* An object without those of its members that are lists, as JSON. */
const char *suite_said(struct suite_results *r, const struct jsontree *object);

/* Gives facts of these names another one: pairs {from, to}. */
void suite_rename_facts(struct suite_results *r, const char *const (*names)[2], size_t n);
/* With or without a distance from UTC: "2026-11-28T07:36:25+01:00"; 0: it is none. */
int64_t suite_time(const char *text);

#endif
