/* SPDX-License-Identifier: Apache-2.0 */
/* bench_stats.c - the statistics of batches. */
#include "console/command.h"
#include "session/history.h"
#include "trial/benchprint.h"

#include <errno.h>

enum { BATCHES_MAX = 256 };

static const struct option rows[] = { BENCHTELL_OPTIONS("sonde/bench-stats/1") };

static const struct example examples[] = {
	{ "bench stats", "the newest batch" },
	{ "bench stats bench:3 bench:4", "two batches" },
	{ "bench stats PiMatmul", "all batches of an indicator" },
};

static int choose(int64_t *batch, uint32_t *n, int nwords, char **words, struct database *s,
		  struct err *e)
{
	uint32_t more;
	int rc = 0;

	for (int i = 0; i < nwords && !rc; i++) {
		if (*n == BATCHES_MAX)
			return err_set(e, -EINVAL, "at most %d batches at a time", BATCHES_MAX);
		rc = bench_batches(s, words[i], batch + *n, BATCHES_MAX - *n, &more, e);
		*n += rc ? 0 : more;
	}
	if (nwords)
		return rc;
	*n = 1;
	batch[0] = bench_newest(s, e);
	return batch[0] < 0 ? (int)batch[0]
	       : batch[0] == 0
		       ? err_set(e, -ENOENT, "no trials stored yet; run sonde bench run SCRIPT")
		       : 0;
}

static int stats_exec(const void *options, int noperands, char **operands)
{
	const struct benchprint_options *o = options;
	const struct history_options where = { .store = o->store };
	int64_t batch[BATCHES_MAX];
	struct database *s = NULL;
	struct err e = { "" };
	uint32_t n = 0;
	int rc, code;

	rc = history_open(&s, &where, "bench stats", &e);
	if (!rc)
		rc = choose(batch, &n, noperands, operands, s, &e);
	if (rc) {
		say("bench stats: %s", e.text);
		code = rc == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
	} else {
		code = benchprint_stats(s, batch, n, o->json);
	}
	database_close(s);
	return code;
}

const struct command command_bench_stats = {
	.name = "bench stats",
	.operands = "[bench:ID|INDICATOR...]",
	.what = "Print the statistics of batches of trials",
	.description =
		"For each batch (default: the newest; of an indicator: all, at most the newest "
		"256), prints for every figure of its indicator "
		"and the usage of its trials: number of values, mean, median, sample standard "
		"deviation, standard error of the mean, quartiles (interpolated linearly), "
		"interquartile range, minimum, maximum, coefficient of variation, and adjusted "
		"skewness (G1). Failed trials are counted separately, with their reasons, and are "
		"excluded from the statistics.",
	COMMAND_OPTIONS(rows),
	.size = sizeof(struct benchprint_options),
	COMMAND_EXAMPLES(examples),
	.exec = stats_exec,
};
