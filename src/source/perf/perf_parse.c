/* SPDX-License-Identifier: Apache-2.0 */
/* perf_parse.c - events files: what a group says is checked and goes into the table when it is
 * sound.
 */
#include "core/expr/expr.h"
#include "source/perf/perf_table.h"
#include "source/perf/perf_where.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Events by the names of libpfm4 ---- */

/* Where that library is installed. It is loaded when a file names an event so, and let go again;
 * nothing links to it. It knows the CPU it runs on, and no others. */

/* perfmon/pfmlib.h and perfmon/pfmlib_perf_event.h of libpfm4, version 4 of its interface */
enum { PFM_SUCCESS = 0, PFM_PLM3 = 8, PFM_OS_PERF_EVENT = 1 };
struct pfm_arg {
	struct perf_event_attr *attr;
	char **name;
	size_t size;
	int index, cpu, flags;
};
typedef int pfm_start(void);
typedef int pfm_encode(const char *name, int privileges, int os, void *arg);

static int take(const struct perf_event_attr *a, struct perf_event *ev)
{
	if (a->type == PERF_TYPE_RAW)
		ev->pmu = "cpu";
	else if (a->type == PERF_TYPE_HARDWARE)
		ev->pmu = "hardware";
	else if (a->type == PERF_TYPE_SOFTWARE)
		ev->pmu = "software";
	else
		return -EOPNOTSUPP;
	ev->config[0] = a->config;
	ev->config[1] = a->config1;
	ev->config[2] = a->config2;
	return 0;
}

static int encode(void *library, const char *name, struct perf_event *ev, struct err *e)
{
	struct perf_event_attr attr = { .size = sizeof attr };
	struct pfm_arg arg = { .attr = &attr, .size = sizeof arg };
	pfm_encode *give = NULL;
	pfm_start *start = NULL;

	*(void **)&start = dlsym(library, "pfm_initialize");
	*(void **)&give = dlsym(library, "pfm_get_os_event_encoding");
	if (!start || !give || start() != PFM_SUCCESS)
		return err_set(e, -ENOSYS, "libpfm4 does not start here");
	if (give(name, PFM_PLM3, PFM_OS_PERF_EVENT, &arg) != PFM_SUCCESS)
		return err_set(e, -ENOENT, "libpfm4 does not know on this CPU");
	if (take(&attr, ev))
		return err_set(e, -EOPNOTSUPP, "this is not an event of the cores:");
	return 0;
}

/* It would bring the machine's own C library into a static program, which has another. */
#ifdef SONDE_STATIC
#define MISSING "this static program does not load libpfm4"
static void *load(void)
{
	return NULL;
}
#else
#define MISSING "libpfm4 is not installed"
static void *load(void)
{
	return dlopen("libpfm.so.4", RTLD_NOW | RTLD_LOCAL);
}
#endif

/* Fill the PMU and the codes of "skx::L2_RQSTS:MISS". 0, or -errno with a few words: no library, an
 * unknown name, an event that no task can have. */
static int perf_pfm_encode(const char *name, struct perf_event *ev, struct err *e)
{
	void *library = load();
	int bad;

	if (!library)
		return err_set(e, -ENOENT, "%s, which knows", MISSING);
	bad = encode(library, name, ev, e);
	dlclose(library);
	return bad;
}

/* ---- Files ---- */

enum { LINE_MAX_BYTES = 1024, FORMULAS = 40, COUNTERS_MAX = 64 };

/* The group being read; its words are in the parser's own pool. */
struct draft {
	struct perf_group group;
	struct perf_event event[PERF_GROUP_EVENTS_MAX];
	struct perf_formula formula[FORMULAS];
	unsigned line[FORMULAS];
};

struct parser {
	struct perf_table *t;
	const char *file;
	struct err *e;
	struct pool pool;
	unsigned line;
	bool headed; /* an `arch` line was met */
	bool any;    /* `arch any` */
	bool ours;   /* what follows is for this CPU */
	const char *arch, *what;
	uint32_t counters, smtless;
	struct draft d;
};

static int fault(struct parser *p, const char *what, const char *word)
{
	return err_set(p->e, -EINVAL, "%.200s:%u: %s%s%.80s%s", p->file, p->line, what,
		       word ? " '" : "", word ? word : "", word ? "'" : "");
}

static int no_memory(struct parser *p)
{
	return err_set(p->e, -ENOMEM, "%.200s: out of memory", p->file);
}

/* The next word of the line, ended by a NUL in its place; "" at the end. */
static char *take_word(char **at)
{
	char *word = *at + strspn(*at, " \t");
	size_t n = strcspn(word, " \t");

	*at = word + n + (word[n] != '\0');
	word[n] = '\0';
	return word;
}

