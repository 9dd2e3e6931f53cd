/* SPDX-License-Identifier: Apache-2.0 */
/* code.c - which code the CPU time went to, for terminals, Markdown and scripts. */
#include "report/summary/code.h"
#include "base/text/escape.h"
#include "base/text/json.h"
#include "report/lines.h"
#include "report/text/stack_rows.h"

#include <math.h>
#include <string.h>

/* ---- in words and tables ---- */

enum { COMMAND_WIDTH = 15 };
enum { LOOKS_LEAST = 20 }; /* at running Python, that say something */

/* A part of all CPU time: a class, or what no sample is of. */
struct part {
	const char *label, *words; /* words: in a sentence; NULL: the label */
	double seconds, error;     /* error, of the share; NAN: it was not sampled */
};
enum { PARTS = CLASSES_MAX + 3 };

/* All parts, the largest first, then those that were not sampled. Returns their number. together:
 * kinds of code are one part where too few samples tell them apart. */
static unsigned parts_of(const struct code *code, bool together, struct part part[PARTS])
{
	const struct code_account *a = &code->account;
	const struct stacks_rows *rows = &code->stacks->rows[STACKS_BY_CLASS];
	unsigned n = 0;

	if (together && code_is_thin(code))
		part[n++] = (struct part){ "code with too few samples", NULL, a->sampled_s, NAN };
	for (uint32_t i = 0; !n && i < rows->n && i < CLASSES_MAX; i++)
		part[i] = (struct part){ rows->row[i].name, NULL, rows->row[i].self,
					 code_error(code, code->stacks, rows->row[i].self) };
	n = n ? n : rows->n < CLASSES_MAX ? rows->n : CLASSES_MAX;
	if (a->short_s > 0)
		part[n++] = (struct part){ "processes too short to be sampled",
					   "too short to sample", a->short_s, NAN };
	if (!isnan(a->rest_s))
		part[n++] = (struct part){ "user time without samples", NULL, a->rest_s, NAN };
	if (!isnan(a->system_s))
		part[n++] = (struct part){ "kernel", NULL, a->system_s, NAN };
	return n;
}

static double share_of(const struct code *code, double seconds)
{
	return code_share(code, code->stacks, seconds);
}

static const struct part *largest(const struct part *part, unsigned n, const bool *told)
{
	const struct part *most = NULL;

	for (unsigned i = 0; i < n; i++)
		if (!told[i] && (!most || part[i].seconds > most->seconds))
			most = &part[i];
	return most;
}

void code_classes_words(const struct code *code, unsigned most, struct bytes *out)
{
	struct part part[PARTS];
	bool told[PARTS] = { false };
	unsigned n = parts_of(code, true, part), said = 0;
	double rest = 1;
	const struct part *p;
	char cell[CELL];

	while (said < most && (p = largest(part, n, told)) && share_of(code, p->seconds) >= 0.01) {
		double share = share_of(code, p->seconds);

		told[p - part] = true;
		rest -= share;
		bytes_printf(out, "%s%s %s", said++ ? ", " : "", p->words ? p->words : p->label,
			     cell_share(cell, share));
	}
	if (rest >= 0.01)
		bytes_printf(out, "%sother %s", said ? ", " : "", cell_share(cell, rest));
}

static void where_of(const struct stacks *s, const struct stacks_row *row, struct bytes *out)
{
	rows_place(&s->functions[row->function], row->file, row->line, out);
}

static bool has_place(const struct stacks *s, const struct stacks_row *row)
{
	const struct stacks_function *f = &s->functions[row->function];

	return row->file || (*f->name && *f->module);
}

/* Names of the functions of most self. */
static void functions_words(const struct code *code, const struct stacks *s, unsigned most,
			    struct bytes *out)
{
	const struct stacks_rows *rows = &s->rows[STACKS_BY_FUNCTION];
	char cell[CELL];

	for (uint32_t i = 0; i < rows->n && i < most; i++) {
		const double share = code_share(code, s, rows->row[i].self);
		struct bytes text = { 0 };

		if (!(share >= 0.01))
			break;
		bytes_printf(&text, "%s%.60s", i ? ", " : "", rows->row[i].name);
		if (has_place(s, &rows->row[i])) {
			bytes_puts(&text, " (");
			where_of(s, &rows->row[i], &text);
			bytes_puts(&text, ")");
		}
		bytes_printf(&text, " %s", cell_share(cell, share));
		rows_escape(out, &text, false);
	}
}

