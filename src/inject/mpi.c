/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi.c - what a process does with MPI: its calls are counted and timed, and go on to the library.
 *
 * One file for every MPI and language, without mpi.h: arguments are passed on as the words that
 * they came as, handles are never looked into, and what they are is asked of the library itself.
 * Only what is not within another call of MPI counts. All of it is for x86-64 and aarch64, whose
 * calls pass more words than a function takes without harm.
 */
#include "lib/span.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	LONG_NS = 1000000,  /* a call as long is a span, too */
	WORDS = 14,         /* arguments of a call at most: Fortran's MPI_Sendrecv has 13 */
	COMMS = 8,          /* that a thread knows at a time */
	ERROR_OTHER = 16,   /* MPI_ERR_OTHER or its neighbour: not success */
	STATUS_BYTES = 256, /* more than any MPI_Status */
	SMALL = 4096,       /* no address */
	MPICH_WORLD = 0x44000000,
	ABI_WORLD = 0x101,
	NS_PER_US = 1000,
};

typedef intptr_t word;
typedef int (*function)(word, word, word, word, word, word, word, word, word, word, word, word, word,
			word);

enum call {
#define CALL(name, lower, shape) CALL_##name,
#include "inject/mpi_calls.def"
	CALL_NUMBER_OF
};

enum language { LANGUAGE_C, LANGUAGE_FORTRAN, LANGUAGE_F08, LANGUAGE_NUMBER_OF };

/* How a count is meant. */
enum {
	PER_RANK = 1, /* for each rank */
	ARRAY = 2,    /* an array of counts, one for each rank */
	TYPES = 4,    /* ... and of types */
	OWN = 8,      /* of an array, that of this rank; where the buffer is in place */
};

/* Where arguments are, from 1; 0: there is none. */
struct shape {
	uint8_t count, type, peer, comm, flags;
	uint8_t status, received_type;         /* what it received is asked of its status */
	uint8_t place, place_count, place_type; /* of a buffer in place these hold */
};

#define NOTHING   .count = 0
#define AT_1      .comm = 1
#define AT_3      .comm = 3
#define AT_6      .comm = 6
#define SEND      .count = 2, .type = 3, .peer = 4, .comm = 6
#define RECV      .comm = 6, .status = 7, .received_type = 3
#define MRECV     .status = 5, .received_type = 3
#define SENDRECV  .count = 2, .type = 3, .peer = 4, .comm = 11, .status = 12, .received_type = 8
#define SENDRECV_REPLACE                                                                           \
	.count = 2, .type = 3, .peer = 4, .comm = 8, .status = 9, .received_type = 3
#define BCAST                .count = 2, .type = 3, .comm = 5
#define REDUCE               .count = 3, .type = 4, .comm = 7
#define ALLREDUCE            .count = 3, .type = 4, .comm = 6
#define REDUCE_SCATTER       .count = 3, .type = 4, .comm = 6, .flags = ARRAY
#define REDUCE_SCATTER_BLOCK .count = 3, .type = 4, .comm = 6, .flags = PER_RANK
#define IN_PLACE(place_, count_, type_) .place = place_, .place_count = count_, .place_type = type_
#define GATHER     .count = 2, .type = 3, .comm = 8, IN_PLACE(1, 5, 6)
#define GATHERV    .count = 2, .type = 3, .comm = 9, .flags = OWN, IN_PLACE(1, 5, 7)
#define SCATTER    .count = 5, .type = 6, .comm = 8, IN_PLACE(4, 2, 3)
#define SCATTERV   .count = 6, .type = 7, .comm = 9, .flags = OWN, IN_PLACE(5, 2, 4)
#define ALLGATHER  .count = 2, .type = 3, .comm = 7, IN_PLACE(1, 5, 6)
#define ALLGATHERV .count = 2, .type = 3, .comm = 8, .flags = OWN, IN_PLACE(1, 5, 7)
#define ALLTOALL   .count = 2, .type = 3, .comm = 7, .flags = PER_RANK, IN_PLACE(1, 5, 6)
#define ALLTOALLV  .count = 2, .type = 4, .comm = 9, .flags = ARRAY, IN_PLACE(1, 6, 8)
#define ALLTOALLW  .count = 2, .type = 4, .comm = 9, .flags = ARRAY | TYPES, IN_PLACE(1, 6, 8)
#define ONE_SIDED  .count = 2, .type = 3
#define IN_FILE    .count = 3, .type = 4
#define AT_OFFSET  .count = 4, .type = 5

