/* SPDX-License-Identifier: Apache-2.0 */
/* explain_run.c - the findings of one run: its verdicts, and what it did with its time, code,
 * waits, memory and files. */
#include "core/stacks/symbol.h"
#include "report/explain/explain.h"
#include "report/summary/code.h"
#include "report/summary/ending.h"
#include "report/summary/waittime.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- verdicts ---- */

/* Of a theme of rules: what it answers, and what shows more of it. */
struct theme {
	const char *name;
	enum explain_topic topic;
	const char *settle;
};

static const char show_all[] = "sonde show --all", show_code[] = "sonde show --code",
		  show_waits[] = "sonde show --waits", show_peers[] = "sonde show --peers",
		  report[] = "sonde report", usage[] = "sonde usage";

static const struct theme themes[] = {
	{ "how it ended", EXPLAIN_WHERE, show_all },
	{ "cores", EXPLAIN_WHERE, show_waits },
	{ "code", EXPLAIN_WHERE, show_code },
	{ "kernel", EXPLAIN_WHERE, show_code },
	{ "balance", EXPLAIN_WHERE, show_all },
	{ "GPUs", EXPLAIN_WHERE, report },
	{ "limits of the job", EXPLAIN_WHERE, show_all },
	{ "energy and the monitor", EXPLAIN_WHERE, show_all },
	{ "memory", EXPLAIN_MEMORY, show_all },
	{ "files", EXPLAIN_IO, show_waits },
	{ "a full disk", EXPLAIN_IO, show_all },
	{ "connections", EXPLAIN_IO, show_peers },
	{ "the fabric", EXPLAIN_IO, report },
	{ "idle", EXPLAIN_WAIT, show_waits },
	{ "waits", EXPLAIN_WAIT, show_waits },
	{ "requested and used", EXPLAIN_NEXT, usage },
};

static const struct theme *theme_of(const char *name)
{
	static const struct theme other = { "", EXPLAIN_WHERE, show_all };

	for (size_t i = 0; i < sizeof themes / sizeof themes[0]; i++)
		if (!strcmp(themes[i].name, name))
			return &themes[i];
	return &other;
}

static bool has_stacks(const struct summary *s)
{
	return s->code && s->code->stacks;
}

static bool has_waits(const struct summary *s)
{
	return s->waits && s->waits->waiting;
}

/* What shows more, or what to record next time so that something can. */
static void settle(struct explain_finding *f, const struct summary *s, const char *command)
{
	const char *again = command == show_code && !has_stacks(s)   ? "--stacks"
			    : command == show_waits && !has_waits(s) ? "--waits"
								     : NULL;

	if (again)
		snprintf(f->settle, sizeof f->settle, "sonde run %s -- COMMAND", again);
	else if (command == usage)
		explain_copy(f->settle, sizeof f->settle, usage); /* it is of many runs */
	else
		explain_settle(f, command, s->path, NULL);
}

/* The first sentence is what was found, with the error that was printed; the others say what to do;
 * what it costs is a number. */
static const char *advice_in(const char *sentence, const char *error)
{
	const char *printed = error && *error ? strstr(sentence, error) : NULL;

	for (const char *at = printed ? printed + strlen(error) - 1 : sentence;
	     (at = strstr(at, ". ")); at++)
		if (isupper((unsigned char)at[2]))
			return at + 2;
	return sentence + strlen(sentence);
}

static void put_sentence(struct explain_finding *f, const struct summary_verdict *v,
			 const char *error)
{
	const char *advice = advice_in(v->sentence, error),
		   *cost = strstr(advice, "It costs up to ");
	size_t claimed = (size_t)(advice - v->sentence);
	char text[VERDICT_SENTENCE + VERDICT_COST], next[VERDICT_NEXT + 64];

	snprintf(text, sizeof text, "%.*s", (int)(claimed - (*advice && claimed)), v->sentence);
	explain_copy(f->claim, sizeof f->claim, text);
	snprintf(text, sizeof text, "%.*s%s%s",
		 (int)(cost ? cost - advice - (cost > advice) : (ptrdiff_t)strlen(advice)), advice,
		 *advice && *v->next ? " " : "", verdict_next(v, next, sizeof next));
	explain_copy(f->next, sizeof f->next, text);
}

