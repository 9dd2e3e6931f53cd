/* SPDX-License-Identifier: Apache-2.0 */
/* hotspot.c - the one place that most of the CPU time went to: what it is, who runs it, and what
 * fits code of its kind. */
#include "core/stacks/hot.h"

#include "base/text/decimal.h"
#include "core/glob.h"
#include "core/stacks/symbol.h"
#include "report/judging/advice.h"
#include "report/judging/hotspot_part.h"
#include "report/judging/slowness.h"
#include "report/summary/code.h"
#include "report/summary/parts.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what ---- */

void hotspot_put_place(char *out, size_t size, const struct hot_place *p)
{
	const char *base = symbol_base(p->file ? p->file : p->function->module);

	if (p->file && !strcmp(base, "__init__.py"))
		for (base--; base > p->file && base[-1] != '/'; base--)
			;
	if (!*p->function->name)
		decimal_append(out, size, "%.120s", p->function->shown);
	else if (p->file && p->line)
		decimal_append(out, size, "%.80s (%.60s:%u)", p->function->shown, base, p->line);
	else
		decimal_append(out, size, "%.80s (%.60s)", p->function->shown, base);
}

/* Of what was sampled: else it is not one place. */
static const double most = 0.5;
static const double nearly_all = 0.8;

struct found {
	struct hot hot;
	double share; /* of what was sampled */
	double error;
	double sampled_s, scale; /* in all; what was sampled is such a part of the CPU time */
	bool python;
	struct hot_place native; /* what Python calls there; seconds 0: that is known of few */
	struct slowness reason;  /* row NULL: none is known */
	double reason_of_s;      /* the time that it is a part of */
	bool python_shows; /* it is by Python's functions, which are looked at whatever runs */
	struct hot_branch branch; /* n 0: the one place has most */
	bool interpreter;         /* which of the script's lines it is is not known */
};

static void say_branch(struct summary_hot *out, const struct found *f)
{
	const struct hot_branch *b = &f->branch;

	for (uint32_t i = 0; i < b->n; i++) {
		decimal_append(out->place, sizeof out->place, "%s", i ? ", " : "");
		hotspot_put_place(out->place, sizeof out->place, &b->part[i]);
		decimal_append(out->place, sizeof out->place, " %.0f %%",
			       100 * f->scale * b->part[i].seconds / f->sampled_s);
	}
	decimal_append(out->place, sizeof out->place, ", called by ");
	hotspot_put_place(out->place, sizeof out->place, &b->from);
}

/* What shows the reason, where it is not named anyway. */
static void say_shown(struct summary_hot *out, const struct found *f)
{
	const struct hot_match *m = &f->reason.match;

	if (!f->reason.row || !m->function.function ||
	    strstr(out->place, m->function.function->shown))
		return;
	decimal_append(out->place, sizeof out->place, ", %.0f %% of that in ",
		       100 * m->seconds / f->reason_of_s);
	hotspot_put_place(out->place, sizeof out->place, &m->function);
}

static void say_place(struct summary_hot *out, const struct found *f, const struct classes *c)
{
	const struct hot *h = &f->hot;
	uint32_t class = h->calls.function ? h->calls.function->class : h->place.function->class;

	out->place[0] = '\0';
	if (f->branch.n) {
		say_branch(out, f);
		return;
	}
	if (f->interpreter)
		decimal_append(out->place, sizeof out->place, "the interpreter itself, ");
	if (h->calls.function && h->calls.seconds < nearly_all * h->place.seconds) {
		hotspot_put_place(out->place, sizeof out->place, &h->place);
		decimal_append(out->place, sizeof out->place, ", %.0f %% of it in ",
			       100 * h->calls.seconds / h->place.seconds);
	}
	hotspot_put_place(out->place, sizeof out->place, h->calls.function ? &h->calls : &h->place);
	if (class >= CLASS_FIRST && !f->python && !f->interpreter)
		decimal_append(out->place, sizeof out->place, " (%s)", classes_label(c, class));
	if (h->calls.function && h->calls.seconds >= nearly_all * h->place.seconds) {
		decimal_append(out->place, sizeof out->place, ", called by ");
		hotspot_put_place(out->place, sizeof out->place, &h->place);
	}
	if (f->native.seconds > 0 && !h->calls.function)
		decimal_append(out->place, sizeof out->place, ", which spends it in %.80s",
			       f->native.function->shown);
	else if (h->by.function && h->own) {
		decimal_append(out->place, sizeof out->place, ", called by ");
		hotspot_put_place(out->place, sizeof out->place, &h->by);
	}
	say_shown(out, f);
}

