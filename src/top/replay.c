/* SPDX-License-Identifier: Apache-2.0 */
#include "top/replay.h"

#include "base/clock.h"
#include "top/keys.h"

#include <stdio.h>

enum { PAGES = 20 };

static void go(struct replay *r, int64_t at_ns)
{
	const struct now_span *s = &r->span;

	r->at_ns = at_ns < s->first_ns ? s->first_ns : at_ns > s->last_ns ? s->last_ns : at_ns;
}

void replay_init(struct replay *r, const struct now_span *span, int64_t at_ns)
{
	*r = (struct replay){ .span = *span, .speed = 1 };
	go(r, at_ns < span->last_ns - span->begin_ns ? span->begin_ns + at_ns : span->last_ns);
}

static int64_t page(const struct replay *r)
{
	int64_t part = (r->span.last_ns - r->span.first_ns) / PAGES;

	return part > r->span.interval_ns ? part : r->span.interval_ns;
}

static void play(struct replay *r, int64_t mono_ns)
{
	r->plays = !r->plays && r->at_ns < r->span.last_ns;
	r->tick_ns = mono_ns;
}

static void speed(struct replay *r, bool faster)
{
	if (faster && r->speed < REPLAY_SPEED_MOST)
		r->speed *= 2;
	else if (!faster && r->speed > 1)
		r->speed /= 2;
}

bool replay_key(struct replay *r, int key, int64_t mono_ns)
{
	replay_tick(r, mono_ns);
	switch (key) {
	case KEY_LEFT:
	case KEY_RIGHT:
		go(r, r->at_ns + (key == KEY_RIGHT ? 1 : -1) * r->span.interval_ns);
		return true;
	case KEY_PAGE_UP:
	case KEY_PAGE_DOWN:
		go(r, r->at_ns + (key == KEY_PAGE_DOWN ? 1 : -1) * page(r));
		return true;
	case KEY_HOME:
	case KEY_END:
		go(r, key == KEY_HOME ? r->span.first_ns : r->span.last_ns);
		return true;
	case ' ':
		play(r, mono_ns);
		return true;
	case '+':
	case '-':
		speed(r, key == '+');
		return true;
	default:
		return false;
	}
}

void replay_tick(struct replay *r, int64_t mono_ns)
{
	int64_t passed = mono_ns - r->tick_ns, left = r->span.last_ns - r->at_ns;

	if (!r->plays)
		return;
	r->tick_ns = mono_ns;
	go(r, passed < left / r->speed ? r->at_ns + passed * r->speed : r->span.last_ns);
	r->plays = r->at_ns < r->span.last_ns;
}

/* Since the begin: milliseconds are shown of the first minute only, seconds always. */
static const char *since(const struct replay *r, int64_t utc_ns, char text[32])
{
	int64_t ms = (utc_ns - r->span.begin_ns) / NS_PER_MS, s = ms / 1000;

	if (s >= 60) {
		snprintf(text, 32, "%lld:%02d:%02d", (long long)(s / 3600), (int)(s / 60 % 60),
			 (int)(s % 60));
		return text;
	}
	return unit_format(UNIT_SECONDS, (double)ms / 1e3, text, 32);
}

void replay_text(const struct replay *r, char *out, size_t size)
{
	char at[32], all[32], fast[16] = "";

	if (r->speed > 1)
		snprintf(fast, sizeof fast, " x%u", r->speed);
	snprintf(out, size, "replay  %s of %s  %s%s", since(r, r->at_ns, at),
		 since(r, r->span.last_ns, all), r->plays ? "playing" : "paused", fast);
}
