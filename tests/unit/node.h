/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node.h - for tests: the sources of a node, opened on a fixture's trees and read.
 *
 * node_text says everything a sample holds, a line each: sources, instances, values, refusals.
 * The source of file systems is left out: what it gives depends on the machine.
 */
#ifndef SONDE_TESTS_UNIT_NODE_H
#define SONDE_TESTS_UNIT_NODE_H

#include "base/bytes.h"
#include "source/source.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODE_SOURCES = 64, NODE_SLOTS = 1 << 18 };

struct node {
	struct source_env env;
	struct sample sample;
	void *state[NODE_SOURCES]; /* NULL: not open */
	int result[NODE_SOURCES];  /* of open, later of read */
	struct err why[NODE_SOURCES];
};

static inline bool node_has(size_t i)
{
	return sources[i]->open && strcmp(sources[i]->name, "filesystem") != 0;
}

static inline void node_open_with(struct node *n, const char *proc, const char *sys, uint32_t slots)
{
	*n = (struct node){ .env.interval_ns = 1000000000 };
	if (sample_init(&n->sample, slots, NODE_SLOTS) < 0)
		abort();
	root_open(&n->env.proc, proc);
	if (root_open(&n->env.sys, sys) < 0) { /* a fixture without: what is beside proc */
		char beside[512];

		snprintf(beside, sizeof beside, "%.*s", (int)(strrchr(proc, '/') - proc), proc);
		root_open(&n->env.sys, beside);
	}
	for (size_t i = 0; i < nsources; i++) {
		if (!node_has(i))
			continue;
		n->state[i] = calloc(1, sources[i]->size);
		n->result[i] = sources[i]->open(n->state[i], &n->env, &n->sample, &n->why[i]);
		if (n->result[i] == 0)
			continue;
		free(n->state[i]);
		n->state[i] = NULL;
	}
}

static inline void node_open(struct node *n, const char *proc, const char *sys)
{
	node_open_with(n, proc, sys, NODE_SLOTS);
}

static inline void node_read_at(struct node *n, int64_t mono_ns)
{
	sample_begin(&n->sample, 1000 + mono_ns, mono_ns);
	for (size_t i = 0; i < nsources; i++)
		if (n->state[i])
			n->result[i] = sources[i]->read(n->state[i], &n->sample);
}

static inline void node_read(struct node *n)
{
	node_read_at(n, 1000);
}

/* Reads so often that each of what is read in turn has had its turn, in 6 s: too short for what
 * stands still to have failed. The sample then holds what each series gave last, and result the
 * first error of each source. */
static inline void node_read_all(struct node *n)
{
	struct sample *s = &n->sample;
	int64_t *value = calloc(s->slot_cap, sizeof *value);
	int result[NODE_SOURCES] = { 0 };
	uint32_t *series = calloc(s->slot_cap, sizeof *series); /* that gave it; 0: none did */

	if (!value || !series)
		abort();
	for (int i = 0; i < 60; i++) {
		node_read_at(n, 1000 + i * INT64_C(100000000));
		for (uint32_t slot = 1; slot < s->nslots; slot++)
			if (s->state[slot] == STATE_PRESENT) {
				value[slot] = s->value[slot];
				series[slot] = s->slot[slot].series;
			}
		for (size_t k = 0; k < nsources; k++)
			result[k] = result[k] ? result[k] : n->result[k];
	}
	memcpy(n->result, result, sizeof result);
	for (uint32_t slot = 1; slot < s->nslots; slot++)
		if (series[slot] && series[slot] == s->slot[slot].series)
			sample_put(s, slot, value[slot]);
	free(value);
	free(series);
}

static inline void node_close(struct node *n)
{
	for (size_t i = 0; i < nsources; i++) {
		if (n->state[i] && sources[i]->close)
			sources[i]->close(n->state[i]);
		free(n->state[i]);
	}
	sample_free(&n->sample);
	root_close(&n->env.proc);
	root_close(&n->env.sys);
}

static inline const char *node_instance_name(const struct node *n, uint32_t instance)
{
	for (uint32_t i = 0; i < n->sample.nevents; i++)
		if (n->sample.event[i].kind == EVENT_INSTANCE && n->sample.event[i].id == instance)
			return n->sample.event[i].name;
	return "-";
}

/* The slot of a metric of an instance ("-": the node); 0 when there is none. */
static inline uint32_t node_slot(const struct node *n, const char *metric, const char *instance)
{
	for (uint32_t i = 1; i < n->sample.nslots; i++) {
		const struct slot *s = &n->sample.slot[i];

		if (s->series && strcmp(s->metric->name, metric) == 0 &&
		    strcmp(node_instance_name(n, s->instance), instance) == 0)
			return i;
	}
	return 0;
}

/* What was said last of the series; PRESENT when nothing was. */
static inline enum state node_state(const struct node *n, const char *metric, const char *instance)
{
	uint32_t slot = node_slot(n, metric, instance);
	enum state state = slot ? STATE_PRESENT : STATE_ABSENT;

	for (uint32_t i = 0; slot && i < n->sample.nevents; i++) {
		const struct event *e = &n->sample.event[i];

		if (e->kind == EVENT_STATE && e->id == n->sample.slot[slot].series)
			state = e->state;
	}
	return state;
}

/* What is stored, or -1 when nothing is. */
static inline int64_t node_value(const struct node *n, const char *metric, const char *instance)
{
	uint32_t slot = node_slot(n, metric, instance);

	return slot && n->sample.state[slot] == STATE_PRESENT ? n->sample.value[slot] : -1;
}

static inline void node_text_event(const struct node *n, struct bytes *b, const struct event *e)
{
	switch (e->kind) {
	case EVENT_INSTANCE:
		bytes_printf(b, "born %s %s%s\n", e->domain, e->name,
			     e->flags & INSTANCE_ASIDE ? " aside" : "");
		break;
	case EVENT_LABEL:
		bytes_printf(b, "label %s %s=%s\n", node_instance_name(n, e->id), e->name, e->text);
		break;
	case EVENT_END:
		bytes_printf(b, "ended %s\n", node_instance_name(n, e->id));
		break;
	case EVENT_STATE:
		for (uint32_t i = 1; i < n->sample.nslots; i++)
			if (n->sample.slot[i].series == e->id)
				bytes_printf(b, "refused %s %s %s: %s\n",
					     n->sample.slot[i].metric->name,
					     node_instance_name(n, n->sample.slot[i].instance),
					     state_name(e->state), e->text);
		break;
	default:
		break;
	}
}

static inline void node_text(const struct node *n, struct bytes *b)
{
	for (size_t i = 0; i < nsources; i++)
		if (node_has(i))
			bytes_printf(b, "source %s %s %s\n", sources[i]->name,
				     strerror(-n->result[i]), n->why[i].text);
	for (uint32_t i = 0; i < n->sample.nevents; i++)
		node_text_event(n, b, &n->sample.event[i]);
	for (uint32_t i = 1; i < n->sample.nslots; i++) {
		const struct slot *s = &n->sample.slot[i];

		if (!s->series)
			continue;
		bytes_printf(b, "%s %s %s", s->metric->name, node_instance_name(n, s->instance),
			     state_name((enum state)n->sample.state[i]));
		if (n->sample.state[i] == STATE_PRESENT)
			bytes_printf(b, " %" PRId64, n->sample.value[i]);
		bytes_puts(b, "\n");
	}
}

#endif
