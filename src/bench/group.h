/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group.h - the trials of a batch, or of an indicator, as the store has them: figures side by side,
 * with their statistics; those that failed are apart.
 *
 * {0} is empty and safe to free. Every text is hostile.
 */
#ifndef SONDE_BENCH_GROUP_H
#define SONDE_BENCH_GROUP_H

#include "base/err.h"
#include "bench/model.h"
#include "bench/trial.h"
#include "core/describe.h"
#include "core/metric.h"
#include "store/database.h"

#include <stdint.h>

/*
 * What people write about a batch: a note, and tags by which batches are found.
 */

enum { BATCH_NOTE = 4000, BATCH_TAG = 48 };

struct database;

/* A letter, then letters, digits, _ . and -. 0 or -EINVAL with a sentence. */
int batch_tag_check(const char *tag, struct err *e);
/* 0 or -EINVAL with a sentence: it is no text, or too long. */
int batch_note_check(const char *note, struct err *e);
/* What was checked, within the caller's transaction; an empty note is none. */
int batch_note_put(struct database *s, int64_t batch, const char *note, struct err *e);
int batch_tag_put(struct database *s, int64_t batch, const char *tag, struct err *e);
int batch_tag_drop(struct database *s, int64_t batch, const char *tag, struct err *e);

/*
 * How batches are called on a command line.
 */
/* "bench:7", "7": its id; 0: it is none. */
int64_t bench_batch_id(const char *word);
/* The same, or all batches of an indicator, "PiMatmul" or "bench:PiMatmul", or with a tag,
 * "tag:NAME", in order: *n, or, where there is no room for more than `most`, the newest. 0; -EINVAL
 * with a sentence: it is neither, or has none; -errno. */
int bench_batches(struct database *s, const char *word, int64_t *batch, uint32_t most, uint32_t *n,
		  struct err *e);

enum bench_sense { BENCH_NEITHER = 0, BENCH_LESS_IS_BETTER, BENCH_MORE_IS_BETTER };

struct bench_figure {
	const char *name; /* "elapsed", "ru_utime" */
	const char *unit; /* NULL: none was said */
	enum bench_sense sense;
	bool is_own;   /* of the indicator, not of the machine */
	double *value; /* [trials]; NAN: not known, or the trial failed */
	struct description d;
};

struct bench_row {
	int64_t number, start_ns, exit_code, signal; /* -1: not known, or did not happen */
	double duration_s;
	const char *reason; /* NULL: it is well */
	const char *path;
	int64_t environment_id;
	/* What tells trials of an indicator apart; version: the script's SHA-256 when it says none.
	 */
	int64_t batch_id;
	const char *component, *version, *host;
	const char *memory_kind; /* of peak_memory_bytes; NULL: not known */
};

/* What the script was asked to do, or answered with another thing than a number. */
struct bench_parameter {
	const char *name;
	const char **text; /* [trials]; NULL: not said */
};

/* A trial that fails a check of its model. */
struct bench_doubt {
	uint32_t row, check;
	double reported, computed;
};

struct bench_group {
	struct trial_batch batch;
	const char *indicator, *component; /* NULL: no trial said one */
	const char *host;
	struct bench_row *row; /* [ntrials], by number */
	uint32_t ntrials, nfailed, row_cap;
	const char *memory_kind;     /* the one whose figures are kept; NULL: none is known */
	uint32_t memory_left_out;    /* trials of another */
	struct bench_figure *figure; /* those that have a value */
	uint32_t nfigures, figure_cap;
	struct bench_parameter *parameter; /* [ntexts] of an indicator's trials; behind the
					    * parameters those results that are texts, or true or
					    * false */
	uint32_t nparameters, ntexts;
	struct bench_doubt *doubt; /* [ndoubts] by check, then row */
	uint32_t ndoubts, doubt_cap;
	struct model model;
	struct pool pool;
};

/* 0; -ENOENT with a sentence: there is no such batch; -errno. */
int bench_group_read(struct bench_group *g, struct database *s, int64_t batch, struct err *e);
/* All of an indicator, by the time of their start; those that said nothing
 * are of it when others of their batch are. 0; -ENOENT with a sentence; -errno. */
int bench_group_read_indicator(struct bench_group *g, struct database *s, const char *indicator,
			       struct err *e);
/* Another parameter of an indicator's trials; text, [ntrials], is the group's from then on, also
 * when this fails. */
int bench_group_add_parameter(struct bench_group *g, const char *name, const char **text,
			      struct err *e);
void bench_group_free(struct bench_group *g);

/* Of a group that is read: its doubts. 0 or -ENOMEM with a sentence. */
int bench_doubts_find(struct bench_group *g, struct err *e);
/* How many trials fail that check, of those that are not left out, which may be NULL; *first is the
 * first of these doubts. */
uint32_t bench_doubts_of(const struct bench_group *g, uint32_t check, const bool *left_out,
			 const struct bench_doubt **first);
/* "3 of 14 trials fail the check rate ~ ops / elapsed within 1%; bench:3/2 reports 0.5 where 50 is
 * computed". of: the trials. */
void bench_doubt_text(const struct bench_group *g, const struct bench_doubt *first, uint32_t n,
		      uint32_t of, struct bytes *out);

/* Has every trial, whatever its indicator, a figure of that name? */
bool bench_is_figure(const char *name);
/* Of what people's scripts write, what is known here; else a bare number. */
enum unit bench_unit(const struct bench_figure *f);

/* The id of the newest batch; 0: there is none; -errno. */
int64_t bench_newest(struct database *s, struct err *e);

#endif
