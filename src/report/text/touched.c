/* SPDX-License-Identifier: Apache-2.0 */
/* touched.c - which code touched memory first, for terminals and scripts. */
#include "report/summary/touched.h"
#include "base/text/json.h"
#include "report/lines.h"
#include "report/text/stack_rows.h"

static const double least_share = 0.01;

static double share_of(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

static void put_owner(struct bytes *out, const struct owner *o)
{
	struct bytes text = { 0 };

	bytes_printf(&text, "%.60s", o->function->shown);
	if (o->file || *o->function->module) {
		bytes_puts(&text, " (");
		rows_place(o->function, o->file, o->line, &text);
		bytes_puts(&text, ")");
	}
	rows_escape(out, &text, false);
}

/* ---- in words ---- */

void touched_words(const struct touched_memory *t, unsigned most, struct bytes *out)
{
	const struct owners *o = &t->owners;
	char bytes[CELL], whole[CELL];

	if (!t->peak || !(o->resident[OWNERS_PEAK] > 0))
		return;
	cell_text(whole, UNIT_BYTES, o->resident[OWNERS_PEAK]);
	for (uint32_t i = 0; i < o->n && i < most; i++) {
		double part = o->row[i].resident[OWNERS_PEAK];

		if (share_of(part, o->resident[OWNERS_PEAK]) < least_share)
			break;
		cell_text(bytes, UNIT_BYTES, part);
		bytes_puts(out, i ? ", " : "");
		if (i)
			bytes_printf(out, "%s in ", bytes);
		else
			bytes_printf(out, "%s of %s was first touched in ", bytes, whole);
		put_owner(out, &o->row[i]);
	}
}

/* ---- tables ---- */

static void print_owners(const struct touched_memory *t, FILE *out, unsigned most)
{
	const struct owners *o = &t->owners;
	double whole = o->resident[OWNERS_PEAK];
	char bytes[CELL], share[CELL], touched[CELL], when[CELL];

	fprintf(out, "Resident memory by the function that touched it first: %s at the peak, %s\n",
		cell_text(bytes, UNIT_BYTES, whole),
		cell_text(when, UNIT_SECONDS, o->moment_s[OWNERS_PEAK]));
	fprintf(out, "  %8s %10s %12s  %s\n", "share", "at peak", "touched", "function");
	for (uint32_t i = 0; i < o->n && i < most; i++) {
		const struct owner *row = &o->row[i];

		fprintf(out, "  %8s %10s %12s",
			cell_share(share, share_of(row->resident[OWNERS_PEAK], whole)),
			cell_text(bytes, UNIT_BYTES, row->resident[OWNERS_PEAK]),
			cell_text(touched, UNIT_BYTES, row->touched));
		rows_print(out, row->function->shown, ROWS_NAME_WIDTH, false);
		rows_print_place(out, row->function, row->file, row->line, true);
		fputc('\n', out);
	}
	fprintf(out, "  %8s %10s %12s  %s\n",
		cell_share(share, share_of(o->unseen[OWNERS_PEAK], whole)),
		cell_text(bytes, UNIT_BYTES, o->unseen[OWNERS_PEAK]), "-", STACKS_UNSEEN);
	rows_print_more(out, o->n, most);
}

static const struct stacks *stacks_of(const struct touched_memory *t, enum stacks_by by)
{
	return by == STACKS_BY_PHASE ? t->flow : t->peak;
}

static void print_row(const struct stacks *s, enum stacks_by by, const struct stacks_row *row,
		      FILE *out)
{
	char share[CELL], self[CELL], total[CELL];

	fprintf(out, "  %8s %10s %10s", cell_share(share, stacks_share(s, row->self)),
		cell_text(self, UNIT_BYTES, row->self), cell_text(total, UNIT_BYTES, row->total));
	rows_print_name(out, by, row, !rows_have_places(by));
	if (rows_have_places(by))
		rows_print_place(out, &s->functions[row->function], row->file, row->line, true);
	if (by == STACKS_BY_PROCESS)
		rows_print_pid(out, s, row);
	fputc('\n', out);
}

void touched_print_by(const struct touched_memory *t, enum stacks_by by, FILE *out, unsigned most)
{
	const struct stacks *s = stacks_of(t, by);
	const struct stacks_rows *rows = &s->rows[by];

	fprintf(out, "%s by %s\n  %8s %10s %10s  %s\n",
		by == STACKS_BY_PHASE ? "All memory that was touched first,"
				      : "Resident memory at the peak,",
		stacks_by_names[by], "share", "self", "total", stacks_by_names[by]);
	for (uint32_t i = 0; i < rows->n && i < most; i++)
		print_row(s, by, &rows->row[i], out);
	rows_print_more(out, rows->n, most);
}

static void print_leak(const struct touched_memory *t, FILE *out)
{
	const struct owner *leak = touched_leak(t);
	const struct owners *o = &t->owners;
	struct bytes name = { 0 };
	char own[CELL], all[CELL];

	if (!leak)
		return;
	put_owner(&name, leak);
	if (!name.failed)
		fprintf(out,
			"\nGrows all the time: %.*s, by %s while resident memory grew by %s.\n",
			(int)name.len, (const char *)name.data,
			cell_text(own, UNIT_BYTES,
				  leak->resident[OWNERS_MOMENTS - 1] -
					  leak->resident[OWNERS_FIRST]),
			cell_text(all, UNIT_BYTES,
				  o->resident[OWNERS_MOMENTS - 1] - o->resident[OWNERS_FIRST]));
	bytes_free(&name);
}

static bool say_missing(const void *of, unsigned i, struct bytes *sentence)
{
	return touched_say(of, i, sentence);
}

void touched_print(const struct touched_memory *t, FILE *out, unsigned most)
{
	static const enum stacks_by tables[] = { STACKS_BY_MODULE, STACKS_BY_COMMAND,
						 STACKS_BY_RANK };

	if (t->peak) {
		print_owners(t, out, most);
		for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
			if (t->peak->rows[tables[i]].n < 2)
				continue;
			fputc('\n', out);
			touched_print_by(t, tables[i], out, most);
		}
		print_leak(t, out);
		fprintf(out, "\n%.0f samples of page faults.\n", t->samples);
	}
	rows_print_sentences(out, say_missing, t);
}

