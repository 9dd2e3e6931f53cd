/* SPDX-License-Identifier: Apache-2.0 */
#include "sampler/fixes.h"

#include <inttypes.h>
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

static const struct source_fix *fitting(const struct source *k, const char *reason)
{
	for (const struct source_fix *f = k->fixes; f && f->words; f++)
		if (strstr(reason, f->words))
			return f;
	return NULL;
}

/* Everybody may read these files but where somebody forbids it. */
static bool is_refused_file(enum state state, const char *reason)
{
	static const char files[] = "/proc/", said[] = ": Permission denied";
	size_t n = strlen(reason);

	return state == STATE_FORBIDDEN && !strncmp(reason, files, sizeof files - 1) &&
	       n >= sizeof said && !strcmp(reason + n - (sizeof said - 1), said);
}

struct fix fixes_of_mechanism(const char *user, const char *admin, enum state state,
			      const char *reason)
{
	if (is_refused_file(state, reason))
		admin = "permit the job to read it: the rules of a security module (SELinux, "
			"AppArmor; its audit log names the refusal) or of the container refuse it";
	return (struct fix){ user, state != STATE_FAILED ? admin : NULL };
}

struct fix fixes_of_source(const struct source *k, enum state state, const char *reason)
{
	const struct source_fix *f = fitting(k, reason);

	if (f)
		return (struct fix){ f->user, f->admin };
	return fixes_of_mechanism(k->fix_user, k->fix_admin, state, reason);
}

struct fix fixes_of_metric(const struct source *k, enum state state, const char *reason)
{
	if (state == STATE_FORBIDDEN || fitting(k, reason))
		return fixes_of_source(k, state, reason);
	return (struct fix){ NULL, NULL };
}

static void say(struct sample *s, const char *what, const char *name, struct fix fix)
{
	char key[160];

	if (fix.user) {
		snprintf(key, sizeof key, "%s.%s.fix_user", what, name);
		sample_meta_text(s, key, fix.user);
	}
	if (fix.admin) {
		snprintf(key, sizeof key, "%s.%s.fix_admin", what, name);
		sample_meta_text(s, key, fix.admin);
	}
}

void fixes_say_source(struct sample *s, const struct source *k, enum state state,
		      const char *reason)
{
	say(s, "source", k->name, fixes_of_source(k, state, reason));
}

/* Told by the text alone, before it is looked up whose it is. without: one that has none, as the
 * metrics beside it are mostly refused for the same reason. */
static bool may_have_fix(const struct event *e, const char **without)
{
	bool has = e->kind == EVENT_STATE && e->state == STATE_FORBIDDEN;

	if (has || e->kind != EVENT_STATE || !e->text || !strcmp(e->text, *without))
		return has;
	for (size_t i = 0; i < nsources && !has; i++)
		has = fitting(sources[i], e->text);
	*without = has ? *without : e->text;
	return has;
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
	const char *without = "";
	uint32_t nevents = s->nevents;
	size_t n = 0, k;

	for (uint32_t i = 0; i < nevents && n < SAID_MAX; i++) {
		const struct event *e = &s->event[i];
		const struct metric *m = may_have_fix(e, &without) ? metric_of(s, e->id) : NULL;
		const struct source *from = m ? fixes_source(m) : NULL;
		struct fix fix = { NULL, NULL };

		for (k = 0; k < n && said[k] != m; k++)
			;
		if (from && k == n)
			fix = fixes_of_metric(from, e->state, e->text);
		if (!fix.user && !fix.admin)
			continue;
		said[n++] = m;
		say(s, "metric", m->name, fix);
	}
}

void left_out_say(struct sample *s)
{
	for (const struct left_out *l = s->left_out; l < s->left_out + LEFT_OUT_MAX && l->metric;
	     l++) {
		const struct source *source = fixes_source(l->metric);
		char key[64], text[256], more[64] = "";

		snprintf(key, sizeof key, "source.%s", source ? source->name : l->metric->domain);
		if (l->count > 1)
			snprintf(more, sizeof more, " and %" PRIu64 " more", l->count - 1);
		snprintf(
			text, sizeof text,
			"%s: %s%s of domain %s left out, also of what is added up over it: a sample "
			"has room for %" PRIu32 " series, a part of which is kept for the job",
			state_name(STATE_FAILED), l->first, more, l->metric->domain, s->slot_cap);
		sample_meta_text(s, key, text);
	}
}
