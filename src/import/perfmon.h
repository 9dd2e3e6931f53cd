/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfmon.h - what the keys of a host in perfmon's documents become: series under Sonde's
 * names where they are right, under names of their own where perfmon's numbers are known to be
 * wrong. Private to perfmon*.c.
 */
#ifndef SONDE_IMPORT_PERFMON_H
#define SONDE_IMPORT_PERFMON_H

#include "base/text/jsondoc.h"
#include "import/importer.h"

struct perfmon_key {
	const char *key; /* "memory_info.rss" */
	uint32_t column; /* in the spool */
	unsigned place;  /* in its group, in the document's order */
	uint64_t present;
};

struct perfmon_host {
	const char *name; /* "gpu-0.host" of a GPU */
	const struct map_table *table;
	bool by_sonde; /* its numbers are right */
	struct perfmon_key *key;
	uint32_t nkeys, cap;
};

/* Whether a key holds values, and is no description of processes. */
bool perfmon_key_is_series(const char *key);
bool perfmon_host_has(const struct perfmon_host *h, const char *key);
int perfmon_host_add(struct perfmon_host *h, struct store *s, const char *key, uint32_t column,
		     unsigned place);
/* All of its keys into the store. 0 or -errno. */
int perfmon_host_keep(struct perfmon_host *h, const struct import *x, struct err *e);
void perfmon_host_free(struct perfmon_host *h);

/* A host of meta_data.json, whose object has begun: metadata. *by_sonde is set when Sonde wrote it.
 * 0 or -errno. */
int perfmon_meta_take(struct jsondoc *j, const struct import *x, const char *host, bool *by_sonde,
		      struct err *e);

#endif
