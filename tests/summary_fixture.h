/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary_fixture.h - a summary made from text, for tests: "wall_seconds=60 node.load=1..4".
 *
 * share:copies=0.3 is a class of code, held:lock=5..3 what held the job up, for 5 s three threads,
 * command:xz=2..9 the CPU time of a command, and how many processes of it there were.
 * Bare names are the variables of rules; names with a point are metrics, with one value or min..max
 * (the mean is in the middle); +disk.reads=5 is a counter that rose. What is not named is not
 * known; there are 60 samples on one node and the recording is complete, unless said otherwise.
 * Borrows the text.
 */
#ifndef TESTS_SUMMARY_FIXTURE_H
#define TESTS_SUMMARY_FIXTURE_H

#include "report/judging/variables.h"
#include "report/summary/ending.h"
#include "report/summary/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIXTURE_METRICS = 16, FIXTURE_NODES = 4 };

struct fixture {
	struct summary s;
	struct summary_node node[FIXTURE_NODES];
	struct summary_metric metric[FIXTURE_METRICS];
	char name[FIXTURE_METRICS][SUMMARY_NAME];
	struct summary_growth growth[FIXTURE_METRICS];
	char grown[FIXTURE_METRICS][SUMMARY_NAME];
	char share[FIXTURE_METRICS][SUMMARY_NAME];
	struct summary_command command[FIXTURE_NODES];
	char command_name[FIXTURE_NODES][SUMMARY_NAME];
	struct summary_verdict verdict[SUMMARY_VERDICTS];
};

static inline void fixture_metric(struct fixture *f, const char *name, double min, double max)
{
	uint32_t i = f->s.nmetrics++;

	snprintf(f->name[i], sizeof f->name[i], "%s", name);
	f->metric[i].name = f->name[i];
	f->metric[i].node = 1;
	f->metric[i].over_nodes = COMBINE_SUM;
	stats_add(&f->metric[i].stats, min, 1);
	stats_add(&f->metric[i].stats, max, 1);
}

static inline void fixture_set(struct fixture *f, const char *name, const char *value)
{
	const struct variable *v = variable_find(name);
	const char *range = strstr(value, "..");
	double first = strtod(value, NULL);

	if (f->s.nmetrics == FIXTURE_METRICS || f->s.ngrowth == FIXTURE_METRICS ||
	    f->s.nshares == FIXTURE_METRICS || f->s.ncommands == FIXTURE_NODES) {
		fprintf(stderr, "fixture: no room for %s\n", name);
		abort();
	}
	if (!strncmp(name, "share:", 6)) { /* of a class, with an error of 0.01 */
		snprintf(f->share[f->s.nshares], SUMMARY_NAME, "%s", name + 6);
		f->s.share[f->s.nshares] =
			(struct summary_share){ f->share[f->s.nshares], first, 0.01 };
		f->s.nshares++;
	} else if (!strncmp(name, "held:", 5)) { /* how long, and by how many threads */
		struct summary_holdup *h = &f->s.holdup[holdup_find(name + 5)];

		*h = (struct summary_holdup){ first, range ? strtod(range + 2, NULL) : 1, "THIS" };
	} else if (!strncmp(name, "command:", 8)) {
		uint32_t i = f->s.ncommands++;

		snprintf(f->command_name[i], SUMMARY_NAME, "%s", name + 8);
		f->command[i].name = f->command_name[i];
		f->command[i].cpu_s = first;
		f->command[i].processes = range ? strtod(range + 2, NULL) : 0;
	} else if (*name == '+') {
		f->growth[f->s.ngrowth] = (struct summary_growth){ f->grown[f->s.ngrowth], first };
		snprintf(f->grown[f->s.ngrowth++], SUMMARY_NAME, "%s", name + 1);
	} else if (strchr(name, '.')) {
		fixture_metric(f, name, first, range ? strtod(range + 2, NULL) : first);
	} else if (strcmp(name, "samples") == 0) {
		f->node[0].samples = (uint64_t)first;
	} else if (strcmp(name, "nodes") == 0) {
		f->s.nnodes = f->s.nhosts = (uint32_t)first;
	} else if (strcmp(name, "host_affinity_cpus") == 0) {
		f->s.affinity_cpus = first * f->s.nhosts;
	} else if (strcmp(name, "working_seconds") == 0) {
		f->s.story.working_s = first;
	} else if (strcmp(name, "waited_seconds") == 0) {
		f->s.story.waited_s = first;
	} else if (strcmp(name, "hidden_error") == 0) {
		f->s.hidden_said.is_error = first > 0;
	} else if (strcmp(name, "storage_seconds") == 0) {
		f->s.account.whole_s = f->s.account.part_s[ACCOUNT_STORAGE] = first;
	} else if (strcmp(name, "straggler") == 0) {
		snprintf(f->s.story.straggler_cause, STORY_TEXT, "%s",
			 first > 0 ? "clock 1 GHz" : "");
	} else if (strcmp(name, "error") == 0) { /* the kind of what it printed */
		f->s.reason.is_error = true;
		snprintf(f->s.reason.line, sizeof f->s.reason.line, "IOError: %s", value);
		snprintf(f->s.reason.kind, sizeof f->s.reason.kind, "%s", value);
		snprintf(f->s.reason.advice, sizeof f->s.reason.advice, "Do something.");
	} else if (strcmp(name, "damages") == 0) {
		f->s.ndamages = (uint32_t)first;
	} else if (v && v->flag) {
		*(bool *)((char *)&f->s + v->offset) = first > 0;
	} else if (v && !v->make) {
		memcpy((char *)&f->s + v->offset, &first, sizeof first);
	} else {
		fprintf(stderr, "fixture: there is no variable %s\n", name);
		abort();
	}
}

static inline void fixture_init(struct fixture *f, const char *text)
{
	char copy[4096], *save, *word;

	*f = (struct fixture){ .s = { .nodes = f->node,
				      .metrics = f->metric,
				      .growth = f->growth,
				      .commands = f->command,
				      .verdicts = f->verdict } };
	for (size_t i = 0; i < nvariables; i++)
		if (!variables[i].make)
			fixture_set(f, variables[i].name, "nan");
	for (uint32_t i = 0; i < FIXTURE_NODES; i++)
		f->node[i] = (struct summary_node){ .node = i + 1, .host = "n1", .samples = 60 };
	for (int i = 0; i < HOLDUP_NUMBER_OF; i++)
		f->s.holdup[i].seconds = f->s.holdup[i].threads = NAN;
	f->s.nnodes = f->s.nhosts = 1;
	f->s.affinity_cpus = f->s.story.working_s = NAN;
	f->s.complete = true;
	f->s.interval_s = f->s.monitor_rss_bytes = f->s.monitor_bytes = f->s.monitor_samples = NAN;
	snprintf(copy, sizeof copy, "%s", text);
	for (word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		char *value = strchr(word, '=');

		if (!value)
			abort();
		*value++ = '\0';
		fixture_set(f, word, value);
	}
	f->s.story.died_pid = NAN;
	ending_make(&f->s);
}

static inline const struct summary_verdict *fixture_verdict(const struct fixture *f,
							    const char *rule)
{
	for (uint32_t i = 0; i < f->s.nverdicts; i++)
		if (strcmp(f->s.verdicts[i].rule, rule) == 0)
			return &f->s.verdicts[i];
	return NULL;
}

#endif
