/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/timing.h"

#include "base/clock.h"
#include "base/random.h"
#include "base/text/decimal.h"
#include "console/command.h"
#include "report/comparison/comparison.h"
#include "trial/scripted.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { LEAST = 10, SHELL_FIRST = 5, SEED = 20261127, WORDS = 256 };
/* Modified z-scores beyond which a value is an outlier, as hyperfine has it (Iglewicz, Hoaglin). */
static const double outlier_score = 14.826;
/* Of the shell's time: what takes less beside it cannot be measured. */
static const double least_share = 0.25;

static int no_memory(struct err *e)
{
	return err_set(e, -ENOMEM, "out of memory for the runs of commands");
}

bool timing_is_asked(const struct timing_options *o)
{
	return o->runs || o->until;
}

const char *timing_letter(uint32_t i, char out[8])
{
	if (i < 26)
		snprintf(out, 8, "%c", 'A' + (int)i);
	else
		snprintf(out, 8, "%c%c", 'A' + (int)(i / 26) - 1, 'A' + (int)(i % 26));
	return out;
}

/* ---- commands ---- */

struct axis {
	const char *name;
	const char *value[TIMING_COMMANDS];
	uint32_t n;
};

static int scan_axis(struct timing *t, struct axis *x, const char *from, const char *to,
		     struct err *e)
{
	char text[40];
	double low = decimal_of(from), high = decimal_of(to), step = t->o->step, many;

	if (!(low <= high))
		return err_set(e, -EINVAL,
			       "-P %.40s takes two numbers, the smaller one first, not '%.40s' "
			       "and '%.40s'",
			       x->name, from, to);
	many = step > 0 ? floor((high - low) / step + 1e-9) + 1 : INFINITY;
	if (many > TIMING_COMMANDS)
		return err_set(e, -EINVAL, "-P %.40s: more than %d commands", x->name,
			       TIMING_COMMANDS);
	for (x->n = 0; x->n < (uint32_t)many; x->n++) {
		decimal_print(text, sizeof text, "%.12g", low + x->n * step);
		x->value[x->n] = pool_text(&t->pool, text, strlen(text));
		if (!x->value[x->n])
			return no_memory(e);
	}
	return 0;
}

static int list_axis(struct timing *t, struct axis *x, const char *list, struct err *e)
{
	for (const char *at = list;; at += strcspn(at, ",") + 1) {
		size_t n = strcspn(at, ",");

		if (x->n == TIMING_COMMANDS)
			return err_set(e, -EINVAL, "-L %.40s: more than %d commands", x->name,
				       TIMING_COMMANDS);
		x->value[x->n] = pool_text(&t->pool, at, n);
		if (!x->value[x->n++])
			return no_memory(e);
		if (!at[n])
			return 0;
	}
}

/* The command with {VAR} replaced. */
static const char *replaced(struct timing *t, const char *text, const struct axis *axis,
			    const uint32_t *at)
{
	struct bytes b = { 0 };
	const char *kept;

	while (*text) {
		uint32_t i = 0;
		size_t n = 0;

		for (; i < t->nparameters; i++) {
			n = strlen(axis[i].name);
			if (*text == '{' && !strncmp(text + 1, axis[i].name, n) &&
			    text[n + 1] == '}')
				break;
		}
		if (i < t->nparameters) {
			bytes_puts(&b, axis[i].value[at[i]]);
			text += n + 2;
		} else {
			bytes_u8(&b, (uint8_t)*text++);
		}
	}
	kept = b.failed ? NULL : pool_text(&t->pool, b.len ? (const char *)b.data : "", b.len);
	bytes_free(&b);
	return kept;
}

/* Each command with each combination of values. */
static int add_command(struct timing *t, const char *text, const struct axis *axis, struct err *e)
{
	uint32_t at[TIMING_PARAMETERS] = { 0 }, i;

	do {
		struct timed *c = &t->command[t->n];

		if (t->n == TIMING_COMMANDS)
			return err_set(e, -EINVAL, "more than %d commands", TIMING_COMMANDS);
		*c = (struct timed){ .command = replaced(t, text, axis, at),
				     .ratio = NAN,
				     .low = NAN,
				     .high = NAN };
		for (i = 0; i < t->nparameters; i++)
			c->parameter[i] = axis[i].value[at[i]];
		if (!c->command)
			return no_memory(e);
		t->n++;
		for (i = t->nparameters; i > 0; i--) {
			if (++at[i - 1] < axis[i - 1].n)
				break;
			at[i - 1] = 0;
		}
	} while (i > 0);
	return 0;
}

