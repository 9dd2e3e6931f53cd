/* SPDX-License-Identifier: Apache-2.0 */
/* blame.c - runs become seconds of each part. */
#include "report/comparison/blame.h"

#include "base/array.h"
#include "base/hash.h"
#include "core/stacks/symbol.h"
#include "report/summary/code.h"
#include "report/summary/summary.h"
#include "report/summary/waittime.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of each run; a part of half a percent is always among them. */
enum { FUNCTIONS_TAKEN = 400 };

const char *const blame_level_names[] = {
	[BLAME_CLASS] = "class",   [BLAME_FUNCTION] = "function", [BLAME_COMMAND] = "command",
	[BLAME_OBJECT] = "object", [BLAME_PHASE] = "phase",
};
_Static_assert(sizeof blame_level_names / sizeof blame_level_names[0] == BLAME_LEVELS, "a name");

const struct blame_words blame_words[BLAME_SUBJECTS] = {
	[BLAME_WALL] = {
		.of = "wall time",
		.whole = "all wall time",
		.title = "Wall time",
		.key = "blame_wall",
		.nothing = "no phase",
		.lacked = "phases",
		.option = "spans or marks",
		.head = { [BLAME_PHASE] = "phase" },
		.others = { [BLAME_PHASE] = "other phases" },
		.alike = "no phase differs for certain",
		.order = { BLAME_PHASE },
		.norder = 1,
	},
	[BLAME_CPU] = {
		.of = "CPU",
		.whole = "all CPU time",
		.title = "CPU time",
		.key = "blame",
		.nothing = "no code",
		.lacked = "stacks",
		.option = "--stacks",
		.head = { [BLAME_CLASS] = "kind of code",
			  [BLAME_FUNCTION] = "function",
			  [BLAME_COMMAND] = "command" },
		.others = { [BLAME_CLASS] = "other classes",
			    [BLAME_FUNCTION] = "other functions",
			    [BLAME_COMMAND] = "other commands" },
		.alike = "no function, kind of code or command differs for certain",
		.order = { BLAME_FUNCTION, BLAME_CLASS, BLAME_COMMAND },
		.norder = 3,
	},
	[BLAME_TIME] = {
		.of = "time of threads",
		.whole = "all time of threads",
		.title = "Time of threads",
		.key = "blame_time",
		.nothing = "no wait",
		.lacked = "waits",
		.option = "--waits",
		.head = { [BLAME_CLASS] = "kind of wait",
			  [BLAME_FUNCTION] = "function that waited",
			  [BLAME_OBJECT] = "what was waited for" },
		.others = { [BLAME_CLASS] = "other waits",
			    [BLAME_FUNCTION] = "other functions",
			    [BLAME_OBJECT] = "other waits" },
		.alike = "no wait differs for certain",
		.order = { BLAME_OBJECT, BLAME_FUNCTION, BLAME_CLASS },
		.norder = 3,
	},
};

void blame_free(struct blame *b)
{
	for (uint32_t i = 0; i < b->nparts; i++)
		free(b->part[i].value);
	free(b->part);
	free(b->run);
	free(b->module);
	bytes_free(&b->refused);
	bytes_free(&b->note);
	pool_free(&b->pool);
	*b = (struct blame){ 0 };
}

static const char *keep(struct blame *b, const char *text)
{
	const char *kept = pool_text(&b->pool, text, strlen(text));

	b->failed |= !kept;
	return kept ? kept : "";
}

/* ---- parts ---- */

static uint64_t part_sum(enum blame_level level, enum blame_kind kind, const char *name,
			 const char *module)
{
	const unsigned ids[] = { level, kind };

	return hash_text(hash_text(hash_bytes(0, ids, sizeof ids), name), module);
}

struct blame_part *blame_find(struct blame *b, enum blame_level level, enum blame_kind kind,
			      const char *name, const char *module)
{
	uint64_t sum = part_sum(level, kind, name, module);

	for (uint32_t i = 0; i < b->nparts; i++) {
		struct blame_part *p = &b->part[i];

		if (p->sum == sum && p->level == level && p->kind == kind &&
		    !strcmp(p->name, name) && !strcmp(p->module, module))
			return p;
	}
	return NULL;
}

