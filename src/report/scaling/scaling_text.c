/* SPDX-License-Identifier: Apache-2.0 */
/* scaling_text.c - for a terminal, as JSON, and as a chart. */
#include "base/text/columns.h"
#include "base/text/escape.h"
#include "base/text/json.h"
#include "chart/panel.h"
#include "chart/svg.h"
#include "report/scaling/scaling.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CELL = 64 };

static const char *const pop_names[SCALING_POP] = { "parallel_efficiency", "load_balance",
						    "serialisation", "transfer" };
static const char *const pop_labels[SCALING_POP] = { "Parallel efficiency", "Load balance",
						     "Serialisation", "Transfer" };
static const char *const by_names[] = { NULL, "cores", "nodes", "ranks", "other" };

/* ---- words ---- */

static const char *percent(double v, char out[CELL])
{
	if (isnan(v))
		return NULL;
	if (fabs(v) < 0.0005)
		v = 0; /* and not "-0.0" */
	snprintf(out, CELL, "%.*f %%", fabs(v) < 0.0995 ? 1 : 0, 100 * v);
	return out;
}

/* "61.2 % (60.1 to 62.4)", or without an interval. */
static const char *percents(const struct fitted *f, char out[CELL])
{
	int digits = fabs(f->value) < 0.0995 ? 1 : 0;

	if (isnan(f->value))
		return NULL;
	if (isnan(f->low))
		snprintf(out, CELL, "%.*f %%", digits, 100 * f->value);
	else
		snprintf(out, CELL, "%.*f %% (%.*f to %.*f)", digits, 100 * f->value, digits,
			 100 * f->low, digits, 100 * f->high);
	return out;
}

/* "8 cores", or "OMP_NUM_THREADS=8". */
static void amount(struct bytes *b, const struct scaling *x, double v)
{
	if (x->by != SCALING_OTHER)
		bytes_printf(b, "%.6g %.*s", v, (int)strlen(scaling_unit(x)) - (v == 1),
			     scaling_unit(x));
	else {
		escape_terminal(b, x->by_name);
		bytes_printf(b, "=%.6g", v);
	}
}

static void times(struct bytes *b, const struct fitted *f)
{
	char text[3][CELL];

	bytes_printf(b, "%s", unit_format(UNIT_SECONDS, f->value, text[0], CELL));
	if (!isnan(f->low))
		bytes_printf(b, " (%s to %s)", unit_format(UNIT_SECONDS, f->low, text[1], CELL),
			     unit_format(UNIT_SECONDS, f->high, text[2], CELL));
}

/* ---- tables ---- */

static void speed_table(struct bytes *b, const struct scaling *x, unsigned room)
{
	const struct column_look look[] = {
		{ .heading = scaling_unit(x), .right = true },
		{ .heading = "runs", .right = true, .spare = true },
		{ .heading = "time", .right = true },
		{ .heading = "speed-up", .right = true },
		{ .heading = "efficiency", .right = true },
		{ .heading = "core-hours", .right = true, .spare = true },
		{ .heading = "energy", .right = true, .spare = true },
	};
	bool energy = !isnan(x->step[0].energy_j);
	struct columns c = { .look = look, .ncolumns = energy ? 7 : 6 };

	for (uint32_t i = 0; i < x->nsteps; i++) {
		const struct scaling_step *s = &x->step[i];
		char text[CELL];

		snprintf(text, CELL, "%.6g", s->amount);
		columns_cell(&c, text);
		snprintf(text, CELL, "%u", s->n);
		columns_cell(&c, text);
		columns_cell(&c, unit_format(UNIT_SECONDS, s->time.value, text, CELL));
		snprintf(text, CELL, "%.2f", s->speedup.value);
		columns_cell(&c, text);
		columns_cell(&c, percents(&s->efficiency, text));
		snprintf(text, CELL, "%.3g", s->core_hours);
		columns_cell(&c, isnan(s->core_hours) ? NULL : text);
		if (energy)
			columns_cell(&c, isnan(s->energy_j) ? NULL
							    : unit_format(UNIT_JOULES, s->energy_j,
									  text, CELL));
	}
	columns_print(&c, b, room);
	columns_free(&c);
}

