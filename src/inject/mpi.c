/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi.c - what a process does with MPI: its calls are counted and timed, and go on to the library.
 *
 * One file for every MPI and language, without mpi.h: arguments are passed on as the words that
 * they came as, handles are never looked into, and what they are is asked of the library itself.
 * Only what is not within another call of MPI counts. All of it is for x86-64 and aarch64, whose
 * calls pass more words than a function takes without harm.
 */
#include "inject/mpi_library.h"
#include "lib/span.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	LONG_NS = 10000000, /* a call as long is a span, too */
	STATUS_BYTES = 256, /* more than any MPI_Status */
	SMALL = 4096,       /* no address */
	NS_PER_US = 1000,
};

static struct ring_mpi *shared; /* NULL: nobody records */
static uint32_t shared_forks;   /* of the process that has it */
static uint64_t keys[RING_CALLS_MAX];

static __thread bool inside FAST_TLS, is_main FAST_TLS;

/* ---- what a call says of itself ---- */

static bool is_fortran(enum language language)
{
	return language > LANGUAGE_LARGE;
}

/* An argument as C passes it: Fortran passes where it is. */
static int number_at(const word *w, uint8_t at, enum language language)
{
	return is_fortran(language) ? *(const int *)w[at - 1] : (int)w[at - 1];
}

static int64_t count_at(const word *w, uint8_t at, enum language language)
{
	return language == LANGUAGE_LARGE ? (int64_t)w[at - 1] : number_at(w, at, language);
}

/* The i-th of an array of counts. */
static int64_t count_in(const word *w, uint8_t at, int i, enum language language)
{
	return language == LANGUAGE_LARGE ? ((const int64_t *)w[at - 1])[i]
					  : ((const int *)w[at - 1])[i];
}

static word handle_of(word in_c, const int *in_fortran, enum language language,
		      word (*f2c)(int handle))
{
	if (!is_fortran(language))
		return in_c;
	return f2c ? f2c(*in_fortran) : *in_fortran;
}

static word comm_at(const word *w, uint8_t at, enum language language)
{
	return handle_of(w[at - 1], (const int *)w[at - 1], language, library.comm_f2c);
}

static uint64_t size_of(word type)
{
	int size = 0;

	return library.type_size(type, &size) || size < 0 ? 0 : (uint64_t)size;
}

static uint64_t size_at(const word *w, uint8_t at, enum language language)
{
	return size_of(handle_of(w[at - 1], (const int *)w[at - 1], language, library.type_f2c));
}

/* One of an array of types: pointers, or ints as in MPICH and Fortran. */
static uint64_t size_in(const word *w, uint8_t at, int i, enum language language)
{
	const int *ints = (const int *)w[at - 1];
	const word *words = (const word *)w[at - 1];

	if (!is_fortran(language))
		return size_of(library.world == MPICH_WORLD ? ints[i] : words[i]);
	return size_of(handle_of(0, &ints[i], language, library.type_f2c));
}

static uint64_t array_bytes(const word *w, const struct shape *s, const struct comm *c,
			    enum language language, bool in_place)
{
	uint8_t at = in_place ? s->place_count : s->count,
		type = in_place ? s->place_type : s->type;
	uint64_t sum = 0;

	for (int i = 0; i < c->size; i++) {
		int64_t n = count_in(w, at, i, language);

		if (n > 0)
			sum += (uint64_t)n * (s->flags & TYPES ? size_in(w, type, i, language) : 1);
	}
	return sum && !(s->flags & TYPES) ? sum * size_at(w, type, language) : sum;
}

static bool is_in_place(word buffer)
{
	return buffer == 1 || buffer == -1 || constant_is(&library.in_place, buffer);
}

/* What it hands over, or what a root gives it. c: NULL where it has no communicator. */
static uint64_t given_bytes(const word *w, const struct shape *s, const struct comm *c,
			    enum language language)
{
	bool in_place = s->place && is_in_place(w[s->place - 1]);
	uint8_t at = in_place ? s->place_count : s->count,
		type = in_place ? s->place_type : s->type;
	int64_t count;