/* What ranks do when they are not in MPI: one that has more of it is waited for. */
static int say_beside_mpi(struct summary_hot *out, const struct code *code)
{
	static const double part_least = 0.1;
	const struct stacks *st = code->stacks;
	uint32_t mpi = classes_find(&code->classes, "mpi");
	struct hot_rest r;
	int rc = mpi ? hot_rest_find(&r, st, mpi) : 0;

	if (!mpi || rc || !(r.seconds / st->total * st->effective >= 2 * hotspot_least_samples))
		return rc;
	for (uint32_t i = 0; i < r.n && r.part[i].seconds >= part_least * r.seconds; i++) {
		const struct stacks_function *calls = r.calls[i].function;

		decimal_append(out->beside_mpi, sizeof out->beside_mpi, "%s",
			       i ? ", " : ". Outside of MPI: ");
		hotspot_put_place(out->beside_mpi, sizeof out->beside_mpi, &r.part[i]);
		decimal_append(out->beside_mpi, sizeof out->beside_mpi, " %.0f %%",
			       100 * r.part[i].seconds / r.seconds);
		if (calls && *calls->name)
			decimal_append(out->beside_mpi, sizeof out->beside_mpi, " (calls %.40s)",
				       calls->shown);
	}
	if (*out->beside_mpi)
		decimal_append(out->beside_mpi, sizeof out->beside_mpi, ".");
	return 0;
}

/* Servers of databases go through whole tables in functions of their own. The lower end of the
 * interval. */
static double scans_of(const struct code *code)
{
	static const char whole_tables[] =
		"heap_getnextslot,heapgettup*,heapgetpage,SeqNext,ExecSeqScan*,handler::ha_rnd_next,"
		"*::rnd_next,mongo::CollectionScan::*";
	double seconds = stacks_matching(code->stacks, whole_tables),
	       share = stacks_share(code->stacks, seconds),
	       least = fmax(0, share - stacks_error(code->stacks, share));

	return seconds > 0 ? least * code->stacks->total / code->account.whole_s : 0;
}

/* ---- who ---- */

enum { MANY = 4, ARGUMENTS = 120 };
static const double one_core = 1.35, little = 0.1 /* of the run */;

/* The command line of the process of that name that used most. */
static const char *command_line(const struct summary *s, const char *command)
{
	for (uint32_t i = 0; i < s->nby_cpu; i++)
		if (s->by_cpu[i].name && !strcmp(s->by_cpu[i].name, command))
			return s->by_cpu[i].command_line;
	return NULL;
}

/* Without the directories of the program. */
static const char *without_directories(const char *line)
{
	const char *begin = line;

	for (const char *at = line; *at && *at != ' '; at++)
		if (*at == '/')
			begin = at + 1;
	return *begin && *begin != ' ' && *line == '/' ? begin : line;
}

void summary_put_command(char *out, size_t size, const char *line)
{
	const char *begin = without_directories(line);
	size_t n = strcspn(begin, "\n");

	n = n < ARGUMENTS ? n : ARGUMENTS;
	decimal_append(out, size, "%.*s%s", (int)n, begin, begin[n] ? "..." : "");
}

