/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/text/columns.h"
#include "base/text/json.h"
#include "console/command.h"
#include "core/metric.h"
#include "session/find.h"
#include "session/history.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ls_options {
	struct history_options history; /* first, as HISTORY_OPTIONS wants it */
	bool json, past, add;
};

_Static_assert(offsetof(struct ls_options, history) == 0, "HISTORY_OPTIONS");

static const struct option rows[] = {
	{ .name = "json",
	  .help = "Print the list as JSON, schema sonde/ls/1 or, with the history, "
		  "sonde/history/1.",
	  OPTION_OFFSET(struct ls_options, json) },
	{ .name = "history",
	  .help = "List past runs from the history, even if their recordings are gone. Implied by "
		  "the options that select runs or a store.",
	  OPTION_OFFSET(struct ls_options, past) },
	{ .name = "add",
	  .help = "Add the recordings in the directory to the history, replacing older entries "
		  "for them.",
	  OPTION_OFFSET(struct ls_options, add) },
	HISTORY_OPTIONS,
};

static const struct example examples[] = {
	{ "ls", "the recordings here" },
	{ "ls --json results", "the recordings in a directory, for a script" },
	{ "ls --name 'train*' --since 30d", "runs of the last month, from the history" },
};

static void ended_text(const struct recording *x, char *out, size_t size)
{
	if (!isnan(x->signal))
		snprintf(out, size, "signal %.0f", x->signal);
	else if (!isnan(x->exit_code))
		snprintf(out, size, "%.0f", x->exit_code);
	else
		snprintf(out, size, "-");
}

static void wall_text(double seconds, char *out, size_t size)
{
	if (isnan(seconds))
		snprintf(out, size, "-");
	else
		unit_format(UNIT_SECONDS, seconds, out, size);
}

static void recording_row(struct columns *c, const struct recording *x)
{
	char when[40] = "", wall[40], nodes[16], ended[32];

	if (x->start_utc_ns)
		clock_iso(x->start_utc_ns / NS_PER_S * NS_PER_S, when, sizeof when);
	wall_text(x->wall_s, wall, sizeof wall);
	snprintf(nodes, sizeof nodes, "%u", x->nodes);
	ended_text(x, ended, sizeof ended);
	columns_cell(c, when);
	columns_cell(c, wall);
	columns_cell(c, nodes);
	columns_cell(c, ended);
	columns_cell(c, condition_name(x->condition));
	columns_cell(c, x->path);
	columns_cell(c, x->note ? x->note : x->command);
}

static void list_text(struct bytes *b, const struct listing *l)
{
	static const struct column_look look[] = {
		{ .heading = "START (UTC)" },
		{ .heading = "WALL" },
		{ .heading = "NODES", .right = true, .spare = true },
		{ .heading = "EXIT" },
		{ .heading = "STATE" },
		{ .heading = "RECORDING", .shrinks = true },
		{ .heading = "COMMAND" },
	};
	struct columns c = { .look = look, .ncolumns = sizeof look / sizeof look[0] };

	for (size_t i = 0; i < l->n; i++)
		recording_row(&c, &l->entry[i]);
	columns_print(&c, b, columns_of_terminal());
	columns_free(&c);
}

static void json_number(struct json *j, const char *key, double v, bool whole)
{
	json_key(j, key);
	if (isnan(v))
		json_null(j);
	else if (whole)
		json_int(j, (int64_t)v);
	else
		json_real(j, v);
}

static void recording_json(struct json *j, const struct recording *x)
{
	json_object(j);
	json_put_text(j, "recording", x->path);
	json_key(j, "state");
	json_text(j, condition_name(x->condition));
	json_key(j, "note");
	json_text(j, x->note);
	json_key(j, "start");
	if (x->start_utc_ns)
		json_time(j, x->start_utc_ns);
	else
		json_null(j);
	json_number(j, "wall_seconds", x->wall_s, false);
	json_number(j, "nodes", x->condition == UNREADABLE ? (double)NAN : x->nodes, true);
	json_number(j, "exit_code", x->exit_code, true);
	json_number(j, "signal", x->signal, true);
	json_key(j, "command");
	json_text(j, x->command);
	json_object_end(j);
}

static void list_json(struct bytes *b, const struct listing *l)
{
	struct json j = { .out = b, .indent = true };

	json_object(&j);
	json_key(&j, "schema");
	json_text(&j, "sonde/ls/1");
	json_key(&j, "recordings");
	json_array(&j);
	for (size_t i = 0; i < l->n; i++)
		recording_json(&j, &l->entry[i]);
	json_array_end(&j);
	json_object_end(&j);
	bytes_u8(b, '\n');
}

static int print_list(const struct listing *l, bool json, const char *dir)
{
	struct bytes b = { 0 };

	if (json)
		list_json(&b, l);
	else
		list_text(&b, l);
	if (!l->n && !json)
		say("ls: no recording in %s; record one with sonde run -- CMD", dir);
	return print_bytes(&b);
}

/* ---- the history ---- */

