/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sonde-database - asks the store's database: statements come on its standard input, rows go back
 * on it, a socket (store/database.h). Only this program knows SQLite and libpq.
 */
#include "base/helper.h"
#include "database/driver.h"
#include "store/database.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>

enum { SOCKET = 0, BLOCK = 1 << 18 };

struct serving {
	const struct driver *driver;
	void *state;
	struct place place;
	uint8_t *text;
	uint32_t room;
	struct field field[STORE_FIELDS_MAX];
	uint32_t nfields;
	struct answer answer;
	struct talk_ahead ahead;
};

/* Answers wait until nothing more is asked: statements that come together are answered together. */
static void send_waiting(struct answer *a)
{
	a->lost |= a->waiting.failed ||
		   (a->waiting.len && !talk_write(SOCKET, a->waiting.data, a->waiting.len));
	bytes_reset(&a->waiting);
}

static void flush(struct answer *a)
{
	size_t begun;

	if (!a->block.len)
		return;
	begun = store_message_begin(&a->waiting, STORE_ROWS);
	bytes_put(&a->waiting, a->block.data, a->block.len);
	store_message_end(&a->waiting, begun);
	a->waiting.failed |= a->block.failed;
	send_waiting(a);
	bytes_reset(&a->block);
}

void answer_row(struct answer *a, int n)
{
	if (a->block.len >= BLOCK)
		flush(a);
	if (!a->block.len)
		bytes_varint(&a->block, (uint64_t)n);
}

void answer_field(struct answer *a, struct field f)
{
	field_put(&a->block, &f);
}

static bool say(struct answer *a, int code, const struct err *e)
{
	const struct field v[] = { field_int(code), field_text(e->text) };
	size_t begun;

	flush(a);
	begun = store_message_begin(&a->waiting, code ? STORE_FAILED : STORE_DONE);
	if (code) {
		field_put(&a->waiting, &v[0]);
		field_put(&a->waiting, &v[1]);
	}
	store_message_end(&a->waiting, begun);
	a->lost |= a->waiting.failed;
	return !a->lost;
}

static int open_database(struct serving *s, struct err *e)
{
	if (s->driver || s->nfields != 2 || s->field[0].type != FIELD_TEXT)
		return err_set(e, -EPROTO, "this is not the address of a store");
	if (place_parse(&s->place, s->field[0].s, e))
		return -EINVAL;
	s->driver = s->place.postgres ? &driver_postgres : &driver_sqlite;
	s->state = calloc(1, s->driver->size);
	if (!s->state)
		return err_set(e, -ENOMEM, "out of memory");
	return s->driver->open(s->state, s->place.where, s->field[1].i, e);
}

static int serve_text(struct serving *s, uint32_t kind, struct err *e)
{
	const struct driver *d = s->driver;

	if (kind == STORE_OPEN)
		return open_database(s, e);
	if (!d || !s->nfields || s->field[0].type != FIELD_TEXT)
		return err_set(e, -EPROTO, "there is not a database or no statement");
	if (kind == STORE_EXEC)
		return d->exec(s->state, s->field[0].s, s->field + 1, s->nfields - 1, &s->answer,
			       e);
	return d->copy ? d->copy(s->state, s->field[0].s, e)
		       : err_set(e, -EOPNOTSUPP, "this database has no COPY");
}

static bool take_fields(struct serving *s, uint32_t length)
{
	struct scan at = { .at = s->text, .end = s->text + length };

	for (s->nfields = 0; at.at < at.end; s->nfields++)
		if (s->nfields == STORE_FIELDS_MAX || !field_get(&at, &s->field[s->nfields]))
			return false;
	return true;
}

static bool serve(struct serving *s, uint32_t kind, uint32_t length)
{
	bool copies = s->driver && s->driver->copy;
	struct err e = { "" };
	int rc;

	if (kind == STORE_DATA) {
		if (copies)
			s->driver->data(s->state, s->text, length);
		return copies;
	}
	if (kind == STORE_COPIED)
		rc = copies ? s->driver->copied(s->state, &e) : -EPROTO;
	else if (kind == STORE_CLOSE || kind > STORE_CLOSE || !take_fields(s, length))
		return false;
	else
		rc = serve_text(s, kind, &e);
	return say(&s->answer, rc, &e);
}

static bool hear(struct serving *s, uint32_t *kind, uint32_t *length)
{
	uint8_t head[STORE_HEAD];

	if (s->ahead.at == s->ahead.end)
		send_waiting(&s->answer);
	if (!talk_read_ahead(SOCKET, &s->ahead, head, sizeof head) ||
	    !store_message_head(head, kind, length))
		return false;
	if (*length >= s->room) {
		free(s->text);
		s->room = *length + 1;
		s->text = malloc(s->room);
	}
	return s->text && talk_read_ahead(SOCKET, &s->ahead, s->text, *length);
}

int main(void)
{
	static struct serving s;
	uint32_t kind = 0, length;
	struct err e = { "" };

	prctl(PR_SET_NAME, "sonde-database");
	umask(077);
	while (hear(&s, &kind, &length) && serve(&s, kind, length))
		;
	if (s.state)
		s.driver->close(s.state);
	if (kind == STORE_CLOSE) /* all is over: nothing is cut off by an early end */
		say(&s.answer, 0, &e);
	send_waiting(&s.answer);
	free(s.state);
	free(s.text);
	bytes_free(&s.answer.block);
	bytes_free(&s.answer.waiting);
	return EXIT_SUCCESS;
}
