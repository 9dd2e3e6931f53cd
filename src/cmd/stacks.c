/* SPDX-License-Identifier: Apache-2.0 */
/* stacks.c - what the threads of running processes do now, and what those that are blocked wait
 * for. */
#include "base/clock.h"
#include "base/text/escape.h"
#include "base/text/number.h"
#include "console/command.h"
#include "recording/join.h"
#include "sampler/inspection.h"
#include "session/elsewhere.h"
#include "session/find.h"
#include "source/procfile.h"
#include "waits/look.h"
#include "waits/say.h"
#include "waits/wait.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LATE_NS = 1500 * 1000 * 1000 }; /* after it was first seen: another process has its number */

struct stacks_options {
	bool json, only;
	int64_t wait_ns;
};

static const struct option options[] = {
	{ .name = "only",
	  .help = "Look at this process only, not at its descendants.",
	  OPTION_OFFSET(struct stacks_options, only) },
	{ .name = "wait",
	  .type = ARG_DURATION,
	  .value = "TIME",
	  .help = "Of a job on several nodes: wait this long for the recorders of the others. They check for requests every five seconds; on a network file system a request may reach them later.",
	  .fallback = "20s",
	  OPTION_OFFSET(struct stacks_options, wait_ns) },
	{ .name = "json",
	  .help = "Print all threads with all frames as JSON, schema sonde/stacks/1.",
	  OPTION_OFFSET(struct stacks_options, json) },
};

static const struct example examples[] = {
	{ "stacks 1234", "the threads of a process and of its descendants" },
	{ "stacks sonde_1234", "those of a job that is being recorded, on all its nodes" },
	{ "stacks --json 1234", "all frames, for programs" },
};

struct targets {
	struct root proc;
	pid_t *pid;
	uint32_t n;
	struct elsewhere elsewhere;
};

static bool has(const struct targets *t, pid_t pid)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (t->pid[i] == pid)
			return true;
	return false;
}

/* A process with its descendants, each once. */
static void add_tree(struct targets *t, pid_t root)
{
	pid_t *more = has(t, root) ? NULL : malloc(LOOK_PIDS * sizeof *more);
	uint32_t n = more ? look_tree(&t->proc, root, more, LOOK_PIDS) : 0;

	for (uint32_t i = 0; i < n && t->n < LOOK_PIDS; i++)
		if (!has(t, more[i]))
			t->pid[t->n++] = more[i];
	free(more);
}

/* Is it still the process of the recording? Numbers are used again. */
static bool is_alive(const struct root *proc, const struct run_instance *in, pid_t pid)
{
	int64_t ticks = sysconf(_SC_CLK_TCK), began_ns;
	char path[32], text[512];
	struct proc_stat st;

	snprintf(path, sizeof path, "%d/stat", (int)pid);
	if (ticks <= 0 || root_read(proc, path, text, sizeof text) <= 0 ||
	    proc_stat_parse(text, &st) != 0 || proc_stat_ended(&st))
		return false;
	began_ns = st.starttime * (NS_PER_S / ticks) - (clock_boot_ns() - clock_mono_ns());
	return began_ns <= in->birth_ns + LATE_NS;
}

static void add_run(struct targets *t, const struct run *r)
{
	char host[256] = "";

	gethostname(host, sizeof host - 1);
	for (uint32_t i = 1; i < r->ninstances; i++) {
		const struct run_instance *in = &r->instances[i];
		const char *pid = run_label(r, i, "pid");
		long number = pid ? strtol(pid, NULL, 10) : 0;

		if (in->domain && !strcmp(in->domain, "process") && in->end_ns == INT64_MAX &&
		    r->nodes[in->node].host && !strcmp(r->nodes[in->node].host, host) &&
		    number > 0 && number < INT32_MAX && is_alive(&t->proc, in, (pid_t)number))
			add_tree(t, (pid_t)number);
	}
}

/* ---- which processes ---- */

static int find_run(struct targets *t, int noperands, char **operands)
{
	struct choice c;
	struct err e;
	int code = choose_recording(&c, "stacks", "looking at the job of", noperands, operands);

	if (code != EXIT_OK)
		return code;
	add_run(t, c.run);
	if (elsewhere_ask(&t->elsewhere, c.run, c.path, &e))
		say("stacks: %s", e.text);
	if (!t->n && !t->elsewhere.n) {
		say("stacks: %s has no process that runs", c.path);
		code = EXIT_FAILED;
	}
	run_close(c.run);
	return code;
}

static int find_pid(const struct stacks_options *o, struct targets *t, const char *text)
{
	int64_t pid = 0;
	const char *at = text;

	if (!number_i64(&at, &pid) || *at || pid <= 0 || pid > INT32_MAX) {
		say("stacks: %s is not a process id", text);
		return EXIT_USAGE;
	}
	if (o->only)
		t->pid[t->n++] = (pid_t)pid;
	else
		add_tree(t, (pid_t)pid);
	if (t->n)
		return EXIT_OK;
	say("stacks: there is no process %lld", (long long)pid);
	return EXIT_FAILED;
}

static bool is_number(const char *text)
{
	return *text && strspn(text, "0123456789") == strlen(text);
}

/* ---- what comes of it ---- */

