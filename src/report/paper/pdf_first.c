/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_first.c - the first page of the report on paper: what a reader needs who turns no page. */
#include "base/clock.h"
#include "base/text/decimal.h"
#include "chart/svg.h"
#include "report/lines.h"
#include "report/machine.h"
#include "report/page/page_html.h"
#include "report/page/page_series.h"
#include "report/paper/pdf.h"
#include "report/steps/steps.h"
#include "report/summary/code.h"
#include "report/summary/ending.h"
#include "report/summary/filesused.h"
#include "report/summary/mpi.h"
#include "report/summary/path.h"
#include "report/summary/peersused.h"
#include "report/summary/touched.h"
#include "report/summary/waittime.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
	LEFT = PDF_MARGIN,
	WIDTH = PDF_WIDTH - 2 * PDF_MARGIN,
	TITLE = 15,
	BODY = 9,
	SMALL = 8,
	TILES = 4,
	TILE_GAP = 9,
	TILE_HEIGHT = 74,
	MACHINES_NAMED = 3,
	OVERVIEW_HEIGHT = 210,
	BAR_HEIGHT = 13,
	LEGEND_LINE = 12,
	CODE_KINDS = 8,
	CODE_FUNCTIONS = 10,
	ROWS = 5,
	TEXT_MAX = 1024
};

static const struct {
	const char *word;
	uint32_t colour;
} looks[] = {
	[SEVERITY_NOTE] = { "Note", 0x1d5a8a },           [SEVERITY_GOOD] = { "Good", 0x1a7a4c },
	[SEVERITY_WARN] = { "Warning", 0x9a5b00 },        [SEVERITY_BAD] = { "Problem", 0xb3261e },
	[SEVERITY_CANNOT_TELL] = { "Unknown", 0x6b4a86 },
};
_Static_assert(sizeof looks / sizeof looks[0] == SEVERITY_NUMBER_OF, "a look for every severity");

static const struct lettering body = { .size = BODY, .colour = COLOUR_INK };
static const struct lettering soft = { .size = SMALL, .colour = COLOUR_SOFT };

/* A paragraph at y; y below it. */
static double paragraph(struct bytes *d, const struct lettering *l, double y, uint32_t lines,
			const char *text)
{
	struct box at = { LEFT, y + l->size, WIDTH, l->size * 1.35 };

	return y + at.h * text_wrap(d, l, &at, lines, text);
}

static void words_of_ending(const struct summary *s, char *out, size_t size)
{
	const struct ending_heading h = ending_heading_of(s);
	char wall[64];
	int n = snprintf(out, size, "%s", h.words);

	if (!isnan(s->wall_s))
		snprintf(out + n, size - (size_t)n, "%s %s %s", h.joint, h.time,
			 unit_format(UNIT_SECONDS, s->wall_s, wall, sizeof wall));
}

static void words_of_hosts(const struct summary *s, char *out, size_t size)
{
	uint32_t named = 0;
	int n = snprintf(out, size, s->nhosts == 1 ? "On " : "%u nodes: ", s->nhosts);

	for (uint32_t i = 0; i < s->nnodes && named < SUMMARY_HOSTS_NAMED; i++)
		if (!s->nodes[i].again)
			n += snprintf(out + n, size - (size_t)n, "%s%.64s", named++ ? ", " : "",
				      s->nodes[i].host ? s->nodes[i].host : "?");
	if (s->nhosts > SUMMARY_HOSTS_NAMED)
		snprintf(out + n, size - (size_t)n, " and %u more",
			 s->nhosts - SUMMARY_HOSTS_NAMED);
}

static double machines(struct bytes *d, const struct plots *p, double y)
{
	struct machines x;
	char text[TEXT_MAX];

	if (machines_make(&x, p->run)) {
		d->failed = true;
		return y;
	}
	for (uint32_t i = 0; i < x.n && i < MACHINES_NAMED; i++) {
		if (x.row[i].nodes > 1)
			snprintf(text, sizeof text, "%u nodes: %.900s", x.row[i].nodes,
				 x.row[i].words);
		else
			snprintf(text, sizeof text, "%.900s", x.row[i].words);
		y = paragraph(d, &soft, y, 2, text);
	}
	machines_free(&x);
	return y;
}

