/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/sweep/sweepspace.h"

#include "base/random.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the matrix ---- */

void sweepspace_at(const struct sweep_space *s, uint32_t combination, uint32_t at[SWEEP_AXES])
{
	for (uint32_t i = s->axes; i-- > 0;) {
		at[i] = combination % s->size[i];
		combination /= s->size[i];
	}
}

static uint32_t combination_of(const struct sweep_space *s, const uint32_t at[SWEEP_AXES])
{
	uint32_t c = 0;

	for (uint32_t i = 0; i < s->axes; i++)
		c = c * s->size[i] + at[i];
	return c;
}

/* Of a parameter; NULL: there is no such. */
static const char *value_of(const struct sweep_spec *spec, const uint32_t at[SWEEP_AXES],
			    const char *name, size_t n)
{
	for (uint32_t i = 0; i < spec->nparameters; i++) {
		const struct sweep_parameter *p = &spec->parameter[i];

		if (!strncmp(p->name, name, n) && !p->name[n])
			return p->values.word[at[SWEEP_AXIS_PARAMETER + i]];
	}
	return NULL;
}

/* The text of an axis by the name that exclude gives it; NULL: there is no such axis. */
static const char *text_of(const struct sweep_spec *spec, const uint32_t at[SWEEP_AXES],
			   const char *name)
{
	const char *value = value_of(spec, at, name, strlen(name));

	if (value)
		return value;
	if (!strcmp(name, "stack"))
		return spec->stack[at[SWEEP_AXIS_STACK]].name;
	if (!strcmp(name, "environment"))
		return spec->environments[at[SWEEP_AXIS_ENVIRONMENT]].name;
	return NULL;
}

static bool is_excluded(const struct sweep_spec *spec, const uint32_t at[SWEEP_AXES])
{
	for (uint32_t i = 0; i < spec->nexcludes; i++) {
		const struct jsontree *v = spec->exclude[i]->first;
		bool all = v;

		for (; v && all; v = v->next) {
			const char *text = text_of(spec, at, v->key);

			all = text && !strcmp(text, v->text);
		}
		if (all)
			return true;
	}
	return false;
}

int sweepspace_init(struct sweep_space *s, const struct sweep_spec *spec)
{
	uint32_t at[SWEEP_AXES];

	*s = (struct sweep_space){ .axes = SWEEP_AXIS_PARAMETER + spec->nparameters,
				   .combinations = 1 };
	s->size[SWEEP_AXIS_STACK] = spec->nstacks;
	s->size[SWEEP_AXIS_ENVIRONMENT] = spec->nenvironments;
	for (uint32_t i = 0; i < spec->nparameters; i++)
		s->size[SWEEP_AXIS_PARAMETER + i] = spec->parameter[i].values.n;
	for (uint32_t i = 0; i < s->axes; i++)
		s->combinations *= s->size[i];
	s->excluded = calloc(s->combinations, sizeof *s->excluded);
	if (!s->excluded)
		return -ENOMEM;
	for (uint32_t c = 0; c < s->combinations; c++) {
		sweepspace_at(s, c, at);
		s->excluded[c] = is_excluded(spec, at);
	}
	return 0;
}

void sweepspace_free(struct sweep_space *s)
{
	free(s->excluded);
	*s = (struct sweep_space){ 0 };
}

/* ---- words ---- */

void sweepspace_word(struct bytes *out, const struct sweep_spec *spec,
		     const uint32_t at[SWEEP_AXES], const char *word)
{
	enum { NAME_MOST = 256 };

	while (*word) {
		const char *name = strncmp(word, "${", 2) ? "" : word + 2;
		const char *end = memchr(name, '}', strnlen(name, NAME_MOST));
		const char *value = end ? value_of(spec, at, name, (size_t)(end - name)) : NULL;

		if (value) {
			bytes_puts(out, value);
			word = end + 1;
		} else {
			bytes_u8(out, (uint8_t)*word++);
		}
	}
	bytes_u8(out, 0);
}

/* ---- all, random ---- */

/* 0 <= x < n, each as likely. */
static uint32_t below(struct random *r, uint32_t n)
{
	uint64_t most = UINT64_MAX - UINT64_MAX % n, x;

	do
		x = random_u64(r);
	while (x >= most);
	return (uint32_t)(x % n);
}

int64_t sweepspace_choose(const struct sweep_space *s, const struct sweep_spec *spec,
			  uint32_t *order)
{
	struct random r = { .state = (uint64_t)spec->seed };
	bool draws =
		spec->decision == SWEEP_RANDOM || (spec->decision == SWEEP_HALVING && spec->count);
	uint32_t n = 0, wanted;

	for (uint32_t c = 0; c < s->combinations; c++)
		if (!s->excluded[c])
			order[n++] = c;
	wanted = spec->count && spec->count < n ? (uint32_t)spec->count : n;
	/* The first steps of Fisher and Yates' shuffle. */
	for (uint32_t i = 0; i < wanted && draws; i++) {
		uint32_t k = i + below(&r, n - i), taken = order[k];

		order[k] = order[i];
		order[i] = taken;
	}
	return wanted;
}