static struct blame_part *part_make(struct blame *b, enum blame_level level, enum blame_kind kind,
				    const char *name, const char *module)
{
	void *grown = array_room(b->part, b->nparts, &b->parts_cap, sizeof *b->part);
	struct blame_part *p;

	if (!grown) {
		b->failed = true;
		return NULL;
	}
	b->part = grown;
	p = &b->part[b->nparts];
	*p = (struct blame_part){ .level = level,
				  .kind = kind,
				  .sum = part_sum(level, kind, name, module),
				  .name = keep(b, name),
				  .module = keep(b, module),
				  .value = calloc(b->runs_cap, sizeof *p->value) };
	if (!p->value) {
		b->failed = true;
		return NULL;
	}
	b->nparts++;
	return p;
}

void blame_put(struct blame *b, enum blame_level level, enum blame_kind kind, const char *name,
	       const char *module, double seconds)
{
	struct blame_part *p;

	if (b->failed || !b->nruns)
		return;
	p = blame_find(b, level, kind, name, module);
	if (!p)
		p = part_make(b, level, kind, name, module);
	if (p)
		p->value[b->nruns - 1] += seconds;
}

/* All parts' values grow with the runs. */
void blame_add_run(struct blame *b, const struct blame_run *run)
{
	uint32_t before = b->runs_cap;
	void *grown = array_room(b->run, b->nruns, &b->runs_cap, sizeof *b->run);

	if (!grown) {
		b->failed = true;
		return;
	}
	b->run = grown;
	for (uint32_t i = 0; i < b->nparts && b->runs_cap > before; i++) {
		double *value = realloc(b->part[i].value, b->runs_cap * sizeof *value);

		if (!value) {
			b->failed = true;
			return;
		}
		memset(value + before, 0, (b->runs_cap - before) * sizeof *value);
		b->part[i].value = value;
	}
	b->run[b->nruns++] = *run;
}

/* ---- programs and libraries ---- */

/* How much of the name of a file is not a version: libz.so.1.2.13, libc-2.31.so. */
void blame_without_version(const char *file, char *out, size_t size)
{
	const char *end = strstr(file, ".so");
	size_t n = strlen(file);
	bool library = end && (!end[3] || end[3] == '.');

	if (library) {
		n = (size_t)(end - file);
		while (n > 1 && strchr("0123456789.", file[n - 1]))
			n--;
		if (n < 2 || file[n - 1] != '-')
			n = (size_t)(end - file);
		else
			n--;
	}
	n = n + 4 > size ? size - 4 : n;
	memcpy(out, file, n);
	memcpy(out + n, library ? ".so" : "", library ? 4 : 1);
}

const char *blame_see_module(struct blame *b, const char *path, const char *build_id)
{
	int side = b->nruns ? b->run[b->nruns - 1].side : 0;
	const char *file = symbol_base(path);
	struct blame_module *m = NULL;
	char name[256];
	void *grown;

	blame_without_version(file, name, sizeof name);
	for (uint32_t i = 0; i < b->nmodules && !m; i++)
		m = strcmp(b->module[i].name, name) ? NULL : &b->module[i];
	if (!m) {
		grown = array_room(b->module, b->nmodules, &b->modules_cap, sizeof *m);
		b->failed |= !grown;
		if (!grown)
			return "";
		b->module = grown;
		m = &b->module[b->nmodules++];
		*m = (struct blame_module){ .name = keep(b, name) };
	}
	if (!m->file[side]) {
		m->file[side] = keep(b, file);
		m->build_id[side] = keep(b, build_id);
	}
	m->mixed[side] |= strcmp(m->file[side], file) || strcmp(m->build_id[side], build_id);
	return m->name;
}

/* ---- recordings ---- */