/* As many steps as a line has room for, the last of them. */
enum { STEPS_SHOWN = COLUMNS_MAX - 1 };

static uint32_t first_shown(const struct scaling *x)
{
	return x->nsteps > STEPS_SHOWN ? x->nsteps - STEPS_SHOWN : 0;
}

static void value_table(struct bytes *b, const struct scaling *x, unsigned room,
			const char *heading, uint32_t nrows,
			const char *(*cell)(const struct scaling *x, uint32_t row, uint32_t step,
					    char out[CELL]))
{
	struct column_look look[COLUMNS_MAX] = { { .heading = heading, .shrinks = true } };
	char names[COLUMNS_MAX][CELL];
	struct columns c = { .look = look, .ncolumns = 1 };
	uint32_t first = first_shown(x);

	for (uint32_t i = first; i < x->nsteps; i++) {
		snprintf(names[c.ncolumns], CELL, "%.6g", x->step[i].amount);
		look[c.ncolumns] =
			(struct column_look){ .heading = names[c.ncolumns], .right = true };
		c.ncolumns++;
	}
	for (uint32_t i = 0; i < nrows; i++) {
		char text[CELL];
		const char *name = cell(x, i, UINT32_MAX, text);

		if (name)
			columns_cell(&c, name);
		for (uint32_t j = first; j < x->nsteps && name; j++)
			columns_cell(&c, cell(x, i, j, text));
	}
	columns_print(&c, b, room);
	columns_free(&c);
}

static const char *lost_cell(const struct scaling *x, uint32_t row, uint32_t step, char out[CELL])
{
	const struct scaling_part *p = &x->part[row];

	if (step != UINT32_MAX)
		return percent(row < x->nparts ? x->step[step].lost[row] : x->step[step].lost_sum,
			       out);
	if (row == x->nparts)
		return "All";
	snprintf(out, CELL, "%s%.50s", p->is_class ? "  of it, code: " : "",
		 p->label ? p->label : "");
	return p->shown ? out : NULL;
}

static const char *pop_cell(const struct scaling *x, uint32_t row, uint32_t step, char out[CELL])
{
	return step == UINT32_MAX ? pop_labels[row] : percent(x->step[step].pop[row], out);
}

/* ---- sentences ---- */

static uint32_t most_lost(const struct scaling *x, bool class)
{
	const struct scaling_step *last = &x->step[x->nsteps - 1];
	uint32_t most = UINT32_MAX;

	for (uint32_t i = 0; i < x->nparts; i++)
		if (x->part[i].is_class == class && last->lost[i] >= 0.01 &&
		    (most == UINT32_MAX || last->lost[i] > last->lost[most]))
			most = i;
	return most;
}

static void lost_sentence(struct bytes *b, const struct scaling *x)
{
	const struct scaling_step *last = &x->step[x->nsteps - 1];
	uint32_t most = most_lost(x, false), class = most_lost(x, true);
	char text[CELL];

	if (most == UINT32_MAX)
		return;
	bytes_puts(b, "With ");
	amount(b, x, last->amount);
	bytes_printf(b, ", %s of the cores' time is lost, compared with ",
		     percent(last->lost_sum, text));
	amount(b, x, x->step[0].amount);
	bytes_printf(b, ". Most of it: %c%s (%s)", x->part[most].label[0] | ' ',
		     x->part[most].label + 1, percent(last->lost[most], text));
	if (class != UINT32_MAX)
		bytes_printf(b, "; of code: %s (%s)", x->part[class].label,
			     percent(last->lost[class], text));
	bytes_puts(b, ".\n");
}