static double tasks(struct bytes *d, const struct summary *s, double y)
{
	struct bytes words = { 0 };

	bytes_puts(&words, "Tasks: ");
	summary_tasks_words(s, &words);
	bytes_u8(&words, '\0');
	if (s->ntasks > 1 && !words.failed)
		y = paragraph(d, &body, y, 3, (const char *)words.data);
	d->failed |= words.failed;
	bytes_free(&words);
	return y;
}

static double losses(struct bytes *d, const struct summary *s, double y)
{
	struct bytes words = { 0 };

	bytes_puts(&words, "Losses: ");
	losses_words(&s->losses, false, &words);
	bytes_u8(&words, '\0');
	if (words.len > sizeof "Losses: " && !words.failed)
		y = paragraph(d, &body, y, 2, (const char *)words.data);
	d->failed |= words.failed;
	bytes_free(&words);
	return y;
}

/* What ran, how it ended, where, when. */
static double what_and_where(struct bytes *d, const struct plots *p, double y)
{
	const struct lettering title = { .size = TITLE, .colour = COLOUR_INK, .bold = true };
	const struct lettering strong = { .size = BODY, .colour = COLOUR_INK, .bold = true };
	const char *name = run_find_text(p->run, 0, "job.name");
	const struct summary *s = p->summary;
	char text[TEXT_MAX], iso[48];

	y = paragraph(d, &title, y, 2, name ? name : s->command ? s->command : "A recorded job");
	y += 3;
	if (name && s->command)
		y = paragraph(d, &body, y, 2, s->command);
	words_of_ending(s, text, sizeof text);
	y = paragraph(d, &strong, y, 1, text);
	words_of_hosts(s, text, sizeof text);
	y = paragraph(d, &body, y, 2, text);
	y = tasks(d, s, y);
	if (s->start_utc_ns > 0) {
		clock_iso(s->start_utc_ns / NS_PER_S * NS_PER_S, iso, sizeof iso);
		snprintf(text, sizeof text, "Started %.10s %.8s UTC", iso,
			 strlen(iso) > 11 ? iso + 11 : "");
		y = paragraph(d, &body, y, 1, text);
	}
	return machines(d, p, losses(d, s, y));
}

/* A figure: what, how much, of how much, and a bar of that. */
struct tile {
	const char *label;
	char value[64], of[128];
	double share; /* NAN: none */
};

static void draw_tile(struct bytes *d, const struct tile *t, unsigned i, double y)
{
	const struct lettering label = { .size = SMALL, .colour = COLOUR_SOFT };
	const struct lettering value = { .size = 15, .colour = COLOUR_INK, .bold = true };
	const double w = (WIDTH - (TILES - 1) * TILE_GAP) / (double)TILES;
	const struct box at = { LEFT + i * (w + TILE_GAP), y, w, TILE_HEIGHT };
	const struct box of = { at.x + 7, y + 56, w - 14, 9.5 };
	char fit[96];

	shape_box(d, &at, 0xf3f5f7);
	shape_text(d, &label, (struct point){ at.x + 7, y + 14 },
		   text_fit(t->label, &label, w - 14, fit, sizeof fit));
	shape_text(d, &value, (struct point){ at.x + 7, y + 33 },
		   text_fit(t->value, &value, w - 14, fit, sizeof fit));
	if (!isnan(t->share)) {
		shape_box(d, &(struct box){ at.x + 7, y + 39, w - 14, 4 }, 0xd5dbe1);
		shape_box(
			d,
			&(struct box){ at.x + 7, y + 39, (w - 14) * fmin(fmax(t->share, 0), 1), 4 },
			colour_series(0));
	}
	text_wrap(d, &(struct lettering){ .size = 7, .colour = COLOUR_SOFT }, &of, 2, t->of);
}

