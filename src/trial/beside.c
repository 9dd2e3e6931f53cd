/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/beside.h"

#include "base/text/textfile.h"
#include "console/command.h"
#include "sampler/tree/affinity.h"
#include "session/history.h"
#include "source/cpulist.h"
#include "trial/benchprint.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <pwd.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SCRIPT_BYTES = 64 << 20, KEPT_BYTES = 65536 };
enum { BUSY_MOST = 20 }; /* times half a minute */

int trial_run_defaults(struct recording_options *r, int64_t interval_ns, struct err *e)
{
	static const struct option own[] = { RECORDING_OPTIONS };
	struct args none = { 0, NULL, false, 0 };
	int rc = args_parse(own, sizeof own / sizeof own[0], r, &none, e);

	r->interval_ns = interval_ns;
	r->quiet = true;
	return rc;
}

void trial_run_host(char *out, size_t size)
{
	if (gethostname(out, size - 1))
		*out = '\0';
	out[size - 1] = '\0';
}

/* A static program must not load the machine's modules for users, which are made for the machine's
 * own C library. */
static const struct passwd *password_entry(uid_t user)
{
#ifdef SONDE_STATIC
	FILE *f = fopen("/etc/passwd", "re");
	const struct passwd *p = NULL;

	while (f && (p = fgetpwent(f)) && p->pw_uid != user)
		;
	if (f)
		fclose(f);
	return p;
#else
	return getpwuid(user);
#endif
}

const char *trial_run_user(void)
{
	const struct passwd *p = password_entry(geteuid());

	return p ? p->pw_name : NULL;
}

bool trial_run_digest(const char *script, char out[SHA256_HEX])
{
	struct bytes b = { 0 };
	struct err e;
	bool well = !textfile_read(script, "script", SCRIPT_BYTES, &b, &e) && b.len;

	if (well)
		sha256_hex(out, b.data, b.len);
	bytes_free(&b);
	return well;
}

static void keep_file(const struct trial_run *x, const char *directory, const char *name,
		      const struct bytes *b)
{
	char path[PATH_MAX];
	size_t n = b->len ? b->len - 1 : 0;
	int fd;

	if ((size_t)snprintf(path, sizeof path, "%s/%s", directory, name) >= sizeof path)
		return;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	if (write(fd, b->data, n) != (ssize_t)n)
		say("%s: %s could not be kept: %s", x->verb, path, strerror(errno));
	close(fd);
}

/* As much as a row has room for; the files have more. */
static const char *shortened(struct bytes *b)
{
	if (!b->len || b->failed)
		return NULL;
	if (b->len > KEPT_BYTES)
		b->data[KEPT_BYTES] = '\0';
	return (const char *)b->data;
}

static void take_end(struct trial *t, const struct scripted *r)
{
	const struct scripted_report *p = &r->report;

	if (scripted_failed(r, t->reason, sizeof t->reason))
		scripted_last_words(r, t->reason, sizeof t->reason);
	t->load_1m = r->load_1m;
	if (!r->reported)
		return;
	t->start_ns = p->start_utc_ns;
	t->end_ns = p->end_utc_ns;
	if (p->code) {
		t->exit_code = p->code;
		return;
	}
	t->duration_s = (double)p->end.wall_ns / 1e9;
	trial_take_usage(t, &p->end.usage);
	if (WIFSIGNALED(p->end.status))
		t->signal = WTERMSIG(p->end.status);
	else
		t->exit_code = WEXITSTATUS(p->end.status);
}

/* Begins or commits: a reader who keeps an SQLite store busy for longer than that waits by itself
 * does not cost a trial. A commit of PostgreSQL is not tried again: it has ended its transaction.
 */
static int step(const struct trial_run *x, int (*way)(struct database *, struct err *),
		struct err *e)
{
	struct database *s = x->store->database;
	int rc = way(s, e);

	for (int i = 1; i < BUSY_MOST && rc == -EAGAIN && !database_is_postgres(s); i++) {
		say("%s: a trial waits to be kept: %s", x->verb, e->text);
		rc = way(s, e);
	}
	return rc;
}

static void add_facts(struct evidence *v, const struct bench_facts *f)
{
	for (uint32_t i = 0; f && i < f->n; i++)
		bench_facts_put(&v->facts, f->fact[i].name, f->fact[i].text);
}

