/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scanner_node.h - one profile of Scanner's becomes the recording of a node: a track for each
 * thread, its intervals as spans, its counters as final values.
 */
#ifndef SONDE_IMPORT_SCANNER_NODE_H
#define SONDE_IMPORT_SCANNER_NODE_H

#include "base/err.h"
#include "core/phase/scanner.h"
#include "import/scanner_profile.h"

struct scanner_node {
	int64_t number;   /* of the node; SCANNER_MASTER_NODE */
	int64_t base_utc; /* when the job began: intervals count from there */
	const char *host, *from, *job_name;
	int64_t job;
	/* What is known to be wrong; lost: something was left out. */
	void (*fault)(void *ctx, uint64_t offset, bool lost, const char *what);
	void *ctx;
	char name[300]; /* set: of the file that was written; empty: none */
	uint64_t spans; /* set */
};

/* Read the profile, write it into the directory. 0 or -errno. */
int scanner_node_import(struct scanner_node *n, int profile, int dirfd, struct err *e);

#endif