static void put_classes(struct blame *b, const struct code *code)
{
	const struct stacks_rows *rows = &code->stacks->rows[STACKS_BY_CLASS];

	for (uint32_t i = 0; i < rows->n; i++)
		blame_put(b, BLAME_CLASS, BLAME_NAMED, rows->row[i].name, "", rows->row[i].self);
}

static void put_functions(struct blame *b, const struct run *r, const struct code *code)
{
	const struct stacks *s = code->stacks;
	const struct stacks_rows *rows = &s->rows[STACKS_BY_FUNCTION];
	double rest = s->total;

	for (uint32_t i = 0; i < rows->n && i < FUNCTIONS_TAKEN && rows->row[i].self > 0; i++) {
		const struct stacks_row *row = &rows->row[i];
		const struct stacks_function *f = &s->functions[row->function];
		const char *id = f->module_id && f->module_id < r->nmodules
					 ? r->modules[f->module_id].build_id
					 : NULL;
		const char *module = *f->module ? blame_see_module(b, f->module, id ? id : "") : "";

		/* The file's version is in the words for code without symbols. */
		blame_put(b, BLAME_FUNCTION, BLAME_NAMED,
			  *f->name || !*module ? row->name : "(no symbols)", module, row->self);
		rest -= row->self;
	}
	blame_put(b, BLAME_FUNCTION, BLAME_OTHERS, "other functions", "", rest);
}

static void put_commands(struct blame *b, const struct summary *s, double whole)
{
	double rest = whole;

	for (uint32_t i = 0; i < s->ncommands; i++) {
		double cpu = s->commands[i].cpu_s;

		if (!(cpu > 0))
			continue;
		blame_put(b, BLAME_COMMAND, BLAME_NAMED, s->commands[i].name, "", cpu);
		rest -= cpu;
	}
	b->commands += s->ncommands > 0;
	blame_put(b, BLAME_COMMAND, BLAME_OTHERS, "other commands", "", rest);
}

static void put_unsampled(struct blame *b, const struct code_account *a)
{
	for (enum blame_level level = BLAME_CLASS; level <= BLAME_FUNCTION; level++) {
		if (isnan(a->rest_s))
			continue;
		blame_put(b, level, BLAME_SHORT, "processes too short to be sampled", "",
			  a->short_s);
		blame_put(b, level, BLAME_UNSAMPLED, "user time without samples", "", a->rest_s);
		blame_put(b, level, BLAME_KERNEL, "kernel", "", a->system_s);
	}
}

/* Of CPU time, before which a process was not sampled; 0: all were. */
static double sampled_after_s(const struct run *r)
{
	const struct run_meta *after = run_find_meta(r, 0, "stacks.after_ns");

	return after ? 1e-9 * run_meta_number(after) : 0;
}

static bool add_code(struct blame *b, int side, const struct run *r, const struct summary *s)
{
	const struct code *code = s->code;
	const struct run_meta *period = run_find_meta(r, 0, "stacks.period_ns");

	if (!code || !code->stacks || !(code->stacks->total > 0)) {
		b->brief[side] += sampled_after_s(r) > 0;
		return false;
	}
	blame_add_run(b, &(struct blame_run){
				 .side = side,
				 .at = s->start_utc_ns,
				 .whole_s = code->account.whole_s,
				 .exact = !isnan(code->account.rest_s),
				 .sampled_s = code->stacks->total,
				 .period_s = code->stacks->total / code->stacks->effective,
				 .period_ns = period ? run_meta_number(period) : NAN,
				 .after_s = sampled_after_s(r),
			 });
	put_classes(b, code);
	put_functions(b, r, code);
	put_unsampled(b, &code->account);
	put_commands(b, s, code->account.whole_s);
	return true;
}

/* ---- waits ---- */

/* "a mutex at 0x55d0c8" -> "a mutex": addresses are others in each run. */
static void without_addresses(const char *text, char *out, size_t size)
{
	size_t n = 0;

	while (*text && n + 1 < size) {
		size_t address =
			!strncmp(text, "at 0x", 5) ? 5 + strspn(text + 5, "0123456789abcdef") : 0;

		if (!address) {
			out[n++] = *text++;
			continue;
		}
		text += address;
		while (n && strchr(" :", out[n - 1]))
			n--;
	}
	out[n] = '\0';
}

