/* SPDX-License-Identifier: Apache-2.0 */
#include "import/chrome_trace.h"

#include "base/crc32c.h"
#include "base/text/decimal.h"

#include <math.h>
#include <string.h>

#define SECONDS_MOST 9.2e9

/* ---- texts ---- */

/* Where a text of n bytes may be cut so that no character is. */
static size_t cut_before(const char *text, size_t n)
{
	while (n && ((unsigned char)text[n] & 0xc0) == 0x80)
		n--;
	return n;
}

/* A copy. What does not fit is cut, and ends in a sum of it, as far as it was read: 64 KiB. */
static bool copy(char *out, size_t size, const struct jsondoc *j)
{
	size_t n = strlen(j->text), room = size - 1;
	char sum[32];

	if (n <= room && !j->shortened) {
		memcpy(out, j->text, n + 1);
		return true;
	}
	snprintf(sum, sizeof sum, "... %08x", crc32c(0, j->text, n));
	room -= strlen(sum);
	n = cut_before(j->text, n < room ? n : room);
	memcpy(out, j->text, n);
	memcpy(out + n, sum, strlen(sum) + 1);
	return false;
}

/* A text or a number, as text; anything else is skipped. False: bad. */
static bool take_text(struct chrome_event *ev, struct jsondoc *j, char *out, size_t size,
		      struct err *e)
{
	enum jsondoc_token t = jsondoc_next(j, e);

	if (t == JSONDOC_STRING || t == JSONDOC_NUMBER) {
		ev->shortened |= !copy(out, size, j);
		return true;
	}
	return t != JSONDOC_BAD && jsondoc_skip(j, t, e);
}

/* ---- times ---- */

static bool time_of_real(const char *text, int64_t *ns)
{
	char *end;
	double us = decimal_parse(text, &end);

	if (end == text || *end || !(fabs(us) < SECONDS_MOST * 1e6))
		return false;
	*ns = (int64_t)llround(us * 1e3);
	return true;
}

/* Of a number of microseconds as it was written, with up to three more digits. False: it is none,
 * or is beyond 292 years. */
static bool chrome_time(const char *text, int64_t *ns)
{
	const char *at = text + (*text == '-');
	int64_t v = 0, fraction = 0;
	int digits = 0;

	if (*at < '0' || *at > '9')
		return false;
	for (; *at >= '0' && *at <= '9'; at++) {
		v = v * 10 + (*at - '0');
		if (v > (int64_t)(SECONDS_MOST * 1e6))
			return false;
	}
	if (*at == '.') {
		for (at++; *at >= '0' && *at <= '9'; at++, digits++)
			if (digits < 3)
				fraction = fraction * 10 + (*at - '0');
			else if (digits == 3)
				fraction += *at >= '5';
		for (; digits < 3; digits++)
			fraction *= 10;
	}
	if (*at)
		return time_of_real(text, ns);
	*ns = (v * 1000 + fraction) * (*text == '-' ? -1 : 1);
	return true;
}

static bool take_time(struct chrome_event *ev, struct jsondoc *j, bool *has, int64_t *ns,
		      struct err *e)
{
	enum jsondoc_token t = jsondoc_next(j, e);

	if (t == JSONDOC_NUMBER || t == JSONDOC_STRING) {
		*has = chrome_time(j->text, ns);
		ev->bad_time |= !*has;
		return true;
	}
	ev->bad_time |= t != JSONDOC_NULL || j->no_number;
	return t != JSONDOC_BAD && jsondoc_skip(j, t, e);
}

/* ---- members ---- */

static void arg_set(struct chrome_event *ev, struct chrome_arg *a, struct jsondoc *j,
		    enum jsondoc_token t)
{
	a->is_number = t == JSONDOC_NUMBER;
	a->number = j->number;
	if (t == JSONDOC_STRING || t == JSONDOC_NUMBER)
		ev->args_left |= !copy(a->text, sizeof a->text, j);
	else
		snprintf(a->text, sizeof a->text, "%s",
			 t == JSONDOC_TRUE    ? "true"
			 : t == JSONDOC_FALSE ? "false"
			 : t == JSONDOC_NULL  ? "null"
					      : "...");
}