/* ---- rounds ---- */

void sweepspace_turns(const struct sweep_spec *spec, uint32_t n, struct sweep_turn *turn)
{
	for (int64_t k = 0; k < spec->batch_size && n; k++) {
		struct sweep_turn *round = turn + k * n;
		/* A round has its order whatever became of those before it. */
		struct random r = { .state = ((uint64_t)spec->seed << 20) + (uint64_t)k };

		for (uint32_t i = 0; i < n; i++)
			round[i] = (struct sweep_turn){ i, k + 1 };
		for (uint32_t i = n; i > 1; i--) {
			uint32_t other = below(&r, i);
			struct sweep_turn last = round[i - 1];

			round[i - 1] = round[other];
			round[other] = last;
		}
	}
	for (uint32_t i = 0; i < n && spec->order == SWEEP_COMBINATIONS; i++)
		for (int64_t k = 0; k < spec->batch_size; k++)
			turn[i * spec->batch_size + k] = (struct sweep_turn){ i, k + 1 };
}

/* ---- hill climbing ---- */

/* One that is not excluded; -1: there is none. */
static int64_t begin_of(const struct sweep_space *s, struct random *r)
{
	uint32_t c = below(r, s->combinations);

	for (uint32_t i = 0; i < s->combinations; i++, c = (c + 1) % s->combinations)
		if (!s->excluded[c])
			return c;
	return -1;
}

static bool is_better(const struct sweep_score *a, const struct sweep_score *than)
{
	return a->state == SWEEP_KNOWN && (than->state != SWEEP_KNOWN || a->value > than->value);
}

struct climb {
	const struct sweep_space *space;
	const struct sweep_score *score;
	uint32_t at[SWEEP_AXES], here;
	int64_t unknown; /* the next to try; -1: none is needed */
	bool moved;
};

/* Along an axis in one direction while it is better. False: what is there is not known yet. */
static bool climb_along(struct climb *c, uint32_t axis, int step)
{
	for (;;) {
		uint32_t to = c->at[axis] + (uint32_t)step, there;

		if (to >= c->space->size[axis]) /* below 0, too */
			return true;
		c->at[axis] = to;
		there = combination_of(c->space, c->at);
		if (!c->space->excluded[there] && c->score[there].state == SWEEP_UNKNOWN) {
			c->unknown = there;
			return false;
		}
		if (c->space->excluded[there] || !is_better(&c->score[there], &c->score[c->here])) {
			c->at[axis] = to - (uint32_t)step;
			return true;
		}
		c->here = there;
		c->moved = true;
	}
}

static void shuffle(uint32_t *axis, uint32_t n, struct random *r)
{
	for (uint32_t i = 0; i < n; i++)
		axis[i] = i;
	for (uint32_t i = n; i > 1; i--) {
		uint32_t k = below(r, i), last = axis[i - 1];

		axis[i - 1] = axis[k];
		axis[k] = last;
	}
}

static int64_t tried(const struct sweep_space *s, const struct sweep_score *score)
{
	int64_t n = 0;

	for (uint32_t i = 0; i < s->combinations; i++)
		n += score[i].state != SWEEP_UNKNOWN;
	return n;
}

int64_t sweepspace_climb(const struct sweep_space *s, const struct sweep_spec *spec,
			 const struct sweep_score *score)
{
	struct random r = { .state = (uint64_t)spec->seed };
	struct climb c = { .space = s, .score = score, .moved = true };
	int64_t begin = begin_of(s, &r);
	uint32_t axis[SWEEP_AXES];

	if (begin < 0 || (spec->count && tried(s, score) >= spec->count))
		return -1;
	c.here = (uint32_t)begin;
	if (score[c.here].state == SWEEP_UNKNOWN)
		return begin;
	sweepspace_at(s, c.here, c.at);
	while (c.moved) {
		c.moved = false;
		shuffle(axis, s->axes, &r);
		for (uint32_t i = 0; i < s->axes; i++)
			if (!climb_along(&c, axis[i], 1) || !climb_along(&c, axis[i], -1))
				return c.unknown;
	}
	return -1;
}

/* ---- simulated annealing ---- */

/* Steps for each combination that may be tried: of some the result is known already. */
enum { ANNEALING_STEPS = 8 };
static const double hottest = 0.5, coldest = 0.02; /* of the range of results */

struct annealing {
	const struct sweep_space *space;
	const struct sweep_score *score;
	uint32_t at[SWEEP_AXES], here;
	double least, most; /* results on the way */
	struct random r;
};

