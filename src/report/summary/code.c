/* SPDX-License-Identifier: Apache-2.0 */
#include "report/summary/code.h"
#include "base/text/escape.h"
#include "base/text/json.h"
#include "core/stacks/symbol.h"
#include "report/judging/findings.h"
#include "report/phases/phases.h"
#include "report/summary/parts.h"
#include "report/summary/summary.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is missing ---- */

static const char *text_of(const struct run *r, uint32_t node, const char *key)
{
	const struct run_meta *m = run_find_meta(r, node, key);

	return m && m->type == META_TEXT && m->text && *m->text ? m->text : NULL;
}

static double number_of(const struct run *r, uint32_t node, const char *key)
{
	const struct run_meta *m = run_find_meta(r, node, key);

	return m ? run_meta_number(m) : NAN;
}

static bool has_name(const char *list, const char *name, size_t n)
{
	for (const char *at = list; *at;) {
		size_t len = strcspn(at, ",");

		if (len == n && !memcmp(at, name, n))
			return true;
		at += len;
		at += strspn(at, ", ");
	}
	return false;
}

/* Names of another node, those that are not there yet, as many as there is room for. */
static void add_files(struct code_gaps *g, const char *names)
{
	for (const char *at = names; *at;) {
		size_t len = strcspn(at, ","), used = strlen(g->files);

		if (len && !has_name(g->files, at, len) && used + len + 3 <= sizeof g->files)
			snprintf(g->files + used, sizeof g->files - used, "%s%.*s",
				 used ? ", " : "", (int)len, at);
		at += len;
		at += strspn(at, ", ");
	}
}

static void add_refusal(struct code_gaps *g, const struct run *r, uint32_t node)
{
	const char *refused = text_of(r, node, "source.stacks");

	g->nrefused += refused != NULL;
	if (!refused || g->refused)
		return;
	g->refused = refused;
	g->fix_user = text_of(r, node, "source.stacks.fix_user");
	g->fix_admin = text_of(r, node, "source.stacks.fix_admin");
}

static void add_note(struct code_gaps *g, const struct run *r, uint32_t node)
{
	const char *note = text_of(r, node, "stacks.note");

	if (!note || g->note)
		return;
	g->note = note;
	g->noted = r->nodes[node].host;
}

/* s has how much counters grew. */
static void code_gaps_make(struct code_gaps *g, const struct run *r, const struct summary *s)
{
	*g = (struct code_gaps){
		.lost = summary_grown(s, "job.stack_samples_lost"),
		.unsampled = summary_grown(s, "job.stack_threads_unsampled"),
		.unsampled_s = summary_grown(s, "job.stack_threads_unsampled_seconds"),
		.nnodes = r->nnodes ? r->nnodes - 1 : 0,
	};
	for (uint32_t i = 1; i < r->nnodes; i++) {
		const char *files = text_of(r, i, "stacks.left_out");
		const struct run_meta *tasks = run_find_meta(r, i, "stacks.tasks_not_sampled");

		g->turns = fmax(g->turns, number_of(r, i, "stacks.threads_at_a_time"));
		g->after_s = fmax(g->after_s, 1e-9 * number_of(r, i, "stacks.after_ns"));
		g->restless += fmax(0, number_of(r, i, "stacks.threads_too_restless"));
		add_refusal(g, r, i);
		add_note(g, r, i);
		if (files)
			add_files(g, files);
		if (tasks && !isnan(run_meta_number(tasks)))
			g->tasks += run_meta_number(tasks);
	}
}

/* ---- in words ---- */

static void say_files(const struct code_gaps *g, struct bytes *out)
{
	if (*g->files)
		bytes_printf(out,
			     "Files left out, on which Sonde's helper crashed or hung: %s. Their "
			     "functions are addresses.",
			     g->files);
}

static void say_lost(const struct code_gaps *g, struct bytes *out)
{
	if (g->lost > 0)
		bytes_printf(out, "%.0f samples or other records were lost for lack of room.",
			     g->lost);
}

static void say_tasks(const struct code_gaps *g, struct bytes *out)
{
	if (g->tasks > 0)
		bytes_printf(out, "%.0f %s not sampled.", g->tasks,
			     g->tasks > 1 ? "tasks were" : "task was");
}

static void say_after(const struct code_gaps *g, struct bytes *out)
{
	if (g->after_s > 0 && g->nrefused < g->nnodes)
		bytes_printf(out,
			     "A process is sampled once it has used %.3g s of CPU time; --stacks "
			     "samples all of it, and more often.",
			     g->after_s);
}

static void say_restless(const struct code_gaps *g, struct bytes *out)
{
	if (g->restless > 0)
		bytes_printf(out,
			     "%.0f %s not sampled while changing between running and waiting so "
			     "often that samples would cost too much.",
			     g->restless, g->restless > 1 ? "threads were" : "thread was");
}