static void past_row(struct columns *c, const struct history *h, const struct history_run *r)
{
	char when[40], wall[40], memory[40] = "", cores[40] = "", ended[32], nodes[16] = "";
	const struct recording x = { .exit_code = r->number[HISTORY_EXIT_CODE],
				     .signal = r->number[HISTORY_SIGNAL] };
	double used = history_figure(h, r, "cores_used"),
	       peak = history_figure(h, r, "peak_memory_bytes");

	clock_iso(r->start_ns / NS_PER_S * NS_PER_S, when, sizeof when);
	wall_text(r->number[HISTORY_WALL_SECONDS], wall, sizeof wall);
	if (!isnan(used))
		snprintf(cores, sizeof cores, "%.2f", used);
	if (!isnan(peak))
		unit_format(UNIT_BYTES, peak, memory, sizeof memory);
	if (!isnan(r->number[HISTORY_NODES]))
		snprintf(nodes, sizeof nodes, "%.0f", r->number[HISTORY_NODES]);
	ended_text(&x, ended, sizeof ended);
	columns_cell(c, when);
	columns_cell(c, wall);
	columns_cell(c, nodes);
	columns_cell(c, ended);
	columns_cell(c, cores);
	columns_cell(c, memory);
	columns_cell(c, r->text[HISTORY_USER]);
	columns_cell(c, r->text[HISTORY_NAME]);
	columns_cell(c, r->text[HISTORY_PATH]);
}

static void past_text(struct bytes *b, const struct history *h)
{
	static const struct column_look look[] = {
		{ .heading = "START (UTC)" },
		{ .heading = "WALL" },
		{ .heading = "NODES", .right = true, .spare = true },
		{ .heading = "EXIT" },
		{ .heading = "CORES", .right = true, .spare = true },
		{ .heading = "MEMORY", .spare = true },
		{ .heading = "USER", .shrinks = true, .spare = true },
		{ .heading = "NAME", .shrinks = true },
		{ .heading = "RECORDING" },
	};
	struct columns c = { .look = look, .ncolumns = sizeof look / sizeof look[0] };

	for (uint32_t i = 0; i < h->n; i++)
		past_row(&c, h, &h->run[i]);
	columns_print(&c, b, columns_of_terminal());
	columns_free(&c);
}

static void past_json(struct bytes *b, const struct history *h)
{
	struct json j = { .out = b, .indent = true };

	json_object(&j);
	json_key(&j, "schema");
	json_text(&j, "sonde/history/1");
	json_key(&j, "runs");
	json_array(&j);
	for (uint32_t i = 0; i < h->n; i++)
		history_json(&j, h, &h->run[i]);
	json_array_end(&j);
	json_object_end(&j);
	bytes_u8(b, '\n');
}

static int list_past(const struct ls_options *o)
{
	struct history h;
	struct bytes b = { 0 };
	int code = history_find(&h, &o->history, "ls");

	if (code == EXIT_OK) {
		if (o->json)
			past_json(&b, &h);
		else
			past_text(&b, &h);
		if (!h.n && !o->json)
			say("ls: no matching run in the history");
		code = print_bytes(&b);
	}
	history_free(&h);
	return code;
}

static int add_all(const struct ls_options *o, const struct listing *l)
{
	char **path = calloc(l->n + 1, sizeof *path);
	int code = EXIT_FAILED;

	for (size_t i = 0; i < l->n && path; i++)
		path[i] = l->entry[i].path;
	if (!path)
		say("ls: out of memory");
	else
		code = history_add_recordings(&o->history, "ls", path, l->n);
	free(path);
	return code;
}

static int ls_exec(const void *options, int noperands, char **operands)
{
	const struct ls_options *o = options;
	const char *dir = noperands ? operands[0] : ".";
	struct listing l = { 0 };
	int code = EXIT_FAILED, rc;

	if (noperands > 1) {
		say("ls: unexpected argument '%s'; give one directory", operands[1]);
		return EXIT_USAGE;
	}
	if (o->add && history_chooses(&o->history)) {
		say("ls: --add adds all recordings of a directory; remove the options that select "
		    "runs");
		return EXIT_USAGE;
	}
	if (!o->add && (o->past || history_wanted(&o->history))) {
		if (!noperands)
			return list_past(o);
		say("ls: the history is not in a directory; remove '%s', or use --add",
		    operands[0]);
		return EXIT_USAGE;
	}
	rc = listing_find(&l, dir);
	if (rc)
		say("ls: cannot read the directory %s: %s", dir, strerror(-rc));
	else if (l.failed)
		say("ls: out of memory, or a path in %s is too long", dir);
	else if (!o->add || (code = add_all(o, &l)) == EXIT_OK)
		code = print_list(&l, o->json, dir);
	listing_free(&l);
	return code;
}

const struct command command_ls = {
	.name = "ls",
	.operands = "[DIR]",
	.what = "List the recordings in a directory",
	.description = "Prints one line per recording in DIR (default: here), oldest first: its "
		       "start, duration, number of nodes, how the command ended, and the command. "
		       "On a terminal, long lines are cut; in a pipe or a file they are "
		       "complete.\n\n"
		       "STATE is one of: complete; running (not closed, and its recorder is "
		       "alive; seen from another machine: a sample arrived just now); cut (not "
		       "closed, because the recorder was killed or its machine was lost; seen "
		       "from another machine: no sample for a while; the data written so far is "
		       "usable); damaged (some bytes are corrupt; the rest is read); unreadable. "
		       "For the last two, the line shows the reason instead of the command.\n\n"
		       "With --history, or one of the options after it, the list shows past runs, "
		       "even if their recordings are gone: each run stores its summary when it "
		       "ends. The history is an SQLite file in $XDG_DATA_HOME/sonde, or the store "
		       "that SONDE_STORE names: another file, or postgres://user@host/database "
		       "for several users. --add adds recordings that others made, or that have "
		       "grown since.",
	COMMAND_OPTIONS(rows),
	.size = sizeof(struct ls_options),
	COMMAND_EXAMPLES(examples),
	.exec = ls_exec,
};
