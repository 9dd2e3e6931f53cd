/* SPDX-License-Identifier: Apache-2.0 */
/* terminal.c - the summary for a terminal: in five lines, or with all its figures. */
#include "base/bytes.h"
#include "base/text/escape.h"
#include "report/lines.h"
#include "report/steps/steps.h"
#include "report/summary/code.h"
#include "report/summary/ending.h"
#include "report/summary/filesused.h"
#include "report/summary/mpi.h"
#include "report/summary/own.h"
#include "report/summary/peersused.h"
#include "report/summary/summary.h"
#include "report/summary/touched.h"
#include "report/summary/waittime.h"
#include "report/text/used.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	BRIEF_VERDICT_LINES = 3,
	CAUSE_LINES = 8,
	SENTENCE_LINES = 4,
	CODE_BRIEFLY = 3,
	CODE_FULLY = 10
};
/* Of the threads' time, from which on waiting is said in the first lines. */
static const double WAITS_MATTER = 0.25;

/* Of the run. */
static const double SECOND_MATTERS = 0.1;

/* A job that took less says no more than what it used. */
static const double judged_s = 2;

static const struct {
	const char *label, *colour;
} severities[] = {
	[SEVERITY_NOTE] = { "note", "\033[36m" },
	[SEVERITY_GOOD] = { "good", "\033[32m" },
	[SEVERITY_WARN] = { "warning", "\033[33m" },
	[SEVERITY_BAD] = { "problem", "\033[31m" },
	[SEVERITY_CANNOT_TELL] = { "unsure", "\033[35m" },
};
_Static_assert(sizeof severities / sizeof severities[0] == SEVERITY_NUMBER_OF, "a row for each");

const char *summary_counter_format(const struct summary_counter *c, char *out, size_t size)
{
	size_t n;

	unit_format(c->unit, c->value, out, size);
	n = strlen(out);
	if (c->symbol && n > 2) /* in place of "/s" */
		snprintf(out + n - 2, size - n + 2, "%s", c->symbol);
	return out;
}

static void add_heading(struct lines *l, const struct summary *s)
{
	const struct ending_heading h = ending_heading_of(s);
	struct bytes *b = lines_add(l, "sonde", NULL);
	size_t room = lines_room(l);

	lines_name(b, h.words, sizeof h.words);
	if (!isnan(s->wall_s)) {
		bytes_printf(b, "%s %s ", h.joint, h.time);
		lines_number(b, UNIT_SECONDS, s->wall_s);
	}
	if (s->nhosts > 1)
		bytes_printf(b, " on %u nodes%s", s->nhosts,
			     s->complete ? "" : ", not all to the end");
	if (s->nnodes > s->nhosts)
		bytes_printf(b, " in %u recordings", s->nnodes);
	if (!s->command || b->len >= room)
		return;
	bytes_puts(b, ": ");
	lines_command(b, s->command, b->len < room ? room - b->len : 0);
}

static void add_next(struct bytes *b, const struct summary_verdict *v)
{
	char text[VERDICT_NEXT + 64];

	bytes_printf(b, " %s.", verdict_next(v, text, sizeof text));
}

static void add_verdict(struct lines *l, const struct summary_verdict *v, bool briefly)
{
	struct bytes *b =
		lines_add(l, severities[v->severity].label, severities[v->severity].colour);

	char text[VERDICT_SENTENCE + VERDICT_COST];

	snprintf(text, sizeof text, "%s", v->sentence);
	if (briefly)
		sentence_shorten(text, SENTENCE_LINES * (size_t)lines_room(l));
	escape_terminal(b, text);
	if (*v->next)
		add_next(b, v);
}

static void add_verdicts(struct lines *l, const struct summary *s)
{
	for (uint32_t i = 0; i < s->nverdicts; i++)
		add_verdict(l, &s->verdicts[i], false);
}

