/* SPDX-License-Identifier: Apache-2.0 */
#include "job/slots.h"

#include "base/text/number.h"
#include "base/text/textfile.h"
#include "job/scheduler/row.h"

#include <errno.h>
#include <string.h>

enum { FILE_MAX = 8 << 20 };

static const char blanks[] = " \t\r\n";

bool slot_word(const char **p, struct slot *out)
{
	*p += strspn(*p, blanks);
	*out = (struct slot){ .name = *p, .len = strcspn(*p, blanks), .n = 1 };
	*p += out->len;
	return out->len > 0;
}

bool slot_pair(const char **p, struct slot *out)
{
	return slot_word(p, out) && number_i64(p, &out->n) && out->n >= 0 && out->n <= INT32_MAX;
}

bool slot_row(const char **p, struct slot *out)
{
	bool good = slot_pair(p, out);

	if (good)
		*p = number_next_line(*p);
	return good;
}

/* The nodes of the text; as it was when they are none. */
static int take(struct hostlist *nodes, const char *text, slot_next next, struct err *e)
{
	struct hostlist found = { 0 };
	const char *p = text;
	uint32_t near = 0;
	struct slot s;
	int bad = 0;

	while (!bad && next(&p, &s))
		bad = hostlist_add_once(&found, s.name, s.len, &near, e);
	if (!bad && p[strspn(p, blanks)])
		bad = err_set(e, -EINVAL, "byte %zu is not the name of a node with its slots",
			      (size_t)(p - text) + 1);
	if (!bad && !found.n)
		bad = err_set(e, -EINVAL, "it names no node");
	if (bad) {
		hostlist_free(&found);
		return bad;
	}
	hostlist_free(nodes);
	*nodes = found;
	return 0;
}

static struct slots count(const struct batch_job *j, const char *text, slot_next next)
{
	bool known = j->number[BATCH_NODE_INDEX] >= 0;
	struct slots n = { .here = known ? 0 : -1 };
	struct slot s;

	while (next(&text, &s)) {
		n.all += s.n;
		if (known && !strncmp(j->node, s.name, s.len) && !j->node[s.len])
			n.here += s.n;
	}
	return n;
}

struct slots slots_read(struct batch_job *j, const struct slots_source *from,
			char *const *environment, const char *host)
{
	size_t most = sizeof from->variable / sizeof from->variable[0];
	struct slots n = { -1, -1 };
	struct bytes file = { 0 };

	for (size_t i = 0; i < most && from->variable[i] && n.all < 0; i++) {
		const char *text = batch_variable(environment, from->variable[i]);
		struct err e = { "" };
		int bad = 0;

		if (!text)
			continue;
		bytes_reset(&file);
		if (from->are_files) {
			bad = textfile_read(text, "file of nodes", FILE_MAX, &file, &e);
			bytes_u8(&file, '\0');
			if (!bad && file.failed)
				bad = err_set(&e, -ENOMEM, "out of memory");
			text = (const char *)file.data;
		}
		if (!bad)
			bad = take(&j->nodes, text, from->next, &e);
		if (bad) {
			batch_fault(j, from->variable[i], &e);
			continue;
		}
		j->why.text[0] = '\0';
		batch_place(j, host);
		n = count(j, text, from->next);
	}
	bytes_free(&file);
	return n;
}
