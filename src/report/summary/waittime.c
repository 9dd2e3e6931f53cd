/* SPDX-License-Identifier: Apache-2.0 */
#include "report/summary/waittime.h"
#include "base/text/escape.h"
#include "base/text/json.h"
#include "core/stacks/symbol.h"
#include "report/judging/findings.h"
#include "report/lines.h"
#include "report/phases/phases.h"
#include "report/summary/code.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int open_with_phases(struct waittime *w, struct run *r, struct err *e)
{
	struct phase_rules rules = { 0 };
	struct phases phases = { 0 };
	int rc = phase_rules_builtin(&rules, e);

	if (!rc)
		rc = phases_make_some(&phases, r, &rules, e);
	if (!rc)
		rc = waiting_open(&w->waiting, r, &w->classes, &phases, e);
	phases_free(&phases);
	phase_rules_free(&rules);
	return rc;
}

static const char *text_of(const struct run *r, uint32_t node, const char *key)
{
	const struct run_meta *m = run_find_meta(r, node, key);

	return m && m->type == META_TEXT ? m->text : NULL;
}

/* Why there are none: the node whose source refused, 0: none did. */
static uint32_t node_that_refused(const struct run *r)
{
	for (uint32_t node = 1; node < r->nnodes; node++)
		if (text_of(r, node, "source.waits"))
			return node;
	return 0;
}

/* Why there are none although they were looked for; NULL: they were not. */
static const char *why_none(const struct run *r)
{
	const char *why = NULL;

	for (uint32_t node = 1; node < r->nnodes; node++) {
		if (text_of(r, node, "waits.note"))
			return text_of(r, node, "waits.note");
		if (run_find_meta(r, node, "waits.looks_per_second"))
			why = "its processes were too short to be watched";
	}
	return why;
}

int waittime_make(struct waittime **out, struct run *r, bool phases, struct err *e)
{
	bool recorded = r->nsample_sets_of[SAMPLE_WAITS];
	uint32_t node = node_that_refused(r);
	const char *refused = node ? text_of(r, node, "source.waits") : NULL;
	struct waittime *w;
	int rc;

	if (!recorded && !node)
		refused = why_none(r);
	*out = NULL;
	if (!recorded && !refused)
		return 0;
	w = calloc(1, sizeof *w);
	if (!w)
		return err_set(e, -ENOMEM, "out of memory for the waits of %.300s", r->path);
	w->refused = refused;
	w->fix_user = node ? text_of(r, node, "source.waits.fix_user") : NULL;
	w->fix_admin = node ? text_of(r, node, "source.waits.fix_admin") : NULL;
	rc = code_classes(&w->classes, NULL, e);
	if (!rc)
		rc = phases ? open_with_phases(w, r, e)
			    : waiting_open(&w->waiting, r, &w->classes, NULL, e);
	if (rc)
		waittime_free(w);
	else
		*out = w;
	return rc;
}

void waittime_free(struct waittime *w)
{
	if (!w)
		return;
	waiting_close(w->waiting);
	classes_free(&w->classes);
	free(w);
}

double waittime_ratio(const struct waiting *w, double seconds)
{
	double wall = waiting_wall(&w->time);

	return wall > 0 ? seconds / wall : 0;
}

/* ---- as JSON ---- */

static void put_time(struct json *j, const struct waiting_time *t)
{
	double most;
	enum wait_kind kind = waiting_most(t, &most);

	json_put_real(j, "wall_seconds", waiting_wall(t));
	json_put_real(j, "on_cpu_seconds", t->on_cpu);
	json_put_real(j, "ready_seconds", t->ready);
	json_put_real(j, "waited_seconds", waiting_waited(t));
	json_put_real(j, "unseen_seconds", t->unseen);
	json_put_real(j, "forbidden_seconds", t->forbidden);
	json_put_text(j, "waits_for", most > 0 ? wait_kind_name(kind) : NULL);
	json_put_real(j, "waits_for_seconds", most);
}

static void put_function(struct json *j, const struct waiting_row *row)
{
	json_put_text(j, "function", *row->function ? row->function : NULL);
	json_put_text(j, "module", row->module);
	json_put_text(j, "file", row->file);
	json_key(j, "line");
	if (row->line)
		json_int(j, row->line);
	else
		json_null(j);
}