static const struct {
	const char *name, *lower;
	struct shape shape;
} calls[] = {
#define CALL(name_, lower_, ...) { .name = #name_, .lower = #lower_, .shape = { __VA_ARGS__ } },
#include "inject/mpi_calls.def"
};

/* What is asked of the library itself. */
static struct {
	function of[LANGUAGE_NUMBER_OF][CALL_NUMBER_OF];
	void *handle; /* of the library, where it is not among those that the program began with */
	bool looked;
	int (*type_size)(word type, int *size);
	int (*get_count)(word status, word type, int *count);
	int (*comm_size)(word comm, int *size);
	int (*comm_rank)(word comm, int *rank);
	int (*comm_test_inter)(word comm, int *inter);
	int (*comm_group)(word comm, word *group);
	int (*group_free)(word *group);
	int (*group_translate)(word group, int n, const int *ranks, word other, int *out);
	word (*comm_f2c)(int comm); /* NULL: handles of C and of Fortran are the same */
	word (*type_f2c)(int type);
	word world;
	/* Fortran's: an object of Open MPI, what points to one of MPICH; NULL: not known */
	struct constant {
		void *object, **pointer;
	} in_place, status_ignore;
} library;

static struct ring_mpi *shared; /* NULL: nobody records */
static uint32_t shared_forks;   /* of the process that has it */
static uint64_t keys[RING_CALLS_MAX];

/* A communicator as this thread last saw it. */
struct comm {
	word handle;
	uint32_t generation; /* when; 0: none */
	int size, rank;
	bool inter;
	int *world; /* rank of each in all; NULL: the same number, or not known */
};

static uint32_t generation = 1; /* communicators that were freed may have been these */
static __thread struct comm comms[COMMS] FAST_TLS;
static __thread bool inside FAST_TLS, is_main FAST_TLS;

/* ---- the library ---- */

enum { LIBRARIES_MAX = 32, NAME_MAX_HERE = 256 };
struct libraries {
	char name[LIBRARIES_MAX][NAME_MAX_HERE];
	uint32_t n;
};

static int look_at(struct dl_phdr_info *info, size_t size, void *context)
{
	struct libraries *l = context;
	const char *base = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;

	(void)size;
	if (base && strstr(base, "mpi") && l->n < LIBRARIES_MAX &&
	    strlen(info->dlpi_name) < NAME_MAX_HERE)
		snprintf(l->name[l->n++], NAME_MAX_HERE, "%s", info->dlpi_name);
	return 0;
}

/* A library that a program loaded for itself, as mpi4py does, is in no place that is searched. */
static void *find_handle(void)
{
	struct libraries l;
	void *handle = NULL;

	l.n = 0;
	dl_iterate_phdr(look_at, &l);
	for (uint32_t i = 0; i < l.n && !handle; i++) {
		handle = dlopen(l.name[i], RTLD_LAZY | RTLD_NOLOAD);
		if (handle && !dlsym(handle, "PMPI_Init")) {
			dlclose(handle);
			handle = NULL;
		}
	}
	return handle;
}

/* Behind this library: that of a tool that looks on as well, which calls the library's own. */
static void *find(const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);

	if (!found && !library.handle)
		library.handle = find_handle();
	return found || !library.handle ? found : dlsym(library.handle, name);
}

/* Of an object the program itself may have the only copy. */
static void *find_object(const char *name)
{
	void *found = dlsym(RTLD_DEFAULT, name);

	return found ? found : find(name);
}

static word find_world(void)
{
	void *open_mpi = find_object("ompi_mpi_comm_world");

	if (open_mpi)
		return (word)open_mpi;
	return find("MPI_Abi_get_version") && !find("MPIR_Err_create_code") ? ABI_WORLD
									     : MPICH_WORLD;
}

static struct constant find_constant(const char *open_mpi, const char *mpich)
{
	struct constant c = { .object = find_object(open_mpi) };

	if (!c.object)
		c.pointer = find_object(mpich);
	return c;
}

/* What MPICH's points to is there with the first call of Fortran. */
static bool is_constant(const struct constant *c, word w)
{
	void *object = c->pointer ? *c->pointer : c->object;

	return object && (word)object == w;
}

/* As a function, of which C has no conversion. */
static function find_function(const char *name)
{
	void *found = find(name);
	function f;

	memcpy(&f, &found, sizeof f);
	return f;
}

#define FIND(member, name) library.member = (__typeof__(library.member))(void (*)(void))find_function(name)