static bool take_args(struct chrome_event *ev, struct jsondoc *j, struct err *e)
{
	enum jsondoc_token t = jsondoc_next(j, e);

	if (t != JSONDOC_OBJECT)
		return t != JSONDOC_BAD && jsondoc_skip(j, t, e);
	while ((t = jsondoc_next(j, e)) == JSONDOC_KEY) {
		struct chrome_arg *a = ev->nargs < CHROME_ARGS ? &ev->arg[ev->nargs] : NULL;

		ev->args_left |= !a;
		if (a) {
			ev->nargs++;
			ev->args_left |= !copy(a->key, sizeof a->key, j);
		}
		t = jsondoc_next(j, e);
		if (a)
			arg_set(ev, a, j, t);
		if (t == JSONDOC_BAD || !jsondoc_skip(j, t, e))
			return false;
	}
	return t == JSONDOC_OBJECT_END;
}

/* {"local": ID} or {"global": ID} */
static bool take_id2(struct chrome_event *ev, struct jsondoc *j, struct err *e)
{
	enum jsondoc_token t = jsondoc_next(j, e);

	if (t != JSONDOC_OBJECT)
		return t != JSONDOC_BAD && jsondoc_skip(j, t, e);
	while ((t = jsondoc_next(j, e)) == JSONDOC_KEY) {
		ev->id_is_local = !strcmp(j->text, "local");
		if (!take_text(ev, j, ev->id, sizeof ev->id, e))
			return false;
	}
	return t == JSONDOC_OBJECT_END;
}

static bool take_phase(struct chrome_event *ev, struct jsondoc *j, struct err *e)
{
	char text[CHROME_KEY] = "";

	if (!take_text(ev, j, text, sizeof text, e))
		return false;
	ev->phase = text[0];
	if (text[0] && text[1])
		ev->phase = 0;
	return true;
}

static bool take_binding(struct chrome_event *ev, struct jsondoc *j, struct err *e)
{
	char text[CHROME_KEY] = "";

	if (!take_text(ev, j, text, sizeof text, e))
		return false;
	ev->binds_enclosing = !strcmp(text, "e");
	return true;
}

static bool take_member(struct chrome_event *ev, struct jsondoc *j, struct err *e)
{
	const struct {
		const char *key;
		char *out;
		size_t size;
	} texts[] = {
		{ "name", ev->name, sizeof ev->name }, { "pid", ev->pid, sizeof ev->pid },
		{ "tid", ev->tid, sizeof ev->tid },    { "cat", ev->category, sizeof ev->category },
		{ "id", ev->id, sizeof ev->id },       { "scope", ev->scope, sizeof ev->scope },
	};

	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		if (!strcmp(j->text, texts[i].key))
			return take_text(ev, j, texts[i].out, texts[i].size, e);
	if (!strcmp(j->text, "ph"))
		return take_phase(ev, j, e);
	if (!strcmp(j->text, "bp"))
		return take_binding(ev, j, e);
	if (!strcmp(j->text, "ts"))
		return take_time(ev, j, &ev->has_ts, &ev->ts_ns, e);
	if (!strcmp(j->text, "dur"))
		return take_time(ev, j, &ev->has_duration, &ev->duration_ns, e);
	if (!strcmp(j->text, "args"))
		return take_args(ev, j, e);
	if (!strcmp(j->text, "id2"))
		return take_id2(ev, j, e);
	return jsondoc_skip(j, JSONDOC_KEY, e);
}

bool chrome_event_read(struct chrome_event *ev, struct jsondoc *j, struct err *e)
{
	enum jsondoc_token t;

	ev->phase = 0;
	ev->has_ts = ev->has_duration = ev->bad_time = ev->id_is_local = false;
	ev->binds_enclosing = false;
	ev->shortened = ev->args_left = false;
	ev->ts_ns = ev->duration_ns = 0;
	ev->nargs = 0;
	ev->empty = true;
	*ev->name = *ev->category = *ev->pid = *ev->tid = *ev->id = *ev->scope = '\0';
	while ((t = jsondoc_next(j, e)) == JSONDOC_KEY) {
		ev->empty = false;
		if (!take_member(ev, j, e))
			return false;
	}
	return t == JSONDOC_OBJECT_END;
}

void chrome_args(const struct chrome_event *ev, char detail[TIMELINE_TEXT_MAX + 1])
{
	for (uint32_t i = 0; i < ev->nargs; i++)
		timeline_word(detail, ev->arg[i].key, ev->arg[i].text);
	if (ev->args_left)
		timeline_words_left(detail);
}