static void put_numbers(struct explain_finding *f, const struct summary_verdict *v, uint32_t i)
{
	struct explain_number *cost = explain_number(f, EXPLAIN_COST, UNIT_SECONDS, v->cost_s,
						     "show:/verdicts/%u/cost_seconds", i);

	if (cost && v->cost_s <= 0)
		f->nnumbers--;
	if (v->resource && !isnan(v->amount))
		explain_number(f, resource_name(v->resource),
			       v->resource == RESOURCE_MEMORY ? UNIT_BYTES
			       : v->resource == RESOURCE_TIME ? UNIT_SECONDS
							      : UNIT_ONE,
			       v->amount, "show:/verdicts/%u/request/amount", i);
	for (uint32_t k = 0; k < v->nnumbers; k++)
		explain_number(f, v->number[k].name, v->number[k].unit, v->number[k].value,
			       "show:/verdicts/%u/numbers/%u/value", i, k);
}

static void put_stack(struct explain_finding *f, const struct stacks *s, uint32_t function);

static void add_verdict(struct explain *x, const struct run *r, uint32_t i)
{
	const struct summary *s = x->summary;
	const struct summary_verdict *v = &s->verdicts[i];
	const struct theme *t = theme_of(v->theme);
	struct explain_finding *f = explain_add(x, t->topic, v->rule);

	if (!f)
		return;
	f->severity = v->severity;
	f->confidence = v->confidence;
	put_sentence(f, v, s->reason.line);
	put_numbers(f, v, i);
	explain_copy(f->cause, sizeof f->cause, v->about);
	explain_copy(f->metric, sizeof f->metric, v->metric);
	explain_copy(f->instance, sizeof f->instance, v->instance);
	if (v->node && v->node < r->nnodes)
		explain_copy(f->host, sizeof f->host, r->nodes[v->node].host);
	f->from_s = v->from_s;
	f->to_s = v->to_s;
	if (!strcmp(t->name, "code") && has_stacks(s) &&
	    s->code->stacks->rows[STACKS_BY_FUNCTION].n)
		put_stack(f, s->code->stacks,
			  s->code->stacks->rows[STACKS_BY_FUNCTION].row[0].function);
	settle(f, s, t->settle);
}

/* ---- where the time went ---- */

static void add_end(struct explain *x)
{
	const struct summary *s = x->summary;
	struct ending_heading h = ending_heading_of(s);
	struct explain_finding *f;
	char wall[32];

	if (h.severity != SEVERITY_BAD || !(f = explain_add(x, EXPLAIN_WHERE, "end")))
		return;
	snprintf(f->claim, sizeof f->claim, "%.200s%s", h.words, h.joint);
	if (s->wall_s >= 0)
		snprintf(f->claim + strlen(f->claim), sizeof f->claim - strlen(f->claim), " %s %s",
			 h.time, unit_format(UNIT_SECONDS, s->wall_s, wall, sizeof wall));
	explain_number(f, "exit_code", UNIT_ONE, s->exit_code, "show:/job/exit_code");
	explain_number(f, "signal", UNIT_ONE, s->signal, "show:/job/signal");
	explain_number(f, "wall_seconds", UNIT_SECONDS, s->wall_s, "show:/job/wall_seconds");
	settle(f, s, show_all);
}

/* The largest part that is not in `taken`; ACCOUNT_PARTS: there is none. */
static int largest_part(const struct account *a, uint32_t taken)
{
	int most = ACCOUNT_PARTS;

	for (int p = 0; p < ACCOUNT_PARTS; p++)
		if (!(taken & UINT32_C(1) << p) && a->part_s[p] > 0 &&
		    (most == ACCOUNT_PARTS || a->part_s[p] > a->part_s[most]))
			most = p;
	return most;
}

static void add_time(struct explain *x)
{
	const struct summary *s = x->summary;
	const struct account *a = &s->account;
	enum { PARTS = 4 };
	struct explain_finding *f = a->whole_s > 0 ? explain_add(x, EXPLAIN_WHERE, "time") : NULL;
	uint32_t taken = 0;
	int most = f ? largest_part(a, 0) : ACCOUNT_PARTS;
	size_t n;

	if (!f)
		return;
	snprintf(f->claim, sizeof f->claim, "Of wall time x %.4g cores:", a->cores);
	for (int i = 0, p; i < PARTS && (p = largest_part(a, taken)) < ACCOUNT_PARTS; i++) {
		char share[32];

		taken |= UINT32_C(1) << p;
		n = strlen(f->claim);
		snprintf(f->claim + n, sizeof f->claim - n, "%s %s %s", i ? "," : "",
			 account_rows[p].label,
			 unit_format(UNIT_RATIO, a->part_s[p] / a->whole_s, share, sizeof share));
		explain_number(f, account_rows[p].key, UNIT_RATIO, a->part_s[p] / a->whole_s,
			       "show:/where_time_went/parts/%d/ratio", p);
	}
	f->from_s = 0;
	f->to_s = s->wall_s;
	settle(f, s, most <= ACCOUNT_COMPUTING ? show_code : show_waits);
}

