/* SPDX-License-Identifier: Apache-2.0 */
#include "push/push.h"

#include "base/clock.h"
#include "base/text/json.h"
#include "console/command.h"
#include "output/outfile.h"
#include "push/http.h"
#include "recording/join.h"
#include "session/find.h"
#include "store/database.h"
#include "trial/pushtrials.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define PUSH(x, name) " " name

static const char known_services[] = "Service:"
#include "pushes.def"
				     ".";
static const char services[] =
#include "pushes.def"
	;
#undef PUSH

struct push_options {
	const char *to, *url, *state, *metrics, *labels, *store;
	int64_t patience_ns, artifacts, every_ns;
	bool with_environment, json;
};

/* Following costs at most a twentieth of the time, however long the recording gets. */
enum { REST_TIMES = 20 };

static const struct option rows[] = {
	{ .name = "to",
	  .type = ARG_TEXT,
	  .value = "SERVICE",
	  .help = known_services,
	  .words = services,
	  OPTION_OFFSET(struct push_options, to) },
	{ .name = "url",
	  .type = ARG_TEXT,
	  .value = "URL",
	  .help = "Address of the server, without a password. Default: the variable of the "
		  "service.",
	  OPTION_OFFSET(struct push_options, url) },
	{ .name = "artifacts",
	  .type = ARG_CHOICE,
	  .value = "all|report|none",
	  .fallback = "all",
	  .help = "MLflow: upload these files with the values: report, samples and recording; the "
		  "first two; or none. Of trials, both upload their lock files.",
	  OPTION_OFFSET(struct push_options, artifacts) },
	{ .name = "metrics",
	  .type = ARG_TEXT,
	  .value = "GLOBS",
	  .help = "Remote write, OTLP: send only series that match one of these patterns, separated by "
		  "commas.",
	  OPTION_OFFSET(struct push_options, metrics) },
	{ .name = "labels",
	  .type = ARG_TEXT,
	  .value = "NAME=VALUE,...",
	  .help = "Remote write: add these labels to every series. OTLP: add these attributes "
		  "to each resource.",
	  OPTION_OFFSET(struct push_options, labels) },
	{ .name = "with-environment",
	  .type = ARG_FLAG,
	  .help = "Send the job's environment and what it printed when it failed, too. By default "
		  "MLflow and PostgreSQL get the recording without them.",
	  OPTION_OFFSET(struct push_options, with_environment) },
	{ .name = "follow",
	  .type = ARG_DURATION,
	  .value = "TIME",
	  .bare = "15s",
	  .min = NS_PER_S,
	  .max = INT64_C(86400) * NS_PER_S,
	  .help = "MLflow, remote write, OTLP: send new samples every 15 s, or TIME, until the job ends.",
	  OPTION_OFFSET(struct push_options, every_ns) },
	{ .name = "patience",
	  .type = ARG_DURATION,
	  .value = "TIME",
	  .fallback = "1m",
	  .max = INT64_C(86400) * NS_PER_S,
	  .help = "Wait and retry for this long if a server does not answer or asks to retry later. "
		  "Each request starts again.",
	  OPTION_OFFSET(struct push_options, patience_ns) },
	{ .name = "state",
	  .type = ARG_TEXT,
	  .value = "DIR",
	  .help = "Keep the record of what has arrived in this file. Default: next to the "
		  "recording, or to the store.",
	  OPTION_OFFSET(struct push_options, state) },
	{ .name = "store",
	  .type = ARG_TEXT,
	  .value = "WHERE",
	  .help = "Read bench:ID and sweep:NAME from this store. " PLACE_DEFAULT,
	  OPTION_OFFSET(struct push_options, store) },
	{ .name = "json",
	  .type = ARG_FLAG,
	  .help = "Print what was pushed as JSON.",
	  OPTION_OFFSET(struct push_options, json) },
};

