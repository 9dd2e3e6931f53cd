/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_library.h - the library of MPI that a program uses, without mpi.h: its functions behind those
 * of this library, what is asked of it, and its communicators as a thread last saw them.
 */
#ifndef SONDE_INJECT_MPI_LIBRARY_H
#define SONDE_INJECT_MPI_LIBRARY_H

#include <stdbool.h>
#include <stdint.h>

enum {
	WORDS = 14,       /* arguments of a call at most: Fortran's MPI_Sendrecv has 13 */
	ERROR_OTHER = 16, /* MPI_ERR_OTHER or its neighbour: not success */
	MPICH_WORLD = 0x44000000,
};

typedef intptr_t word;
typedef int (*function)(word, word, word, word, word, word, word, word, word, word, word, word,
			word, word);

enum call {
#define LARGE                    CALL
#define CALL(name, lower, shape) CALL_##name,
#include "inject/mpi_calls.def"
	CALL_NUMBER_OF
};

/* LARGE: C with counts of 64 bits, which some functions have as well: MPI_Send_c. */
enum language { LANGUAGE_C, LANGUAGE_LARGE, LANGUAGE_FORTRAN, LANGUAGE_F08, LANGUAGE_NUMBER_OF };

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
	uint8_t status, received_type;          /* what it received is asked of its status */
	uint8_t place, place_count, place_type; /* of a buffer in place these hold */
	uint16_t wide; /* bits: arrays of counts and of displacements, one for each rank */
	uint8_t root;  /* the one rank that has these; 0: all have */
};

struct call_row {
	const char *name, *lower;
	struct shape shape;
};
extern const struct call_row mpi_calls[] __attribute__((visibility("hidden")));

/* What is asked of the library itself. */
struct library {
	int (*type_size)(word type, int *size);
	int (*get_count)(word status, word type, int *count);
	int (*get_count_large)(word status, word type, int64_t *count); /* NULL: it has none */
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
};
extern struct library library __attribute__((visibility("hidden")));

/* MPI has begun. False: the library is not as it should be. */
bool library_look(void);
/* NULL: there is none. */
function library_function(enum language language, enum call k);
bool constant_is(const struct constant *c, word w);

/* A communicator as this thread last saw it. */
struct comm {
	word handle;
	uint32_t generation; /* when; 0: none */
	int size, rank;
	bool inter;
	int *world; /* rank of each in all; NULL: the same number, or not known */
};

const struct comm *comm_of(word handle);
/* Communicators that were freed may have been those that are known. */
void comms_forget(void);

#endif
