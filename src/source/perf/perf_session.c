/* SPDX-License-Identifier: Apache-2.0 */
#include "source/perf/perf_session.h"

#include "base/clock.h"
#include "source/kept.h"
#include "source/perf/perf.h"
#include "source/perf/perf_count.h"
#include "source/perf/perf_where.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CPUINFO_BYTES = 4096, COUNTERS_UNKNOWN = 4, CHEAP_READS = 16, DEAR_READS = 256 };

static const char no_table[] =
	"there is no events file for this CPU: only cycles, instructions and other events that the "
	"kernel defines for every CPU can be counted";
static const char no_such_events[] = "this CPU has no such events, or no events file knows it";

static void read_cpu(const struct source_env *env, struct perf_cpu *cpu)
{
	char text[CPUINFO_BYTES] = "";
	int fd = root_file(&env->proc, "cpuinfo");

	*cpu = (struct perf_cpu){ 0 };
	if (fd < 0)
		return;
	if (file_reread(fd, text, sizeof text) > 0) /* the first CPU is enough */
		perf_cpu_parse(text, cpu);
	file_close(&fd);
}

static int read_table(struct perf_session *p, const struct perf_cpu *cpu,
		      const struct perf_options *o, struct err *e)
{
	int bad;

	p->table = malloc(sizeof *p->table);
	if (!p->table)
		return err_set(e, -ENOMEM, "out of memory");
	perf_table_init(p->table, cpu, o ? o->cpu : NULL);
	bad = perf_table_builtin(p->table, e);
	if (!bad && o && o->file)
		bad = perf_table_file(p->table, o->file, e);
	return bad;
}

static const struct metric *times_of(const char *group)
{
	char name[2 * PERF_NAME_MAX + 16];

	snprintf(name, sizeof name, "perf.%s.running_seconds", group);
	return perf_metric(name);
}

static void refuse(struct sample *s, const char *group, const char *what, int bad, const char *why)
{
	char name[2 * PERF_NAME_MAX + 16];
	const struct metric *m;
	uint32_t slot;

	snprintf(name, sizeof name, "perf.%s.%s", group, what);
	m = perf_metric(name);
	slot = m ? sample_series(s, m, 1, 0) : 0;
	if (slot)
		sample_refuse(s, slot, state_of(bad), why);
}

/* Events that would read 0 where only user mode is counted are left out, with the reason. */
static void leave_out_kernel(struct perf_set *set, struct sample *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < set->n; i++) {
		const struct perf_event *ev = perf_set_event(set, i);

		if (ev->kernel)
			refuse(s, set->group->name, ev->id, -EACCES, perf_user_mode_only);
		else
			set->event[n++] = set->event[i];
	}
	set->n = n;
}

struct opener {
	struct perf_session *p;
	const struct source_env *env;
	struct sample *s;
	struct perf_places places;
	struct err first; /* why nothing can be counted */
	int first_bad;
	bool counters_stand; /* the cores' counters do not advance */
	char missing[240];   /* events of groups that are counted otherwise */
};

static void miss(struct opener *x, const struct perf_set *s, uint32_t i, const char *why)
{
	size_t n = strlen(x->missing);

	snprintf(x->missing + n, sizeof x->missing - n, "%s%s.%s%s%s", n ? ", " : "",
		 s->group->name, perf_set_event(s, i)->id, *why ? ": " : "", why);
}

/* Which of the planned events are in neither set now. */
static void miss_what_left(struct opener *x, const struct perf_set *planned,
			   const struct perf_set *set, const struct perf_set *rest)
{
	for (uint32_t i = 0; i < planned->n; i++)
		if (!memchr(set->event, planned->event[i], set->n) &&
		    !memchr(rest->event, planned->event[i], rest->n))
			miss(x, planned, i, "");
}

static int explain(const struct source_env *env, const struct perf_where *w, int bad, struct err *e)
{
	struct perf_refusal r = { .proc = &env->proc,
				  .sys = &env->sys,
				  .of_cpus = w->n && w->seat[0].cpu >= 0,
				  .of_cgroup = w->cgroup,
				  .itself_permitted = perf_may_count_itself() };

	return perf_explain(&r, bad, e);
}

