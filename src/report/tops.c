/* SPDX-License-Identifier: Apache-2.0 */
/* tops.c - the largest processes and commands as tables for a terminal of 80 columns. */
#include "base/escape.h"
#include "report/cell.h"
#include "report/summary.h"

#include <math.h>
#include <stdio.h>

enum { SHOWN = 5, COMMANDS_SHOWN = 10, NAME_WIDTH = 15 };

/* A hostile name in a column of its own: escaped, then cut. */
static const char *name_cell(char out[NAME_WIDTH + 1], const char *name)
{
	return escape_terminal_into(out, NAME_WIDTH + 1, name ? name : "");
}

static void print_process(const struct summary_process *p, FILE *out)
{
	char name[NAME_WIDTH + 1], pid[CELL], cpu[CELL], rss[CELL], in[CELL], wrote[CELL],
		from[CELL], lived[CELL];

	snprintf(pid, sizeof pid, isnan(p->pid) ? "-" : "%.0f", p->pid);
	fprintf(out, "  %-*s %7s %7s %9s %9s %9s %7s %7s\n", NAME_WIDTH, name_cell(name, p->name),
		pid, cell_text(cpu, UNIT_SECONDS, p->cpu_s),
		cell_text(rss, UNIT_BYTES, p->peak_rss_bytes),
		cell_text(in, UNIT_BYTES, p->read_bytes),
		cell_text(wrote, UNIT_BYTES, p->written_bytes),
		cell_text(from, UNIT_SECONDS, p->start_s),
		isnan(p->end_s) ? "alive" : cell_text(lived, UNIT_SECONDS, p->end_s - p->start_s));
}

static void print_processes(const char *by, const struct summary_process *p, uint32_t n, FILE *out)
{
	if (!n)
		return;
	fprintf(out, "\nProcesses by %s\n  %-*s %7s %7s %9s %9s %9s %7s %7s\n", by, NAME_WIDTH,
		"name", "pid", "CPU", "peak RSS", "read", "written", "born at", "lived");
	for (uint32_t i = 0; i < n && i < SHOWN; i++)
		print_process(&p[i], out);
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
	print_processes("CPU", s->by_cpu, s->nby_cpu, out);
	print_processes("memory", s->by_memory, s->nby_memory, out);
	print_processes("input and output", s->by_io, s->nby_io, out);
	print_commands(s, out);
}