/* [a-z][a-z0-9_]* of a bearable length */
static bool is_name(const char *word)
{
	return *word >= 'a' && *word <= 'z' && strlen(word) < PERF_NAME_MAX &&
	       !word[strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789_")];
}

static bool is_printable(const char *word)
{
	for (; *word; word++)
		if ((unsigned char)*word <= ' ' || (unsigned char)*word >= 0x7f)
			return false;
	return true;
}

static bool is_free(const char *id)
{
	static const char *const reserved[] = { "enabled", "running", "share", "and", "or",   "not",
						"if",      "min",     "max",   "abs", "known" };

	for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++)
		if (!strcmp(id, reserved[i]))
			return false;
	return true;
}

/* What a formula asks for: its group's events, the time the group was enabled, or other metrics. */
struct names {
	const struct perf_group *group;
	char unknown[PERF_NAME_MAX];
};

static void check_name(void *ctx, const char *function, const char *name)
{
	struct names *n = ctx;
	bool known = !function && (!strcmp(name, "enabled") || !strncmp(name, "perf.", 5));

	for (uint32_t i = 0; i < n->group->nevents && !known && !function; i++)
		known = !strcmp(n->group->event[i].id, name);
	if (!known && !n->unknown[0])
		snprintf(n->unknown, sizeof n->unknown, "%s", function ? function : name);
}

static int check_formula(struct parser *p, const struct perf_formula *f)
{
	struct names names = { .group = &p->d.group };
	struct err why = { "" };
	struct expr *x;
	int bad = expr_parse(&x, f->text, &why);

	if (bad == -ENOMEM)
		return no_memory(p);
	if (bad)
		return err_set(p->e, -EINVAL, "%.200s:%u: %.250s", p->file, p->line, why.text);
	expr_names(x, check_name, &names);
	expr_free(x);
	return names.unknown[0] ? fault(p, "the group has no event of this name:", names.unknown)
				: 0;
}

static int end_group(struct parser *p)
{
	struct perf_group *g = &p->d.group;
	unsigned last = p->line;
	int bad = 0;

	if (!g->name)
		return 0;
	if (!g->nevents && !g->nformulas)
		return fault(p, "there is nothing in the group", g->name);
	for (uint32_t i = 0; i < g->nformulas && !bad; i++) {
		p->line = p->d.line[i];
		bad = check_formula(p, &p->d.formula[i]);
	}
	p->line = last;
	if (!bad && p->ours)
		bad = perf_table_add(p->t, g);
	if (bad == -E2BIG)
		return fault(p, "there are too many groups, events or metrics up to group",
			     g->name);
	if (bad == -ENOMEM)
		return no_memory(p);
	memset(g, 0, sizeof *g);
	return bad;
}

/* The CPU's own file is known by its first group: all of its header has been read. */
static int begin_arch(struct parser *p, char *at)
{
	char *name = take_word(&at);

	if (!is_name(name))
		return fault(p, "'arch' needs a name in [a-z0-9_], not", name);
	pool_empty(&p->pool);
	p->arch = pool_text(&p->pool, name, strlen(name));
	at += strspn(at, " \t");
	p->what = pool_text(&p->pool, at, strlen(at));
	if (!p->arch || !p->what)
		return no_memory(p);
	p->headed = true;
	p->any = !strcmp(name, "any");
	p->ours = p->any || (p->t->name ? !strcmp(p->t->name, name) : !p->t->cpu);
	p->counters = p->smtless = 0;
	return 0;
}

static int read_cpu(struct parser *p, char *at)
{
	const char *vendor = take_word(&at), *family = take_word(&at), *models = take_word(&at),
		   *steppings = take_word(&at);
	const struct perf_cpu *cpu = p->t->cpu;
	uint64_t number;
	const char *end = family;

	if (!p->headed || p->any)
		return fault(p, "'cpu' belongs behind an 'arch' that is not 'any'", NULL);
	if (!*vendor || !perf_number(&end, &number) || *end || !perf_list_is_sound(models) ||
	    (*steppings && !perf_list_is_sound(steppings)) || *take_word(&at))
		return fault(p,
			     "'cpu' needs VENDOR FAMILY MODELS [STEPPINGS], as GenuineIntel 6 "
			     "0x4e,0x5e 0-4",
			     NULL);
	if (!p->t->name && cpu && !strcmp(cpu->vendor, vendor) && cpu->family == number &&
	    perf_list_has(models, cpu->model) &&
	    (!*steppings || perf_list_has(steppings, cpu->stepping)))
		p->ours = true;
	return 0;
}

static int read_archspec(struct parser *p, char *at)
{
	const char *name = take_word(&at);

	if (!p->headed || !*name || !is_printable(name) || *take_word(&at))
		return fault(p, "'archspec' needs one name, behind 'arch'", NULL);
	if (p->t->name && !strcmp(p->t->name, name))
		p->ours = true;
	return 0;
}