/* ---- as JSON ---- */

static void put_owner_json(struct json *j, const struct owners *o, const struct owner *row)
{
	json_object(j);
	json_put_text(j, "name", row->function->shown);
	rows_json_place(j, row->function, row->file, row->line);
	json_put_real(j, "peak_bytes", row->resident[OWNERS_PEAK]);
	json_put_real(j, "peak_ratio",
		      share_of(row->resident[OWNERS_PEAK], o->resident[OWNERS_PEAK]));
	json_put_real(j, "touched_bytes", row->touched);
	json_put_real(j, "growth_bytes",
		      row->resident[OWNERS_MOMENTS - 1] - row->resident[OWNERS_FIRST]);
	json_object_end(j);
}

static void put_row(struct json *j, const struct stacks *s, enum stacks_by by,
		    const struct stacks_row *row)
{
	json_object(j);
	json_put_text(j, "name", row->name);
	if (rows_have_places(by))
		rows_json_place(j, &s->functions[row->function], row->file, row->line);
	if (by == STACKS_BY_PROCESS)
		json_put_text(j, "pid", run_label(s->run, row->instance, "pid"));
	if (by == STACKS_BY_RANK)
		json_put_real(j, "rank", row->rank);
	json_put_real(j, "self_bytes", row->self);
	json_put_real(j, "total_bytes", row->total);
	json_put_real(j, "self_ratio", stacks_share(s, row->self));
	json_object_end(j);
}

static void put_rows(struct json *j, const struct touched_memory *t, enum stacks_by by,
		     unsigned most)
{
	const struct stacks *s = stacks_of(t, by);

	json_key(j, stacks_by_names[by]);
	json_array(j);
	for (uint32_t i = 0; i < s->rows[by].n && i < most; i++)
		put_row(j, s, by, &s->rows[by].row[i]);
	json_array_end(j);
}

static void put_all(struct json *j, const struct touched_memory *t, unsigned most)
{
	static const enum stacks_by tables[] = { STACKS_BY_FUNCTION, STACKS_BY_LINE,
						 STACKS_BY_MODULE,   STACKS_BY_COMMAND,
						 STACKS_BY_PROCESS,  STACKS_BY_RANK,
						 STACKS_BY_NODE,     STACKS_BY_PHASE };
	const struct owners *o = &t->owners;
	const struct owner *leak = touched_leak(t);

	json_put_real(j, "peak_bytes", o->resident[OWNERS_PEAK]);
	json_put_real(j, "peak_seconds", o->moment_s[OWNERS_PEAK]);
	json_put_real(j, "unseen_bytes", o->unseen[OWNERS_PEAK]);
	json_put_real(j, "touched_bytes", o->touched);
	json_put_real(j, "growth_bytes",
		      o->resident[OWNERS_MOMENTS - 1] - o->resident[OWNERS_FIRST]);
	json_put_real(j, "samples", t->samples);
	json_put_text(j, "grows", leak ? leak->function->shown : NULL);
	json_key(j, "owner");
	json_array(j);
	for (uint32_t i = 0; i < o->n && i < most; i++)
		put_owner_json(j, o, &o->row[i]);
	json_array_end(j);
	for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
		put_rows(j, t, tables[i], most);
}

static void put_missing(struct json *j, const struct touched_memory *t)
{
	struct bytes text = { 0 };

	json_key(j, "missing");
	json_array(j);
	for (unsigned i = 0; touched_say(t, i, &text); i++) {
		bytes_u8(&text, 0);
		if (!text.failed && *text.data)
			json_text(j, (const char *)text.data);
		bytes_reset(&text);
	}
	json_array_end(j);
	bytes_free(&text);
}

void touched_json(const struct touched_memory *t, const struct run *r, unsigned most,
		  struct bytes *out)
{
	struct json j = { .out = out, .indent = true };

	json_object(&j);
	json_put_text(&j, "schema", "sonde/memory/1");
	json_put_text(&j, "recording", r->path);
	json_put_text(&j, "not_recorded",
		      t && t->peak      ? NULL
		      : t && t->refused ? t->refused
					: "page faults were not sampled");
	if (t)
		put_missing(&j, t);
	if (t && t->peak)
		put_all(&j, t, most);
	json_object_end(&j);
	bytes_puts(out, "\n");
}
