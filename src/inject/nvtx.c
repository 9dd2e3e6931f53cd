/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvtx.c - ranges of NVTX become spans, its marks marks. A program
 * that uses NVTX loads the library of $NVTX_INJECTION64_PATH and gives it its tables of functions.
 *
 * A name is "DOMAIN: MESSAGE", of the default domain the message. Categories, payloads and colours
 * are left out.
 */
#include "inject/range.h"
#include "lib/span.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* As the header of NVTX 2 and 3 has them: interfaces that do not change. */
enum { TABLES_CALLBACKS = 1, MODULE_CORE = 1, MODULE_DOMAINS = 5 };
enum { CORE_MARK_EX = 1, CORE_MARK = 2, CORE_START_EX = 4, CORE_START = 5, CORE_RANGE_END = 7 };
enum { CORE_PUSH_EX = 8, CORE_PUSH = 9, CORE_POP = 11 };
enum { DOMAIN_MARK_EX = 1, DOMAIN_START_EX, DOMAIN_RANGE_END, DOMAIN_PUSH_EX, DOMAIN_POP };
enum { DOMAIN_REGISTER = 10, DOMAIN_CREATE = 12 };
enum { MESSAGE_ASCII = 1, MESSAGE_REGISTERED = 3 };
enum { NAME_BYTES = 256 };

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

/* A domain is its name. */
struct domain {
	char name[NAME_BYTES];
};

static const char *name_in(const struct domain *d)
{
	return d ? d->name : NULL;
}

/* Of a registered one the handle is its number. */
static uint32_t name_of(const struct domain *d, const struct attributes *a)
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
	return range_push(NULL, name_of(NULL, a));
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
	return sonde_span_begin(name_of(NULL, a), 0);
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
	sonde_mark(name_of(NULL, a));
}

static int domain_push(const struct domain *d, const struct attributes *a)
{
	return range_push(d, name_of(d, a));
}

static int domain_pop(const struct domain *d)
{
	return range_pop(d);
}

static uint64_t domain_start(const struct domain *d, const struct attributes *a)
{
	return sonde_span_begin(name_of(d, a), 0);
}

static void domain_end(const struct domain *d, uint64_t span)
{
	(void)d;
	sonde_span_end(span);
}

static void domain_mark(const struct domain *d, const struct attributes *a)
{
	sonde_mark(name_of(d, a));
}

static const void *domain_register(const struct domain *d, const char *text)
{
	return (const void *)(uintptr_t)range_name(name_in(d), text);
}

static struct domain *domain_create(const char *name)
{
	struct domain *d = malloc(sizeof *d);

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
		{ DOMAIN_CREATE, (function)domain_create },
	};
	const struct callbacks *c = tables(TABLES_CALLBACKS);

	if (!c || c->size < sizeof *c)
		return 0;
	fill(c, MODULE_CORE, core, sizeof core / sizeof core[0]);
	fill(c, MODULE_DOMAINS, domains, sizeof domains / sizeof domains[0]);
	return 1;
}