static int open_set(struct opener *x, struct perf_set *set, struct perf_set *rest,
		    struct perf_count *c, struct err *e)
{
	enum perf_place place = perf_event_place(perf_set_event(set, 0));
	struct perf_where w;
	int bad = perf_places_of(&x->places, set, &w, e);

	if (!bad && place == PERF_CORE && x->counters_stand)
		bad = err_set(e, -ENODEV, "%s", perf_no_counters);
	if (!bad) {
		w.user_only = place != PERF_DEVICE && x->p->user_only;
		bad = perf_count_open(c, set, rest, &w);
		if (bad)
			bad = explain(x->env, &w, bad, e);
	}
	free(w.seat);
	return bad;
}

/* A whole group is refused; of a further set of it, and of a user's group, which is in no
 * catalogue, the events are named. */
static void give_up(struct opener *x, const struct perf_set *set, int bad, const struct err *e)
{
	bool whole = set->nth == 1 && times_of(set->group->name);

	if (!x->first_bad) {
		x->first_bad = bad;
		x->first = *e;
	}
	if (whole)
		refuse(x->s, set->group->name, "running_seconds", bad, e->text);
	for (uint32_t i = 0; i < set->n && !whole; i++)
		miss(x, set, i, i + 1 < set->n ? "" : e->text);
}

static void open_one(struct opener *x, const struct perf_set *wanted, struct perf_set *rest)
{
	struct perf_session *p = x->p;
	struct perf_plan *plan = &p->plan;
	struct perf_set set = *wanted, planned;
	struct err e = { "" };
	int bad;

	if (p->user_only)
		leave_out_kernel(&set, x->s);
	if (!set.n)
		return;
	planned = set;
	bad = open_set(x, &set, rest, &p->count[plan->n], &e);
	if (bad) {
		give_up(x, &set, bad, &e);
		return;
	}
	miss_what_left(x, &planned, &set, rest);
	plan->set[plan->n++] = set;
}

/* Open what the plan says; what cannot be opened leaves it, what does not fit becomes a set of its
 * own. What is counted on each CPU comes last: counters and files are the job's first. */
static void open_sets(struct opener *x)
{
	struct perf_plan all = x->p->plan;

	x->p->plan.n = 0;
	for (int of_node = 0; of_node < 2; of_node++)
		for (uint32_t i = 0; i < all.n && x->p->plan.n < PERF_SETS_MAX; i++) {
			enum perf_place place = perf_event_place(perf_set_event(&all.set[i], 0));
			struct perf_set rest = { .n = 0 };

			if ((place == PERF_DEVICE) != of_node)
				continue;
			open_one(x, &all.set[i], &rest);
			if (rest.n && all.n < PERF_SETS_MAX)
				all.set[all.n++] = rest;
		}
}

/* Sets of a group are numbered as they are, whatever was planned. */
static void number_sets(struct perf_session *p)
{
	for (uint32_t i = 0; i < p->plan.n; i++) {
		p->plan.set[i].nth = 1;
		for (uint32_t k = 0; k < i; k++)
			p->plan.set[i].nth += p->plan.set[k].group == p->plan.set[i].group;
	}
}

/* How many tasks of the job are in no figure, and why. */
static void say_tasks(const struct perf_session *p, struct sample *s, const char *why)
{
	sample_meta_int(s, "perf.tasks_not_counted", (int64_t)p->tasks_missed);
	sample_meta_text(s, "perf.tasks_not_counted.reason", why);
}

static void say_refused_tasks(struct perf_session *p, struct sample *s)
{
	const struct perf_where task = { .n = 0 };
	struct err e;
	int refusal = 0;

	for (uint32_t i = 0; i < p->plan.n; i++)
		if (p->count[i].refused > p->tasks_missed) {
			p->tasks_missed = p->count[i].refused;
			refusal = p->count[i].refusal;
		}
	if (!refusal)
		return;
	explain(p->env, &task, refusal, &e);
	say_tasks(p, s, e.text);
}

