/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/sampler_read.h"

#include "base/clock.h"
#include "base/reserve.h"
#include "core/frame/rate.h"
#include "source/source.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

extern const struct source source_cpu, source_memory, source_disk, source_network;

enum {
	SLOTS = 65536, /* reserved, not used: a core takes about fifteen */
	EVENTS = 65536,
	INSTANCES = 65536,
	NSOURCES = 4,
	FROM_CPU = 0,
};

static const struct source *const from[NSOURCES] = {
	[FROM_CPU] = &source_cpu, &source_memory, &source_disk, &source_network
};

/* What a series is used for. */
enum use { USE_NONE = 0, USE_BUSY, USE_NOT_BUSY, USE_TOTAL, USE_AVAILABLE, USE_COUNTER };

static const struct {
	const char *name;
	enum use use;
	enum tracker_field field; /* of counters, and where loopback interfaces go instead */
	enum tracker_field loopback;
} uses[] = {
	{ "cpu.user_seconds", USE_BUSY, 0, 0 },
	{ "cpu.nice_seconds", USE_BUSY, 0, 0 },
	{ "cpu.system_seconds", USE_BUSY, 0, 0 },
	{ "cpu.irq_seconds", USE_BUSY, 0, 0 },
	{ "cpu.softirq_seconds", USE_BUSY, 0, 0 },
	{ "cpu.idle_seconds", USE_NOT_BUSY, 0, 0 },
	{ "cpu.iowait_seconds", USE_NOT_BUSY, 0, 0 },
	{ "cpu.steal_seconds", USE_NOT_BUSY, 0, 0 },
	{ "node.memory_total_bytes", USE_TOTAL, 0, 0 },
	{ "node.memory_available_bytes", USE_AVAILABLE, 0, 0 },
	{ "disk.read_bytes", USE_COUNTER, TRACKER_DISK_READ, 0 },
	{ "disk.written_bytes", USE_COUNTER, TRACKER_DISK_WRITTEN, 0 },
	{ "network.transmitted_bytes", USE_COUNTER, TRACKER_NETWORK_SENT, TRACKER_LOOPBACK_SENT },
	{ "network.received_bytes", USE_COUNTER, TRACKER_NETWORK_RECEIVED,
	  TRACKER_LOOPBACK_RECEIVED },
};
enum { NUSES = sizeof uses / sizeof uses[0] };

/* What is known of an instance: a core, a disk, an interface. */
struct thing {
	bool known, aside, loopback;
	double busy, not_busy; /* of a core, in the window */
};

/* A series: what for (1 + index in uses; 0: nothing), and its value at the last reading. */
struct used {
	uint8_t use;
	struct counter_reading last;
};

struct node_reader {
	struct source_env env;
	struct sample sample;
	void *state[NSOURCES]; /* NULL: there is no such source here */
	struct used *slot;     /* [SLOTS] */
	struct thing *thing;   /* [INSTANCES] */
	uint32_t nthings;
	double total[TRACKER_FIELDS]; /* counters; NAN: there is no such device */
	double memory_total, memory_available;
	int64_t start_ns, window_ns;
	unsigned cpus;
};

/* ---- what there is ---- */

static uint8_t use_of(const char *name)
{
	for (unsigned i = 0; i < NUSES; i++) {
		if (!strcmp(uses[i].name, name))
			return (uint8_t)(i + 1);
	}
	return 0;
}

static struct thing *thing_of(struct node_reader *r, uint32_t instance)
{
	return instance < INSTANCES ? &r->thing[instance] : NULL;
}

static void event_take(struct node_reader *r, const struct event *e)
{
	struct thing *t = thing_of(r, e->id);

	if (e->kind == EVENT_INSTANCE && t) {
		*t = (struct thing){ .known = true, .aside = e->flags & INSTANCE_ASIDE };
		r->nthings = e->id >= r->nthings ? e->id + 1 : r->nthings;
	}
	if (e->kind == EVENT_LABEL && t && !strcmp(e->name, "class"))
		t->loopback = !strcmp(e->text, "loopback");
	for (uint32_t i = 0; e->kind == EVENT_SERIES && i < e->count; i++) {
		if (e->value + i < SLOTS)
			r->slot[e->value + i] = (struct used){ .use = use_of(e->metric[i].name) };
	}
}

