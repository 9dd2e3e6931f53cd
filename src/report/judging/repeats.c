/* SPDX-License-Identifier: Apache-2.0 */
/* repeats.c - programs that do nothing but read a file and write what comes of it, run several
 * times with the same arguments: each reads the same file and does the same work again. And
 * interpreters that are started again and again; and what very many processes executed. */
#include "base/text/decimal.h"
#include "core/glob.h"
#include "report/summary/parts.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES_MAX = 64, WORD_MAX = 64 };

/* Programs that take a file as they are called, and all of it. Those that have other words as well,
 * as grep its pattern and sort its columns, may read a pipe, with other data each time. */
static const struct {
	const char *commands;
	const char *option; /* that must be among the words; NULL: none */
} readers[] = {
	{ "gzip,pigz,bzip2,pbzip2,lbzip2,xz,lzma,zstd,lz4,brotli", "-*d*,--test,-t" },
	{ "zcat,gunzip,unpigz,bzcat,xzcat,zstdcat,lz4cat,unzip", NULL },
	{ "md5sum,sha1sum,sha224sum,sha256sum,sha384sum,sha512sum,b2sum,cksum", NULL },
	{ "ncdump,h5dump,objdump,readelf", NULL },
};

struct repeated {
	const char *name, *line;
	double runs, cpu_s;
};

/* The next word of a command line as it is recorded, which is quoted for a shell. */
static const char *next_word(const char *at, char word[WORD_MAX])
{
	char quote = '\0';
	size_t n = 0;

	at += strspn(at, " ");
	for (; *at && (quote || *at != ' '); at++) {
		if (*at == '\'')
			quote = quote ? '\0' : '\'';
		else if (n + 1 < WORD_MAX)
			word[n++] = *at;
	}
	word[n] = '\0';
	return at;
}

/* Whether it reads a file that is among its arguments. */
static bool reads_files(size_t kind, const char *line)
{
	char word[WORD_MAX];
	bool has_option = !readers[kind].option;
	bool has_file = false;

	for (const char *at = next_word(line, word); *at;) {
		at = next_word(at, word);
		if (!strcmp(word, "-"))
			return false;
		if (readers[kind].option && glob_match(readers[kind].option, word))
			has_option = true;
		if (*word != '-' && strpbrk(word, "./"))
			has_file = true;
	}
	return has_option && has_file;
}

/* Lines that were cut, or in which a secret was masked, may differ in what is missing. */
static bool is_whole(const char *line)
{
	size_t n = strlen(line);

	return !(n >= 3 && !strcmp(line + n - 3, "...")) && !strstr(line, "***");
}

static bool is_reader(const char *name, const char *line)
{
	char first[WORD_MAX];

	next_word(name, first);
	for (size_t i = 0; i < sizeof readers / sizeof readers[0]; i++)
		if (glob_match(readers[i].commands, first))
			return is_whole(line) && reads_files(i, line);
	return false;
}

static void add(struct repeated *lines, uint32_t *n, const struct repeated *x)
{
	uint32_t i = 0;

	while (i < *n &&
	       (strcmp(lines[i].name, x->name) != 0 || strcmp(lines[i].line, x->line) != 0))
		i++;
	if (i == LINES_MAX)
		return;
	if (i == *n)
		lines[(*n)++] = (struct repeated){ .name = x->name, .line = x->line };
	lines[i].runs++;
	lines[i].cpu_s += x->cpu_s;
}

/* ---- starts ---- */

/* Programs that take long to start, and how much CPU time a start takes at most, about. */
static const struct {
	const char *begins;
	double start_s;
} starters[] = {
	{ "python", 0.1 },  { "perl", 0.05 }, { "ruby", 0.15 }, { "node", 0.15 },  { "php", 0.1 },
	{ "Rscript", 0.5 }, { "R", 0.5 },     { "java", 0.8 },  { "julia", 0.8 },  { "octave", 1 },
	{ "matlab", 8 },    { "MATLAB", 8 },  { "mono", 0.3 },  { "dotnet", 0.3 }, { "guile", 0.1 },
};