static const struct example examples[] = {
	{ "push --to mlflow", "the newest recording here, to MLFLOW_TRACKING_URI" },
	{ "push --to remote-write --url http://localhost:9090/api/v1/write",
	  "all its series so far" },
	{ "push --to remote-write --follow sonde_1234",
	  "the series of a running job until it ends, to SONDE_REMOTE_WRITE_URL" },
	{ "push --to postgres --url postgres://anna@db.example.org/jobs",
	  "the whole recording, into a database; the password is in ~/.pgpass" },
	{ "push --to azure-table start",
	  "start-up events, into Batch Shipyard's table SONDE_AZURE_TABLE_URL" },
	{ "push --to otlp --url http://localhost:4318",
	  "samples, the job and its spans, to an OpenTelemetry Collector" },
	{ "push --to mlflow bench:7",
	  "a batch of trials: a run, and below it a run of each trial" },
	{ "push --to mlflow sweep:numpy", "the same of a sweep" },
	{ "push --to mlflow sonde_1234 --artifacts report",
	  "a finished job, without its recording" },
};

static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

static bool has_secret(const struct push *service, const char *url, bool *is_address, struct err *e)
{
	struct address a;
	struct place p;

	if (service->database) {
		*is_address = !place_parse(&p, url, e);
		return *is_address && p.secret;
	}
	*is_address = !address_parse(&a, url, "--url", e);
	return a.user[0] || a.password[0];
}

/* Everybody on the machine sees the command line. */
static bool suits_url(const struct push *service, const char *url)
{
	bool is_address = true;
	struct err e;

	if (url && has_secret(service, url, &is_address, &e)) {
		say("push: do not put a user or password into --url, where everybody on this "
		    "machine can see it; put the address into the service's variable");
		return false;
	}
	if (!is_address)
		say("push: %s", e.text);
	return is_address;
}

static const struct push *understand(const struct push_options *o)
{
	const struct push *p = o->to ? push_find(o->to) : NULL;

	if (!p && o->to)
		say("push: unknown service '%s'. %s", o->to, known_services);
	else if (!p)
		say("push: no service given; use --to. %s", known_services);
	if (p && o->every_ns && !p->follows) {
		say("push: --follow: %s takes only complete jobs; remove --follow", p->name);
		return NULL;
	}
	return p && suits_url(p, o->url) ? p : NULL;
}

static void say_done(const struct push_result *r, const char *path, int rc, const struct err *e)
{
	bool is_recording = !pushtrials_is(path);

	if (rc && r->kept)
		say("push: %s; run the same command again to continue", e->text);
	else if (rc == -EHOSTUNREACH)
		say("push: %s; %srun the same command again later, also from another machine",
		    e->text, is_recording ? "the recording is unchanged; " : "");
	else if (rc)
		say("push: %s", e->text);
	else if (r->left_out[0])
		say("push: %s", r->left_out);
	else if (r->nothing_new)
		say("%s is in %s already", path, r->where);
	else
		say("pushed %s to %s (values: %" PRIu64 ")", path, r->where, r->values);
}

static int print_json(const struct push_options *o, const struct push_result *r,
		      const struct choice *c, bool failed)
{
	struct bytes out = { 0 };
	struct json j = { .out = &out, .indent = true };
	int code;

	json_object(&j);
	json_key(&j, "schema");
	json_text(&j, "sonde/push/1");
	json_put_text(&j, pushtrials_is(c->path) ? "trials" : "recording", c->path);
	json_key(&j, "to");
	json_text(&j, o->to);
	json_key(&j, "where");
	json_text(&j, r->where[0] ? r->where : NULL);
	json_put_bool(&j, "complete", !failed && !r->left_out[0]);
	json_key(&j, "values");
	json_int(&j, (int64_t)r->values);
	json_key(&j, "requests");
	json_int(&j, (int64_t)r->requests);
	json_key(&j, "damages");
	json_int(&j, c->run ? c->run->ndamages : 0);
	json_object_end(&j);
	bytes_u8(&out, '\n');
	code = print_bytes(&out);
	bytes_free(&out);
	return code;
}