/* What is dear to read is read more rarely. */
static void set_pace(struct perf_session *p)
{
	size_t reads = 0;

	for (uint32_t i = 0; i < p->plan.n; i++)
		reads += p->count[i].reads;
	p->every_ns = reads > DEAR_READS ? 10 * NS_PER_S : reads > CHEAP_READS ? NS_PER_S : 0;
}

/* Are the job's processes told of as they are found? */
static bool is_following(const struct perf_session *p)
{
	return p->env->followed && p->env->perf && p->env->perf->scope == PERF_SCOPE_JOB;
}

static const char *const scopes[] = {
	[PERF_SCOPE_JOB] = "job", [PERF_SCOPE_CGROUP] = "cgroup", [PERF_SCOPE_NODE] = "node"
};

static void note_unknown_cpu(const struct opener *x)
{
	if (!x->p->table->arch)
		sample_meta_text(x->s, "perf.note", no_table);
}

static int start(struct opener *x, struct err *e)
{
	struct perf_session *p = x->p;
	int bad = perf_rows_make(&p->rows, &p->plan, x->places.whose);

	if (bad)
		return err_set(e, bad, "out of memory");
	for (uint32_t i = 0; i < p->plan.n; i++) {
		uint32_t n = PERF_SET_EVENTS + p->plan.set[i].n;

		p->slot[i] = sample_series(x->s, &p->rows.row[p->rows.first[i]], n, 0);
		if (!p->count[i].at_exec)
			bad = perf_count_enable(&p->count[i], 0);
		if (bad)
			return err_set(e, bad, "perf events cannot be switched on: %s",
				       strerror(-bad));
	}
	sample_catalogue(x->s, &p->rows.row[p->rows.derived], p->rows.n - p->rows.derived);
	set_pace(p);
	sample_meta_text(x->s, "perf.cpu", p->table->what ? p->table->what : "not known");
	note_unknown_cpu(x);
	say_refused_tasks(p, x->s);
	if (x->missing[0])
		sample_meta_text(x->s, "perf.not_counted", x->missing);
	sample_meta_text(x->s, "perf.scope", scopes[x->p->env->perf->scope]);
	sample_meta_text(x->s, "perf.mode", p->user_only ? "user" : "user and kernel");
	if (is_following(p))
		sample_meta_text(x->s, "perf.counted_from",
				 "when each process was found, up to a second after it began");
	return 0;
}

void perf_session_close(struct perf_session *p)
{
	for (uint32_t i = 0; i < p->plan.n; i++)
		perf_count_close(&p->count[i]);
	file_close(&p->pin);
	for (size_t i = 0; i < p->npins; i++)
		file_close(&p->pins[i]);
	free(p->pins);
	p->pins = NULL;
	perf_rows_free(&p->rows);
	if (p->table)
		perf_table_free(p->table);
	free(p->table);
	p->table = NULL;
}

static int plan(struct perf_session *p, const struct source_env *env, const char *groups,
		struct err *e)
{
	const struct perf_table *t = p->table;
	struct perf_budget b = { t->counters ? t->counters : COUNTERS_UNKNOWN, false };
	char text[8] = "";
	int64_t smt;

	if (t->smtless &&
	    sysfs_read_number(&env->sys, "devices/system/cpu/smt/active", &smt) == 0 && !smt)
		b.counters = t->smtless;
	b.watchdog = root_read(&env->proc, "sys/kernel/nmi_watchdog", text, sizeof text) > 0 &&
		     *text == '1';
	return perf_plan_make(&p->plan, t, groups, &b)
		       ? err_set(e, -E2BIG, "too many groups of perf events at once")
		       : 0;
}

/* Nobody asked: the groups are tried on this process, and what they may give is said. */
static int try_all(struct opener *x, struct err *e)
{
	note_unknown_cpu(x);
	open_sets(x);
	return x->p->plan.n ? 0 : err_set(e, x->first_bad, "%s", x->first.text);
}

