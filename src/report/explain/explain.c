/* SPDX-License-Identifier: Apache-2.0 */
#include "report/explain/explain.h"
#include "base/text/escape.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const char *const explain_topic_names[] = {
	"all", "where", "memory", "io", "wait", "next", "diff"
};
_Static_assert(sizeof explain_topic_names / sizeof explain_topic_names[0] == EXPLAIN_TOPICS,
	       "a name each");

void explain_free(struct explain *x)
{
	free(x->finding);
	*x = (struct explain){ 0 };
}

struct explain_finding *explain_add(struct explain *x, enum explain_topic topic, const char *about)
{
	struct explain_finding *f;

	if (x->n == EXPLAIN_FINDINGS) {
		x->left_out++;
		return NULL;
	}
	f = &x->finding[x->n];
	*f = (struct explain_finding){ .topic = topic,
				       .severity = SEVERITY_NOTE,
				       .confidence = CONFIDENCE_HIGH,
				       .from_s = NAN,
				       .to_s = NAN,
				       .order = x->n++ };
	explain_copy(f->about, sizeof f->about, about);
	return f;
}

struct explain_number *explain_number(struct explain_finding *f, const char *name, enum unit unit,
				      double value, const char *at, ...)
{
	struct explain_number *n;
	va_list ap;

	if (!isfinite(value) || f->nnumbers == EXPLAIN_NUMBERS)
		return NULL;
	n = &f->number[f->nnumbers++];
	*n = (struct explain_number){ .unit = unit, .value = value, .low = NAN, .high = NAN };
	explain_copy(n->name, sizeof n->name, name);
	va_start(ap, at);
	vsnprintf(n->at, sizeof n->at, at, ap);
	va_end(ap);
	return n;
}

void explain_copy(char *out, size_t size, const char *text)
{
	size_t n = strlen(text), room = size - 1;

	if (n > room) {
		for (n = room - 3; n && ((unsigned char)text[n] & 0xc0) == 0x80; n--)
			;
		snprintf(out, size, "%.*s...", (int)n, text);
	} else {
		memcpy(out, text, n + 1);
	}
}

/* A long path would take the room of findings, and is known to who asked. */
static void put_path(struct bytes *out, const char *path)
{
	enum { PATH_ROOM = 100 };
	size_t len = out->len;

	bytes_u8(out, ' ');
	escape_shell(out, path);
	if (out->len - len <= PATH_ROOM)
		return;
	out->len = len;
	bytes_puts(out, " RUN");
}

void explain_settle(struct explain_finding *f, const char *command, const char *path,
		    const char *other)
{
	struct bytes text = { 0 };

	bytes_puts(&text, command);
	put_path(&text, path);
	if (other)
		put_path(&text, other);
	bytes_u8(&text, 0);
	if (!text.failed)
		explain_copy(f->settle, sizeof f->settle, (const char *)text.data);
	bytes_free(&text);
}

/* ---- the order ---- */

/* What is wrong comes first, then what the run did, then what is not known, notes and praise. */
static int group_of(const struct explain_finding *f)
{
	static const int groups[] = {
		[SEVERITY_BAD] = 0,  [SEVERITY_WARN] = 1, [SEVERITY_CANNOT_TELL] = 3,
		[SEVERITY_NOTE] = 4, [SEVERITY_GOOD] = 5,
	};
	_Static_assert(sizeof groups / sizeof groups[0] == SEVERITY_NUMBER_OF, "each");
	static const char *const facts[] = { "end",    "time", "commands", "code", "waits",
					     "memory", "io",   "figure",   "steps" };

	for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++)
		if (f->severity == SEVERITY_NOTE && !strcmp(f->about, facts[i]))
			return 2;
	return groups[f->severity];
}

static int by_rank(const void *a, const void *b)
{
	const struct explain_finding *f = a, *g = b;
	int difference = group_of(f) - group_of(g);

	return difference ? difference : (f->order > g->order) - (f->order < g->order);
}

static bool is_asked(const struct explain *x, const struct explain_finding *f)
{
	return x->ask == EXPLAIN_ALL || x->ask == f->topic ||
	       (x->ask == EXPLAIN_DIFF && x->comparison) || (x->ask == EXPLAIN_NEXT && *f->next);
}

void explain_rank(struct explain *x)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < x->n; i++)
		if (is_asked(x, &x->finding[i]))
			x->finding[kept++] = x->finding[i];
	x->n = kept;
	if (kept)
		qsort(x->finding, kept, sizeof *x->finding, by_rank);
}
