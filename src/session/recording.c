/* SPDX-License-Identifier: Apache-2.0 */
#include "session/recording.h"

#include "base/clock.h"
#include "base/random.h"
#include "base/text/decimal.h"
#include "base/text/number.h"
#include "console/command.h"
#include "recording/join.h"
#include "report/summary/own.h"
#include "report/summary/past.h"
#include "session/followers.h"
#include "session/history.h"
#include "session/sitesecrets.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STACKS_HZ_MAX = 1000, WAITS_HZ_MAX = 100, MEMORY_HZ_MAX = 20000 };

static void random_id(char out[33])
{
	uint8_t bytes[16] = { 0 };

	if (!entropy_fill(bytes, sizeof bytes)) {
		int64_t now = clock_utc_ns(), pid = getpid();

		memcpy(bytes, &now, sizeof now);
		memcpy(bytes + sizeof now, &pid, sizeof pid);
	}
	for (size_t i = 0; i < sizeof bytes; i++)
		snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

/* A share of one core: "0.5", "0.5%" or "off". */
static bool overhead_parse(const char *text, int64_t interval_ns, double *share)
{
	char *end;

	*share = budget_default(interval_ns);
	if (!text)
		return true;
	*share = 0;
	if (!strcmp(text, "off"))
		return true;
	if (!*text || text[strspn(text, ".0123456789%")])
		return false;
	*share = decimal_parse(text, &end) / 100;
	end += *end == '%';
	return !*end && *share >= 0.0001 && *share <= 1;
}

/* "auto", "off", or so often a second. NULL, as where there is no such option: off. */
static bool rate_parse(const char *text, int64_t most, int64_t *hz)
{
	*hz = -1;
	if (!text || !strcmp(text, "off"))
		return true;
	*hz = 0;
	if (!strcmp(text, "auto"))
		return true;
	return number_i64(&text, hz) && !*text && *hz >= 1 && *hz <= most;
}

/* "long", of processes that have used that much, or a rate for all. */
static bool stacks_parse(const char *text, struct recording_plan *p)
{
	if (text && !strcmp(text, "long")) {
		p->stacks_hz = 0;
		p->stacks_after_ns = NS_PER_S / 2;
		return true;
	}
	p->stacks_after_ns = 0;
	return rate_parse(text, STACKS_HZ_MAX, &p->stacks_hz);
}

/* "out_123_4": the same for all nodes of the job. Not on the stack, which may be small. */
static const char *path_beside(const struct recording_plan *p)
{
	static char path[2 * PATH_MAX];
	const char *own = p->named + strlen("sonde");
	size_t n = strlen(p->absolute);

	while (n > 1 && p->absolute[n - 1] == '/')
		n--;
	return (size_t)snprintf(path, sizeof path, "%.*s%s", (int)n, p->absolute, own) < sizeof path
		       ? path
		       : NULL;
}

bool recording_plan(struct recording_plan *p, const struct recording_options *o)
{
	char here[PATH_MAX];
	struct err e;

	if (o->output && !o->output[0]) {
		say("-o needs the name of a directory; without -o the recording finds its own");
		return false;
	}

	*p = (struct recording_plan){ .o = o,
				      .perf = { .groups = o->perf,
						.file = o->events,
						.cpu = o->perf_cpu,
						.scope = (enum perf_scope)o->perf_scope } };
	p->quickly = !o->interval_ns;
	p->interval_ns = o->interval_ns ? o->interval_ns : NS_PER_S;
	if (!overhead_parse(o->max_overhead, p->interval_ns, &p->max_overhead)) {
		say("--max-overhead takes a percentage of one core from 0.01 to 100, or off, not "
		    "'%s'",
		    o->max_overhead);
		return false;
	}
	if (!stacks_parse(o->stacks, p)) {
		say("--stacks takes a number of samples per second from 1 to %d, auto, long or off, "
		    "not '%s'",
		    STACKS_HZ_MAX, o->stacks);
		return false;
	}
	if (!rate_parse(o->waits, WAITS_HZ_MAX, &p->waits_hz)) {
		say("--waits takes a number of looks per second from 1 to %d, or off, not '%s'",
		    WAITS_HZ_MAX, o->waits);
		return false;
	}
	if (!rate_parse(o->memory, MEMORY_HZ_MAX, &p->memory_hz)) {
		say("--memory takes a number of samples per second from 1 to %d, or off, not '%s'",
		    MEMORY_HZ_MAX, o->memory);
		return false;
	}
	if (perf_options_check(&p->perf, &e)) {
		say("%s", e.text);
		return false;
	}
	identity_find(&p->identity, environ);
	random_id(p->run_id);
	identity_directory(&p->identity, clock_utc_ns(), p->named, sizeof p->named);
	p->directory = o->output ? o->output : p->named;
	if (p->directory[0] == '/' || !getcwd(here, sizeof here) ||
	    (size_t)snprintf(p->absolute, sizeof p->absolute, "%s/%s", here, p->directory) >=
		    sizeof p->absolute)
		snprintf(p->absolute, sizeof p->absolute, "%s", p->directory);
	p->instead = o->output && !o->force ? path_beside(p) : NULL;
	return true;
}

const char *recording_absolute(const struct recording_plan *p)
{
	return p->moved && *p->moved ? p->instead : p->absolute;
}

const char *recording_directory(const struct recording_plan *p)
{
	size_t here = strlen(p->absolute) - strlen(p->directory);

	return p->moved && *p->moved ? p->instead + here : p->directory;
}

/* While events of tasks come and go on a CPU, the kernel counts the time of a cgroup's events too
 * high there (seen on 6.18): starts are learnt otherwise then. */
static enum process_events process_events_of(const struct recording_options *o)
{
	if (o->perf_scope == PERF_SCOPE_CGROUP && o->process_events == PROCESS_EVENTS_AUTO)
		return PROCESS_EVENTS_CONNECTOR;
	return (enum process_events)o->process_events;
}

/* Before the job, or while it runs; who has a place for it says the last one again at the end. */
static void say_sentence(void *ctx, const char *sentence)
{
	if (ctx)
		snprintf(ctx, RECORDING_WHY, "%s", sentence);
	say("recording: %s", sentence);
}

struct recorder_options recording_recorder(const struct recording_plan *p)
{
	const struct recording_options *o = p->o;

	return (struct recorder_options){
		.directory = p->directory,
		.force = o->force && o->output,
		.elsewhere = "name another with -o",
		.anyway = o->output ? ", or add --force" : NULL,
		.annotations = o->annotations,
		.run_id = p->run_id,
		.identity = &p->identity,
		.interval_ns = p->interval_ns,
		.sync_ns = o->sync_ns,
		.launcher = -1,
		.listener = -1,
		.say = say_sentence,
		.say_ctx = p->why,
		.opened = o->openmetrics ? openmetrics_start : NULL,
		.opened_context = p,
		.sampler = { .procfs = o->procfs,
			     .sysfs = o->sysfs,
			     .output = p->directory,
			     .interval_ns = p->interval_ns,
			     .quickly = p->quickly,
			     .max_overhead = p->max_overhead,
			     .watch_hang_ns = o->watch_hang_ns,
			     .perf = p->perf,
			     .stacks_hz = p->stacks_hz,
			     .stacks_after_ns = p->stacks_after_ns,
			     .no_paths = o->no_paths,
			     .waits_hz = p->waits_hz,
			     .memory_hz = p->memory_hz,
			     .files = (enum files_by)o->files,
			     .peers = o->peers,
			     .tree = { .process_events = process_events_of(o),
				       .reader = (enum tree_reader)o->tree,
				       .pss = (enum pss)o->pss,
				       .no_arguments = o->no_args,
				       .secrets = sitesecrets_read(o->no_addresses) } },
	};
}

/* A file of the user's own choice: made anew, private like the recording. Nobody is waited for who
 * might read a FIFO. */
static FILE *open_summary(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600);

	if (fd < 0)
		return NULL;
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	return fdopen(fd, "w");
}

