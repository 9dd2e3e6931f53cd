/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/used.h"

#include "base/bytes.h"
#include "report/lines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COMMANDS_SHOWN = 3 };

/* What is missing is less than rounding. */
static const double all_ratio = 0.995;
static const double part_that_matters = 0.1;
/* Of less, the start and end of a sampled process are a part, too. */
static const double least_unattributed_s = 0.01;

static const char *at_least(bool is_bound)
{
	return is_bound ? "at least " : "";
}

static double cores_used(const struct summary *s)
{
	return s->cpu_is_bound ? s->cpu_s / s->wall_s : s->cores_used_mean;
}

static void add_cores(struct lines *l, const struct summary *s)
{
	const struct summary_whole whole = summary_cores(s);
	char text[CELL];
	struct bytes *b;

	if (isnan(cores_used(s)))
		return;
	b = lines_add(l, "cores", NULL);
	bytes_puts(b, at_least(s->cpu_is_bound));
	bytes_puts(b, cell_cores(text, cores_used(s)));
	if (!isnan(whole.v) && strcmp(whole.words, "present") != 0)
		bytes_printf(b, " of the %.4g %s", whole.v, whole.words);
	else if (!isnan(whole.v))
		bytes_printf(b, " of %.0f", whole.v);
	bytes_puts(b, " used on average");
	if (s->cores_used_peak >= s->cores_used_mean)
		bytes_printf(b, ", %s at most", cell_cores(text, s->cores_used_peak));
	if (!isnan(s->cores_asked) && s->cores_allowed < s->cores_present)
		bytes_printf(b, " (affinity allows %.0f)", s->cores_allowed);
}

static void add_whole_memory(struct bytes *b, struct summary_whole whole)
{
	bool is_present = strcmp(whole.words, "present") == 0;

	if (isnan(whole.v))
		return;
	bytes_puts(b, is_present ? " of " : " of the ");
	lines_number(b, UNIT_BYTES, whole.v);
	if (!is_present)
		bytes_printf(b, " %s", whole.words);
}

/* Of figures that may have counted something twice. */
static bool is_at_most(const struct summary *s)
{
	return s->peak_memory_at_most > 0 && s->peak_memory_at_most <= s->peak_memory_bytes;
}

static void add_memory(struct lines *l, const struct summary *s)
{
	const char *words = summary_memory_kind(s).words;
	struct bytes *b, kinds = { 0 };

	if (isnan(s->peak_memory_bytes))
		return;
	b = lines_add(l, "memory peak", NULL);
	bytes_puts(b, at_least(s->peak_memory_is_bound));
	if (is_at_most(s))
		bytes_puts(b, "at most ");
	lines_number(b, UNIT_BYTES, s->peak_memory_bytes);
	add_whole_memory(b, summary_memory(s));
	if (words)
		bytes_printf(b, " (%s)", words);
	if (s->peak_memory_error_bytes > 0) {
		bytes_puts(b, ", +- ");
		lines_number(b, UNIT_BYTES, s->peak_memory_error_bytes);
	}
	if (s->peak_memory_at_most > s->peak_memory_bytes) {
		bytes_puts(b, "; at most ");
		lines_number(b, UNIT_BYTES, s->peak_memory_at_most);
	}
	if (s->peak_memory_is_bound)
		bytes_puts(b, "; short-lived processes may have had more");
	summary_print_tightest(s, b);
	summary_memory_words(s, &kinds);
	bytes_u8(&kinds, '\0');
	if (kinds.len > 1 && !kinds.failed)
		bytes_puts(lines_add(l, "of which", NULL), (const char *)kinds.data);
	bytes_free(&kinds);
}

/* What the nodes computed for anybody is the most that it can be. */
static void add_unwaited(struct bytes *b, const struct summary *s)
{
	if (isfinite(s->cpu_at_most_s)) {
		bytes_puts(b, ", at most ");
		lines_number(b, UNIT_SECONDS, s->cpu_at_most_s);
	}
	bytes_puts(b, ": children that were never waited for are counted in part");
}