static void put_wait(struct blame *b, enum blame_level level, const char *name, const char *module,
		     const struct waiting_row *row)
{
	double seconds = waiting_waited(&row->time);
	double follows = row->time.by[WAIT_CHILD] + row->time.by[WAIT_THREAD_END] +
			 row->time.by[WAIT_THREAD];
	struct blame_part *p;

	blame_put(b, level, BLAME_NAMED, name, module, seconds);
	p = blame_find(b, level, BLAME_NAMED, name, module);
	if (p)
		p->follows |= 2 * follows > seconds;
}

/* A script is a module, too. */
static void put_wait_in(struct blame *b, const struct waiting_row *row)
{
	bool script = row->module && !strcmp(row->module, PYTHON_MODULE) && row->file;
	const char *path = script ? row->file : row->module;
	const char *module = path ? blame_see_module(b, path, "") : "";

	put_wait(b, BLAME_FUNCTION, *row->function || !*module ? row->name : "(no symbols)", module,
		 row);
}

static void put_waits(struct blame *b, const struct waiting *w)
{
	const struct waiting_rows *objects = &w->rows[WAITING_BY_OBJECT];
	const struct waiting_rows *functions = &w->rows[WAITING_BY_FUNCTION];
	const struct waiting_rows *kinds = &w->rows[WAITING_BY_CLASS];
	char name[256];

	for (uint32_t i = 0; i < kinds->n; i++)
		put_wait(b, BLAME_CLASS, kinds->row[i].name, "", &kinds->row[i]);
	for (uint32_t i = 0; i < objects->n; i++) {
		without_addresses(objects->row[i].name, name, sizeof name);
		put_wait(b, BLAME_OBJECT, name, "", &objects->row[i]);
	}
	for (uint32_t i = 0; i < functions->n; i++)
		put_wait_in(b, &functions->row[i]);
}

static bool add_waits(struct blame *b, int side, const struct run *r, const struct summary *s)
{
	const struct waiting *w = s->waits ? s->waits->waiting : NULL;
	const struct run_meta *rate = run_find_meta(r, 1, "waits.looks_per_second");
	double hz = rate ? run_meta_number(rate) : NAN;

	if (!w || !(waiting_wall(&w->time) > 0))
		return false;
	blame_add_run(b, &(struct blame_run){
				 .side = side,
				 .at = s->start_utc_ns,
				 .whole_s = waiting_wall(&w->time),
				 .exact = true,
				 .sampled_s = waiting_waited(&w->time),
				 .period_s = hz > 0 ? 1 / hz : 0.1,
				 .period_ns = 1e9 / hz,
			 });
	put_waits(b, w);
	for (int level = 0; level < BLAME_LEVELS; level++) {
		if (!blame_words[BLAME_TIME].head[level])
			continue;
		blame_put(b, (enum blame_level)level, BLAME_ON_CPU, "on a CPU", "", w->time.on_cpu);
		blame_put(b, (enum blame_level)level, BLAME_READY, "ready, but without a core", "",
			  w->time.ready);
		blame_put(b, (enum blame_level)level, BLAME_UNSEEN, "waited, not known for what",
			  "", w->time.unseen + w->time.forbidden);
	}
	return true;
}

void blame_add(struct blame b[BLAME_SUBJECTS], int side, const struct run *r,
	       const struct summary *s)
{
	static bool (*const add[])(struct blame *, int, const struct run *,
				   const struct summary *) = {
		[BLAME_WALL] = blame_add_phases,
		[BLAME_CPU] = add_code,
		[BLAME_TIME] = add_waits,
	};

	for (int i = 0; i < BLAME_SUBJECTS; i++) {
		b[i].subject = (enum blame_subject)i;
		if (!r || !add[i](&b[i], side, r, s))
			b[i].without[side]++;
	}
}
