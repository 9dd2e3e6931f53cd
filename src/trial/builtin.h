/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builtin.h - the benchmarks that come with Sonde, by name, and what a word is that names a script.
 *
 * They are run by the helper sonde-indicator, whose first word is the name.
 */
#ifndef SONDE_TRIAL_BUILTIN_H
#define SONDE_TRIAL_BUILTIN_H

#include "base/err.h"
#include "base/text/args.h"
#include "bench/model.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

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
