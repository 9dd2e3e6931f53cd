/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command.h - a subcommand: one const struct in its own file, one line in commands.def.
 *
 * Usage, --help, man page and completions come from the struct. A command returns its exit code; it
 * and main are the only ones that print. No command includes another.
 */
#ifndef SONDE_CONSOLE_COMMAND_H
#define SONDE_CONSOLE_COMMAND_H

#include "base/text/args.h"

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

#endif