static int read_counters(struct parser *p, char *at)
{
	const char *with = take_word(&at), *without = take_word(&at);
	uint64_t n = 0, smtless = 0;
	bool sound = p->headed && perf_number(&with, &n) && !*with;

	smtless = n;
	if (sound && *without)
		sound = perf_number(&without, &smtless) && !*without;
	if (!sound || !n || n > COUNTERS_MAX || smtless > COUNTERS_MAX || smtless < n ||
	    *take_word(&at))
		return fault(p,
			     "'counters' needs their number, and without SMT when it is "
			     "another, behind 'arch'",
			     NULL);
	p->counters = (uint32_t)n;
	p->smtless = (uint32_t)smtless;
	return 0;
}

/* What the head of the CPU's own file said; `arch any` speaks for no CPU. */
static int know_cpu(struct parser *p)
{
	struct perf_table *t = p->t;

	if (!p->any) {
		t->arch = pool_text(&t->pool, p->arch, strlen(p->arch));
		t->what = pool_text(&t->pool, p->what, strlen(p->what));
	}
	if (p->counters && (!p->any || !t->counters)) {
		t->counters = p->counters;
		t->smtless = p->smtless;
	}
	return p->any || (t->arch && t->what) ? 0 : -ENOMEM;
}

static int begin_group(struct parser *p, char *at)
{
	const char *name = take_word(&at);

	if (!is_name(name) || strchr(name, '.') || *take_word(&at))
		return fault(p, "'group' needs one name in [a-z0-9_], not", name);
	if (p->ours && p->headed && know_cpu(p))
		return no_memory(p);
	p->d.group = (struct perf_group){ .name = pool_text(&p->pool, name, strlen(name)),
					  .event = p->d.event,
					  .formula = p->d.formula,
					  .any = p->any };
	return p->d.group.name ? 0 : no_memory(p);
}

static int read_about(struct parser *p, char *at)
{
	at += strspn(at, " \t");
	if (!*at || at[strlen(at) - 1] != '.')
		return fault(p, "'about' needs a sentence with a full stop", NULL);
	p->d.group.about = pool_text(&p->pool, at, strlen(at));
	return p->d.group.about ? 0 : no_memory(p);
}

/* "cpu_atom=0x124", of one kind of cores. False: it is not of this form. */
static bool read_kind_word(struct parser *p, struct perf_event *ev, const char *word, uint64_t v)
{
	char kind[PERF_NAME_MAX];
	size_t n = strcspn(word, "="), i = 0;

	if (n >= sizeof kind)
		return false;
	memcpy(kind, word, n);
	kind[n] = '\0';
	while (i < PERF_KIND_CODES_MAX && ev->of_kind[i].pmu)
		i++;
	if (!strcmp(kind, "cpu") || !perf_counts_cores(kind) || i == PERF_KIND_CODES_MAX)
		return false;
	ev->of_kind[i] = (struct perf_kind_code){ pool_text(&p->pool, kind, n), v };
	return ev->of_kind[i].pmu != NULL;
}

static int read_event_word(struct parser *p, struct perf_event *ev, char *word)
{
	static const char *const configs[] = { "config=", "config1=", "config2=" };
	const char *value = strchr(word, '=');
	uint64_t v;

	if (!strcmp(word, "auto"))
		ev->automatic = true;
	else if (!strcmp(word, "nanoseconds"))
		ev->nanoseconds = true;
	else if (!strcmp(word, "kernel"))
		ev->kernel = true;
	else if (!value || (value++, !perf_number(&value, &v)) || *value)
		return fault(p,
			     "an event has config=, config1=, config2= and cost= with a number, "
			     "auto, kernel and nanoseconds, but not",
			     word);
	else if (!strncmp(word, "cost=", 5) && v <= COUNTERS_MAX)
		ev->counters = (uint32_t)v;
	else if (!read_kind_word(p, ev, word, v))
		for (size_t i = 0; i <= 3; i++) {
			if (i == 3)
				return fault(p, "an event has no", word);
			if (strncmp(word, configs[i], strlen(configs[i])))
				continue;
			ev->config[i] = v;
			break;
		}
	return 0;
}

