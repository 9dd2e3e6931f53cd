/* SPDX-License-Identifier: Apache-2.0 */
#include "report/summary/touched.h"

#include "core/stacks/symbol.h"
#include "report/judging/findings.h"
#include "report/summary/code.h"
#include "report/summary/parts.h"
#include "report/summary/summary.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* ---- what is missing ---- */

static const char *text_of(const struct run *r, uint32_t node, const char *key)
{
	const struct run_meta *m = run_find_meta(r, node, key);

	return m && m->type == META_TEXT && m->text && *m->text ? m->text : NULL;
}

static void take_node(struct touched_memory *t, const struct run *r, uint32_t node)
{
	const struct run_meta *calls = run_find_meta(r, node, "touches.in_system_calls");
	const char *refused = text_of(r, node, "source.touches");

	if (calls && !(run_meta_number(calls) > 0))
		t->no_system_calls = true;
	if (!t->note)
		t->note = text_of(r, node, "touches.note");
	if (t->refused || !refused)
		return;
	t->refused = refused;
	t->fix_user = text_of(r, node, "source.touches.fix_user");
	t->fix_admin = text_of(r, node, "source.touches.fix_admin");
}

/* ---- all of it ---- */

static int open_all(struct touched_memory *t, struct run *r, struct err *e)
{
	int rc = stacks_open(&t->flow, r, &t->classes,
			     &(struct stacks_selection){ .kind = SAMPLE_FAULTS }, e);

	if (!rc)
		rc = owners_make(&t->owners, t->flow, e);
	if (!rc)
		rc = stacks_open(
			&t->peak, r, &t->classes,
			&(struct stacks_selection){ .kind = SAMPLE_RESIDENT,
						    .at_ns = t->owners.at_ns[OWNERS_PEAK] },
			e);
	return rc;
}

int touched_make(struct touched_memory **out, struct run *r, const struct summary *s, struct err *e)
{
	bool recorded = r->nsample_sets_of[SAMPLE_FAULTS] || r->nsample_sets_of[SAMPLE_RESIDENT];
	struct touched_memory *t = calloc(1, sizeof *t);
	bool wanted = recorded;
	int rc = 0;

	*out = NULL;
	if (!t)
		return err_set(e, -ENOMEM, "out of memory for the memory of %.300s", r->path);
	for (uint32_t node = 1; node < r->nnodes; node++) {
		take_node(t, r, node);
		wanted |= run_find_meta(r, node, "touches.samples_per_second") != NULL;
	}
	t->samples = summary_grown(s, "job.fault_samples");
	t->lost = summary_grown(s, "job.fault_samples_lost");
	t->hidden = summary_grown(s, "job.fault_looks_refused");
	if (wanted || t->refused)
		rc = code_classes(&t->classes, NULL, e);
	if (!rc && recorded)
		rc = open_all(t, r, e);
	if (rc || (!wanted && !t->refused))
		touched_free(t);
	else
		*out = t;
	return rc;
}

int touched_phases(struct touched_memory *t, struct run *r, struct err *e)
{
	return code_phases(&(struct code){ .stacks = t->flow }, r, e);
}

void touched_free(struct touched_memory *t)
{
	if (!t)
		return;
	owners_free(&t->owners);
	stacks_close(t->peak);
	stacks_close(t->flow);
	classes_free(&t->classes);
	free(t);
}

/* ---- what grows ---- */

/* From each moment to the next by at least 3 % of all, however unevenly it runs, and not at once:
 * what comes and goes may be in this order by chance. */
static bool grows(const double *resident)
{
	const double *first = &resident[OWNERS_FIRST], growth = owner_growth(resident);

	for (int i = 1; i < OWNERS_MOMENTS - OWNERS_FIRST; i++)
		if (first[i] < first[i - 1] + growth * 0.03 ||
		    first[i] > first[i - 1] + growth * 0.7)
			return false;
	return growth > 0;
}

/* A function whose memory grows steadily, with half of what all memory grows by if that does so,
 * too. But buffers that come and go may hide that. */
const struct owner *touched_leak(const struct touched_memory *t)
{
	static const double least_bytes = 4 << 20, least_part = 0.1, least_share = 0.5,
			    least_of_peak = 0.05;
	const struct owners *o = &t->owners;
	const double *all = o->resident;
	double growth = owner_growth(all);
	bool steady = growth >= fmax(least_bytes, least_part * all[OWNERS_FIRST]) && grows(all);
	const struct owner *most = NULL;

	for (uint32_t i = 0; i < o->n; i++) {
		const double *own = o->row[i].resident;
		double least = steady ? growth * least_share
				      : fmax(least_bytes, least_of_peak * all[OWNERS_PEAK]);

		if (owner_growth(own) >= fmax(least, least_part * own[OWNERS_FIRST]) &&
		    grows(own) && (!most || owner_growth(own) > owner_growth(most->resident)))
			most = &o->row[i];
	}
	return most;
}

void touched_name(const struct owner *o, char *out, size_t size)
{
	if (o->file && o->line)
		snprintf(out, size, "%.80s (%.60s:%u)", o->function->shown, symbol_base(o->file),
			 o->line);
	else
		snprintf(out, size, "%.80s (%.60s)", o->function->shown,
			 symbol_base(o->function->module));
}

/* ---- what is missing, in words ---- */

static void say_unseen(const struct touched_memory *t, struct bytes *out)
{
	const struct owners *o = &t->owners;

	if (t->peak && o->unseen[OWNERS_PEAK] > 0.02 * o->resident[OWNERS_PEAK])
		bytes_printf(
			out,
			"%.0f %% of the resident memory has no sample: touched %sbefore the "
			"recording, by a parent before a fork, or in pieces too small or pages "
			"too large for the samples so far.",
			100 * o->unseen[OWNERS_PEAK] / o->resident[OWNERS_PEAK],
			t->no_system_calls ? "in system calls such as read(), " : "");
}

static void say_calls(const struct touched_memory *t, struct bytes *out)
{
	if (t->no_system_calls)
		bytes_puts(out,
			   "Memory that system calls touch first, as read() into a new buffer, "
			   "has no samples here: kernel.perf_event_paranoid is above 1.");
}

static void say_lost(const struct touched_memory *t, struct bytes *out)
{
	if (t->lost > 0)
		bytes_printf(
			out,
			"%.0f samples or other records were lost for lack of room: the next ones "
			"represent them.",
			t->lost);
}

static void say_hidden(const struct touched_memory *t, struct bytes *out)
{
	if (t->hidden > 0)
		bytes_printf(out,
			     "Of %.0f processes only page faults are known, since their resident "
			     "pages are hidden from this user: what they gave back counts, too.",
			     t->hidden);
}

static void say_note(const struct touched_memory *t, struct bytes *out)
{
	if (t->note)
		bytes_printf(out, "Note: %s.", t->note);
}

static void say_refused(const struct touched_memory *t, struct bytes *out)
{
	if (t->refused)
		bytes_printf(out, "Not sampled: %s.", t->refused);
}

static void say_fixes(const struct touched_memory *t, struct bytes *out)
{
	if (t->refused)
		findings_say_fixes(t->fix_user, t->fix_admin, out);
}

bool touched_say(const struct touched_memory *t, unsigned i, struct bytes *out)
{
	static void (*const say[])(const struct touched_memory *, struct bytes *) = {
		say_unseen, say_calls, say_lost, say_hidden, say_note, say_refused, say_fixes,
	};

	if (i >= sizeof say / sizeof say[0])
		return false;
	say[i](t, out);
	return true;
}