static void add_commands(struct explain *x)
{
	enum { COMMANDS = 3 };
	const struct summary *s = x->summary;
	struct explain_finding *f = s->ncommands ? explain_add(x, EXPLAIN_WHERE, "commands") : NULL;

	if (!f)
		return;
	snprintf(f->claim, sizeof f->claim, "CPU time by command:");
	for (uint32_t i = 0; i < s->ncommands && i < COMMANDS; i++) {
		const struct summary_command *c = &s->commands[i];
		size_t n = strlen(f->claim);
		char cpu[32], name[64];

		explain_copy(name, sizeof name, c->name);
		snprintf(f->claim + n, sizeof f->claim - n, "%s %s %s in %.0f process%s",
			 i ? "," : "", name, unit_format(UNIT_SECONDS, c->cpu_s, cpu, sizeof cpu),
			 c->processes, c->processes == 1 ? "" : "es");
		explain_number(f, name, UNIT_SECONDS, c->cpu_s, "show:/commands/%u/cpu_seconds", i);
	}
	settle(f, s, show_all);
}

/* ---- code ---- */

/* The heaviest stack of a function, from what called it down to itself. */
static void put_stack(struct explain_finding *f, const struct stacks *s, uint32_t function)
{
	enum { FRAMES = 6 };
	uint32_t frame[FRAMES], n = 0, at = 0;

	for (uint32_t i = 1; i < s->nnodes; i++)
		if (s->nodes[i].function == function &&
		    (!at || s->nodes[i].self > s->nodes[at].self))
			at = i;
	for (; at && n < FRAMES; at = s->nodes[at].parent)
		frame[n++] = s->nodes[at].function;
	snprintf(f->stack, sizeof f->stack, "%s", at ? "...;" : "");
	while (n-- > 0) {
		size_t len = strlen(f->stack);
		char name[48];

		explain_copy(name, sizeof name, s->functions[frame[n]].shown);
		snprintf(f->stack + len, sizeof f->stack - len, "%s%s", name, n ? ";" : "");
	}
}

static void put_place(char *out, size_t size, const struct stacks *s, const struct stacks_row *row)
{
	char name[80], where[80];

	explain_copy(name, sizeof name, row->name);
	explain_copy(where, sizeof where,
		     symbol_base(row->file ? row->file : s->functions[row->function].module));
	if (row->file && row->line)
		snprintf(out, size, "%s (%s:%u)", name, where, row->line);
	else
		snprintf(out, size, *where ? "%s (%s)" : "%s", name, where);
}

/* How sure what so many samples say is. */
static enum confidence confidence_of(double samples)
{
	return samples >= 100  ? CONFIDENCE_HIGH
	       : samples >= 10 ? CONFIDENCE_MEDIUM
			       : CONFIDENCE_LOW;
}

static void put_share(struct explain_finding *f, const struct code *code, const char *name,
		      double self, const char *at, uint32_t i)
{
	double share = code_share(code, code->stacks, self);
	double error = code_error(code, code->stacks, self);
	struct explain_number *n =
		explain_number(f, name, UNIT_RATIO, share, "show:/code/%s/%u/self_ratio", at, i);

	if (!n)
		return;
	n->low = fmax(0, share - error);
	n->high = fmin(1, share + error);
}

static void add_function(struct explain *x, uint32_t i)
{
	const struct stacks *s = x->summary->code->stacks;
	const struct stacks_row *row = &s->rows[STACKS_BY_FUNCTION].row[i];
	struct explain_finding *f = explain_add(x, EXPLAIN_WHERE, "code");
	char place[180], share[32];

	if (!f)
		return;
	f->confidence = confidence_of(row->samples);
	put_place(place, sizeof place, s, row);
	snprintf(f->claim, sizeof f->claim, "%s of the CPU time was in %s, of %.60s",
		 unit_format(UNIT_RATIO, code_share(x->summary->code, s, row->self), share,
			     sizeof share),
		 place, row->command ? row->command : "an unknown command");
	if (row->class)
		snprintf(f->cause, sizeof f->cause, "kind of code: %.100s",
			 classes_name(&x->summary->code->classes, row->class));
	put_share(f, x->summary->code, "self_ratio", row->self, "function", i);
	explain_number(f, "self_seconds", UNIT_SECONDS, row->self,
		       "show:/code/function/%u/self_seconds", i);
	put_stack(f, s, row->function);
	settle(f, x->summary, show_code);
}

