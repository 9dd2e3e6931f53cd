/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel and the helper say of blocked threads, and nodes of their ranks, as any bytes. */
#include "source/program/filelocks.h"
#include "waits/ends.h"
#include "waits/object.h"
#include "waits/say.h"
#include "waits/wait.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Each line as a thread; all of them are said and followed. */
static void take_lines(const char *text)
{
	struct waits w = { 0 };
	struct bytes b = { 0 };
	struct cycle found[CYCLES_MAX];

	for (const char *end; (end = strchr(text, '\n')); text = end + 1) {
		struct pool pool = { 0 };
		struct err e;
		const struct jsontree *doc = jsontree_read(&pool, text, (size_t)(end - text), &e);
		struct wait_thread *t = waits_add(&w);

		if (t && doc)
			wait_take(t, doc);
		pool_free(&pool);
	}
	if (cycles_find(&w, found) > CYCLES_MAX)
		abort();
	say_waits(&b, &w);
	bytes_free(&b);
	waits_free(&w);
}

/* A node's roll call, twice: what is folded can be told again. */
static void take_roll(const char *text)
{
	struct rollcall r = { 0 };
	struct bytes b = { 0 };
	struct json j = { .out = &b };
	bool ok = rollcall_take(&r, text) && rollcall_take(&r, text);

	if (ok && !rollcall_fold(&r))
		abort();
	if (ok) {
		rollcall_list(&b, &r);
		rollcall_say(&b, &r);
		rollcall_put(&j, &r);
	}
	bytes_free(&b);
	rollcall_free(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct object_call call;
	struct ends_line line;
	pid_t pid[2];

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	if (filelocks_holders(text, 200, size % 2 ? 7 : 0, pid, 2) > 2)
		abort();
	object_call_parse(&call, text);
	take_lines(text);
	take_roll(text);
	if (ends_line_parse(&line, text) && strlen(line.local) >= sizeof line.local)
		abort();
	free(text);
	return 0;
}
