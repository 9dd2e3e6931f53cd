/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evidence.h - what the recording of a trial, and the software that runs its script, say about it.
 *
 * Facts are what hardly changes between trials; figures are of one of them.
 */
#ifndef SONDE_TRIAL_EVIDENCE_H
#define SONDE_TRIAL_EVIDENCE_H

#include "bench/trial.h"
#include "job/secret/secret_list.h"
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

/*
 * What was chosen for trials, as facts: the variables and arguments they get, and the
 * git working tree that their script is from.
 *
 * env.NAME, script.arguments, script.git_commit, script.git_branch, script.git_dirty and, of a
 * dirty one, script.git_diff, a digest of what differs. Secrets are masked as in recordings; a long
 * text is cut and ends with its digest, so that two that differ stay two.
 */

/* "NAME=VALUE" each; of a name given twice the last counts. */
void varied_environment(struct bench_facts *f, const struct secret_list *l,
			const struct option_list *environment);
/* Of the words of a command, without its script, which is one of them or the first. */
void varied_arguments(struct bench_facts *f, const struct secret_list *l, char *const *argv,
		      const char *script);
/* Of the first of these files or directories that is in a working tree; NULL: none. The
 * repository's hooks and monitors are not run. */
void varied_tree(struct bench_facts *f, const char *script, const char *otherwise);

#endif