static void look_for_library(void)
{
	FIND(type_size, "PMPI_Type_size");
	FIND(get_count, "PMPI_Get_count");
	FIND(comm_size, "PMPI_Comm_size");
	FIND(comm_rank, "PMPI_Comm_rank");
	FIND(comm_test_inter, "PMPI_Comm_test_inter");
	FIND(comm_group, "PMPI_Comm_group");
	FIND(group_free, "PMPI_Group_free");
	FIND(group_translate, "PMPI_Group_translate_ranks");
	library.world = find_world();
	if (library.world != MPICH_WORLD) {
		FIND(comm_f2c, "PMPI_Comm_f2c");
		FIND(type_f2c, "PMPI_Type_f2c");
	}
	library.in_place = find_constant("mpi_fortran_in_place_", "MPIR_F_MPI_IN_PLACE");
	library.status_ignore = find_constant("mpi_fortran_status_ignore_", "MPI_F_STATUS_IGNORE");
}

static void name_of(enum language language, enum call k, const char *prefix, char out[64])
{
	static const char *const behind[] = { "", "_", "_f08_" };

	if (language == LANGUAGE_C)
		snprintf(out, 64, "%sMPI_%s", *prefix ? "P" : "", calls[k].name);
	else
		snprintf(out, 64, "%smpi_%s%s", prefix, calls[k].lower, behind[language]);
}

/* NULL: there is none, and who calls it has no library of MPI. */
static function real(enum language language, enum call k)
{
	function f = __atomic_load_n(&library.of[language][k], __ATOMIC_RELAXED);
	char name[64];

	if (f)
		return f;
	name_of(language, k, "", name);
	f = find_function(name);
	if (!f) {
		name_of(language, k, "p", name);
		f = find_function(name);
	}
	__atomic_store_n(&library.of[language][k], f, __ATOMIC_RELAXED);
	return f;
}

/* ---- communicators ---- */

/* The ranks of a communicator among all. */
static void translate(struct comm *c)
{
	int *ranks = malloc(2 * (size_t)c->size * sizeof *ranks);
	word of = 0, all = 0;
	bool same = true;

	if (!ranks || library.comm_group(c->handle, &of) ||
	    library.comm_group(library.world, &all)) {
		free(ranks);
		return;
	}
	for (int i = 0; i < c->size; i++)
		ranks[c->size + i] = i;
	if (library.group_translate(of, c->size, ranks + c->size, all, ranks) == 0)
		for (int i = 0; i < c->size; i++)
			same = same && ranks[i] == i;
	library.group_free(&of);
	library.group_free(&all);
	if (same)
		free(ranks);
	else
		c->world = ranks;
}

static void comm_learn(struct comm *c, word handle, uint32_t now)
{
	int inter = 1;

	free(c->world);
	*c = (struct comm){ .handle = handle, .generation = now };
	if (library.comm_test_inter(handle, &inter) || library.comm_size(handle, &c->size) ||
	    library.comm_rank(handle, &c->rank) || c->size < 1)
		inter = 1;
	c->inter = inter;
	if (!inter && handle != library.world)
		translate(c);
}

/* Handles of MPICH are ints, of which a word has more bits. */
static const struct comm *comm_of(word handle)
{
	uint32_t now = __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
	struct comm *c;

	if (library.world == MPICH_WORLD)
		handle = (int)handle;
	c = &comms[(uint64_t)handle * UINT64_C(0x9e3779b97f4a7c15) >> 61];
	if (c->generation != now || c->handle != handle)
		comm_learn(c, handle, now);
	return c;
}

/* ---- what a call says of itself ---- */

/* An argument as C passes it: Fortran passes where it is. */
static int number_at(const word *w, uint8_t at, enum language language)
{
	return language == LANGUAGE_C ? (int)w[at - 1] : *(const int *)w[at - 1];
}

static word handle_of(word in_c, const int *in_fortran, enum language language,
		      word (*f2c)(int handle))
{
	if (language == LANGUAGE_C)
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

	if (language == LANGUAGE_C)
		return size_of(library.world == MPICH_WORLD ? ints[i] : words[i]);
	return size_of(handle_of(0, &ints[i], language, library.type_f2c));
}

static uint64_t array_bytes(const word *w, const struct shape *s, const struct comm *c,
			    enum language language, bool in_place)
{
	uint8_t at = in_place ? s->place_count : s->count, type = in_place ? s->place_type : s->type;
	const int *counts = (const int *)w[at - 1];
	uint64_t sum = 0;

