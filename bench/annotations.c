/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotations PAIRS: what a range of NVTX (push and pop) costs the thread that makes it, as a
 * program that uses NVTX's header calls it: by pointers that a tool has filled in. Batches with the
 * tool of $NVTX_INJECTION64_PATH and without one alternate. Prints the medians over the batches, in
 * ns: with a registered message, with a text, without a tool.
 */
#include "batches.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCH = 100, REST_BATCHES = 20, FUNCTIONS = 20, KINDS = 3 };
enum { MODULE_DOMAINS = 5, PUSH_EX = 4, POP = 5, REGISTER = 10, CREATE = 12 };
enum { MESSAGE_ASCII = 1, MESSAGE_REGISTERED = 3 };

typedef void (*function)(void);

struct attributes {
	uint16_t version, size;
	uint32_t category;
	int32_t colour_kind;
	uint32_t colour;
	int32_t payload_kind, unused;
	uint64_t payload;
	int32_t message_kind;
	const void *message;
};

/* What the header has: a table of where the pointers are, which begin as NULL. */
static struct table {
	int (*push)(const void *domain, const struct attributes *a);
	int (*pop)(const void *domain);
	const void *(*register_string)(const void *domain, const char *text);
	void *(*create)(const char *name);
} with, without;

static int table_of(int module, function ***out, unsigned *n)
{
	static function unused, *rows[FUNCTIONS];

	for (int i = 0; i < FUNCTIONS; i++)
		rows[i] = &unused;
	if (module == MODULE_DOMAINS) {
		rows[PUSH_EX] = (function *)&with.push;
		rows[POP] = (function *)&with.pop;
		rows[REGISTER] = (function *)&with.register_string;
		rows[CREATE] = (function *)&with.create;
	}
	*out = rows;
	*n = FUNCTIONS;
	return 1;
}

static const void *tables(uint32_t id)
{
	static const struct {
		size_t size;
		int (*table)(int module, function ***out, unsigned *n);
	} callbacks = { sizeof callbacks, table_of };

	return id == 1 ? &callbacks : NULL;
}

static double batch(const struct table *t, const void *domain, const struct attributes *a)
{
	int64_t from = now_ns();

	for (int i = 0; i < BATCH; i++) {
		/* As the header reads them: each time. */
		int (*push)(const void *, const struct attributes *) =
			*(int (*const volatile *)(const void *, const struct attributes *)) &
			t->push;
		int (*pop)(const void *) = *(int (*const volatile *)(const void *)) & t->pop;

		if (push)
			push(domain, a);
		if (pop)
			pop(domain);
	}
	return (double)(now_ns() - from) / BATCH;
}

static int inject(void)
{
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *library = path ? dlopen(path, RTLD_NOW) : NULL;
	int (*begin)(const void *(*)(uint32_t)) = NULL;

	if (library)
		*(void **)&begin = dlsym(library, "InitializeInjectionNvtx2");
	if (!begin || !begin(tables) || !with.push || !with.pop)
		return fprintf(stderr, "no tool: start it with sonde run --annotations nvtx\n");
	return 0;
}

int main(int argc, char **argv)
{
	size_t batches = (argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000) / BATCH;
	double *cost[KINDS];
	const struct timespec rest = { 0, 10000000 };
	struct attributes a[KINDS] = { { .message_kind = MESSAGE_REGISTERED },
				       { .message_kind = MESSAGE_ASCII, .message = "a range" } };
	const void *domain;

	if (inject())
		return 1;
	domain = with.create("bench");
	a[0].message = with.register_string(domain, "registered");
	for (int k = 0; k < KINDS; k++)
		if (!(cost[k] = calloc(batches + 1, sizeof *cost[k])))
			return 1;
	for (size_t i = 0; i < batches; i++) {
		for (int k = 0; k < KINDS; k++)
			cost[k][i] = batch(k < 2 ? &with : &without, domain, &a[k]);
		if (i % REST_BATCHES == 0)
			nanosleep(&rest, NULL);
	}
	for (int k = 0; k < KINDS; k++) {
		printf("%.2f%c", median(cost[k], batches), k < KINDS - 1 ? ' ' : '\n');
		free(cost[k]);
	}
	return 0;
}