static void say_turns(const struct code_gaps *g, struct bytes *out)
{
	if (!(g->turns > 0))
		return;
	bytes_printf(
		out,
		"Sampled in rounds, at most %.0f threads of a node at a time: a sample represents the "
		"CPU time of its thread since the one before.",
		g->turns);
	if (g->unsampled_s >= 0.001)
		bytes_printf(
			out,
			" %.0f %s ended before the first sample, with %.3g s of user time, which is "
			"in the time without samples.",
			g->unsampled, g->unsampled > 1 ? "threads" : "thread", g->unsampled_s);
}

static void say_note(const struct code_gaps *g, struct bytes *out)
{
	if (g->note && g->nnodes > 1 && g->noted)
		bytes_printf(out, "Note of %s: %s.", g->noted, g->note);
	else if (g->note)
		bytes_printf(out, "Note: %s.", g->note);
}

static void say_refused(const struct code_gaps *g, struct bytes *out)
{
	if (g->refused && g->nnodes > 1)
		bytes_printf(out, "Not sampled on %u of %u nodes: %s.", g->nrefused, g->nnodes,
			     g->refused);
	else if (g->refused)
		bytes_printf(out, "Not sampled: %s.", g->refused);
}

static void say_fixes(const struct code_gaps *g, struct bytes *out)
{
	if (g->refused)
		findings_say_fixes(g->fix_user, g->fix_admin, out);
}

bool code_gaps_say(const struct code_gaps *g, unsigned i, struct bytes *out)
{
	static void (*const say[])(const struct code_gaps *, struct bytes *) = {
		say_files,    say_lost, say_tasks,   say_after, say_turns,
		say_restless, say_note, say_refused, say_fixes,
	};

	if (i >= sizeof say / sizeof say[0])
		return false;
	say[i](g, out);
	return true;
}

void code_gaps_json(struct json *j, const struct code_gaps *g)
{
	json_key(j, "missing");
	json_object(j);
	json_put_text(j, "files_left_out", *g->files ? g->files : NULL);
	json_put_real(j, "records_lost", g->lost);
	json_put_real(j, "tasks_not_sampled", g->tasks);
	json_put_real(j, "threads_at_a_time", g->turns > 0 ? g->turns : NAN);
	json_put_real(j, "threads_unsampled", g->turns > 0 ? g->unsampled : NAN);
	json_put_real(j, "threads_unsampled_seconds", g->turns > 0 ? g->unsampled_s : NAN);
	json_put_real(j, "sampled_after_seconds", g->after_s > 0 ? g->after_s : NAN);
	json_put_real(j, "threads_too_restless", g->turns > 0 ? g->restless : NAN);
	json_put_text(j, "note", g->note);
	json_put_text(j, "refused", g->refused);
	json_put_text(j, "fix_user", g->refused ? g->fix_user : NULL);
	json_put_text(j, "fix_admin", g->refused ? g->fix_admin : NULL);
	json_object_end(j);
}

/* ---- the account ---- */

/* Processes of so many periods on average may have ended before their first sample. */
static const double short_periods = 3;
/* Where threads are sampled in rounds, it takes about so long until the first. */
static const double round_s = 1;
/* Where long processes alone are sampled, they have used so many times what they must. */
static const double long_times = 2;

static void offer(struct code_account *a, const struct code_command *c, double seconds)
{
	uint32_t at = a->nshort;

	if (at == CODE_SHORT && seconds <= a->shorts[at - 1].seconds)
		return;
	if (at == CODE_SHORT)
		at--;
	else
		a->nshort++;
	for (; at > 0 && a->shorts[at - 1].seconds < seconds; at--)
		a->shorts[at] = a->shorts[at - 1];
	a->shorts[at] = (struct code_short){ c->name, c->processes, seconds };
}

void code_account_make(struct code_account *a, const struct code_command *c, uint32_t n,
		       double period_s)
{
	double both = a->user_s + a->system_s, room;

	a->short_s = 0;
	a->nshort = 0;
	a->rest_s = NAN;
	a->whole_s = a->sampled_s;
	if (isnan(both) || !(both > 0))
		return;
	a->whole_s = both;
	room = fmax(0, a->user_s - a->sampled_s);
	for (uint32_t i = 0; i < n; i++) {
		/* The kernel splits no command's time: as much of it is user time as of the job's.
		 */
		double user = c[i].cpu_s * (a->user_s / both);
		double unseen = user - c[i].sampled_s;

		if (!(unseen > 0) || !(c[i].processes > 0) ||
		    user / c[i].processes >= short_periods * period_s)
			continue;
		offer(a, &c[i], unseen);
		a->short_s += unseen;
	}
	if (a->short_s > room) {
		for (uint32_t i = 0; i < a->nshort; i++)
			a->shorts[i].seconds *= room / a->short_s;
		a->short_s = room;
	}
	a->rest_s = a->user_s - a->sampled_s - a->short_s;
}

