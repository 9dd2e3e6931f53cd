/* SPDX-License-Identifier: Apache-2.0 */
#include "top/keys.h"

#include <string.h>

/* Behind ESC [ or ESC O; what is between (the keys held down with it) does not matter. */
static const struct {
	const char *end;
	int key;
} sequences[] = {
	{ "A", KEY_UP },    { "B", KEY_DOWN }, { "C", KEY_RIGHT },    { "D", KEY_LEFT },
	{ "H", KEY_HOME },  { "F", KEY_END },  { "1~", KEY_HOME },    { "7~", KEY_HOME },
	{ "4~", KEY_END },  { "8~", KEY_END }, { "5~", KEY_PAGE_UP }, { "6~", KEY_PAGE_DOWN },
	{ "M", KEY_ENTER }, { "P", KEY_F1 },   { "11~", KEY_F1 },     { "R", KEY_F3 },
	{ "13~", KEY_F3 },  { "15~", KEY_F5 }, { "17~", KEY_F6 },     { "21~", KEY_F10 },
};

static int sequence(const char *text)
{
	for (size_t i = 0; i < sizeof sequences / sizeof sequences[0]; i++)
		if (!strcmp(sequences[i].end, text))
			return sequences[i].key;
	return KEY_NONE;
}

/* ESC [ 1 ; 5 A and the like: the last letter tells. */
static int ended(struct keys *k)
{
	bool whole = k->n < sizeof k->held - 1;
	const char *last = &k->held[k->n - 1];
	int key;

	k->held[k->n] = '\0';
	key = whole ? sequence(k->held + 2) : KEY_NONE;
	if (whole && !key && *last != '~')
		key = sequence(last);
	k->n = 0;
	return key;
}

static int plain(char byte)
{
	if (byte == '\r' || byte == '\n')
		return KEY_ENTER;
	if (byte == '\b' || byte == 0x7f)
		return KEY_BACK;
	return byte >= ' ' && byte < 0x7f ? byte : KEY_NONE;
}

int keys_take(struct keys *k, char byte)
{
	if (byte == 033) {
		k->held[0] = byte;
		k->n = 1;
		return KEY_NONE;
	}
	if (!k->n)
		return plain(byte);
	if (k->n == 1 && byte != '[' && byte != 'O') { /* a key with Alt */
		k->n = 0;
		return KEY_NONE;
	}
	/* Of one that is too long, the end is waited for. */
	if (k->n < sizeof k->held - 1)
		k->held[k->n++] = byte;
	return k->n > 2 && byte >= '@' && byte <= '~' ? ended(k) : KEY_NONE;
}

int keys_wait_over(struct keys *k)
{
	bool alone = k->n == 1;

	k->n = 0;
	return alone ? KEY_ESCAPE : KEY_NONE;
}
