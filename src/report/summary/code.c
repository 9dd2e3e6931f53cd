/* SPDX-License-Identifier: Apache-2.0 */
#include "report/summary/code.h"

#include "base/text/escape.h"
#include "core/stacks/symbol.h"
#include "report/assets.h"
#include "report/phases/phases.h"
#include "report/summary/summary.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Processes of so many periods on average may have ended before their first sample. */
static const double short_periods = 3;
/* Where threads are sampled in rounds, it takes about so long until the first. */
static const double round_s = 1;

int code_classes(struct classes *c, const char *site, struct err *e)
{
	int rc = classes_add(c, "classes", asset_classes,
			     (size_t)(asset_classes_end - asset_classes), e);

	return !rc && site ? classes_read(c, site, e) : rc;
}

/* ---- the account ---- */

static void offer(struct code_account *a, const struct code_command *c, double seconds)
{
	uint32_t at = a->nshort;

	if (at == CODE_SHORT && seconds <= a->shorts[at - 1].seconds)
		return;
	if (at == CODE_SHORT)
		at--;
	else
		a->nshort++;
	for (; at > 0 && a->shorts[at - 1].seconds < seconds; at--)
		a->shorts[at] = a->shorts[at - 1];
	a->shorts[at] = (struct code_short){ c->name, c->processes, seconds };
}

void code_account_make(struct code_account *a, const struct code_command *c, uint32_t n,
		       double period_s)
{
	double both = a->user_s + a->system_s, room;

	a->short_s = 0;
	a->nshort = 0;
	a->rest_s = NAN;
	a->whole_s = a->sampled_s;
	if (isnan(both) || !(both > 0))
		return;
	a->whole_s = both;
	room = fmax(0, a->user_s - a->sampled_s);
	for (uint32_t i = 0; i < n; i++) {
		/* The kernel splits no command's time: as much of it is user time as of the job's.
		 */
		double user = c[i].cpu_s * (a->user_s / both);
		double unseen = user - c[i].sampled_s;

		if (!(unseen > 0) || !(c[i].processes > 0) ||
		    user / c[i].processes >= short_periods * period_s)
			continue;
		offer(a, &c[i], unseen);
		a->short_s += unseen;
	}
	if (a->short_s > room) {
		for (uint32_t i = 0; i < a->nshort; i++)
			a->shorts[i].seconds *= room / a->short_s;
		a->short_s = room;
	}
	a->rest_s = a->user_s - a->sampled_s - a->short_s;
}

/* What was sampled of processes of that name. The kernel cuts names to 15 bytes. */
static double sampled_of(const struct stacks *s, const char *command)
{
	enum { COMM = 15 };
	const struct stacks_rows *rows = &s->rows[STACKS_BY_COMMAND];
	double sum = 0;

	for (uint32_t i = 0; i < rows->n; i++)
		if (!strncmp(rows->row[i].command, command, COMM))
			sum += rows->row[i].self;
	return sum;
}

/* Of CPU time between two samples of a thread. There may be none: all processes were too short. */
static double period_of(const struct stacks *st)
{
	const struct run_meta *m = run_find_meta(st->run, 0, "stacks.period_ns");
	double period_s = m && run_meta_number(m) > 0 ? run_meta_number(m) * 1e-9 : 0;

	if (st->samples > 0)
		period_s = st->total / st->samples;
	return run_find_meta(st->run, 0, "stacks.threads_at_a_time") ? fmax(period_s, round_s)
								     : period_s;
}

static int reconcile(struct code *code, const struct summary *s)
{
	struct code_account *a = &code->account;
	const struct stacks *st = code->stacks;
	struct code_command *c = calloc(s->ncommands + 1u, sizeof *c);

	if (!c)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->ncommands; i++)
		c[i] = (struct code_command){
			.name = s->commands[i].name,
			.processes = s->commands[i].processes,
			.cpu_s = isnan(s->commands[i].cpu_s) ? 0 : s->commands[i].cpu_s,
			.sampled_s = sampled_of(st, s->commands[i].name),
		};
	*a = (struct code_account){ .user_s = s->cpu_user_s,
				    .system_s = s->cpu_system_s,
				    .sampled_s = st->total };
	code_account_make(a, c, s->ncommands, period_of(st));
	free(c);
	return 0;
}

int code_make(struct code **out, struct run *r, const struct summary *s, const char *site,
	      struct err *e)
{
	bool sampled = r->nsample_sets_of[SAMPLE_CPU] || run_find_meta(r, 0, "stacks.period_ns");
	struct code_gaps gaps;
	struct code *code;
	int rc;