static void put_unknown(struct tile *t)
{
	snprintf(t->value, sizeof t->value, "-");
	snprintf(t->of, sizeof t->of, "not known");
}

static void fill_cores(struct tile *t, const struct summary *s)
{
	struct summary_whole whole = summary_cores(s);
	char a[CELL];

	t->label = "Cores used, on average";
	t->share = s->cores_used_mean / whole.v;
	if (isnan(s->cores_used_mean))
		put_unknown(t);
	else
		snprintf(t->value, sizeof t->value, "%s", cell_cores(a, s->cores_used_mean));
	if (!isnan(t->share))
		snprintf(t->of, sizeof t->of, "of %.6g %s (%s)", whole.v, whole.words,
			 cell_share(a, t->share));
}

/* On several nodes the one that came nearest to its limit says more than a sum of sums. */
static void add_tightest(struct tile *t, const struct summary *s)
{
	struct bytes words = { 0 };

	summary_tightest_words(s, &words);
	bytes_u8(&words, '\0');
	if (words.len > 1 && !words.failed)
		snprintf(t->of, sizeof t->of, "of all; %.100s", (const char *)words.data);
	bytes_free(&words);
}

static void fill_memory(struct tile *t, const struct summary *s)
{
	struct summary_whole whole = summary_memory(s);
	struct summary_memory_kind kind = summary_memory_kind(s);
	char of[64];

	t->label = s->peak_memory_is_bound                          ? "Peak memory, at least"
		   : s->peak_memory_at_most <= s->peak_memory_bytes ? "Peak memory, at most"
								    : "Peak memory";
	t->share = s->peak_memory_bytes / whole.v;
	if (isnan(s->peak_memory_bytes))
		put_unknown(t);
	else
		unit_format(UNIT_BYTES, s->peak_memory_bytes, t->value, sizeof t->value);
	if (!isnan(t->share))
		snprintf(t->of, sizeof t->of, "of %s %s%s%s",
			 unit_format(UNIT_BYTES, whole.v, of, sizeof of), whole.words,
			 kind.brief ? "; " : "", kind.brief ? kind.brief : "");
	if (s->peak_memory_at_most > s->peak_memory_bytes)
		decimal_append(t->of, sizeof t->of, "; at most %s",
			       unit_format(UNIT_BYTES, s->peak_memory_at_most, of, sizeof of));
	add_tightest(t, s);
}

static void fill_cpu(struct tile *t, const struct summary *s)
{
	char a[32], b[32];

	t->label = s->cpu_is_bound ? "CPU time, at least" : "CPU time";
	t->share = NAN;
	if (isnan(s->cpu_s)) {
		put_unknown(t);
		return;
	}
	unit_format(UNIT_SECONDS, s->cpu_s, t->value, sizeof t->value);
	if (!isnan(s->cpu_user_s) && !isnan(s->cpu_system_s))
		snprintf(t->of, sizeof t->of, "%s user, %s system",
			 unit_format(UNIT_SECONDS, s->cpu_user_s, a, sizeof a),
			 unit_format(UNIT_SECONDS, s->cpu_system_s, b, sizeof b));
}

/* Energy where it was measured, else what was read and written. */
static void fill_energy_or_io(struct tile *t, const struct summary *s)
{
	char a[32], b[32];

	t->share = NAN;
	if (s->energy_of) {
		t->label = "Energy";
		unit_format(UNIT_JOULES, s->energy_j, t->value, sizeof t->value);
		snprintf(t->of, sizeof t->of, "measured: %.80s, by all users", s->energy_of);
		return;
	}
	t->label = s->io_is_bound ? "Read and written, at least" : "Read and written";
	if (isnan(s->read_bytes) || isnan(s->written_bytes)) {
		put_unknown(t);
		return;
	}
	unit_format(UNIT_BYTES, s->read_bytes + s->written_bytes, t->value, sizeof t->value);
	snprintf(t->of, sizeof t->of, "%s read, %s written",
		 unit_format(UNIT_BYTES, s->read_bytes, a, sizeof a),
		 unit_format(UNIT_BYTES, s->written_bytes, b, sizeof b));
}