	if (!at || (c ? c->inter : s->flags != 0))
		return 0;
	if (s->flags & ARRAY)
		return array_bytes(w, s, c, language, in_place);
	if (in_place && s->flags & OWN)
		count = count_in(w, at, c->rank, language);
	else
		count = count_at(w, at, language);
	if (count <= 0 || (s->peer && number_at(w, s->peer, language) < 0))
		return 0;
	return (uint64_t)count * size_at(w, type, language) *
	       (c && s->flags & PER_RANK ? (uint64_t)c->size : 1);
}

static uint64_t received_bytes(const word *w, const struct shape *s, enum language language)
{
	word type = handle_of(w[s->received_type - 1], (const int *)w[s->received_type - 1],
			      language, library.type_f2c);
	int64_t many = 0;
	int few = 0;

	if (library.get_count_large ? library.get_count_large(w[s->status - 1], type, &many)
				    : library.get_count(w[s->status - 1], type, &few))
		return 0;
	many += few;
	return many > 0 ? (uint64_t)many * size_of(type) : 0;
}

/* ---- what is counted ---- */

static void add(uint64_t *to, uint64_t more)
{
	__atomic_fetch_add(to, more, __ATOMIC_RELAXED);
}

static struct ring_call *call_make(uint32_t i, enum call k, uint32_t ranks, uint32_t size_log2)
{
	struct ring_call *c = &shared->call[i];

	c->ranks = ranks;
	c->size_log2 = size_log2;
	c->least_ns = UINT64_MAX;
	snprintf(c->name, sizeof c->name, "MPI_%s",
		 k < CALL_NUMBER_OF ? mpi_calls[k].name : "(others)");
	__atomic_store_n(&c->named, 1, __ATOMIC_RELEASE);
	return c;
}

/* The place of its kind. The last one is everybody's who finds none. */
static struct ring_call *call_of(enum call k, uint32_t ranks, uint32_t size_log2)
{
	uint64_t key = (uint64_t)ranks << 32 | size_log2 << 16 | (uint32_t)(k + 1);
	uint32_t i = (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 56) % RING_CALLS_MAX;
	sigset_t before;

	for (uint32_t n = 0; n < RING_CALLS_MAX - 1; n++, i = (i + 1) % (RING_CALLS_MAX - 1)) {
		uint64_t here = __atomic_load_n(&keys[i], __ATOMIC_ACQUIRE);

		if (!here) {
			span_lock(&before);
			here = keys[i];
			if (!here) {
				call_make(i, k, ranks, size_log2);
				here = key;
				__atomic_store_n(&keys[i], key, __ATOMIC_RELEASE);
			}
			span_unlock(&before);
		}
		if (here == key)
			return &shared->call[i];
	}
	return &shared->call[RING_CALLS_MAX - 1];
}

static void peer_add(uint32_t rank, uint64_t bytes)
{
	uint32_t i = rank % RING_PEERS_MAX;

	for (uint32_t n = 0; n < RING_PEERS_MAX; n++, i = (i + 1) % RING_PEERS_MAX) {
		struct ring_peer *p = &shared->peer[i];
		uint32_t none = 0;

		if (__atomic_compare_exchange_n(&p->rank, &none, rank + 1, false, __ATOMIC_ACQ_REL,
						__ATOMIC_ACQUIRE) ||
		    none == rank + 1) {
			add(&p->messages, 1);
			add(&p->bytes, bytes);
			return;
		}
	}
	add(&shared->other_messages, 1);
	add(&shared->other_bytes, bytes);
}

static void span_put(enum call k, int64_t from_ns, int64_t to_ns)
{
	static uint32_t names[CALL_NUMBER_OF];
	struct ring_thread *r = span_ring();
	char name[40];

	if (!r)
		return;
	if (!names[k]) {
		snprintf(name, sizeof name, "MPI_%s", mpi_calls[k].name);
		names[k] = sonde_name(name);
	}
	span_publish(r, (struct ring_slot){ from_ns, to_ns, names[k], RING_SPAN });
}

static uint32_t log2_above(uint64_t bytes)
{
	return bytes < 2 ? 0 : 64 - (uint32_t)__builtin_clzll(bytes - 1);
}