	*out = NULL;
	code_gaps_make(&gaps, r, s);
	if (!sampled && !gaps.refused)
		return 0;
	code = calloc(1, sizeof *code);
	if (!code)
		return err_set(e, -ENOMEM, "out of memory for the code of %.300s", r->path);
	code->gaps = gaps;
	rc = code_classes(&code->classes, site, e);
	if (!rc && sampled)
		rc = stacks_open(&code->stacks, r, &code->classes, &(struct stacks_selection){ 0 },
				 e);
	if (!rc && r->nsample_sets_of[SAMPLE_PYTHON])
		rc = stacks_open(&code->python, r, &code->classes,
				 &(struct stacks_selection){ .kind = SAMPLE_PYTHON }, e);
	if (!rc && code->stacks && reconcile(code, s))
		rc = err_set(e, -ENOMEM, "out of memory for the code of %.300s", r->path);
	if (rc)
		code_free(code);
	else
		*out = code;
	return rc;
}

void code_free(struct code *code)
{
	if (!code)
		return;
	stacks_close(code->stacks);
	stacks_close(code->python);
	classes_free(&code->classes);
	free(code);
}

int code_phases(struct code *code, struct run *r, struct err *e)
{
	struct phase_rules rules = { 0 };
	struct phases phases = { 0 };
	int rc = phase_rules_builtin(&rules, e);

	if (!rc)
		rc = phases_make(&phases, r, &rules, &(struct phase_wish){ 0 }, e);
	if (!rc)
		rc = stacks_phases_make(code->stacks, &phases, e);
	phases_free(&phases);
	phase_rules_free(&rules);
	return rc;
}

/* ---- docs/classes.md ---- */

static void put_patterns(struct bytes *out, const struct class_row *row, bool symbols)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < row->npatterns; i++) {
		const struct class_pattern *p = &row->pattern[i];

		if (!p->symbol == symbols)
			continue;
		bytes_puts(out, n++ ? " " : symbols ? "\nfunctions `" : "\nmodules `");
		bytes_puts(out, symbols ? p->symbol : p->module);
		if (symbols && p->module)
			bytes_printf(out, "@%s", p->module);
	}
	if (n)
		bytes_puts(out, "`\n");
}

static const char opening[] =
	"# Classes of code\n\n"
	"`sonde show` and the report page sum CPU time by kind of code. Which functions are of which kind "
	"is data: this page is\nmade from the files in `classes/`. `sonde show --classes FILE`, or "
	"`--classes DIR` with files NAME.classes, adds those of\nyour site: a class there replaces the "
	"built-in one of its name, and a new one comes before all built-in ones.\n\n"
	"# How a class is written\n\n"
	"    class: compression\n"
	"    label: compression\n"
	"    about: One sentence.\n"
	"    claims: all\n"
	"    symbols: inflate deflate* ZSTD_* open@libfoo.so*\n"
	"    modules: libz.so* */site-packages/zlib/*\n\n"
	"`symbols` are patterns of the names of functions, without return type, template arguments and "
	"parameters\n(`std::vector::push_back`), and without what compilers append (`.part.0`). "
	"`NAME@MODULE` is a function of one library only.\n`modules` are patterns of the file names of "
	"programs and libraries; one with a slash is of the whole path. `*` is any\ntext, `?` any "
	"character, `[abc]` one of these. Both keys may come several times. An indented line continues "
	"the one\nbefore it; a line that begins with `#` is a comment.\n\n"
	"# What a sample counts for\n\n"
	"Sonde goes through a stack from the innermost function outwards. A function is of the first "
	"class with a pattern for\nits name, else of the first class with a pattern for its module. The "
	"first class found has the sample, if it claims\nthe functions further in:\n\n"
	"- `claims: all`: whatever its functions call. Copies within `MPI_Send` are MPI. Such a class "
	"comes before those that\n  claim less.\n"
	"- `claims: system`: what they call in the same module or in the C library. Waiting in the OpenMP "
	"library is OpenMP, but\n  the loop of your program that this library calls is not.\n"
	"- `claims: module` (the default): what they call in the same module. `qsort` claims the functions "
	"of the C library that\n  it calls, not your comparison function.\n\n"
	"What no class claims is **own code**. A stack that ends in code of which neither function nor "
	"file is known is\n**unknown**. In a program that is linked statically all functions are in one "
	"module, so that a function of yours which\n`qsort` calls counts as sorting.\n\n"
	"# The classes\n";

int code_classes_markdown(struct bytes *out, struct err *e)
{
	static const char *const claims[] = { "what it calls in the same module",
					      "what it calls in the same module and the C library",
					      "whatever it calls" };
	struct classes c = { 0 };
	int rc = code_classes(&c, NULL, e);

	bytes_puts(out, opening);
	for (uint32_t i = CLASS_FIRST; i < c.n && !rc; i++) {
		const struct class_row *row = &c.row[i];

		bytes_printf(out, "\n## %s\n\n%s%sClass `%s`; it claims %s.\n", row->label,
			     row->about ? row->about : "", row->about ? "\n" : "", row->name,
			     claims[row->claims]);
		put_patterns(out, row, true);
		put_patterns(out, row, false);
	}
	classes_free(&c);
	if (!rc && out->failed)
		rc = err_set(e, -ENOMEM, "out of memory");
	return rc;
}