static void add_cpu(struct lines *l, const struct summary *s)
{
	struct bytes *b;

	if (isnan(s->cpu_s))
		return;
	b = lines_add(l, "CPU time", NULL);
	bytes_puts(b, at_least(s->cpu_is_bound));
	lines_number(b, UNIT_SECONDS, s->cpu_s);
	if (s->cpu_is_bound) {
		add_unwaited(b, s);
		return;
	}
	if (!isnan(s->cpu_user_s) && !isnan(s->cpu_system_s)) {
		bytes_puts(b, " (user ");
		lines_number(b, UNIT_SECONDS, s->cpu_user_s);
		bytes_puts(b, ", system ");
		lines_number(b, UNIT_SECONDS, s->cpu_system_s);
		bytes_puts(b, ")");
	}
	if (s->attributed_ratio < all_ratio &&
	    s->cpu_s * (1 - s->attributed_ratio) >= least_unattributed_s) {
		bytes_puts(b, "; ");
		lines_number(b, UNIT_RATIO, 1 - s->attributed_ratio);
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
		lines_number(b, UNIT_COUNT, s->processes_started);
		bytes_puts(b, s->processes_at_most > s->processes_started ? " seen to start"
									  : " started");
		if (s->processes_at_most > s->processes_started && isfinite(s->processes_at_most)) {
			bytes_puts(b, " (at most ");
			lines_number(b, UNIT_COUNT, s->processes_at_most);
			bytes_puts(b, " did)");
		}
		if (!isnan(s->processes_peak))
			bytes_printf(b, ", %s%.0f at a time", at_least(s->processes_peak_is_bound),
				     s->processes_peak);
	}
	for (uint32_t i = 0; i < s->ncommands && shown < COMMANDS_SHOWN; i++) {
		if (!(s->commands[i].cpu_s > 0))
			continue;
		bytes_puts(b, shown++ ? ", " : b->len ? "; CPU: " : "CPU: ");
		lines_name(b, s->commands[i].name, 20);
		bytes_puts(b, " ");
		lines_number(b, UNIT_SECONDS, s->commands[i].cpu_s);
	}
}

/* The share of what was read and written that the tables of processes and commands do not have. */
static double unattributed_io(const struct summary *s)
{
	double seen = 0;

	for (uint32_t i = 0; i < s->ncommands; i++)
		seen += fmax(s->commands[i].read_bytes, 0) + fmax(s->commands[i].written_bytes, 0);
	return seen > 0 ? 1 - seen / (s->read_bytes + s->written_bytes) : NAN;
}

static void add_io(struct lines *l, const struct summary *s)
{
	struct bytes *b;

	if (isnan(s->read_bytes) && isnan(s->written_bytes))
		return;
	b = lines_add(l, "I/O", NULL);
	bytes_puts(b, at_least(s->io_is_bound));
	lines_number(b, UNIT_BYTES, s->read_bytes);
	bytes_puts(b, " read, ");
	lines_number(b, UNIT_BYTES, s->written_bytes);
	bytes_puts(b, " written");
	if (unattributed_io(s) > 1 - all_ratio) {
		bytes_puts(b, "; ");
		lines_number(b, UNIT_RATIO, unattributed_io(s));
		bytes_puts(
			b,
			" of it after the last sample of a process, or by processes too short to sample");
	}
	if (s->io_is_bound && !s->cpu_is_bound)
		bytes_puts(b, ": that of children never waited for is known in part");
	if (s->storage_read_bytes + s->storage_written_bytes > 0) {
		bytes_puts(b, "; storage: ");
		lines_number(b, UNIT_BYTES, s->storage_read_bytes);
		bytes_puts(b, " read, ");
		lines_number(b, UNIT_BYTES, s->storage_written_bytes);
		bytes_puts(b, " written");
	}
}

void terminal_used(struct lines *l, const struct summary *s)
{
	add_cores(l, s);
	add_memory(l, s);
	add_cpu(l, s);
	add_processes(l, s);
	add_io(l, s);
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

/* Is it known only between two figures that differ by more than a tenth? */
static bool is_wide(const struct summary *s)
{
	return s->peak_memory_at_most > 1.1 * s->peak_memory_bytes;
}

/* Of what there is, where the job took a part of it that matters. */
static void add_memory_briefly(struct bytes *b, const struct summary *s)
{
	double of = summary_memory(s).v;
	bool matters = fmax(s->peak_memory_bytes, s->peak_memory_at_most) >= part_that_matters * of;
	char total[64] = "";

	if (isnan(s->peak_memory_bytes))
		return;
	bytes_puts(b, b->len ? ", " : "");
	bytes_puts(b, is_at_most(s) ? "at most " : at_least(s->peak_memory_is_bound));
	if (matters)
		unit_format(UNIT_BYTES, of, total, sizeof total);
	short_bytes(b, s->peak_memory_bytes, is_wide(s) ? NULL : strchr(total, ' '));
	if (is_wide(s)) {
		bytes_puts(b, " to ");
		short_bytes(b, s->peak_memory_at_most, strchr(total, ' '));
	}
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
void terminal_used_briefly(struct lines *l, const struct summary *s)
{
	double of = summary_cores(s).v;
	struct bytes text = { 0 };
	char cores[CELL];

	if (!isnan(cores_used(s))) {
		bytes_puts(&text, at_least(s->cpu_is_bound));
		bytes_puts(&text, cell_cores(cores, cores_used(s)));
		if (!isnan(of))
			bytes_printf(&text, " of %.4g", of);
		bytes_puts(&text, " cores");
	}
	add_memory_briefly(&text, s);
	if (s->gpus > 0)
		bytes_printf(&text, ", %.0f of %.0f GPUs", s->gpus_used, s->gpus);
	add_bytes_briefly(&text, s->io_is_bound ? "read at least " : "read ", s->read_bytes);
	add_bytes_briefly(&text, s->io_is_bound ? "wrote at least " : "wrote ", s->written_bytes);
	if (text.len)
		bytes_put(lines_add(l, "used", NULL), text.data, text.len);
	bytes_free(&text);
}
