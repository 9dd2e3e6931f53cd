/* SPDX-License-Identifier: Apache-2.0 */
/* flame.c - merges trees of stacks by names, and draws them: below each function those that it
 * calls, as wide as what both sides used there, coloured by the difference. */
#include "report/comparison/flame.h"

#include "base/array.h"
#include "base/hash.h"
#include "core/stacks/stacks.h"
#include "core/stacks/symbol.h"
#include "report/comparison/blame.h"
#include "report/lines.h"
#include "report/page/page_html.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Less is not taken from a run, nor drawn. */
static const double least_taken = 0.001, least_drawn = 0.002;
enum { WIDTH = 1180, ROW = 17, GAP = 1, ROWS_MOST = 60, CHARACTER = 7, NAME_LEAST = 3 };

const char flame_style[] =
	"svg.flame{width:100%;height:auto;min-width:700px}.flame rect{stroke:var(--surface);stroke-width:1}"
	".flame text{fill:#141c26;font:11px ui-monospace,monospace;pointer-events:none}"
	".flame .l3{fill:#3d8fdd}.flame .l2{fill:#86bcec}.flame .l1{fill:#c4def6}.flame .e{fill:#dcdfe3}"
	".flame .m1{fill:#fbd9c0}.flame .m2{fill:#f6ac77}.flame .m3{fill:#ec7d2f}";

void flame_free(struct flame *f)
{
	free(f->node);
	free(f->slot);
	pool_free(&f->pool);
	*f = (struct flame){ 0 };
}

/* ---- one tree of all runs ---- */

static int slots_grow(struct flame *f)
{
	uint32_t slots = f->slots ? 2 * f->slots : 1024;
	uint32_t *slot = calloc(slots, sizeof *slot);

	if (!slot)
		return -ENOMEM;
	for (uint32_t i = 0; i < f->n; i++) {
		uint64_t at = f->node[i].sum;

		while (slot[at % slots])
			at++;
		slot[at % slots] = i + 1;
	}
	free(f->slot);
	f->slot = slot;
	f->slots = slots;
	return 0;
}

/* The child of that name, which is made where there is none. 0 or -ENOMEM. */
static int child_of(struct flame *f, uint32_t parent, const char *name, const char *module,
		    uint32_t *out)
{
	uint64_t sum = hash_text(hash_text(hash_bytes(0, &parent, sizeof parent), name), module);
	uint64_t at = sum;
	void *grown;

	if (2 * f->n >= f->slots && slots_grow(f))
		return -ENOMEM;
	for (; f->slot[at % f->slots]; at++) {
		const struct flame_node *have = &f->node[f->slot[at % f->slots] - 1];

		if (have->sum == sum && have->parent == parent && !strcmp(have->name, name) &&
		    !strcmp(have->module, module)) {
			*out = f->slot[at % f->slots] - 1;
			return 0;
		}
	}
	grown = array_room(f->node, f->n, &f->cap, sizeof *f->node);
	if (!grown)
		return -ENOMEM;
	f->node = grown;
	f->node[f->n] =
		(struct flame_node){ .parent = parent,
				     .depth = f->n ? f->node[parent].depth + 1 : 0,
				     .sum = sum,
				     .name = pool_text(&f->pool, name, strlen(name)),
				     .module = pool_text(&f->pool, module, strlen(module)) };
	if (!f->node[f->n].name || !f->node[f->n].module)
		return -ENOMEM;
	f->slot[at % f->slots] = f->n + 1;
	*out = f->n++;
	return 0;
}

/* A library by its name without a version; a program may have another name on the other side. */
static void module_of(const struct stacks_function *f, char *out, size_t size)
{
	const char *file = symbol_base(f->module);

	blame_without_version(strstr(file, ".so") ? file : "", out, size);
}

int flame_add(struct flame *f, int side, const struct stacks *s)
{
	uint32_t *place = calloc(s->nnodes + 1u, sizeof *place), root;
	int rc = place ? child_of(f, UINT32_MAX, "all", "", &root) : -ENOMEM;

	for (uint32_t i = 1; i < s->nnodes && !rc; i++) {
		const struct stacks_node *n = &s->nodes[i];
		const struct stacks_function *of = &s->functions[n->function];
		char module[256];

		/* Those below it are smaller still. */
		place[i] = UINT32_MAX;
		if (n->total < least_taken * s->total || place[n->parent] == UINT32_MAX)
			continue;
		module_of(of, module, sizeof module);
		rc = child_of(f, place[n->parent], of->shown, module, &place[i]);
		if (!rc)
			f->node[place[i]].seconds[side] += n->total;
	}
	if (!rc) {
		f->node[0].seconds[side] += s->total;
		f->runs[side]++;
	}
	free(place);
	return rc;
}

/* ---- drawing ---- */

struct drawing {
	const struct flame *f;
	struct bytes *out;
	double *x, *used; /* [n] where a node begins; how much of it its children took */
	double scale;     /* from seconds of a run of A and of B together */
	double whole_s;
	bool memory; /* of one side, in bytes */
};

static double mean_of(const struct flame *f, uint32_t node, int side)
{
	return f->runs[side] ? f->node[node].seconds[side] / f->runs[side] : 0;
}

static double both_of(const struct flame *f, uint32_t node)
{
	return mean_of(f, node, 0) + mean_of(f, node, 1);
}

static double points_of(const struct drawing *d, uint32_t node)
{
	return 100 * (mean_of(d->f, node, 1) - mean_of(d->f, node, 0)) / d->whole_s;
}

