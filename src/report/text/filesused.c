/* SPDX-License-Identifier: Apache-2.0 */
/* filesused.c - the files that the job used, for terminals and scripts. */
#include "report/summary/filesused.h"

#include "base/text/escape.h"
#include "base/text/json.h"
#include "report/lines.h"

#include <math.h>
#include <string.h>

enum { JSON_ROWS = 20000 };

/* A counter, or "-" where no row knows it. */
static void print_counter(FILE *out, const struct files_used *u, const struct used_sum *s,
			  enum used_counter which, enum unit unit)
{
	char text[CELL];

	fprintf(out, " %10s", u->known >> which & 1 ? cell_text(text, unit, s->value[which]) : "-");
}

static void print_row(FILE *out, const struct files_used *u, const struct used_sum *s)
{
	double bytes = s->value[USED_READ] + s->value[USED_WRITTEN];
	char name[512], text[CELL];
	struct used_sum time = { .value = { 0 } };

	time.value[USED_READ_SECONDS] = s->value[USED_READ_SECONDS] + s->value[USED_WRITE_SECONDS] +
					s->value[USED_OTHER_SECONDS];
	print_counter(out, u, s, USED_READ, UNIT_BYTES);
	print_counter(out, u, s, USED_WRITTEN, UNIT_BYTES);
	print_counter(out, u, s, USED_MAPPED, UNIT_BYTES);
	print_counter(out, u, s, USED_READS, UNIT_COUNT);
	print_counter(out, u, s, USED_WRITES, UNIT_COUNT);
	print_counter(out, u, &time, USED_READ_SECONDS, UNIT_SECONDS);
	fprintf(out, " %10s",
		bytes > 0 ? cell_text(text, UNIT_RATIO, s->value[USED_SEQUENTIAL] / bytes) : "-");
	print_counter(out, u, s, USED_OPENS, UNIT_COUNT);
	print_counter(out, u, s, USED_STATS, UNIT_COUNT);
	print_counter(out, u, s, USED_NOT_FOUND, UNIT_COUNT);
	fprintf(out, "  %s\n", escape_terminal_into(name, sizeof name, s->name));
}

static void print_missing(FILE *out, const struct files_used *u)
{
	char text[1024];

	if (u->by_positions)
		fprintf(out,
			"By positions of descriptors: a lower limit; calls, times and files that "
			"were open briefly are not seen.\n");
	if (u->lost > 0)
		fprintf(out, "%.0f records of system calls were lost: counts are too low.\n",
			u->lost);
	if (u->note)
		fprintf(out, "Note: %s.\n", escape_terminal_into(text, sizeof text, u->note));
	if (u->refused)
		fprintf(out, "Not recorded: %s.\n",
			escape_terminal_into(text, sizeof text, u->refused));
}

int files_used_print(const struct files_used *u, struct run *r, enum used_by by, size_t most,
		     FILE *out, struct err *e)
{
	struct used_sum *s = NULL;
	size_t n = 0;
	int rc = used_sums(&s, &n, u, r, by, e);

	if (rc)
		return rc;
	fprintf(out, "Files that the job used, by %s\n", used_by_names[by]);
	fprintf(out, " %10s %10s %10s %10s %10s %10s %10s %10s %10s %10s  %s\n", "read", "written",
		"mapped", "reads", "writes", "time", "sequential", "opens", "stats", "not found",
		used_by_names[by]);
	for (size_t i = 0; i < n && i < most; i++)
		print_row(out, u, &s[i]);
	if (n > most)
		fprintf(out, "  and %zu more\n", n - most);
	print_missing(out, u);
	used_sums_free(s, n);
	return 0;
}

static void json_sum(struct json *j, const struct files_used *u, const struct used_sum *s)
{
	json_object(j);
	json_put_text(j, "name", s->name);
	json_put_real(j, "files", s->files);
	for (int i = 0; i < USED_COUNTERS; i++)
		json_put_real(j, used_counter_names[i],
			      u->known >> i & 1 ? s->value[i] : (double)NAN);
	json_object_end(j);
}

int files_used_json(const struct files_used *u, struct run *r, struct bytes *out, struct err *e)
{
	struct json j = { .out = out, .indent = true };
	int rc = 0;

	json_object(&j);
	json_put_text(&j, "schema", "sonde/files/1");
	json_put_text(&j, "by", !u || u->refused ? NULL : u->by_positions ? "positions" : "calls");
	json_put_real(&j, "records_lost", u ? u->lost : (double)NAN);
	json_put_text(&j, "note", u ? u->note : NULL);
	json_put_text(&j, "not_recorded",
		      u ? u->refused : "no files were recorded: use `sonde run --files`");
	for (int by = 0; by < USED_BY_NUMBER_OF && !rc; by++) {
		struct used_sum *s = NULL;
		size_t n = 0;

		if (u)
			rc = used_sums(&s, &n, u, r, (enum used_by)by, e);
		json_key(&j, used_by_names[by]);
		json_array(&j);
		for (size_t i = 0; !rc && i < n && i < JSON_ROWS; i++)
			json_sum(&j, u, &s[i]);
		json_array_end(&j);
		used_sums_free(s, n);
	}
	json_object_end(&j);
	bytes_puts(out, "\n");
	return rc;
}

void files_used_words(const struct files_used *u, size_t most, struct bytes *out)
{
	struct used_sum *s = NULL;
	size_t n = 0;
	char text[CELL];

	if (used_sums(&s, &n, u, u->run, USED_BY_FILE, NULL))
		return;
	for (size_t i = 0; i < n && i < most; i++) {
		double read = s[i].value[USED_READ], written = s[i].value[USED_WRITTEN];

		bytes_puts(out, i ? ", " : "");
		cell_text(text, UNIT_BYTES, read > written ? read : written);
		bytes_printf(out, "%s %s ", text, read > written ? "read of" : "written to");
		escape_terminal(out, s[i].name);
	}
	if (n && u->by_positions)
		bytes_puts(out, " (by positions)");
	used_sums_free(s, n);
}