bool code_is_of(const char *comm, const char *command)
{
	enum { COMM = 15 };
	size_t word = strcspn(command, " ");

	return !strncmp(comm, command, COMM) ||
	       (strlen(comm) == word && !strncmp(comm, command, word));
}

/* What was sampled of processes of that name. */
static double sampled_of(const struct stacks *s, const char *command)
{
	const struct stacks_rows *rows = &s->rows[STACKS_BY_COMMAND];
	double sum = 0;

	for (uint32_t i = 0; i < rows->n; i++)
		if (code_is_of(rows->row[i].command, command))
			sum += rows->row[i].self;
	return sum;
}

/* Of CPU time between two samples of a thread. There may be none: all processes were too short. */
static double period_of(const struct stacks *st, const struct code_gaps *g)
{
	const struct run_meta *m = run_find_meta(st->run, 0, "stacks.period_ns");
	double period_s = m && run_meta_number(m) > 0 ? run_meta_number(m) * 1e-9 : 0;

	if (st->samples > 0)
		period_s = st->total / st->samples;
	if (g->after_s > 0)
		return g->after_s * long_times / short_periods;
	return run_find_meta(st->run, 0, "stacks.threads_at_a_time") ? fmax(period_s, round_s)
								     : period_s;
}

static int reconcile(struct code *code, const struct summary *s)
{
	struct code_account *a = &code->account;
	const struct stacks *st = code->stacks;
	struct code_command *c = calloc(s->ncommands + 1u, sizeof *c);

	if (!c)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->ncommands; i++)
		c[i] = (struct code_command){
			.name = s->commands[i].name,
			.processes = s->commands[i].processes,
			.cpu_s = isnan(s->commands[i].cpu_s) ? 0 : s->commands[i].cpu_s,
			.sampled_s = sampled_of(st, s->commands[i].name),
		};
	*a = (struct code_account){ .user_s = s->cpu_user_s,
				    .system_s = s->cpu_system_s,
				    .sampled_s = st->total };
	code_account_make(a, c, s->ncommands, period_of(st, &code->gaps));
	free(c);
	return 0;
}

/* 0 or -errno with a sentence; NULL where no recorder took samples or was refused them. */
static int code_make(struct code **out, struct run *r, const struct summary *s, const char *site,
		     struct err *e)
{
	bool sampled = r->nsample_sets_of[SAMPLE_CPU];
	struct code_gaps gaps;
	struct code *code;
	int rc;

	*out = NULL;
	code_gaps_make(&gaps, r, s);
	sampled |= !gaps.refused && run_find_meta(r, 0, "stacks.period_ns");
	if (!sampled && !gaps.refused)
		return 0;
	code = calloc(1, sizeof *code);
	if (!code)
		return err_set(e, -ENOMEM, "out of memory for the code of %.300s", r->path);
	code->gaps = gaps;
	rc = code_classes(&code->classes, site, e);
	if (!rc && sampled)
		rc = stacks_open(&code->stacks, r, &code->classes, &(struct stacks_selection){ 0 },
				 e);
	if (!rc && r->nsample_sets_of[SAMPLE_PYTHON])
		rc = stacks_open(&code->python, r, &code->classes,
				 &(struct stacks_selection){ .kind = SAMPLE_PYTHON }, e);
	if (!rc && r->nsample_sets_of[SAMPLE_KERNEL])
		rc = stacks_open(&code->kernel, r, &code->classes,
				 &(struct stacks_selection){ .kind = SAMPLE_KERNEL }, e);
	if (!rc && code->stacks && reconcile(code, s))
		rc = err_set(e, -ENOMEM, "out of memory for the code of %.300s", r->path);
	if (rc)
		code_free(code);
	else
		*out = code;
	return rc;
}

/* ---- shares ---- */

double code_share(const struct code *code, const struct stacks *s, double seconds)
{
	const double whole_s = code->account.whole_s;

	return s == code->stacks && whole_s > 0 ? seconds / whole_s : stacks_share(s, seconds);
}

double code_error(const struct code *code, const struct stacks *s, double seconds)
{
	return code_share(code, s, stacks_error(s, stacks_share(s, seconds)) * s->total);
}

/* A share of a half has an interval of 22 points to each side. */
static const double samples_least = 20;
/* Of CPU time: less has not as many samples, and no part of it is worth a line. */
static const double short_job_s = 0.2;

