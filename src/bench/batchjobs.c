/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/batchjobs.h"

#include "base/text/number.h"

#include <inttypes.h>

enum { JOBS, CPUS, TRIALS };

static const char question[] =
	"SELECT j.text, c.text, COUNT(*) FROM trials t "
	"JOIN environment_facts j ON j.environment_id = t.environment_id AND j.name = 'trial.jobs' "
	"JOIN environment_facts c ON c.environment_id = t.environment_id AND c.name = 'trial.cpus' "
	"WHERE t.batch_id = $1 GROUP BY j.text, c.text ORDER BY j.text, c.text";

/* A fact is a text; 0: it is not a number. */
static int64_t jobs_of(const struct field *row)
{
	const char *at = row[JOBS].s;
	int64_t v;

	return at && number_i64(&at, &v) && v > 0 ? v : 0;
}

static void put(struct bytes *out, int64_t jobs, int64_t trials, uint32_t of, const char *between)
{
	bytes_printf(out, "%s%" PRId64 " of %" PRIu32 " trials ran %" PRId64 " at a time", between,
		     trials, of, jobs);
}

int batch_jobs_text(struct database *s, int64_t batch, uint32_t of, struct bytes *out,
		    struct err *e)
{
	const struct field v = field_int(batch), *row;
	int64_t jobs = 0, trials = 0;
	bool any = false;
	int rc = database_query(s, question, &v, 1, e);

	while (!rc && (rc = database_next(s, &row, e)) > 0) {
		rc = 0;
		if (jobs && jobs_of(row) != jobs) {
			put(out, jobs, trials, of, any ? ", " : "");
			any = true;
			trials = 0;
		}
		jobs = jobs_of(row);
		trials += row[TRIALS].i;
	}
	if (!jobs || rc)
		return rc;
	put(out, jobs, trials, of, any ? ", " : "");
	bytes_puts(out, ", each on cores of its own");
	return 0;
}

int batch_jobs_json(struct database *s, int64_t batch, struct json *j, struct err *e)
{
	const struct field v = field_int(batch), *row;
	int rc = database_query(s, question, &v, 1, e);

	json_array(j);
	while (!rc && (rc = database_next(s, &row, e)) > 0) {
		rc = 0;
		json_object(j);
		json_put_int(j, "jobs", jobs_of(row));
		json_put_text(j, "cpus", row[CPUS].s);
		json_put_int(j, "trials", row[TRIALS].i);
		json_object_end(j);
	}
	json_array_end(j);
	return rc;
}
