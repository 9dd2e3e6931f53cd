/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary_lost.c - why others ended the job: what the batch system said when it did, and which
 * nodes were lost.
 *
 * Without its word a node is lost that stopped recording seconds before the others ended.
 */
#include "report/summary/summary_part.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double silent_s = 3;

static const char *said(const struct run *r, const char *key)
{
	for (uint32_t i = 1; i < r->nnodes; i++) {
		const char *text = run_find_text(r, i, key);

		if (text)
			return text;
	}
	return "";
}

static bool ended_as(const struct summary *s, const char *state)
{
	return !strcmp(s->story.scheduler_state, state);
}

bool summary_was_ended(const struct summary *s)
{
	static const char *const states[] = { "TIMEOUT",   "CANCELLED", "NODE_FAIL",
					      "PREEMPTED", "DEADLINE",  "REVOKED" };

	for (size_t i = 0; i < sizeof states / sizeof states[0]; i++)
		if (!strcmp(s->story.scheduler_state, states[i]))
			return true;
	return false;
}

/* Seconds since the run began. */
static double last_of(const struct run *r, uint32_t node)
{
	return (double)(run_utc_ns(r, node, r->nodes[node].last_ns) - r->t0_utc_ns) / 1e9;
}

/* When the last of the recordings that were closed ended; NAN: none was. */
static double end_of_others(const struct summary *s, const struct run *r)
{
	double end = NAN;

	for (uint32_t i = 0; i < s->nnodes; i++)
		if (s->nodes[i].complete)
			end = fmax(end, last_of(r, s->nodes[i].node));
	return end;
}

static void add(struct story *y, const char *host)
{
	y->nodes_lost++;
	size_t n = strlen(y->lost_nodes);

	if (n + strlen(host) + 3 < sizeof y->lost_nodes)
		snprintf(y->lost_nodes + n, sizeof y->lost_nodes - n, "%s%s", n ? ", " : "", host);
}

/* "n3", of "n2, n3"? */
static bool names(const char *list, const char *host)
{
	size_t n = strlen(host);

	for (const char *p = list; n && (p = strstr(p, host)); p += n)
		if ((p == list || p[-1] == ' ') && (!p[n] || p[n] == ','))
			return true;
	return false;
}

/* What is missing of its recording may be what was cut off. */
static bool is_damaged(const struct run *r, const char *host)
{
	size_t n = strlen(host);

	for (uint32_t i = 0; i < r->ndamages; i++) {
		const char *slash = strrchr(r->damages[i].file, '/');
		const char *name = slash ? slash + 1 : r->damages[i].file;

		if (!strncmp(name, "node-", 5) && !strncmp(name + 5, host, n) && name[5 + n] == '.')
			return true;
	}
	return false;
}

static void find_silent(struct summary *s, const struct run *r)
{
	double end = end_of_others(s, r);

	for (uint32_t i = 0; i < s->nnodes; i++) {
		const struct summary_node *n = &s->nodes[i];

		if (n->lost && n->samples && !is_damaged(r, n->host) &&
		    end - last_of(r, n->node) >= silent_s && !names(s->story.lost_nodes, n->host))
			add(&s->story, n->host);
	}
}

/* "n2, n3" */
static void take_list(struct story *y, const char *list)
{
	snprintf(y->lost_nodes, sizeof y->lost_nodes, "%s", list);
	for (const char *p = y->lost_nodes; *p; p++)
		y->nodes_lost += *p == ',' || p == y->lost_nodes;
}

void summary_lost_make(struct summary *s, const struct run *r)
{
	const char *why = said(r, "job.nodes_down_reason");
	struct story *y = &s->story;

	y->lost_s = y->timed_out = y->cancelled = NAN;
	y->nodes_lost = 0;
	snprintf(y->scheduler_state, sizeof y->scheduler_state, "%s",
		 said(r, "job.scheduler_state"));
	if (summary_was_ended(s)) {
		y->timed_out = ended_as(s, "TIMEOUT");
		y->cancelled = ended_as(s, "CANCELLED") || ended_as(s, "PREEMPTED");
	}
	take_list(y, said(r, "job.nodes_down"));
	if (y->nodes_lost < 1 && s->nhosts > 1 && !s->running)
		find_silent(s, r);
	if (why[0])
		snprintf(y->lost_why, sizeof y->lost_why, " (%.*s),", STORY_TEXT, why);
	for (uint32_t i = 0; i < s->nnodes; i++)
		if (names(y->lost_nodes, s->nodes[i].host))
			y->lost_s = fmax(y->lost_s, last_of(r, s->nodes[i].node));
}
