/* SPDX-License-Identifier: Apache-2.0 */
#include "import/scanner_counters.h"

#include <endian.h>
#include <string.h>

enum { COUNTERS_MAX = 1024, NAME_MAX_BYTES = 256, NUMBER = 8 };

/* What is beyond the window, while the file goes on, is taken for right. */
struct view {
	const uint8_t *at, *end;
	bool whole;
};

static int64_t load(const uint8_t *at)
{
	uint64_t v;

	memcpy(&v, at, sizeof v);
	return (int64_t)le64toh(v);
}

static bool beyond(const struct view *v, size_t n)
{
	return (size_t)(v->end - v->at) < n;
}

/* Behind the text, which is a name; NULL: it is none. */
static const uint8_t *name_end(const struct view *v, size_t *n)
{
	size_t most = (size_t)(v->end - v->at);
	const uint8_t *end = memchr(v->at, 0, most < NAME_MAX_BYTES ? most : NAME_MAX_BYTES);

	if (!end)
		return NULL;
	*n = (size_t)(end - v->at);
	for (const uint8_t *c = v->at; c < end; c++)
		if (*c < 0x20 || *c == 0x7f)
			return NULL;
	return end + 1;
}

static bool is_one_of(const uint8_t *text, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp((const char *)text, words[i]))
			return true;
	return false;
}

/* A node, one of the types, one of the tags. */
static bool thread_fits(struct view v)
{
	static const char *const types[] = { "process_job", "load", "eval", "save" };
	static const char *const tags[] = { "", "pre", "eval", "post" };
	const uint8_t *behind;
	size_t n;

	if (beyond(&v, NUMBER + 1))
		return !v.whole;
	v.at += NUMBER;
	behind = name_end(&v, &n);
	if (!behind || !is_one_of(v.at, types, sizeof types / sizeof types[0]))
		return !behind && !v.whole && beyond(&v, NAME_MAX_BYTES);
	v.at = behind;
	behind = name_end(&v, &n);
	if (!behind)
		return !v.whole && beyond(&v, NAME_MAX_BYTES);
	return is_one_of(v.at, tags, sizeof tags / sizeof tags[0]);
}

static bool next_fits(struct view v, enum scanner_next next)
{
	unsigned n, stages;

	if (next == SCANNER_NEXT_THREAD)
		return thread_fits(v);
	if (next == SCANNER_NEXT_END)
		return v.whole && v.at == v.end;
	if (beyond(&v, 2))
		return !v.whole || (next == SCANNER_NEXT_SAVERS && v.at < v.end && !*v.at);
	n = *v.at++;
	if (next == SCANNER_NEXT_CHAINS) {
		stages = *v.at++;
		return n && stages ? thread_fits(v) : next_fits(v, SCANNER_NEXT_SAVERS);
	}
	if (n)
		return thread_fits(v);
	return next_fits(v, next == SCANNER_NEXT_LOADERS ? SCANNER_NEXT_CHAINS : SCANNER_NEXT_END);
}

/* v is behind them then. */
static bool counters_fit(struct view *v)
{
	int64_t n;

	if (beyond(v, NUMBER))
		return false;
	n = load(v->at);
	v->at += NUMBER;
	if (n < 0 || n > COUNTERS_MAX)
		return false;
	for (int64_t i = 0; i < n; i++) {
		size_t length;
		const uint8_t *behind = name_end(v, &length);

		if (!behind || !length || v->end - behind < NUMBER)
			return false;
		v->at = behind + NUMBER;
	}
	return true;
}

static bool fits(const uint8_t *data, size_t n, bool whole, enum scanner_next next)
{
	struct view v = { data, data + n, whole };

	return counters_fit(&v) && next_fits(v, next);
}

bool scanner_counters_find(const uint8_t *data, size_t n, bool whole, enum scanner_next next,
			   const size_t known[256], uint32_t *more)
{
	struct view first = { data, data + n, whole };

	for (size_t at = 0; n - at >= NUMBER; at += SCANNER_ROW) {
		if (fits(data + at, n - at, whole, next)) {
			*more = (uint32_t)(at / SCANNER_ROW);
			return true;
		}
		if (n - at < SCANNER_ROW || !known[data[at]])
			break;
	}
	/* Nothing fits: where they are counters as they stand, the fault lies behind them. */
	*more = 0;
	return counters_fit(&first);
}