	for (int i = 0; i < c->size; i++)
		if (counts[i] > 0 && s->flags & TYPES)
			sum += (uint64_t)counts[i] * size_in(w, type, i, language);
		else if (counts[i] > 0)
			sum += (uint64_t)counts[i];
	return sum && !(s->flags & TYPES) ? sum * size_at(w, type, language) : sum;
}

static bool is_in_place(word buffer)
{
	return buffer == 1 || buffer == -1 || is_constant(&library.in_place, buffer);
}

/* What it hands over, or what a root gives it. c: NULL where it has no communicator. */
static uint64_t given_bytes(const word *w, const struct shape *s, const struct comm *c,
			    enum language language)
{
	bool in_place = s->place && is_in_place(w[s->place - 1]);
	uint8_t at = in_place ? s->place_count : s->count, type = in_place ? s->place_type : s->type;
	int64_t count;

	if (!at || (c && c->inter))
		return 0;
	if (s->flags & ARRAY)
		return array_bytes(w, s, c, language, in_place);
	if (in_place && s->flags & OWN)
		count = ((const int *)w[at - 1])[c->rank];
	else
		count = number_at(w, at, language);
	if (count <= 0 || (s->peer && number_at(w, s->peer, language) < 0))
		return 0;
	return (uint64_t)count * size_at(w, type, language) *
	       (s->flags & PER_RANK ? (uint64_t)c->size : 1);
}

static uint64_t received_bytes(const word *w, const struct shape *s, enum language language)
{
	word type = handle_of(w[s->received_type - 1], (const int *)w[s->received_type - 1],
			      language, library.type_f2c);
	int count = 0;

	if (library.get_count(w[s->status - 1], type, &count) || count <= 0)
		return 0;
	return (uint64_t)count * size_of(type);
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
	snprintf(c->name, sizeof c->name, "MPI_%s", k < CALL_NUMBER_OF ? calls[k].name : "(others)");
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
		snprintf(name, sizeof name, "MPI_%s", calls[k].name);
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
	const struct shape *s = &calls[k].shape;
	const struct comm *c = s->comm ? comm_of(comm_at(w, s->comm, language)) : NULL;
	uint64_t given = given_bytes(w, s, c, language), took = (uint64_t)(to_ns - from_ns);
	uint64_t bytes = given + (s->status ? received_bytes(w, s, language) : 0);
	struct ring_call *at = call_of(k, c && !c->inter ? (uint32_t)c->size : 0, log2_above(bytes));

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

static bool is_whole(void)
{
	return library.type_size && library.get_count && library.comm_size && library.comm_rank &&
	       library.comm_test_inter && library.comm_group && library.group_free &&
	       library.group_translate;
}

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

	look_for_library();
	x = is_whole() ? shared_map() : NULL;
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
	return f(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11],
		 w[12], w[13]);
}

/* What was received is in its status: a program that does not want one gets one of ours. */
static void want_status(const struct shape *s, word *w, enum language language, void *ours)
{
	word *status = &w[s->status - 1];

	if (language == LANGUAGE_C ? (uintptr_t)*status < SMALL
				   : is_constant(&library.status_ignore, *status))
		*status = (word)ours;
}

static int counted(enum call k, word *w, enum language language, function f)
{
	_Alignas(16) char status[STATUS_BYTES];
	bool frees = k == CALL_Comm_free || k == CALL_Comm_disconnect, ends = k == CALL_Finalize;
	int64_t from_ns, to_ns;
	int rc;

	if (calls[k].shape.status)
		want_status(&calls[k].shape, w, language, status);
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
		__atomic_fetch_add(&generation, 1, __ATOMIC_RELEASE);
	if (!ends && !(language == LANGUAGE_C && rc))
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

static int call(enum call k, word *w, enum language language)
{
	function f = real(language, k);
	int rc;

	if (!f)
		return ERROR_OTHER;
	if (inside || (!is_init(k) && (!shared || shared_forks != span_forks)))
		return pass(f, w);
	inside = true;
	rc = is_init(k) ? begun(k, w, f) : counted(k, w, language, f);
	inside = false;
	return rc;
}

#define TAKEN  word a, word b, word c, word d, word e, word f, word g, word h, word i, word j, word k, word l, word m, word n
#define GIVEN  (word[WORDS]){ a, b, c, d, e, f, g, h, i, j, k, l, m, n }
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
#include "inject/mpi_calls.def"
