/* SPDX-License-Identifier: Apache-2.0 */
#include "sink/sink.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SINK(x) extern const struct sink sink_##x;
#include "sinks.def"
#undef SINK

#define SINK(x) &sink_##x,
const struct sink *const sinks[] = {
#include "sinks.def"
};
#undef SINK

const size_t nsinks = sizeof(sinks) / sizeof(sinks[0]);

const struct sink *sink_find(const char *name)
{
	for (size_t i = 0; i < nsinks; i++)
		if (!strcmp(sinks[i]->name, name))
			return sinks[i];
	return NULL;
}

const char *sink_extension(const struct sink *k)
{
	return k->extension ? k->extension : k->name;
}

static int pull(const struct sink *k, void *state, const struct table_source *from, FILE *out,
		struct err *e)
{
	struct batch b;
	int rc = k->begin(state, from->schema, out, e);

	while (!rc && (rc = from->next(from->ctx, &b, e)) > 0)
		rc = k->batch(state, &b, e);
	if (!rc)
		rc = k->end(state, e);
	if (!rc && fflush(out))
		rc = err_set(e, -errno, "%s", strerror(errno));
	return rc;
}

int sink_pull(const struct sink *k, const struct table_source *from, FILE *out, struct err *e)
{
	void *state = calloc(1, k->size);
	int rc;

	if (!state)
		return err_set(e, -ENOMEM, "out of memory");
	rc = pull(k, state, from, out, e);
	k->free(state);
	free(state);
	return rc;
}

static int next_of_frame(void *ctx, struct batch *b, struct err *e)
{
	return frame_next(ctx, b, e);
}

int sink_run(const struct sink *k, struct frame *f, FILE *out, struct err *e)
{
	return sink_run_as(k, f, frame_schema(f)->table, out, e);
}

int sink_run_as(const struct sink *k, struct frame *f, const char *table, FILE *out, struct err *e)
{
	struct frame_schema schema = *frame_schema(f);

	schema.table = table;
	return sink_pull(k, &(struct table_source){ &schema, next_of_frame, f }, out, e);
}