static int read_axes(struct timing *t, struct axis *axis, int noperands, char **operands, int *used,
		     struct err *e)
{
	const struct option_list *scan = &t->o->scan, *list = &t->o->list;
	uint32_t n = scan->n + list->n;
	int rc = 0;

	*used = (int)(2 * scan->n + list->n);
	if (scan->n && list->n)
		return err_set(e, -EINVAL, "use either -P or -L");
	if (n > TIMING_PARAMETERS)
		return err_set(e, -EINVAL, "more than %d parameters", TIMING_PARAMETERS);
	if (*used >= noperands && n)
		return err_set(e, -EINVAL,
			       "-P takes a name and two numbers, -L a name and values; commands "
			       "follow: sonde compare -n 10 -P threads 1 8 -- './work {threads}'");
	for (uint32_t i = 0; i < n && !rc; i++) {
		axis[i].name = scan->n ? scan->text[i] : list->text[i];
		t->name[i] = axis[i].name;
		rc = scan->n ? scan_axis(t, &axis[i], operands[2 * i], operands[2 * i + 1], e)
			     : list_axis(t, &axis[i], operands[i], e);
	}
	t->nparameters = n;
	return rc;
}

int timing_read(struct timing *t, const struct timing_options *o, double margin, int noperands,
		char **operands, struct err *e)
{
	struct axis axis[TIMING_PARAMETERS] = { 0 };
	bool relative = true;
	int used = 0, rc;

	*t = (struct timing){ .o = o, .margin = margin, .estimate_s = NAN };
	if (o->until && !comparison_number(o->until, &t->until, &relative))
		return err_set(e, -EINVAL, "option --until takes a share such as 1%%, not '%.80s'",
			       o->until);
	t->until /= relative ? 1 : 100;
	if (o->until && !(t->until > 0 && t->until < 1))
		return err_set(e, -EINVAL, "option --until takes a share such as 1%%, not '%.80s'",
			       o->until);
	rc = read_axes(t, axis, noperands, operands, &used, e);
	if (!rc && used == noperands)
		rc = err_set(e, -EINVAL,
			     "no command given: sonde compare -n 10 -- 'COMMAND' 'COMMAND'");
	for (int i = used; i < noperands && !rc; i++)
		rc = add_command(t, operands[i], axis, e);
	return rc;
}

void timing_free(struct timing *t)
{
	for (uint32_t i = 0; i < t->n; i++) {
		free(t->command[i].wall);
		free(t->command[i].at);
	}
	free(t->shell);
	pool_free(&t->pool);
	*t = (struct timing){ 0 };
}

/* ---- a run ---- */

/* text: its copy is cut into words. False: more than fit. */
static bool split(char *text, char *argv[WORDS])
{
	char *save = NULL, *word = strtok_r(text, " \t\n", &save);
	size_t n = 0;

	for (; word && n < WORDS - 1; word = strtok_r(NULL, " \t\n", &save))
		argv[n++] = word;
	argv[n] = NULL;
	return n && !word;
}

/* Through the shell, unless there is none. */
static int run_text(const struct timing *t, const char *text, bool shell, struct scripted *r,
		    struct err *e)
{
	static char option[] = "-c";
	char *copy = strdup(text), *argv[WORDS] = { (char *)t->o->shell, option, copy, NULL };
	const struct scripted_wish w = { .argv = argv, .discards = true };
	int rc = 0;

	*r = (struct scripted){ .load_1m = NAN };
	if (!copy)
		return no_memory(e);
	if (!shell && !split(copy, argv))
		rc = err_set(e, -EINVAL, "'%.100s': no words, or more than %d", text, WORDS - 1);
	if (!rc)
		rc = scripted_run(r, &w, e);
	free(copy);
	return rc;
}

/* Of what only has to happen. */
static int run_aside(const struct timing *t, const char *what, const char *text, struct err *e)
{
	struct scripted r;
	char why[600] = "";
	int rc;

	if (!text)
		return 0;
	rc = run_text(t, text, true, &r, e);
	if (!rc && scripted_failed(&r, why, sizeof why)) {
		scripted_last_words(&r, why, sizeof why);
		rc = err_set(e, -ECANCELED, "%s '%.200s': %.600s", what, text, why);
	}
	scripted_free(&r);
	return rc;
}

static double seconds(struct timeval v)
{
	return (double)v.tv_sec + (double)v.tv_usec / 1e6;
}

