/* SPDX-License-Identifier: Apache-2.0 */
/*
 * azure_table.c - the start-up events of a run as entities of Batch Shipyard's table, as its nodes
 * write them: the marks SOURCE:EVENT.
 *
 * No two events of a pool have one key there: a later one moves on by a microsecond until it fits.
 * What was sent before is not sent again; the table itself is the journal.
 */
#include "base/clock.h"
#include "base/text/decimal.h"
#include "base/text/escape.h"
#include "base/text/json.h"
#include "base/text/jsondoc.h"
#include "core/phase/cascade.h"
#include "push/push.h"
#include "push/table.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { MOVES_MAX = 1000, TEXT_MAX = 64 * 1024, KEY_SIZE = 40 };

struct entity {
	const char *partition;
	struct bytes node, event, message; /* texts */
	int64_t us;
};

struct pushing {
	const struct push_job *job;
	struct push_result *result;
	struct table table;
	struct entity entity;
	struct bytes body;
	char there[TEXT_MAX];
	uint32_t events;
	uint32_t strangers; /* events of nodes whose pool is not known */
};

/* As Python writes the number of seconds. */
static void write_key(char out[KEY_SIZE], int64_t us)
{
	char room[DECIMAL_ROOM];
	const char *text = decimal_shortest(room, (double)us / 1e6);

	snprintf(out, KEY_SIZE, "%s%s", text, strchr(text, '.') ? "" : ".0");
}

static void set_text(struct bytes *b, const char *text)
{
	bytes_reset(b);
	escape_utf8(b, text ? text : "");
	bytes_u8(b, 0);
}

static const char *text_of(const struct bytes *b)
{
	return (const char *)b->data;
}

static bool write_body(struct pushing *p, const char *key)
{
	struct json j = { .out = &p->body };
	const struct entity *x = &p->entity;

	bytes_reset(&p->body);
	json_object(&j);
	json_put_text(&j, "PartitionKey", x->partition);
	json_put_text(&j, "RowKey", key);
	json_put_text(&j, "Event", text_of(&x->event));
	json_put_text(&j, "NodeId", text_of(&x->node));
	if (*text_of(&x->message))
		json_put_text(&j, "Message", text_of(&x->message));
	json_object_end(&j);
	return !p->body.failed;
}

static bool says(struct pushing *p, const char *text, size_t n, const char *key,
		 const struct bytes *value)
{
	bool has = json_read_text(text, n, key, p->there, sizeof p->there);

	return !strcmp(has ? p->there : "", text_of(value));
}

/* Whether what has this key is this very event. */
static int is_there(struct pushing *p, const char *key, bool *same, struct err *e)
{
	const char *text;
	size_t n;
	int rc = table_entity(&p->table, p->entity.partition, key, &text, &n, e);

	*same = !rc && text && says(p, text, n, "Event", &p->entity.event) &&
		says(p, text, n, "NodeId", &p->entity.node) &&
		says(p, text, n, "Message", &p->entity.message);
	return rc;
}

static int send(struct pushing *p, struct err *e)
{
	char key[KEY_SIZE];
	bool taken = true, same = false;
	int rc = 0;

	for (int moves = 0; taken && !same && !rc; moves++) {
		write_key(key, p->entity.us + moves);
		if (!write_body(p, key))
			return err_set(e, -ENOMEM, "out of memory for an event");
		if (moves == MOVES_MAX)
			return err_set(e, -EEXIST, "%.200s has other events at %s and behind it",
				       p->table.server.shown, key);
		rc = table_insert(&p->table, p->body.data, p->body.len, &taken, e);
		if (!rc && taken)
			rc = is_there(p, key, &same, e);
	}
	p->result->values += !rc && !same;
	return rc;
}

/* ---- which events ---- */

static int send_mark(struct pushing *p, const struct run_mark *m, struct err *e)
{
	const struct run *r = p->job->run;
	const struct run_meta *id = run_find_meta(r, m->node, "job.environment.AZ_BATCH_NODE_ID");
	struct entity *x = &p->entity;
	char pool[CASCADE_POOL_SIZE];

	if (!m->name || !strchr(m->name, ':'))
		return 0;
	p->events++;
	cascade_pool_name(r, m->node, pool, sizeof pool);
	if (!*pool) {
		p->strangers++;
		return 0;
	}
	x->partition = pool;
	set_text(&x->event, m->name);
	set_text(&x->message, m->message);
	set_text(&x->node, id && id->text ? id->text : r->nodes[m->node].host);
	x->us = (run_utc_ns(r, m->node, m->at_ns) + 500) / 1000;
	return x->event.failed || x->message.failed || x->node.failed
		       ? err_set(e, -ENOMEM, "out of memory for an event")
		       : send(p, e);
}

static int send_all(struct pushing *p, struct err *e)
{
	const struct run *r = p->job->run;
	int rc = 0;

	for (uint32_t i = 1; i < r->nmarks && !rc; i++)
		rc = send_mark(p, &r->marks[i], e);
	if (!rc && !p->events)
		return err_set(e, -ENODATA,
			       "this recording has no start-up events: marks named "
			       "SOURCE:EVENT");
	if (!rc && p->strangers)
		snprintf(p->result->left_out, sizeof p->result->left_out,
			 "events of nodes whose pool is not known are left out: %u; the variables "
			 "AZ_BATCH_ACCOUNT_NAME and AZ_BATCH_POOL_ID of a job tell it",
			 p->strangers);
	p->result->nothing_new = !rc && !p->result->values;
	return rc;
}

static int push_to_table(const struct push_job *j, struct push_result *result, struct err *e)
{
	struct pushing p = { .job = j, .result = result };
	struct table_place place;
	int rc = table_place_of_url(&place, j->url, j->variable, e);

	if (!rc)
		rc = table_open(&p.table, &place, j->patience_ns, e);
	snprintf(result->where, sizeof result->where, "%.500s", p.table.server.shown);
	if (!rc)
		rc = send_all(&p, e);
	result->kept = rc && result->values;
	result->requests = p.table.http.requests;
	table_close(&p.table);
	bytes_free(&p.entity.node);
	bytes_free(&p.entity.event);
	bytes_free(&p.entity.message);
	bytes_free(&p.body);
	explicit_bzero(&place, sizeof place);
	return rc;
}

const struct push push_azure_table = {
	.name = "azure-table",
	.what = "the start-up events of Batch Shipyard's nodes, in Azure Table storage",
	.exec = push_to_table,
};
