/* SPDX-License-Identifier: Apache-2.0 */
/* code_json.c - which code the CPU time went to, for programs: names are whole. */
#include "base/text/json.h"
#include "report/summary/code.h"

#include <math.h>

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

	json_put_text(j, "function", *f->name ? f->name : NULL);
	json_put_text(j, "module", *f->module ? f->module : NULL);
	json_put_text(j, "file", row->file);
	if (row->line)
		json_put_int(j, "line", row->line);
	else
		json_put_text(j, "line", NULL);
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
	json_put_real(j, "self_ratio", stacks_share(s, row->self));
	json_put_real(j, "total_ratio", stacks_share(s, row->total));
	json_put_real(j, "error_ratio", stacks_error(s, stacks_share(s, row->self)));
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

static void put_python(struct json *j, const struct code *code, unsigned most)
{
	const struct code python = { .stacks = code->python };

	json_key(j, "python");
	if (!code->python) {
		json_null(j);
		return;
	}
	json_object(j);
	json_put_real(j, "sampled_seconds", code->python->total);
	json_put_real(j, "samples", code->python->samples);
	put_rows(j, &python, STACKS_BY_FUNCTION, most);
	put_rows(j, &python, STACKS_BY_LINE, most);
	json_object_end(j);
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
	put_python(j, code, BRIEFLY);
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
		put_python(&j, code, most);
	}
	json_object_end(&j);
	bytes_puts(out, "\n");
}
