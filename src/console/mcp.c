/* SPDX-License-Identifier: Apache-2.0 */
#include "console/mcp.h"
#include "base/text/json.h"
#include "base/text/jsontree.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Of JSON-RPC 2.0. */
enum {
	PARSE_ERROR = -32700,
	INVALID_REQUEST = -32600,
	NO_SUCH_METHOD = -32601,
	INVALID_PARAMS = -32602
};

/* The newest first: it is what a client gets that asks for one that is not known. */
static const char *const versions[] = { "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05" };

/* ---- answers ---- */

static struct json begin(struct bytes *out, const struct jsontree *id)
{
	struct json j = { .out = out };

	json_object(&j);
	json_put_text(&j, "jsonrpc", "2.0");
	json_key(&j, "id");
	if (id)
		jsontree_write(&j, id);
	else
		json_null(&j);
	return j;
}

static void end(struct json *j)
{
	json_object_end(j);
	bytes_u8(j->out, '\n');
}

static void put_error(struct bytes *out, const struct jsontree *id, int code, const char *message)
{
	struct json j = begin(out, id);

	json_key(&j, "error");
	json_object(&j);
	json_put_int(&j, "code", code);
	json_put_text(&j, "message", message);
	json_object_end(&j);
	end(&j);
}

void mcp_refuse(struct bytes *out, const char *why)
{
	put_error(out, NULL, INVALID_REQUEST, why);
}

/* ---- methods ---- */

static const char *version_for(const struct jsontree *params)
{
	const char *wanted = jsontree_text(params, "protocolVersion");

	for (size_t i = 0; wanted && i < sizeof versions / sizeof versions[0]; i++)
		if (!strcmp(versions[i], wanted))
			return versions[i];
	return versions[0];
}

static void initialize(const struct mcp *m, struct json *j, const struct jsontree *params)
{
	json_put_text(j, "protocolVersion", version_for(params));
	json_key(j, "capabilities");
	json_object(j);
	json_key(j, "tools");
	json_object(j);
	json_object_end(j);
	json_object_end(j);
	json_key(j, "serverInfo");
	json_object(j);
	json_put_text(j, "name", "sonde");
	json_put_text(j, "version", SONDE_VERSION);
	json_object_end(j);
	json_put_text(j, "instructions", m->instructions);
}

static void put_choices(struct json *j, const char *choices)
{
	json_key(j, "enum");
	json_array(j);
	for (const char *at = choices; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL) {
		char word[32];

		snprintf(word, sizeof word, "%.*s", (int)strcspn(at, "|"), at);
		json_text(j, word);
	}
	json_array_end(j);
}

static void put_schema(struct json *j, const struct mcp_argument *argument)
{
	json_key(j, "inputSchema");
	json_object(j);
	json_put_text(j, "type", "object");
	json_key(j, "properties");
	json_object(j);
	for (const struct mcp_argument *a = argument; a->name; a++) {
		json_key(j, a->name);
		json_object(j);
		json_put_text(j, "type", a->number ? "number" : "string");
		json_put_text(j, "description", a->what);
		if (a->choices)
			put_choices(j, a->choices);
		json_object_end(j);
	}
	json_object_end(j);
	json_key(j, "required");
	json_array(j);
	for (const struct mcp_argument *a = argument; a->name; a++)
		if (a->required)
			json_text(j, a->name);
	json_array_end(j);
	json_put_bool(j, "additionalProperties", false);
	json_object_end(j);
}

static void list_tools(const struct mcp *m, struct json *j)
{
	json_key(j, "tools");
	json_array(j);
	for (size_t i = 0; i < m->ntools; i++) {
		json_object(j);
		json_put_text(j, "name", m->tool[i].name);
		json_put_text(j, "description", m->tool[i].what);
		put_schema(j, m->tool[i].argument);
		json_key(j, "annotations");
		json_object(j);
		json_put_bool(j, "readOnlyHint", true);
		json_put_bool(j, "openWorldHint", false);
		json_object_end(j);
		json_object_end(j);
	}
	json_array_end(j);
}

/* ---- a call ---- */

static bool is_choice(const char *choices, const char *text)
{
	for (const char *at = choices; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL)
		if (strcspn(at, "|") == strlen(text) && !strncmp(at, text, strlen(text)))
			return true;
	return false;
}

static bool is_valid(const struct mcp_argument *a, const struct jsontree *v)
{
	if (a->number)
		return v->type == JSONDOC_NUMBER && isfinite(v->number) && v->number >= 0;
	return v->type == JSONDOC_STRING && (!a->choices || is_choice(a->choices, v->text));
}

static const struct mcp_argument *argument_named(const struct mcp_tool *t, const char *name)
{
	for (const struct mcp_argument *a = t->argument; a->name; a++)
		if (!strcmp(a->name, name))
			return a;
	return NULL;
}