/* What cannot be told comes last, and of a short job not at all. */
static void add_verdicts_briefly(struct lines *l, const struct summary *s)
{
	for (uint32_t i = 0; i < s->nverdicts; i++)
		if (s->verdicts[i].severity != SEVERITY_CANNOT_TELL)
			add_verdict(l, &s->verdicts[i], true);
	for (uint32_t i = 0; i < s->nverdicts && !(s->wall_s < judged_s); i++)
		if (s->verdicts[i].severity == SEVERITY_CANNOT_TELL)
			add_verdict(l, &s->verdicts[i], true);
}

static void add_nodes(struct lines *l, const struct summary *s)
{
	struct bytes text = { 0 };

	summary_nodes_words(s, &text);
	if (text.len)
		bytes_put(lines_add(l, "nodes", NULL), text.data, text.len);
	bytes_free(&text);
}

static void add_account(struct lines *l, const struct summary *s, bool colour)
{
	if (s->account.whole_s > 0)
		account_print(lines_add(l, "time", NULL), &s->account, lines_room(l), colour);
}

static void add_tasks(struct lines *l, const struct summary *s)
{
	struct bytes words = { 0 };

	summary_tasks_words(s, &words);
	bytes_u8(&words, '\0');
	if (words.len > 1 && !words.failed)
		escape_terminal(lines_add(l, "tasks", NULL), (const char *)words.data);
	bytes_free(&words);
}

/* Of the whole nodes, whoever used it. */
static void add_fabric(struct lines *l, const struct summary *s)
{
	const struct story_fabric *f = &s->story.fabric;
	struct bytes *b;

	if (isnan(f->ports))
		return;
	b = lines_add(l, "fabric", NULL);
	lines_number(b, UNIT_BYTES, f->received_bytes);
	bytes_puts(b, " received, ");
	lines_number(b, UNIT_BYTES, f->sent_bytes);
	bytes_printf(b, " sent by %.0f port%s of the node%s", f->ports, f->ports == 1 ? "" : "s",
		     s->nhosts == 1 ? "" : "s");
	if (isnan(f->used_ratio))
		return;
	bytes_puts(b, f->ports == 1 ? ", " : ", the fullest at ");
	lines_number(b, UNIT_RATIO, f->used_ratio);
	bytes_puts(b, " of its link");
}

static void add_energy(struct lines *l, const struct summary *s)
{
	struct bytes *b;

	if (!s->energy_of)
		return;
	b = lines_add(l, "energy", NULL);
	lines_number(b, UNIT_JOULES, s->energy_j);
	bytes_printf(b, " measured (%s)", s->energy_of);
	if (isnan(s->energy_job_j))
		return;
	bytes_puts(b, "; the job's share by CPU time, apportioned: ");
	lines_number(b, UNIT_JOULES, s->energy_job_j);
}

/* "12.3 GFLOP/s double precision" */
static void counter(struct bytes *b, const struct summary_counter *c)
{
	char text[64];

	bytes_puts(b, summary_counter_format(c, text, sizeof text));
	bytes_printf(b, " %s", c->words);
}

/* The row of the counters, made when there is something for it. */
static struct bytes *more_counters(struct lines *l, struct bytes **row, const char *separator)
{
	if (*row)
		bytes_puts(*row, separator);
	else
		*row = lines_add(l, "counters", NULL);
	return *row;
}

static void add_uncounted(struct lines *l, struct bytes *row, const struct summary *s)
{
	struct bytes *b;

	if (s->counters_refused) {
		b = more_counters(l, &row, "; ");
		lines_name(b, s->counters_missing, 4 * SUMMARY_NAME);
		bytes_puts(b, *s->counters_missing ? " unavailable: " : "unavailable: ");
		lines_name(b, s->counters_refused, 2 * LINES_TEXT);
	}
	if (s->tasks_not_counted > 0)
		bytes_printf(more_counters(l, &row, "; "), "%.0f task%s not counted",
			     s->tasks_not_counted, s->tasks_not_counted > 1 ? "s" : "");
}

