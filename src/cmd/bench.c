/* SPDX-License-Identifier: Apache-2.0 */
/* bench.c - benchmarks: the verbs of bench.def. */
#include "cmd/command.h"
#include "cmd/say.h"

#define VERB(x) extern const struct command command_bench_##x;
#include "bench.def"
#undef VERB

static const struct command *const verbs[] = {
#define VERB(x) &command_bench_##x,
#include "bench.def"
#undef VERB
};

static const struct example examples[] = {
	{ "bench run -n 10 --warmup 1 ./matmul.py", "ten trials of a script" },
	{ "bench run stream", "one of a built-in benchmark: bench list --builtin" },
	{ "bench check ./matmul.py", "does a script keep the contract?" },
	{ "bench list", "what is kept" },
	{ "bench stats bench:3 bench:4", "of two batches, with their spread" },
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
	.what = "Run benchmarks under one contract and keep their results",
	.description =
		"A benchmark is an executable of any language that prints one JSON object: its "
		"name, its @parameters and its @result. What else there is to know of a trial, "
		"from its exit code to the machine's clock frequency, Sonde finds out by itself.",
	COMMAND_EXAMPLES(examples),
	.exec = bench_exec,
	.verbs = verbs,
	.nverbs = sizeof verbs / sizeof verbs[0],
};
