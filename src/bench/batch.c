/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/batch.h"

#include "base/text/escape.h"
#include "base/text/number.h"
#include "bench/contract.h"
#include "store/database.h"

#include <errno.h>
#include <string.h>

int batch_tag_check(const char *tag, struct err *e)
{
	if (contract_is_name(tag) && strlen(tag) <= BATCH_TAG)
		return 0;
	return err_set(
		e, -EINVAL,
		"'%.80s' is not a tag: a letter, then letters, digits, _ . and -, at most %d", tag,
		BATCH_TAG);
}

int batch_note_check(const char *note, struct err *e)
{
	if (escape_is_utf8(note) && strlen(note) <= BATCH_NOTE)
		return 0;
	return err_set(e, -EINVAL, "a note is a text in UTF-8 of at most %d bytes", BATCH_NOTE);
}

int batch_note_put(struct database *s, int64_t batch, const char *note, struct err *e)
{
	const struct field v[] = { field_int(batch), field_text(*note ? note : NULL) };

	return database_exec(s, "UPDATE batches SET note = $2 WHERE id = $1", v, 2, e);
}

int batch_tag_put(struct database *s, int64_t batch, const char *tag, struct err *e)
{
	const struct field v[] = { field_int(batch), field_text(tag) };

	return database_exec(s,
			     "INSERT INTO batch_tags (batch_id, tag) VALUES ($1, $2) ON CONFLICT "
			     "DO NOTHING",
			     v, 2, e);
}

int batch_tag_drop(struct database *s, int64_t batch, const char *tag, struct err *e)
{
	const struct field v[] = { field_int(batch), field_text(tag) };

	return database_exec(s, "DELETE FROM batch_tags WHERE batch_id = $1 AND tag = $2", v, 2, e);
}

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
