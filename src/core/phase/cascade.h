/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cascade.h - the start-up of Batch Shipyard's pools: how a recording holds it (a node for each of
 * theirs, a mark for each event, named SOURCE:EVENT, with the message as it was), and the numbers
 * that its graph.py made of it.
 *
 * What a node lacks is said and costs only the numbers that need it. A node without its begin, the
 * installation or the loading of resources is in no total of its pool. NAN: not known. {0} is empty
 * and safe to free. Strings are borrowed from the run and the phases.
 */
#ifndef SONDE_CORE_PHASE_CASCADE_H
#define SONDE_CORE_PHASE_CASCADE_H

#include "base/pool.h"
#include "core/phase/phase.h"

/* Key of the nodes' metadata: ACCOUNT$POOL, as the table has it. */
#define CASCADE_POOL "cascade.pool"

/* How each 1 kB, MB and GB of what docker prints was taken there. */
#define CASCADE_GRAPH_PY_STEP 1024

enum { CASCADE_POOL_SIZE = 512 };

/* ACCOUNT$POOL of a node: as it was imported, or as Azure Batch tells the tasks of a node; "": not
 * known. */
void cascade_pool_name(const struct run *r, uint32_t node, char *out, size_t size);

enum cascade_lack {
	CASCADE_NO_PREPARATION = 1 << 0, /* nodeprep:start */
	CASCADE_UNPREPARED = 1 << 1,     /* nodeprep:end */
	CASCADE_NO_LOADING = 1 << 2,     /* cascade:start */
	CASCADE_UNLOADED = 1 << 3,       /* cascade:gr-done */
};

struct cascade_node {
	uint32_t node; /* of the run */
	const char *host;
	int64_t start_utc_ns; /* of nodeprep:start; INT64_MAX: not known */
	double nodeprep_s, docker_install_s, global_resources_s;
	double private_registry_s, container_pull_s; /* NAN: there was none, or its end lacks */
	double pull_s, save_s, load_s, torrent_s;    /* of all images; 0: none */
	double acquisition_s;                        /* pull, torrent and load */
	unsigned lacks;                              /* of enum cascade_lack */
	const struct phase *const *image; /* what it pulled, saved, took, loaded; in that order */
	uint32_t images, unfinished;      /* of these: all; without an end */
	uint32_t unreadable_sizes;
	bool counts; /* it is in the pool's totals and in its graph */
};

enum { CASCADE_IMAGES_MAX = 4096 }; /* of a pool; sizes of more are not told */

struct cascade_image {
	const char *name; /* in a text of its own */
	double size_bytes;
};

struct cascade_pool {
	char name[CASCADE_POOL_SIZE]; /* ACCOUNT$POOL, "": not known */
	char offer[256], sku[256];    /* of the first node that has them; "": none has */
	struct cascade_node *node;    /* by start, then by host */
	struct cascade_image *image;  /* each once, with the size that was said first */
	uint32_t nnodes, nimages, ncounted;
	uint32_t nodes_cap, images_cap; /* private */
	double variance_s; /* between the first start and the last; NAN: no node counts */
	double global_resources_s, acquisition_s; /* in all */
};

struct cascade_pools {
	struct cascade_pool *pool; /* by name */
	uint32_t n;
	const struct phase **image; /* of all nodes, one after the other */
	struct pool text;
};

/* A key of the table, seconds since 1970, to the microsecond, as Python's datetime.fromtimestamp
 * rounds it: the fraction alone, halves to the even one. In ns. */
int64_t cascade_key_ns(double s);

/* Of phases that the built-in rules made of the run. 0 or -ENOMEM. */
int cascade_pools_make(struct cascade_pools *c, const struct run *r, const struct phases *p);
void cascade_pools_free(struct cascade_pools *c);

#endif
