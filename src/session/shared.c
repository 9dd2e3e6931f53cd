/* SPDX-License-Identifier: Apache-2.0 */
#include "session/shared.h"

#include "base/clock.h"
#include "base/text/escape.h"
#include "console/command.h"
#include "core/metric.h"
#include "recording/join.h"
#include "report/summary/summary.h"
#include "session/followers.h"
#include "session/sitesecrets.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	JOIN_MS = 5000,
	READY_MS = 10000,
	NODES_LOOKED_AT = 64, /* of more, reading would keep the job's end waiting */
	OTHERS_MS = 1000,     /* how long the recordings of the other nodes are waited for */
	LOOK_AGAIN_MS = 50,
};

static void say_nothing(void *ctx, const char *sentence)
{
	(void)ctx;
	(void)sentence;
}

static void say_sentence(const char *sentence)
{
	say("recording: %s", sentence);
}

/* In the recorder's own process. It has no standard error: launchers say what it has to say. */
static _Noreturn void be_recorder(const struct shared *s, int listener)
{
	struct recorder_options r = recording_recorder(s->plan);

	r.instead = s->plan->moved ? s->plan->instead : NULL;
	r.moved = s->plan->moved ? s->plan->moved : &(bool){ false };
	r.command = s->argv[0];
	r.words = s->argv;
	r.environment = s->with_environment ? environ : NULL;
	r.listener = listener;
	r.key = s->share.what.key;
	r.step = s->share.what.step;
	r.say = say_nothing;
	r.sampler.tree.launcher = s->launcher;
	r.sampler.tree.shared = true;
	recorder_run(&r);
	_exit(0);
}

/* One that goes on for another belongs to the same run. */
static int start_recorder(void *ctx, int listener, struct err *e)
{
	struct shared *s = ctx;
	int rc;

	if (s->share.run_id[0])
		memcpy(s->plan->run_id, s->share.run_id, sizeof s->plan->run_id);
	if (s->plan->o->openmetrics)
		openmetrics_check(s->plan->o->openmetrics);
	rc = recorder_detach_shared(listener, e);
	if (rc == 1)
		be_recorder(s, listener);
	return rc;
}

static const char *text_or(const char *text, const char *otherwise)
{
	return text ? text : otherwise;
}

/* Copies that record the same job, in the same way, into the same directory, and see each other's
 * processes. Several nodes of a job may be on one host. */
static bool make_key(char *key, size_t size, const struct recording_plan *p,
		     const struct batch_job *j)
{
	const struct recording_options *o = p->o;
	char pids[64] = "";
	ssize_t n = readlink("/proc/self/ns/pid", pids, sizeof pids - 1);
	int len;

	if (n <= 0)
		return false;
	len = snprintf(
		key, size,
		"%s %s %s %s\n%s\n%s\n%lld %lld %lld %lld %lld %.6g %lld %lld %lld %lld %lld %lld %lld %d %d %d\n%s\n%s\n%s\n%s\n%s",
		text_or(batch_job_system(j), "-"), j->id, j->node,
		j->scheduler ? "" : text_or(j->launch_id, ""), pids, p->absolute,
		(long long)p->memory_hz, (long long)o->files, (long long)o->interval_ns,
		(long long)o->sync_ns, (long long)o->watch_hang_ns, p->max_overhead,
		(long long)o->pss, (long long)o->process_events, (long long)o->tree,
		(long long)o->perf_scope, (long long)p->stacks_hz, (long long)p->stacks_after_ns,
		(long long)p->waits_hz, o->no_paths, o->no_addresses, o->peers,
		text_or(o->perf, ""), text_or(o->events, ""), text_or(o->perf_cpu, ""),
		text_or(o->openmetrics, ""), text_or(getenv(SITESECRETS_VARIABLE), ""));
	return len > 0 && (size_t)len < size;
}

static bool is_wanted(enum node_recorder how, const struct recording_options *o,
		      const struct batch_job *j)
{
	if (how == NODE_RECORDER_OWN || o->procfs || o->sysfs)
		return false;
	return how == NODE_RECORDER_SHARED || j->scheduler || j->launcher;
}

