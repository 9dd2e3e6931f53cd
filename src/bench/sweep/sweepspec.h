/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweepspec.h - what a sweep is to try: a script and what it needs, as Amun's specifications say
 * it, times a matrix of software stacks, environments and parameters (docs/sweeps.md).
 *
 * It reads a document and no file: texts that may be a file's name are as they were written until
 * the caller has put the content there. Every text is borrowed from the document's pool.
 */
#ifndef SONDE_BENCH_SWEEP_SWEEPSPEC_H
#define SONDE_BENCH_SWEEP_SWEEPSPEC_H

#include "base/err.h"
#include "base/text/jsontree.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	SWEEP_AXES = 32,        /* stacks, environments, parameters */
	SWEEP_VARIABLES = 60,   /* of a trial's environment, all together */
	SWEEP_MATRIX = 1000000, /* combinations of the whole matrix */
	SWEEP_TRIALS = 100000,  /* that are run */
	SWEEP_WORDS = 64,       /* of any list of words for a command */
	SWEEP_FAULTS = 32,      /* that are told of one specification */
};

/* All that is wrong with a specification, each with its line and column. */
struct sweep_faults {
	const char *text[SWEEP_FAULTS];
	uint32_t n, left_out;
};

struct sweep_variable {
	const char *name, *text;
};

struct sweep_variables {
	struct sweep_variable *v;
	uint32_t n;
};

struct sweep_words {
	const char **word;
	uint32_t n;
};

/* A file that trials find in their directory. */
struct sweep_file {
	const char *path, *content;
};

/* What a machine has to have; 0 and NULL: nothing is asked for. */
struct sweep_needs {
	double cores, memory_bytes;
	int64_t physical_cpus;
	const char *cpu_family, *cpu_model, *processor;
};

/* A software stack: what there is of it is put together. */
struct sweep_stack {
	const char *name;
	const char *base;            /* "host", or a container's image */
	struct sweep_words modules;  /* of environment modules, in that order */
	struct sweep_words packages; /* native ones, which have to be installed */
	const char *requirements;    /* of Python; NULL: no virtual environment */
	const char *locked;          /* NULL: none was given */
	const char *interpreter;     /* that makes the virtual environment */
	struct sweep_words pip;      /* further words for pip: --index-url, --find-links, ... */
	const char *python_version;  /* "3.8", that a Pipfile requires; NULL: any */
	const char *unresolved;      /* why there are no such packages; NULL: there may be */
};

struct sweep_environment {
	const char *name;
	struct sweep_variables variables;
};

/* A parameter: a variable of the script's environment. */
struct sweep_parameter {
	const char *name;
	struct sweep_words values;
};

enum sweep_decision {
	SWEEP_ALL = 0,
	SWEEP_RANDOM,
	SWEEP_HILL_CLIMBING,
	SWEEP_ANNEALING,
	SWEEP_HALVING, /* which begin does not depend on results; which go on does */
	SWEEP_DECISIONS
};
extern const char *const sweep_decision_names[SWEEP_DECISIONS];

/* Does what is tried next depend on the results? */
static inline bool sweep_needs_results(enum sweep_decision d)
{
	return d == SWEEP_HILL_CLIMBING || d == SWEEP_ANNEALING;
}

/* Of trials: one of each combination after another, or all of a combination. */
enum sweep_order { SWEEP_ROUNDS = 0, SWEEP_COMBINATIONS, SWEEP_ORDERS };
extern const char *const sweep_order_names[SWEEP_ORDERS];

struct sweep_spec {
	const char *identifier; /* NULL: none */
	const char *script;     /* a path, or the text itself */
	bool script_is_text;
	struct sweep_words arguments;
	struct sweep_variables environment;
	struct sweep_file *file;
	uint32_t nfiles;
	struct sweep_needs build, run;
	int64_t batch_size, warmup;
	double timeout_s; /* 0: never */
	struct sweep_stack *stack;
	uint32_t nstacks;
	struct sweep_environment *environments;
	uint32_t nenvironments;
	struct sweep_parameter parameter[SWEEP_AXES - 2];
	uint32_t nparameters;
	const struct jsontree **exclude; /* objects: what of them all is so is left out */
	uint32_t nexcludes;
	enum sweep_decision decision;
	enum sweep_order order;
	int64_t seed, count; /* 0: as many as there are */
	/* Of successive halving; budget is in trials, 0: as many as the minimum needs. */
	int64_t budget, eta, minimum;
	const char *result; /* that decides what is better; NULL: the score */
	bool less_is_better;
	struct sweep_words slurm; /* further words for sbatch */
	const char *dropped;      /* a package of Amun's that is not needed here; NULL: none */
};

struct spec_reading;

/* Numbers of the document that stand for texts become texts as they were written. 0, -EBADMSG,
 * -ENOMEM. */
int sweepspec_read(struct sweep_spec *s, struct jsontree *document, const struct spec_reading *r);

/* The values of a specification's document, each checked, with its line and column in what is said
 * of it.
 *
 * The functions of a row read a value to *out; of the others each returns 0, -EBADMSG with a
 * sentence, or -ENOMEM. */

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

/* Amounts of CPUs and memory as Kubernetes writes them: "500m", "2", "1Gi", "129e6". */

/* A number >= 0, then nothing, an exponent, or one of n u m k M G T P E (powers of 1000) or Ki Mi
 * Gi Ti Pi Ei (of 1024); K is taken for k. False: it is none. */
bool quantity_read(const char *text, double *out);

#endif