static struct push_job job_of(const struct push_options *o, struct run *run)
{
	return (struct push_job){
		.run = run,
		.url = o->url,
		.metrics = o->metrics,
		.labels = o->labels,
		.patience_ns = o->patience_ns,
		.with_environment = o->with_environment,
		.artifacts = (enum push_artifacts)o->artifacts,
		.every_ns = o->every_ns,
		.variable = variable,
	};
}

static int push(const struct push *service, const struct push_options *o, const struct choice *c,
		bool last, struct push_result *r, struct err *e)
{
	char own[PATH_MAX];
	struct push_job job = job_of(o, c->run);

	job.state = o->state ? o->state : outfile_directory(c->path, own, sizeof own);
	job.last = last;
	*r = (struct push_result){ .where = "" };
	return service->exec(&job, r, e);
}

static void rest(int64_t ns)
{
	struct timespec t = { .tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S };

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

/* CPU time of this process and of its helpers that have ended. */
static int64_t used_ns(void)
{
	static const int whose[] = { RUSAGE_SELF, RUSAGE_CHILDREN };
	int64_t ns = 0;

	for (size_t i = 0; i < sizeof whose / sizeof whose[0]; i++) {
		struct rusage u = { 0 };

		getrusage(whose[i], &u);
		ns += (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * NS_PER_S +
		      (u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000;
	}
	return ns;
}

/* A server that is away is said once, and so is that it is back; it is asked again with what has
 * come meanwhile. */
static bool goes_on(int rc, const struct err *e, bool *away)
{
	bool passing = rc == -EHOSTUNREACH || rc == -EAGAIN;

	if (passing && !*away)
		say("push: %s; retrying", e->text);
	if (!rc && *away)
		say("push: the server answers again");
	*away = passing;
	return !rc || passing;
}

/* Again and again until no more samples come; r is of all together. */
static int follow(const struct push *service, const struct push_options *o, struct choice *c,
		  struct push_result *r, struct err *e)
{
	uint64_t values = 0, requests = 0;
	bool away = false;
	int rc;

	for (;;) {
		bool last = !push_may_grow(c->run, clock_utc_ns());
		int64_t before = used_ns(), pause;

		rc = push(service, o, c, last, r, e);
		r->values = values += r->values;
		r->requests = requests += r->requests;
		if (last || !goes_on(rc, e, &away))
			break;
		pause = REST_TIMES * (used_ns() - before);
		rest(pause > o->every_ns ? pause : o->every_ns);
		run_close(c->run);
		c->run = NULL;
		if (run_open(&c->run, c->path, e))
			return -ENOENT;
	}
	r->nothing_new = !rc && !values;
	return rc;
}

static int say_result(const struct push_options *o, const struct push_result *r,
		      const struct choice *c, int rc, const struct err *e)
{
	bool damaged = c->run && c->run->ndamages;

	say_done(r, c->path, rc, e);
	if (!rc && damaged)
		say("push: %s is damaged; the undamaged part was pushed", c->path);
	if (o->json && print_json(o, r, c, rc))
		return EXIT_FAILED;
	return rc == -EINVAL ? EXIT_USAGE : rc || r->left_out[0] || damaged ? EXIT_FAILED : EXIT_OK;
}

/* The trials of a batch or a sweep. */
static int push_trials(const struct push *service, const struct push_options *o, const char *word)
{
	struct choice c = { .path = word };
	struct push_result r = { .where = "" };
	struct pushtrials x = { .beside = "" };
	struct err e = { "" };
	struct push_job job = job_of(o, NULL);
	int code, rc;

	if (!service->exec_trials || o->every_ns) {
		say("push: %s takes no trials%s", service->exec_trials ? "--follow" : service->name,
		    service->exec_trials ? "; remove it" : ", only recordings; use --to mlflow");
		return EXIT_USAGE;
	}
	rc = pushtrials_read(&x, o->store, word, &e);
	job.state = o->state ? o->state : x.beside;
	if (!rc)
		rc = service->exec_trials(&job, &x.all, &r, &e);
	code = say_result(o, &r, &c, rc, &e);
	pushtrials_free(&x);
	return code;
}

static int push_exec(const void *options, int noperands, char **operands)
{
	const struct push_options *o = options;
	const struct push *service = understand(o);
	struct push_result r;
	struct err e = { "" };
	struct choice c;
	int code, rc;

	if (!service)
		return EXIT_USAGE;
	if (noperands == 1 && pushtrials_is(operands[0]))
		return push_trials(service, o, operands[0]);
	code = choose_recording(&c, "push", "pushing", noperands, operands);
	if (code)
		return code;
	rc = o->every_ns ? follow(service, o, &c, &r, &e) : push(service, o, &c, true, &r, &e);
	code = say_result(o, &r, &c, rc, &e);
	run_close(c.run);
	return code;
}

const struct command command_push = {
	.name = "push",
	.operands = "[DIR | bench:ID | sweep:NAME]",
	.what = "Send a recording or trials to a service",
	.description =
		"Sends a recording to a server, from any machine that can reach both, such as a "
		"login node if compute nodes have no network. Default DIR: the newest recording "
		"here.\n\n"
		"If a push fails or is killed, run the same command again: it continues where it "
		"stopped. Repeating a complete push adds nothing. A file .push-* next to the "
		"recording (--state: elsewhere) notes what has arrived. If a server does not "
		"answer, Sonde retries with growing delays (--patience). The job's environment and "
		"what it printed are sent only with --with-environment.\n\n"
		"mlflow: MLFLOW_TRACKING_URI names the server; MLFLOW_TRACKING_TOKEN, or "
		"_USERNAME and _PASSWORD, are the credentials. MLFLOW_RUN_ID is the run to add "
		"the job's values to; without it Sonde creates a run in the experiment of "
		"MLFLOW_EXPERIMENT_ID or MLFLOW_EXPERIMENT_NAME. The values are MLflow's own "
		"system metrics of each node and GPU, and the figures of `sonde show --tracker`. "
		"Report, samples and recording become artifacts of the run, in its directory "
		"sonde. bench:ID and sweep:NAME become a run, and below it a run of each trial: "
		"parameters, figures as metrics, the machine as tags, and the lock files of their "
		"software as artifacts.\n\n"
		"remote-write: SONDE_REMOTE_WRITE_URL is the address of a receiver of Prometheus "
		"remote write, with user and password in it, or with a token in "
		"SONDE_REMOTE_WRITE_TOKEN. The series are those of `sonde export --to "
		"openmetrics`. For a running job it sends what exists so far; the same command "
		"later sends the rest, and --follow continues until the job ends.\n\n"
		"postgres: SONDE_POSTGRES_URL is the address of a PostgreSQL database, "
		"postgres://user@host:port/database; the password is taken from PGPASSWORD, "
		"PGPASSFILE or ~/.pgpass. The whole recording goes into tables of the schema "
		"sonde, which is created if missing, in one transaction: all or nothing. A job "
		"that has grown since is replaced.\n\n"
		"azure-table: SONDE_AZURE_TABLE_URL is the address of the table that holds the "
		"start-up events of Batch Shipyard's nodes. AZURE_STORAGE_KEY is the key of its "
		"account, or AZURE_STORAGE_SAS_TOKEN a signature; or SHIPYARD_STORAGE_ENV has "
		"ACCOUNT:ENDPOINT:KEY. Marks SOURCE:EVENT become its entities; the table itself "
		"records which of them have arrived.\n\n"
		"otlp: OTEL_EXPORTER_OTLP_ENDPOINT is the address of a receiver of OpenTelemetry's "
		"OTLP over HTTP, such as a Collector's http://host:4318; "
		"OTEL_EXPORTER_OTLP_HEADERS has the headers that it requires. Samples are sent as "
		"gauges, and once the job has ended the job and the spans of its programs as a "
		"trace: in the trace of the program that started the job, if TRACEPARENT was set for it. For a "
		"running job the same command later sends the rest, as does --follow.\n\n"
		"Exit code 1 also means that some data was skipped.",
	COMMAND_OPTIONS(rows),
	.size = sizeof(struct push_options),
	COMMAND_EXAMPLES(examples),
	.exec = push_exec,
};
