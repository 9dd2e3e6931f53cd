/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span_names.c - the names of a process and their numbers. They outlive the file: a child has
 * another one, with the same numbers.
 *
 * Short ones have a place in the file's head while there is one; the others are texts behind it, in
 * the same form here and there. They are found by a hash table without a lock.
 */
#include "lib/span.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum {
	TABLE = 32768,           /* a power of two, twice what there is */
	CHUNK_HEAD = 4,          /* the number of its first text */
	HASH_TEXT = 17,          /* "~" and 16 digits, with which a name ends that is cut */
	OTHERS = RING_NAMES_MAX, /* the number of all that have none */
};
_Static_assert(TABLE >= 2 * (RING_NAMES_MAX + RING_TEXTS_MAX), "it is never full");

static struct {
	uint32_t nnames, ntexts;
	char name[RING_NAMES_MAX + 1][RING_NAME_SIZE];
	uint32_t text_at[RING_TEXTS_MAX + 1]; /* from 1 */
	uint32_t used;                        /* bytes of texts */
	char *chunk[RING_TEXTS_CHUNKS], *shared[RING_TEXTS_CHUNKS];
	uint16_t table[TABLE];
} names;

static uint64_t hash_of(const char *text)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return h;
}

/* One that is too long ends in its hash, so that two of them stay two. */
static const char *text_bounded(const char *text, char out[RING_TEXT_MAX + 1])
{
	size_t n = strnlen(text, RING_TEXT_MAX + 1);

	if (n <= RING_TEXT_MAX)
		return text;
	n = RING_TEXT_MAX - HASH_TEXT;
	while (n && ((unsigned char)text[n] & 0xc0) == 0x80)
		n--;
	snprintf(out, RING_TEXT_MAX + 1, "%.*s~%016llx", (int)n, text,
		 (unsigned long long)hash_of(text));
	return out;
}

static bool is_text(uint32_t number, const char *text, size_t n)
{
	const char *at;

	if (number <= RING_NAMES_MAX)
		return !strcmp(names.name[number], text);
	at = names.chunk[names.text_at[number - RING_NAMES_MAX] / RING_TEXTS_CHUNK];
	at += names.text_at[number - RING_NAMES_MAX] % RING_TEXTS_CHUNK;
	return ((unsigned char)at[0] | (unsigned char)at[1] << 8) == (int)n &&
	       !memcmp(at + 2, text, n);
}

/* The place of a text in the table: its own, or the one that it would have. */
static uint16_t *place_of(const char *text)
{
	uint64_t h = hash_of(text);
	size_t n = strlen(text);

	for (;; h++) {
		uint16_t *place = &names.table[h % TABLE];
		uint16_t number = __atomic_load_n(place, __ATOMIC_ACQUIRE);

		if (!number || is_text(number, text, n))
			return place;
	}
}

static uint32_t short_add(const char *text)
{
	struct ring_head *head = span_head();
	uint32_t i = ++names.nnames;

	snprintf(names.name[i], RING_NAME_SIZE, "%s", text);
	if (head) {
		memcpy(head->name[i], names.name[i], RING_NAME_SIZE);
		__atomic_store_n(&head->nnames, i, __ATOMIC_RELEASE);
	}
	return i;
}

static bool chunk_share(uint32_t i)
{
	if (!names.shared[i] && span_head())
		names.shared[i] = span_map(ring_texts_at(i), RING_TEXTS_CHUNK);
	return names.shared[i] || !span_head();
}

