/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keys.h - what a terminal sends when keys are pressed, as keys.
 *
 * Sequences may come in parts. What is not known is passed over.
 */
#ifndef SONDE_TOP_KEYS_H
#define SONDE_TOP_KEYS_H

#include <stdbool.h>
#include <stddef.h>

/* Characters are themselves. */
enum key {
	KEY_NONE = 0,
	KEY_ENTER = 256,
	KEY_ESCAPE,
	KEY_BACK,
	KEY_UP,
	KEY_DOWN,
	KEY_LEFT,
	KEY_RIGHT,
	KEY_HOME,
	KEY_END,
	KEY_PAGE_UP,
	KEY_PAGE_DOWN,
	KEY_F1,
	KEY_F3 = KEY_F1 + 2,
	KEY_F5 = KEY_F1 + 4,
	KEY_F6,
	KEY_F10 = KEY_F1 + 9
};

struct keys {
	char held[16]; /* of a sequence whose end has not come */
	size_t n;
};

/* The next byte: a key, or KEY_NONE. */
int keys_take(struct keys *k, char byte);
/* Nothing came for a while: what is held is the escape key, if it was that alone. */
int keys_wait_over(struct keys *k);
static inline bool keys_waits(const struct keys *k)
{
	return k->n > 0;
}

#endif
