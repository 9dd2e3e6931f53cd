/* SPDX-License-Identifier: Apache-2.0 */
/*
 * one_source.h - for tests: one source of a node, opened on trees and read once a second.
 *
 * What it says is asked for with node.h's functions.
 */
#ifndef SONDE_TESTS_UNIT_ONE_SOURCE_H
#define SONDE_TESTS_UNIT_ONE_SOURCE_H

#include "unit/node.h"

struct one {
	struct node n;
	const struct source *source;
	void *state; /* NULL: not open */
	int result;  /* of open, later of read */
	struct err why;
};

static inline void one_step(struct one *x, int64_t ns)
{
	sample_begin(&x->n.sample, x->n.sample.utc_ns + ns, x->n.sample.mono_ns + ns);
	if (x->state)
		x->result = x->source->read(x->state, &x->n.sample);
}

static inline void one_read(struct one *x)
{
	one_step(x, 1000000000);
}

/* sys NULL: none. */
static inline void one_open(struct one *x, const struct source *source, const char *proc,
			    const char *sys)
{
	*x = (struct one){ .source = source, .n.env.interval_ns = 1000000000 };
	if (sample_init(&x->n.sample, NODE_SLOTS, NODE_SLOTS) < 0 ||
	    root_open(&x->n.env.proc, proc) < 0)
		abort();
	if (sys)
		root_open(&x->n.env.sys, sys);
	x->state = calloc(1, source->size);
	sample_begin(&x->n.sample, 1000000000, 1000000000);
	x->result = source->open(x->state, &x->n.env, &x->n.sample, &x->why);
	if (x->result == 0)
		return;
	free(x->state);
	x->state = NULL;
}

static inline void one_close(struct one *x)
{
	if (x->state && x->source->close)
		x->source->close(x->state);
	free(x->state);
	sample_free(&x->n.sample);
	root_close(&x->n.env.proc);
	root_close(&x->n.env.sys);
}

/* tests/fixtures/PATH. Returns out. */
static inline const char *one_fixture(char out[512], const char *path)
{
	const char *top = getenv("TOP");

	snprintf(out, 512, "%s/tests/fixtures/%s", top ? top : ".", path);
	return out;
}

/* How often this happened to the instance. */
static inline uint32_t one_events(const struct one *x, enum event_kind kind, const char *instance)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < x->n.sample.nevents; i++) {
		const struct event *e = &x->n.sample.event[i];

		count += e->kind == kind && strcmp(node_instance_name(&x->n, e->id), instance) == 0;
	}
	return count;
}

static inline const char *one_label(const struct one *x, const char *instance, const char *key)
{
	for (uint32_t i = 0; i < x->n.sample.nevents; i++) {
		const struct event *e = &x->n.sample.event[i];

		if (e->kind == EVENT_LABEL && strcmp(e->name, key) == 0 &&
		    strcmp(node_instance_name(&x->n, e->id), instance) == 0)
			return e->text;
	}
	return "";
}

/* What was said last of the series; PRESENT when nothing was. */
static inline enum state one_state(const struct one *x, const char *metric, const char *instance)
{
	return node_state(&x->n, metric, instance);
}

#endif