static void serial_sentence(struct bytes *b, const struct scaling *x)
{
	char text[CELL];

	if (isnan(x->serial.value)) {
		bytes_puts(b, "Amdahl's law: not fitted, since it takes two different steps.\n");
		return;
	}
	if (x->serial.high < 0) {
		bytes_puts(b, "It gets faster than linearly: each core has more cache or memory "
			      "bandwidth for itself, or does less work.\n");
		return;
	}
	if (x->serial.value >= 1) {
		bytes_puts(b, "It gets no faster with more.\n");
		return;
	}
	bytes_printf(b, "Serial part (Amdahl's law): %s", percents(&x->serial, text));
	if (isnan(x->serial.low))
		bytes_puts(b, "; more runs would show how sure that is");
	else if (x->serial.low > 0)
		bytes_printf(b, ": at most %.3g (%.3g to %.3g) times faster than with one",
			     1 / x->serial.value, 1 / x->serial.high, 1 / x->serial.low);
	else
		bytes_printf(b, ": at least %.3g times faster is possible, and no limit is seen",
			     1 / x->serial.high);
	bytes_puts(b, ".\n");
}

static void universal_sentence(struct bytes *b, const struct scaling *x)
{
	char text[CELL];

	bytes_printf(
		b,
		"Each one more slows down all others (universal scalability law): contention %s, "
		"crosstalk %.2g (%.2g to %.2g)",
		percents(&x->contention, text), x->crosstalk.value, x->crosstalk.low,
		x->crosstalk.high);
	if (x->best > x->step[0].amount)
		bytes_printf(b, "; fastest with about %.3g%s", x->best,
			     x->best > x->step[x->nsteps - 1].amount ? ", which was not measured"
								     : "");
	bytes_puts(b, ".\n");
}

static void law_sentences(struct bytes *b, const struct scaling *x)
{
	char text[CELL];

	if (x->weak && !isnan(x->doubling.value))
		bytes_printf(b, "Each doubling changes the time by %s.\n",
			     percents(&x->doubling, text));
	else if (!x->weak && x->has_crosstalk)
		universal_sentence(b, x);
	else if (!x->weak)
		serial_sentence(b, x);
	if (x->p_misfit < 0.01)
		bytes_puts(b, "The runs do not follow this law: trust the table, and not what is "
			      "expected of more.\n");
	if (x->fit.n && x->fit.df > 0 && !(x->p_misfit < 0.01)) {
		bytes_puts(b, "With ");
		amount(b, x, x->next);
		bytes_puts(b, ", not measured, expect ");
		times(b, &x->next_time);
		bytes_puts(b, ".\n");
	}
}

static void advice(struct bytes *b, const struct scaling *x)
{
	const struct scaling_step *ask = &x->step[x->ask], *next = ask + 1;
	char text[CELL];

	bytes_puts(b, "Ask for ");
	amount(b, x, ask->amount);
	bytes_printf(b, ": the most with an efficiency of at least %.0f %%", 100 * x->wanted);
	if (x->ask + 1 < x->nsteps) {
		bytes_puts(b, ". ");
		amount(b, x, next->amount);
		bytes_printf(b, ": %.3g times as fast for %.3g times the core-hours",
			     next->speedup.value / ask->speedup.value,
			     next->core_hours / ask->core_hours);
	} else {
		bytes_printf(b, ", and the most that was measured (%s)",
			     percents(&ask->efficiency, text));
	}
	bytes_puts(b, ".\n");
}

static void introduce(struct bytes *b, const struct scaling *x)
{
	char command[200] = "a job that is not known", unit[120];
	bool same = true;

	for (uint32_t i = 1; i < x->nruns; i++)
		same &= x->run[0].command && x->run[i].command &&
			!strcmp(x->run[0].command, x->run[i].command);
	if (x->run[0].command)
		escape_terminal_into(command, sizeof command, x->run[0].command);
	escape_terminal_into(unit, sizeof unit, scaling_unit(x));
	bytes_printf(b, "%u runs of %s%s: %s scaling by %s\n\n", x->nruns, command,
		     same ? "" : ", or of commands like it", x->weak ? "weak" : "strong", unit);
}

