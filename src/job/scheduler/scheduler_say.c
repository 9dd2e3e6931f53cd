/* SPDX-License-Identifier: Apache-2.0 */
#include "job/scheduler/scheduler_say.h"

#include "job/scheduler/scheduler_row.h"
#include "job/secret/secret.h"

#include <stdarg.h>
#include <stdio.h>

enum { NODES_BYTES = 16 * 1024 };

static void say_text(const struct secret_list *l, struct sample *s, const char *key,
		     const char *text)
{
	struct bytes masked = { 0 };

	if (!text || !key)
		return;
	secret_text(l && l->all ? NULL : l, &masked, text); /* a job keeps its number */
	bytes_u8(&masked, '\0');
	if (!masked.failed)
		sample_meta_text(s, key, (const char *)masked.data);
	bytes_free(&masked);
}

/* A list that is cut would be another one. */
static void say_nodes(const struct hostlist *nodes, struct sample *s)
{
	struct bytes list = { 0 };

	hostlist_compress(nodes, &list);
	bytes_u8(&list, '\0');
	if (nodes->n && !list.failed && list.len <= NODES_BYTES)
		sample_meta_text(s, "job.nodes", (const char *)list.data);
	bytes_free(&list);
}

void batch_job_say(const struct batch_job *j, const struct secret_list *l, struct sample *s)
{
	say_text(l, s, "job.id", j->id[0] ? j->id : NULL);
	say_text(l, s, "job.scheduler", batch_job_system(j));
	say_text(l, s, "job.launcher", j->launcher);
	say_text(l, s, "job.part", batch_part_name(j->part));
	for (enum batch_text t = 0; t < BATCH_TEXTS; t++)
		say_text(l, s, batch_text_key(t), j->text[t]);
	for (enum batch_number n = 0; n < BATCH_NUMBERS; n++)
		if (batch_number_key(n) && j->number[n] >= 0)
			sample_meta_int(s, batch_number_key(n), j->number[n]);
	say_nodes(&j->nodes, s);
	if (j->scheduler)
		say_text(l, s, "job.node", j->node);
	say_text(l, s, "job.unread", j->why.text[0] ? j->why.text : NULL);
}

/* Appends to a sentence of size bytes; returns its length. */
static size_t __attribute__((format(printf, 4, 5)))
add(char *out, size_t size, size_t len, const char *format, ...)
{
	va_list args;
	int n;

	if (len >= size)
		return len;
	va_start(args, format);
	n = vsnprintf(out + len, size - len, format, args);
	va_end(args);
	return n > 0 ? len + (size_t)n : len;
}

void batch_job_sentence(const struct batch_job *j, char *out, size_t size)
{
	int64_t index = j->number[BATCH_NODE_INDEX], nodes = j->number[BATCH_NODES];
	size_t len = 0;

	if (!j->scheduler) {
		snprintf(out, size, "%s%s%s",
			 "no variable of a known batch system is set; this is recorded as a plain "
			 "machine",
			 j->launcher ? ", whose ranks are found by " : "",
			 j->launcher ? j->launcher : "");
		return;
	}
	len = add(out, size, len, "%s, found by %s: job %s", j->scheduler->title,
		  j->scheduler->sign[0], j->id);
	if (j->text[BATCH_STEP])
		len = add(out, size, len, ", step %s", j->text[BATCH_STEP]);
	len = add(out, size, len, ", node %s", j->node);
	if (index >= 0 && nodes > index)
		len = add(out, size, len, " (%lld of %lld)", (long long)index + 1,
			  (long long)nodes);
	if (j->number[BATCH_RANK] >= 0)
		len = add(out, size, len, ", rank %lld", (long long)j->number[BATCH_RANK]);
	if (j->launcher)
		len = add(out, size, len, " of %s", j->launcher);
	if (j->why.text[0])
		add(out, size, len, "; %s", j->why.text);
}