void code_functions_words(const struct code *code, unsigned most, struct bytes *out)
{
	if (!code_is_thin(code))
		functions_words(code, code->stacks, most, out);
}

void code_python_words(const struct code *code, unsigned most, struct bytes *out)
{
	if (!code->python || code->python->effective < LOOKS_LEAST)
		return;
	functions_words(code, code->python, most, out);
	bytes_puts(out, " of Python's time");
}

/* ---- tables ---- */

static void print_part(const struct code *code, const struct part *p, FILE *out)
{
	char share[CELL], error[CELL] = "", seconds[CELL];

	if (!isnan(p->error))
		snprintf(error, sizeof error, "+-%.1f", 100 * p->error);
	fprintf(out, "  %8s %6s %9s  %s\n", cell_share(share, share_of(code, p->seconds)), error,
		cell_text(seconds, UNIT_SECONDS, p->seconds), p->label);
}

static void print_short(const struct code_account *a, FILE *out)
{
	char seconds[CELL], name[ROWS_NAME_WIDTH + 1];

	for (uint32_t i = 0; i < a->nshort; i++)
		fprintf(out, "  %8s %6s %9s    %.0f x %s\n", "", "",
			cell_text(seconds, UNIT_SECONDS, a->shorts[i].seconds),
			a->shorts[i].processes,
			escape_terminal_into(name, sizeof name, a->shorts[i].command));
}

static void print_account(const struct code *code, FILE *out)
{
	struct part part[PARTS];
	unsigned n = parts_of(code, false, part);

	fprintf(out, "CPU by kind of code\n  %8s %6s %9s\n", "share", "points", "CPU");
	for (unsigned i = 0; i < n; i++) {
		print_part(code, &part[i], out);
		if (!strncmp(part[i].label, "processes too short", 19))
			print_short(&code->account, out);
	}
}

static bool say_gap(const void *of, unsigned i, struct bytes *sentence)
{
	return code_gaps_say(of, i, sentence);
}

void code_print_gaps(const struct code *code, FILE *out)
{
	rows_print_sentences(out, say_gap, &code->gaps);
}

static void print_notes(const struct code *code, FILE *out)
{
	const struct stacks *s = code->stacks;
	char cell[CELL];

	struct bytes thin = { 0 };

	code_thin_words(code, &thin);
	fprintf(out, "\n%.*s%s", (int)thin.len, thin.len ? (const char *)thin.data : "",
		thin.len ? " " : "");
	bytes_free(&thin);
	fprintf(out,
		"Shares are of all CPU time. %.0f samples; +- is half the 95 %% interval of a "
		"share, in points.",
		s->samples);
	if (s->cut > 0)
		fprintf(out, " %s of the stacks are not whole.",
			cell_share(cell, stacks_share(s, s->cut)));
	fputc('\n', out);
	code_print_gaps(code, out);
}

static void print_row(const struct code *code, const struct stacks *s, enum stacks_by by,
		      const struct stacks_row *row, FILE *out)
{
	char share[CELL], total[CELL];

	fprintf(out, "  %8s %6.1f %8s", cell_share(share, code_share(code, s, row->self)),
		100 * code_error(code, s, row->self),
		cell_share(total, code_share(code, s, row->total)));
	rows_print_name(out, by, row,
			!rows_have_places(by) && by != STACKS_BY_THREAD && by != STACKS_BY_PROCESS);
	if (rows_have_places(by))
		rows_print_place(out, &s->functions[row->function], row->file, row->line,
				 by == STACKS_BY_LINE || !row->command);
	if (by == STACKS_BY_FUNCTION && row->command) {
		rows_print(out, row->command, COMMAND_WIDTH, true);
		if (row->commands > 1)
			fprintf(out, " and %u more", row->commands - 1);
	}
	if (by == STACKS_BY_THREAD)
		fprintf(out, "  thread %u", row->tid);
	if (by == STACKS_BY_PROCESS)
		rows_print_pid(out, s, row);
	fputc('\n', out);
}