static void add_code(struct explain *x)
{
	enum { FUNCTIONS = 3 };
	static const double least = 0.05;
	const struct summary *s = x->summary;
	struct explain_finding *f;

	const bool thin = has_stacks(s) && code_is_thin(s->code);
	struct bytes few = { 0 };

	for (uint32_t i = 0; has_stacks(s) && !thin && i < FUNCTIONS; i++) {
		const struct stacks *st = s->code->stacks;
		const struct stacks_rows *rows = &st->rows[STACKS_BY_FUNCTION];

		if (i < rows->n && code_share(s->code, st, rows->row[i].self) >= least)
			add_function(x, i);
	}
	if ((has_stacks(s) && !thin) || !(f = explain_add(x, EXPLAIN_WHERE, "code")))
		return;
	f->severity = SEVERITY_CANNOT_TELL;
	if (thin)
		code_thin_words(s->code, &few);
	bytes_u8(&few, '\0');
	snprintf(f->claim, sizeof f->claim,
		 "Which functions used the CPU time is not known: %.200s",
		 s->code && s->code->gaps.refused ? s->code->gaps.refused
		 : thin && !few.failed            ? (const char *)few.data
						  : "stacks were not recorded");
	bytes_free(&few);
	if (thin && s->code->stacks->rows[STACKS_BY_FUNCTION].n)
		put_stack(f, s->code->stacks,
			  s->code->stacks->rows[STACKS_BY_FUNCTION].row[0].function);
	settle(f, s, show_code);
}

/* ---- waits ---- */

static void put_waited(struct explain_finding *f, const struct waiting *w)
{
	const struct waiting_rows *objects = &w->rows[WAITING_BY_OBJECT],
				  *places = &w->rows[WAITING_BY_PLACE];
	char share[32];

	snprintf(f->claim, sizeof f->claim, "Threads waited %s of their time",
		 unit_format(UNIT_RATIO, waittime_ratio(w, waiting_waited(&w->time)), share,
			     sizeof share));
	explain_number(f, "wall_seconds of threads", UNIT_SECONDS, waiting_wall(&w->time),
		       "waits:/wall_seconds");
	explain_number(f, "waited_seconds", UNIT_SECONDS, waiting_waited(&w->time),
		       "waits:/waited_seconds");
	explain_number(f, "unseen_seconds", UNIT_SECONDS, w->time.unseen, "waits:/unseen_seconds");
	if (!objects->n || !(waiting_waited(&objects->row[0].time) > 0))
		return;
	snprintf(f->claim + strlen(f->claim), sizeof f->claim - strlen(f->claim),
		 ", most for %.120s", objects->row[0].name);
	explain_number(f, "waited_seconds for it", UNIT_SECONDS,
		       waiting_waited(&objects->row[0].time), "waits:/object/0/waited_seconds");
	if (places->n && *places->row[0].function)
		snprintf(f->stack, sizeof f->stack, "%.200s", places->row[0].name);
}

static void add_waits(struct explain *x)
{
	const struct summary *s = x->summary;
	struct explain_finding *f = explain_add(x, EXPLAIN_WAIT, "waits");

	if (!f)
		return;
	if (has_waits(s)) {
		const struct waiting *w = s->waits->waiting;

		put_waited(f, w);
		f->confidence = waittime_ratio(w, w->time.unseen) < 0.1 ? CONFIDENCE_HIGH
									: CONFIDENCE_MEDIUM;
	} else {
		f->severity = SEVERITY_CANNOT_TELL;
		snprintf(f->claim, sizeof f->claim, "What threads waited for is not known: %.200s",
			 s->waits && s->waits->refused ? s->waits->refused
						       : "waits were not recorded");
	}
	settle(f, s, show_waits);
}

/* ---- memory, files and connections ---- */

static enum confidence confidence_of_peak(const struct summary *s)
{
	if (s->peak_memory_is_bound || !s->peak_memory_kind)
		return CONFIDENCE_LOW;
	return strcmp(s->peak_memory_kind, "pss") && strcmp(s->peak_memory_kind, "cgroup")
		       ? CONFIDENCE_MEDIUM
		       : CONFIDENCE_HIGH;
}