static void events_take(struct node_reader *r)
{
	for (uint32_t i = 0; i < r->sample.nevents; i++)
		event_take(r, &r->sample.event[i]);
	sample_clear_events(&r->sample);
}

/* ---- what it says ---- */

static void counter_take(struct node_reader *r, uint32_t slot, struct thing *t, double rise)
{
	uint8_t use = (uint8_t)(r->slot[slot].use - 1);
	enum tracker_field field = uses[use].field;

	if (t->loopback && uses[use].loopback)
		field = uses[use].loopback;
	else if (t->aside)
		return;
	r->total[field] = (isnan(r->total[field]) ? 0 : r->total[field]) + rise;
}

static void value_take(struct node_reader *r, uint32_t slot)
{
	const struct slot *s = &r->sample.slot[slot];
	struct used *u = &r->slot[slot];
	struct thing *t = thing_of(r, s->instance);
	int64_t value = r->sample.value[slot];
	double rise = u->last.known ? fmax(counter_rise(s->metric, u->last.value, value), 0) : 0;

	switch (uses[u->use - 1].use) {
	case USE_BUSY:
		t->busy += rise;
		break;
	case USE_NOT_BUSY:
		t->not_busy += rise;
		break;
	case USE_TOTAL:
		r->memory_total = metric_value(s->metric, value);
		break;
	case USE_AVAILABLE:
		r->memory_available = metric_value(s->metric, value);
		break;
	case USE_COUNTER:
		counter_take(r, slot, t, rise);
		break;
	case USE_NONE:
		break;
	}
	u->last.value = value;
}

/* whole: every source was read, so that what has no value now has none. */
static void values_take(struct node_reader *r, bool whole)
{
	for (uint32_t i = 1; i < r->sample.nslots && i < SLOTS; i++) {
		const struct slot *s = &r->sample.slot[i];
		bool stands = s->series && r->sample.state[i] == STATE_PRESENT;

		if (!r->slot[i].use || !thing_of(r, s->instance))
			continue;
		if (stands)
			value_take(r, i);
		if (stands || whole)
			r->slot[i].last.known = stands;
	}
}

static void source_read(struct node_reader *r, size_t i)
{
	if (r->state[i])
		from[i]->read(r->state[i], &r->sample);
}

/* The share of its time that each core was at work; a core without time, or gone, has none. */
static void cores_take(struct node_reader *r, struct tracker_sample *out)
{
	double sum = 0, min = NAN, max = NAN;
	unsigned n = 0;

	for (uint32_t i = 1; i < r->nthings; i++) {
		struct thing *t = &r->thing[i];
		double all = t->busy + t->not_busy;

		if (all > 0) {
			double ratio = t->busy / all;

			sum += ratio;
			min = fmin(min, ratio);
			max = fmax(max, ratio);
			n++;
		}
		t->busy = t->not_busy = 0;
	}
	out->value[TRACKER_CPU_MEAN] = n ? sum / n : NAN;
	out->value[TRACKER_CPU_MIN] = min;
	out->value[TRACKER_CPU_MAX] = max;
}

static double root_used(void)
{
	struct statvfs v;
	double used;

	if (statvfs("/", &v) || v.f_bfree > v.f_blocks)
		return NAN;
	used = (double)(v.f_blocks - v.f_bfree);
	return used + (double)v.f_bavail > 0 ? used / (used + (double)v.f_bavail) : NAN;
}

void node_reader_window(struct node_reader *r)
{
	struct tracker_sample thrown;

	sample_begin(&r->sample, clock_utc_ns(), clock_mono_ns());
	source_read(r, FROM_CPU);
	events_take(r);
	values_take(r, false);
	cores_take(r, &thrown);
	r->window_ns = r->sample.mono_ns;
}

void node_reader_sample(struct node_reader *r, struct tracker_sample *out)
{
	int64_t now;

	sample_begin(&r->sample, clock_utc_ns(), clock_mono_ns());
	for (size_t i = 0; i < NSOURCES; i++)
		source_read(r, i);
	events_take(r);
	r->memory_total = r->memory_available = NAN;
	values_take(r, true);
	now = clock_mono_ns();
	*out = tracker_sample_at((double)clock_utc_ns() / 1e9, (double)(now - r->start_ns) / 1e9);
	out->stands_s = (double)(now - r->window_ns) / 1e9;
	memcpy(out->value, r->total, sizeof r->total);
	cores_take(r, out);
	out->value[TRACKER_MEMORY] = 1 - r->memory_available / r->memory_total;
	out->value[TRACKER_DISK_USED] = root_used();
	r->window_ns = now;
}

