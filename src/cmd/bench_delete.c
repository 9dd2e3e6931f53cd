/* SPDX-License-Identifier: Apache-2.0 */
/* bench_delete.c - batches are taken out of the store, with what refers to them. */
#include "console/command.h"
#include "session/history.h"
#include "trial/benchprint.h"

#include <errno.h>
#include <inttypes.h>

struct delete_options {
	const char *store;
	bool yes;
};

static const struct option rows[] = {
	{ .name = "yes",
	  .letter = 'y',
	  .type = ARG_FLAG,
	  .help = "Delete them. Without it, only what would be deleted is printed.",
	  OPTION_OFFSET(struct delete_options, yes) },
	BENCH_STORE(struct delete_options, store, "Change this store."),
};

static const struct example examples[] = {
	{ "bench delete bench:3", "what would be deleted" },
	{ "bench delete --yes bench:3 bench:5", "two batches are deleted" },
};

/* Rows of indicators and points of sweeps follow by the store's own rules; facts of machines that
 * no trial has any more are of no use. */
static int delete_batch(struct database *s, int64_t batch, struct err *e)
{
	static const char *const statements[] = {
		"DELETE FROM trials WHERE batch_id = $1",
		"DELETE FROM batches WHERE id = $1",
	};
	static const char unused[] = "DELETE FROM environments WHERE NOT EXISTS (SELECT 1 FROM "
				     "trials t WHERE t.environment_id = environments.id)";
	const struct field v = field_int(batch);
	int rc = database_begin(s, e);

	if (rc)
		return rc;
	for (size_t i = 0; i < sizeof statements / sizeof statements[0] && !rc; i++)
		rc = database_exec(s, statements[i], &v, 1, e);
	if (!rc)
		rc = database_exec(s, unused, NULL, 0, e);
	if (!rc)
		return database_commit(s, e);
	database_rollback(s);
	return rc;
}

/* What it is, and where its recordings stay. */
static int tell(struct database *s, int64_t batch, struct err *e)
{
	struct bench_group g = { 0 };
	struct bytes b = { 0 };
	int rc = bench_group_read(&g, s, batch, e);

	if (!rc) {
		benchprint_head(&b, &g);
		while (b.len && b.data[b.len - 1] == '\n')
			b.len--;
		bytes_u8(&b, 0);
		say("bench delete: %s", b.failed ? "" : (const char *)b.data);
	}
	for (uint32_t i = 0; i < g.ntrials && !rc; i++)
		if (g.row[i].path) {
			say("bench delete: its recordings stay: %s%s", g.row[i].path,
			    g.ntrials > 1 ? " and further" : "");
			break;
		}
	bytes_free(&b);
	bench_group_free(&g);
	return rc;
}

static int delete_exec(const void *options, int noperands, char **operands)
{
	const struct delete_options *o = options;
	const struct history_options where = { .store = o->store };
	struct database *s = NULL;
	struct err e = { "" };
	int rc =
		noperands ? 0 : err_set(&e, -EINVAL, "no batch given: sonde bench delete bench:ID");

	for (int i = 0; i < noperands && !rc; i++)
		if (!bench_batch_id(operands[i]))
			rc = err_set(&e, -EINVAL,
				     "'%.100s' is not a batch; sonde bench list prints them",
				     operands[i]);
	if (!rc)
		rc = history_open(&s, &where, "bench delete", &e);
	/* All are there before one is gone. */
	for (int i = 0; i < noperands && !rc; i++)
		rc = tell(s, bench_batch_id(operands[i]), &e);
	for (int i = 0; i < noperands && !rc && o->yes; i++)
		rc = delete_batch(s, bench_batch_id(operands[i]), &e);
	database_close(s);
	if (rc)
		say("bench delete: %s", e.text);
	else
		say(o->yes ? "bench delete: deleted"
			   : "bench delete: nothing is deleted without "
			     "--yes");
	return rc == -EINVAL ? EXIT_USAGE : rc ? EXIT_FAILED : EXIT_OK;
}

const struct command command_bench_delete = {
	.name = "bench delete",
	.operands = "bench:ID...",
	.what = "Delete batches of trials from the store",
	.description =
		"Deletes batches with their trials, the rows of these in the tables of indicators, "
		"and facts of machines and software that no other trial has. A combination of a "
		"sweep that loses its batch counts as not run: the sweep runs it again. Recordings "
		"are files and stay; where they are is printed.",
	COMMAND_OPTIONS(rows),
	.size = sizeof(struct delete_options),
	COMMAND_EXAMPLES(examples),
	.exec = delete_exec,
};