/* 0: it is none of them. "python3.11 train.py" begins with python, and R is no Rocket. */
static double start_of(const char *name)
{
	for (size_t i = 0; i < sizeof starters / sizeof starters[0]; i++) {
		size_t n = strlen(starters[i].begins);

		if (!strncmp(name, starters[i].begins, n) &&
		    strspn(name + n, "0123456789.") == strcspn(name + n, " "))
			return starters[i].start_s;
	}
	return 0;
}

/* What forks is of the same name as its children, which are not started anew. */
static bool lived_long(const struct summary *s, const char *name)
{
	for (uint32_t i = 0; i < s->nprocesses; i++) {
		const struct summary_process *p = &s->processes[i];
		double end = isnan(p->end_s) ? s->wall_s : p->end_s;

		if (p->name && !strcmp(p->name, name) && end - p->start_s > s->wall_s / 2)
			return true;
	}
	return false;
}

/* "bash pyenv-which" and its kin look for the interpreter each time it is started. */
static const char *shim_of(const char *name)
{
	static const char *const shims[] = { "pyenv", "rbenv", "nodenv", "plenv", "jenv", "asdf" };
	const char *word = strrchr(name, ' ') ? strrchr(name, ' ') + 1 : name;

	for (size_t i = 0; i < sizeof shims / sizeof shims[0]; i++) {
		size_t n = strlen(shims[i]);

		if (!strncmp(word, shims[i], n) && (!word[n] || word[n] == '-'))
			return shims[i];
	}
	return NULL;
}

/* Its own processes, and the subshells and small commands that it starts by the dozen. */
static void add_shims(struct summary *s)
{
	static const double few_s = 0.01; /* of CPU time, each */
	struct story *y = &s->story;

	for (uint32_t i = 0; i < s->ncommands && !y->starts_shim; i++)
		y->starts_shim = shim_of(s->commands[i].name);
	for (uint32_t i = 0; y->starts_shim && i < s->ncommands; i++) {
		const struct summary_command *c = &s->commands[i];
		bool helps = !strcmp(c->name, "readlink") || !strcmp(c->name, "basename") ||
			     (!strcmp(c->name, "bash") && c->processes >= 5 * y->starts);

		if (shim_of(c->name) || (helps && c->cpu_s <= few_s * c->processes))
			y->starts_cpu_s += c->cpu_s;
	}
}

/* Of the processes of that name that were seen, those that another of it forked: R's own script
 * does so for each small question. */
static double forked_of(const struct summary *s, const struct run *r, const char *name)
{
	double seen = 0, forked = 0;

	for (uint32_t i = 0; i < s->nprocesses; i++) {
		const struct summary_process *p = &s->processes[i];
		const char *above = r->instances[r->instances[p->instance].parent].name;

		if (!p->name || strcmp(p->name, name) != 0)
			continue;
		seen++;
		forked += above && !strcmp(above, name);
	}
	return seen > 0 ? forked / seen : 0;
}

/* How often processes of this command were started anew; 0: they do more than start. */
static double mere_starts(const struct summary *s, const struct run *r,
			  const struct summary_command *c)
{
	double start_s = start_of(c->name);
	double starts = start_s > 0 ? c->processes * (1 - forked_of(s, r, c->name)) : 0;

	return c->cpu_s <= start_s * starts && !lived_long(s, c->name) ? starts : 0;
}

/* Which script it ran is in the name of those only that a sample found: "java QcStats" and "java"
 * are one program. */
static bool is_program_of(const struct summary_command *program, const struct summary_command *c)
{
	size_t n = strlen(program->name);

	return !strncmp(program->name, c->name, n) && c->name[n] == ' ';
}