static void put_row(struct json *j, const struct run *r, enum waiting_by by,
		    const struct waiting_row *row)
{
	json_object(j);
	json_put_text(j, "name", row->name);
	if (by == WAITING_BY_OBJECT || by == WAITING_BY_PLACE)
		json_put_text(j, "object", *row->object ? row->object : NULL);
	if (by == WAITING_BY_FUNCTION || by == WAITING_BY_PLACE)
		put_function(j, row);
	if (by == WAITING_BY_RANK)
		json_put_real(j, "rank", row->rank);
	if (by == WAITING_BY_PROCESS || by == WAITING_BY_THREAD) {
		json_put_text(j, "host", row->node < r->nnodes ? r->nodes[row->node].host : NULL);
		json_put_text(j, "pid", run_label(r, row->instance, "pid"));
	}
	if (by == WAITING_BY_THREAD)
		json_put_int(j, "tid", row->tid);
	put_time(j, &row->time);
	json_object_end(j);
}

static void put_rows(struct json *j, const struct run *r, const struct waiting *w,
		     enum waiting_by by, unsigned most)
{
	const struct waiting_rows *rows = &w->rows[by];

	json_key(j, waiting_by_names[by]);
	json_array(j);
	for (uint32_t i = 0; i < rows->n && i < most; i++)
		put_row(j, r, by, &rows->row[i]);
	json_array_end(j);
}

void waittime_json(const struct waittime *w, const struct run *r, unsigned most, struct bytes *out)
{
	struct json j = { .out = out, .indent = true };
	bool known = w && w->waiting;

	json_object(&j);
	json_put_text(&j, "schema", "sonde/waits/1");
	json_put_text(&j, "recording", r->path);
	json_put_text(&j, "not_recorded",
		      known             ? NULL
		      : w && w->refused ? w->refused
					: "waits were not recorded");
	if (known) {
		put_time(&j, &w->waiting->time);
		json_put_real(&j, "processes_seconds", w->waiting->processes_s);
		json_put_real(&j, "watched_seconds", w->waiting->watched_s);
		for (int by = 0; by < WAITING_BY_NUMBER_OF; by++)
			put_rows(&j, r, w->waiting, (enum waiting_by)by, most);
	}
	json_object_end(&j);
	bytes_puts(out, "\n");
}

/* ---- in words ---- */

enum { NAME_WIDTH = 60, PLACE_WIDTH = 48, WHERE_WIDTH = 32, KIND_WIDTH = 36 };

/* ---- words ---- */

static void put_escaped(struct bytes *out, struct bytes *text)
{
	bytes_u8(text, 0);
	if (!text->failed)
		escape_terminal(out, (const char *)text->data);
	out->failed |= text->failed;
	bytes_free(text);
}

static void put_function_words(struct bytes *out, const struct waiting_row *row)
{
	struct bytes text = { 0 };

	bytes_printf(&text, "%.60s", row->shown);
	if (row->file && row->line)
		bytes_printf(&text, " (%.60s:%u)", symbol_base(row->file), row->line);
	put_escaped(out, &text);
}

void waittime_words(const struct waiting *w, unsigned most, struct bytes *out)
{
	const struct waiting_time *t = &w->time;
	const struct waiting_rows *kinds = &w->rows[WAITING_BY_CLASS];
	const struct waiting_rows *functions = &w->rows[WAITING_BY_FUNCTION];
	char cell[CELL];

	bytes_printf(out, "waiting %s of the threads' time",
		     cell_share(cell, waittime_ratio(w, waiting_waited(t))));
	for (uint32_t i = 0; i < kinds->n && i < most; i++) {
		double share = waittime_ratio(w, waiting_waited(&kinds->row[i].time));

		if (share >= 0.01)
			bytes_printf(out, "%s %s %s", i ? "," : ":", kinds->row[i].name,
				     cell_share(cell, share));
	}
	if (t->ready > 0.05 * waiting_wall(t))
		bytes_printf(out, "; ready, but without a core %s",
			     cell_share(cell, waittime_ratio(w, t->ready)));
	for (uint32_t i = 0; i < functions->n && i < most; i++) {
		bytes_puts(out, i ? ", " : "; in ");
		put_function_words(out, &functions->row[i]);
		bytes_printf(out, " %s",
			     cell_share(cell, waittime_ratio(
						      w, waiting_waited(&functions->row[i].time))));
	}
}