static void take(struct timed *c, const struct scripted_report *p)
{
	uint32_t i = c->n++;

	c->wall[i] = (double)p->end.wall_ns / 1e9;
	c->user[i] = seconds(p->end.usage.ru_utime);
	c->system[i] = seconds(p->end.usage.ru_stime);
	c->memory[i] = 1024.0 * (double)p->end.usage.ru_maxrss;
	c->at[i] = p->start_utc_ns;
	c->code[i] = WIFEXITED(p->end.status) ? WEXITSTATUS(p->end.status)
					      : 128 + WTERMSIG(p->end.status);
}

/* keep: with its figures. */
static int run_command(struct timing *t, struct timed *c, bool keep, struct err *e)
{
	struct scripted r;
	char why[600] = "";
	int rc = run_aside(t, "--prepare", t->o->prepare, e);

	if (rc)
		return rc;
	rc = run_text(t, c->command, !t->o->no_shell, &r, e);
	if (!rc && (!r.reported || r.report.code)) {
		scripted_failed(&r, why, sizeof why);
		rc = err_set(e, -ECANCELED, "%.200s: %.600s", c->command, why);
	} else if (!rc && r.report.end.status && !t->o->ignore_failure) {
		scripted_failed(&r, why, sizeof why);
		scripted_last_words(&r, why, sizeof why);
		rc = err_set(e, -ECANCELED, "%.200s: %.500s; -i ignores that", c->command, why);
	} else if (!rc && keep) {
		take(c, &r.report);
	}
	scripted_free(&r);
	return rc;
}

static int run_shell(struct timing *t, double *s, struct err *e)
{
	struct scripted r;
	char why[600] = "";
	int rc;

	*s = 0;
	if (t->o->no_shell)
		return 0;
	rc = run_text(t, "", true, &r, e);
	if (!rc && scripted_failed(&r, why, sizeof why))
		rc = err_set(e, -ECANCELED, "the shell '%.100s' does not work: %.600s", t->o->shell,
			     why);
	if (!rc)
		*s = (double)r.report.end.wall_ns / 1e9;
	scripted_free(&r);
	return rc;
}

/* ---- rounds ---- */

static int make_room(struct timing *t, uint32_t most, struct err *e)
{
	t->shell = calloc(most, sizeof *t->shell);
	for (uint32_t i = 0; i < t->n && t->shell; i++) {
		struct timed *c = &t->command[i];

		c->wall = calloc(4 * (size_t)most, sizeof *c->wall);
		c->at = calloc(2 * (size_t)most, sizeof *c->at);
		if (!c->wall || !c->at)
			return no_memory(e);
		c->user = c->wall + most;
		c->system = c->user + most;
		c->memory = c->system + most;
		c->code = c->at + most;
	}
	return t->shell ? 0 : no_memory(e);
}

/* Each of them, and the shell alone, once. */
static int run_round(struct timing *t, struct random *r, struct err *e)
{
	uint32_t order[TIMING_COMMANDS + 1], n = t->n + 1;
	int rc = 0;

	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	for (uint32_t i = n; i > 1; i--) {
		uint32_t k = (uint32_t)(random_unit(r) * i), last = order[i - 1];

		order[i - 1] = order[k];
		order[k] = last;
	}
	for (uint32_t i = 0; i < n && !rc; i++)
		rc = order[i] < t->n ? run_command(t, &t->command[order[i]], true, e)
				     : run_shell(t, &t->shell[t->rounds], e);
	t->rounds += !rc;
	return rc;
}

static double middle_of(const double *value, uint32_t n)
{
	double *room = calloc(n + 1u, sizeof *room), middle = NAN;

	if (room) {
		memcpy(room, value, n * sizeof *room);
		sort_values(room, n);
		middle = quantile_of(room, n, 0.5);
	}
	free(room);
	return middle;
}

static void count_outliers(struct timed *c, double middle)
{
	double *away = calloc(c->n + 1u, sizeof *away), mad;

	c->noutliers = 0;
	for (uint32_t i = 0; i < c->n && away; i++)
		away[i] = fabs(c->wall[i] - middle);
	mad = away ? middle_of(away, c->n) : (double)NAN;
	for (uint32_t i = 0; i < c->n && away && mad > 0; i++)
		c->noutliers += 0.6745 * away[i] / mad > outlier_score;
	free(away);
}

double timing_seconds(const struct timing *t, double wall)
{
	/* A shell that was slow once makes no command take less than nothing. */
	return t->too_short ? wall : fmax(wall - t->shell_s, t->shell_s * least_share);
}