/* A chunk of its own, and one of the file where there is one. */
static bool chunk_make(uint32_t i)
{
	void *memory;

	if (i == RING_TEXTS_CHUNKS)
		return false;
	if (!names.chunk[i]) {
		memory = mmap(NULL, RING_TEXTS_CHUNK, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (memory == MAP_FAILED)
			return false;
		names.chunk[i] = memory;
	}
	return chunk_share(i);
}

static void text_put(char *chunk, uint32_t at, const char *text, size_t n)
{
	const uint32_t first = RING_NAMES_MAX + 1 + names.ntexts;

	chunk += at % RING_TEXTS_CHUNK;
	if (at % RING_TEXTS_CHUNK == CHUNK_HEAD)
		memcpy(chunk - CHUNK_HEAD, &first, sizeof first);
	memcpy(chunk + 2, text, n);
	chunk[0] = (char)(n & 0xff);
	chunk[1] = (char)(n >> 8);
}

/* 0: there is no room. */
static uint32_t long_add(const char *text)
{
	struct ring_head *head = span_head();
	size_t n = strlen(text);
	uint32_t at = names.used ? names.used : CHUNK_HEAD;

	if (at % RING_TEXTS_CHUNK + n + 4 > RING_TEXTS_CHUNK)
		at = (at / RING_TEXTS_CHUNK + 1) * RING_TEXTS_CHUNK + CHUNK_HEAD;
	if (names.ntexts == RING_TEXTS_MAX || !chunk_make(at / RING_TEXTS_CHUNK))
		return 0;
	text_put(names.chunk[at / RING_TEXTS_CHUNK], at, text, n);
	if (head)
		text_put(names.shared[at / RING_TEXTS_CHUNK], at, text, n);
	names.used = at + 2 + (uint32_t)n;
	names.text_at[++names.ntexts] = at;
	if (head)
		__atomic_store_n(&head->ntexts, names.ntexts, __ATOMIC_RELEASE);
	return RING_NAMES_MAX + names.ntexts;
}

/* All that have no number of their own have this one, and are counted. */
static uint32_t other(void)
{
	struct ring_head *head = span_head();

	if (names.nnames < OTHERS) {
		names.nnames = OTHERS - 1;
		short_add("(other names)");
	}
	if (head)
		__atomic_fetch_add(&head->nameless, 1, __ATOMIC_RELAXED);
	return OTHERS;
}

static uint32_t name_add(const char *text)
{
	uint16_t *place = place_of(text);
	uint32_t number = *place;

	if (number)
		return number;
	if (strlen(text) < RING_NAME_SIZE && names.nnames < OTHERS - 1)
		number = short_add(text);
	else
		number = long_add(text);
	if (!number)
		return other();
	__atomic_store_n(place, (uint16_t)number, __ATOMIC_RELEASE);
	return number;
}

uint32_t sonde_name(const char *text)
{
	char cut[RING_TEXT_MAX + 1];
	uint32_t number;
	sigset_t before;

	if (!text || !*text)
		return 0;
	text = text_bounded(text, cut);
	number = __atomic_load_n(place_of(text), __ATOMIC_ACQUIRE);
	if (number)
		return number;
	span_lock(&before);
	number = name_add(text);
	span_unlock(&before);
	return number;
}

/* A number is told when its text is there, and stays. */
void span_name_text(uint32_t number, char out[RING_TEXT_MAX + 1])
{
	const char *at;
	size_t n;

	*out = '\0';
	if (number && number <= RING_NAMES_MAX) {
		snprintf(out, RING_TEXT_MAX + 1, "%s", names.name[number]);
	} else if (number > RING_NAMES_MAX && number <= RING_NAMES_MAX + names.ntexts) {
		at = names.chunk[names.text_at[number - RING_NAMES_MAX] / RING_TEXTS_CHUNK];
		at += names.text_at[number - RING_NAMES_MAX] % RING_TEXTS_CHUNK;
		n = (unsigned char)at[0] | (size_t)(unsigned char)at[1] << 8;
		memcpy(out, at + 2, n);
		out[n] = '\0';
	}
}

/* Of texts, those that there is room for. */
void span_names_put(struct ring_head *head)
{
	uint32_t n = names.ntexts;

	memcpy(head->name, names.name, sizeof head->name);
	head->nnames = names.nnames;
	for (uint32_t i = 0; names.ntexts && i * RING_TEXTS_CHUNK < names.used; i++) {
		names.shared[i] = span_map(ring_texts_at(i), RING_TEXTS_CHUNK);
		if (names.shared[i])
			memcpy(names.shared[i], names.chunk[i], RING_TEXTS_CHUNK);
		while (!names.shared[i] && n && names.text_at[n] / RING_TEXTS_CHUNK >= i)
			n--;
	}
	head->ntexts = n;
}

void span_names_fork(void)
{
	for (uint32_t i = 0; i < RING_TEXTS_CHUNKS; i++) {
		if (names.shared[i])
			munmap(names.shared[i], RING_TEXTS_CHUNK);
		names.shared[i] = NULL;
	}
}