void scaling_text(struct bytes *b, const struct scaling *x, unsigned columns)
{
	char heading[CELL];

	introduce(b, x);
	speed_table(b, x, columns);
	snprintf(heading, CELL, "lost, compared with %.6g", x->step[0].amount);
	if (!isnan(x->step[0].lost_sum)) {
		bytes_puts(b, "\n");
		value_table(b, x, columns, heading, x->nparts + 1, lost_cell);
	}
	if (!isnan(x->step[0].pop[SCALING_PARALLEL])) {
		bytes_puts(b, "\n");
		value_table(b, x, columns, "MPI", SCALING_POP, pop_cell);
	}
	bytes_puts(b, "\n");
	if (!isnan(x->step[0].lost_sum))
		lost_sentence(b, x);
	law_sentences(b, x);
	advice(b, x);
	if (isnan(x->spread))
		bytes_puts(b, "One run each: how much runs vary is not known. Record each two or "
			      "three times.\n");
}

/* ---- JSON ---- */

static void put_fitted(struct json *j, const char *key, const struct fitted *f)
{
	json_key(j, key);
	json_object(j);
	json_put_real(j, "value", f->value);
	json_put_real(j, "low", f->low);
	json_put_real(j, "high", f->high);
	json_object_end(j);
}

static void step_json(struct json *j, const struct scaling *x, const struct scaling_step *s)
{
	json_object(j);
	json_put_real(j, "amount", s->amount);
	json_put_int(j, "runs", s->n);
	put_fitted(j, "wall_seconds", &s->time);
	put_fitted(j, "speedup", &s->speedup);
	put_fitted(j, "efficiency", &s->efficiency);
	json_put_real(j, "core_hours", s->core_hours);
	json_put_real(j, "energy_joules", s->energy_j);
	json_key(j, "lost");
	json_object(j);
	for (uint32_t i = 0; i < ACCOUNT_PARTS; i++)
		json_put_real(j, x->part[i].key, s->lost[i]);
	json_object_end(j);
	json_put_real(j, "lost_all", s->lost_sum);
	json_key(j, "lost_code");
	json_object(j);
	for (uint32_t i = ACCOUNT_PARTS; i < x->nparts; i++)
		json_put_real(j, x->part[i].key, s->lost[i]);
	json_object_end(j);
	json_key(j, "mpi");
	json_object(j);
	for (uint32_t i = 0; i < SCALING_POP; i++)
		json_put_real(j, pop_names[i], s->pop[i]);
	json_object_end(j);
	json_key(j, "recordings");
	json_array(j);
	for (uint32_t i = s->first; i < s->first + s->n; i++)
		json_text(j, x->run[i].path);
	json_array_end(j);
	json_object_end(j);
}

static void law_json(struct json *j, const struct scaling *x)
{
	json_key(j, "law");
	json_object(j);
	json_put_text(j, "name",
		      !x->fit.n          ? NULL
		      : x->weak          ? "doubling"
		      : x->has_crosstalk ? "universal"
					 : "amdahl");
	put_fitted(j, "serial_ratio", &x->serial);
	put_fitted(j, "contention", &x->contention);
	put_fitted(j, "crosstalk", &x->crosstalk);
	put_fitted(j, "slower_per_doubling", &x->doubling);
	json_put_real(j, "fastest_at", x->best);
	json_put_real(j, "p_misfit", x->p_misfit);
	json_object_end(j);
}

void scaling_json(struct bytes *b, const struct scaling *x)
{
	struct json j = { .out = b, .indent = true };

	json_object(&j);
	json_put_text(&j, "schema", "sonde/scale/1");
	json_put_text(&j, "by", by_names[x->by]);
	json_put_text(&j, "unit", scaling_unit(x));
	json_put_bool(&j, "weak", x->weak);
	json_put_real(&j, "spread_of_one_run", x->spread);
	json_put_real(&j, "cores_per_unit", x->cores_per_unit);
	json_key(&j, "steps");
	json_array(&j);
	for (uint32_t i = 0; i < x->nsteps; i++)
		step_json(&j, x, &x->step[i]);
	json_array_end(&j);
	law_json(&j, x);
	json_key(&j, "next");
	json_object(&j);
	json_put_real(&j, "amount", x->next);
	put_fitted(&j, "wall_seconds", &x->next_time);
	json_object_end(&j);
	json_put_real(&j, "least_efficiency", x->wanted);
	json_put_real(&j, "ask_for", x->step[x->ask].amount);
	json_object_end(&j);
	bytes_puts(b, "\n");
}

/* ---- chart ---- */