static double four_figures(struct bytes *d, const struct summary *s, double y)
{
	static void (*const fillers[TILES])(struct tile *, const struct summary *) = {
		fill_cores, fill_memory, fill_cpu, fill_energy_or_io
	};

	for (unsigned i = 0; i < TILES; i++) {
		struct tile t = { .share = NAN };

		fillers[i](&t, s);
		draw_tile(d, &t, i, y);
	}
	return y + TILE_HEIGHT;
}

/* The legend below the bar: the parts one behind the other, in lines. y below it. */
static double account_legend(struct bytes *d, const struct account *a, double y)
{
	int percent[ACCOUNT_PARTS];
	double x = LEFT;
	char text[160];

	account_percent(a, percent);
	for (int i = 0; i < ACCOUNT_PARTS; i++) {
		double width;

		if (!(a->part_s[i] > 0))
			continue;
		snprintf(text, sizeof text, "%s%d %% %s", percent[i] ? "" : "under ",
			 percent[i] ? percent[i] : 1, account_rows[i].label);
		width = 11 + text_width(text, SMALL, false) + 12;
		if (x > LEFT && x + width > LEFT + WIDTH + 12) {
			x = LEFT;
			y += LEGEND_LINE;
		}
		shape_box(d, &(struct box){ x, y - 6.5, 7, 7 }, colour_named(account_colours[i]));
		shape_text(d, &soft, (struct point){ x + 11, y }, text);
		x += width;
	}
	return y + LEGEND_LINE;
}

/* Where the time went, as on the page. */
static double time_bar(struct bytes *d, const struct summary *s, double y)
{
	const struct lettering heading = { .size = 11, .colour = COLOUR_INK, .bold = true };
	const struct account *a = &s->account;
	char text[160], wall[32], whole[32];
	double x = LEFT;

	if (!(a->whole_s > 0))
		return y;
	y = paragraph(d, &heading, y, 1, "Where the time went");
	snprintf(text, sizeof text, "%s on %.4g core%s: %s of core time",
		 unit_format(UNIT_SECONDS, a->wall_s, wall, sizeof wall), a->cores,
		 a->cores == 1 ? "" : "s",
		 unit_format(UNIT_SECONDS, a->whole_s, whole, sizeof whole));
	y = paragraph(d, &soft, y, 1, text) + 3;
	for (int i = 0; i < ACCOUNT_PARTS; i++) {
		double w = WIDTH * a->part_s[i] / a->whole_s;

		if (!(w > 0))
			continue;
		shape_box(d, &(struct box){ x, y, w, BAR_HEIGHT },
			  colour_named(account_colours[i]));
		x += w;
	}
	return account_legend(d, a, y + BAR_HEIGHT + LEGEND_LINE) + 4;
}

static double code_words(struct bytes *d, const struct code *code, double y)
{
	struct bytes kinds = { 0 }, functions = { 0 }, python = { 0 };

	code_classes_words(code, CODE_KINDS, &kinds);
	code_functions_words(code, CODE_FUNCTIONS, &functions);
	code_python_words(code, CODE_FUNCTIONS, &python);
	if (python.len) {
		bytes_puts(&functions, functions.len ? ". " : "");
		bytes_put(&functions, python.data, python.len);
	}
	bytes_u8(&kinds, '\0');
	bytes_u8(&functions, '\0');
	if (!kinds.failed)
		y = paragraph(d, &body, y, 2, (const char *)kinds.data);
	if (functions.len > 1 && !functions.failed)
		y = paragraph(d, &soft, y, 4, (const char *)functions.data);
	d->failed |= kinds.failed || functions.failed || python.failed;
	bytes_free(&python);
	bytes_free(&kinds);
	bytes_free(&functions);
	return y;
}