/* Of those whose processes do little more than start, the program that used most CPU time. */
static void tell_starts(struct summary *s, const struct run *r)
{
	struct story *y = &s->story;

	for (uint32_t i = 0; i < s->ncommands; i++) {
		const struct summary_command *c = &s->commands[i];
		double starts = mere_starts(s, r, c), cpu_s = c->cpu_s;

		for (uint32_t k = 0; starts > 0 && k < s->ncommands; k++) {
			double more = is_program_of(c, &s->commands[k])
					      ? mere_starts(s, r, &s->commands[k])
					      : 0;

			starts += more;
			cpu_s += more > 0 ? s->commands[k].cpu_s : 0;
		}
		if (!(starts > 0) || (y->starts > 0 && cpu_s <= y->starts_cpu_s))
			continue;
		y->starts = round(starts);
		y->starts_cpu_s = cpu_s;
		snprintf(y->starts_command, sizeof y->starts_command, "%s", c->name);
	}
	if (y->starts > 0)
		add_shims(s);
}

/* ---- very many ---- */

struct started {
	const char *name; /* NULL: none */
	double n;
};

/* What executes no program has the name of who forked it. */
struct starting {
	struct started executed[2], forked; /* most first */
	double executed_all, nameless;
};

static bool is_nameless(const char *name)
{
	const struct summary_command c = { .name = name };

	return summary_command_shown(&c) != name;
}

static void count_started(struct starting *a, const struct summary *s, const struct run *r)
{
	for (uint32_t i = 0; i < s->ncommands; i++) {
		const struct summary_command *c = &s->commands[i];
		bool nameless = is_nameless(c->name);
		bool small = c->processes <= a->executed[1].n && c->processes <= a->forked.n;
		double forked = nameless || small ? 0 : forked_of(s, r, c->name);
		double n = round(c->processes * (1 - forked));

		a->executed_all += n;
		a->nameless += nameless ? n : 0;
		if (c->processes - n > a->forked.n)
			a->forked = (struct started){ c->name, c->processes - n };
		if (nameless || n <= a->executed[1].n)
			continue;
		a->executed[1] = (struct started){ c->name, n };
		if (n > a->executed[0].n) {
			a->executed[1] = a->executed[0];
			a->executed[0] = (struct started){ c->name, n };
		}
	}
}

static bool is_executed(const struct starting *a, const char *name)
{
	bool is = false;

	for (int k = 0; k < 2 && name; k++)
		is |= a->executed[k].name && !strcmp(name, a->executed[k].name);
	return is;
}

/* Who started a process of these commands that was seen, and is none of them; NULL: not known. */
static const char *starter_of(const struct starting *a, const struct summary_process *p,
			      const struct run *r)
{
	const char *above = r->instances[r->instances[p->instance].parent].name;

	return above && !is_nameless(above) && is_executed(a, p->name) && !is_executed(a, above)
		       ? above
		       : NULL;
}

/* The name that most of them have, NULL: there is none. */
static const char *find_starter(const struct starting *a, const struct summary *s,
				const struct run *r)
{
	const char *most = NULL;
	double ahead = 0, all = 0, of_most = 0;

	for (uint32_t i = 0; i < s->nprocesses; i++) {
		const char *above = starter_of(a, &s->processes[i], r);

		if (above && !(ahead > 0))
			most = above;
		ahead += !above ? 0 : strcmp(above, most) ? -1 : 1;
		all += above != NULL;
	}
	for (uint32_t i = 0; i < s->nprocesses && most; i++) {
		const char *above = starter_of(a, &s->processes[i], r);

		of_most += above && !strcmp(above, most);
	}
	return of_most > all / 2 ? most : NULL;
}

