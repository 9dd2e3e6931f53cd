/* SPDX-License-Identifier: Apache-2.0 */
/* path.c - the critical path, for a terminal and as JSON. */
#include "report/summary/path.h"
#include "base/text/escape.h"
#include "base/text/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_SHOWN = 10, PARTS_SHOWN = 12, CELL = 64, COMMAND = 57 };

static const char *seconds(double v, char out[CELL])
{
	return unit_format(UNIT_SECONDS, v, out, CELL);
}

bool path_tells(const struct path *p, const struct summary *s)
{
	const double most = 0.9;

	return p->nnames > 1 && s->nhosts < 2 && p->name[0].on_path_s > 0 &&
	       (strcmp(p->name[0].name, s->processes[p->root].name) != 0 ||
		p->name[0].on_path_s < most * p->wall_s);
}

void path_words(const struct path *p, unsigned most, struct bytes *out)
{
	const double least = 0.01;

	for (uint32_t i = 0; i < p->nnames && i < most; i++) {
		double share = p->name[i].on_path_s / p->wall_s;

		if (share < least)
			break;
		bytes_printf(out, "%s%.60s %.0f %%", i ? ", " : "", p->name[i].name, 100 * share);
	}
}

static void name_line(struct bytes *b, const struct path *p, const struct path_name *n)
{
	char time[CELL], half[CELL], most[CELL], name[CELL], cpu[CELL] = "-";

	escape_terminal_into(name, 33, n->name);
	if (!isnan(path_computing_ratio(n)))
		snprintf(cpu, CELL, "%.0f %%", 100 * path_computing_ratio(n));
	bytes_printf(b, "%10s %5.1f %%  %9u  %9s  ", seconds(n->on_path_s, time),
		     100 * n->on_path_s / p->wall_s, n->processes, cpu);
	if (isnan(n->shorter_s))
		bytes_printf(b, "%21s", "");
	else if (n->at_most_s - n->shorter_s < 0.01 * p->wall_s)
		bytes_printf(b, "%21s", seconds(n->shorter_s, half));
	else
		bytes_printf(b, "%10s.. %9s", seconds(n->shorter_s, half),
			     seconds(n->at_most_s, most));
	bytes_printf(b, "  %s\n", name);
}

static void unknown_line(struct bytes *b, const struct path *p)
{
	char time[CELL];

	if (p->unknown_s > 0)
		bytes_printf(b, "%10s %5.1f %%  %9s  %9s  %21s  %s\n", seconds(p->unknown_s, time),
			     100 * p->unknown_s / p->wall_s, "-", "-", "", "(unknown wait)");
}

static void command_of(struct bytes *b, const struct summary *s, uint32_t process)
{
	const struct summary_process *x = &s->processes[process];
	char text[COMMAND];

	escape_terminal_into(text, sizeof text, x->command_line ? x->command_line : x->name);
	bytes_puts(b, text);
}

static int longest_first(const void *a, const void *b)
{
	const struct path_part *x = a, *y = b;
	double p = x->to_s - x->from_s, q = y->to_s - y->from_s;

	return p == q ? (x->from_s > y->from_s) - (x->from_s < y->from_s) : p < q ? 1 : -1;
}

static int earliest_first(const void *a, const void *b)
{
	double x = ((const struct path_part *)a)->from_s, y = ((const struct path_part *)b)->from_s;

	return (x > y) - (x < y);
}

/* The longest, in the order of time. */
static void parts_text(struct bytes *b, const struct path *p, const struct summary *s, bool all)
{
	struct path_part *part = malloc((p->nparts + 1u) * sizeof *part);
	uint32_t n = all || p->nparts < PARTS_SHOWN ? p->nparts : PARTS_SHOWN;

	b->failed |= !part;
	if (!part)
		return;
	memcpy(part, p->part, p->nparts * sizeof *part);
	qsort(part, p->nparts, sizeof *part, longest_first);
	qsort(part, n, sizeof *part, earliest_first);
	bytes_printf(b, "\n%s of it, in time\n%10s %10s  process\n",
		     n < p->nparts ? "The longest parts" : "All parts", "at", "for");
	for (uint32_t i = 0; i < n; i++) {
		char at[CELL], time[CELL];

		bytes_printf(b, "%10s %10s  ", seconds(part[i].from_s, at),
			     seconds(part[i].to_s - part[i].from_s, time));
		command_of(b, s, part[i].process);
		bytes_puts(b, "\n");
	}
	free(part);
}

