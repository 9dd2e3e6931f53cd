/* SPDX-License-Identifier: Apache-2.0 */
#include "core/frame/derive_plan.h"
#include "core/glob.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_SIZE = 256, FORMULA_DEPTH_MAX = 32 };
enum { NOT_VISITED = 0, BEING_VISITED, VISITED };

/* Metric ids by public name, sorted, so that formulas find their inputs. */
struct name_index {
	const struct plan *plan;
	uint32_t *id;
	uint32_t n;
};

static int name_quantity(struct quantity *q, const struct metric *m, bool raw)
{
	char name[NAME_SIZE];

	q->metric = m;
	q->rate = !raw && m->kind == KIND_COUNTER && !m->formula;
	q->interval = q->rate;
	q->unit = q->rate ? unit_rate(m->unit) : m->unit;
	if (q->rate)
		metric_rate_name(m, name, sizeof(name));
	q->name = strdup(q->rate ? name : m->name);
	return q->name ? 0 : -ENOMEM;
}

static int by_name(const void *a, const void *b, void *plan)
{
	const struct plan *p = plan;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int order = strcmp(p->quantity[x].name, p->quantity[y].name);

	return order ? order : (x > y) - (x < y);
}

static uint32_t find_name(const struct name_index *x, const char *name)
{
	uint32_t low = 0, high = x->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (strcmp(x->plan->quantity[x->id[middle]].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < x->n && !strcmp(x->plan->quantity[x->id[low]].name, name))
		return x->id[low];
	return 0;
}

struct binding {
	struct plan *plan;
	const struct name_index *names;
	bool failed;
};

/* A call asks for something over time, which an instant does not have: its input stays unknown. */
static void bind_input(void *ctx, const char *function, const char *name)
{
	struct binding *b = ctx;
	struct plan *p = b->plan;

	if (!plan_grow((void **)&p->input, p->ninputs, &p->input_cap, sizeof(*p->input))) {
		b->failed = true;
		return;
	}
	p->input[p->ninputs].at = name;
	p->input[p->ninputs++].quantity = function ? 0 : find_name(b->names, name);
}

/* A formula that a later version wrote and this one cannot read has no values; the rest stands. */
static int bind_formulas(struct plan *p, const struct name_index *names)
{
	struct binding b = { .plan = p, .names = names };

	for (uint32_t i = 1; i < p->run->nmetrics; i++) {
		struct quantity *q = &p->quantity[i];
		int rc = q->metric->formula ? expr_parse(&q->formula, q->metric->formula, NULL) : 0;

		if (rc == -ENOMEM)
			return rc;
		q->first_input = p->ninputs;
		if (q->formula)
			expr_names(q->formula, bind_input, &b);
		if (b.failed)
			return -ENOMEM;
		q->ninputs = p->ninputs - q->first_input;
	}
	return 0;
}

/* Marks what is needed for a quantity and lists formulas after their inputs. False for one that is
 * being visited already: a formula that leads back to itself has no values. */
static bool visit(struct plan *p, uint32_t id, unsigned depth)
{
	struct quantity *q = &p->quantity[id];
	bool sound = true;

	if (q->visit == BEING_VISITED || depth > FORMULA_DEPTH_MAX)
		return false;
	if (q->visit == VISITED)
		return true;
	q->visit = BEING_VISITED;
	q->needed = true;
	for (uint32_t i = q->first_input; i < q->first_input + q->ninputs; i++)
		if (p->input[i].quantity && !visit(p, p->input[i].quantity, depth + 1))
			sound = false;
	q->visit = VISITED;
	for (uint32_t i = q->first_input; i < q->first_input + q->ninputs; i++)
		q->interval |= p->quantity[p->input[i].quantity].interval;
	if (q->formula && sound) {
		p->derived[p->nderived++] = id;
	} else if (q->formula) {
		expr_free(q->formula);
		q->formula = NULL;
		q->ninputs = 0;
	}
	return true;
}

/* Recordings of other versions may declare the same thing with another scale or formula: it is one
 * quantity, the first. */
static void merge(struct plan *p, const struct name_index *names)
{
	for (uint32_t i = 0; i < names->n; i++) {
		struct quantity *q = &p->quantity[names->id[i]];
		const struct quantity *before = i ? &p->quantity[names->id[i - 1]] : NULL;
		bool same = before && !strcmp(before->name, q->name) && before->unit == q->unit &&
			    before->rate == q->rate;

		q->same_as = same ? before->same_as : names->id[i];
	}
}

static int choose(struct plan *p, const struct selection *sel, struct err *e)
{
	uint32_t n = 0;

	for (uint32_t i = 1; i < p->run->nmetrics; i++) {
		struct quantity *q = &p->quantity[i];

		q->chosen = q->same_as == i && !(sel->raw && q->metric->formula) &&
			    glob_match(sel->metrics, q->name);
		if (q->chosen)
			visit(p, i, 0);
		n += q->chosen;
	}
	if (!n && sel->metrics && !sel->may_match_none)
		return err_set(
			e, -EINVAL,
			"no metric of this recording matches \"%s\"; `sonde metrics` lists names",
			sel->metrics);
	return 0;
}

int plan_quantities(struct plan *p, const struct selection *sel, struct err *e)
{
	struct name_index names = { .plan = p };
	uint32_t n = p->run->nmetrics;
	int rc = -ENOMEM;

	p->quantity = calloc(n + 1u, sizeof(*p->quantity));
	p->derived = calloc(n + 1u, sizeof(*p->derived));
	names.id = calloc(n + 1u, sizeof(*names.id));
	if (!p->quantity || !p->derived || !names.id)
		goto out;
	for (uint32_t i = 1; i < n; i++) {
		rc = name_quantity(&p->quantity[i], &p->run->metrics[i].row, sel->raw);
		if (rc)
			goto out;
		names.id[names.n++] = i;
	}
	qsort_r(names.id, names.n, sizeof(*names.id), by_name, p);
	merge(p, &names);
	rc = sel->raw ? 0 : bind_formulas(p, &names);
	if (!rc)
		rc = choose(p, sel, e);
out:
	free(names.id);
	return rc == -ENOMEM ? err_set(e, rc, "out of memory for the names of the metrics") : rc;
}
