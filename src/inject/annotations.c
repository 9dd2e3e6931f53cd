/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/range.h"
#include "lib/span.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Tasks, regions, frames and events of Intel's ITT become spans, its markers marks, its
 * counters counters. What a program is linked with loads the library of $INTEL_LIBITTNOTIFY64 and
 * gives it its table of functions.
 *
 * A name is "DOMAIN: NAME". Arguments, relations, pauses and times of other clocks are left out.
 */

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

/*
 * Ranges of NVTX become spans, its marks marks. A program
 * that uses NVTX loads the library of $NVTX_INJECTION64_PATH and gives it its tables of functions.
 *
 * A name is "DOMAIN: MESSAGE", of the default nvtx_domain the message. Categories, payloads and
 * colours are left out.
 */

/* As the header of NVTX 2 and 3 has them: interfaces that do not change. */
enum { TABLES_CALLBACKS = 1, MODULE_CORE = 1, MODULE_DOMAINS = 5 };
enum { CORE_MARK_EX = 1, CORE_MARK = 2, CORE_START_EX = 4, CORE_START = 5, CORE_RANGE_END = 7 };
enum { CORE_PUSH_EX = 8, CORE_PUSH = 9, CORE_POP = 11 };
enum { DOMAIN_MARK_EX = 1, DOMAIN_START_EX, DOMAIN_RANGE_END, DOMAIN_PUSH_EX, DOMAIN_POP };
enum { DOMAIN_REGISTER = 10, DOMAIN_CREATE = 12 };
enum { MESSAGE_ASCII = 1, MESSAGE_REGISTERED = 3 };
enum { NVTX_NAME_BYTES = 256 };

typedef void (*function)(void);

struct callbacks {
	size_t size;
	int (*table)(int module, function ***out, unsigned *n);
};

struct attributes {
	uint16_t version, size;
	uint32_t category;
	int32_t colour_kind;
	uint32_t colour;
	int32_t payload_kind, unused;
	uint64_t payload;
	int32_t message_kind;
	union {
		const char *text;
		const void *registered;
	} message;
};

/* A nvtx_domain is its name. */
struct nvtx_domain {
	char name[NVTX_NAME_BYTES];
};

static const char *name_in(const struct nvtx_domain *d)
{
	return d ? d->name : NULL;
}

/* Of a registered one the handle is its number. */
static uint32_t nvtx_name_of(const struct nvtx_domain *d, const struct attributes *a)
{
	if (a && a->message_kind == MESSAGE_REGISTERED)
		return (uint32_t)(uintptr_t)a->message.registered;
	return range_name(name_in(d),
			  a && a->message_kind == MESSAGE_ASCII ? a->message.text : NULL);
}

static int core_push(const char *text)
{
	return range_push(NULL, range_name(NULL, text));
}

static int core_push_ex(const struct attributes *a)
{
	return range_push(NULL, nvtx_name_of(NULL, a));
}

static int core_pop(void)
{
	return range_pop(NULL);
}

static uint64_t core_start(const char *text)
{
	return sonde_span_begin(range_name(NULL, text), 0);
}

static uint64_t core_start_ex(const struct attributes *a)
{
	return sonde_span_begin(nvtx_name_of(NULL, a), 0);
}

static void core_end(uint64_t span)
{
	sonde_span_end(span);
}

static void core_mark(const char *text)
{
	sonde_mark(range_name(NULL, text));
}

static void core_mark_ex(const struct attributes *a)
{
	sonde_mark(nvtx_name_of(NULL, a));
}

static int domain_push(const struct nvtx_domain *d, const struct attributes *a)
{
	return range_push(d, nvtx_name_of(d, a));
}

static int domain_pop(const struct nvtx_domain *d)
{
	return range_pop(d);
}

static uint64_t domain_start(const struct nvtx_domain *d, const struct attributes *a)
{
	return sonde_span_begin(nvtx_name_of(d, a), 0);
}

static void domain_end(const struct nvtx_domain *d, uint64_t span)
{
	(void)d;
	sonde_span_end(span);
}

static void domain_mark(const struct nvtx_domain *d, const struct attributes *a)
{
	sonde_mark(nvtx_name_of(d, a));
}

static const void *domain_register(const struct nvtx_domain *d, const char *text)
{
	return (const void *)(uintptr_t)range_name(name_in(d), text);
}

static struct nvtx_domain *nvtx_domain_create(const char *name)
{
	struct nvtx_domain *d = malloc(sizeof *d);

	if (d)
		snprintf(d->name, sizeof d->name, "%s", name ? name : "");
	return d;
}

/* The program's pointers to functions take these. */
struct row {
	unsigned at;
	function f;
};

static void fill(const struct callbacks *c, int module, const struct row *rows, size_t n)
{
	function **table;
	unsigned size;

	if (!c->table(module, &table, &size))
		return;
	for (size_t i = 0; i < n; i++)
		if (rows[i].at < size && table[rows[i].at])
			*table[rows[i].at] = rows[i].f;
}

__attribute__((visibility("default"))) int
InitializeInjectionNvtx2(const void *(*tables)(uint32_t id));

int InitializeInjectionNvtx2(const void *(*tables)(uint32_t id))
{
	const struct row core[] = {
		{ CORE_MARK_EX, (function)core_mark_ex },
		{ CORE_MARK, (function)core_mark },
		{ CORE_START_EX, (function)core_start_ex },
		{ CORE_START, (function)core_start },
		{ CORE_RANGE_END, (function)core_end },
		{ CORE_PUSH_EX, (function)core_push_ex },
		{ CORE_PUSH, (function)core_push },
		{ CORE_POP, (function)core_pop },
	};
	const struct row domains[] = {
		{ DOMAIN_MARK_EX, (function)domain_mark },
		{ DOMAIN_START_EX, (function)domain_start },
		{ DOMAIN_RANGE_END, (function)domain_end },
		{ DOMAIN_PUSH_EX, (function)domain_push },
		{ DOMAIN_POP, (function)domain_pop },
		{ DOMAIN_REGISTER, (function)domain_register },
		{ DOMAIN_CREATE, (function)nvtx_domain_create },
	};
	const struct callbacks *c = tables(TABLES_CALLBACKS);

	if (!c || c->size < sizeof *c)
		return 0;
	fill(c, MODULE_CORE, core, sizeof core / sizeof core[0]);
	fill(c, MODULE_DOMAINS, domains, sizeof domains / sizeof domains[0]);
	return 1;
}