/* Groups that other CPUs have. */
static void refuse_unknown(struct opener *x, const char *groups)
{
	char name[PERF_NAME_MAX];

	while (perf_groups_next(&groups, name))
		if (!perf_groups_known(x->p->table, name))
			refuse(x->s, name, "running_seconds", -ENOENT, no_such_events);
}

/* Without counters nothing of what is counted unasked can be. */
static bool asks_nothing(const struct perf_options *o)
{
	return !o->file && !o->cpu && (!o->groups || !strcmp(o->groups, "auto"));
}

static int open_all(struct opener *x, const struct perf_options *o, struct err *e)
{
	const char *groups = !o ? "all" : o->groups ? o->groups : "auto";
	struct perf_session *p = x->p;
	struct source_env env = *x->env;
	struct perf_cpu cpu;
	int bad;

	if ((!o || asks_nothing(o)) && !perf_pmus_find(&x->env->sys).core)
		return err_set(e, -ENOENT, "%s", perf_no_counters);
	read_cpu(x->env, &cpu);
	bad = read_table(p, &cpu, o, e);
	if (!bad)
		bad = plan(p, x->env, groups, e);
	if (is_following(p))
		env.nroots = 0;
	if (!bad)
		bad = perf_places_open(&x->places, &env, e);
	if (bad)
		return bad;
	p->user_only = !perf_may_count_kernel();
	x->counters_stand = x->places.pmus.core && !perf_cycles_advance(p->user_only);
	if (!o)
		return try_all(x, e);
	if (x->places.job.at_exec)
		p->pin = perf_count_pin(x->env->roots[0]);
	refuse_unknown(x, groups);
	open_sets(x);
	if (!p->plan.n)
		return err_set(e, x->first_bad ? x->first_bad : -ENOENT, "%s",
			       x->first_bad ? x->first.text : no_such_events);
	number_sets(p);
	return start(x, e);
}

int perf_session_open(struct perf_session *p, const struct source_env *env, struct sample *s,
		      struct err *e)
{
	const struct perf_options *o = env->perf;
	struct opener x = { .p = p, .env = env, .s = s };
	int bad;

	if (strcmp(env->proc.path, "/proc") != 0)
		return err_set(e, -EOPNOTSUPP, SOURCE_NOT_THIS_KERNEL);
	if (o && o->groups && !strcmp(o->groups, "off"))
		return err_set(e, -EOPNOTSUPP, "perf events were switched off");
	if (o && !asks_nothing(o))
		sample_meta_text(s, "perf.asked", o->groups ? o->groups : "auto");
	p->env = env;
	bad = open_all(&x, o, e);
	perf_places_close(&x.places);
	if (bad)
		perf_session_close(p);
	return bad;
}

/* Not counted is absent: a set that was wanted and did not run since the last reading says nothing
 * of its events. */
static void put(struct perf_session *p, struct sample *s, uint32_t i, const struct perf_counted *c)
{
	bool idle = c->running_ns == p->last_running[i] && c->enabled_ns != p->last_enabled[i];

	sample_put(s, p->slot[i] + PERF_SET_ENABLED, (int64_t)c->enabled_ns);
	sample_put(s, p->slot[i] + PERF_SET_RUNNING, (int64_t)c->running_ns);
	for (uint32_t k = 0; k < p->count[i].n && !idle; k++)
		sample_put(s, p->slot[i] + PERF_SET_EVENTS + k, (int64_t)c->value[k]);
	p->last_running[i] = c->running_ns;
	p->last_enabled[i] = c->enabled_ns;
}

int perf_session_read(struct perf_session *p, struct sample *s)
{
	int bad = 0;

	if (p->every_ns && p->read_ns && s->mono_ns - p->read_ns < p->every_ns)
		return 0;
	p->read_ns = s->mono_ns;
	for (uint32_t i = 0; i < p->plan.n; i++) {
		struct perf_counted c;
		int failed;

		if (!p->slot[i])
			continue;
		failed = perf_count_read(&p->count[i], &c);
		if (failed)
			bad = failed;
		else
			put(p, s, i, &c);
	}
	return bad;
}

