/* SPDX-License-Identifier: Apache-2.0 */
/* explain_views.c - what views of their own have in short: steps, and connections. */
#include "report/explain/explain.h"
#include "report/summary/peersused.h"
#include "report/summary/steps.h"

#include <stdio.h>
#include <string.h>

/* ---- steps ---- */

static const struct step *slowest(const struct steps *x)
{
	const struct step *most = NULL;

	for (uint32_t i = 0; i < x->n; i++)
		if (x->step[i].kind == STEP_SLOW &&
		    (!most || x->step[i].to_s - x->step[i].from_s > most->to_s - most->from_s))
			most = &x->step[i];
	return most;
}

static void put_slowest(struct explain_finding *f, const struct steps *x)
{
	const struct step *p = slowest(x);
	uint32_t i = p ? (uint32_t)(p - x->step) : 0;
	struct bytes words = { 0 };
	char at[32], took[32];
	size_t n = strlen(f->claim);

	if (!p)
		return;
	step_words(p, &words);
	bytes_u8(&words, '\0');
	snprintf(f->claim + n, sizeof f->claim - n, "; the slowest, step %u at %s, took %s%s%.160s",
		 i + 1, unit_format(UNIT_SECONDS, p->from_s, at, sizeof at),
		 unit_format(UNIT_SECONDS, p->to_s - p->from_s, took, sizeof took),
		 words.len > 1 ? ": " : "", words.failed ? "" : (const char *)words.data);
	bytes_free(&words);
	f->from_s = p->from_s;
	f->to_s = p->to_s;
	explain_number(f, "slowest step from_seconds", UNIT_SECONDS, p->from_s,
		       "steps:/steps/%u/from_seconds", i);
	explain_number(f, "slowest step to_seconds", UNIT_SECONDS, p->to_s,
		       "steps:/steps/%u/to_seconds", i);
}

void explain_steps(struct explain *x)
{
	const struct summary *s = x->summary;
	const struct steps *steps = s->iterations;
	struct bytes words = { 0 };
	struct explain_finding *f;

	if (!steps || !steps->n || !(f = explain_add(x, EXPLAIN_WHERE, "steps")))
		return;
	steps_words(steps, &words);
	bytes_u8(&words, '\0');
	snprintf(f->claim, sizeof f->claim, "Steps: %.160s",
		 words.failed ? "" : (const char *)words.data);
	bytes_free(&words);
	explain_number(f, "steps", UNIT_COUNT, s->steps_found, "show:/job/steps");
	explain_number(f, "step_seconds", UNIT_SECONDS, s->step_s, "show:/job/step_seconds");
	explain_number(f, "steps_slow", UNIT_COUNT, s->steps_slow, "show:/job/steps_slow");
	put_slowest(f, steps);
	f->confidence = steps->metric ? CONFIDENCE_MEDIUM : CONFIDENCE_HIGH;
	if (steps->metric)
		explain_copy(f->metric, sizeof f->metric, steps->metric);
	explain_settle(f, "sonde show --steps", s->path, NULL);
}

/* ---- connections ---- */

/* The other ends of the most bytes. Nothing where nobody asked for connections. */
void explain_peers(struct explain *x)
{
	static const enum peer_used shown[] = { PEER_SENT, PEER_RECEIVED, PEER_BUSY, PEER_RECEIVER,
						PEER_BUFFER };
	const struct summary *s = x->summary;
	const struct peers_used *u = s->peers_used;
	struct explain_finding *f;
	struct bytes words = { 0 };

	if (!u || !(f = explain_add(x, EXPLAIN_IO, "peers")))
		return;
	f->confidence = CONFIDENCE_HIGH;
	peers_used_words(u, 2, &words);
	bytes_u8(&words, '\0');
	if (u->n && !words.failed) {
		snprintf(f->claim, sizeof f->claim, "By TCP: %.380s", (const char *)words.data);
	} else {
		f->severity = u->refused ? SEVERITY_CANNOT_TELL : SEVERITY_NOTE;
		snprintf(f->claim, sizeof f->claim,
			 "With whom it talked by TCP is not known: %.200s",
			 u->refused ? u->refused : "no connection was seen");
	}
	bytes_free(&words);
	for (size_t i = 0; u->n && i < sizeof shown / sizeof shown[0]; i++)
		explain_number(f, peer_used_names[shown[i]],
			       shown[i] <= PEER_RECEIVED ? UNIT_BYTES : UNIT_SECONDS,
			       u->row[0].value[shown[i]], "peers:/peers/0/%s",
			       peer_used_names[shown[i]]);
	explain_settle(f, "sonde show --peers", s->path, NULL);
}
