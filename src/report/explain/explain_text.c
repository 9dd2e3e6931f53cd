/* SPDX-License-Identifier: Apache-2.0 */
/* explain_text.c - findings as JSON and for a terminal, both bounded. */
#include "base/text/escape.h"
#include "base/text/json.h"
#include "report/explain/explain.h"
#include "report/lines.h"
#include "report/summary/ending.h"

#include <math.h>
#include <string.h>

/* ---- JSON: docs/schema/explain.json is its schema ---- */

enum { COMMAND_ROOM = 200, PATH_ROOM = 300, END_ROOM = 64 };

static void put_cut(struct json *j, const char *key, const char *text, size_t room)
{
	char cut[PATH_ROOM + 1];

	if (text)
		explain_copy(cut, room + 1, text);
	json_put_text(j, key, text ? cut : NULL);
}

/* "" is none, and then takes no room. */
static void put_known(struct json *j, const char *key, const char *text)
{
	if (*text)
		json_put_text(j, key, text);
}

/* The figures of `show --json` that almost every question needs, by their names there. */
static void put_job(struct json *j, const struct summary *s)
{
	struct ending_heading h = ending_heading_of(s);

	json_key(j, "job");
	json_object(j);
	put_cut(j, "command", s->command, COMMAND_ROOM);
	json_put_text(j, "id", s->job_id);
	json_put_text(j, "ended", h.words);
	json_put_real(j, "exit_code", s->exit_code);
	json_put_real(j, "signal", s->signal);
	json_put_real(j, "wall_seconds", s->wall_s);
	json_put_real(j, "cpu_seconds", s->cpu_s);
	json_put_real(j, "cpu_user_seconds", s->cpu_user_s);
	json_put_real(j, "cpu_system_seconds", s->cpu_system_s);
	json_put_real(j, "cores_used", s->cores_used_mean);
	json_put_real(j, "cores_allowed", s->cores_allowed);
	json_put_real(j, "cores_asked", s->cores_asked);
	json_put_real(j, "peak_memory_bytes", s->peak_memory_bytes);
	json_put_text(j, "peak_memory_kind", s->peak_memory_kind);
	json_put_real(j, "memory_present_bytes", s->memory_present);
	json_put_real(j, "memory_asked_bytes", s->memory_asked_bytes);
	json_put_real(j, "read_bytes", s->read_bytes);
	json_put_real(j, "written_bytes", s->written_bytes);
	json_put_real(j, "processes_started", s->processes_started);
	json_put_bool(j, "complete", s->complete);
	json_put_bool(j, "running", s->running);
	json_object_end(j);
	json_put_int(j, "hosts", s->nhosts);
	json_put_int(j, "damages", s->ndamages);
}

static void put_number(struct json *j, const struct explain_number *n)
{
	json_object(j);
	json_put_text(j, "name", n->name);
	json_put_real(j, "value", n->value);
	if (!isnan(n->low)) {
		json_put_real(j, "low", n->low);
		json_put_real(j, "high", n->high);
	}
	put_known(j, "unit", unit_name(n->unit));
	json_put_text(j, "at", n->at);
	json_object_end(j);
}

static void put_evidence(struct json *j, const struct explain_finding *f)
{
	if (!*f->metric && !*f->host && !*f->stack && isnan(f->from_s))
		return;
	json_key(j, "evidence");
	json_object(j);
	put_known(j, "metric", f->metric);
	put_known(j, "host", f->host);
	put_known(j, "instance", f->instance);
	if (!isnan(f->from_s)) {
		json_put_real(j, "from_seconds", f->from_s);
		json_put_real(j, "to_seconds", f->to_s);
	}
	put_known(j, "stack", f->stack);
	json_object_end(j);
}

static void put_finding(struct json *j, const struct explain_finding *f)
{
	json_object(j);
	json_put_text(j, "topic", explain_topic_names[f->topic]);
	json_put_text(j, "about", f->about);
	json_put_text(j, "severity", severity_name(f->severity));
	json_put_text(j, "confidence", confidence_name(f->confidence));
	json_put_text(j, "claim", f->claim);
	put_known(j, "cause", f->cause);
	json_key(j, "numbers");
	json_array(j);
	for (uint32_t i = 0; i < f->nnumbers; i++)
		put_number(j, &f->number[i]);
	json_array_end(j);
	put_evidence(j, f);
	put_known(j, "next", f->next);
	put_known(j, "settle", f->settle);
	json_object_end(j);
}

/* Those that there is room for; how many. What is behind the first that does not fit is less
 * important, so nothing of it is shown in its place. */