static void say_who(struct summary_hot *out, const struct summary *s)
{
	const struct summary_command *c = code_command(s);
	const char *line = c ? command_line(s, c->name) : NULL;

	out->who[0] = '\0';
	if (!s->ncommands)
		return;
	if (!c)
		snprintf(out->who, sizeof out->who, "several commands");
	else if (!line)
		snprintf(out->who, sizeof out->who, "%.80s", c->name);
	else
		summary_put_command(out->who, sizeof out->who, line);
	if (c && c->processes >= MANY) {
		char one[sizeof out->who];

		snprintf(one, sizeof one, "%s", out->who);
		snprintf(out->who, sizeof out->who, "%.0f processes like `%.160s`", c->processes,
			 one);
	}
	if (story_cores_wanted(s) < one_core && summary_cores(s).v >= 2 &&
	    !(s->story.parallel_s >= little * s->wall_s))
		decimal_append(out->who, sizeof out->who,
			       ", on one of %.0f cores, and hardly anything ran in parallel",
			       summary_cores(s).v);
}

/* So little a second that it takes next to no time, whatever the storage is. */
static void say_no_storage(struct summary_hot *out, const struct summary *s)
{
	static const double few = 1 << 20;
	double bytes = fmax(s->storage_read_bytes + s->storage_written_bytes,
			    s->read_bytes + s->written_bytes);
	char text[32];

	out->no_storage[0] = '\0';
	if (s->wall_s > 0 && s->cpu_s >= 0.8 * s->wall_s && bytes <= few * s->wall_s)
		snprintf(out->no_storage, sizeof out->no_storage,
			 "; it read and wrote only %s: it computes.",
			 unit_format(UNIT_BYTES, bytes, text, sizeof text));
}

/* ---- what to do ---- */

/* Of a library, by the kind of code. */
static const struct {
	const char *class, *advice;
} kinds[] = {
	{ "compression",
	  "Use a lower level, a faster method or several threads (zstd -T0, xz -T0, pigz)." },
	{ "cryptography",
	  "Of data, do several files at a time, or use a faster method; of keys and passwords, options say how often "
	  "it is repeated (iterations, rounds, lengths)." },
	{ "linear-algebra", "Let the library use several threads (OMP_NUM_THREADS)." },
};

static const char *advice_of_kind(const struct classes *c, const struct hot *h,
				  const struct summary *s)
{
	const char *advice;

	if (h->place.function->class == classes_find(c, "jit") && *h->place.function->name)
		return "It is the program's own code, compiled while it ran: look at its loops.";
	if (h->place.function->class == classes_find(c, "jit"))
		return advice_of_profiler(s,
					  "It is the program's own code, compiled while it ran: a "
					  "profiler of its language names its functions.");
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (h->place.function->class == classes_find(c, kinds[i].class))
			return kinds[i].advice;
	advice = advice_of_options(s->hot.who);
	return advice ? advice : "What it does there follows from its options and its input.";
}

static const double large_bytes = 64 << 20; /* beyond the caches of most processors */

static const char *advice_of(const struct found *f, const struct summary *s)
{
	const struct classes *c = &s->code->classes;
	const struct hot *h = &f->hot;
	static const double kernel_share = 0.2;

	if (f->reason.row)
		return f->reason.row->advice;
	if (f->branch.n)
		return "Begin with the first of them: call it less often, or give it less to do.";
	if (f->interpreter)
		return advice_of_profiler(s,
					  "Which lines of the script these are was not recorded: a "
					  "profiler of its language names them.");
	if (h->calls.function || f->native.function)
		return "Call it less often, give it less to do, or use another way.";
	if (f->python && s->cpu_system_s >= kernel_share * s->cpu_s)
		return "Much of the CPU time is in the kernel, where compiled code changes nothing: do it "
		       "less often; keep files open, and read and write more with each call.";
	if (f->python)
		return "Python's interpreter runs that itself: do it less often, or by compiled code (NumPy, "
		       "Numba, Cython).";
	if (!h->own)
		return advice_of_kind(c, h, s);
	return h->place.line
		       ? "Look at its loops: `sonde show --by line`."
		       : "Look at its loops; built with -g, `sonde show --by line` names the line.";
}