unsigned node_reader_cpus(const struct node_reader *r)
{
	return r->cpus;
}

/* ---- from beginning to end ---- */

static void source_start(struct node_reader *r, size_t i, struct err *e)
{
	void *state = calloc(1, from[i]->size);

	if (state && !from[i]->open(state, &r->env, &r->sample, e))
		r->state[i] = state;
	else
		free(state);
}

static int begin(struct node_reader *r, struct err *e)
{
	bool any = false;
	struct tracker_sample first;

	r->slot = reserve(SLOTS * sizeof *r->slot);
	r->thing = reserve(INSTANCES * sizeof *r->thing);
	if (!r->slot || !r->thing || sample_init(&r->sample, SLOTS, EVENTS))
		return err_set(e, -ENOMEM, "not enough memory to sample");
	if (root_open(&r->env.proc, "/proc") || root_open_if_there(&r->env.sys, "/sys"))
		return err_set(e, -errno, "cannot open /proc and /sys: %s", strerror(errno));
	r->start_ns = clock_mono_ns();
	sample_begin(&r->sample, clock_utc_ns(), r->start_ns);
	for (size_t i = 0; i < NSOURCES; i++) {
		source_start(r, i, e);
		any |= r->state[i] != NULL;
	}
	if (!any)
		return -ENODATA;
	for (unsigned i = 0; i < TRACKER_FIELDS; i++)
		r->total[i] = NAN;
	node_reader_sample(r, &first);
	for (uint32_t i = 1; i < r->sample.nslots && i < SLOTS; i++)
		r->cpus += r->slot[i].use && !strcmp(uses[r->slot[i].use - 1].name, uses[0].name);
	return 0;
}

int node_reader_open(struct node_reader **out, struct err *e)
{
	struct node_reader *r = calloc(1, sizeof *r);
	int rc = r ? begin(r, e) : err_set(e, -ENOMEM, "not enough memory to sample");

	*out = rc ? NULL : r;
	if (rc)
		node_reader_close(r);
	return rc;
}

void node_reader_close(struct node_reader *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < NSOURCES; i++) {
		if (r->state[i])
			from[i]->close(r->state[i]);
		free(r->state[i]);
	}
	root_close(&r->env.proc);
	root_close(&r->env.sys);
	sample_free(&r->sample);
	reserve_free(r->slot, SLOTS * sizeof *r->slot);
	reserve_free(r->thing, INSTANCES * sizeof *r->thing);
	free(r);
}

int store_init(struct store *t, size_t max_length)
{
	size_t even = max_length + max_length % 2;

	*t = (struct store){ .cap = even, .length = 1 };
	if (even < max_length)
		return -ENOMEM;
	t->sample = calloc(even, sizeof *t->sample);
	t->slice = calloc(even, sizeof *t->slice);
	if (t->sample && t->slice)
		return 0;
	store_free(t);
	return -ENOMEM;
}

void store_free(struct store *t)
{
	free(t->sample);
	free(t->slice);
	*t = (struct store){ 0 };
}

static void halve(struct store *t)
{
	size_t n = 0;

	t->length *= 2;
	for (size_t i = 0; i < t->n; i++) {
		uint64_t slice = t->slice[i] / 2;

		if (n && t->slice[n - 1] == slice) {
			tracker_merge(&t->sample[n - 1], &t->sample[i]);
			continue;
		}
		t->sample[n] = t->sample[i];
		t->slice[n++] = slice;
	}
	t->n = n;
}

void store_add(struct store *t, const struct tracker_sample *s, uint64_t due)
{
	/* Far apart, two samples may not meet until slices are very long. */
	while (t->n == t->cap && due / t->length != t->slice[t->n - 1])
		halve(t);
	if (t->n && due / t->length == t->slice[t->n - 1]) {
		tracker_merge(&t->sample[t->n - 1], s);
		return;
	}
	t->sample[t->n] = *s;
	t->slice[t->n++] = due / t->length;
}
