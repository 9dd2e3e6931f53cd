/* SPDX-License-Identifier: Apache-2.0 */
#include "sampler/fixes.h"

#include <stdio.h>
#include <string.h>

const struct source *fixes_source(const struct metric *m)
{
	for (size_t i = 0; i < nsources; i++)
		for (size_t k = 0; k < sources[i]->nmetrics; k++)
			if (strcmp(sources[i]->metrics[k].name, m->name) == 0)
				return sources[i];
	return NULL;
}

static void say(struct sample *s, const char *what, const char *name, const struct source *k,
		enum state state)
{
	char key[160];

	if (k->fix_user) {
		snprintf(key, sizeof key, "%s.%s.fix_user", what, name);
		sample_meta_text(s, key, k->fix_user);
	}
	if (k->fix_admin && state != STATE_FAILED) {
		snprintf(key, sizeof key, "%s.%s.fix_admin", what, name);
		sample_meta_text(s, key, k->fix_admin);
	}
}

void fixes_say_source(struct sample *s, const struct source *k, enum state state)
{
	say(s, "source", k->name, k, state);
}

static const struct metric *metric_of(const struct sample *s, uint32_t series)
{
	for (uint32_t i = 1; i < s->nslots; i++)
		if (s->slot[i].series == series)
			return s->slot[i].metric;
	return NULL;
}

void fixes_say_metrics(struct sample *s)
{
	enum { SAID_MAX = 64 };
	const struct metric *said[SAID_MAX];
	uint32_t nevents = s->nevents;
	size_t n = 0, k;

	for (uint32_t i = 0; i < nevents && n < SAID_MAX; i++) {
		const struct event *e = &s->event[i];
		const struct metric *m = e->kind == EVENT_STATE && e->state == STATE_FORBIDDEN
						 ? metric_of(s, e->id)
						 : NULL;
		const struct source *from = m ? fixes_source(m) : NULL;

		for (k = 0; k < n && said[k] != m; k++)
			;
		if (!from || k < n)
			continue;
		said[n++] = m;
		say(s, "metric", m->name, from, e->state);
	}
}