/* Of compiled code it is not known whether it computes or waits for memory. */
static void say_advice(struct summary_hot *out, const struct found *f, const struct summary *s)
{
	static const char without[] =
		"awk*,gawk*,mawk*,nawk*,original-awk*,sed*,bash*,dash*,sh,sh *,ksh*,zsh*";
	bool libraries = f->interpreter && !f->reason.row &&
			 !(s->ncommands && glob_match(without, s->commands[0].name));
	bool compiled = f->hot.own && !f->python && !f->hot.calls.function && !f->branch.n &&
			!f->reason.row;
	double held = s->peak_memory_bytes;
	char bytes[32];

	snprintf(out->advice, sizeof out->advice, "%s", advice_of(f, s));
	if (libraries)
		decimal_append(out->advice, sizeof out->advice, " Let libraries do the loops.");
	if (compiled && held >= large_bytes)
		decimal_append(
			out->advice, sizeof out->advice,
			" The job holds %s, more than caches do: to go through that in strides or at random takes "
			"many times what computing takes (cache misses), which only counters tell (--perf).",
			unit_format(UNIT_BYTES, held, bytes, sizeof bytes));
	else if (compiled)
		decimal_append(out->advice, sizeof out->advice,
			       " How much of it goes to cache misses only counters tell (--perf).");
}

/* ---- why ---- */

/* With the kernel's work that shows the same. */
static int say_reason(struct summary *s, const struct found *f)
{
	const struct stacks *kernel = s->code->kernel;
	struct summary_hot *out = &s->hot;
	double share = 0;
	int rc = 0;

	if (!f->reason.row)
		return 0;
	snprintf(out->reason, sizeof out->reason, "%s", f->reason.row->what);
	if (f->python_shows)
		share = f->reason.match.seconds / f->sampled_s;
	else if (kernel && kernel->total > 0 && kernel->effective >= hotspot_least_samples)
		rc = slowness_share(&share, kernel, f->reason.row);
	share = share >= most && s->cpu_system_s > 0 ? share : 0;
	out->reason_seconds = out->seconds + (share > 0 ? share * s->cpu_system_s : 0);
	out->reason_ratio = out->reason_seconds / s->code->account.whole_s;
	out->reason_least = out->least + out->reason_ratio - out->ratio;
	return rc;
}

/* ---- all of it ---- */

static const double python_most = 0.85; /* of what was sampled: then it is a job of Python */

/* Of what was sampled, the share of commands that run Python: its own looks begin later. */
static double python_share(const struct stacks *native, const struct stacks *python)
{
	const struct stacks_rows *of = &native->rows[STACKS_BY_COMMAND];
	const struct stacks_rows *with = &python->rows[STACKS_BY_COMMAND];
	double sum = 0;

	for (uint32_t i = 0; i < of->n; i++)
		for (uint32_t k = 0; k < with->n; k++)
			sum += strcmp(of->row[i].command, with->row[k].command) ? 0
										: of->row[i].self;
	return stacks_share(native, sum);
}

static bool is_interpreter(const struct classes *c, const struct hot *h)
{
	uint32_t class = h->place.function->class;

	return !h->own && class >= CLASS_FIRST &&
	       (class == classes_find(c, "interpreter") || class == classes_find(c, "python"));
}

/* Of the place, or of all of it where that is none of the program's own; then of what Python calls
 * in C. Where no own function has most, nor several that one calls, what shows it is the place. */