static void print_table(const struct code *code, const struct stacks *s, enum stacks_by by,
			FILE *out, unsigned most)
{
	const struct stacks_rows *rows = &s->rows[by];

	fprintf(out, "%s by %s\n  %8s %6s %8s  %s\n",
		s == code->python   ? "Python's CPU"
		: s == code->kernel ? "The kernel's CPU"
				    : "CPU",
		stacks_by_names[by], "self", "+-", "total", stacks_by_names[by]);
	for (uint32_t i = 0; i < rows->n && i < most; i++)
		print_row(code, s, by, &rows->row[i], out);
	rows_print_more(out, rows->n, most);
}

void code_print_by(const struct code *code, enum stacks_by by, FILE *out, unsigned most)
{
	print_table(code, code->stacks, by, out, most);
}

/* What is no part of the CPU time's shares. */
static void print_beside(const struct code *code, const struct stacks *s, FILE *out, unsigned most)
{
	static const enum stacks_by tables[] = { STACKS_BY_FUNCTION, STACKS_BY_LINE };

	for (size_t i = 0; s && i < sizeof tables / sizeof tables[0]; i++) {
		fputc('\n', out);
		print_table(code, s, tables[i], out, most);
	}
}

void code_print(const struct code *code, FILE *out, unsigned most)
{
	static const enum stacks_by tables[] = { STACKS_BY_FUNCTION, STACKS_BY_MODULE,
						 STACKS_BY_COMMAND, STACKS_BY_RANK };

	print_account(code, out);
	for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
		uint32_t n = code->stacks->rows[tables[i]].n;

		if (!n || (n < 2 && tables[i] != STACKS_BY_FUNCTION))
			continue;
		fputc('\n', out);
		code_print_by(code, tables[i], out, most);
	}
	print_beside(code, code->python, out, most);
	print_beside(code, code->kernel, out, most);
	print_notes(code, out);
}

/* ---- Markdown ---- */

void code_markdown(const struct code *code, unsigned most, struct bytes *out)
{
	const struct stacks_rows *rows = &code->stacks->rows[STACKS_BY_FUNCTION];
	struct part part[PARTS];
	unsigned n = parts_of(code, true, part);
	char share[CELL], total[CELL], seconds[CELL];

	bytes_puts(out, "\n| CPU by kind of code | share | CPU |\n|---|---|---|\n");
	for (unsigned i = 0; i < n; i++)
		bytes_printf(out, "| %s | %s | %s |\n", part[i].label,
			     cell_share(share, share_of(code, part[i].seconds)),
			     cell_text(seconds, UNIT_SECONDS, part[i].seconds));
	if (code_is_thin(code))
		return;
	bytes_puts(out, "\n| function | where | self | total |\n|---|---|---|---|\n");
	for (uint32_t i = 0; i < rows->n && i < most && rows->row[i].self > 0; i++) {
		struct bytes text = { 0 };

		bytes_puts(out, "| ");
		escape_markdown(out, rows->row[i].name);
		bytes_puts(out, " | ");
		where_of(code->stacks, &rows->row[i], &text);
		rows_escape(out, &text, true);
		bytes_printf(out, " | %s | %s |\n",
			     cell_share(share, share_of(code, rows->row[i].self)),
			     cell_share(total, share_of(code, rows->row[i].total)));
	}
}

/* ---- as JSON ---- */

enum { BRIEFLY = 10 };

static void put_account(struct json *j, const struct code *code)
{
	const struct code_account *a = &code->account;
	const struct stacks *s = code->stacks;

	json_put_real(j, "user_seconds", a->user_s);
	json_put_real(j, "system_seconds", a->system_s);
	json_put_real(j, "sampled_seconds", a->sampled_s);
	json_put_real(j, "too_short_seconds", a->short_s);
	json_put_real(j, "unsampled_seconds", a->rest_s);
	json_put_real(j, "samples", s->samples);
	json_put_real(j, "cut_ratio", stacks_share(s, s->cut));
	json_key(j, "too_short");
	json_array(j);
	for (uint32_t i = 0; i < a->nshort; i++) {
		json_object(j);
		json_put_text(j, "command", a->shorts[i].command);
		json_put_real(j, "processes", a->shorts[i].processes);
		json_put_real(j, "seconds", a->shorts[i].seconds);
		json_object_end(j);
	}
	json_array_end(j);
}