/* Forks of a shell are of no interest beside what they execute, unless there is little of that. */
static void tell_started(struct summary *s, const struct run *r)
{
	static const double few = 0.1, many = 2, storm = 100;
	char *out = s->story.started;
	const size_t size = sizeof s->story.started;
	struct starting a = { 0 };
	const char *starter;

	count_started(&a, s, r);
	s->story.executed = a.executed[0].name;
	if (a.executed[1].n < few * a.executed[0].n)
		a.executed[1] = (struct started){ 0 };
	if (a.executed_all + a.forked.n < storm)
		return;
	if (a.forked.n > many * a.executed_all) {
		decimal_append(out, size, " (%.0f forks of %.120s that execute no other program),",
			       a.forked.n, a.forked.name);
		return;
	}
	if (!a.executed[0].name)
		return;
	decimal_append(out, size, " (%s%.0f of %.120s",
		       a.nameless > few * a.executed_all ? "at least " : "", a.executed[0].n,
		       a.executed[0].name);
	if (a.executed[1].name)
		decimal_append(out, size, ", %.0f of %.120s", a.executed[1].n, a.executed[1].name);
	starter = find_starter(&a, s, r);
	if (starter)
		decimal_append(out, size, ", started by %.120s", starter);
	decimal_append(out, size, "),");
}

/* Who started the interpreter that is started again and again. */
static void tell_starter(struct summary *s, const struct run *r)
{
	struct story *y = &s->story;
	struct starting a = { .executed = { { y->starts_command, 0 } } };
	const char *starter = *y->starts_command ? find_starter(&a, s, r) : NULL;

	if (starter)
		snprintf(y->starts_by, sizeof y->starts_by, " by %.120s,", starter);
}

/* ---- forks ---- */

static bool is_process_of(const struct run_instance *in, const char *name)
{
	return in->name && in->domain && !strcmp(in->domain, "process") && !strcmp(in->name, name);
}

/* Of a large process the children of its name: they executed no other program. 0 or -ENOMEM. */
static int tell_forks(struct summary *s, const struct run *r)
{
	static const double large = 256 << 20;
	uint32_t *forks = calloc(r->ninstances + 1u, sizeof *forks);
	struct story *y = &s->story;

	y->forks = 0;
	if (!forks)
		return -ENOMEM;
	for (uint32_t i = 1; i < r->ninstances; i++) {
		uint32_t parent = r->instances[i].parent;

		if (parent && parent < r->ninstances && r->instances[parent].name)
			forks[parent] += is_process_of(&r->instances[i], r->instances[parent].name);
	}
	for (uint32_t i = 0; i < s->nprocesses; i++) {
		const struct summary_process *p = &s->processes[i];

		if (!p->name || !(p->peak_rss_bytes >= large) || p->instance >= r->ninstances ||
		    forks[p->instance] <= y->forks)
			continue;
		y->forks = forks[p->instance];
		y->forked_bytes = p->peak_rss_bytes;
		snprintf(y->forked, sizeof y->forked, "%.120s (pid %.0f)", p->name, p->pid);
	}
	free(forks);
	return 0;
}

int summary_repeats_make(struct summary *s, const struct run *r)
{
	struct repeated *lines = calloc(LINES_MAX, sizeof *lines), *most = lines;
	uint32_t n = 0;

	s->repeated_runs = s->repeated_cpu_s = 0;
	*s->repeated = '\0';
	tell_starts(s, r);
	tell_started(s, r);
	tell_starter(s, r);
	if (!lines || tell_forks(s, r)) {
		free(lines);
		return -ENOMEM;
	}
	for (uint32_t i = 1; i < r->ninstances; i++) {
		const struct run_instance *in = &r->instances[i];
		struct repeated x = { .name = in->name, .line = run_label(r, i, "command_line") };

		if (x.name && x.line && in->domain && !strcmp(in->domain, "process") &&
		    is_reader(x.name, x.line) &&
		    run_final_value(r, i, "process.cpu_seconds", &x.cpu_s))
			add(lines, &n, &x);
	}
	for (uint32_t i = 1; i < n; i++)
		if (lines[i].cpu_s * (lines[i].runs - 1) > most->cpu_s * (most->runs - 1))
			most = &lines[i];
	if (n && most->runs > 1) {
		s->repeated_runs = most->runs;
		s->repeated_cpu_s = most->cpu_s;
		summary_put_command(s->repeated, sizeof s->repeated, most->line);
	}
	free(lines);
	return 0;
}