static const char *class_of(double points)
{
	static const double steps[] = { 5, 1, 0.2 };
	static const char *const less[] = { "l3", "l2", "l1" }, *const more[] = { "m3", "m2",
										  "m1" };

	for (int i = 0; i < 3; i++)
		if (fabs(points) >= steps[i])
			return points < 0 ? less[i] : more[i];
	return "e";
}

static void put_title(const struct drawing *d, uint32_t i)
{
	const struct flame *f = d->f;
	struct bytes *out = d->out;
	char a[CELL], b[CELL];

	bytes_puts(out, "<title>");
	html_text(out, f->node[i].name);
	if (*f->node[i].module) {
		bytes_puts(out, " (");
		html_text(out, f->node[i].module);
		bytes_puts(out, ")");
	}
	if (d->memory)
		bytes_printf(out, ": %s, %s</title>", cell_text(a, UNIT_BYTES, mean_of(f, i, 0)),
			     cell_share(b, mean_of(f, i, 0) / mean_of(f, 0, 0)));
	else
		bytes_printf(out, ": %s in A, %s in B, %+.1f points</title>",
			     cell_text(a, UNIT_SECONDS, mean_of(f, i, 0)),
			     cell_text(b, UNIT_SECONDS, mean_of(f, i, 1)), points_of(d, i));
}

/* As much of a name as there is room for, whole characters. */
static void put_label(struct bytes *out, const char *name, double x, double y, double width)
{
	char cut[4 * WIDTH / CHARACTER];
	size_t room = (size_t)(width / CHARACTER), n = 0, characters = 0;

	while (name[n] && characters < room && n + 4 < sizeof cut) {
		cut[n] = name[n];
		n++;
		characters += ((unsigned char)name[n] & 0xc0) != 0x80;
	}
	cut[n] = '\0';
	if (characters < NAME_LEAST && name[n])
		return;
	bytes_printf(out, "<text x=\"%.1f\" y=\"%.1f\">", x + 3, y + ROW - 5);
	html_text(out, cut);
	bytes_puts(out, "</text>");
}

static void put_node(struct drawing *d, uint32_t i)
{
	const struct flame_node *n = &d->f->node[i];
	double width = both_of(d->f, i) * d->scale, y = n->depth * ROW;

	bytes_printf(d->out,
		     "<g><rect class=\"%s\" x=\"%.1f\" y=\"%.0f\" width=\"%.1f\" height=\"%d\"/>",
		     d->memory ? "r" : class_of(points_of(d, i)), d->x[i], y, width, ROW - GAP);
	put_title(d, i);
	put_label(d->out, n->name, d->x[i], y, width);
	bytes_puts(d->out, "</g>\n");
}

static int by_row(const void *a, const void *b, void *flame)
{
	const struct flame *f = flame;
	const uint32_t *i = a, *k = b;
	double x = both_of(f, *i), y = both_of(f, *k);

	if (f->node[*i].depth != f->node[*k].depth)
		return f->node[*i].depth < f->node[*k].depth ? -1 : 1;
	return x > y ? -1 : x < y ? 1 : *i < *k ? -1 : *i > *k;
}

/* Row by row, so that a caller has its place before those it calls; the widest first. */
static void put_nodes(struct drawing *d, uint32_t *order)
{
	const struct flame *f = d->f;

	for (uint32_t i = 0; i < f->n; i++)
		order[i] = i;
	qsort_r(order, f->n, sizeof *order, by_row, (void *)f);
	for (uint32_t at = 0; at < f->n; at++) {
		uint32_t i = order[at], parent = f->node[i].parent;

		if (both_of(f, i) < least_drawn * both_of(f, 0) || f->node[i].depth >= ROWS_MOST)
			continue;
		if (i) {
			d->x[i] = d->x[parent] + d->used[parent];
			d->used[parent] += both_of(f, i) * d->scale;
		}
		put_node(d, i);
	}
}

static uint32_t depth_of(const struct flame *f)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < f->n; i++)
		if (both_of(f, i) >= least_drawn * both_of(f, 0) && f->node[i].depth > most)
			most = f->node[i].depth;
	return most < ROWS_MOST ? most : ROWS_MOST - 1;
}

static int draw(struct drawing *d, const char *label)
{
	const struct flame *f = d->f;
	uint32_t *order = calloc(f->n, sizeof *order);
	bool room;

	d->scale = WIDTH / both_of(f, 0);
	d->x = calloc(f->n, sizeof *d->x);
	d->used = calloc(f->n, sizeof *d->used);
	room = d->x && d->used && order;
	if (room) {
		bytes_printf(d->out,
			     "<svg class=\"flame\" viewBox=\"0 0 %d %u\" role=\"img\" "
			     "aria-label=\"%s\">\n",
			     WIDTH, (depth_of(f) + 1) * ROW, label);
		put_nodes(d, order);
		bytes_puts(d->out, "</svg>\n");
	}
	free(d->x);
	free(d->used);
	free(order);
	return room && !d->out->failed ? 0 : -ENOMEM;
}

int flame_svg(struct bytes *out, const struct flame *f, double whole_s)
{
	struct drawing d = { .f = f, .out = out, .whole_s = whole_s };

	if (!f->runs[0] || !f->runs[1] || !(whole_s > 0))
		return 0;
	return draw(&d, "CPU time of A and B by function and caller");
}

int flame_svg_of_memory(struct bytes *out, const struct flame *f)
{
	struct drawing d = { .f = f, .out = out, .memory = true };

	if (!f->runs[0] || !(mean_of(f, 0, 0) > 0))
		return 0;
	return draw(&d, "Resident memory by the functions that touched it first and their callers");
}