bool code_is_thin(const struct code *code)
{
	return code->stacks && code->stacks->total > 0 && code->stacks->effective < samples_least;
}

void code_thin_words(const struct code *code, struct bytes *out)
{
	const double n = code_is_thin(code) ? code->stacks->samples : 0;

	if (n > 0)
		bytes_printf(out, "%.0f sample%s too few to say which code it was.", n,
			     n > 1 ? "s are" : " is");
}

bool code_says_something(const struct code *code)
{
	if (!code->stacks || !(code->stacks->total > 0))
		return !(code->gaps.after_s > 0) &&
		       (!code->stacks || !(code->account.whole_s < short_job_s));
	return !code_is_thin(code) || !(code->account.whole_s < short_job_s);
}

void code_free(struct code *code)
{
	if (!code)
		return;
	stacks_close(code->stacks);
	stacks_close(code->python);
	stacks_close(code->kernel);
	classes_free(&code->classes);
	free(code);
}

int code_phases(struct code *code, struct run *r, struct err *e)
{
	struct phase_rules rules = { 0 };
	struct phases phases = { 0 };
	int rc = phase_rules_builtin(&rules, e);

	if (!rc)
		rc = phases_make_some(&phases, r, &rules, e);
	if (!rc)
		rc = stacks_phases_make(code->stacks, &phases, e);
	phases_free(&phases);
	phase_rules_free(&rules);
	return rc;
}

/* ---- what rules may ask of it ---- */

/* Shares are of all CPU time, kernel time included. */
static double ratio_of(const struct summary *s, double seconds)
{
	return code_share(s->code, s->code->stacks, seconds);
}

static void shares_make(struct summary *s)
{
	const struct stacks *st = s->code->stacks;
	const struct stacks_rows *rows = &st->rows[STACKS_BY_CLASS];

	for (uint32_t i = 0; i < rows->n && s->nshares < SUMMARY_SHARES; i++) {
		double self = rows->row[i].self;

		s->share[s->nshares++] =
			(struct summary_share){ classes_name(&s->code->classes, rows->row[i].class),
						ratio_of(s, self), code_error(s->code, st, self) };
	}
}

static void top_make(struct summary *s)
{
	const struct stacks *st = s->code->stacks;
	const struct stacks_row *top = st->rows[STACKS_BY_FUNCTION].row;
	char where[64];

	if (!st->rows[STACKS_BY_FUNCTION].n || !*st->functions[top->function].module)
		return;
	if (top->file && top->line)
		snprintf(where, sizeof where, "%.40s:%u", symbol_base(top->file), top->line);
	else
		snprintf(where, sizeof where, "%.60s",
			 symbol_base(st->functions[top->function].module));
	if (*st->functions[top->function].name)
		snprintf(s->code_top, sizeof s->code_top, "%.80s (%s)", top->name, where);
	else /* "libR.so (no symbols)" */
		snprintf(s->code_top, sizeof s->code_top, "%.150s", top->name);
	s->code_top_ratio = ratio_of(s, top->self);
}

static void threads_make(struct summary *s)
{
	const struct stacks_rows *rows = &s->code->stacks->rows[STACKS_BY_THREAD];

	s->code_threads = 0;
	for (uint32_t i = 0; i < rows->n; i++)
		s->code_threads += rows->row[i].self >= 0.01 * s->code->stacks->total &&
				   rows->row[i].node == rows->row[0].node &&
				   rows->row[i].instance == rows->row[0].instance;
	if (rows->n)
		s->code_thread_ratio = ratio_of(s, rows->row[0].self);
}

static void unoptimized_make(struct summary *s)
{
	double self = s->code->stacks->unoptimized;
	double least = ratio_of(s, self) - code_error(s->code, s->code->stacks, self);

	s->code_unoptimized_ratio = ratio_of(s, self);
	s->code_unoptimized_least = least > 0 ? least : 0;
}

int summary_code_make(struct summary *s, struct run *r, const char *classes, struct err *e)
{
	int rc = code_make(&s->code, r, s, classes, e);

	s->code_samples = s->code_top_ratio = s->code_thread_ratio = s->code_threads =
		s->code_short_ratio = s->code_unoptimized_ratio = s->code_unoptimized_least = NAN;
	summary_code_ranks_init(s);
	if (rc || !s->code || !s->code->stacks || !(s->code->account.whole_s > 0))
		return rc;
	s->code_samples = s->code->stacks->effective;
	if (!(s->code->gaps.after_s > 0)) /* else that is how it is meant */
		s->code_short_ratio = ratio_of(s, s->code->account.short_s);
	shares_make(s);
	top_make(s);
	threads_make(s);
	unoptimized_make(s);
	return summary_code_ranks(s, e);
}