static uint32_t add_part(struct waittime_part *out, enum waiting_part part, const char *label,
			 double seconds)
{
	*out = (struct waittime_part){ part, label, seconds };
	return seconds > 0;
}

uint32_t waittime_parts(const struct waiting *w, struct waittime_part out[WAITING_PARTS])
{
	const struct waiting_time *t = &w->time;
	const struct waiting_rows *kinds = &w->rows[WAITING_BY_CLASS];
	uint32_t n = add_part(out, WAITING_ON_CPU, "on a CPU", t->on_cpu);

	n += add_part(out + n, WAITING_READY, "ready, but without a core", t->ready);
	for (uint32_t i = 0; i < kinds->n; i++)
		n += add_part(out + n,
			      (enum waiting_part)(WAITING_FIRST_KIND + (int)kinds->row[i].kind),
			      kinds->row[i].name, waiting_waited(&kinds->row[i].time));
	n += add_part(out + n, WAITING_UNSEEN, "waited, before a look found where", t->unseen);
	return n + add_part(out + n, WAITING_FORBIDDEN, "waited, and no look is permitted",
			    t->forbidden);
}

static void say_refused(const struct waittime *t, struct bytes *out)
{
	if (t->refused)
		bytes_printf(out, "%s: %s.",
			     t->waiting ? "Not recorded on all nodes" : "Not recorded", t->refused);
}

static void say_fixes(const struct waittime *t, struct bytes *out)
{
	if (t->refused)
		findings_say_fixes(t->fix_user, t->fix_admin, out);
}

static void say_unwatched(const struct waittime *t, struct bytes *out)
{
	const struct waiting *w = t->waiting;
	double part = w && w->processes_s > 0 ? w->watched_s / w->processes_s : 1;
	char cell[CELL];

	if (part < 0.98)
		bytes_printf(out,
			     "%s of the processes' time was watched: the rest was too short, at "
			     "their beginnings and ends, or before the recording.",
			     cell_share(cell, part));
}

static void say_ready(const struct waittime *t, struct bytes *out)
{
	if (t->waiting && t->waiting->time.ready > 0.05 * waiting_wall(&t->waiting->time))
		bytes_puts(out, "Who was ready without a core waited for other threads, or a CPU "
				"limit had stopped the job: `sonde show` has both apart.");
}

static void say_idle(const struct waittime *t, struct bytes *out)
{
	if (t->waiting)
		bytes_puts(out, "Waits of threads that have nothing to do are in it, too: read who "
				"waits first.");
}

bool waittime_say(const struct waittime *t, unsigned i, struct bytes *out)
{
	static void (*const say[])(const struct waittime *, struct bytes *) = {
		say_refused, say_fixes, say_unwatched, say_ready, say_idle,
	};

	if (i >= sizeof say / sizeof say[0])
		return false;
	say[i](t, out);
	return true;
}

/* ---- tables ---- */

static void print_cell(FILE *out, const char *text, int width, bool last)
{
	char cell[NAME_WIDTH * 4 + 1];

	fprintf(out, "  %-*s", last ? 0 : width,
		escape_terminal_into(cell, (size_t)width + 1, text));
}

static void print_part(const struct waiting *w, double seconds, const char *label, FILE *out)
{
	char share[CELL], time[CELL];

	fprintf(out, "  %8s %9s  %s\n", cell_share(share, waittime_ratio(w, seconds)),
		cell_text(time, UNIT_SECONDS, seconds), label);
}

static void print_account(const struct waiting *w, FILE *out)
{
	struct waittime_part part[WAITING_PARTS];
	uint32_t n = waittime_parts(w, part);

	fprintf(out, "Time of %u thread%s\n  %8s %9s\n", w->rows[WAITING_BY_THREAD].n,
		w->rows[WAITING_BY_THREAD].n == 1 ? "" : "s", "share", "time");
	for (uint32_t i = 0; i < n; i++)
		print_part(w, part[i].seconds, part[i].label, out);
}

