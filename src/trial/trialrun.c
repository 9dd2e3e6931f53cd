/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/trialrun.h"

#include "base/text/textfile.h"
#include "console/say.h"
#include "session/history.h"
#include "trial/benchprint.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <pwd.h>
#include <stdio.h>
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

int trial_begin(struct trial_run *x, struct trial_going *g, struct err *e)
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

int trial_end(struct trial_run *x, struct trial_going *g, struct err *e)
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
