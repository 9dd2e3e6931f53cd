/* SPDX-License-Identifier: Apache-2.0 */
#include "push/push.h"

#include "base/clock.h"
#include "base/json.h"
#include "cmd/choose.h"
#include "cmd/command.h"
#include "cmd/outfile.h"
#include "cmd/print.h"
#include "cmd/say.h"
#include "push/address.h"
#include "recording/join.h"
#include "store/place.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
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
	const char *to, *url, *state, *metrics, *labels;
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
	  .help = "Address of the server, without a password; else the service's variable says it.",
	  OPTION_OFFSET(struct push_options, url) },
	{ .name = "artifacts",
	  .type = ARG_CHOICE,
	  .value = "all|report|none",
	  .fallback = "all",
	  .help = "MLflow: the files that go with the values: report, samples and recording; the "
		  "first two; none.",
	  OPTION_OFFSET(struct push_options, artifacts) },
	{ .name = "metrics",
	  .type = ARG_TEXT,
	  .value = "GLOBS",
	  .help = "Remote write: only series whose name matches one of these, separated by commas.",
	  OPTION_OFFSET(struct push_options, metrics) },
	{ .name = "labels",
	  .type = ARG_TEXT,
	  .value = "NAME=VALUE,...",
	  .help = "Remote write: labels of every series beside its node and device.",
	  OPTION_OFFSET(struct push_options, labels) },
	{ .name = "with-environment",
	  .type = ARG_FLAG,
	  .help = "Send the job's environment, too: MLflow and PostgreSQL get the recording without "
		  "it.",
	  OPTION_OFFSET(struct push_options, with_environment) },
	{ .name = "follow",
	  .type = ARG_DURATION,
	  .value = "TIME",
	  .bare = "15s",
	  .min = NS_PER_S,
	  .max = INT64_C(86400) * NS_PER_S,
	  .help = "Remote write: go on while the job runs, sending every 15 s, or TIME, what has "
		  "come, and end with it.",
	  OPTION_OFFSET(struct push_options, every_ns) },
	{ .name = "patience",
	  .type = ARG_DURATION,
	  .value = "TIME",
	  .fallback = "1m",
	  .max = INT64_C(86400) * NS_PER_S,
	  .help = "How long to ask a server again that does not answer, or asks to come later.",
	  OPTION_OFFSET(struct push_options, patience_ns) },
	{ .name = "state",
	  .type = ARG_TEXT,
	  .value = "DIR",
	  .help = "Where it is kept what has arrived; without it beside the recording.",
	  OPTION_OFFSET(struct push_options, state) },
	{ .name = "json",
	  .type = ARG_FLAG,
	  .help = "Say what was pushed as JSON on standard output.",
	  OPTION_OFFSET(struct push_options, json) },
};

static const struct example examples[] = {
	{ "push --to mlflow", "the newest recording here, to MLFLOW_TRACKING_URI" },
	{ "push --to remote-write --url http://localhost:9090/api/v1/write",
	  "its series as far as they are" },
	{ "push --to remote-write --follow sonde_1234",
	  "the series of a running job, until it ends, to SONDE_REMOTE_WRITE_URL" },
	{ "push --to postgres --url postgres://anna@db.example.org/jobs",
	  "all of it, into a database; the password is in ~/.pgpass" },
	{ "push --to azure-table start",
	  "start-up events into Batch Shipyard's table, SONDE_AZURE_TABLE_URL" },
	{ "push --to mlflow sonde_1234 --artifacts report",
	  "a job that ended, without its recording" },
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
		say("push: a user or password in --url would be seen by everybody on this machine; "
		    "give the address in the service's variable");
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
		say("push: there is no service '%s'. %s", o->to, known_services);
	else if (!p)
		say("push: --to says where to. %s", known_services);
	if (p && o->every_ns && !p->follows) {
		say("push: --follow: %s cannot be told of a job piece by piece; leave it out",
		    p->name);
		return NULL;
	}
	return p && suits_url(p, o->url) ? p : NULL;
}

