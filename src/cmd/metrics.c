/* SPDX-License-Identifier: Apache-2.0 */
#include "console/command.h"
#include "source/catalogue.h"

struct metrics_options {
	bool json;
};

static const struct option rows[] = {
	{ .name = "json",
	  .help = "Print the catalogue as JSON, schema sonde/metrics/1.",
	  OPTION_OFFSET(struct metrics_options, json) },
};

static const struct example examples[] = {
	{ "metrics", "list what can be measured" },
	{ "metrics --json", "the same with formulas, rates and how values are combined" },
};

static int metrics_exec(const void *options, int noperands, char **operands)
{
	const struct metrics_options *o = options;
	struct bytes b = { 0 };

	if (noperands) {
		say("metrics: unexpected argument '%s'; it takes no operands", operands[0]);
		return EXIT_USAGE;
	}
	if (o->json)
		catalogue_json(&b);
	else
		catalogue_text(&b);
	return print_bytes(&b);
}

const struct command command_metrics = {
	.name = "metrics",
	.operands = "",
	.what = "List what can be measured",
	.description = "Prints one line per metric: name, unit, kind and meaning. Counters are "
		       "stored raw; tables and plots show their rates.",
	COMMAND_OPTIONS(rows),
	.size = sizeof(struct metrics_options),
	COMMAND_EXAMPLES(examples),
	.exec = metrics_exec,
};