static void put_place(struct json *j, const struct code *code, enum stacks_by by,
		      const struct stacks_row *row)
{
	const struct stacks_function *f = &code->stacks->functions[row->function];

	rows_json_place(j, f, row->file, row->line);
	if (by == STACKS_BY_FUNCTION) {
		json_put_text(j, "class", classes_name(&code->classes, row->class));
		json_put_text(j, "command", row->command);
	}
}

static void put_runner(struct json *j, const struct code *code, enum stacks_by by,
		       const struct stacks_row *row)
{
	const struct run *r = code->stacks->run;

	if (row->node && row->node < r->nnodes)
		json_put_text(j, "host", r->nodes[row->node].host);
	json_put_text(j, "pid", run_label(r, row->instance, "pid"));
	if (by == STACKS_BY_THREAD)
		json_put_int(j, "tid", row->tid);
}

static void put_row(struct json *j, const struct code *code, enum stacks_by by,
		    const struct stacks_row *row)
{
	const struct stacks *s = code->stacks;

	json_object(j);
	json_put_text(j, "name", row->name);
	if (by == STACKS_BY_FUNCTION || by == STACKS_BY_LINE)
		put_place(j, code, by, row);
	if (by == STACKS_BY_CLASS)
		json_put_text(j, "class", classes_name(&code->classes, row->class));
	if (by == STACKS_BY_PROCESS || by == STACKS_BY_THREAD)
		put_runner(j, code, by, row);
	if (by == STACKS_BY_RANK)
		json_put_real(j, "rank", row->rank);
	json_put_real(j, "self_seconds", row->self);
	json_put_real(j, "total_seconds", row->total);
	json_put_real(j, "self_ratio", code_share(code, s, row->self));
	json_put_real(j, "total_ratio", code_share(code, s, row->total));
	json_put_real(j, "error_ratio", code_error(code, s, row->self));
	json_put_real(j, "samples", row->samples);
	json_object_end(j);
}

static void put_rows(struct json *j, const struct code *code, enum stacks_by by, unsigned most)
{
	const struct stacks_rows *rows = &code->stacks->rows[by];

	json_key(j, stacks_by_names[by]);
	json_array(j);
	for (uint32_t i = 0; i < rows->n && i < most; i++)
		put_row(j, code, by, &rows->row[i]);
	json_array_end(j);
}

static void put_beside(struct json *j, const char *name, struct stacks *beside, unsigned most)
{
	const struct code code = { .stacks = beside };

	json_key(j, name);
	if (!beside) {
		json_null(j);
		return;
	}
	json_object(j);
	json_put_real(j, "sampled_seconds", beside->total);
	json_put_real(j, "samples", beside->samples);
	put_rows(j, &code, STACKS_BY_FUNCTION, most);
	put_rows(j, &code, STACKS_BY_LINE, most);
	json_object_end(j);
}

/* What is no part of the CPU time's shares. */
static void put_besides(struct json *j, const struct code *code, unsigned most)
{
	put_beside(j, "python", code->python, most);
	put_beside(j, "kernel", code->kernel, most);
}

void code_json_briefly(struct json *j, const struct code *code)
{
	if (!code || !code->stacks) {
		json_null(j);
		return;
	}
	json_object(j);
	put_account(j, code);
	put_rows(j, code, STACKS_BY_CLASS, CLASSES_MAX);
	put_rows(j, code, STACKS_BY_FUNCTION, BRIEFLY);
	put_besides(j, code, BRIEFLY);
	json_object_end(j);
}

void code_json(const struct code *code, const struct run *r, unsigned most, struct bytes *out)
{
	struct json j = { .out = out, .indent = true };

	json_object(&j);
	json_put_text(&j, "schema", "sonde/code/1");
	json_put_text(&j, "recording", r->path);
	json_put_text(&j, "not_recorded",
		      code && code->stacks ? NULL
		      : code               ? code->gaps.refused
					   : "stacks were not recorded");
	if (code)
		code_gaps_json(&j, &code->gaps);
	if (code && code->stacks) {
		put_account(&j, code);
		for (int by = 0; by < STACKS_BY_NUMBER_OF; by++)
			put_rows(&j, code, (enum stacks_by)by, most);
		put_besides(&j, code, most);
	}
	json_object_end(&j);
	bytes_puts(out, "\n");
}
