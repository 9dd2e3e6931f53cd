/* SPDX-License-Identifier: Apache-2.0 */
/* bench_stats.c - the statistics of batches. */
#include "cmd/benchtell.h"
#include "cmd/command.h"
#include "cmd/history.h"
#include "cmd/say.h"

#include <errno.h>

enum { BATCHES_MAX = 256 };

static const struct option rows[] = { BENCHTELL_OPTIONS("sonde/bench-stats/1") };

static const struct example examples[] = {
	{ "bench stats", "of the newest batch" },
	{ "bench stats bench:3 bench:4", "of two" },
};

static int choose(int64_t *batch, int n, char **words, struct database *s, struct err *e)
{
	for (int i = 0; i < n; i++) {
		batch[i] = bench_batch_id(words[i]);
		if (!batch[i])
			return err_set(e, -EINVAL,
				       "'%.100s' is not a batch; sonde bench list has them",
				       words[i]);
	}
	if (n)
		return 0;
	batch[0] = bench_newest(s, e);
	return batch[0] < 0 ? (int)batch[0]
	       : batch[0] == 0
		       ? err_set(e, -ENOENT,
				 "nothing is kept yet; sonde bench run SCRIPT makes a start")
		       : 0;
}

static int stats_exec(const void *options, int noperands, char **operands)
{
	const struct benchtell_options *o = options;
	const struct history_options where = { .store = o->store };
	int64_t batch[BATCHES_MAX];
	struct database *s = NULL;
	struct err e = { "" };
	int rc, code;

	if (noperands > BATCHES_MAX) {
		say("bench stats: %d batches at a time", BATCHES_MAX);
		return EXIT_USAGE;
	}
	rc = history_open(&s, &where, "bench stats", &e);
	if (!rc)
		rc = choose(batch, noperands, operands, s, &e);
	if (rc) {
		say("bench stats: %s", e.text);
		code = rc == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
	} else {
		code = benchtell_stats(s, batch, noperands ? (uint32_t)noperands : 1, o->json);
	}
	database_close(s);
	return code;
}

const struct command command_bench_stats = {
	.name = "bench stats",
	.operands = "[bench:ID...]",
	.what = "Print the statistics of batches of trials",
	.description =
		"Of each batch, or of the newest, every figure of its indicator and of what its "
		"trials used: how many values, mean, median, standard deviation (of a sample) and "
		"error of the mean, quartiles (linear between values) and the range between them, "
		"least, most, coefficient of variation and skew (adjusted, G1). Trials that failed "
		"are counted apart, with their reasons, and are in no statistic.",
	COMMAND_OPTIONS(rows),
	.size = sizeof(struct benchtell_options),
	COMMAND_EXAMPLES(examples),
	.exec = stats_exec,
};