static void say_done(const struct push_result *r, const char *path, int rc, const struct err *e)
{
	if (rc && r->kept)
		say("push: %s; what arrived is noted, and the same command goes on from there",
		    e->text);
	else if (rc == -EHOSTUNREACH)
		say("push: %s; the recording stays as it is, and the same command sends it later, also "
		    "from another machine",
		    e->text);
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
	json_key(&j, "recording");
	json_text(&j, c->path);
	json_key(&j, "to");
	json_text(&j, o->to);
	json_key(&j, "where");
	json_text(&j, r->where[0] ? r->where : NULL);
	json_key(&j, "complete");
	json_bool(&j, !failed && !r->left_out[0]);
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

static int push(const struct push *service, const struct push_options *o, const struct choice *c,
		struct push_result *r, struct err *e)
{
	char own[PATH_MAX];
	const struct push_job job = {
		.run = c->run,
		.url = o->url,
		.state = o->state ? o->state : outfile_directory(c->path, own, sizeof own),
		.metrics = o->metrics,
		.labels = o->labels,
		.patience_ns = o->patience_ns,
		.with_environment = o->with_environment,
		.artifacts = (enum push_artifacts)o->artifacts,
		.variable = variable,
	};

	*r = (struct push_result){ .where = "" };
	return service->exec(&job, r, e);
}

static void rest(int64_t ns)
{
	struct timespec t = { .tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S };

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

/* A server that is away is said once, and then asked again with what has come meanwhile. */
static bool goes_on(int rc, const struct err *e, bool *away)
{
	bool passing = rc == -EHOSTUNREACH || rc == -EAGAIN;

	if (passing && !*away)
		say("push: %s; it is tried again", e->text);
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
		int64_t began = clock_mono_ns(), pause;

		rc = push(service, o, c, r, e);
		r->values = values += r->values;
		r->requests = requests += r->requests;
		if (!push_may_grow(c->run, clock_utc_ns()) || !goes_on(rc, e, &away))
			break;
		pause = REST_TIMES * (clock_mono_ns() - began);
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
		say("push: %s is damaged; what is undamaged was pushed", c->path);
	if (o->json && print_json(o, r, c, rc))
		return EXIT_FAILED;
	return rc == -EINVAL ? EXIT_USAGE : rc || r->left_out[0] || damaged ? EXIT_FAILED : EXIT_OK;
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
	code = choose_recording(&c, "push", "pushing", noperands, operands);
	if (code)
		return code;
	rc = o->every_ns ? follow(service, o, &c, &r, &e) : push(service, o, &c, &r, &e);
	code = say_result(o, &r, &c, rc, &e);
	run_close(c.run);
	return code;
}

const struct command command_push = {
	.name = "push",
	.operands = "[DIR]",
	.what = "Tell a recorded job to a service",
	.description =
		"Sends a recording's values to a server, from any machine that reaches it and the "
		"recording: a login node, when compute nodes have no network. Without DIR, the "
		"newest recording here.\n\n"
		"A push that failed or was killed goes on where it ended when the same command is "
		"given again, and one of what has been pushed adds nothing: what has arrived is "
		"noted in a file .push-* beside the recording (--state: elsewhere). A server that "
		"does not answer is asked again, later and later (--patience). The job's environment "
		"is sent when --with-environment asks for it.\n\n"
		"mlflow: MLFLOW_TRACKING_URI names the server, MLFLOW_TRACKING_TOKEN, or _USERNAME "
		"and _PASSWORD, who we are. MLFLOW_RUN_ID is the run that the job's values are "
		"added to; without it a run is made, in the experiment of MLFLOW_EXPERIMENT_ID or "
		"MLFLOW_EXPERIMENT_NAME. The values are MLflow's own system metrics of each node "
		"and GPU and the figures of `sonde show --tracker`; report, samples and recording "
		"become the run's artifacts, in its folder sonde.\n\n"
		"remote-write: SONDE_REMOTE_WRITE_URL is the address of a receiver of Prometheus' "
		"remote write, with the user and password in it, or SONDE_REMOTE_WRITE_TOKEN "
		"beside it. The series are those of `sonde export --to openmetrics`. A job that "
		"is still running is sent as far as it is; the same command later sends what has "
		"come since, and --follow does so until the job has ended.\n\n"
		"postgres: SONDE_POSTGRES_URL is the address of a database of PostgreSQL, "
		"postgres://user@host:port/database; the password is taken from PGPASSWORD, "
		"PGPASSFILE or ~/.pgpass. The whole recording goes into the tables of its schema "
		"sonde, which is created if missing, in one transaction: all of it or "
		"nothing. A job that has gone on since is replaced.\n\n"
		"azure-table: SONDE_AZURE_TABLE_URL is the address of the table that Batch "
		"Shipyard's nodes write their start-up events into, AZURE_STORAGE_KEY the key of "
		"its account, or AZURE_STORAGE_SAS_TOKEN a signature; or SHIPYARD_STORAGE_ENV has "
		"ACCOUNT:ENDPOINT:KEY. Marks SOURCE:EVENT become its entities; the table itself "
		"says which of them have arrived.\n\n"
		"Exit code 1 also means that something was left out.",
	COMMAND_OPTIONS(rows),
	.size = sizeof(struct push_options),
	COMMAND_EXAMPLES(examples),
	.exec = push_exec,
};