static int read_event(struct parser *p, char *at)
{
	struct perf_group *g = &p->d.group;
	const char *id = take_word(&at), *name = take_word(&at), *pmu = take_word(&at);
	struct perf_event ev = { .counters = 1 };
	int bad = 0;

	if (!is_name(id) || !is_free(id))
		return fault(p,
			     "an event's id is a word in [a-z0-9_] that formulas do not use "
			     "already, not",
			     id);
	for (uint32_t i = 0; i < g->nevents; i++)
		if (!strcmp(g->event[i].id, id))
			return fault(p, "the group has two events", id);
	if (g->nevents == PERF_GROUP_EVENTS_MAX)
		return fault(p, "the group has too many events at", id);
	if (!*pmu || strlen(pmu) >= PERF_NAME_MAX || strlen(name) >= PERF_NAME_MAX * 2 ||
	    !is_printable(name) || !is_printable(pmu) || strchr(pmu, '/'))
		return fault(p, "'event' needs ID NAME PMU config=CODE", NULL);
	for (char *word = take_word(&at); *word && !bad; word = take_word(&at))
		bad = read_event_word(p, &ev, word);
	if (!bad && !strcmp(pmu, "pfm")) {
		struct err why = { "" };

		bad = perf_pfm_encode(name, &ev, &why) ? fault(p, why.text, name) : 0;
		pmu = ev.pmu;
	}
	if (bad)
		return bad;
	ev.id = pool_text(&p->pool, id, strlen(id));
	ev.name = pool_text(&p->pool, name, strlen(name));
	ev.pmu = pool_text(&p->pool, pmu, strlen(pmu));
	g->event[g->nevents++] = ev;
	return ev.id && ev.name && ev.pmu ? 0 : no_memory(p);
}

static int read_metric(struct parser *p, char *at)
{
	struct perf_group *g = &p->d.group;
	const char *name = take_word(&at), *equals = take_word(&at);

	if (!is_name(name) || strcmp(equals, "=") != 0)
		return fault(p, "'metric' needs NAME = FORMULA", NULL);
	for (uint32_t i = 0; i < g->nformulas; i++)
		if (!strcmp(g->formula[i].name, name))
			return fault(p, "the group has two metrics", name);
	if (g->nformulas == FORMULAS)
		return fault(p, "the group has too many metrics at", name);
	if (strlen(at) >= PERF_FORMULA_MAX)
		return fault(p, "the formula is too long of", name);
	p->d.line[g->nformulas] = p->line;
	g->formula[g->nformulas] = (struct perf_formula){ pool_text(&p->pool, name, strlen(name)),
							  pool_text(&p->pool, at, strlen(at)) };
	return g->formula[g->nformulas].name && g->formula[g->nformulas++].text ? 0 : no_memory(p);
}

static const struct keyword {
	const char *word;
	int (*read)(struct parser *p, char *at);
	enum { ENDS_GROUP, IN_HEAD, IN_GROUP } place;
} keywords[] = {
	{ "arch", begin_arch, ENDS_GROUP },     { "group", begin_group, ENDS_GROUP },
	{ "cpu", read_cpu, IN_HEAD },           { "archspec", read_archspec, IN_HEAD },
	{ "counters", read_counters, IN_HEAD }, { "about", read_about, IN_GROUP },
	{ "event", read_event, IN_GROUP },      { "metric", read_metric, IN_GROUP },
};

static int read_line(struct parser *p, char *line)
{
	char *at = line;
	const char *word = take_word(&at);

	if (!*word || *word == '#')
		return 0;
	for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++) {
		const struct keyword *k = &keywords[i];
		bool in_group = p->d.group.name != NULL;
		int bad = 0;

		if (strcmp(word, k->word) != 0)
			continue;
		if (k->place == IN_GROUP && !in_group)
			return fault(p, "only a group has a line", word);
		if (k->place == IN_HEAD && in_group)
			return fault(p, "the groups have begun; this belongs before them:", word);
		if (k->place == ENDS_GROUP)
			bad = end_group(p);
		return bad ? bad : k->read(p, at);
	}
	return fault(p,
		     "a line begins with arch, cpu, archspec, counters, group, about, event or "
		     "metric, not",
		     word);
}

int perf_table_parse(struct perf_table *t, const char *file, const char *text, size_t len,
		     struct err *e)
{
	struct parser *p = calloc(1, sizeof *p);
	char line[LINE_MAX_BYTES];
	int bad = 0;

	if (!p)
		return err_set(e, -ENOMEM, "out of memory");
	*p = (struct parser){ .t = t, .file = file, .e = e, .ours = true };
	for (size_t at = 0; at < len && !bad;) {
		const char *end = memchr(text + at, '\n', len - at);
		size_t n = end ? (size_t)(end - text) - at : len - at;

		p->line++;
		if (n >= sizeof line || memchr(text + at, '\0', n)) {
			bad = fault(p,
				    n < sizeof line ? "there is a NUL in the line"
						    : "the line is too long",
				    NULL);
			break;
		}
		memcpy(line, text + at, n);
		n -= n && line[n - 1] == '\r';
		line[n] = '\0';
		bad = read_line(p, line);
		at += end ? (size_t)(end - text) - at + 1 : n + 1;
	}
	if (!bad)
		bad = end_group(p);
	pool_free(&p->pool);
	free(p);
	return bad;
}
