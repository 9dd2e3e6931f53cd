/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sonde-yaml - a text comes on its standard input, a socket, as a length and bytes; the values in
 * it go back in the same way (base/text/jsontree.h). Only this program knows libyaml.
 */
#include "base/bytes.h"
#include "base/helper.h"
#include "base/text/jsontree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

enum { SOCKET = 0 };

struct answer {
	yaml_document_t *document;
	struct bytes out;
	uint32_t values;
};

static void fault(struct bytes *out, yaml_mark_t at, const char *text)
{
	bytes_reset(out);
	bytes_u8(out, 1);
	bytes_varint(out, at.line + 1);
	bytes_varint(out, at.column + 1);
	bytes_text(out, text);
}

static bool is_one_of(const char *text, const char *words)
{
	size_t n = strlen(text);

	for (const char *at = words; *at; at += strcspn(at, " ") + (at[strcspn(at, " ")] == ' '))
		if (strcspn(at, " ") == n && !strncmp(at, text, n))
			return true;
	return false;
}

/* As JSON has them; with a + in front as well. */
static bool is_number(const char *text)
{
	const char *p = text + (*text == '-' || *text == '+');
	size_t whole = strspn(p, "0123456789"), part = 0;

	p += whole;
	if (*p == '.') {
		part = strspn(p + 1, "0123456789");
		p += 1 + part;
	}
	if (!whole && !part)
		return false;
	if (*p == 'e' || *p == 'E') {
		p += 1 + (p[1] == '-' || p[1] == '+');
		if (!strspn(p, "0123456789"))
			return false;
		p += strspn(p, "0123456789");
	}
	return !*p;
}

static enum jsondoc_token type_of(const yaml_node_t *n)
{
	const char *text = (const char *)n->data.scalar.value;

