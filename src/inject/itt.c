/* SPDX-License-Identifier: Apache-2.0 */
/*
 * itt.c - tasks, regions, frames and events of Intel's ITT become spans, its markers marks, its
 * counters counters. What a program is linked with loads the library of $INTEL_LIBITTNOTIFY64 and
 * gives it its table of functions.
 *
 * A name is "DOMAIN: NAME". Arguments, relations, pauses and times of other clocks are left out.
 */
#include "inject/range.h"
#include "lib/span.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As the headers of ITT have them: what follows has changed only at the end since version 3. */
typedef void (*function)(void);

struct id {
	unsigned long long d[3];
};

struct domain {
	volatile int flags; /* not 0: its calls come here */
	const char *name;
	void *wide;
	int unused;
	void *ours;
	struct domain *next;
};

struct string {
	const char *text;
	void *wide;
	int unused;
	void *ours;
	struct string *next;
};

struct api {
	const char *name;
	function *at, first, none;
	int group;
};

struct table {
	unsigned char magic[8];
	unsigned long version[3];
	volatile long state[3];
	pthread_mutex_t mutex;
	void *library, *on_error;
	const char **path;
	struct api *api;
};

enum type {
	TYPE_U64 = 1,
	TYPE_S64,
	TYPE_U32,
	TYPE_S32,
	TYPE_U16,
	TYPE_S16,
	TYPE_FLOAT,
	TYPE_DOUBLE
};
enum { NAME_BYTES = 512, HANDLES = 32768, NEAR = 64 };

static uint32_t name_of(const struct domain *d, const struct string *s)
{
	return range_name(d ? d->name : NULL, s ? s->text : NULL);
}

/* ---- domains and strings: of equal texts the same, for as long as the process lives ---- */

struct handle {
	struct domain domain;
	struct string string;
};

static uint32_t hash_of(const char *text)
{
	uint32_t h = 0x811c9dc5;

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 0x01000193;
	return h;
}

static struct handle *handle_new(const char *text)
{
	size_t size = strlen(text) + 1;
	struct handle *h = calloc(1, sizeof *h + size);

	if (!h)
		return NULL;
	h->domain.flags = 1;
	h->domain.name = h->string.text = memcpy(h + 1, text, size);
	return h;
}

/* Of very many texts the last ones are one. */
static struct handle *handle_of(const char *text)
{
	static struct handle *handles[HANDLES];
	static struct handle others = { { .flags = 1, .name = "(others)" },
					{ .text = "(others)" } };
	uint32_t i = hash_of(text) % HANDLES;