static void count(enum call k, const word *w, enum language language, int64_t from_ns,
		  int64_t to_ns)
{
	const struct shape *s = &mpi_calls[k].shape;
	const struct comm *c = s->comm ? comm_of(comm_at(w, s->comm, language)) : NULL;
	uint64_t given = given_bytes(w, s, c, language), took = (uint64_t)(to_ns - from_ns);
	uint64_t bytes = given + (s->status ? received_bytes(w, s, language) : 0);
	struct ring_call *at =
		call_of(k, c && !c->inter ? (uint32_t)c->size : 0, log2_above(bytes));

	add(&at->calls, 1);
	add(&at->ns, took);
	add(&at->bytes, bytes);
	if (from_ns > shared->began_ns)
		add(&at->arrived_us, (uint64_t)(from_ns - shared->began_ns) / NS_PER_US);
	if (took < __atomic_load_n(&at->least_ns, __ATOMIC_RELAXED))
		__atomic_store_n(&at->least_ns, took, __ATOMIC_RELAXED);
	if (s->peer && c && !c->inter) {
		int peer = number_at(w, s->peer, language);

		if (peer >= 0 && peer < c->size)
			peer_add((uint32_t)(c->world ? c->world[peer] : peer), given);
	}
	if (took >= LONG_NS)
		span_put(k, from_ns, to_ns);
}

/* ---- the beginning and the end ---- */

static struct ring_mpi *shared_map(void)
{
	struct ring_mpi *x = NULL;
	sigset_t before;

	if (!span_ring())
		return NULL;
	span_lock(&before);
	if (span_head())
		x = span_map(ring_mpi_at(), (sizeof *x + RING_PAGE - 1) / RING_PAGE * RING_PAGE);
	span_unlock(&before);
	return x;
}

/* MPI has begun in this thread. Where nobody records, or the library is not as it should be, calls
 * go on to it and nothing else is done. */
static void begin(enum call k, int64_t from_ns, int64_t to_ns)
{
	struct ring_mpi *x;
	int rank = 0, ranks = 0;

	x = library_look() ? shared_map() : NULL;
	if (!x || library.comm_rank(library.world, &rank) ||
	    library.comm_size(library.world, &ranks))
		return;
	x->rank = (uint32_t)rank;
	x->ranks = (uint32_t)ranks;
	x->began_ns = to_ns;
	span_head()->rank = (uint32_t)rank + 1;
	shared = x;
	shared_forks = span_forks;
	is_main = true;
	call_make(RING_CALLS_MAX - 1, CALL_NUMBER_OF, 0, 0);
	count(k, (const word[WORDS]){ 0 }, LANGUAGE_C, from_ns, to_ns);
}

static bool is_init(enum call k)
{
	return k == CALL_Init || k == CALL_Init_thread;
}

static int pass(function f, const word *w)
{
	return f(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11], w[12],
		 w[13]);
}

/* What was received is in its status: a program that does not want one gets one of ours. */
static void want_status(const struct shape *s, word *w, enum language language, void *ours)
{
	word *status = &w[s->status - 1];

	if (!is_fortran(language) ? (uintptr_t)*status < SMALL
				  : constant_is(&library.status_ignore, *status))
		*status = (word)ours;
}

static int counted(enum call k, word *w, enum language language, function f)
{
	_Alignas(16) char status[STATUS_BYTES];
	bool frees = k == CALL_Comm_free || k == CALL_Comm_disconnect, ends = k == CALL_Finalize;
	int64_t from_ns, to_ns;
	int rc;

	if (mpi_calls[k].shape.status)
		want_status(&mpi_calls[k].shape, w, language, status);
	from_ns = span_now_ns();
	if (ends)
		shared->ended_ns = from_ns;
	else if (is_main)
		__atomic_store_n(&shared->open_ns, from_ns, __ATOMIC_RELAXED);
	rc = pass(f, w);
	to_ns = span_now_ns();
	if (is_main && !ends) {
		__atomic_store_n(&shared->open_ns, 0, __ATOMIC_RELEASE);
		shared->inside_ns += to_ns - from_ns;
	}
	if (frees)
		comms_forget();
	if (!ends && (is_fortran(language) || !rc))
		count(k, w, language, from_ns, to_ns);
	return rc;
}

/* MPI_Init and its like, which may be called once. */
static int begun(enum call k, const word *w, function f)
{
	int64_t from_ns = span_now_ns();
	int rc = pass(f, w);

	begin(k, from_ns, span_now_ns());
	return rc;
}