	if (n->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
		return JSONDOC_STRING;
	if (!*text || is_one_of(text, "~ null Null NULL"))
		return JSONDOC_NULL;
	if (is_one_of(text, "true True TRUE"))
		return JSONDOC_TRUE;
	if (is_one_of(text, "false False FALSE"))
		return JSONDOC_FALSE;
	return is_number(text) ? JSONDOC_NUMBER : JSONDOC_STRING;
}

static bool holds_nul(const yaml_node_t *n)
{
	return memchr(n->data.scalar.value, 0, n->data.scalar.length);
}

static void begin(struct answer *a, enum jsondoc_token type, const yaml_node_t *n)
{
	bytes_u8(&a->out, (uint8_t)type);
	bytes_varint(&a->out, n->start_mark.line + 1);
	bytes_varint(&a->out, n->start_mark.column + 1);
}

static const char *put(struct answer *a, int node, unsigned depth, yaml_mark_t *at);

static const char *put_mapping(struct answer *a, const yaml_node_t *n, unsigned depth,
			       yaml_mark_t *at)
{
	const char *wrong = NULL;

	begin(a, JSONDOC_OBJECT, n);
	for (const yaml_node_pair_t *p = n->data.mapping.pairs.start;
	     p < n->data.mapping.pairs.top && !wrong; p++) {
		const yaml_node_t *key = yaml_document_get_node(a->document, p->key);

		*at = key->start_mark;
		if (key->type != YAML_SCALAR_NODE || holds_nul(key))
			return "a key has to be a text";
		bytes_u8(&a->out, JSONDOC_KEY);
		bytes_text(&a->out, (const char *)key->data.scalar.value);
		wrong = put(a, p->value, depth, at);
	}
	bytes_u8(&a->out, JSONDOC_OBJECT_END);
	return wrong;
}

static const char *put_sequence(struct answer *a, const yaml_node_t *n, unsigned depth,
				yaml_mark_t *at)
{
	const char *wrong = NULL;

	begin(a, JSONDOC_ARRAY, n);
	for (const yaml_node_item_t *i = n->data.sequence.items.start;
	     i < n->data.sequence.items.top && !wrong; i++)
		wrong = put(a, *i, depth, at);
	bytes_u8(&a->out, JSONDOC_ARRAY_END);
	return wrong;
}

/* NULL, or what is wrong. An alias may stand in many places, or in what it stands for: the number
 * of values and the depth are bounded. */
static const char *put(struct answer *a, int node, unsigned depth, yaml_mark_t *at)
{
	const yaml_node_t *n = yaml_document_get_node(a->document, node);
	enum jsondoc_token type;

	*at = n->start_mark;
	if (++a->values > YAMLTREE_VALUES)
		return "it holds too many values";
	if (n->type == YAML_SCALAR_NODE) {
		if (holds_nul(n))
			return "a text must not hold a NUL";
		type = type_of(n);
		begin(a, type, n);
		if (type == JSONDOC_STRING || type == JSONDOC_NUMBER)
			bytes_text(&a->out, (const char *)n->data.scalar.value);
		return NULL;
	}
	if (depth == YAMLTREE_DEPTH)
		return "it is too deep";
	return n->type == YAML_MAPPING_NODE ? put_mapping(a, n, depth + 1, at)
					    : put_sequence(a, n, depth + 1, at);
}

static void tell_problem(struct bytes *out, const yaml_parser_t *p)
{
	yaml_mark_t at = p->problem_mark;
	char text[400];

	if (p->error == YAML_READER_ERROR) /* which gives an offset only */
		at = p->mark;
	snprintf(text, sizeof text, "%s%s%s", p->problem ? p->problem : "it is no YAML",
		 p->context ? ", " : "", p->context ? p->context : "");
	fault(out, at, text);
}

/* Read event by event first: what libyaml takes for a text of brackets grows with the square of
 * their depth. True: it has told that it is too deep. */
static bool is_too_deep(struct bytes *out, const uint8_t *text, size_t n)
{
	unsigned depth = 0;
	yaml_event_t event;
	yaml_parser_t p;
	bool over = false;

	if (!yaml_parser_initialize(&p))
		return false;
	yaml_parser_set_input_string(&p, text, n);
	while (!over && depth <= YAMLTREE_DEPTH && yaml_parser_parse(&p, &event)) {
		over = event.type == YAML_STREAM_END_EVENT;
		depth += event.type == YAML_MAPPING_START_EVENT ||
			 event.type == YAML_SEQUENCE_START_EVENT;
		depth -= event.type == YAML_MAPPING_END_EVENT ||
			 event.type == YAML_SEQUENCE_END_EVENT;
		if (depth > YAMLTREE_DEPTH)
			fault(out, event.start_mark, "it is too deep");
		yaml_event_delete(&event);
	}
	yaml_parser_delete(&p);
	return depth > YAMLTREE_DEPTH;
}

static void answer(struct bytes *out, const uint8_t *text, size_t n)
{
	yaml_document_t document, second;
	struct answer a = { .document = &document };
	yaml_mark_t at = { 0 };
	yaml_parser_t p;

	if (is_too_deep(out, text, n) || !yaml_parser_initialize(&p))
		return;
	yaml_parser_set_input_string(&p, text, n);
	if (!yaml_parser_load(&p, &document)) {
		tell_problem(out, &p);
		yaml_parser_delete(&p);
		return;
	}
	bytes_u8(&a.out, 0);
	if (yaml_document_get_root_node(&document)) {
		const char *wrong = put(&a, 1, 0, &at);

		if (wrong) {
			fault(&a.out, at, wrong);
		} else if (!yaml_parser_load(&p, &second)) {
			tell_problem(&a.out, &p);
		} else {
			yaml_node_t *root = yaml_document_get_root_node(&second);

			if (root)
				fault(&a.out, root->start_mark, "a second document begins");
			yaml_document_delete(&second);
		}
	}
	yaml_document_delete(&document);
	yaml_parser_delete(&p);
	*out = a.out;
}

int main(void)
{
	struct bytes out = { 0 };
	uint32_t n = 0, length;
	uint8_t *text;
	bool well;

	if (!talk_read(SOCKET, &n, sizeof n) || n > YAMLTREE_BYTES)
		return EXIT_FAILURE;
	text = malloc(n ? n : 1);
	if (!text || !talk_read(SOCKET, text, n)) {
		free(text);
		return EXIT_FAILURE;
	}
	answer(&out, text, n);
	length = (uint32_t)out.len;
	well = !out.failed && out.len && talk_write(SOCKET, &length, sizeof length) &&
	       talk_write(SOCKET, out.data, out.len);
	bytes_free(&out);
	free(text);
	return well ? EXIT_SUCCESS : EXIT_FAILURE;
}
