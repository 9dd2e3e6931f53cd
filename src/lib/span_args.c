/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span_args.c - names of a process and their numbers; what goes with a span or a mark: arguments
 * and arrows; and spans that end in another process. Arguments stand in slots behind the span's
 * own, and are published with it: a span without any costs nothing of this.
 */
#include "lib/span.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * The names of a process and their numbers. They outlive the file: a child has
 * another one, with the same numbers.
 *
 * Short ones have a place in the file's head while there is one; the others are texts behind it, in
 * the same form here and there. They are found by a hash table without a lock.
 */

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
static void span_name_text(uint32_t number, char out[RING_TEXT_MAX + 1])
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

#undef sonde_begin
#undef sonde_span_begin
#undef sonde_begin_with
#undef sonde_span_begin_with
#undef sonde_span_end_with
#undef sonde_mark_with

/* ---- arguments ---- */

void span_publish_with(struct ring_thread *r, struct ring_slot slot, const struct span_more *more)
{
	struct ring_slot *slots = (struct ring_slot *)((char *)r + RING_PAGE);
	uint64_t written = r->written;
	uint32_t n = more ? more->n : 0;

	if (written + n - __atomic_load_n(&r->taken, __ATOMIC_ACQUIRE) >= RING_SLOTS) {
		__atomic_store_n(&r->lost, r->lost + 1, __ATOMIC_RELAXED);
		return;
	}
	slot.what |= n << RING_MORE_BIT;
	slots[written % RING_SLOTS] = slot;
	for (uint32_t i = 0; i < n; i++)
		slots[(written + 1 + i) % RING_SLOTS] = more->u.slot[i];
	__atomic_store_n(&r->written, written + 1 + n, __ATOMIC_RELEASE);
}

/* How many bytes of a text are taken: whole characters. */
static size_t text_length(const char *text)
{
	size_t n = text ? strnlen(text, RING_ARG_TEXT_MAX + 1) : 0;

	if (n <= RING_ARG_TEXT_MAX)
		return n;
	n = RING_ARG_TEXT_MAX;
	while (n && ((unsigned char)text[n] & 0xc0) == 0x80)
		n--;
	return n;
}

/* The bytes of one; 0: it makes no sense. */
static size_t arg_encode(const struct sonde_arg *a, uint8_t out[8 + RING_ARG_TEXT_MAX])
{
	const size_t key = 1 + sizeof a->key;
	size_t n;

	out[0] = (uint8_t)a->kind;
	memcpy(out + 1, &a->key, sizeof a->key);
	switch (a->kind) {
	case SONDE_ARG_NUMBER:
	case SONDE_ARG_INTEGER:
		memcpy(out + key, &a->value, sizeof a->value);
		return a->key ? key + sizeof a->value : 0;
	case SONDE_ARG_TEXT:
		n = text_length(a->value.text);
		out[key] = (uint8_t)n;
		if (n)
			memcpy(out + key + 1, a->value.text, n);
		return a->key ? key + 1 + n : 0;
	case SONDE_ARG_CATEGORY:
		return a->key ? key : 0;
	case SONDE_ARG_FLOW_OUT:
	case SONDE_ARG_FLOW_IN:
		memcpy(out + 1, &a->value.flow, sizeof a->value.flow);
		return 1 + sizeof a->value.flow;
	default:
		return 0;
	}
}

static void count_left(uint32_t n)
{
	struct ring_head *head = span_head();

	if (n && head)
		__atomic_fetch_add(&head->args_left, n, __ATOMIC_RELAXED);
}

/* Arguments, as bytes; what there is no room for is left out, and counted. */
struct encoded {
	uint32_t args, bytes;
	uint8_t byte[RING_MORE_MAX * sizeof(struct ring_slot)];
};

static void args_add(struct encoded *x, const struct sonde_arg *args, uint32_t n)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint8_t bytes[8 + RING_ARG_TEXT_MAX];
		size_t length = x->args < RING_ARGUMENTS ? arg_encode(&args[i], bytes) : 0;

		if (!length || x->bytes + length > sizeof x->byte) {
			left++;
			continue;
		}
		memcpy(x->byte + x->bytes, bytes, length);
		x->bytes += (uint32_t)length;
		x->args++;
	}
	count_left(left);
}

static void args_slots(const struct encoded *x, struct span_more *more)
{
	const size_t size = sizeof(struct ring_slot);

	more->n = (uint32_t)((x->bytes + size - 1) / size);
	memcpy(more->u.bytes, x->byte, x->bytes);
	memset(more->u.bytes + x->bytes, 0, more->n * size - x->bytes);
}

/* ---- arguments since the begin ---- */

enum { CARRIED_MAX = 4096, CARRIED_TRIES = 8 };
#define CARRIED_TAKEN UINT64_C(1) /* it is being written */

/* Of spans that are open, near the place that their handle gives. */
static struct carried {
	uint64_t handle[CARRIED_MAX]; /* 0: free */
	struct encoded args[CARRIED_MAX];
} * carried; /* NULL: none was ever wanted */
int span_carries;

