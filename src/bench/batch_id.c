/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/batch_id.h"

#include "base/text/number.h"

#include <errno.h>
#include <string.h>

int64_t bench_batch_id(const char *word)
{
	int64_t id;

	if (!strncmp(word, "bench:", 6))
		word += 6;
	return number_i64(&word, &id) && !*word && id > 0 ? id : 0;
}

#define TAG "tag:"

static const char of_indicator[] =
	"SELECT id FROM (SELECT DISTINCT t.batch_id AS id FROM trials t JOIN indicators i ON i.id "
	"= t.indicator_id WHERE i.name = $1 ORDER BY id DESC LIMIT $2) AS newest ORDER BY id";
static const char of_tag[] = "SELECT id FROM (SELECT batch_id AS id FROM batch_tags WHERE tag = $1 "
			     "ORDER BY id DESC LIMIT $2) AS newest ORDER BY id";

static const char *without(const char *word, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(word, prefix, n) ? word : word + n;
}

int bench_batches(struct database *s, const char *word, int64_t *batch, uint32_t most, uint32_t *n,
		  struct err *e)
{
	const struct field v[] = { field_text(without(without(word, "bench:"), TAG)),
				   field_int(most) },
			   *row;
	int64_t id = bench_batch_id(word);
	int rc;

	*n = 0;
	if (id) {
		batch[(*n)++] = id;
		return 0;
	}
	rc = database_query(s, v[0].s == without(word, "bench:") ? of_indicator : of_tag, v, 2, e);
	while (!rc && (rc = database_next(s, &row, e)) > 0) {
		rc = 0;
		if (*n < most)
			batch[(*n)++] = row[0].i;
	}
	if (!rc && !*n)
		return err_set(e, -EINVAL,
			       "'%.100s' is not a batch, nor an indicator or a tag with trials; "
			       "sonde bench list prints them",
			       word);
	return rc;
}