/* NULL: they are right. */
static const char *fault_of(const struct mcp_tool *t, const struct jsontree *arguments, char *out,
			    size_t size)
{
	if (arguments && arguments->type != JSONDOC_OBJECT)
		return "arguments is no object";
	for (const struct jsontree *v = arguments ? arguments->first : NULL; v; v = v->next) {
		const struct mcp_argument *a = argument_named(t, v->key);

		if (a && is_valid(a, v))
			continue;
		snprintf(out, size, "%s: %s has no such argument, or it has another form: %.80s",
			 t->name, t->name, v->key);
		return out;
	}
	for (const struct mcp_argument *a = t->argument; a->name; a++)
		if (a->required && !jsontree_find(arguments, a->name)) {
			snprintf(out, size, "%s needs the argument %s", t->name, a->name);
			return out;
		}
	return NULL;
}

static void put_result(struct bytes *out, const struct jsontree *id, struct bytes *text, bool good)
{
	struct json j = begin(out, id);

	bytes_u8(text, 0);
	json_key(&j, "result");
	json_object(&j);
	json_key(&j, "content");
	json_array(&j);
	json_object(&j);
	json_put_text(&j, "type", "text");
	json_put_text(&j, "text", text->failed ? "out of memory" : (const char *)text->data);
	json_object_end(&j);
	json_array_end(&j);
	json_put_bool(&j, "isError", !good || text->failed);
	json_object_end(&j);
	end(&j);
}

static void call_tool(const struct mcp *m, struct bytes *out, const struct jsontree *id,
		      const struct jsontree *params)
{
	const char *name = jsontree_text(params, "name"), *fault;
	const struct jsontree *arguments = jsontree_find(params, "arguments");
	struct bytes text = { 0 };
	char why[256];
	size_t at = 0;
	bool good;

	while (at < m->ntools && (!name || strcmp(m->tool[at].name, name) != 0))
		at++;
	if (at == m->ntools) {
		put_error(out, id, INVALID_PARAMS, "there is no such tool");
		return;
	}
	fault = fault_of(&m->tool[at], arguments, why, sizeof why);
	if (fault) {
		put_error(out, id, INVALID_PARAMS, fault);
		return;
	}
	good = m->call(m->ctx, at, arguments, &text);
	put_result(out, id, &text, good);
	bytes_free(&text);
}

/* ---- messages ---- */

static void answer_request(const struct mcp *m, struct bytes *out, const struct jsontree *id,
			   const struct jsontree *message)
{
	const char *method = jsontree_text(message, "method");
	const struct jsontree *params = jsontree_find(message, "params");
	bool initial = !strcmp(method, "initialize"), list = !strcmp(method, "tools/list");
	struct json j;

	if (!strcmp(method, "tools/call")) {
		call_tool(m, out, id, params);
	} else if (initial || list || !strcmp(method, "ping")) {
		j = begin(out, id);
		json_key(&j, "result");
		json_object(&j);
		if (initial)
			initialize(m, &j, params);
		else if (list)
			list_tools(m, &j);
		json_object_end(&j);
		end(&j);
	} else {
		put_error(out, id, NO_SUCH_METHOD, "there is no such method");
	}
}

/* A message without an id is a notification, which nobody answers; so are answers to what was never
 * asked. */
static void answer_message(const struct mcp *m, struct bytes *out, const struct jsontree *message)
{
	const struct jsontree *id = jsontree_find(message, "id");
	const char *version = jsontree_text(message, "jsonrpc");

	if (message->type != JSONDOC_OBJECT)
		put_error(out, NULL, INVALID_REQUEST, "a message is an object");
	else if (id && id->type != JSONDOC_STRING && id->type != JSONDOC_NUMBER)
		put_error(out, NULL, INVALID_REQUEST, "an id is a text or a number");
	else if (!version || strcmp(version, "2.0") != 0)
		put_error(out, id, INVALID_REQUEST, "jsonrpc is not 2.0");
	else if (!jsontree_text(message, "method") && !jsontree_find(message, "result") &&
		 !jsontree_find(message, "error"))
		put_error(out, id, INVALID_REQUEST, "there is no method");
	else if (id && jsontree_text(message, "method"))
		answer_request(m, out, id, message);
}

void mcp_answer(const struct mcp *m, const void *line, size_t n, struct bytes *out)
{
	struct pool pool = { 0 };
	struct err e = { "" };
	const struct jsontree *message = jsontree_read(&pool, line, n, &e);

	if (message)
		answer_message(m, out, message);
	else
		put_error(out, NULL, PARSE_ERROR, e.text);
	pool_free(&pool);
}