static void curve(struct bytes *d, const struct panel *p, const struct scaling *x,
		  double (*speedup)(const struct scaling *x, double amount), const struct pen *pen)
{
	enum { POINTS = 64 };
	struct point at[POINTS];
	double from = x->step[0].amount, to = x->step[x->nsteps - 1].amount;

	for (uint32_t i = 0; i < POINTS; i++) {
		double amount = from * pow(to / from, i / (POINTS - 1.0));

		at[i] = (struct point){ axis_place(&p->x, amount),
					axis_place(&p->y, speedup(x, amount)) };
	}
	shape_line(d, pen, at, POINTS);
}

/* From value to value, with ticks at doublings. */
static void doublings(struct axis *a, double from, double to)
{
	unsigned every = 1;

	axis_of_values(a, UNIT_ONE, from, to, true);
	a->from = from;
	a->to = to;
	while (log2(to / from) / every >= AXIS_TICKS)
		every++;
	a->nticks = 0;
	for (double at = from; at <= to * (1 + 1e-9) && a->nticks < AXIS_TICKS;
	     at *= pow(2, every)) {
		a->tick[a->nticks] = at;
		snprintf(a->label[a->nticks++], AXIS_LABEL, "%.4g", at);
	}
}

static double ideal(const struct scaling *x, double amount)
{
	return amount / x->step[0].amount;
}

static double time_at(const struct scaling *x, double p)
{
	const double *c = x->fit.c;

	if (x->weak)
		return c[0] + c[1] * log2(p);
	return x->has_crosstalk ? (c[0] + c[1] * (p - 1) + c[2] * p * (p - 1)) / p
				: c[0] + c[1] / p;
}

static double by_law(const struct scaling *x, double amount)
{
	double more = x->weak ? amount / x->step[0].amount : 1;

	return x->step[0].time.value / time_at(x, amount) * more;
}

static void draw_step(struct bytes *d, const struct panel *p, const struct scaling_step *s)
{
	const struct pen pen = { .colour = colour_series(0), .width = 1 };
	double at = axis_place(&p->x, s->amount), y = axis_place(&p->y, s->speedup.value);

	shape_box(d, &(struct box){ at - 1.5, y - 1.5, 3, 3 }, pen.colour);
	if (!isnan(s->speedup.low))
		shape_line(d, &pen,
			   (const struct point[]){ { at, axis_place(&p->y, s->speedup.low) },
						   { at, axis_place(&p->y, s->speedup.high) } },
			   2);
}

void scaling_draw(struct bytes *d, const struct scaling *x, double width, double height)
{
	const struct pen line = { .colour = COLOUR_AXIS, .width = 1, .dash = DASH_LONG };
	const struct pen law = { .colour = colour_series(1), .width = 1.2 };
	const struct legend_entry entry[] = {
		{ "measured", colour_series(0), DASH_NONE, true },
		{ "ideal", COLOUR_AXIS, DASH_LONG, false },
		{ x->weak            ? "fitted"
		  : x->has_crosstalk ? "universal scalability law"
				     : "Amdahl's law",
		  colour_series(1), DASH_NONE, false },
	};
	double most = ideal(x, x->step[x->nsteps - 1].amount), least = 1;
	struct panel p;

	for (uint32_t i = 0; i < x->nsteps; i++) {
		most = fmax(most, x->step[i].speedup.value);
		least = fmin(least, x->step[i].speedup.value);
	}
	shape_page(d, width, height);
	panel_begin(d, &p, &(struct box){ 12, 12, width - 24, height - 24 }, "Speed-up",
		    x->weak ? "of a problem that grows with them" : "");
	doublings(&p.x, x->step[0].amount, x->step[x->nsteps - 1].amount);
	doublings(&p.y, least, most);
	panel_legend(d, &p, entry, x->fit.n ? 3 : 2);
	panel_axes(d, &p, scaling_unit(x));
	curve(d, &p, x, ideal, &line);
	if (x->fit.n)
		curve(d, &p, x, by_law, &law);
	for (uint32_t i = 0; i < x->nsteps; i++)
		draw_step(d, &p, &x->step[i]);
	shape_end(d);
}
