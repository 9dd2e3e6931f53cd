/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command.h - a subcommand: one const struct in its own file, one line in commands.def.
 *
 * Usage, --help, man page and completions come from the struct. A command returns its exit code; it
 * and main are the only ones that print. No command includes another.
 */
#ifndef SONDE_CONSOLE_COMMAND_H
#define SONDE_CONSOLE_COMMAND_H

#include "base/bytes.h"
#include "base/text/args.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum exit_code { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

struct example {
	const char *line; /* runs as it stands, after `sonde ` */
	const char *what;
};

struct command {
	const char *name;
	const char *operands;    /* "[DIR]", "-- CMD [ARGS...]", "" */
	const char *words;       /* those that the first operand may be; as in struct option */
	const char *what;        /* one line, no full stop */
	const char *description; /* for the man page: paragraphs separated by a blank line */
	const struct option *options;
	size_t noptions;
	size_t size; /* of its options struct */
	const struct example *examples;
	size_t nexamples;
	bool stop_at_operand; /* what follows the first operand is not ours */
	bool hidden;          /* left out of the list of commands */
	bool by_name;         /* a link of its name to sonde is this command */
	int usage_code;       /* exit code of a usage error; 0 = EXIT_USAGE */
	int (*exec)(const void *options, int noperands, char **operands);
	/* Of one that is several: `sonde bench run` is the verb named "bench run", a command of its
	 * own. */
	const struct command *const *verbs;
	size_t nverbs;
};

#define COMMAND_OPTIONS(array)  .options = (array), .noptions = sizeof(array) / sizeof((array)[0])
#define COMMAND_EXAMPLES(array) .examples = (array), .nexamples = sizeof(array) / sizeof((array)[0])

/* All of commands.def, in its order: COMMAND(x) stands for `const struct command command_x`. */
extern const struct command *const commands[];
extern const size_t ncommands;

const struct command *command_find(const char *name); /* NULL when there is none */
/* Its verb of that word, the last of the verb's name; NULL when there is none. */
const struct command *command_verb(const struct command *c, const char *word);
/* The command a mistyped word most likely means; NULL when none is near. */
const char *command_nearest(const char *word);

/*
 * A command's whole result to standard output, or the sentence why not.
 *
 * The reason of a failed write is known only right after it, so it is said here and not at the end.
 */
/* Empties b. An exit code. */
int print_bytes(struct bytes *b);
/* What was said last as JSON, schema sonde/error/1, in place of the document that there is none of.
 */
void print_error_json(FILE *out, const char *command);

/*
 * What a person reads on stderr: lines with "sonde: " before them, and on a terminal one
 * that counts the recordings that are read.
 *
 * A line is escaped for the terminal, so hostile names may be handed in as they are. Data goes to
 * stdout and not through here.
 */
/* Nothing more is said once whoever read standard output has gone, as head -1 does: it has what it
 * wanted. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* What was said last, without "sonde: "; "" when nothing was. */
const char *say_last(void);
/* Whether writing to standard output failed because its reader has gone. */
bool say_reader_is_gone(void);

struct progress {
	int64_t next_ns; /* when something is to be said again; INT64_MAX: never */
	bool shown;      /* the line is there */
};

void progress_begin(struct progress *p);
/* For struct run_progress; ctx is the progress. The line goes when at == of. */
void progress_show(void *ctx, uint32_t at, uint32_t of);

/*
 * version.h - `sonde --version [--json]`: which version this is, and what was built into it.
 */
int version_print(bool json); /* an exit code */

#endif
