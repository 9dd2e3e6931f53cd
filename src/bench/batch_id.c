/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/batch_id.h"

#include "base/number.h"

#include <errno.h>
#include <string.h>

int64_t bench_batch_id(const char *word)
{
	int64_t id;

	if (!strncmp(word, "bench:", 6))
		word += 6;
	return number_i64(&word, &id) && !*word && id > 0 ? id : 0;
}

int bench_batches(struct database *s, const char *word, int64_t *batch, uint32_t most, uint32_t *n,
		  struct err *e)
{
	const struct field v[] = { field_text(strncmp(word, "bench:", 6) ? word : word + 6),
				   field_int(most) },
			   *row;
	int64_t id = bench_batch_id(word);
	int rc;

	*n = 0;
	if (id) {
		batch[(*n)++] = id;
		return 0;
	}
	rc = database_query(s,
			    "SELECT id FROM (SELECT DISTINCT t.batch_id AS id FROM trials t JOIN "
			    "indicators i ON i.id = t.indicator_id WHERE i.name = $1 ORDER BY id "
			    "DESC LIMIT $2) AS newest ORDER BY id",
			    v, 2, e);
	while (!rc && (rc = database_next(s, &row, e)) > 0) {
		rc = 0;
		if (*n < most)
			batch[(*n)++] = row[0].i;
	}
	if (!rc && !*n)
		return err_set(e, -EINVAL,
			       "'%.100s' is not a batch, nor an indicator with trials; sonde bench "
			       "list prints them",
			       word);
	return rc;
}
