/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evidence.h - what the recording of a trial, and the software that runs its script, say about it.
 *
 * Facts are what hardly changes between trials; figures are of one of them.
 */
#ifndef SONDE_TRIAL_EVIDENCE_H
#define SONDE_TRIAL_EVIDENCE_H

#include "bench/trial.h"
#include "session/recording.h"
#include "store/history.h"

/* Is it run by a Python, as its #! line says? */
bool software_is_python(const char *script);
/* What a program is a benchmark by, given the words behind it: of `python3 -u x.py` x.py. */
const char *software_script(const char *program, char *const *words);
/* Which interpreter runs the script, of which version, and which packages it has: by asking it. Of
 * a Python it is that of VIRTUAL_ENV, when the environment has that. What does not answer within
 * seconds is left out. */
void software_find(struct bench_facts *f, const char *script,
		   const struct option_list *environment);

struct blame;

struct evidence {
	struct bench_facts facts;
	struct history past; /* the run, for the history */
	char governor[64], host[256], memory_kind[16];
	struct bytes counters; /* JSON; empty: none were counted */
};

/* Of the recording at path: facts, and the trial's figures. 0 or -errno with a sentence: there is
 * no evidence, and the trial stays as it was. Free in either case. */
int evidence_read(struct evidence *v, struct trial *t, const char *path, struct err *e);
void evidence_free(struct evidence *v);

/* The code, the waits and the phases of the recording at path, to b[BLAME_SUBJECTS]; without one,
 * or NULL, the trial is counted as one without. */
void evidence_blame(struct blame *b, int side, const char *path);

#endif