static uint32_t put_findings(struct json *j, const struct explain *x)
{
	enum { END = 64 }; /* what follows */
	uint32_t shown = 0;

	json_key(j, "findings");
	json_array(j);
	for (; shown < x->n; shown++) {
		struct json before = *j;
		size_t len = j->out->len;

		put_finding(j, &x->finding[shown]);
		if (j->out->len + END <= EXPLAIN_BYTES || j->out->failed)
			continue;
		*j = before;
		j->out->len = len;
		break;
	}
	json_array_end(j);
	return shown;
}

void explain_json(struct bytes *out, const struct explain *x)
{
	struct json j = { .out = out };
	uint32_t shown;

	json_object(&j);
	json_put_text(&j, "schema", "sonde/explain/1");
	put_cut(&j, "recording", x->path, PATH_ROOM);
	put_cut(&j, "changed", x->other, PATH_ROOM);
	json_put_text(&j, "ask", explain_topic_names[x->ask]);
	if (x->summary)
		put_job(&j, x->summary);
	shown = put_findings(&j, x);
	json_put_int(&j, "left_out", x->n - shown + x->left_out);
	json_object_end(&j);
	bytes_puts(out, "\n");
}

/* ---- for a terminal ---- */

enum { FINDINGS_SHOWN = 8 };

static void put_escaped(struct bytes *b, const char *text)
{
	escape_terminal(b, text);
}

/* What the claim does not say: the cost, and intervals. */
static void print_numbers(struct lines *l, const struct explain_finding *f)
{
	struct bytes *b = NULL;

	for (uint32_t i = 0; i < f->nnumbers; i++) {
		const struct explain_number *n = &f->number[i];
		bool is_cost = !strcmp(n->name, EXPLAIN_COST);

		if (isnan(n->low) && !is_cost)
			continue;
		if (b)
			bytes_puts(b, "; ");
		else
			b = lines_add(l, "numbers", NULL);
		put_escaped(b, is_cost ? "it costs at most" : n->name);
		bytes_puts(b, " ");
		lines_number(b, n->unit, n->value);
		if (isnan(n->low))
			continue;
		bytes_puts(b, " [");
		lines_number(b, n->unit, n->low);
		bytes_puts(b, ", ");
		lines_number(b, n->unit, n->high);
		bytes_puts(b, "]");
	}
}

static void print_evidence(struct lines *l, const struct explain_finding *f)
{
	struct bytes *b;

	if (!*f->metric && !*f->host && !*f->stack)
		return;
	b = lines_add(l, "proof", NULL);
	put_escaped(b, f->metric);
	if (*f->instance) {
		bytes_puts(b, " of ");
		put_escaped(b, f->instance);
	}
	if (*f->host) {
		bytes_puts(b, " on ");
		put_escaped(b, f->host);
	}
	if (!isnan(f->from_s) && !isnan(f->to_s) && *f->metric)
		bytes_printf(b, ", %.1f s to %.1f s", f->from_s, f->to_s);
	if (*f->stack) {
		bytes_puts(b, " ");
		put_escaped(b, f->stack);
	}
}

static void print_text(struct lines *l, const char *label, const char *text)
{
	if (*text)
		put_escaped(lines_add(l, label, NULL), text);
}

static void print_finding(struct lines *l, const struct explain_finding *f)
{
	struct bytes *b = lines_add(l, explain_topic_names[f->topic], NULL);

	put_escaped(b, f->claim);
	bytes_printf(b, " (%s%s%s confidence)",
		     f->severity == SEVERITY_NOTE ? "" : severity_name(f->severity),
		     f->severity == SEVERITY_NOTE ? "" : "; ", confidence_name(f->confidence));
	print_numbers(l, f);
	print_evidence(l, f);
	print_text(l, "cause", f->cause);
	print_text(l, "next", f->next);
	print_text(l, "settle", f->settle);
}

void explain_print(FILE *out, const struct explain *x)
{
	uint32_t shown = x->n < FINDINGS_SHOWN ? x->n : FINDINGS_SHOWN;

	for (uint32_t i = 0; i < shown; i++) {
		struct lines l;

		lines_fit(&l, out);
		print_finding(&l, &x->finding[i]);
		lines_write(&l, out, false, UINT32_MAX, "");
		lines_free(&l);
		fputs("\n", out);
	}
	if (!x->n)
		fputs(x->comparison ? "No such difference is shown.\n"
				    : "Nothing is known of that.\n",
		      out);
	if (x->n > shown)
		fprintf(out, "%u more: --json, or --ask where, memory, io, wait or next\n",
			x->n - shown);
}