static int call_by(function f, enum call k, word *w, enum language language)
{
	int rc;

	if (inside || (!is_init(k) && (!shared || shared_forks != span_forks)))
		return pass(f, w);
	inside = true;
	rc = is_init(k) ? begun(k, w, f) : counted(k, w, language, f);
	inside = false;
	return rc;
}

/* ---- counts of 64 bits for a library that has none ----
 *
 * A program that asks whether it has them, as mpi4py, finds these functions. */

static bool fits(const struct shape *s, const word *w)
{
	static const uint8_t received = 7; /* of MPI_Sendrecv, the one with two counts */
	const uint8_t at[] = { s->wide ? 0 : s->count,
			       s->wide & 1 << s->place_count ? 0 : s->place_count,
			       s->received_type == received + 1 ? received : 0 };

	for (size_t i = 0; i < sizeof at; i++)
		if (at[i] && w[at[i] - 1] != (int)w[at[i] - 1])
			return false;
	return true;
}

/* An array as int; false: it has numbers that are none. */
static bool narrow(word *array, int *out, int n)
{
	const int64_t *numbers = (const int64_t *)*array;

	for (int i = 0; i < n; i++) {
		out[i] = (int)numbers[i];
		if (out[i] != numbers[i])
			return false;
	}
	*array = (word)out;
	return true;
}

static int call_narrow(function f, enum call k, word *w)
{
	const struct shape *s = &mpi_calls[k].shape;
	const struct comm *c = s->wide ? comm_of(w[s->comm - 1]) : NULL;
	bool in_place = s->place && is_in_place(w[s->place - 1]), fit = fits(s, w);
	int *room = NULL, n = 0, rc = ERROR_OTHER;

	if (c && (!s->root || (int)w[s->root - 1] == c->rank))
		room = malloc(4 * (size_t)c->size * sizeof *room);
	for (int at = 1; room && fit && at < WORDS; at++)
		if (s->wide & 1 << at && !(in_place && !s->root && at < s->place_count))
			fit = narrow(&w[at - 1], room + n++ * c->size, c->size);
	if (fit)
		rc = call_by(f, k, w, LANGUAGE_C);
	free(room);
	return rc;
}

static int call(enum call k, word *w, enum language language)
{
	function f = library_function(language, k);

	if (f)
		return call_by(f, k, w, language);
	f = language == LANGUAGE_LARGE ? library_function(LANGUAGE_C, k) : NULL;
	return f ? call_narrow(f, k, w) : ERROR_OTHER;
}

#define TAKEN                                                                                      \
	word a, word b, word c, word d, word e, word f, word g, word h, word i, word j, word k,    \
		word l, word m, word n
#define GIVEN                                                                                      \
	(word[WORDS])                                                                              \
	{                                                                                          \
		a, b, c, d, e, f, g, h, i, j, k, l, m, n                                           \
	}
#define PUBLIC __attribute__((visibility("default")))

#define CALL(name, lower, shape)                                                                   \
	PUBLIC int MPI_##name(TAKEN);                                                              \
	PUBLIC int MPI_##name(TAKEN)                                                               \
	{                                                                                          \
		return call(CALL_##name, GIVEN, LANGUAGE_C);                                       \
	}                                                                                          \
	PUBLIC int mpi_##lower##_(TAKEN);                                                          \
	PUBLIC int mpi_##lower##_(TAKEN)                                                           \
	{                                                                                          \
		return call(CALL_##name, GIVEN, LANGUAGE_FORTRAN);                                 \
	}                                                                                          \
	PUBLIC int mpi_##lower##_f08_(TAKEN);                                                      \
	PUBLIC int mpi_##lower##_f08_(TAKEN)                                                       \
	{                                                                                          \
		return call(CALL_##name, GIVEN, LANGUAGE_F08);                                     \
	}
#define LARGE(name, lower, shape)                                                                  \
	PUBLIC int MPI_##name##_c(TAKEN);                                                          \
	PUBLIC int MPI_##name##_c(TAKEN)                                                           \
	{                                                                                          \
		return call(CALL_##name, GIVEN, LANGUAGE_LARGE);                                   \
	}                                                                                          \
	CALL(name, lower, shape)
#include "inject/mpi_calls.def"
