/* SPDX-License-Identifier: Apache-2.0 */
/* code_gaps.c - what is missing of the code that the CPU time went to, and why. */
#include "base/text/json.h"
#include "report/judging/findings.h"
#include "report/summary/code.h"
#include "report/summary/summary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *text_of(const struct run *r, uint32_t node, const char *key)
{
	const struct run_meta *m = run_find_meta(r, node, key);

	return m && m->type == META_TEXT && m->text && *m->text ? m->text : NULL;
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

void code_gaps_make(struct code_gaps *g, const struct run *r, const struct summary *s)
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

		const struct run_meta *turns = run_find_meta(r, i, "stacks.threads_at_a_time");

		if (turns && run_meta_number(turns) > g->turns)
			g->turns = run_meta_number(turns);
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
		say_files, say_lost, say_tasks, say_turns, say_note, say_refused, say_fixes,
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
	json_put_text(j, "note", g->note);
	json_put_text(j, "refused", g->refused);
	json_put_text(j, "fix_user", g->refused ? g->fix_user : NULL);
	json_put_text(j, "fix_admin", g->refused ? g->fix_admin : NULL);
	json_object_end(j);
}