static int print_text(const struct waits *w)
{
	struct bytes b = { 0 }, out = { 0 };
	char *line, *rest;

	say_waits(&b, w);
	bytes_u8(&b, 0);
	for (line = b.failed ? NULL : strtok_r((char *)b.data, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		escape_terminal(&out, line);
		bytes_puts(&out, "\n");
	}
	out.failed |= b.failed;
	bytes_free(&b);
	return print_bytes(&out);
}

static void put_cycles(struct json *j, const struct waits *w)
{
	struct cycle cycle[CYCLES_MAX];
	uint32_t n = cycles_find(w, cycle);

	json_key(j, "deadlocks");
	json_array(j);
	for (uint32_t i = 0; i < n; i++) {
		json_array(j);
		for (uint32_t k = 0; k < cycle[i].n; k++)
			json_int(j, w->thread[cycle[i].thread[k]].tid);
		json_array_end(j);
	}
	json_array_end(j);
}

/* null: no ranks, or no memory. */
static void put_roll(struct json *j, const struct waits *w)
{
	struct rollcall r = { 0 };

	json_key(j, "roll_call");
	if (say_ranks(&r, w) && r.n)
		rollcall_put(j, &r);
	else
		json_null(j);
	rollcall_free(&r);
}

static int print_json(const struct waits *w)
{
	struct bytes b = { 0 };
	struct json j = { .out = &b, .indent = true };

	json_object(&j);
	json_put_text(&j, "schema", "sonde/stacks/1");
	json_key(&j, "time");
	json_time(&j, w->at_ns);
	json_key(&j, "threads");
	json_array(&j);
	for (uint32_t i = 0; i < w->n; i++)
		wait_put(&j, &w->thread[i]);
	json_array_end(&j);
	put_cycles(&j, w);
	put_roll(&j, w);
	json_object_end(&j);
	bytes_puts(&b, "\n");
	return print_bytes(&b);
}

/* Those of this node. 0, or -errno with a sentence. */
static int look_here(const struct targets *t, struct waits *w, struct err *e)
{
	struct look_state l;
	int rc = look_begin(&l, w, t->pid, t->n, e);

	while (!rc)
		rc = look_go_on(&l, NS_PER_S, e);
	look_end(&l);
	ranks_find(w, &t->proc);
	return rc < 0 ? rc : 0;
}

static void look_elsewhere(const struct stacks_options *o, struct targets *t, struct waits *w)
{
	char here[WAIT_NODE] = "";

	if (!t->elsewhere.n)
		return;
	gethostname(here, sizeof here - 1);
	for (uint32_t i = 0; i < w->n; i++)
		snprintf(w->thread[i].node, sizeof w->thread[i].node, "%s", here);
	elsewhere_take(&t->elsewhere, w, o->wait_ns);
	if (t->elsewhere.n)
		say("stacks: %s%s did not answer within %.0f s", t->elsewhere.host[0],
		    t->elsewhere.n > 1 ? " and others" : "", (double)o->wait_ns * 1e-9);
}

static int look(const struct stacks_options *o, struct targets *t)
{
	struct waits w = { .at_ns = clock_utc_ns() };
	struct err e;
	int code, bad = t->n ? look_here(t, &w, &e) : 0;

	if (!bad)
		look_elsewhere(o, t, &w);
	if (bad) {
		say("stacks: %s", e.text);
		code = EXIT_FAILED;
	} else if (!w.n) {
		say("stacks: the processes have ended");
		code = EXIT_FAILED;
	} else {
		code = o->json ? print_json(&w) : print_text(&w);
	}
	waits_free(&w);
	return code;
}

static int stacks_exec(const void *opts, int noperands, char **operands)
{
	const struct stacks_options *o = opts;
	struct targets t = { .pid = malloc(LOOK_PIDS * sizeof *t.pid) };
	int code;

	if (!t.pid || root_open(&t.proc, "/proc")) {
		say(t.pid ? "stacks: /proc is not there" : "out of memory");
		code = EXIT_FAILED;
	} else if (noperands == 1 && is_number(operands[0]) && access(operands[0], F_OK)) {
		code = find_pid(o, &t, operands[0]);
	} else {
		code = find_run(&t, noperands, operands);
	}
	if (code == EXIT_OK)
		code = look(o, &t);
	if (code != EXIT_OK && o->json)
		print_error_json(stdout, "stacks");
	elsewhere_end(&t.elsewhere);
	root_close(&t.proc);
	free(t.pid);
	return code;
}

const struct command command_stacks = {
	.name = "stacks",
	.operands = "[PID|DIR]",
	.what = "Show what running threads do and what blocked ones wait for",
	.description =
		"Looks once at all threads of a process and its descendants on this node, or of "
		"the job whose recording in DIR is being made (the newest one here if nothing is "
		"given), on all nodes whose recorders write there. For each thread: whether it runs, is ready to run, or waits; what it "
		"waits for, and who could end that: the thread that holds a mutex, the process "
		"at the other end of a pipe or socket, the child, the holder of a lock on a file. "
		"Its stack is shown with functions and lines. Equal threads are shown together. "
		"Threads that wait for each other are reported as a deadlock. Of a parallel job "
		"the first lines say where each rank is.\n\n"
		"No process is stopped, and no contents of memory are shown or kept. The "
		"stack of a thread that runs is one sample of the kernel's. Processes of other users, and those that "
		"the kernel protects, are listed without a stack, with the reason.",
	COMMAND_OPTIONS(options),
	.size = sizeof(struct stacks_options),
	COMMAND_EXAMPLES(examples),
	.exec = stacks_exec,
};
