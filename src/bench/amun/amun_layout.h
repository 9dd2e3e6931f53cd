/* SPDX-License-Identifier: Apache-2.0 */
/*
 * amun_layout.h - where the results are in one JSON document of Amun, of thoth-storages or of
 * Dependency Monkey.
 *
 * Documents of several years are known: a result alone; a whole inspection with job_log, job_logs
 * or results; several inspections, as a list or by their id; a report of Dependency Monkey. All of
 * it is borrowed from the document. Every byte is hostile.
 */
#ifndef SONDE_BENCH_AMUN_AMUN_LAYOUT_H
#define SONDE_BENCH_AMUN_AMUN_LAYOUT_H

#include "base/err.h"
#include "base/pool.h"
#include "base/text/jsontree.h"
#include "bench/trial.h"

/* Bytes of an id; a longer one is none. */
enum { AMUN_ID_MAX = 300 };

struct amun_told {
	int64_t number;                         /* from 1 */
	const struct jsontree *result, *hwinfo; /* NULL: there is none */
	const char *log;                        /* NULL: it is not there */
	bool again; /* an earlier one that has a result or a log has its number */
};

struct amun_inspection {
	const char *id, *created, *started, *ended; /* NULL: not known */
	const struct jsontree *specification;       /* NULL: there is none */
	struct amun_told *told;
	uint32_t n, cap;
};

struct amun_layout {
	struct amun_inspection *inspection;
	uint32_t n, cap;
	const struct jsontree *monkey;    /* what Dependency Monkey says of its stacks; or NULL */
	const struct jsontree *arguments; /* what it was told to do; or NULL */
	const char *date;                 /* of the report; or NULL */
	struct pool pool;                 /* of results that were kept as texts */
	bool failed;                      /* out of memory */
};

/* 0; -ENOENT with a sentence: it is nothing of theirs; -ENOMEM. Free it in either case. */
int amun_layout_read(struct amun_layout *l, const struct jsontree *document, struct err *e);
void amun_layout_free(struct amun_layout *l);

/* What Amun says of the machine and the software of a result, as facts. */

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

/* A report of Dependency Monkey becomes a sweep of the store, whose combinations are the stacks
 * that it sent to Amun.
 *
 * It has no trials itself: those of an inspection that was imported are a combination's; one that
 * was not is skipped, with its name. The same report again finds what was imported since. */

struct amun;

/* Of the document with this digest, which is kept in the file of that path. */
int amun_monkey_import(struct amun *a, const struct amun_layout *l, const char *digest,
		       const char *path, struct err *e);

#endif
