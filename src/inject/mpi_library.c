/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/mpi_library.h"

#include "lib/span.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	COMMS = 8, /* that a thread knows at a time */
	ABI_WORLD = 0x101,
};

struct library library;
static function functions[LANGUAGE_NUMBER_OF][CALL_NUMBER_OF];
/* Of the library, where it is not among those that the program began with. */
static void *loaded;
static uint32_t generation = 1; /* communicators that were freed may have been these */
static __thread struct comm comms[COMMS] FAST_TLS;

#define NOTHING  .count = 0
#define AT_1     .comm = 1
#define AT_3     .comm = 3
#define AT_6     .comm = 6
#define SEND     .count = 2, .type = 3, .peer = 4, .comm = 6
#define RECV     .comm = 6, .status = 7, .received_type = 3
#define MRECV    .status = 5, .received_type = 3
#define SENDRECV .count = 2, .type = 3, .peer = 4, .comm = 11, .status = 12, .received_type = 8
#define SENDRECV_REPLACE                                                                           \
	.count = 2, .type = 3, .peer = 4, .comm = 8, .status = 9, .received_type = 3
#define BCAST                           .count = 2, .type = 3, .comm = 5
#define REDUCE                          .count = 3, .type = 4, .comm = 7
#define ALLREDUCE                       .count = 3, .type = 4, .comm = 6
#define REDUCE_SCATTER                  .count = 3, .type = 4, .comm = 6, .flags = ARRAY, .wide = 1 << 3
#define REDUCE_SCATTER_BLOCK            .count = 3, .type = 4, .comm = 6, .flags = PER_RANK
#define IN_PLACE(place_, count_, type_) .place = place_, .place_count = count_, .place_type = type_
#define GATHER                          .count = 2, .type = 3, .comm = 8, IN_PLACE(1, 5, 6)
#define GATHERV                                                                                    \
	.count = 2, .type = 3, .comm = 9, .flags = OWN, .wide = 1 << 5 | 1 << 6, .root = 8,        \
	IN_PLACE(1, 5, 7)
#define SCATTER .count = 5, .type = 6, .comm = 8, IN_PLACE(4, 2, 3)
#define SCATTERV                                                                                   \
	.count = 6, .type = 7, .comm = 9, .flags = OWN, .wide = 1 << 2 | 1 << 3, .root = 8,        \
	IN_PLACE(5, 2, 4)
#define ALLGATHER .count = 2, .type = 3, .comm = 7, IN_PLACE(1, 5, 6)
#define ALLGATHERV                                                                                 \
	.count = 2, .type = 3, .comm = 8, .flags = OWN, .wide = 1 << 5 | 1 << 6, IN_PLACE(1, 5, 7)
#define ALLTOALL   .count = 2, .type = 3, .comm = 7, .flags = PER_RANK, IN_PLACE(1, 5, 6)
#define ALL_ARRAYS (1 << 2 | 1 << 3 | 1 << 6 | 1 << 7)
#define ALLTOALLV                                                                                  \
	.count = 2, .type = 4, .comm = 9, .flags = ARRAY, .wide = ALL_ARRAYS, IN_PLACE(1, 6, 8)
#define ALLTOALLW                                                                                  \
	.count = 2, .type = 4, .comm = 9, .flags = ARRAY | TYPES, .wide = ALL_ARRAYS,              \
	IN_PLACE(1, 6, 8)
#define ONE_SIDED .count = 2, .type = 3
#define IN_FILE   .count = 3, .type = 4
#define AT_OFFSET .count = 4, .type = 5

const struct call_row mpi_calls[] = {
#define LARGE                    CALL
#define CALL(name_, lower_, ...) { .name = #name_, .lower = #lower_, .shape = { __VA_ARGS__ } },
#include "inject/mpi_calls.def"
};

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

	if (!found && !loaded)
		loaded = find_handle();
	return found || !loaded ? found : dlsym(loaded, name);
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
bool constant_is(const struct constant *c, word w)
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

#define FIND(member, name)                                                                         \
	library.member = (__typeof__(library.member))(void (*)(void))find_function(name)

bool library_look(void)
{
	FIND(type_size, "PMPI_Type_size");
	FIND(get_count, "PMPI_Get_count");
	FIND(get_count_large, "PMPI_Get_count_c");
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
	return library.type_size && library.get_count && library.comm_size && library.comm_rank &&
	       library.comm_test_inter && library.comm_group && library.group_free &&
	       library.group_translate;
}

static void name_of(enum language language, enum call k, const char *prefix, char out[64])
{
	static const char *const behind[] = { "", "_c", "_", "_f08_" };

	if (language <= LANGUAGE_LARGE)
		snprintf(out, 64, "%sMPI_%s%s", *prefix ? "P" : "", mpi_calls[k].name,
			 behind[language]);
	else
		snprintf(out, 64, "%smpi_%s%s", prefix, mpi_calls[k].lower, behind[language]);
}

/* NULL: there is none, and who calls it has no library of MPI. */
function library_function(enum language language, enum call k)
{
	function f = __atomic_load_n(&functions[language][k], __ATOMIC_RELAXED);
	char name[64];

	if (f)
		return f;
	name_of(language, k, "", name);
	f = find_function(name);
	if (!f) {
		name_of(language, k, "p", name);
		f = find_function(name);
	}
	__atomic_store_n(&functions[language][k], f, __ATOMIC_RELAXED);
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

void comms_forget(void)
{
	__atomic_fetch_add(&generation, 1, __ATOMIC_RELEASE);
}

/* Handles of MPICH are ints, of which a word has more bits. */
const struct comm *comm_of(word handle)
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