/* Groups that took turns are scaled up from the share that was counted. */
static void add_counters(struct lines *l, const struct summary *s)
{
	struct bytes *row = NULL;
	double share = 1;

	for (uint32_t i = 0; i < s->ncounters; i++) {
		if (!s->counters[i].brief)
			continue;
		counter(more_counters(l, &row, ", "), &s->counters[i]);
		share = fmin(share, s->counters[i].share);
	}
	if (row && share < 0.995) {
		bytes_puts(row, "; scaled: multiplexed, in ");
		lines_number(row, UNIT_RATIO, share);
		bytes_puts(row, " of the CPU time at least");
	}
	add_uncounted(l, row, s);
}

static void add_survivors(struct lines *l, const struct summary *s)
{
	if (s->survivors)
		lines_name(lines_add(l, "left behind", NULL), s->survivors, 2 * LINES_TEXT);
}

static void add_monitor(struct lines *l, const struct summary *s)
{
	struct bytes *b;

	if (isnan(s->monitor_cpu_s))
		return;
	b = lines_add(l, "overhead", NULL);
	bytes_puts(b, "Sonde used ");
	lines_number(b, UNIT_SECONDS, s->monitor_cpu_s);
	bytes_puts(b, " of CPU");
	if (s->monitor_cpu_s >= 0 && s->wall_s >= 1) {
		bytes_puts(b, " (");
		lines_number(b, UNIT_RATIO, s->monitor_cpu_s / s->wall_s);
		bytes_puts(b, " of a core)");
	}
	if (!isnan(s->monitor_rss_bytes)) {
		bytes_puts(b, ", ");
		lines_number(b, UNIT_BYTES, s->monitor_rss_bytes);
	}
	bytes_puts(b, "; samples: ");
	lines_number(b, UNIT_COUNT, s->monitor_samples);
	if (s->monitor_late > 0)
		bytes_printf(b, ", late: %.0f", s->monitor_late);
	if (s->monitor_skipped > 0)
		bytes_printf(b, ", skipped: %.0f", s->monitor_skipped);
	if (s->reduced)
		lines_name(lines_add(l, "reduced", NULL), s->reduced, 2 * LINES_TEXT);
}

static void add_losses(struct lines *l, const struct summary *s, bool all)
{
	struct bytes words = { 0 };

	losses_words(&s->losses, all, &words);
	bytes_u8(&words, 0);
	if (words.len > 1 && !words.failed)
		bytes_puts(lines_add(l, "losses", NULL), (const char *)words.data);
	bytes_free(&words);
}

/* A path that a shell, a terminal and sonde's own options all take. */
static void add_path(struct bytes *b, const char *path)
{
	struct bytes word = { 0 };

	if (path[0] == '-')
		bytes_puts(b, "./");
	escape_shell(&word, path);
	bytes_u8(&word, 0);
	if (!word.failed)
		escape_terminal(b, (const char *)word.data);
	bytes_free(&word);
}

/* Which code it was that computed. */
static void add_code(struct lines *l, const struct summary *s, unsigned most)
{
	struct bytes words = { 0 };

	if (!s->code || !code_says_something(s->code))
		return;
	if (!s->code->stacks) {
		struct bytes *b = lines_add(l, "code", NULL);

		bytes_puts(b, "not sampled: ");
		escape_terminal(b, s->code->gaps.refused);
		return;
	}
	code_classes_words(s->code, most + 2, lines_add(l, "code", NULL));
	code_functions_words(s->code, most, &words);
	if (words.len && !words.failed)
		bytes_put(lines_add(l, "hot spots", NULL), words.data, words.len);
	bytes_reset(&words);
	code_python_words(s->code, most, &words);
	if (words.len && !words.failed)
		bytes_put(lines_add(l, "Python", NULL), words.data, words.len);
	bytes_free(&words);
}