static bool is_of_waits(enum waiting_by by)
{
	return by == WAITING_BY_OBJECT || by == WAITING_BY_FUNCTION || by == WAITING_BY_PLACE ||
	       by == WAITING_BY_CLASS;
}

static void print_kind(const struct waiting_time *t, FILE *out)
{
	double seconds;
	enum wait_kind kind = waiting_most(t, &seconds);

	print_cell(out, seconds > 0 ? wait_kind_words(kind) : "", KIND_WIDTH, false);
}

/* What is waited for. */
static void print_wait(const struct waiting *w, enum waiting_by by, const struct waiting_row *row,
		       FILE *out)
{
	double seconds = waiting_waited(&row->time);
	char share[CELL], time[CELL];
	struct bytes function = { 0 };

	fprintf(out, "  %8s %9s", cell_share(share, waittime_ratio(w, seconds)),
		cell_text(time, UNIT_SECONDS, seconds));
	if (by != WAITING_BY_FUNCTION && by != WAITING_BY_PLACE) {
		print_cell(out, row->name, NAME_WIDTH, true);
	} else {
		if (by == WAITING_BY_PLACE)
			print_cell(out, row->name, PLACE_WIDTH, false);
		else
			print_kind(&row->time, out);
		put_function_words(&function, row);
		bytes_u8(&function, 0);
		fprintf(out, "  %s", function.failed ? "" : (const char *)function.data);
		bytes_free(&function);
	}
	fputc('\n', out);
}

/* Who did what with its time. */
static void print_who(const struct waiting *w, enum waiting_by by, const struct waiting_row *row,
		      FILE *out)
{
	const struct waiting_time *t = &row->time;
	const struct run *r = w->stacks->run;
	const char *pid = run_label(r, row->instance, "pid");
	char cell[CELL], name[32];
	double parts[] = { waiting_wall(t), t->on_cpu, t->ready, waiting_waited(t) };

	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
		fprintf(out, " %9s", cell_text(cell, UNIT_SECONDS, parts[i]));
	print_kind(t, out);
	print_cell(out, row->name, NAME_WIDTH, true);
	if (by == WAITING_BY_PROCESS && pid)
		fprintf(out, "  pid %s", escape_terminal_into(name, sizeof name, pid));
	if (by == WAITING_BY_THREAD)
		fprintf(out, "  thread %u", row->tid);
	fputc('\n', out);
}

void waittime_print_by(const struct waiting *w, enum waiting_by by, FILE *out, unsigned most)
{
	const struct waiting_rows *rows = &w->rows[by];

	if (is_of_waits(by))
		fprintf(out, "Waits by %s\n  %8s %9s\n", waiting_by_names[by], "share", "time");
	else
		fprintf(out, "Time by %s\n %9s %9s %9s %9s  %s\n", waiting_by_names[by], "time",
			"on a CPU", "ready", "waited", "mostly");
	for (uint32_t i = 0; i < rows->n && i < most; i++) {
		if (is_of_waits(by))
			print_wait(w, by, &rows->row[i], out);
		else
			print_who(w, by, &rows->row[i], out);
	}
	if (rows->n > most)
		fprintf(out, "  and %u more\n", rows->n - most);
}

static void print_notes(const struct waittime *t, FILE *out)
{
	struct bytes text = { 0 };

	fputc('\n', out);
	for (unsigned i = 0; waittime_say(t, i, &text); i++) {
		struct bytes shown = { 0 };

		if (text.len && !text.failed) {
			put_escaped(&shown, &text);
			bytes_u8(&shown, 0);
			fprintf(out, "%s\n", shown.failed ? "" : (const char *)shown.data);
		}
		bytes_free(&shown);
		bytes_reset(&text);
	}
	bytes_free(&text);
}

void waittime_print(const struct waittime *t, FILE *out, unsigned most)
{
	const struct waiting *w = t->waiting;
	static const enum waiting_by tables[] = { WAITING_BY_FUNCTION, WAITING_BY_OBJECT,
						  WAITING_BY_PROCESS, WAITING_BY_RANK };

	print_account(w, out);
	for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
		if (w->rows[tables[i]].n < 2 && !is_of_waits(tables[i]))
			continue;
		fputc('\n', out);
		waittime_print_by(w, tables[i], out, most);
	}
	print_notes(t, out);
}
