/* SPDX-License-Identifier: Apache-2.0 */
/* bench.c - benchmarks: the verbs of bench.def. */
#include "console/command.h"

#define VERB(x) extern const struct command command_bench_##x;
#include "bench.def"
#undef VERB

static const struct command *const verbs[] = {
#define VERB(x) &command_bench_##x,
#include "bench.def"
#undef VERB
};

static const struct example examples[] = {
	{ "bench run -n 10 --warmup 1 ./matmul.py", "run ten trials of a script" },
	{ "bench run stream", "run one trial of a built-in benchmark; bench list --builtin lists "
			      "them" },
	{ "bench check ./matmul.py", "check a script against the contract" },
	{ "bench list", "list the stored trials" },
	{ "bench stats bench:3 bench:4", "statistics of two batches" },
	{ "compare bench:3 bench:4", "is the second one better?" },
};

static int bench_exec(const void *options, int noperands, char **operands)
{
	(void)options;
	if (noperands)
		say("bench: unknown command '%s'; sonde bench --help lists the commands",
		    operands[0]);
	else
		say("bench: no command given; sonde bench --help lists the commands");
	return EXIT_USAGE;
}

const struct command command_bench = {
	.name = "bench",
	.operands = "[operands]",
	.what = "Run benchmarks under one contract and store their results",
	.description =
		"A benchmark is an executable in any language that prints one JSON object with "
		"its name, its @parameters and its @result. Sonde finds out everything else about "
		"a trial, from its exit code to the clock frequency of the machine.",
	COMMAND_EXAMPLES(examples),
	.exec = bench_exec,
	.verbs = verbs,
	.nverbs = sizeof verbs / sizeof verbs[0],
};