static int find_reason(struct found *f, const struct stacks *of, const struct stacks *native)
{
	bool known = f->share >= most && (f->hot.own || f->branch.n), own = known && !f->branch.n;
	double least = known ? 0 : most;
	int rc = 0;

	if (f->native.seconds > 0 && !f->hot.calls.function && f->share >= most)
		f->reason.row = slowness_of(f->native.function);
	if (f->reason.row)
		return 0;
	rc = slowness_find(&f->reason, of, own ? &f->hot : NULL, least);
	f->reason_of_s = own ? f->hot.place.seconds : of->total;
	f->python_shows = f->python && f->reason.row;
	if (!rc && !f->reason.row && f->python) {
		rc = slowness_find(&f->reason, native, NULL, least);
		f->reason_of_s = native->total;
	}
	if (rc || !f->reason.row || known)
		return rc;
	f->hot = (struct hot){ .place = f->reason.match.function };
	f->branch = (struct hot_branch){ 0 };
	f->share = f->reason.match.seconds / f->reason_of_s;
	f->interpreter = false;
	return 0;
}

static int find(struct found *f, const struct code *code)
{
	const struct stacks *native = code->stacks, *python = code->python;
	const struct stacks *of;
	int rc;

	*f = (struct found){ 0 };
	f->python = python && python->total > 0 && python_share(native, python) >= python_most;
	rc = hot_make(&f->hot, f->python ? python : native);
	if (!rc && f->python)
		rc = hot_python_calls(&f->native, native);
	if (f->native.seconds < most / 2 * native->total) /* of the few whose callers are known */
		f->native.seconds = 0;
	of = f->python ? python : native;
	if (rc || !f->hot.place.function || !of)
		return rc;
	f->sampled_s = of->total;
	f->share = stacks_share(of, f->hot.place.seconds);
	f->interpreter = is_interpreter(&code->classes, &f->hot);
	if (f->share < most) {
		hot_branch_find(&f->branch, of);
		f->share = f->branch.n ? stacks_share(of, f->branch.seconds) : f->share;
		f->interpreter &= !f->branch.n;
	}
	rc = find_reason(f, of, native);
	f->error = stacks_error(of, f->share);
	return rc;
}

/* The function with most of the time of those classes. */
static void find_spinning(struct summary *s)
{
	const struct stacks *st = s->code->stacks;
	const struct stacks_rows *rows = &st->rows[STACKS_BY_FUNCTION];
	const uint32_t locks = classes_find(&s->code->classes, "locks"),
		       spins = classes_find(&s->code->classes, "spinning");

	for (uint32_t i = 0; i < rows->n && !*s->code_spins; i++) {
		const struct stacks_row *row = &rows->row[i];

		if (row->class && (row->class == locks || row->class == spins))
			hotspot_put_place(
				s->code_spins, sizeof s->code_spins,
				&(struct hot_place){ .function = &st->functions[row->function],
						     .file = row->file,
						     .line = row->line });
	}
}

static const double tiny = 1e-12; /* seconds: it is one, though nothing is known of its time */

/* With what its functions call, as those of mathematics. */
static int find_fortran(struct summary *s)
{
	static const char files[] =
		"*.f90,*.F90,*.f95,*.F95,*.f03,*.F03,*.f08,*.F08,*.f,*.F,*.for,*.ftn";
	static const char procedures[] = "MAIN__,__*_MOD_*";
	const struct stacks *st = s->code->stacks;
	const struct stacks_rows *rows = &st->rows[STACKS_BY_FUNCTION];
	double *of = calloc(st->nfunctions + 1u, sizeof *of), sum = 0;
	uint32_t best = 0;

	if (!of)
		return -ENOMEM;
	for (uint32_t i = 0; i < rows->n; i++)
		if ((rows->row[i].file && glob_match(files, rows->row[i].file)) ||
		    glob_match(procedures, rows->row[i].name))
			of[rows->row[i].function] = tiny;
	for (uint32_t i = 1; i < st->nnodes; i++) {
		uint32_t at = i;

		while (at && !(of[st->nodes[at].function] > 0))
			at = st->nodes[at].parent;
		if (!at)
			continue;
		sum += st->nodes[i].self;
		of[st->nodes[at].function] += st->nodes[i].self;
	}
	for (uint32_t i = 0; i < rows->n; i++) {
		const struct stacks_row *row = &rows->row[i];

		if (!(of[row->function] > of[best]))
			continue;
		best = row->function;
		s->code_fortran[0] = '\0';
		hotspot_put_place(s->code_fortran, sizeof s->code_fortran,
				  &(struct hot_place){ .function = &st->functions[best],
						       .file = row->file,
						       .line = row->line });
	}
	s->code_fortran_ratio = stacks_share(st, sum);
	free(of);
	return 0;
}

