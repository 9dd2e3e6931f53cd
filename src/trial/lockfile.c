/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/lockfile.h"

#include "base/text/jsontree.h"
#include "base/text/textfile.h"
#include "bench/trial.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { LOCK_BYTES = 4 << 20, FINGERPRINT_BYTES = 200 };

static const char *fact_of(const struct push_list *facts, const char *name)
{
	for (uint32_t i = 0; facts && i < facts->n; i++)
		if (!strcmp(facts->v[i].name, name))
			return facts->v[i].text;
	return NULL;
}

/* A user of ssh, which needs one, is no secret by itself: "git+ssh://git@host/". */
static bool is_plain_ssh(const char *line, const char *address, const char *who, size_t n)
{
	return address - line >= 3 && !memcmp(address - 3, "ssh", 3) && !memchr(who, ':', n);
}

/* "https://anna:secret@host/": without who. */
static void put_line(struct bytes *out, const char *line, size_t n)
{
	const char *end = line + n, *at = line;

	while (at < end) {
		const char *address = memmem(at, (size_t)(end - at), "://", 3);
		const char *host = address ? address + 3 : end;
		size_t who = 0;

		bytes_put(out, at, (size_t)(host - at));
		while (host + who < end && !strchr("/@ \t\"", host[who]))
			who++;
		at = host;
		if (host + who < end && host[who] == '@' && !is_plain_ssh(line, address, host, who))
			at = host + who + 1;
	}
}

static bool is_option(const char *line, size_t n)
{
	static const char hash[] = "--hash";
	size_t blank = 0;

	while (blank < n && strchr(" \t", line[blank]))
		blank++;
	return blank < n && line[blank] == '-' &&
	       (n - blank < sizeof hash - 1 || memcmp(line + blank, hash, sizeof hash - 1) != 0);
}

static void put_text(struct bytes *out, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n");

		if (!is_option(text, n)) {
			put_line(out, text, n);
			bytes_u8(out, '\n');
		}
		text += n + (text[n] == '\n');
	}
}

/* Is the virtual environment still the one that the trial ran in? */
static bool is_same(const char *directory, const char *fingerprint)
{
	char path[PATH_MAX + 32];
	struct bytes b = { 0 };
	struct err ignored;
	bool same;

	snprintf(path, sizeof path, "%s/sonde.fingerprint", directory);
	same = !textfile_read(path, "fingerprint", FINGERPRINT_BYTES, &b, &ignored) &&
	       b.len == strlen(fingerprint) && !memcmp(b.data, fingerprint, b.len);
	bytes_free(&b);
	return same;
}

/* Of the virtual environment of a stack: its interpreter is DIRECTORY/bin/python. */
static bool of_stack(struct bytes *out, const struct push_list *facts)
{
	const char *fingerprint = fact_of(facts, "stack.fingerprint");
	const char *python = fact_of(facts, "runtime.interpreter"), *bin;
	char directory[PATH_MAX], path[PATH_MAX + 32];
	struct bytes b = { 0 };
	struct err ignored;
	bool found;

	bin = python ? strstr(python, "/bin/") : NULL;
	for (const char *next = bin; next; next = strstr(next + 1, "/bin/"))
		bin = next;
	if (!fingerprint || !bin || (size_t)(bin - python) >= sizeof directory)
		return false;
	snprintf(directory, sizeof directory, "%.*s", (int)(bin - python), python);
	snprintf(path, sizeof path, "%s/requirements.lock", directory);
	found = is_same(directory, fingerprint) &&
		!textfile_read(path, "lock file", LOCK_BYTES, &b, &ignored) && b.len;
	bytes_u8(&b, 0);
	if (found && !b.failed)
		put_text(out, (const char *)b.data);
	bytes_free(&b);
	return found;
}

/* Of Amun: what pipenv locked. */
static bool of_specification(struct bytes *out, const char *specification)
{
	struct pool pool = { 0 };
	struct err ignored;
	const struct jsontree *v =
		specification ? jsontree_read(&pool, specification, strlen(specification), &ignored)
			      : NULL;
	const struct jsontree *lock =
		v ? jsontree_find(jsontree_find(v, "python"), "requirements_locked") : NULL;
	bool found = lock && lock->type == JSONDOC_OBJECT;
	struct bytes b = { 0 };
	struct json j = { .out = &b, .indent = true };

	if (found)
		jsontree_write(&j, lock);
	put_line(out, (const char *)b.data, b.len);
	out->failed |= b.failed;
	bytes_free(&b);
	pool_free(&pool);
	return found;
}

const char *lockfile_make(struct bytes *out, const struct push_list *facts,
			  const char *specification)
{
	if (of_stack(out, facts))
		return "requirements.lock";
	if (of_specification(out, specification))
		return "Pipfile.lock";
	for (uint32_t i = 0; facts && i < facts->n; i++)
		bench_requirement(out, facts->v[i].name, facts->v[i].text, "");
	return out->len ? "requirements.txt" : NULL;
}
