/* SPDX-License-Identifier: Apache-2.0 */
/* trials STORE TRIALS PER-TRANSACTION: puts trials of one indicator into a store, and prints how
 * many seconds that took. */
#include "base/clock.h"
#include "bench/trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "trials: %s\n", what);
	exit(1);
}

static int put(struct trial_store *s, const struct trial_batch *b, int64_t number, struct err *e)
{
	struct contract said = { 0 };
	struct trial t;
	char text[512];
	int n = snprintf(
		text, sizeof text,
		"{\"name\": \"PiMatmul\", \"framework\": \"tensorflow\", \"@parameters\": "
		"{\"dtype\": \"float32\", \"device\": \"cpu\", \"reps\": 20000, "
		"\"matrix_size\": %d}, \"@result\": {\"rate\": %.17g, \"elapsed\": %.17g}}",
		256 << (number % 4), 1.0 / (double)number, 27366.39 + (double)number);
	int rc;

	trial_init(&t, number);
	rc = contract_read(&said, text, (size_t)n, e);
	t.said = &said;
	t.said_well = !rc;
	t.exit_code = 0;
	t.start_ns = clock_utc_ns();
	t.end_ns = t.start_ns + NS_PER_S;
	t.duration_s = 1;
	trial_take_usage(&t, &(struct rusage){ 0 });
	t.host = "node001";
	t.governor = "performance";
	t.out = text;
	if (!rc)
		rc = trial_put(s, b, &t, e);
	contract_free(&said);
	return rc;
}

int main(int argc, char **argv)
{
	struct trial_store s = { 0 };
	struct err e = { "" };
	long trials = argc == 4 ? strtol(argv[2], NULL, 10) : 0;
	long each = argc == 4 ? strtol(argv[3], NULL, 10) : 0;
	char uid[40];
	struct trial_batch b = { .uid = uid, .source = "run" };
	int64_t began;
	int rc;

	if (trials < 1 || each < 1)
		fail("which store, how many trials, and how many in a transaction?");
	snprintf(uid, sizeof uid, "%lld", (long long)clock_utc_ns());
	if (database_open(&s.database, argv[1], &e) || database_begin(s.database, &e) ||
	    batch_put(s.database, &b, &e) || database_commit(s.database, &e))
		fail(e.text);
	began = clock_mono_ns();
	for (long i = 1; i <= trials; i++) {
		rc = (i - 1) % each ? 0 : database_begin(s.database, &e);
		if (!rc)
			rc = put(&s, &b, i, &e);
		if (!rc && (i % each == 0 || i == trials))
			rc = database_commit(s.database, &e);
		if (rc)
			fail(e.text);
	}
	printf("%.6f\n", (double)(clock_mono_ns() - began) / 1e9);
	database_close(s.database);
	trial_store_free(&s);
	return 0;
}