static bool carried_map(void)
{
	sigset_t before;

	if (__atomic_load_n(&carried, __ATOMIC_ACQUIRE))
		return true;
	span_lock(&before);
	if (!carried) {
		void *memory = mmap(NULL, sizeof *carried, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (memory != MAP_FAILED)
			__atomic_store_n(&carried, memory, __ATOMIC_RELEASE);
		__atomic_store_n(&span_carries, carried != NULL, __ATOMIC_RELEASE);
	}
	span_unlock(&before);
	return carried != NULL;
}

void span_carried_fork(void)
{
	if (carried)
		munmap(carried, sizeof *carried);
	carried = NULL;
	span_carries = 0;
}

/* The place whose handle is that, which becomes the other one; -1: there is none. */
static int place_change(uint64_t near, uint64_t handle, uint64_t to)
{
	uint64_t at = (near * UINT64_C(0x9e3779b97f4a7c15)) >> 32;

	for (uint64_t i = 0; i < CARRIED_TRIES; i++) {
		uint64_t *place = &carried->handle[(at + i) % CARRIED_MAX], wanted = handle;

		if (__atomic_load_n(place, __ATOMIC_RELAXED) == handle &&
		    __atomic_compare_exchange_n(place, &wanted, to, false, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return (int)((at + i) % CARRIED_MAX);
	}
	return -1;
}

static void carry(uint64_t handle, const struct sonde_arg *args, uint32_t n)
{
	int at;

	if (!handle || !n)
		return;
	at = carried_map() ? place_change(handle, 0, CARRIED_TAKEN) : -1;
	if (at < 0) {
		count_left(n);
		return;
	}
	carried->args[at].args = carried->args[at].bytes = 0;
	args_add(&carried->args[at], args, n);
	__atomic_store_n(&carried->handle[at], handle, __ATOMIC_RELEASE);
}

/* Those of a span, which has none from now on. */
static void carried_take(uint64_t handle, struct encoded *x)
{
	bool any = __atomic_load_n(&carried, __ATOMIC_ACQUIRE) && handle;
	int at = any ? place_change(handle, handle, CARRIED_TAKEN) : -1;

	x->args = x->bytes = 0;
	if (at < 0)
		return;
	x->args = carried->args[at].args;
	x->bytes = carried->args[at].bytes;
	memcpy(x->byte, carried->args[at].byte, x->bytes);
	__atomic_store_n(&carried->handle[at], 0, __ATOMIC_RELEASE);
}

uint64_t sonde_begin_with(uint32_t name, const struct sonde_arg *args, uint32_t nargs)
{
	uint64_t handle = sonde_begin(name);

	carry(handle, args, nargs);
	return handle;
}

uint64_t sonde_span_begin_with(uint32_t name, uint64_t around, const struct sonde_arg *args,
			       uint32_t nargs)
{
	uint64_t handle = sonde_span_begin(name, around);

	carry(handle, args, nargs);
	return handle;
}

/* ---- ends ---- */

static void end_with(uint64_t handle, const struct sonde_arg *args, uint32_t nargs)
{
	struct encoded x;
	struct span_more more;

	carried_take(handle, &x);
	args_add(&x, args, nargs);
	args_slots(&x, &more);
	span_end_more(handle, more.n ? &more : NULL);
}

void span_carried_end(uint64_t handle)
{
	end_with(handle, NULL, 0);
}

void sonde_span_end_with(uint64_t span, const struct sonde_arg *args, uint32_t nargs)
{
	if (span)
		end_with(span, args, nargs);
}

void sonde_mark_with(uint32_t name, const struct sonde_arg *args, uint32_t nargs)
{
	struct ring_thread *r = span_ring();
	struct ring_slot slot = { span_now_ns(), 0, name, RING_MARK };
	struct encoded x;
	struct span_more more;

	if (!r)
		return;
	x.args = x.bytes = 0;
	args_add(&x, args, nargs);
	args_slots(&x, &more);
	span_publish_with(r, slot, &more);
}

/* ---- between processes ---- */

/* FNV-1a: the same in each process. */
static uint64_t sum_of(uint64_t before, const void *data, size_t n)
{
	const unsigned char *at = data;

	for (size_t i = 0; i < n; i++)
		before = (before ^ at[i]) * UINT64_C(0x100000001b3);
	return before;
}
#define SUM_OF_NOTHING UINT64_C(0xcbf29ce484222325)

/* Of this machine since it was started, the same in each process; never 0. */
static uint64_t machine(void)
{
	static _Atomic uint64_t known;
	uint64_t sum = known;
	char id[64];
	ssize_t n;
	int fd;

	if (sum)
		return sum;
	fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	n = fd >= 0 ? read(fd, id, sizeof id) : -1;
	if (fd >= 0)
		close(fd);
	sum = sum_of(SUM_OF_NOTHING, id, n > 0 ? (size_t)n : 0);
	sum += !sum;
	known = sum;
	return sum;
}

/* The process, when it made its first one, and how many it has made. A child of a fork has its
 * parent's count, and another pid. */
uint64_t sonde_flow(void)
{
	static _Atomic uint64_t made;
	static _Atomic int64_t since;
	int64_t none = 0;
	uint64_t of[4] = { machine(), (uint64_t)getpid(), 0, ++made };
	uint64_t flow;

	if (!since)
		atomic_compare_exchange_strong(&since, &none, span_now_ns());
	of[2] = (uint64_t)since;
	flow = sum_of(SUM_OF_NOTHING, of, sizeof of);
	return flow + !flow;
}

bool sonde_span_pass(uint64_t span, struct sonde_passed *passed)
{
	struct encoded x;
	uint32_t name;

	*passed = (struct sonde_passed){ 0 };
	carried_take(span, &x);
	count_left(x.args);
	if (!span || !span_forget(span, &passed->began_ns, &name))
		return false;
	span_name_text(name, passed->name);
	passed->machine = machine();
	return true;
}

uint64_t sonde_span_take(const struct sonde_passed *passed)
{
	char name[sizeof passed->name];

	if (!SONDE_SPANS_WANTED || passed->machine != machine() || passed->began_ns < 0 ||
	    passed->began_ns > span_now_ns())
		return 0;
	memcpy(name, passed->name, sizeof name);
	name[sizeof name - 1] = '\0';
	return span_begin_at(sonde_name(name), 0, passed->began_ns);
}