	for (uint32_t n = 0; n < NEAR; n++, i = (i + 1) % HANDLES) {
		struct handle *h = __atomic_load_n(&handles[i], __ATOMIC_ACQUIRE), *new;

		if (!h) {
			new = handle_new(text);
			if (!new)
				break;
			if (__atomic_compare_exchange_n(&handles[i], &h, new, false,
							__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
				return new;
			free(new);
		}
		if (!strcmp(h->string.text, text))
			return h;
	}
	return &others;
}

static struct domain *domain_create(const char *name)
{
	return &handle_of(name ? name : "")->domain;
}

static struct string *string_create(const char *text)
{
	return &handle_of(text ? text : "")->string;
}

/* ---- tasks of a thread ---- */

static void task_begin(const struct domain *d, struct id id, struct id parent,
		       const struct string *name)
{
	(void)id, (void)parent;
	range_push(d, name_of(d, name));
}

static void task_end(const struct domain *d)
{
	range_pop(d);
}

/* ---- what ends by its id ---- */

static struct range_key key_of(const struct domain *d, const struct id *id)
{
	struct range_key k = { .domain = d };

	for (size_t i = 0; id && i < sizeof k.id / sizeof k.id[0]; i++)
		k.id[i] = id->d[i];
	return k;
}

static void region_begin(const struct domain *d, struct id id, struct id parent,
			 const struct string *name)
{
	const struct range_key k = key_of(d, &id), around = key_of(d, &parent);

	range_begin(&k, name_of(d, name), parent.d[0] ? &around : NULL);
}

static void region_end(const struct domain *d, struct id id)
{
	const struct range_key k = key_of(d, &id);

	range_end(&k);
}

/* A frame has the name of its domain. */
static void frame_begin(const struct domain *d, const struct id *id)
{
	const struct range_key k = key_of(d, id);

	range_begin(&k, range_name(NULL, d ? d->name : NULL), NULL);
}

static void frame_end(const struct domain *d, const struct id *id)
{
	const struct range_key k = key_of(d, id);

	range_end(&k);
}

/* ---- events and markers ---- */

static int event_create(const char *name, int length)
{
	char text[NAME_BYTES];

	snprintf(text, sizeof text, "%.*s", length < 0 ? 0 : length, name ? name : "");
	return (int)range_name(NULL, text);
}

/* Of each event the stack is one of its own. */
static const void *event_domain(int event)
{
	return (const void *)(uintptr_t)event;
}

static int event_start(int event)
{
	range_push(event_domain(event), (uint32_t)event);
	return 0;
}

static int event_end(int event)
{
	range_pop(event_domain(event));
	return 0;
}

static void marker(const struct domain *d, struct id id, const struct string *name, int scope)
{
	(void)id, (void)scope;
	sonde_mark(name_of(d, name));
}

static int mark_create(const char *name)
{
	return (int)range_name(NULL, name);
}

static int mark(int event, const char *parameter)
{
	(void)parameter;
	sonde_mark((uint32_t)event);
	return 0;
}

static void thread_name(const char *name)
{
	sonde_thread_name(name);
}

/* ---- counters ---- */

struct counter {
	uint32_t name;
	enum type type;
	int64_t steps; /* of one that is counted up and down */
};

static struct counter *counter_new(const char *name, const char *domain, enum type type)
{
	struct counter *c = calloc(1, sizeof *c);
	char text[NAME_BYTES];

	if (!c || !name)
		return c;
	snprintf(text, sizeof text, "%s%s%s", domain ? domain : "", domain && *domain ? ": " : "",
		 name);
	c->name = range_name(NULL, text);
	c->type = type;
	return c;
}

static struct counter *counter_create(const char *name, const char *domain)
{
	return counter_new(name, domain, TYPE_U64);
}

static struct counter *counter_create_typed(const char *name, const char *domain, int type)
{
	return counter_new(name, domain, (enum type)type);
}

static struct counter *counter_create_v3(const struct domain *d, const char *name, int type)
{
	return counter_new(name, d ? d->name : NULL, (enum type)type);
}

#define AS(type) ((double)*(const type *)value)

static void counter_set(const struct counter *c, const void *value)
{
	if (!c || !value)
		return;
	switch (c->type) {
	case TYPE_S64:
		sonde_counter(c->name, AS(int64_t));
		break;
	case TYPE_U32:
		sonde_counter(c->name, AS(uint32_t));
		break;
	case TYPE_S32:
		sonde_counter(c->name, AS(int32_t));
		break;
	case TYPE_U16:
		sonde_counter(c->name, AS(uint16_t));
		break;
	case TYPE_S16:
		sonde_counter(c->name, AS(int16_t));
		break;
	case TYPE_FLOAT:
		sonde_counter(c->name, AS(float));
		break;
	case TYPE_DOUBLE:
		sonde_counter(c->name, AS(double));
		break;
	default:
		sonde_counter(c->name, AS(uint64_t));
	}
}

static void counter_step(struct counter *c, int64_t by)
{
	if (c)
		sonde_counter(c->name, (double)__atomic_add_fetch(&c->steps, by, __ATOMIC_RELAXED));
}

static void counter_up(struct counter *c)
{
	counter_step(c, 1);
}

static void counter_down(struct counter *c)
{
	counter_step(c, -1);
}

static void counter_up_by(struct counter *c, unsigned long long by)
{
	counter_step(c, (int64_t)by);
}

static void counter_down_by(struct counter *c, unsigned long long by)
{
	counter_step(c, -(int64_t)by);
}

/* ---- the program's table ---- */

static const struct {
	const char *name;
	function f;
} functions[] = {
	{ "__itt_domain_create", (function)domain_create },
	{ "__itt_string_handle_create", (function)string_create },
	{ "__itt_task_begin", (function)task_begin },
	{ "__itt_task_end", (function)task_end },
	{ "__itt_task_begin_overlapped", (function)region_begin },
	{ "__itt_task_end_overlapped", (function)region_end },
	{ "__itt_region_begin", (function)region_begin },
	{ "__itt_region_end", (function)region_end },
	{ "__itt_frame_begin_v3", (function)frame_begin },
	{ "__itt_frame_end_v3", (function)frame_end },
	{ "__itt_event_create", (function)event_create },
	{ "__itt_event_start", (function)event_start },
	{ "__itt_event_end", (function)event_end },
	{ "__itt_marker", (function)marker },
	{ "__itt_mark_create", (function)mark_create },
	{ "__itt_mark", (function)mark },
	{ "__itt_thread_set_name", (function)thread_name },
	{ "__itt_counter_create", (function)counter_create },
	{ "__itt_counter_create_typed", (function)counter_create_typed },
	{ "__itt_counter_create_v3", (function)counter_create_v3 },
	{ "__itt_counter_set_value", (function)counter_set },
	{ "__itt_counter_set_value_v3", (function)counter_set },
	{ "__itt_counter_inc", (function)counter_up },
	{ "__itt_counter_dec", (function)counter_down },
	{ "__itt_counter_inc_delta", (function)counter_up_by },
	{ "__itt_counter_dec_delta", (function)counter_down_by },
};

static function function_of(const struct api *a)
{
	for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
		if (!strcmp(functions[i].name, a->name))
			return functions[i].f;
	return a->none;
}

__attribute__((visibility("default"))) void __itt_api_init(struct table *t, int groups);

void __itt_api_init(struct table *t, int groups)
{
	(void)groups;
	for (struct api *a = t ? t->api : NULL; a && a->name; a++)
		*a->at = function_of(a);
}
