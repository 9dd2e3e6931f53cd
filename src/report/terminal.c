/* SPDX-License-Identifier: Apache-2.0 */
/* terminal.c - the summary for a terminal of 80 columns: in five lines, or with all its figures. */
#include "base/bytes.h"
#include "base/escape.h"
#include "report/ending.h"
#include "report/lines.h"
#include "report/own.h"
#include "report/summary.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COMMANDS_SHOWN = 3, BRIEF_VERDICT_LINES = 3 };

/* A job that took less says no more than what it used. */
static const double judged_s = 2;

/* What is missing is less than rounding. */
static const double all_ratio = 0.995;
static const double part_that_matters = 0.1;

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

static void number(struct bytes *b, enum unit u, double v)
{
	char text[64];

	bytes_puts(b, unit_format(u, v, text, sizeof text));
}

/* A hostile name, cut to so many bytes. */
static void name(struct bytes *b, const char *text, size_t most)
{
	char cut[256];

	bytes_puts(b, escape_terminal_into(cut, most < sizeof cut ? most + 1 : sizeof cut, text));
}

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
	size_t room;

	name(b, h.words, sizeof h.words);
	if (!isnan(s->wall_s)) {
		bytes_printf(b, "%s %s ", h.joint, h.time);
		number(b, UNIT_SECONDS, s->wall_s);
	}
	if (s->nhosts > 1)
		bytes_printf(b, " on %u nodes%s", s->nhosts,
			     s->complete ? "" : ", not all to the end");
	if (s->nnodes > s->nhosts)
		bytes_printf(b, " in %u recordings", s->nnodes);
	if (!s->command || b->len >= LINES_TEXT)
		return;
	bytes_puts(b, ": ");
	room = b->len < LINES_TEXT ? LINES_TEXT - b->len : 0;
	name(b, s->command, room);
}

static void add_next(struct bytes *b, const struct summary_verdict *v)
{
	char text[VERDICT_NEXT + 64];

	bytes_printf(b, " %s.", verdict_next(v, text, sizeof text));
}

static void add_verdict(struct lines *l, const struct summary_verdict *v)
{
	struct bytes *b =
		lines_add(l, severities[v->severity].label, severities[v->severity].colour);

	escape_terminal(b, v->sentence);
	if (*v->next)
		add_next(b, v);
}

static void add_verdicts(struct lines *l, const struct summary *s)
{
	for (uint32_t i = 0; i < s->nverdicts; i++)
		add_verdict(l, &s->verdicts[i]);
}