bool shared_is_wanted(struct shared *s, enum node_recorder how)
{
	struct registration *g = &s->share.what;
	const struct batch_job *j = &s->plan->identity.job;
	bool wanted;

	s->share = (struct share){
		.start = start_recorder,
		.ctx = s,
		.say = say_sentence,
		.marks = s->marks,
		.fd = -1,
		.table = -1,
	};
	wanted = is_wanted(how, s->plan->o, j) && make_key(g->key, sizeof g->key, s->plan, j);
	g->rank = j->number[BATCH_RANK];
	g->expected = j->part == BATCH_PART_STEP || j->launcher ? j->number[BATCH_LOCAL_RANKS] : -1;
	snprintf(g->spans, sizeof g->spans, "%s", s->spans);
	snprintf(g->step, sizeof g->step, "%s", text_or(j->text[BATCH_STEP], ""));
	s->nodes = j->number[BATCH_NODES];
	return wanted;
}

bool shared_join(struct shared *s)
{
	struct err e = { "" };

	if (share_join(&s->share, JOIN_MS, &e)) {
		say("recording: %s; this copy has a recorder of its own", e.text);
		return false;
	}
	share_wait_ready(&s->share, READY_MS);
	if (s->share.ready || (s->share.over && !s->share.alone)) {
		if (s->share.moved && s->plan->moved)
			*s->plan->moved = true;
		if (s->share.run_id[0])
			memcpy(s->plan->run_id, s->share.run_id, sizeof s->plan->run_id);
		return true;
	}
	if (!s->share.alone)
		say("recording: the recorder of this job on this node does not answer; this copy "
		    "has one of its own");
	share_close(&s->share);
	return false;
}

static void how_it_failed(char *out, size_t size, const struct note *n)
{
	if (!n->failed)
		snprintf(out, size, "none failed");
	else if (WIFSIGNALED(n->status))
		snprintf(out, size, "%u failed (worst: signal %d)", n->failed, WTERMSIG(n->status));
	else
		snprintf(out, size, "%u failed (worst: exit code %d)", n->failed,
			 WEXITSTATUS(n->status));
}

/* A node that is not there yet has no task that failed. */
static bool is_whole(const struct run *r)
{
	for (uint32_t i = 1; i < r->nnodes; i++)
		if (!r->nodes[i].complete)
			return false;
	return true;
}

/* Where one task fails the others are ended at once: their recordings tell in a moment who was the
 * first. NULL: it cannot be read. */
static struct run *open_whole(const struct shared *s, bool *whole)
{
	const struct timespec a_little = { .tv_nsec = LOOK_AGAIN_MS * NS_PER_MS };
	int64_t until_ns = clock_mono_ns() + OTHERS_MS * NS_PER_MS;
	struct run *r;

	while (!run_open(&r, recording_directory(s->plan), NULL)) {
		*whole = is_whole(r);
		if (*whole || clock_mono_ns() >= until_ns)
			return r;
		run_close(r);
		nanosleep(&a_little, NULL);
	}
	return NULL;
}

/* Who failed first, on whichever node, as far as the recordings of the others have it by now. */
static void add_first_failure(struct bytes *out, const struct shared *s)
{
	bool whole;
	struct summary sum;
	struct run *r = s->nodes > NODES_LOOKED_AT ? NULL : open_whole(s, &whole);

	if (!r)
		return;
	if (!summary_make(&sum, r, NULL)) {
		if (story_has_first_failure(&sum.story)) {
			bytes_printf(out, "; first to fail%s: ", whole ? "" : " so far");
			escape_terminal(out, sum.story.death_task);
			bytes_printf(out, ", %s", sum.story.death_end);
		}
		summary_free(&sum);
	}
	run_close(r);
}

void shared_print(const struct shared *s)
{
	const struct note *n = &s->share.done;
	const struct recording_plan *p = s->plan;
	char failed[64], wall[64], nodes[64] = "";
	struct bytes first = { 0 };

	if (!n->kind || !n->speaks)
		return;
	if ((n->tasks == 1 && s->nodes <= 1) || p->o->json || p->o->summary) {
		recording_print(p);
		return;
	}
	recording_leave(p);
	if (p->o->quiet)
		return;
	how_it_failed(failed, sizeof failed, n);
	if (s->nodes > 1)
		snprintf(nodes, sizeof nodes, ", one of %lld nodes", (long long)s->nodes);
	if (n->failed)
		add_first_failure(&first, s);
	bytes_u8(&first, '\0');
	say("%u task%s on %s%s: %s, in %s%s; recording: %s; next: sonde report %s", n->tasks,
	    n->tasks == 1 ? "" : "s", p->identity.host, nodes, failed,
	    unit_format(UNIT_SECONDS, (double)n->wall_ns / 1e9, wall, sizeof wall),
	    first.failed ? "" : (const char *)first.data, recording_directory(p),
	    recording_directory(p));
	bytes_free(&first);
}
