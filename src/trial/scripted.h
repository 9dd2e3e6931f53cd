/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scripted.h - a benchmark's script, run once: what it printed, how it ended, what it used.
 *
 * The script is a child of a process of its own, which ends what the script leaves behind, so that
 * one trial finds no trace of another. Its standard input is empty.
 */
#ifndef SONDE_TRIAL_SCRIPTED_H
#define SONDE_TRIAL_SCRIPTED_H

#include "base/bytes.h"
#include "base/err.h"
#include "base/text/args.h"
#include "bench/model.h"
#include "job/launch.h"
#include "session/recording.h"
#include "source/cpulist.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

enum { SCRIPTED_MOST = 256, SCRIPTED_PIPES = 3 };

struct scripted_wish {
	char *const *argv;
	const struct option_list *environment; /* "NAME=VALUE" */
	const char *directory;                 /* it runs there; NULL: here */
	int64_t limit_ns;                      /* 0: none */
	bool discards;                         /* what it prints to standard output */
	const struct recording_plan *plan;     /* of its recording; NULL: there is none */
	const struct cpulist *cpus;            /* that it runs on; NULL: those of this process */
	const int *foreign; /* [nforeign] descriptors of scripts beside it, which it closes */
	uint32_t nforeign;
};

/* What the process that started it says at its end, in one write. */
struct scripted_report {
	int code; /* 0, or LAUNCH_*: it could not be started, and why: */
	char why[512];
	struct launch_end end;
	int64_t start_utc_ns, end_utc_ns;
	uint32_t left; /* processes that it left behind, and one of their names: */
	char left_name[32];
};

struct scripted {
	struct scripted_report report;
	bool reported;         /* else it was lost, and nothing is known */
	struct bytes out, err; /* the first bytes of each, ended by a NUL */
	uint64_t out_bytes, err_bytes;
	double load_1m;           /* before it started; NAN: not known */
	int from[SCRIPTED_PIPES]; /* while it runs */
	pid_t pid;
};

/* 0 when it was run, whatever came of it; or -errno with a sentence. Free in either case. */
int scripted_run(struct scripted *r, const struct scripted_wish *w, struct err *e);
void scripted_free(struct scripted *r);

/* The same in steps, for several side by side: scripted_begin for each, scripted_wait for which of
 * them (at most SCRIPTED_MOST) has ended, and scripted_end for that one. */
int scripted_begin(struct scripted *r, const struct scripted_wish *w, struct err *e);
uint32_t scripted_wait(struct scripted *const *running, uint32_t n);
int scripted_end(struct scripted *r, struct err *e);

/* Why this is no good trial, as far as that is told by how it ended; false: it ended well. */
bool scripted_failed(const struct scripted *r, char *why, size_t size);
/* Adds to why the last line of its standard error, which mostly tells more: cut, and harmless on a
 * terminal. */
void scripted_last_words(const struct scripted *r, char *why, size_t size);

/* The same with another PATH. */
int scripted_find_in(const char *list, const char *word, char path[PATH_MAX], struct err *e);

/*
 * The benchmarks that come with Sonde, by name, and what a word is that names a script.
 *
 * They are run by the helper sonde-indicator, whose first word is the name.
 */

struct builtin {
	const char *name, *what;
};

extern const struct builtin builtins[];
extern const size_t nbuiltins;

#define BUILTIN_RULE                                                                               \
	"SCRIPT is a file, or a program in PATH. When there is neither, it is the name of a "      \
	"built-in benchmark (sonde bench list --builtin), and ARGS are its options: --size N, "    \
	"--threads N, --repeats N, --seconds TIME; libexec/sonde/sonde-indicator NAME --help "     \
	"lists all it has."

/* A benchmark as it is executed. */
struct chosen_script {
	char path[PATH_MAX];
	char **argv; /* path first, then the name of a built-in one, then its arguments; owned */
	bool builtin;
};

/* Of the words behind `bench run`, of which there is one at least. 0, or -errno with a sentence.
 * Free it in either case. */
int chosen_script_find(struct chosen_script *s, char *const *words, struct err *e);
/* Where words ask a built-in one for its options, it tells them, and this does not return. */
void builtin_help(char *const *words);
void chosen_script_free(struct chosen_script *s);

/*
 * The indicators whose columns are declared: those that travel in the program, and
 * those of --model.
 */
/* 0 or -errno with a sentence; free in either case. */
int benchmodels_read(struct models *m, const struct option_list *files, struct err *e);

#endif
