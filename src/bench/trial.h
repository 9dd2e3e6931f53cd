/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trial.h - trials of a benchmark as rows of the store: what the script said, what it used, how it
 * ended, on which machine.
 *
 * A batch is what was started together: repeats of a script, an inspection of Amun. A trial that
 * failed is kept, too, with its reason, and has no row in its indicator's table unless it said what
 * fits there. What is not known is NULL or NAN.
 */
#ifndef SONDE_BENCH_TRIAL_H
#define SONDE_BENCH_TRIAL_H

#include "base/text/jsontree.h"
#include "bench/indicator.h"

#include <sys/resource.h>

/* What struct rusage has, as the store calls it: two times, in seconds, and counts. */
enum { TRIAL_USAGES = 16 };
extern const char *const trial_usage_names[TRIAL_USAGES];

/* What disturbed a trial, as the store calls it, by its recording. */
enum trial_noise {
	NOISE_OTHERS = 0, /* share of the machine's CPU time that others used */
	NOISE_WAITED,     /* seconds for a core that others used, per second */
	NOISE_STEAL,      /* share of the CPU time of the machine that a hypervisor took */
	NOISE_THROTTLED,  /* core-seconds that a CPU limit took, per second */
	NOISE_HEAT,       /* times that cores were slowed down */
	NOISE_FREQUENCY,  /* mean of all cores, in Hz */
	TRIAL_NOISES
};
extern const char *const trial_noise_names[TRIAL_NOISES];

struct trial_batch {
	const char *uid;    /* the same however often it is told */
	const char *source; /* "run", "amun" */
	const char *origin; /* of the script: a path, an address */
	const char *script_sha256, *command, *user, *specification;
	int64_t start_ns;        /* 0: not known */
	int64_t id;              /* in the store */
	const char *note, *tags; /* of one that is read; tags: "a, b"; NULL: none */
};

/* A fact of a machine or its software. */
struct bench_fact {
	const char *name, *text;
};

struct trial {
	int64_t number;        /* in its batch, from 1 */
	char reason[512];      /* why it failed; "": it did not */
	struct contract *said; /* NULL, or broken: it has no row in an indicator's table */
	bool said_well;        /* the contract was kept */
	double exit_code, signal;
	int64_t start_ns, end_ns; /* UTC; 0: not known */
	double duration_s;        /* monotonic, where it was measured so */
	double usage[TRIAL_USAGES];
	const char *host, *governor;
	const char *script_sha256; /* where its batch does not know it */
	double load_1m, noise[TRIAL_NOISES];
	const char *peak_memory_kind; /* as job.peak_memory_kind of its recording */
	double peak_memory_bytes, energy_j, energy_apportioned_j;
	const char *counters;           /* JSON: of perf events, by metric */
	const char *out, *err;          /* what it printed, as far as it is kept */
	const char *path;               /* of its recording */
	int64_t run_id, environment_id; /* in the store; 0: none */
};

/* What is known of the store while trials are put into it. {0} at first. */
struct trial_store {
	struct database *database;
	const struct models *models; /* declared */
	struct model *known;         /* as the store has them */
	uint32_t nknown, cap;
};

void trial_store_free(struct trial_store *s);

void trial_init(struct trial *t, int64_t number);

/* Each within the caller's transaction. A batch that is there already keeps its id. */
int batch_put(struct database *s, struct trial_batch *b, struct err *e);
/* The id of facts that are equal to these, which need not be in an order; they are sorted. */
int environment_put(struct database *s, struct bench_fact *fact, uint32_t n, int64_t *id,
		    struct err *e);
/* A result that fits no model makes it a failed one. What is wrong with its rows may be said by the
 * next call of the database only. 0; -EEXIST: a declared model does not fit the
 * store's; -errno. */
int trial_put(struct trial_store *s, const struct trial_batch *b, struct trial *t, struct err *e);
/* Is this one of a batch there? 1, 0, -errno. */
int trial_exists(struct database *s, const struct trial_batch *b, int64_t number, struct err *e);

/* What is missing of a document that is imported, or was left out of it: a sentence. */
typedef void trial_note(const char *sentence);
void trial_note_put(trial_note *note, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

void trial_take_usage(struct trial *t, const struct rusage *u);

/*
 * Facts of a machine and its software, as Sonde saw them or as a document of another
 * program states them.
 *
 * Names and texts are copied. {0} is empty and safe to free. Every byte is hostile: their number
 * and depth are bounded.
 */
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
