/* SPDX-License-Identifier: Apache-2.0 */
/* tops.c - the largest processes and commands as tables for a terminal of 80 columns and more. */
#include "base/text/escape.h"
#include "report/cell.h"
#include "report/summary/summary.h"

#include <math.h>
#include <stdio.h>
#include <sys/ioctl.h>

enum {
	SHOWN = 5,
	COMMANDS_SHOWN = 10,
	NAME_WIDTH = 24,
	COLUMNS_LEAST = 80,
	COLUMNS_MOST = 400,
	BEFORE_COMMAND = 64, /* the columns before the last one */
	ROOM_OF_ARGUMENTS = 32,
};

/* A hostile name in a column of its own: escaped, then cut. */
static const char *name_cell(char out[NAME_WIDTH + 1], const char *name)
{
	return escape_terminal_into(out, NAME_WIDTH + 1, name ? name : "");
}

/* What is left for the last column. */
static size_t room_of(FILE *out)
{
	struct winsize w = { 0 };
	int columns = ioctl(fileno(out), TIOCGWINSZ, &w) ? 0 : w.ws_col;

	columns = columns < COLUMNS_LEAST  ? COLUMNS_LEAST
		  : columns > COLUMNS_MOST ? COLUMNS_MOST
					   : columns;
	return (size_t)(columns - BEFORE_COMMAND);
}

static void print_process(const struct summary_process *p, size_t room, FILE *out)
{
	char command[COLUMNS_MOST], pid[CELL], cpu[CELL], rss[CELL], in[CELL], wrote[CELL],
		from[CELL], lived[CELL];
	bool whole = p->command_line && room >= ROOM_OF_ARGUMENTS;
	const char *name = p->name ? p->name : "";

	snprintf(pid, sizeof pid, isnan(p->pid) ? "-" : "%.0f", p->pid);
	fprintf(out, "  %7s %7s %9s %9s %9s %7s %7s  %s\n", pid,
		cell_text(cpu, UNIT_SECONDS, p->cpu_s),
		cell_text(rss, UNIT_BYTES, p->peak_rss_bytes),
		cell_text(in, UNIT_BYTES, p->read_bytes),
		cell_text(wrote, UNIT_BYTES, p->written_bytes),
		cell_text(from, UNIT_SECONDS, p->start_s),
		isnan(p->end_s) ? "alive" : cell_text(lived, UNIT_SECONDS, p->end_s - p->start_s),
		escape_terminal_into(command, room + 1,
				     whole ? run_command_shown(p->command_line) : name));
}

static void print_processes(const char *by, const struct summary_process *p, uint32_t n, FILE *out)
{
	size_t room = room_of(out);

	if (!n)
		return;
	fprintf(out, "\nProcesses by %s\n  %7s %7s %9s %9s %9s %7s %7s  %s\n", by, "pid", "CPU",
		"peak RSS", "read", "written", "started", "ran for", "command");
	for (uint32_t i = 0; i < n && i < SHOWN; i++)
		print_process(&p[i], room, out);
}

static void print_commands(const struct summary *s, FILE *out)
{
	if (!s->ncommands)
		return;
	fprintf(out, "\nCommands by CPU\n  %-*s %9s %8s %9s %9s %9s\n", NAME_WIDTH, "name",
		"processes", "CPU", "peak RSS", "read", "written");
	for (uint32_t i = 0; i < s->ncommands && i < COMMANDS_SHOWN; i++) {
		const struct summary_command *c = &s->commands[i];
		char name[NAME_WIDTH + 1], cpu[CELL], rss[CELL], in[CELL], wrote[CELL];

		fprintf(out, "  %-*s %9.0f %8s %9s %9s %9s\n", NAME_WIDTH, name_cell(name, c->name),
			c->processes, cell_text(cpu, UNIT_SECONDS, c->cpu_s),
			cell_text(rss, UNIT_BYTES, c->peak_rss_bytes),
			cell_text(in, UNIT_BYTES, c->read_bytes),
			cell_text(wrote, UNIT_BYTES, c->written_bytes));
	}
	if (s->ncommands > COMMANDS_SHOWN)
		fprintf(out, "  and %u more: sonde export --to csv\n",
			s->ncommands - COMMANDS_SHOWN);
}

void summary_print_tops(const struct summary *s, FILE *out)
{
	double unseen = summary_unseen_peak(s);
	char peak[CELL];

	print_processes("CPU", s->by_cpu, s->nby_cpu, out);
	print_processes("memory", s->by_memory, s->nby_memory, out);
	if (!isnan(unseen))
		fprintf(out, "  one process had %s between two samples\n",
			cell_text(peak, UNIT_BYTES, unseen));
	print_processes("I/O", s->by_io, s->nby_io, out);
	print_commands(s, out);
}
