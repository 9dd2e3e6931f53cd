/* SPDX-License-Identifier: Apache-2.0 */
/* builds.c - compilers that make started: whether it was told to run several at a time, and whether
 * it did. */
#include "report/summary/parts.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ANCESTORS = 64 };

bool summary_is_compiler(const char *name)
{
	static const char *const names[] = { "cc1",     "cc1plus",     "f951",      "clang",
					     "clang++", "rustc",       "javac",     "cudafe++",
					     "cicc",    "ptxas",       "gnat1",     "flang-new",
					     "ifort",   "ifx",         "icx",       "icpx",
					     "nvc",     "nvc++",       "nvfortran", "tcc",
					     "ghc",     "ocamlopt.opt" };
	size_t n = strcspn(name, " ");

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		size_t m = strlen(names[i]);

		if (n >= m && !strncmp(name, names[i], m) &&
		    (n == m ||
		     (name[m] == '-' && strspn(name + m + 1, "0123456789.") == n - m - 1)))
			return true;
	}
	return false;
}

void summary_source_of(const char *line, char *out, size_t size)
{
	static const char endings[] = " c cc cpp cxx C cu f f90 f95 F F90 rs java go hs ml adb ";
	char ending[12];

	*out = '\0';
	for (const char *at = line; at && *at && !*out; at += strspn(at, " ")) {
		size_t n = strcspn(at, " "), dot = n;

		while (dot && at[dot - 1] != '.')
			dot--;
		snprintf(ending, sizeof ending, " %.*s ", (int)(n - dot), at + dot);
		if (dot > 1 && *at != '-' && n - dot < 5 && strstr(endings, ending))
			snprintf(out, size, " %.*s", (int)n, at);
		at += n;
	}
}

static bool is_make(const struct run *r, uint32_t i)
{
	const struct run_instance *in = &r->instances[i];
	size_t n = in->name ? strcspn(in->name, " ") : 0;

	return in->domain && !strcmp(in->domain, "process") &&
	       ((n == 4 && !strncmp(in->name, "make", 4)) ||
		(n == 5 && !strncmp(in->name, "gmake", 5)));
}

/* Those below another one run as many at a time as that tells them to. */
static bool is_below_make(const struct run *r, uint32_t i)
{
	for (int k = 0; k < ANCESTORS && (i = r->instances[i].parent); k++)
		if (is_make(r, i))
			return true;
	return false;
}

/* "-j", "-j8", "--jobs=8", "-kj8"; not "-j1", nor what belongs to another option: "-Cjobs". */
static bool asks_for_several(const char *line)
{
	for (const char *at = line; *at; at += strspn(at, " ")) {
		size_t n = strcspn(at, " "), letters;

		if (n >= 6 && !strncmp(at, "--jobs", 6))
			return true;
		letters = *at == '-' ? 1 + strspn(at + 1, "Bbdeikmnpqrstvw") : 0;
		if (letters && at[letters] == 'j' && !(n == letters + 2 && at[letters + 1] == '1'))
			return true;
		at += n;
	}
	return false;
}

/* "kj8 -- A=b": the first word of MAKEFLAGS may lack its dash. */
static bool was_told_by(const char *flags)
{
	size_t letters = strspn(flags, "Bbdeikmnpqrstvw");

	return asks_for_several(flags) || (flags[letters] == 'j' && flags[letters + 1] != '1');
}

static bool is_serial(const struct run *r, uint32_t i, const char *line)
{
	const char *flags = run_find_text(r, r->instances[i].node, "job.environment.MAKEFLAGS");

	return !asks_for_several(line) && !(flags && was_told_by(flags));
}

/* What the nearest make above started, on the way to it: a recipe. 0: there is none. */
static uint32_t recipe_of(const struct run *r, uint32_t i)
{
	for (int k = 0; k < ANCESTORS && i; k++) {
		uint32_t above = r->instances[i].parent;

		if (above && is_make(r, above))
			return i;
		i = above;
	}
	return 0;
}

/* Recipes that compile, for each compiler that was seen: one that loops over many files is one. 0
 * or -ENOMEM. */