/* 1: the store has it already. */
static int put(struct trial_run *x, struct trial *t, struct evidence *v, struct err *e)
{
	struct database *s = x->store->database;
	int rc = step(x, database_begin, e), there = 0;

	add_facts(v, x->software);
	add_facts(v, x->varied);
	add_facts(v, x->place);
	if (!rc) /* another may have run it meanwhile */
		there = trial_exists(s, x->batch, t->number, e);
	rc = rc ? rc : there;
	if (!rc && v->past.n && history_is_kept())
		rc = history_put(s, &v->past, 0, &t->run_id, e);
	if (!rc)
		rc = environment_put(s, v->facts.fact, v->facts.n, &t->environment_id, e);
	if (!rc)
		rc = trial_put(x->store, x->batch, t, e);
	if (!rc)
		rc = step(x, database_commit, e);
	if (rc)
		database_rollback(s);
	return rc;
}

static int keep(struct trial_run *x, struct scripted *r, const char *directory, int64_t number,
		struct err *e)
{
	struct contract said = { 0 };
	struct evidence v;
	struct trial t;
	struct err why = { "" };
	int rc;

	trial_init(&t, number);
	take_end(&t, r);
	t.host = x->host && *x->host ? x->host : NULL;
	rc = contract_read(&said, r->out.data, r->out.len - 1, &why);
	t.said = &said;
	t.said_well = !rc;
	if (rc && !*t.reason && !x->plain) {
		snprintf(t.reason, sizeof t.reason, "%s", why.text);
		if (!r->out_bytes)
			scripted_last_words(r, t.reason, sizeof t.reason);
	}
	mkdir(directory, 0700); /* when there is no recording */
	keep_file(x, directory, "stdout", &r->out);
	keep_file(x, directory, "stderr", &r->err);
	if (evidence_read(&v, &t, directory, &why))
		say("%s: trial %" PRId64 " has no recording: %s", x->verb, number, why.text);
	if (x->place) /* the trials beside it are among the others */
		t.noise[NOISE_OTHERS] = NAN;
	t.out = shortened(&r->out);
	t.err = shortened(&r->err);
	rc = put(x, &t, &v, e);
	if (rc > 0)
		say("%s: trial %" PRId64 " was kept by another meanwhile; this one is dropped",
		    x->verb, number);
	x->failed += !rc && *t.reason;
	if (!rc && !x->quiet)
		benchprint_trial(&t, x->of);
	evidence_free(&v);
	contract_free(&said);
	return rc < 0 ? rc : 0;
}

/* Begins the next run of it. 0, or -errno with a sentence. */
static int trial_begin(struct trial_run *x, struct trial_going *g, struct err *e)
{
	struct recording_options o = x->recording;
	struct recording_plan plan;
	const struct scripted_wish w = { .argv = x->argv,
					 .environment = x->environment,
					 .directory = x->in,
					 .limit_ns = x->limit_ns,
					 .plan = g->warmups ? NULL : &plan,
					 .cpus = x->cpus,
					 .foreign = x->foreign,
					 .nforeign = x->nforeign };

	o.output = g->directory;
	if (!g->warmups && !recording_plan(&plan, &o))
		return err_set(e, -EINVAL, "trial %" PRId64 " cannot be recorded", g->number);
	return scripted_begin(&g->scripted, &w, e);
}

static void say_of_warmup(const struct trial_run *x, const struct scripted *r)
{
	char why[600];

	if (!scripted_failed(r, why, sizeof why))
		return;
	scripted_last_words(r, why, sizeof why);
	say("%s: while warming up: %s", x->verb, why);
}

/* When g->scripted has ended. 1: it was a warm-up run, and trial_begin has to begin the next. 0:
 * the trial is stored, also when it failed; one that the store has by then is dropped, and said. Or
 * -errno with a sentence. */
static int trial_end(struct trial_run *x, struct trial_going *g, struct err *e)
{
	int rc = scripted_end(&g->scripted, e);

	if (!rc && g->warmups) {
		say_of_warmup(x, &g->scripted);
		g->warmups--;
		rc = 1;
	} else if (!rc) {
		rc = keep(x, &g->scripted, g->directory, g->number, e);
	}
	scripted_free(&g->scripted);
	return rc;
}

/* ---- places ---- */

static int too_few(int64_t jobs, uint32_t cores, struct err *e)
{
	if (cores < 2)
		return err_set(e, -EINVAL,
			       "--jobs %" PRId64 " needs a core for each job, and this process may "
			       "use only one: leave --jobs out",
			       jobs);
	return err_set(e, -EINVAL,
		       "--jobs %" PRId64
		       " needs a core for each job, and this process may use %" PRIu32
		       ": give at most --jobs %" PRIu32,
		       jobs, cores, cores);
}