static void pass(struct annealing *a, uint32_t combination)
{
	if (a->score[combination].state != SWEEP_KNOWN)
		return;
	a->least = fmin(a->least, a->score[combination].value);
	a->most = fmax(a->most, a->score[combination].value);
}

/* Another value of one axis: half of the times a neighbour. False: there is none. */
static bool draw_step(struct annealing *a, uint32_t to[SWEEP_AXES])
{
	uint32_t axis = below(&a->r, a->space->axes), size = a->space->size[axis];
	bool near = below(&a->r, 2), up = below(&a->r, 2);

	memcpy(to, a->at, sizeof a->at);
	if (size < 2)
		return false;
	if (near)
		to[axis] = (up && to[axis] + 1 < size) || !to[axis] ? to[axis] + 1 : to[axis] - 1;
	else
		to[axis] = (to[axis] + 1 + below(&a->r, size - 1)) % size;
	return true;
}

static bool accepts(struct annealing *a, uint32_t there, double temperature)
{
	const struct sweep_score *here = &a->score[a->here], *next = &a->score[there];
	double chance = random_unit(&a->r);

	if (next->state != SWEEP_KNOWN)
		return here->state != SWEEP_KNOWN;
	if (here->state != SWEEP_KNOWN || next->value >= here->value)
		return true;
	return chance < exp((next->value - here->value) / (temperature * (a->most - a->least)));
}

/* Simulated annealing: from a combination that the seed takes, a step along one axis, to a
 * neighbour or anywhere, is taken when it is better, or with the probability exp(difference / T);
 * T falls from a half of the range of the results on the way to a fiftieth of it. */
static int64_t sweepspace_anneal(const struct sweep_space *s, const struct sweep_spec *spec,
				 const struct sweep_score *score)
{
	struct annealing a = { .space = s,
			       .score = score,
			       .least = INFINITY,
			       .most = -INFINITY,
			       .r = { .state = (uint64_t)spec->seed } };
	int64_t begin = begin_of(s, &a.r), steps = ANNEALING_STEPS * spec->count;
	bool spent = tried(s, score) >= spec->count;

	if (begin < 0)
		return -1;
	a.here = (uint32_t)begin;
	if (score[a.here].state == SWEEP_UNKNOWN)
		return spent ? -1 : begin;
	sweepspace_at(s, a.here, a.at);
	pass(&a, a.here);
	for (int64_t i = 0; i < steps; i++) {
		double share = (double)i / (double)steps;
		uint32_t to[SWEEP_AXES], there;

		if (!draw_step(&a, to))
			continue;
		there = combination_of(s, to);
		if (s->excluded[there])
			continue;
		if (score[there].state == SWEEP_UNKNOWN)
			return spent ? -1 : (int64_t)there;
		pass(&a, there);
		if (accepts(&a, there, hottest * pow(coldest / hottest, share))) {
			a.here = there;
			memcpy(a.at, to, sizeof to);
		}
	}
	return -1;
}

int64_t sweepspace_next(const struct sweep_space *s, const struct sweep_spec *spec,
			const struct sweep_score *score)
{
	return spec->decision == SWEEP_ANNEALING ? sweepspace_anneal(s, spec, score)
						 : sweepspace_climb(s, spec, score);
}

static uint32_t kept_of(uint32_t n, int64_t eta)
{
	return (uint32_t)((n + eta - 1) / eta);
}

bool halving_plan(struct halving *h, const struct sweep_spec *spec, uint32_t n)
{
	uint32_t rounds = 1;
	int64_t budget = spec->budget, each = 0;

	for (uint32_t k = kept_of(n, spec->eta); k > 1; k = kept_of(k, spec->eta))
		rounds++;
	*h = (struct halving){ .needed = n * spec->minimum * rounds };
	if (!budget)
		budget = h->needed;
	if (budget < h->needed)
		return false;
	h->nrounds = rounds;
	for (uint32_t i = 0; i < rounds; i++, n = kept_of(n, spec->eta)) {
		int64_t more = budget / ((int64_t)n * rounds);

		each += more;
		h->round[i] = (struct halving_round){ n, each };
		h->trials += n * more;
	}
	return true;
}

/* What failed is the worst. */
static int by_score(const void *a, const void *b, void *scores)
{
	uint32_t m = *(const uint32_t *)a, n = *(const uint32_t *)b;
	const struct sweep_score *x = (const struct sweep_score *)scores + m;
	const struct sweep_score *y = (const struct sweep_score *)scores + n;
	bool known = x->state == SWEEP_KNOWN;

	if (known != (y->state == SWEEP_KNOWN))
		return known ? -1 : 1;
	if (known && x->value != y->value)
		return x->value > y->value ? -1 : 1;
	return (m > n) - (m < n);
}

uint32_t halving_keep(uint32_t *chosen, uint32_t n, const struct sweep_score *score, int64_t eta)
{
	qsort_r(chosen, n, sizeof *chosen, by_score, (void *)score);
	return kept_of(n, eta);
}
