/* SPDX-License-Identifier: Apache-2.0 */
/* bench_note.c - notes and tags of batches. */
#include "bench/group.h"
#include "console/command.h"
#include "session/history.h"
#include "trial/benchprint.h"

#include <errno.h>
#include <stdlib.h>

enum { BATCHES_MAX = 4096 };

struct note_options {
	const char *store, *note;
	struct option_list tags, untags;
};

static const struct option rows[] = {
	{ .name = "note",
	  .type = ARG_TEXT,
	  .value = "TEXT",
	  .help = "Write this note, in the place of an earlier one. Empty: remove it.",
	  OPTION_OFFSET(struct note_options, note) },
	{ .name = "tag",
	  .type = ARG_LIST,
	  .value = "NAME",
	  .help = "Add this tag. Repeatable.",
	  OPTION_OFFSET(struct note_options, tags) },
	{ .name = "untag",
	  .type = ARG_LIST,
	  .value = "NAME",
	  .help = "Remove this tag. Repeatable.",
	  OPTION_OFFSET(struct note_options, untags) },
	BENCH_STORE(struct note_options, store, "Change this store."),
};

static const struct example examples[] = {
	{ "bench note bench:3 --note 'before the fix' --tag baseline", "one batch" },
	{ "bench note tag:baseline --untag baseline", "all batches with a tag" },
};

static int check(const struct note_options *o, int noperands, struct err *e)
{
	int rc = 0;

	if (!noperands)
		return err_set(e, -EINVAL, "no batch given: sonde bench note bench:ID --note TEXT");
	if (!o->note && !o->tags.n && !o->untags.n)
		return err_set(e, -EINVAL, "nothing to write: use --note, --tag or --untag");
	if (o->note)
		rc = batch_note_check(o->note, e);
	for (uint32_t i = 0; i < o->tags.n && !rc; i++)
		rc = batch_tag_check(o->tags.text[i], e);
	for (uint32_t i = 0; i < o->untags.n && !rc; i++)
		rc = batch_tag_check(o->untags.text[i], e);
	return rc;
}

static int is_there(struct database *s, int64_t batch, const char *word, struct err *e)
{
	const struct field v = field_int(batch), *row = NULL;
	int rc = database_first(s, "SELECT id FROM batches WHERE id = $1", &v, 1, &row, e);

	if (rc > 0)
		return 0;
	return rc ? rc
		  : err_set(e, -ENOENT, "there is no %.100s; sonde bench list prints them", word);
}

static int write_batch(struct database *s, int64_t batch, const struct note_options *o,
		       struct err *e)
{
	int rc = o->note ? batch_note_put(s, batch, o->note, e) : 0;

	for (uint32_t i = 0; i < o->untags.n && !rc; i++)
		rc = batch_tag_drop(s, batch, o->untags.text[i], e);
	for (uint32_t i = 0; i < o->tags.n && !rc; i++)
		rc = batch_tag_put(s, batch, o->tags.text[i], e);
	return rc;
}

/* All of them or none. */
static int write_all(struct database *s, const struct note_options *o, int n, char **words,
		     struct err *e)
{
	int64_t *batch = malloc(BATCHES_MAX * sizeof *batch);
	int rc;

	if (!batch)
		return err_set(e, -ENOMEM, "out of memory for batches");
	rc = database_begin(s, e);
	for (int i = 0; i < n && !rc; i++) {
		uint32_t found = 0;

		rc = bench_batches(s, words[i], batch, BATCHES_MAX, &found, e);
		for (uint32_t k = 0; k < found && !rc; k++) {
			rc = is_there(s, batch[k], words[i], e);
			if (!rc)
				rc = write_batch(s, batch[k], o, e);
		}
	}
	free(batch);
	if (!rc)
		return database_commit(s, e);
	database_rollback(s);
	return rc;
}

static int note_exec(const void *options, int noperands, char **operands)
{
	const struct note_options *o = options;
	const struct history_options where = { .store = o->store };
	struct database *s = NULL;
	struct err e = { "" };
	int rc = check(o, noperands, &e);

	if (!rc)
		rc = history_open(&s, &where, "bench note", &e);
	if (!rc)
		rc = write_all(s, o, noperands, operands, &e);
	database_close(s);
	if (rc)
		say("bench note: %s", e.text);
	return rc == -EINVAL ? EXIT_USAGE : rc ? EXIT_FAILED : EXIT_OK;
}

const struct command command_bench_note = {
	.name = "bench note",
	.operands = "bench:ID|tag:NAME|INDICATOR...",
	.what = "Write notes and tags of batches",
	.description =
		"A batch has at most one note and any number of tags. sonde bench list and show "
		"print them. stats, compare, export and note accept tag:NAME for all batches with "
		"a tag. If one of several batches does not exist, none is changed.",
	COMMAND_OPTIONS(rows),
	.size = sizeof(struct note_options),
	COMMAND_EXAMPLES(examples),
	.exec = note_exec,
};