/* What its threads waited for, if that was much of their time. */
static void add_waits(struct lines *l, const struct summary *s, double least, unsigned most)
{
	const struct waiting *w = s->waits ? s->waits->waiting : NULL;

	if (w && waittime_ratio(w, waiting_waited(&w->time)) >= least) {
		waittime_words(w, most, lines_add(l, "waits", NULL));
	} else if (!w && s->waits && s->waits->refused) {
		struct bytes *b = lines_add(l, "waits", NULL);

		bytes_puts(b, "not recorded: ");
		escape_terminal(b, s->waits->refused);
	}
}

/* Who touched the memory of the peak. */
static void add_touched(struct lines *l, const struct summary *s, unsigned most)
{
	struct bytes words = { 0 };

	if (!s->touched)
		return;
	touched_words(s->touched, most, &words);
	if (!words.len && s->touched->refused) {
		bytes_puts(&words, "not sampled: ");
		escape_terminal(&words, s->touched->refused);
	}
	if (words.len && !words.failed)
		bytes_put(lines_add(l, "touched by", NULL), words.data, words.len);
	bytes_free(&words);
}

/* The files that were used most, where they were recorded. */
static void add_files(struct lines *l, const struct summary *s, unsigned most)
{
	struct bytes words = { 0 };

	if (!s->files_used)
		return;
	files_used_words(s->files_used, most, &words);
	if (!words.len && s->files_used->refused) {
		bytes_puts(&words, "not recorded: ");
		escape_terminal(&words, s->files_used->refused);
	}
	if (words.len && !words.failed)
		bytes_put(lines_add(l, "files", NULL), words.data, words.len);
	bytes_free(&words);
}

/* With whom it talked most, where that was recorded. */
static void add_peers(struct lines *l, const struct summary *s, unsigned most)
{
	struct bytes words = { 0 };

	if (!s->peers_used)
		return;
	peers_used_words(s->peers_used, most, &words);
	if (!words.len && s->peers_used->refused) {
		bytes_puts(&words, "not recorded: ");
		escape_terminal(&words, s->peers_used->refused);
	}
	if (words.len && !words.failed)
		bytes_put(lines_add(l, "peers", NULL), words.data, words.len);
	bytes_free(&words);
}

static void add_mpi(struct lines *l, const struct summary *s, unsigned most)
{
	if (s->mpi)
		mpi_words(s->mpi, most, lines_add(l, "MPI", NULL));
}

/* The steps, where there are any. */
static void add_steps(struct lines *l, const struct summary *s)
{
	struct bytes words = { 0 };

	if (s->iterations)
		steps_words(s->iterations, &words);
	bytes_u8(&words, '\0');
	if (words.len > 1 && !words.failed)
		escape_terminal(lines_add(l, "steps", NULL), (const char *)words.data);
	bytes_free(&words);
}

static void add_own(struct lines *l, const struct own *own)
{
	if (own && (own->nseries || own->nlaps))
		own_briefly(own, lines_add(l, "numbers", NULL));
}

static void add_recording(struct lines *l, const struct summary *s)
{
	struct bytes *b = lines_add(l, "recording", NULL);

	add_path(b, s->path);
	bytes_puts(b, "; next: sonde report ");
	add_path(b, s->path);
}

static void add_recording_briefly(struct lines *l, const struct summary *s, bool newest)
{
	static const char *const views[][2] = {
		{ "; next: sonde show --all", ", sonde report" },
		{ "; next: sonde phases --cascade", ", sonde trace" },
		{ "; next: sonde show --spans", ", sonde trace" },
	};
	const char *const *next = views[s->is_cascade ? 1 : s->is_timeline ? 2 : 0];
	struct bytes *b = lines_add(l, "recording", NULL);

	add_path(b, s->path);
	for (size_t i = 0; i < sizeof views[0] / sizeof views[0][0]; i++) {
		bytes_puts(b, next[i]);
		if (newest)
			continue;
		bytes_puts(b, " ");
		add_path(b, s->path);
	}
}