/* What cannot be told comes last, and of a short job not at all. */
static void add_verdicts_briefly(struct lines *l, const struct summary *s)
{
	for (uint32_t i = 0; i < s->nverdicts; i++)
		if (s->verdicts[i].severity != SEVERITY_CANNOT_TELL)
			add_verdict(l, &s->verdicts[i]);
	for (uint32_t i = 0; i < s->nverdicts && !(s->wall_s < judged_s); i++)
		if (s->verdicts[i].severity == SEVERITY_CANNOT_TELL)
			add_verdict(l, &s->verdicts[i]);
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
		account_print(lines_add(l, "time", NULL), &s->account, LINES_TEXT, colour);
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

static void add_cores(struct lines *l, const struct summary *s)
{
	struct bytes *b;

	if (isnan(s->cores_used_mean))
		return;
	b = lines_add(l, "cores", NULL);
	number(b, UNIT_ONE, s->cores_used_mean);
	if (!isnan(s->cores_asked))
		bytes_printf(b, " of the %.0f asked for", s->cores_asked);
	else if (!isnan(s->cores_present))
		bytes_printf(b, " of %.0f", s->cores_present);
	bytes_puts(b, " used on average");
	if (s->cores_used_peak >= s->cores_used_mean) {
		bytes_puts(b, ", ");
		number(b, UNIT_ONE, s->cores_used_peak);
		bytes_puts(b, " at most");
	}
	if (s->cores_allowed < s->cores_present)
		bytes_printf(b, " (affinity allows %.0f)", s->cores_allowed);
}

static const char *memory_kind_words(const char *kind)
{
	static const struct {
		const char *kind, *words;
	} rows[] = {
		{ "cgroup", "the cgroup's own peak, with page cache" },
		{ "pss", "sampled PSS, an estimate" },
		{ "rss", "RSS: shared pages count twice" },
	};

	for (size_t i = 0; kind && i < sizeof rows / sizeof rows[0]; i++)
		if (strcmp(rows[i].kind, kind) == 0)
			return rows[i].words;
	return NULL;
}

static void add_memory(struct lines *l, const struct summary *s)
{
	const char *words = memory_kind_words(s->peak_memory_kind);
	struct bytes *b;

	if (isnan(s->peak_memory_bytes))
		return;
	b = lines_add(l, "memory peak", NULL);
	number(b, UNIT_BYTES, s->peak_memory_bytes);
	if (!isnan(s->memory_asked_bytes)) {
		bytes_puts(b, " of the ");
		number(b, UNIT_BYTES, s->memory_asked_bytes);
		bytes_puts(b, " asked for");
	} else if (!isnan(s->memory_present)) {
		bytes_puts(b, " of ");
		number(b, UNIT_BYTES, s->memory_present);
	}
	if (words)
		bytes_printf(b, " (%s)", words);
}

static void add_cpu(struct lines *l, const struct summary *s)
{
	struct bytes *b;

	if (isnan(s->cpu_s))
		return;
	b = lines_add(l, "CPU time", NULL);
	number(b, UNIT_SECONDS, s->cpu_s);
	if (!isnan(s->cpu_user_s) && !isnan(s->cpu_system_s)) {
		bytes_puts(b, " (user ");
		number(b, UNIT_SECONDS, s->cpu_user_s);
		bytes_puts(b, ", system ");
		number(b, UNIT_SECONDS, s->cpu_system_s);
		bytes_puts(b, ")");
	}
	if (s->attributed_ratio < all_ratio) {
		bytes_puts(b, "; ");
		number(b, UNIT_RATIO, 1 - s->attributed_ratio);
		bytes_puts(b, " of it by processes too short to sample");
	}
}

static void add_processes(struct lines *l, const struct summary *s)
{
	uint32_t shown = 0;
	struct bytes *b;

	if (isnan(s->processes_started) && !s->ncommands)
		return;
	b = lines_add(l, "processes", NULL);
	if (!isnan(s->processes_started)) {
		number(b, UNIT_COUNT, s->processes_started);
		bytes_puts(b, s->processes_at_most > s->processes_started ? " seen to start"
									  : " started");
		if (s->processes_at_most > s->processes_started && isfinite(s->processes_at_most)) {
			bytes_puts(b, " (at most ");
			number(b, UNIT_COUNT, s->processes_at_most);
			bytes_puts(b, " did)");
		}
		if (!isnan(s->processes_peak))
			bytes_printf(b, ", %.0f at a time", s->processes_peak);
	}
	for (uint32_t i = 0; i < s->ncommands && shown < COMMANDS_SHOWN; i++) {
		if (!(s->commands[i].cpu_s > 0))
			continue;
		bytes_puts(b, shown++ ? ", " : b->len ? "; CPU: " : "CPU: ");
		name(b, s->commands[i].name, 20);
		bytes_puts(b, " ");
		number(b, UNIT_SECONDS, s->commands[i].cpu_s);
	}
}

static void add_io(struct lines *l, const struct summary *s)
{
	struct bytes *b;

	if (isnan(s->read_bytes) && isnan(s->written_bytes))
		return;
	b = lines_add(l, "I/O", NULL);
	number(b, UNIT_BYTES, s->read_bytes);
	bytes_puts(b, " read, ");
	number(b, UNIT_BYTES, s->written_bytes);
	bytes_puts(b, " written");
}

/* Of the whole nodes, whoever used it. */
static void add_fabric(struct lines *l, const struct summary *s)
{
	const struct story_fabric *f = &s->story.fabric;
	struct bytes *b;

	if (isnan(f->ports))
		return;
	b = lines_add(l, "fabric", NULL);
	number(b, UNIT_BYTES, f->received_bytes);
	bytes_puts(b, " received, ");
	number(b, UNIT_BYTES, f->sent_bytes);
	bytes_printf(b, " sent by %.0f port%s of the node%s", f->ports, f->ports == 1 ? "" : "s",
		     s->nhosts == 1 ? "" : "s");
	if (isnan(f->used_ratio))
		return;
	bytes_puts(b, f->ports == 1 ? ", " : ", the fullest at ");
	number(b, UNIT_RATIO, f->used_ratio);
	bytes_puts(b, " of its link");
}

static void add_energy(struct lines *l, const struct summary *s)
{
	struct bytes *b;

	if (!s->energy_of)
		return;
	b = lines_add(l, "energy", NULL);
	number(b, UNIT_JOULES, s->energy_j);
	bytes_printf(b, " measured (%s)", s->energy_of);
	if (isnan(s->energy_job_j))
		return;
	bytes_puts(b, "; the job's share by CPU time, apportioned: ");
	number(b, UNIT_JOULES, s->energy_job_j);
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
		name(b, s->counters_missing, 4 * SUMMARY_NAME);
		bytes_puts(b, *s->counters_missing ? " not counted: " : "not counted: ");
		name(b, s->counters_refused, 2 * LINES_TEXT);
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
		bytes_puts(row, "; scaled: counted in turns, in ");
		number(row, UNIT_RATIO, share);
		bytes_puts(row, " of the CPU time at least");
	}
	add_uncounted(l, row, s);
}

