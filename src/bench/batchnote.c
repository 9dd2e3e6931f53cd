/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/batchnote.h"

#include "base/text/escape.h"
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