/* Another warning about so much of the run has room, too. That one core was used the bar shows. */
static bool second_matters(const struct summary *s)
{
	const struct summary_verdict *v = &s->verdicts[1];

	return (v->severity == SEVERITY_BAD || v->severity == SEVERITY_WARN) &&
	       v->weight_s >= SECOND_MATTERS * s->wall_s && strcmp(v->rule, "single-core") != 0;
}

/* Then how fast it was is of no use. */
static bool crashed(const struct summary *s)
{
	return ending_is_crash(s->story.died_signal) ||
	       ending_is_crash(ending_signal(s->signal, s->exit_code));
}

/* Of verdicts. The first may say little more than the heading, or be about others than the job;
 * then the next one has room in any case. */
static unsigned brief_lines(const struct summary *s)
{
	static const char *const little[] = { "failed",       "killed",  "failed-by-signal",
					      "low-priority", "crowded", "stolen" };
	bool room = s->nverdicts > 1 && second_matters(s);

	if (crashed(s) && s->nverdicts > 1 && s->verdicts[0].severity == SEVERITY_BAD &&
	    s->verdicts[1].severity != SEVERITY_BAD)
		return 1;
	for (size_t i = 0; s->nverdicts > 1 && i < sizeof little / sizeof little[0]; i++)
		room = room || !strcmp(s->verdicts[0].rule, little[i]);
	return BRIEF_VERDICT_LINES + (room ? CAUSE_LINES : 0);
}

void summary_print_brief(const struct summary *s, const struct own *own, FILE *out, bool colour,
			 bool newest)
{
	struct lines l;

	lines_fit(&l, out);
	add_heading(&l, s);
	add_verdicts_briefly(&l, s);
	add_nodes(&l, s);
	add_account(&l, s, colour);
	add_code(&l, s, CODE_BRIEFLY);
	add_waits(&l, s, WAITS_MATTER, CODE_BRIEFLY);
	add_touched(&l, s, CODE_BRIEFLY);
	add_files(&l, s, CODE_BRIEFLY);
	add_peers(&l, s, CODE_BRIEFLY);
	add_mpi(&l, s, CODE_BRIEFLY);
	add_steps(&l, s);
	terminal_used_briefly(&l, s);
	add_own(&l, own);
	add_survivors(&l, s);
	add_losses(&l, s, false);
	add_recording_briefly(&l, s, newest);
	lines_write(&l, out, colour, brief_lines(s), "sonde show --all");
	lines_free(&l);
}

static void add_all(struct lines *l, const struct summary *s, bool colour)
{
	add_heading(l, s);
	add_verdicts(l, s);
	add_nodes(l, s);
	add_account(l, s, colour);
	add_code(l, s, CODE_FULLY);
	add_waits(l, s, 0, CODE_FULLY);
	add_touched(l, s, CODE_FULLY);
	add_files(l, s, CODE_FULLY);
	add_peers(l, s, CODE_FULLY);
	add_mpi(l, s, CODE_FULLY);
	add_steps(l, s);
	add_tasks(l, s);
	terminal_used(l, s);
	add_fabric(l, s);
	add_energy(l, s);
	add_counters(l, s);
	add_survivors(l, s);
	add_monitor(l, s);
	add_losses(l, s, true);
}

void summary_print(const struct summary *s, FILE *out, bool colour)
{
	struct lines l;

	lines_fit(&l, out);
	add_all(&l, s, colour);
	add_recording(&l, s);
	lines_write(&l, out, colour, UINT_MAX, "");
	lines_free(&l);
}

void summary_markdown(const struct summary *s, struct bytes *out)
{
	struct lines l = { 0 };

	add_all(&l, s, false);
	lines_markdown(&l, out);
	lines_free(&l);
}