/* Python's functions are read also of a thread that waits for a core, where it lost one: at the end
 * of a system call more often than elsewhere, above all where the kernel preempts lazily (Linux
 * 6.13 and later). Seen: 0.1 too much beside six busy loops, 0.5 beside builds. */
static double python_error(const struct summary *s)
{
	static const double most_wrong = 0.3;
	double waited = story_waited_s(s);

	return waited > 0 ? most_wrong * waited / (waited + s->cpu_s) : 0;
}

static int say_ins(struct summary *s, const struct hot *nearly_all_is)
{
	static const char opens[] = "open,open64,openat,openat64,__open*,creat,close,__close*";
	const struct stacks *kernel = s->code->kernel;
	int rc = 0;

	s->hot.opens_ratio = kernel ? stacks_share(kernel, stacks_matching(kernel, opens)) : NAN;

	for (int i = 0; i < HOT_INS && !rc; i++)
		rc = hotspot_say_in(&s->hot, s->code, i, nearly_all_is);
	return rc;
}

/* What was not sampled is taken to be as what was of the same commands; kernel time and short
 * processes are known to be none of it. */
int summary_hot_make(struct summary *s)
{
	const struct code_account *a = s->code ? &s->code->account : NULL;
	struct found f;
	double of;
	int rc;

	s->code_scans_least = s->code_r_ratio = s->code_r_text_ratio = s->code_fortran_ratio =
		s->hot.ratio = s->hot.least = s->hot.seconds = s->hot.opens_ratio =
			s->hot.reason_ratio = s->hot.reason_least = s->hot.reason_seconds = NAN;
	if (!a || !(a->whole_s > 0))
		return 0;
	if (!s->code->stacks || !(s->code->stacks->total > 0))
		return say_ins(s, NULL);
	find_spinning(s);
	rc = find_fortran(s);
	if (rc)
		return rc;
	s->code_scans_least = scans_of(s->code);
	s->code_r_ratio =
		stacks_matching(s->code->stacks, "Rf_eval,bcEval*,R_execClosure") / a->whole_s;
	s->code_r_text_ratio =
		stacks_matching(s->code->stacks, "Rf_mkCharLenCE,Rf_mkCharCE,Rf_mkChar") /
		a->whole_s;
	rc = find(&f, s->code);
	if (rc || !f.hot.place.function)
		return rc ? rc : say_ins(s, NULL);
	of = isnan(a->user_s) ? a->whole_s : fmax(0, a->user_s - a->short_s);
	of = fmin(of, code_sampled_s(s));
	f.error += f.python ? python_error(s) : 0;
	s->hot.seconds = f.share * of;
	f.scale = of / a->whole_s;
	s->hot.ratio = s->hot.seconds / a->whole_s;
	s->hot.least = fmax(0, f.share - f.error) * of / a->whole_s;
	say_place(&s->hot, &f, &s->code->classes);
	rc = say_reason(s, &f);
	if (rc)
		return rc;
	rc = say_ins(s, f.hot.own && !f.branch.n && f.share >= nearly_all ? &f.hot : NULL);
	if (!rc)
		rc = say_beside_mpi(&s->hot, s->code);
	say_who(&s->hot, s);
	say_no_storage(&s->hot, s);
	say_advice(&s->hot, &f, s);
	return rc;
}