/* Kinds of code and the functions of the most time; nothing where nobody asked for it. */
static double code(struct bytes *d, const struct summary *s, double y)
{
	const struct lettering heading = { .size = 11, .colour = COLOUR_INK, .bold = true };
	char text[TEXT_MAX];

	if (!s->code || !code_says_something(s->code))
		return y;
	y = paragraph(d, &heading, y, 1, "Which code used the CPU") + 2;
	if (s->code->stacks)
		return code_words(d, s->code, y) + 4;
	snprintf(text, sizeof text, "Not sampled: %.900s",
		 s->code->gaps.refused ? s->code->gaps.refused : "nothing is known");
	return paragraph(d, &body, y, 2, text) + 4;
}

/* A part of a few lines of words, which are freed; without any, why there are none, or nothing. */
static double part(struct bytes *d, const char *title, struct bytes *words, const char *refused,
		   double y)
{
	const struct lettering heading = { .size = 11, .colour = COLOUR_INK, .bold = true };

	if (!words->len && refused)
		bytes_printf(words, "Not recorded: %.900s", refused);
	if (!words->len)
		return y;
	y = paragraph(d, &heading, y, 1, title) + 2;
	bytes_u8(words, '\0');
	d->failed |= words->failed;
	if (!words->failed)
		y = paragraph(d, &body, y, 4, (const char *)words->data);
	bytes_free(words);
	return y + 4;
}

/* What is recorded only if it is asked for: kinds of wait, who touched the memory of the peak, the
 * files that were used most, with whom it talked most, what ranks did with MPI. */
static double asked_for(struct bytes *d, const struct summary *s, double y)
{
	struct bytes words = { 0 };

	if (s->waits && s->waits->waiting)
		waittime_words(s->waits->waiting, ROWS, &words);
	else if (s->waits)
		waittime_say(s->waits, 0, &words);
	y = part(d, "What threads waited for", &words, NULL, y);
	if (s->touched) {
		touched_words(s->touched, ROWS, &words);
		y = part(d, "Which code touched memory first", &words, s->touched->refused, y);
	}
	if (s->files_used) {
		files_used_words(s->files_used, 2 * ROWS, &words);
		y = part(d, "Files that the job used most", &words, s->files_used->refused, y);
	}
	if (s->peers_used) {
		peers_used_words(s->peers_used, ROWS, &words);
		y = part(d, "With whom the job talked by TCP", &words, s->peers_used->refused, y);
	}
	if (s->mpi)
		mpi_words(s->mpi, ROWS, &words);
	return part(d, "What ranks did with MPI", &words, NULL, y);
}

/* Which processes were its time; nothing where the command itself was. */
static double path(struct bytes *d, const struct plots *p, double y)
{
	struct bytes words = { 0 };
	struct path path;
	struct err e;

	if (p->summary->nhosts > 1)
		return y;
	if (path_make(&path, p->summary, p->run, &e))
		d->failed = true;
	else if (path_tells(&path, p->summary))
		path_words(&path, ROWS, &words);
	path_free(&path);
	return part(d, "Critical path", &words, NULL, y);
}

/* How long its steps took; nothing where there are none. */
static double steps(struct bytes *d, const struct summary *s, double y)
{
	struct bytes words = { 0 };

	steps_words(s->iterations, &words);
	return part(d, "Steps", &words, NULL, y);
}

static void proof_of(const struct plots *p, const struct summary_verdict *v, char *out, size_t size)
{
	char a[48], b[48];
	int n = snprintf(out, size, "evidence: %s", v->metric);

	if (isfinite(v->from_s) && isfinite(v->to_s) && v->to_s > v->from_s)
		n += snprintf(out + n, size - (size_t)n, " from %s to %s",
			      unit_format(UNIT_SECONDS, v->from_s, a, sizeof a),
			      unit_format(UNIT_SECONDS, v->to_s, b, sizeof b));
	if (isfinite(v->threshold))
		snprintf(out + n, size - (size_t)n, ", threshold %s",
			 unit_format(page_unit(p->run, v->metric), v->threshold, a, sizeof a));
}

