/* SPDX-License-Identifier: Apache-2.0 */
/* unequal.c - processes alike that ran side by side, of which one went on when the others had
 * ended, whatever they did meanwhile. */
#include "report/summary/parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ALIKE_MOST = 1024 };

/* Of a program of an interpreter its script, too: "python3 a.py" is not alike "python3 b.py". */
static bool same_program(const struct summary_process *a, const struct summary_process *b)
{
	const char *x = a->command_line, *y = b->command_line;
	size_t n = x ? strcspn(x, " ") : 0, m;

	if (!x || !y || strcmp(a->name, b->name) != 0 || strncmp(x, y, n + 1) != 0)
		return false;
	x += n + (x[n] == ' ');
	y += n + (y[n] == ' ');
	n = strcspn(x, " ");
	m = strcspn(y, " ");
	return (n == m && !strncmp(x, y, n)) || (!memchr(x, '.', n) && !memchr(y, '.', m));
}

static bool ended_well(const struct run *r, const struct summary_process *p)
{
	const char *signal = run_label(r, p->instance, "signal");
	const char *code = run_label(r, p->instance, "exit_code");

	return (!signal || !*signal || *signal == '0') && (!code || !*code || !strcmp(code, "0"));
}

static bool may_count(const struct run *r, const struct summary_process *p)
{
	return p->name && p->instance && !p->counted_already && r->instances[p->instance].parent &&
	       strcmp(p->name, "sleep") != 0;
}

static double end_of(const struct summary *s, const struct summary_process *p)
{
	return isnan(p->end_s) ? s->wall_s : p->end_s;
}

static double written_by(const struct summary *s, uint32_t instance)
{
	for (uint32_t i = 0; i < s->nprocesses; i++)
		if (s->processes[i].instance == instance)
			return fmax(0, s->processes[i].written_bytes);
	return 0;
}

/* What one wrote after its last sample is its parent's. */
bool summary_is_fed(const struct summary *s, const struct run *r, const struct summary_process *p)
{
	static const double least = 1 << 20, apart = 0.02, unseen_most = 0.25;
	uint32_t parent = r->instances[p->instance].parent;
	double most = fmin(written_by(s, parent), unseen_most * p->read_bytes);

	for (uint32_t i = 0; i < s->nprocesses && p->read_bytes >= least; i++) {
		const struct summary_process *x = &s->processes[i];
		double unseen = p->read_bytes - x->written_bytes;

		if (x != p && x->instance && r->instances[x->instance].parent == parent &&
		    unseen >= -apart * p->read_bytes && unseen <= most + apart * p->read_bytes)
			return true;
	}
	return false;
}

/* Those that one process started at about the time of the first. */
static void look_at(struct summary *s, const struct run *r, const struct summary_process *first)
{
	static const double together_s = 0.5, together = 0.05;
	struct story *y = &s->story;
	double sum = 0, n = 0, end = 0, first_end = INFINITY;
	double limit = fmax(together_s, together * s->wall_s);
	const struct summary_process *last = NULL;

	for (uint32_t i = 0; i < s->nprocesses; i++) {
		const struct summary_process *p = &s->processes[i];

		if (!may_count(r, p) ||
		    r->instances[p->instance].parent != r->instances[first->instance].parent ||
		    !same_program(first, p))
			continue;
		/* They are looked at from the first one on; where others followed, cores that were
		 * free had work, and who failed left it. */
		if (p->start_s < first->start_s || p->start_s > first->start_s + limit ||
		    !ended_well(r, p))
			return;
		first_end = fmin(first_end, end_of(s, p));
		sum += end_of(s, p);
		n++;
		if (last && end_of(s, p) <= end)
			continue;
		last = p;
		end = end_of(s, p);
	}
	/* What began when another one had ended ran behind it, not beside it. */
	if (!last || n < 2 || last->start_s >= first_end ||
	    end - sum / n <= fmax(0, y->alike_last_s - y->alike_mean_s) ||
	    summary_is_fed(s, r, last))
		return;
	y->alike = n;
	y->alike_last_s = end - first->start_s;
	y->alike_mean_s = sum / n - first->start_s;
	snprintf(y->alike_last, sizeof y->alike_last, "%.60s (pid %.0f)", last->name, last->pid);
}

void summary_unequal_make(struct summary *s, const struct run *r)
{
	for (uint32_t i = 0; i < s->nprocesses && s->nprocesses <= ALIKE_MOST; i++)
		if (may_count(r, &s->processes[i]))
			look_at(s, r, &s->processes[i]);
}