static void put_largest(struct explain_finding *f, const struct summary_process *p,
			const char *what, double bytes)
{
	char text[32];
	size_t n = strlen(f->claim);

	snprintf(f->claim + n, sizeof f->claim - n, "; the process with most: %.60s, %s%s",
		 p->name ? p->name : "unknown", unit_format(UNIT_BYTES, bytes, text, sizeof text),
		 what);
	f->from_s = p->start_s;
	f->to_s = p->end_s;
}

static void add_memory(struct explain *x)
{
	const struct summary *s = x->summary;
	struct summary_whole whole = summary_memory(s);
	struct explain_finding *f;
	char peak[32], of[32];

	if (isnan(s->peak_memory_bytes) || !(f = explain_add(x, EXPLAIN_MEMORY, "memory")))
		return;
	f->confidence = confidence_of_peak(s);
	snprintf(f->claim, sizeof f->claim, "The job held %s%s at its peak",
		 s->peak_memory_is_bound ? "at least " : "",
		 unit_format(UNIT_BYTES, s->peak_memory_bytes, peak, sizeof peak));
	if (!isnan(whole.v))
		snprintf(f->claim + strlen(f->claim), sizeof f->claim - strlen(f->claim),
			 " of %s %s", unit_format(UNIT_BYTES, whole.v, of, sizeof of), whole.words);
	explain_number(f, "peak_memory_bytes", UNIT_BYTES, s->peak_memory_bytes,
		       "show:/job/peak_memory_bytes");
	explain_number(f, "limit_bytes", UNIT_BYTES, s->tight_host ? s->tight_limit_bytes : NAN,
		       "show:/job/nearest_memory_limit/limit_bytes");
	explain_copy(f->metric, sizeof f->metric, "job.pss_bytes");
	if (s->tight_host)
		explain_copy(f->host, sizeof f->host, s->tight_host);
	if (s->nby_memory && s->by_memory[0].peak_rss_bytes > 0) {
		put_largest(f, &s->by_memory[0], " resident", s->by_memory[0].peak_rss_bytes);
		explain_number(f, "peak_resident_bytes of it", UNIT_BYTES,
			       s->by_memory[0].peak_rss_bytes,
			       "show:/processes/by_memory/0/peak_resident_bytes");
	}
	settle(f, s, show_all);
}

static void add_io(struct explain *x)
{
	const struct summary *s = x->summary;
	struct explain_finding *f;
	char read[32], written[32];

	if (isnan(s->read_bytes + s->written_bytes) || !(f = explain_add(x, EXPLAIN_IO, "io")))
		return;
	f->confidence = s->io_is_bound ? CONFIDENCE_LOW : CONFIDENCE_HIGH;
	snprintf(f->claim, sizeof f->claim, "System calls read %s%s and wrote %s",
		 s->io_is_bound ? "at least " : "",
		 unit_format(UNIT_BYTES, s->read_bytes, read, sizeof read),
		 unit_format(UNIT_BYTES, s->written_bytes, written, sizeof written));
	explain_number(f, "read_bytes", UNIT_BYTES, s->read_bytes, "show:/job/read_bytes");
	explain_number(f, "written_bytes", UNIT_BYTES, s->written_bytes, "show:/job/written_bytes");
	explain_copy(f->metric, sizeof f->metric, "job.read_bytes_per_second");
	if (s->nby_io) {
		const struct summary_process *p = &s->by_io[0];

		put_largest(f, p, "", p->read_bytes + p->written_bytes);
		explain_number(f, "read_bytes of it", UNIT_BYTES, p->read_bytes,
			       "show:/processes/by_io/0/read_bytes");
		explain_number(f, "written_bytes of it", UNIT_BYTES, p->written_bytes,
			       "show:/processes/by_io/0/written_bytes");
	}
	settle(f, s, show_waits);
}

int explain_run(struct explain *x, const struct summary *s, const struct run *r,
		enum explain_topic ask)
{
	*x = (struct explain){ .path = s->path, .summary = s, .ask = ask };
	x->finding = calloc(EXPLAIN_FINDINGS, sizeof *x->finding);
	if (!x->finding)
		return -ENOMEM;
	add_end(x);
	for (uint32_t i = 0; i < s->nverdicts; i++)
		add_verdict(x, r, i);
	add_time(x);
	add_commands(x);
	add_code(x);
	add_waits(x);
	explain_mpi(x);
	explain_steps(x);
	add_memory(x);
	add_io(x);
	explain_peers(x);
	explain_rank(x);
	return 0;
}