static bool keeps_history(const struct recording_plan *p)
{
	return !p->o->no_history && history_is_kept();
}

void recording_leave(const struct recording_plan *p)
{
	if (keeps_history(p))
		history_leave(NULL, NULL, recording_absolute(p));
}

/* Numbers that cannot be read are left out: the rest of the summary stands. */
static void print_brief(const struct recording_plan *p, const struct summary *s, struct run *r,
			FILE *out, bool colour)
{
	struct own own;
	struct err e;
	int rc = own_make(&own, r, &e);

	summary_print_brief(s, rc ? NULL : &own, out, colour, !strchr(recording_directory(p), '/'));
	own_free(&own);
}

static void tell_to(const struct recording_plan *p, FILE *out, bool brief, bool colour)
{
	const struct summary_wish wish = { .all = p->o->json, .compared = past_metrics };
	struct summary s;
	struct run *r;
	struct err e;

	if (run_open(&r, recording_directory(p), &e)) {
		say("summary: %s", e.text);
		return;
	}
	if (summary_make_as(&s, r, &wish, &e)) {
		say("summary: %s", e.text);
	} else {
		if (p->o->json)
			summary_json(&s, r, out);
		else if (brief)
			print_brief(p, &s, r, out, colour);
		else
			summary_print(&s, out, colour);
		if (keeps_history(p))
			history_leave(r, &s, recording_absolute(p));
		summary_free(&s);
	}
	run_close(r);
}

static void tell_file(const struct recording_plan *p)
{
	FILE *file = open_summary(p->o->summary);

	if (!file) {
		say("cannot write the summary to %s: %s", p->o->summary, strerror(errno));
		return;
	}
	tell_to(p, file, false, false);
	if (fclose(file))
		say("cannot write the summary to %s: %s", p->o->summary, strerror(errno));
}

bool recording_is_silent(const struct recording_plan *p)
{
	return p->o->quiet && !p->o->summary;
}

void recording_print(const struct recording_plan *p)
{
	const char *no_colour = getenv("NO_COLOR");

	if (p->o->summary)
		tell_file(p);
	else if (!p->o->quiet)
		tell_to(p, stderr, true, isatty(STDERR_FILENO) && !(no_colour && no_colour[0]));
	else
		recording_leave(p);
}