static int join_set(struct perf_session *p, const struct perf_places *places, uint32_t i,
		    struct err *e)
{
	const struct perf_set *set = &p->plan.set[i];
	struct perf_where w = { .n = 0 };
	int bad = 0;

	if (perf_event_place(perf_set_event(set, 0)) == PERF_DEVICE)
		return 0;
	bad = perf_places_of(places, set, &w, e);
	w.user_only = p->user_only;
	if (!bad) {
		bad = perf_count_more(&p->count[i], set, &w);
		err_set(e, bad, "perf_event_open: %s", strerror(-bad));
	}
	free(w.seat);
	return bad;
}

static int join(struct perf_session *p, pid_t launcher, struct err *e)
{
	struct source_env env = *p->env;
	int *pins = reallocarray(p->pins, p->npins + 1, sizeof *pins);
	struct perf_places places;
	int bad;

	if (!pins)
		return err_set(e, -ENOMEM, "out of memory");
	env.roots = &launcher;
	env.nroots = 1;
	p->pins = pins;
	p->pins[p->npins++] = perf_count_pin(launcher);
	bad = perf_places_open(&places, &env, e);
	for (uint32_t i = 0; i < p->plan.n && !bad; i++)
		bad = join_set(p, &places, i, e);
	perf_places_close(&places);
	return bad;
}

int perf_session_joined(struct perf_session *p, pid_t launcher, bool runs, struct sample *s)
{
	struct err e = { "they ran already when this recorder began" };
	int bad = 0;

	if (!p->env->perf || p->env->perf->scope != PERF_SCOPE_JOB)
		return 0;
	if (launcher != p->env->roots[0])
		bad = join(p, launcher, &e);
	if (bad || runs) {
		p->tasks_missed++;
		say_tasks(p, s, e.text);
	}
	return bad;
}

static int adopt_set(struct perf_session *p, const struct perf_places *places, uint32_t i,
		     struct err *e)
{
	size_t had = p->count[i].nseats;
	int bad = join_set(p, places, i, e);

	if (!bad)
		bad = perf_count_enable(&p->count[i], had);
	return bad;
}

int perf_session_adopted(struct perf_session *p, const pid_t *pids, size_t n, struct sample *s)
{
	struct source_env env = *p->env;
	struct perf_places places;
	struct err e = { "" };
	int bad;

	if (!n || !is_following(p))
		return 0;
	env.roots = pids;
	env.nroots = n;
	bad = perf_places_open(&places, &env, &e);
	for (uint32_t i = 0; i < p->plan.n && !bad; i++)
		bad = adopt_set(p, &places, i, &e);
	perf_places_close(&places);
	set_pace(p);
	if (bad) {
		p->tasks_missed += n;
		say_tasks(p, s, e.text);
	} else {
		say_refused_tasks(p, s);
	}
	return bad;
}

int perf_options_check(const struct perf_options *o, struct err *e)
{
	const char *groups = o->groups ? o->groups : "auto";
	struct perf_session p = { .table = NULL };
	char name[PERF_NAME_MAX];
	int bad;

	if (asks_nothing(o))
		return 0;
	bad = read_table(&p, NULL, o, e);
	if (!bad && o->cpu && !p.table->arch)
		bad = err_set(e, -EINVAL, "no events file is for a CPU of the name '%.48s'",
			      o->cpu);
	if (!bad && !*groups)
		bad = err_set(e, -EINVAL,
			      "no group of perf events is named; docs/events.md lists them");
	while (!bad && strcmp(groups, "off") != 0 && perf_groups_next(&groups, name))
		if (!perf_groups_known(p.table, name))
			bad = err_set(e, -EINVAL,
				      "there is no group of perf events '%s'%s%s; docs/events.md "
				      "lists them",
				      name, o->cpu ? " for " : "", o->cpu ? o->cpu : "");
	perf_session_close(&p);
	return bad;
}