static void doubts(struct bytes *b, const struct path *p, const struct summary *s)
{
	if (p->known_ratio < 0.9)
		bytes_printf(b,
			     "%.0f %% of the processes are known by themselves; the path may "
			     "lead through others.\n",
			     100 * p->known_ratio);
	if (p->unknown_s > 0)
		bytes_puts(b, "unknown wait: a process waited while children of it ran that are "
			      "too short and too many to be known by themselves.\n");
	if (s->nhosts > 1)
		bytes_puts(b,
			   "It is the path on one node: what processes of different nodes wait for "
			   "is not followed.\n");
	bytes_puts(b, "half as long: the job's time if all of these processes took half of theirs. "
		      "Of two times, the first holds if a process needs only what ended last "
		      "before it started.\n");
}

void path_text(struct bytes *b, const struct path *p, const struct summary *s, bool all)
{
	char wall[CELL];

	if (p->root == UINT32_MAX)
		return;
	bytes_printf(b, "The critical path, %s: ", seconds(p->wall_s, wall));
	command_of(b, s, p->root);
	bytes_printf(b, "\n%18s  %9s  %9s  %21s  name\n", "on the path", "processes", "computing",
		     "half as long");
	for (uint32_t i = 0; i < p->nnames && (all || i < NAMES_SHOWN); i++)
		name_line(b, p, &p->name[i]);
	unknown_line(b, p);
	if (!all && p->nnames > NAMES_SHOWN)
		bytes_printf(b, "and %u more names: --all\n", p->nnames - NAMES_SHOWN);
	parts_text(b, p, s, all);
	bytes_puts(b, "\n");
	doubts(b, p, s);
}

static void process_json(struct json *j, const struct summary *s, uint32_t process)
{
	const struct summary_process *x = &s->processes[process];

	json_put_text(j, "name", x->name);
	json_put_text(j, "command_line", x->command_line);
	json_put_text(j, "host", x->host);
	json_put_real(j, "pid", x->pid);
}

void path_json(struct bytes *b, const struct path *p, const struct summary *s)
{
	struct json j = { .out = b, .indent = true };

	json_object(&j);
	json_put_text(&j, "schema", "sonde/path/1");
	json_put_text(&j, "recording", s->path);
	json_put_real(&j, "wall_seconds", p->wall_s);
	json_put_real(&j, "processes_known_ratio", p->known_ratio);
	json_put_real(&j, "unknown_wait_seconds", p->unknown_s);
	json_key(&j, "names");
	json_array(&j);
	for (uint32_t i = 0; i < p->nnames; i++) {
		const struct path_name *n = &p->name[i];

		json_object(&j);
		json_put_text(&j, "name", n->name);
		json_put_real(&j, "path_seconds", n->on_path_s);
		json_put_real(&j, "unknown_wait_seconds", n->unknown_s);
		json_put_real(&j, "cpu_seconds", n->cpu_s);
		json_put_int(&j, "processes", n->processes);
		json_put_real(&j, "wall_if_half_seconds", n->shorter_s);
		json_put_real(&j, "wall_if_half_at_most_seconds", n->at_most_s);
		json_object_end(&j);
	}
	json_array_end(&j);
	json_key(&j, "parts");
	json_array(&j);
	for (uint32_t i = 0; i < p->nparts; i++) {
		json_object(&j);
		json_put_real(&j, "from_seconds", p->part[i].from_s);
		json_put_real(&j, "to_seconds", p->part[i].to_s);
		process_json(&j, s, p->part[i].process);
		json_object_end(&j);
	}
	json_array_end(&j);
	json_object_end(&j);
	bytes_puts(b, "\n");
}