/* One verdict at y; y below it. A null drawing only measures. */
static double verdict(struct bytes *d, const struct plots *p, const struct summary_verdict *v,
		      double y)
{
	const struct lettering word = { .size = BODY,
					.colour = looks[v->severity].colour,
					.bold = true };
	struct box at = { LEFT + 58, y + BODY, WIDTH - 58, BODY * 1.35 };
	char proof[256], next[VERDICT_NEXT + 64];

	if (d)
		shape_text(d, &word, (struct point){ LEFT, y + BODY }, looks[v->severity].word);
	y += at.h * text_wrap(d, &body, &at, 4, v->sentence);
	at.y = y + BODY;
	y += at.h * text_wrap(d, &body, &at, 2, verdict_next(v, next, sizeof next));
	if (!v->metric[0])
		return y + 4;
	at = (struct box){ LEFT + 58, y + SMALL, WIDTH - 58, SMALL * 1.3 };
	proof_of(p, v, proof, sizeof proof);
	return y + at.h * text_wrap(d, &soft, &at, 1, proof) + 4;
}

static double verdicts(struct bytes *d, const struct plots *p, double y, double end)
{
	const struct lettering heading = { .size = 11, .colour = COLOUR_INK, .bold = true };
	const struct summary *s = p->summary;
	char text[96];
	uint32_t i;

	y = paragraph(d, &heading, y, 1, "What stands out") + 2;
	if (!s->nverdicts)
		return paragraph(d, &body, y, 1, "Nothing stands out.");
	for (i = 0; i < s->nverdicts; i++) {
		double last = i + 1 < s->nverdicts ? end - 2 * BODY : end;

		if (verdict(NULL, p, &s->verdicts[i], y) > last)
			break;
		y = verdict(d, p, &s->verdicts[i], y);
	}
	if (i == s->nverdicts)
		return y;
	snprintf(text, sizeof text, "and %u more: sonde show has them all", s->nverdicts - i);
	return paragraph(d, &soft, y, 1, text);
}

/* The first of the machine's plots. */
static uint32_t first_of_machine(const struct plots *p)
{
	uint32_t i = 0;

	while (i < p->n && p->plot[i].row->kind == PLOT_OWN)
		i++;
	return i;
}

/* In what is left: the cores over time; when the verdicts are few a second one, below the first of
 * the job's own numbers where it has any. Which ones they are. */
static struct pdf_shown overview(struct bytes *d, const struct plots *p, double y)
{
	double left = PDF_BOTTOM - y;
	uint32_t n = left >= 1.6 * OVERVIEW_HEIGHT ? 2 : 1, machine = first_of_machine(p);
	struct pdf_shown shown = { { machine, machine + 1 }, 0 };
	double height = fmin(left / n, 1.6 * OVERVIEW_HEIGHT);

	if (n == 2 && machine > 0)
		shown.plot[0] = 0, shown.plot[1] = machine;
	for (uint32_t i = 0; i < n && shown.plot[i] < p->n && pdf_has(p, shown.plot[i]); i++) {
		plots_draw(p, &p->plot[shown.plot[i]], d,
			   &(struct box){ LEFT, PDF_BOTTOM - (n - i) * height, WIDTH, height - 6 });
		shown.n++;
	}
	return shown;
}

struct pdf_shown pdf_first_page(struct bytes *d, const struct plots *p)
{
	double y = what_and_where(d, p, 58) + 10;

	y = four_figures(d, p->summary, y) + 12;
	y = time_bar(d, p->summary, y);
	y = code(d, p->summary, y);
	y = asked_for(d, p->summary, y);
	y = steps(d, p->summary, y);
	y = path(d, p, y);
	y = pdf_pipelines(d, p, y);
	y = verdicts(d, p, y, p->n ? PDF_BOTTOM - OVERVIEW_HEIGHT - 6 : PDF_BOTTOM);
	return overview(d, p, y);
}