static void put_facts(struct trial_place *p, uint32_t jobs)
{
	char text[CPULIST_TEXT];

	snprintf(text, sizeof text, "%" PRIu32, jobs);
	bench_facts_put(&p->facts, "trial.jobs", text);
	affinity_text(&p->cpus, text, sizeof text);
	bench_facts_put(&p->facts, "trial.cpus", text);
}

static int share_cores(struct beside *b, struct err *e)
{
	struct cpulist allowed = { { 0 } }, *set = calloc(b->n, sizeof *set);
	struct root sys = { 0 };
	uint32_t cores;
	int rc = set ? root_open_if_there(&sys, "/sys") : -ENOMEM;

	if (!rc && sched_getaffinity(0, sizeof allowed.word, (void *)allowed.word))
		rc = -errno;
	cores = rc ? 0 : coreset_share(set, b->n, &allowed, &sys);
	root_close(&sys);
	if (rc)
		err_set(e, rc, "the cores cannot be shared between jobs: %s", strerror(-rc));
	else if (cores < b->n)
		rc = too_few(b->n, cores, e);
	for (uint32_t i = 0; i < b->n && !rc; i++) {
		b->place[i].cpus = set[i];
		put_facts(&b->place[i], b->n);
		rc = b->place[i].facts.failed ? err_set(e, -ENOMEM, "out of memory") : 0;
	}
	free(set);
	return rc;
}

int beside_open(struct beside *b, int64_t jobs, struct err *e)
{
	b->place = calloc((size_t)jobs, sizeof *b->place);
	if (!b->place)
		return err_set(e, -ENOMEM, "out of memory for jobs");
	b->n = (uint32_t)jobs;
	for (uint32_t i = 0; i < b->n; i++) {
		b->place[i].index = i;
		b->place[i].claim = -1;
	}
	return b->n > 1 ? share_cores(b, e) : 0;
}

void beside_close(struct beside *b)
{
	for (uint32_t i = 0; i < b->n; i++)
		bench_facts_free(&b->place[i].facts);
	free(b->place);
	*b = (struct beside){ 0 };
}

/* ---- trials ---- */

static uint32_t count_taken(const struct beside *b)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < b->n; i++)
		n += b->place[i].is_taken;
	return n;
}

/* Descriptors that the processes of another trial must not keep: its claim would outlive it. */
static uint32_t find_foreign(const struct beside *b, int *out)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < b->n; i++) {
		const struct trial_place *p = &b->place[i];

		if (!p->is_taken)
			continue;
		if (p->claim >= 0)
			out[n++] = p->claim;
		for (int k = 0; k < SCRIPTED_PIPES; k++)
			if (p->going.scripted.from[k] >= 0)
				out[n++] = p->going.scripted.from[k];
	}
	return n;
}

int beside_begin(struct beside *b, struct trial_place *p, struct err *e)
{
	int foreign[SCRIPTED_MOST * (SCRIPTED_PIPES + 1)];
	int rc;

	p->run.cpus = b->n > 1 ? &p->cpus : NULL;
	p->run.place = b->n > 1 ? &p->facts : NULL;
	p->run.foreign = foreign;
	p->run.nforeign = find_foreign(b, foreign);
	rc = trial_begin(&p->run, &p->going, e);
	p->is_taken = !rc;
	if (rc)
		b->ended(b->ctx, p, rc);
	return rc;
}

/* Until one of them has ended for good, its warm-up runs included. */
static int wait_for_one(struct beside *b, struct err *e)
{
	for (;;) {
		struct scripted *running[SCRIPTED_MOST];
		struct trial_place *at[SCRIPTED_MOST], *p;
		uint32_t n = 0;
		int rc;

		for (uint32_t i = 0; i < b->n; i++)
			if (b->place[i].is_taken) {
				at[n] = &b->place[i];
				running[n++] = &b->place[i].going.scripted;
			}
		p = at[scripted_wait(running, n)];
		p->is_taken = false;
		rc = trial_end(&p->run, &p->going, e);
		if (rc <= 0) {
			b->ended(b->ctx, p, rc);
			return rc;
		}
		rc = beside_begin(b, p, e);
		if (rc)
			return rc;
	}
}

struct trial_place *beside_take(struct beside *b, int *rc, struct err *e)
{
	*rc = count_taken(b) == b->n ? wait_for_one(b, e) : 0;
	for (uint32_t i = 0; i < b->n && !*rc; i++)
		if (!b->place[i].is_taken)
			return &b->place[i];
	return NULL;
}

int beside_finish(struct beside *b, int rc, struct err *e)
{
	while (count_taken(b)) {
		struct err other = { "" };
		int its = wait_for_one(b, &other);

		if (!its || rc)
			continue;
		rc = its;
		*e = other;
	}
	return rc;
}
