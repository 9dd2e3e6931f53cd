/* SPDX-License-Identifier: Apache-2.0 */
/* tables.c - the largest processes, the commands and the nodes as tables for a terminal of 80
 * columns and more. */
#include "base/text/escape.h"
#include "report/lines.h"
#include "report/summary/summary.h"

#include <math.h>
#include <stdio.h>
#include <sys/ioctl.h>

/* ---- processes and commands ---- */

enum {
	SHOWN = 5,
	COMMANDS_SHOWN = 10,
	NAME_WIDTH = 24,
	COLUMNS_LEAST = 80,
	COLUMNS_MOST = 400,
	BEFORE_COMMAND = 64, /* the columns before the last one */
	NODE_WIDTH = 16,     /* at most, of the column that a job on several nodes has first */
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

/* What the names of their nodes take, after two blanks; 0: there is one node. */
static size_t width_of_nodes(const struct summary *s, const struct summary_process *p, uint32_t n)
{
	size_t most = 2 + strlen("node");

	if (s->nhosts < 2)
		return 0;
	for (uint32_t i = 0; i < n && i < SHOWN; i++)
		if (p[i].host && 2 + strlen(p[i].host) > most)
			most = 2 + strlen(p[i].host);
	return most < NODE_WIDTH ? most : NODE_WIDTH;
}

static void print_node(const char *host, size_t width, FILE *out)
{
	char cell[NODE_WIDTH];

	if (width)
		fprintf(out, "  %-*s", (int)width - 2,
			escape_terminal_into(cell, width - 1, host ? host : "?"));
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

static void print_processes(const struct summary *s, const char *by,
			    const struct summary_process *p, uint32_t n, FILE *out)
{
	size_t nodes = width_of_nodes(s, p, n), room = room_of(out) - nodes;

	if (!n)
		return;
	fprintf(out, "\nProcesses by %s\n", by);
	print_node("node", nodes, out);
	fprintf(out, "  %7s %7s %9s %9s %9s %7s %7s  %s\n", "pid", "CPU", "peak RSS", "read",
		"written", "started", "ran for", "command");
	for (uint32_t i = 0; i < n && i < SHOWN; i++) {
		print_node(p[i].host, nodes, out);
		print_process(&p[i], room, out);
	}
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

		fprintf(out, "  %-*s %9.0f %8s %9s %9s %9s\n", NAME_WIDTH,
			name_cell(name, summary_command_shown(c)), c->processes,
			cell_text(cpu, UNIT_SECONDS, c->cpu_s),
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

	print_processes(s, "CPU", s->by_cpu, s->nby_cpu, out);
	print_processes(s, "memory", s->by_memory, s->nby_memory, out);
	if (!isnan(unseen))
		fprintf(out, "  one process had %s between two samples\n",
			cell_text(peak, UNIT_BYTES, unseen));
	print_processes(s, "I/O", s->by_io, s->nby_io, out);
	print_commands(s, out);
}

/* ---- nodes side by side ---- */

enum { LABEL = 14, HOST = 33 };

static const char *host_cell(char out[HOST + 1], const struct summary *s, uint32_t at)
{
	const char *host = s->hosts[at].host;

	return escape_terminal_into(out, HOST + 1, host ? host : "?");
}

static void print_comparison(const struct summary *s, const struct summary_comparison *c, FILE *out)
{
	char total[CELL], mean[CELL], least[CELL], most[CELL], imbalance[CELL];
	char label[256], on[HOST + 1], and[HOST + 1];

	escape_terminal_into(label, sizeof label, c->label ? c->label : c->metric);
	fprintf(out, "  %-*s", LABEL, label);
	if (!c->label) /* a name of its own line */
		fprintf(out, "\n  %-*s", LABEL, "");
	fprintf(out, " %11s %11s %11s %11s %10s\n",
		cell_text(total, c->unit, c->adds_up ? c->spread.total : NAN),
		cell_text(mean, c->unit, c->spread.mean), cell_text(least, c->unit, c->spread.min),
		cell_text(most, c->unit, c->spread.max),
		cell_text(imbalance, UNIT_RATIO, c->spread.imbalance));
	if (c->spread.min < c->spread.max)
		fprintf(out, "  %-*s least on %s, most on %s\n", LABEL, "",
			host_cell(on, s, c->spread.least), host_cell(and, s, c->spread.most));
}

void summary_print_nodes(const struct summary *s, FILE *out)
{
	char error[CELL];

	if (!s->ncomparisons)
		return;
	fprintf(out, "\n%-*s %11s %11s %11s %11s %10s\n", LABEL + 2, "Nodes", "total", "average",
		"least", "most", "imbalance");
	for (uint32_t i = 0; i < s->ncomparisons; i++)
		print_comparison(s, &s->comparisons[i], out);
	fprintf(out, "  aligned by wall clock, ");
	if (isnan(s->clock_error_s))
		fprintf(out, "but not all kernels know the error\n");
	else
		fprintf(out, "within %s\n", cell_text(error, UNIT_SECONDS, s->clock_error_s));
}

/* ---- those that are not as the others ---- */

enum { NAMED = 8 };

/* The next of those that are said in one row, named as long as there are not too many. */
static void add_host(struct bytes *b, const char *what, uint32_t at, const char *host)
{
	char cut[65];

	if (!at)
		bytes_printf(b, "%s%s: ", b->len ? "; " : "", what);
	if (at >= NAMED)
		return;
	bytes_puts(b, at ? ", " : "");
	bytes_puts(b, escape_terminal_into(cut, sizeof cut, host ? host : "?"));
}

static void add_more(struct bytes *b, uint32_t n)
{
	if (n > NAMED)
		bytes_printf(b, " and %u more", n - NAMED);
}

static void add_lost(struct bytes *b, const struct summary *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; s->nhosts > 1 && i < s->nnodes; i++)
		if (s->nodes[i].lost)
			add_host(b, "without an end", n++, s->nodes[i].host);
	add_more(b, n);
}

static void add_list(struct bytes *b, const char *what, const struct hostlist *names)
{
	for (uint32_t i = 0; i < names->n; i++)
		add_host(b, what, i, hostlist_name(names, i));
	add_more(b, names->n);
}

static void add_restarted(struct bytes *b, const struct summary *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; s->hosts && s->nhosts > 1 && i < s->nhosts; i++)
		if (s->hosts[i].restarted)
			add_host(b, "with a second recorder", n++, s->hosts[i].host);
	add_more(b, n);
}

static void add_late(struct bytes *b, const struct summary *s)
{
	char late[32];
	uint32_t n = 0;

	for (uint32_t i = 0; s->hosts && i < s->nhosts; i++) {
		if (isnan(s->hosts[i].late_s))
			continue;
		add_host(b, "started late", n, s->hosts[i].host);
		if (n++ >= NAMED)
			continue;
		bytes_puts(b, " (");
		bytes_puts(b, unit_format(UNIT_SECONDS, s->hosts[i].late_s, late, sizeof late));
		bytes_puts(b, ")");
	}
	add_more(b, n);
}

/* Its zeros are no work that it might have had. */
static void add_unseen(struct bytes *b, const struct summary *s)
{
	char what[96], waited[32];
	uint32_t n = 0;

	for (uint32_t i = 0; s->hosts && i < s->nhosts; i++) {
		if (!(s->hosts[i].unseen_s > 0))
			continue;
		snprintf(what, sizeof what, "stopped after %s without a process of the job",
			 unit_format(UNIT_SECONDS, s->hosts[i].unseen_s, waited, sizeof waited));
		add_host(b, what, n++, s->hosts[i].host);
	}
	add_more(b, n);
}

void summary_nodes_words(const struct summary *s, struct bytes *out)
{
	add_lost(out, s);
	add_list(out, "no recording of", &s->missing);
	add_restarted(out, s);
	add_late(out, s);
	add_unseen(out, s);
	if (s->nhosts > 1 && s->unsynchronised.n == s->nhosts)
		bytes_printf(out, "%sclocks not synchronised", out->len ? "; " : "");
	else if (s->nhosts > 1)
		add_list(out, "clock not synchronised", &s->unsynchronised);
}

/* The job's sum says little of a limit that each node has for itself. */
void summary_print_tightest(const struct summary *s, struct bytes *b)
{
	struct bytes words = { 0 };

	summary_tightest_words(s, &words);
	bytes_u8(&words, '\0');
	if (words.len > 1 && !words.failed) {
		bytes_puts(b, "; nearest to a limit: ");
		escape_terminal(b, (const char *)words.data);
	}
	bytes_free(&words);
}