/* out [n]: logarithms of times without the shell's. */
static void take_logarithms(const struct timing *t, const struct timed *c, double *out)
{
	for (uint32_t i = 0; i < c->n; i++)
		out[i] = log(timing_seconds(t, c->wall[i]));
}

static int compare_with_fastest(struct timing *t, struct timed *c)
{
	const struct timed *f = &t->command[t->fastest];
	const struct compare_wish w = { .margin_absolute = log1p(t->margin), .level = 0.95 };
	double *v = calloc(2 * (size_t)c->n + 1, sizeof *v);
	int rc = v ? 0 : -ENOMEM;

	if (!rc) {
		take_logarithms(t, f, v);
		take_logarithms(t, c, v + c->n);
		rc = compare_groups(&c->against, &(struct sample_group){ v, f->at, f->n },
				    &(struct sample_group){ v + c->n, c->at, c->n }, &w);
		c->ratio = exp(c->against.difference);
		c->low = exp(c->against.low);
		c->high = exp(c->against.high);
	}
	free(v);
	return rc;
}

/* What is known after so many rounds. */
static int look(struct timing *t, struct err *e)
{
	int rc = 0;

	t->shell_s = t->o->no_shell ? 0 : middle_of(t->shell, t->rounds);
	t->too_short = false;
	for (uint32_t i = 0; i < t->n && !t->o->no_shell; i++)
		t->too_short |= !(middle_of(t->command[i].wall, t->command[i].n) - t->shell_s >
				  t->shell_s * least_share);
	t->fastest = 0;
	for (uint32_t i = 0; i < t->n; i++) {
		struct timed *c = &t->command[i];
		double middle = middle_of(c->wall, c->n), *room = calloc(c->n, sizeof *room);

		for (uint32_t k = 0; k < c->n && room; k++)
			room[k] = timing_seconds(t, c->wall[k]);
		if (!room)
			return no_memory(e);
		c->d = describe(room, c->n);
		free(room);
		count_outliers(c, middle);
		if (c->d.median < t->command[t->fastest].d.median)
			t->fastest = i;
	}
	for (uint32_t i = 0; i < t->n && !rc; i++)
		if (i != t->fastest)
			rc = compare_with_fastest(t, &t->command[i]);
	return rc ? no_memory(e) : 0;
}

static bool is_narrow(const struct timing *t)
{
	for (uint32_t i = 0; i < t->n; i++) {
		const struct timed *c = &t->command[i];

		if (i != t->fastest &&
		    !(c->high / c->ratio - 1 <= t->until && 1 - c->low / c->ratio <= t->until))
			return false;
	}
	/* One alone: the interval of its mean. */
	return t->n > 1 || 2 * t->command[0].d.sem <= t->until * t->command[0].d.mean;
}

static int run_rounds(struct timing *t, uint32_t least, uint32_t most, struct err *e)
{
	struct random r = { .state = SEED };
	int64_t begin = clock_mono_ns();
	bool enough = false;
	int rc = 0;

	while (!rc && !enough) {
		rc = run_round(t, &r, e);
		if (!rc && t->rounds == 1) {
			t->estimate_s = (double)(clock_mono_ns() - begin) / 1e9 * least;
			if (t->estimate_s > 3)
				say("compare: %u rounds take about %.0f s", least, t->estimate_s);
		}
		enough = t->rounds >= least;
		if (!rc && enough)
			rc = look(t, e);
		if (!rc && enough && t->until > 0)
			enough = t->rounds >= most || is_narrow(t);
	}
	return rc;
}

int timing_run(struct timing *t, struct err *e)
{
	uint32_t least = t->o->runs ? (uint32_t)t->o->runs : LEAST;
	uint32_t most = t->until > 0 && t->o->most > least ? (uint32_t)t->o->most : least;
	double ignored;
	int rc = make_room(t, most, e);

	for (int i = 0; i < SHELL_FIRST && !rc; i++)
		rc = run_shell(t, &ignored, e);
	for (uint32_t i = 0; i < t->n && !rc; i++) {
		rc = run_aside(t, "--setup", t->o->setup, e);
		for (int64_t k = 0; k < t->o->warmup && !rc; k++)
			rc = run_command(t, &t->command[i], false, e);
	}
	if (!rc)
		rc = run_rounds(t, least, most, e);
	for (uint32_t i = 0; i < t->n && !rc; i++)
		rc = run_aside(t, "--cleanup", t->o->cleanup, e);
	return rc;
}
