/* SPDX-License-Identifier: Apache-2.0 */
#include "core/stacks/hot.h"

#include "core/glob.h"
#include "core/stacks/stacks_part.h"
#include "core/stacks/symbol.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 3, WORD_BITS = 64, GLOB_BYTES = 256, INLINED_MAX = 64 };
_Static_assert(WORDS *WORD_BITS == HOT_PATTERNS, "a bit for each pattern");

/* Which patterns a function is of. */
struct bits {
	uint64_t word[WORDS];
};
struct of_function {
	struct bits within, innermost, above;
	bool known, ends; /* ends: what is further out is above */
};

struct matching {
	const struct stacks *s;
	const struct hot_pattern *pattern;
	size_t n;
	const struct stacks_function *place; /* NULL: all */
	struct bits asks_above;
	struct of_function *of; /* [nfunctions], then of each frame: Python's are by their files */
	struct tally sums;      /* file, pattern, function */
};

static void set(struct bits *b, size_t i)
{
	b->word[i / WORD_BITS] |= UINT64_C(1) << i % WORD_BITS;
}

bool hot_is_of(const char *globs, const char *name, const char *path, bool innermost)
{
	for (const char *at = globs; *at; at += strspn(at, ",")) {
		size_t n = strcspn(at, ",");
		char glob[GLOB_BYTES], *file, *end;

		if (n < sizeof glob &&
		    (strchr("*?[", *at) || *at == *name)) { /* most are none at first sight */
			snprintf(glob, sizeof glob, "%.*s", (int)n, at);
			end = glob + n - 1;
			file = strchr(glob, '@');
			if (file)
				*file++ = '\0';
			if (*end == '!')
				*end = '\0';
			if ((innermost || at[n - 1] != '!') && glob_match(glob, name) &&
			    (!file || glob_match(file, path) ||
			     glob_match(file, symbol_base(path))))
				return true;
		}
		at += n;
	}
	return false;
}

static bool is_python(const struct stacks_function *f)
{
	return !strcmp(f->module, PYTHON_MODULE);
}

static bool is_loop(const struct stacks_function *f)
{
	return glob_match("_PyEval_EvalFrame*,PyEval_EvalFrame*", f->name);
}

static const struct of_function *look_up(struct matching *m, uint32_t frame)
{
	const struct stacks_function *f = stacks_function_of(m->s, frame);
	const char *file = m->s->run->frames[frame].file;
	const char *name = *f->name ? f->shown : "", *path = is_python(f) ? file : f->module;
	struct of_function *of =
		&m->of[is_python(f) ? m->s->nfunctions + frame : m->s->private->function_of[frame]];

	if (of->known)
		return of;
	of->known = true;
	of->ends = is_loop(f);
	for (size_t i = 0; i < m->n; i++) {
		const struct hot_pattern *p = &m->pattern[i];

		if (hot_is_of(p->functions, name, path, true))
			set(hot_is_of(p->functions, name, path, false) ? &of->within
								       : &of->innermost,
			    i);
		if (*p->above && hot_is_of(p->above, name, path, true))
			set(&of->above, i);
	}
	return of;
}

/* What was seen of a stack, from the innermost outwards. */
struct seen {
	struct bits within, done;
	uint32_t frame[HOT_PATTERNS]; /* that matched, the outermost */
	bool ended;                   /* the place is further in */
	bool begun;
};

/* Stacks are many: by words, and bits one by one only where they are set. */
static void take_frame(struct matching *m, struct seen *x, uint32_t frame)
{
	const struct of_function *of = look_up(m, frame);

	for (size_t w = 0; w < WORDS; w++) {
		uint64_t asks = m->asks_above.word[w], in = of->within.word[w];

		x->done.word[w] |= of->above.word[w] & x->within.word[w];
		in |= x->begun ? 0 : of->innermost.word[w];
		in &= x->ended ? 0 : ~(asks & x->done.word[w]);
		x->within.word[w] |= in;
		x->done.word[w] |= in & ~asks;
		for (; in; in &= in - 1)
			x->frame[w * WORD_BITS + (size_t)__builtin_ctzll(in)] = frame;
	}
	x->begun = true;
	x->ended |= of->ends || stacks_function_of(m->s, frame) == m->place;
}

static int count_one(struct matching *m, uint32_t pattern, uint32_t frame, double self)
{
	const struct tally_key key = { m->s->run->frames[frame].file, pattern,
				       m->s->private->function_of[frame], 0 };
	uint32_t row;
	int rc = tally_find(&m->sums, &key, &row);

	if (!rc)
		m->sums.row[row].self += self;
	return rc;
}

static int count(struct matching *m, const struct seen *x, double self)
{
	int rc = 0;

	for (size_t w = 0; w < WORDS; w++)
		for (uint64_t done = x->done.word[w]; done && !rc; done &= done - 1) {
			size_t i = w * WORD_BITS + (size_t)__builtin_ctzll(done);

			rc = count_one(m, (uint32_t)i, x->frame[i], self);
		}
	return rc;
}

static int take_stack(struct matching *m, uint32_t stack)
{
	const struct run *r = m->s->run;
	struct seen x = { 0 };

	for (uint32_t node = stack; node; node = r->stacks[node].parent) {
		uint32_t frame = r->stacks[node].frame;

		for (int i = 0; frame && i < INLINED_MAX; i++, frame = r->frames[frame].outer)
			take_frame(m, &x, frame);
	}
	return count(m, &x, m->s->private->place[stack].self);
}

static void sum_up(struct hot_match *match, const struct matching *m)
{
	for (uint32_t i = 0; i < m->sums.n; i++) {
		const struct tally_row *row = &m->sums.row[i];
		struct hot_match *to = &match[row->key.a];

		to->seconds += row->self;
		if (row->self > to->function.seconds)
			to->function = (struct hot_place){
				.function = &m->s->functions[row->key.b],
				.file = row->key.text && *row->key.text ? row->key.text : NULL,
				.seconds = row->self,
			};
	}
}

int hot_match(struct hot_match *match, const struct stacks *s, const struct hot *place,
	      const struct hot_pattern *pattern, size_t n)
{
	struct matching m = { .s = s, .pattern = pattern, .n = n };
	uint32_t *owner = NULL;
	int rc = 0;

	memset(match, 0, n * sizeof *match);
	for (size_t i = 0; i < n; i++)
		if (*pattern[i].above)
			set(&m.asks_above, i);
	m.of = calloc(s->nfunctions + s->run->nframes + 1u, sizeof *m.of);
	if (place) {
		m.place = place->place.function;
		rc = hot_owners(&owner, s);
	}
	if (!m.of)
		rc = -ENOMEM;
	for (uint32_t i = 1; i < s->run->nstacks && !rc; i++)
		if (s->private->place[i].self > 0 && (!place || &s->functions[owner[i]] == m.place))
			rc = take_stack(&m, i);
	if (!rc)
		sum_up(match, &m);
	tally_free(&m.sums);
	free(owner);
	free(m.of);
	return rc;
}