static void add_survivors(struct lines *l, const struct summary *s)
{
	if (s->survivors)
		name(lines_add(l, "still runs", NULL), s->survivors, 2 * LINES_TEXT);
}

static void add_monitor(struct lines *l, const struct summary *s)
{
	struct bytes *b;

	if (isnan(s->monitor_cpu_s))
		return;
	b = lines_add(l, "monitor", NULL);
	bytes_puts(b, "Sonde took ");
	number(b, UNIT_SECONDS, s->monitor_cpu_s);
	bytes_puts(b, " of CPU");
	if (s->monitor_cpu_s >= 0 && s->wall_s >= 1) {
		bytes_puts(b, " (");
		number(b, UNIT_RATIO, s->monitor_cpu_s / s->wall_s);
		bytes_puts(b, " of a core)");
	}
	if (!isnan(s->monitor_rss_bytes)) {
		bytes_puts(b, ", ");
		number(b, UNIT_BYTES, s->monitor_rss_bytes);
	}
	bytes_puts(b, "; samples: ");
	number(b, UNIT_COUNT, s->monitor_samples);
	if (s->monitor_late > 0)
		bytes_printf(b, ", late: %.0f", s->monitor_late);
	if (s->monitor_skipped > 0)
		bytes_printf(b, ", skipped: %.0f", s->monitor_skipped);
	if (s->reduced)
		name(lines_add(l, "reduced", NULL), s->reduced, 2 * LINES_TEXT);
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

/* "8.0 GiB" as "8 GiB"; without its unit where that is the one said next. */
static void short_bytes(struct bytes *b, double v, const char *unit_said)
{
	char text[64], *point, *unit;

	unit_format(UNIT_BYTES, v, text, sizeof text);
	point = strstr(text, ".0 ");
	if (point)
		memmove(point, point + 2, strlen(point + 2) + 1);
	unit = strchr(text, ' ');
	if (unit && unit_said && strcmp(unit, unit_said) == 0)
		*unit = '\0';
	bytes_puts(b, text);
}

/* Of what there is, where the job took a part of it that matters. */
static void add_memory_briefly(struct bytes *b, const struct summary *s)
{
	double of = isnan(s->memory_asked_bytes) ? s->memory_present : s->memory_asked_bytes;
	bool matters = s->peak_memory_bytes >= part_that_matters * of;
	char total[64] = "";

	if (isnan(s->peak_memory_bytes))
		return;
	bytes_puts(b, b->len ? ", " : "");
	if (matters)
		unit_format(UNIT_BYTES, of, total, sizeof total);
	short_bytes(b, s->peak_memory_bytes, strchr(total, ' '));
	if (matters) {
		bytes_puts(b, " of ");
		short_bytes(b, of, NULL);
	}
	bytes_puts(b, " memory");
}

static void add_bytes_briefly(struct bytes *b, const char *what, double v)
{
	char text[64];
	double shown;

	if (isnan(v))
		return;
	unit_format(UNIT_BYTES, v, text, sizeof text);
	shown = strtod(text, NULL);
	bytes_printf(b, "%s%s", b->len ? ", " : "", what);
	if (shown >= 10)
		bytes_printf(b, "%.0f%s", shown, text + strcspn(text, " "));
	else
		short_bytes(b, v, NULL);
}

/* "1.85 of 2 cores, 1.2 of 8 GiB memory, read 120 MiB, wrote 300 MiB" */
static void add_used(struct lines *l, const struct summary *s)
{
	double of = isnan(s->cores_asked) ? s->cores_present : s->cores_asked;
	struct bytes text = { 0 };

	if (!isnan(s->cores_used_mean)) {
		number(&text, UNIT_ONE, s->cores_used_mean);
		if (!isnan(of))
			bytes_printf(&text, " of %.0f", of);
		bytes_puts(&text, " cores");
	}
	add_memory_briefly(&text, s);
	if (s->gpus > 0)
		bytes_printf(&text, ", %.0f of %.0f GPUs", s->gpus_used, s->gpus);
	add_bytes_briefly(&text, "read ", s->read_bytes);
	add_bytes_briefly(&text, "wrote ", s->written_bytes);
	if (text.len)
		bytes_put(lines_add(l, "used", NULL), text.data, text.len);
	bytes_free(&text);
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
	static const char *const next[] = { "; next: sonde show --all", ", sonde report" };
	struct bytes *b = lines_add(l, "recording", NULL);

	add_path(b, s->path);
	for (size_t i = 0; i < sizeof next / sizeof next[0]; i++) {
		bytes_puts(b, next[i]);
		if (newest)
			continue;
		bytes_puts(b, " ");
		add_path(b, s->path);
	}
}

void summary_print_brief(const struct summary *s, const struct own *own, FILE *out, bool colour,
			 bool newest)
{
	struct lines l = { .n = 0 };

	add_heading(&l, s);
	add_verdicts_briefly(&l, s);
	add_nodes(&l, s);
	add_account(&l, s, colour);
	add_used(&l, s);
	add_own(&l, own);
	add_survivors(&l, s);
	add_recording_briefly(&l, s, newest);
	lines_write(&l, out, colour, BRIEF_VERDICT_LINES, "sonde show --all");
	lines_free(&l);
}

void summary_print(const struct summary *s, FILE *out, bool colour)
{
	struct lines l = { .n = 0 };

	add_heading(&l, s);
	add_verdicts(&l, s);
	add_nodes(&l, s);
	add_account(&l, s, colour);
	add_tasks(&l, s);
	add_cores(&l, s);
	add_memory(&l, s);
	add_cpu(&l, s);
	add_processes(&l, s);
	add_io(&l, s);
	add_fabric(&l, s);
	add_energy(&l, s);
	add_counters(&l, s);
	add_survivors(&l, s);
	add_monitor(&l, s);
	add_recording(&l, s);
	lines_write(&l, out, colour, UINT_MAX, "");
	lines_free(&l);
}