static int find_recipes(struct story *y, const struct run *r)
{
	bool *known = calloc(r->ninstances + 1u, sizeof *known);
	double recipes = 0, compilers = 0;

	if (!known)
		return -ENOMEM;
	for (uint32_t i = 1; i < r->ninstances; i++) {
		const struct run_instance *in = &r->instances[i];
		bool counts = in->name && in->domain && !strcmp(in->domain, "process") &&
			      summary_is_compiler(in->name);
		uint32_t recipe = counts ? recipe_of(r, i) : 0;

		compilers += recipe != 0;
		recipes += recipe && !known[recipe];
		known[recipe] = true;
	}
	free(known);
	y->make_recipes_ratio = compilers > 0 ? recipes / compilers : NAN;
	return 0;
}

struct life {
	int64_t begin_ns, end_ns;
	uint32_t node;
};

static int by_begin(const void *a, const void *b)
{
	const struct life *x = a, *y = b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return x->begin_ns < y->begin_ns ? -1 : x->begin_ns > y->begin_ns;
}

/* How many of them had another one beside them for a fifth of their lives or more. */
static double count_beside(const struct life *l, uint32_t n)
{
	static const double much = 0.2;
	const struct life *longest = NULL;
	bool counted = false;
	double beside = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct life *before = longest && longest->node == l[i].node ? longest : NULL;
		int64_t end = before && before->end_ns < l[i].end_ns ? before->end_ns : l[i].end_ns;
		bool is_beside = before && (double)(end - l[i].begin_ns) >=
						   much * (double)(l[i].end_ns - l[i].begin_ns);

		beside += is_beside + (is_beside && !counted);
		counted |= is_beside;
		if (before && before->end_ns >= l[i].end_ns)
			continue;
		longest = &l[i];
		counted = is_beside;
	}
	return beside;
}

/* The share of the processes of one name, NULL: of compilers, that had another one beside them. 0
 * or -ENOMEM. */
static int find_beside(double *ratio, const struct run *r, const char *name)
{
	struct life *l = malloc((r->ninstances + 1u) * sizeof *l);
	uint32_t n = 0;

	if (!l)
		return -ENOMEM;
	for (uint32_t i = 1; i < r->ninstances; i++) {
		const struct run_instance *in = &r->instances[i];

		if (in->name && in->domain && !strcmp(in->domain, "process") &&
		    in->end_ns != INT64_MAX &&
		    (name ? !strcmp(in->name, name) : summary_is_compiler(in->name)))
			l[n++] = (struct life){ in->birth_ns, in->end_ns, in->node };
	}
	qsort(l, n, sizeof *l, by_begin);
	*ratio = n ? count_beside(l, n) / n : NAN;
	free(l);
	return 0;
}

/* Of the command that was started most often; and a line of it, of one that ran for long. */
static int find_most_started(struct summary *s, const struct run *r)
{
	const struct summary_command *most = summary_most_started(s);
	int64_t longest_ns = 0;
	const char *line = NULL;

	if (!most || most->processes < 2)
		return 0;
	for (uint32_t i = 1; i < r->ninstances; i++) {
		const struct run_instance *in = &r->instances[i];
		int64_t ns = in->end_ns - in->birth_ns;

		if (!in->name || strcmp(in->name, most->name) != 0 || in->end_ns == INT64_MAX ||
		    ns <= longest_ns || !run_label(r, i, "command_line"))
			continue;
		longest_ns = ns;
		line = run_label(r, i, "command_line");
	}
	summary_put_command(s->story.most_started, sizeof s->story.most_started,
			    line ? line : most->name);
	return find_beside(&s->story.most_started_beside, r, most->name);
}

int summary_builds_make(struct summary *s, const struct run *r)
{
	struct story *y = &s->story;
	bool serial = false, several = false;

	y->compilers = y->compilers_s = 0;
	for (uint32_t i = 0; i < s->ncommands; i++) {
		const struct summary_command *c = &s->commands[i];

		if (!summary_is_compiler(c->name))
			continue;
		y->compilers += c->processes;
		y->compilers_s += c->cpu_s;
	}
	for (uint32_t i = 1; y->compilers > 0 && i < r->ninstances; i++) {
		const char *line = run_label(r, i, "command_line");

		/* Of one that ended at once, as `make clean`, nothing is known. */
		if (!line || !is_make(r, i) || is_below_make(r, i))
			continue;
		serial |= is_serial(r, i, line);
		several |= !is_serial(r, i, line);
	}
	y->make_is_serial = serial && !several;
	y->make_is_parallel = several;
	if (find_most_started(s, r))
		return -ENOMEM;
	if (!serial && !several)
		return 0;
	return find_recipes(y, r) || find_beside(&y->compilers_beside_ratio, r, NULL) ? -ENOMEM : 0;
}
